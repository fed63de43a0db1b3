#include "measure/lesson_source.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "measure/lesson_parse.h"

/* ---- the new text ---------------------------------------------------------------------------- */

static lesson_type type_of(const char *type)
{
    return !strncmp(type, "float", 5) || !strcmp(type, "REAL") ? LESSON_FLOAT
           : !strncmp(type, "int", 3)                          ? LESSON_SIGNED
                                                               : LESSON_UNSIGNED;
}

static void code(const rewriting *r, lesson_kind kind, unsigned type, size_t i, text *out)
{
    text_format(out, "0x%xu", LESSON_CODE(kind, type, r->tokens[i].file, r->tokens[i].line));
}

static void emit(rewriting *r, size_t from, size_t end, text *out);

/* Blanks and comments as they are, so that lines stay where they were. */
static void blanks(const rewriting *r, size_t i, text *out)
{
    if (!r->tokens[i].blank) {
        text_append(out, " ");
        return;
    }
    text_append_bytes(out, r->tokens[i].blank, (size_t)(r->tokens[i].at - r->tokens[i].blank));
}

static void copy(const rewriting *r, size_t i, text *out)
{
    blanks(r, i, out);
    text_append_bytes(out, r->tokens[i].at, r->tokens[i].length);
}

/* Where the value of an assignment whose sign is at i ends. */
static size_t value_end(const rewriting *r, size_t i)
{
    for (i++; i + 1 < r->count; i++) {
        if (r->tokens[i].kind != TOKEN_SIGN)
            continue;
        if (strchr("([{", r->tokens[i].at[0]))
            i = token_closing(r, i);
        else if (strchr(")]};,", r->tokens[i].at[0]))
            break;
    }
    return i;
}

/* The sign of an assignment without its '='. */
static void operation_of(const rewriting *r, size_t i, text *out)
{
    text_append_bytes(out, r->tokens[i].at, r->tokens[i].length - 1);
}

/* "lesson_load_global_float(trace, code, &name[...]" of an access at token i, whose subscripts end
 * before `end`. */
static void access_head(rewriting *r, const array_name *a, lesson_kind kind, size_t i, size_t end,
                        text *out)
{
    blanks(r, i, out);
    text_format(out, "lesson_%s_%s_%s(trace, ", kind == LESSON_LOAD ? "load" : "store",
                a->local ? "local" : "global", a->type);
    code(r, kind, type_of(a->type) | (a->local ? LESSON_IN_LOCAL : 0), i, out);
    text_append(out, ", &");
    text_append_bytes(out, r->tokens[i].at, r->tokens[i].length);
    emit(r, i + 1, end, out);
}

/* Whether the & before token i takes an address: no value stands before it, or a cast. */
static bool address_taken(const rewriting *r, size_t i)
{
    static const char *const not_values[] = {"return", "case", "else", "do", NULL};

    if (i < 2 || !token_is(r, i - 1, "&"))
        return false;
    if (token_is(r, i - 2, ")"))
        return i > 3 && (token_is(r, i - 3, "*") || token_is_any(r, i - 3, lesson_qualifiers));
    return !token_is(r, i - 2, "]") &&
           (r->tokens[i - 2].kind != TOKEN_WORD || token_is_any(r, i - 2, not_values));
}

/* Whether an element whose subscripts end before token i is a structure or a vector of which only a
 * member is set: that has no record. */
static bool member_is_set(const rewriting *r, size_t i)
{
    if (!token_is(r, i, "."))
        return false;
    for (; token_is(r, i, "."); i += 2)
        ;
    for (; token_is(r, i, "["); i = token_closing(r, i) + 1)
        ;
    return token_is_any(r, i, lesson_assignments) || token_is(r, i, "++") || token_is(r, i, "--");
}

/* An access that reads and writes has its subscript twice: one that does more than name a place
 * cannot be there. */
static void refuse_effects(rewriting *r, size_t i, size_t end)
{
    for (size_t k = i + 1; k < end && !r->refused.length; k++) {
        const bool call = token_is(r, k, "(") || token_is(r, k, ",");

        if (token_is(r, k, "++") || token_is(r, k, "--") ||
            token_is_any(r, k, lesson_assignments) || (call && token_is(r, k + 1, "&")) ||
            !strncmp(r->tokens[k].at, "atom", 4))
            text_format(&r->refused,
                        "%s, line %u: the subscript of '%.*s' changes something ('%.*s'), and what "
                        "is read and written there cannot be recorded: set a variable to it in a "
                        "line before",
                        r->out->file[r->tokens[i].file], r->tokens[i].line,
                        (int)r->tokens[i].length, r->tokens[i].at,
                        (int)r->tokens[call ? k + 1 : k].length, r->tokens[call ? k + 1 : k].at);
    }
}

/* The element of an array at token i, whose subscripts end before *end; NULL where it is none. */
static const array_name *element_at(const rewriting *r, size_t i, size_t *end)
{
    const array_name *a = token_array(r, i);
    unsigned dims = 0;

    if (!a || address_taken(r, i))
        return NULL;
    for (*end = i + 1; token_is(r, *end, "["); *end = token_closing(r, *end) + 1)
        dims++;
    return dims == (a->dims ? a->dims : 1) && !member_is_set(r, *end) ? a : NULL;
}

/* An element at token i that goes up or down by one; `sign` is a token, of which "++" or "--". */
static void emit_step(rewriting *r, const array_name *a, size_t i, size_t end, size_t sign,
                      text *out)
{
    const char up = r->tokens[sign].at[0];

    refuse_effects(r, i, end);
    if (sign < i)
        blanks(r, sign, out);
    text_format(out, " (%s)(", a->type);
    access_head(r, a, LESSON_STORE, i, end, out);
    text_append(out, ", ");
    access_head(r, a, LESSON_LOAD, i, end, out);
    text_format(out, ") %c 1)", up);
    if (sign > i)
        text_format(out, " %c 1", up == '+' ? '-' : '+');
    text_append(out, ")");
}

/* An access at token i; returns the token behind what it replaced, or i where it is none. */
static size_t emit_access(rewriting *r, size_t i, text *out)
{
    const bool before = token_is(r, i, "++") || token_is(r, i, "--");
    size_t end, stop;
    const array_name *a = element_at(r, i + before, &end);

    if (!a)
        return i;
    if (before || token_is(r, end, "++") || token_is(r, end, "--")) {
        emit_step(r, a, i + before, end, before ? i : end, out);
        return before ? end : end + 1;
    }
    if (token_is_any(r, end, lesson_assignments)) {
        stop = value_end(r, end);
        access_head(r, a, LESSON_STORE, i, end, out);
        text_append(out, ",");
        if (!token_is(r, end, "=")) {
            refuse_effects(r, i, end);
            access_head(r, a, LESSON_LOAD, i, end, out);
            text_append(out, ") ");
            operation_of(r, end, out);
        }
        text_append(out, " (");
        emit(r, end + 1, stop, out);
        text_append(out, "))");
        return stop;
    }
    access_head(r, a, LESSON_LOAD, i, end, out);
    text_append(out, ")");
    return end;
}

/* A barrier at token i. */
static size_t emit_barrier(rewriting *r, size_t i, text *out)
{
    const size_t end = token_closing(r, i + 1) + 1;

    r->barriers += r->tokens[i].file == 0;
    if (token_is_left_out(r, i)) {
        r->out->removed = r->tokens[i].line;
        blanks(r, i, out);
        text_append(out, "(void)0");
        return end;
    }
    blanks(r, i, out);
    text_append(out, "(lesson_event(trace, ");
    code(r, LESSON_BARRIER, LESSON_UNSIGNED, i, out);
    text_append(out, ", 0, 0, 0), barrier");
    emit(r, i + 1, end, out);
    text_append(out, ")");
    return end;
}

/* The first argument of a call whose bracket is at i ends there. */
static size_t argument_end(const rewriting *r, size_t i)
{
    return value_end(r, i);
}

static size_t emit_atomic(rewriting *r, size_t i, text *out)
{
    const size_t open = i + 1, end = token_closing(r, open) + 1, first = argument_end(r, open);
    const bool store = token_is_any(r, i, lesson_atomic_stores);

    blanks(r, i, out);
    if (store) {
        text_append(out, "(lesson_event(trace, ");
        code(r, LESSON_STORE, LESSON_UNSIGNED, i, out);
        text_append(out, ", (ulong)(");
        emit(r, open + 1, first, out);
        text_append(out, "), ");
        emit(r, first + 1, argument_end(r, first), out);
        text_append(out, ", 4), ");
    } else {
        text_append(out, "lesson_seen(trace, ");
        code(r, LESSON_LOAD, LESSON_UNSIGNED, i, out);
        text_append(out, ", (ulong)(");
        emit(r, open + 1, first, out);
        text_append(out, "), ");
    }
    text_append_bytes(out, r->tokens[i].at, r->tokens[i].length);
    emit(r, open, end, out);
    text_append(out, ")");
    return end;
}

/* atomic_inc and atomic_add of OpenCL C 1.2: what was there is read, the sum stored. */
static size_t emit_atomic_sum(rewriting *r, size_t i, text *out)
{
    const size_t open = i + 1, end = token_closing(r, open) + 1;

    blanks(r, i, out);
    text_append(out, "lesson_atomic_add(trace, ");
    code(r, LESSON_LOAD, LESSON_UNSIGNED, i, out);
    text_append(out, ", ");
    code(r, LESSON_STORE, LESSON_UNSIGNED, i, out);
    text_append(out, ", ");
    emit(r, open + 1, end - 1, out);
    text_append(out, token_is(r, i, "atomic_inc") ? ", 1)" : ")");
    return end;
}

/* What a watched value is shown as. */
static lesson_type shown_as(const lesson_watched *w)
{
    const char *as = strstr(w->type, " as ");

    return type_of(as ? as + 4 : w->type);
}

/* "lesson_set_TYPE(trace, code, number, " */
static void watched_head(const rewriting *r, const lesson_watched *w, size_t i, text *out)
{
    text_format(out, "lesson_set_%.*s(trace, ", (int)strcspn(w->type, " "), w->type);
    code(r, LESSON_VALUE, shown_as(w), i, out);
    text_format(out, ", %zu, ", (size_t)(w - r->wanted->watched));
}

/* A call of a watched function at token i. */
static size_t emit_watched_call(rewriting *r, size_t i, text *out)
{
    const size_t open = i + 1, end = token_closing(r, open) + 1, first = argument_end(r, open);

    blanks(r, i, out);
    watched_head(r, token_watched(r, i), i, out);
    emit(r, first + 1, end - 1, out);
    text_append(out, ", ");
    text_append_bytes(out, r->tokens[i].at, r->tokens[i].length);
    emit(r, open, end, out);
    text_append(out, ")");
    return end;
}

/* A watched variable at token i that is set. */
static size_t emit_watched(rewriting *r, size_t i, text *out)
{
    const lesson_watched *w = token_watched(r, i);
    const size_t end = w && token_is(r, i + 1, "[") ? token_closing(r, i + 1) + 1 : i + 1;
    size_t stop;

    if (w && token_is(r, i + 1, "("))
        return emit_watched_call(r, i, out);
    if (!w || !token_is_any(r, end, lesson_assignments))
        return i;
    stop = value_end(r, end);
    copy(r, i, out);
    emit(r, i + 1, end, out);
    text_append(out, " = ");
    watched_head(r, w, i, out);
    if (end > i + 1)
        emit(r, i + 2, end - 1, out);
    else
        text_append(out, "0");
    text_append(out, ", ");
    if (!token_is(r, end, "=")) {
        text_append_bytes(out, r->tokens[i].at, r->tokens[i].length);
        emit(r, i + 1, end, out);
        text_append(out, " ");
        operation_of(r, end, out);
    }
    text_append(out, " (");
    emit(r, end + 1, stop, out);
    text_append(out, "))");
    return stop;
}

/* A loop without a barrier, of which `for` is token i: PoCL runs its rounds for all work-items side
 * by side, as if there were one, unless the number of rounds may differ between them.  Here an item
 * runs from barrier to barrier, as it may. */
static size_t emit_loop(rewriting *r, size_t i, text *out)
{
    const size_t end = token_closing(r, i + 1);
    size_t body_end = token_is(r, end + 1, "{") ? token_closing(r, end + 1) : end + 1, first,
           second;

    while (!token_is(r, end + 1, "{") && body_end + 1 < r->count && !token_is(r, body_end, ";"))
        body_end = token_is(r, body_end, "(") ? token_closing(r, body_end) + 1 : body_end + 1;
    for (first = i + 2; first < end && !token_is(r, first, ";"); first++)
        if (token_is(r, first, "("))
            first = token_closing(r, first);
    for (second = first + 1; second < end && !token_is(r, second, ";"); second++)
        if (token_is(r, second, "("))
            second = token_closing(r, second);
    if (second >= end || second == first + 1 || tokens_wait(r, end, body_end))
        return i;
    copy(r, i, out);
    emit(r, i + 1, first + 1, out);
    text_append(out, " lesson_goes_on() && (");
    emit(r, first + 1, second, out);
    text_append(out, ")");
    emit(r, second, end + 1, out);
    return end + 1;
}

/* The same of `while`; that of a `do` has no body. */
static size_t emit_while(rewriting *r, size_t i, text *out)
{
    const size_t end = token_closing(r, i + 1);
    size_t body_end = token_is(r, end + 1, "{") ? token_closing(r, end + 1) : end + 1;

    while (!token_is(r, end + 1, "{") && body_end + 1 < r->count && !token_is(r, body_end, ";"))
        body_end++;
    if (token_is(r, end + 1, ";") || tokens_wait(r, end, body_end))
        return i;
    copy(r, i, out);
    text_append(out, " (lesson_goes_on() && ");
    emit(r, i + 1, end + 1, out);
    text_append(out, ")");
    return end + 1;
}

/* A macro may call functions that take the buffer now. */
static void emit_line(const rewriting *r, size_t i, text *out)
{
    const token *t = &r->tokens[i];
    const char *end = t->at + t->length;

    blanks(r, i, out);
    if (strncmp(t->at, "#define", 7) != 0) {
        text_append_bytes(out, t->at, t->length);
        return;
    }
    for (const char *s = t->at; s < end;) {
        size_t length = 0;

        while (s + length < end && is_word_character(s[length]))
            length++;
        text_append_bytes(out, s, length ? length : 1);
        for (size_t k = 0; length && k < r->function_count; k++) {
            const function *f = &r->functions[k];

            if (f->traced && !f->kernel && strlen(f->name) == length &&
                !strncmp(f->name, s, length) && s[length] == '(') {
                text_append(out, "(trace, ");
                length++;
                break;
            }
        }
        s += length ? length : 1;
    }
}

/* Tokens `from` to `end` - 1 of a function's body. */
static void emit(rewriting *r, size_t from, size_t end, text *out)
{
    for (size_t i = from; i < end;) {
        const function *called = token_function(r, i);
        size_t next = i;

        if (r->tokens[i].kind == TOKEN_LINE) {
            emit_line(r, i++, out);
            continue;
        }
        if (token_is(r, i, "barrier") && token_is(r, i + 1, "("))
            next = emit_barrier(r, i, out);
        else if ((token_is_any(r, i, lesson_atomic_loads) ||
                  token_is_any(r, i, lesson_atomic_stores)) &&
                 token_is(r, i + 1, "("))
            next = emit_atomic(r, i, out);
        else if (token_is_any(r, i, lesson_atomic_sums) && token_is(r, i + 1, "("))
            next = emit_atomic_sum(r, i, out);
        else if (token_is(r, i, "for") && token_is(r, i + 1, "("))
            next = emit_loop(r, i, out);
        else if (token_is(r, i, "while") && token_is(r, i + 1, "("))
            next = emit_while(r, i, out);
        if (next == i)
            next = emit_access(r, i, out);
        if (next == i)
            next = emit_watched(r, i, out);
        if (next > i) {
            i = next;
            continue;
        }
        copy(r, i, out);
        i++;
        if (called && called->traced && !called->kernel) {
            copy(r, i, out);
            text_append(out, token_is(r, i + 1, ")") ? "trace" : "trace, ");
            i++;
        }
    }
}

/* ---- helpers of the new text ---------------------------------------------------------------- */

/* What each type of elements needs.  Vectors, whose names end in a digit or which are longer than a
 * number, have a record for each word. */
static void define_type(const char *type, text *out)
{
    const char end = type[strlen(type) - 1];

    text_format(out,
                "#ifndef LESSON_TYPE_%s\n#define LESSON_TYPE_%s\n"
                "static inline %s lesson_seen_%s(__global uint *trace, uint code, ulong at, "
                "%s value)\n{\n"
                "    const uint step = sizeof(%s) > %u ? 4 : sizeof(%s);\n"
                "    union { %s value; uint bits[(sizeof(%s) + 3) / 4]; } u;\n\n"
                "    u.bits[0] = 0;\n    u.value = value;\n"
                "    for (uint k = 0; k < sizeof(%s); k += step)\n"
                "        lesson_event(trace, code, at + k, u.bits[k / 4], "
                "k ? step | 0x%xu : step);\n"
                "    return value;\n}\n"
                "static inline %s lesson_set_%s(__global uint *trace, uint code, uint which, uint "
                "place, %s value)\n{\n"
                "    union { %s value; uint bits; } u;\n\n    u.bits = 0;\n    u.value = value;\n"
                "    lesson_event(trace, code, which | (ulong)place << 32, u.bits, sizeof(%s));\n"
                "    return value;\n}\n",
                type, type, type, type, type, type, end >= '0' && end <= '9' ? 4u : 8u, type, type,
                type, type, LESSON_JOINED, type, type, type, type, type);
    for (size_t k = 0; k < 2; k++) {
        const char *space = k ? "local" : "global";

        text_format(
            out,
            "static inline %s lesson_load_%s_%s(__global uint *trace, uint code, __%s const "
            "%s *at)\n{\n    return lesson_seen_%s(trace, code, (ulong)at, *at);\n}\n"
            "static inline %s lesson_store_%s_%s(__global uint *trace, uint code, __%s %s "
            "*at, %s value)\n{\n"
            "    return *at = lesson_seen_%s(trace, code, (ulong)at, value);\n}\n",
            type, space, type, space, type, type, type, space, type, space, type, type, type);
    }
    text_append(out, "#endif\n");
}

static void define_recording(text *out)
{
    text_append(
        out,
        "static inline void lesson_event(__global uint *trace, uint code, ulong at, uint value, "
        "uint more)\n{\n"
        "    const uint i = atomic_inc((volatile __global uint *)trace);\n\n"
        "    if (i < trace[1]) {\n"
        "        __global uint *record = trace + 2 + 6 * i;\n\n"
        "        record[0] = (uint)(get_global_id(0) + get_global_size(0) * (get_global_id(1) +\n"
        "                    get_global_size(1) * get_global_id(2)));\n"
        "        record[1] = code;\n        record[2] = (uint)at;\n"
        "        record[3] = (uint)(at >> 32);\n        record[4] = value;\n"
        "        record[5] = more;\n    }\n}\n"
        "static inline uint lesson_seen(__global uint *trace, uint code, ulong at, uint value)\n{\n"
        "    lesson_event(trace, code, at, value, 4);\n    return value;\n}\n"
        "#define LESSON_ATOMIC_ADD(SPACE, TYPE, WHERE)                                 \\\n"
        "    static inline TYPE __attribute__((overloadable))                          \\\n"
        "    lesson_atomic_add(__global uint *trace, uint load, uint store,            \\\n"
        "                      volatile SPACE TYPE *at, TYPE more)                     \\\n"
        "    {                                                                         \\\n"
        "        const TYPE before = atomic_add(at, more);                             \\\n"
        "        lesson_event(trace, load | WHERE, (ulong)at, (uint)before, 4);        \\\n"
        "        lesson_event(trace, store | WHERE, (ulong)at, (uint)before + (uint)more, 4);\\\n"
        "        return before;                                                        \\\n"
        "    }\n"
        "LESSON_ATOMIC_ADD(__global, uint, 0)\nLESSON_ATOMIC_ADD(__global, int, 0)\n"
        "LESSON_ATOMIC_ADD(__local, uint, 8u << 24)\n"
        "LESSON_ATOMIC_ADD(__local, int, 8u << 24)\n" /* LESSON_IN_LOCAL */
        "static inline bool lesson_first_of_group(void)\n{\n"
        "    return get_local_id(0) + get_local_id(1) + get_local_id(2) == 0;\n}\n"
        "static inline bool lesson_goes_on(void)\n{\n"
        "    return get_local_id(0) < get_local_size(0);\n}\n"
        "static inline void lesson_nothing_yet(__local uint *words, uint count)\n{\n"
        "    for (uint i = 0; lesson_first_of_group() && i < count; i++)\n"
        "        words[i] = 0x7fc00000u;\n    barrier(CLK_LOCAL_MEM_FENCE);\n}\n");
}

/* An array in local memory, which records name by where it stands. */
static void add_local(rewriting *r, const array_name *a, size_t at)
{
    r->out->locals = lesson_grow(r, r->out->locals, r->out->local_count, sizeof(*r->out->locals));
    if (r->failed)
        return;
    r->out->locals[r->out->local_count] = (lesson_array){
        .file = r->tokens[at].file, .line = r->tokens[at].line, .type = type_of(a->type)};
    snprintf(r->out->locals[r->out->local_count].name, sizeof(r->out->locals->name), "%s", a->name);
    r->out->local_count++;
}

/* The parameter whose name is token `name`; `local` where it points to local memory. */
static void emit_argument(rewriting *r, const array_name *local, bool pointer, size_t name,
                          text *out)
{
    char word[64];

    token_word(r, name, word, sizeof(word));
    if (pointer) {
        text_append(out, local
                             ? " lesson_event(trace, "
                             : " if (get_global_id(0) + get_global_id(1) + get_global_id(2) == 0) "
                               "lesson_event(trace, ");
        code(r, local ? LESSON_LOCAL : LESSON_ARGUMENT, LESSON_UNSIGNED, name, out);
        text_format(out, ", (ulong)%s, lesson_number", word);
    }
    if (pointer && local) {
        add_local(r, local, name);
        text_format(out, " | 0x%xu, (uint)sizeof(%s) << 16);", LESSON_LOCAL_ARGUMENT, local->type);
    } else if (pointer) {
        text_append(out, ", 0);");
    }
    text_append(out, " lesson_number++;");
}

/* Where the pointers that a kernel gets point to: to local memory for each work-group.  A parameter
 * ends at a comma, a directive or the bracket. */
static void emit_arguments(rewriting *r, const function *f, text *out)
{
    const array_name *local = NULL;
    bool pointer = false;
    size_t name = 0;

    text_append(out, " if (lesson_first_of_group()) { uint lesson_number = 0;");
    for (size_t i = f->params + 1; i <= f->params_end; i++) {
        const bool directive = r->tokens[i].kind == TOKEN_LINE;

        if (name && (directive || token_is(r, i, ",") || i == f->params_end)) {
            emit_argument(r, local, pointer, name, out);
            local = NULL;
            pointer = false;
            name = 0;
        }
        if (directive) {
            text_append(out, "\n");
            text_append_bytes(out, r->tokens[i].at, r->tokens[i].length);
            text_append(out, "\n");
        }
        pointer = pointer || token_is(r, i, "*");
        for (size_t k = 0; k < r->array_count; k++)
            if (r->arrays[k].declared == i && r->arrays[k].local)
                local = &r->arrays[k];
        if (r->tokens[i].kind == TOKEN_WORD)
            name = i;
    }
    text_append(out, " }");
}

/* The arrays in local memory that a declaration, which ends at token i, has made. */
static void emit_locals(rewriting *r, const function *f, size_t from, size_t i, text *out)
{
    for (size_t k = 0; k < r->array_count; k++) {
        const array_name *a = &r->arrays[k];
        size_t at = from;

        if (!a->local || !a->dims || a->from != f->params)
            continue;
        while (at < i && !(token_is(r, at, a->name) && token_is(r, at + 1, "[")))
            at++;
        if (at == i)
            continue;
        add_local(r, a, at);
        text_append(out, " if (lesson_first_of_group()) lesson_event(trace, ");
        code(r, LESSON_LOCAL, type_of(a->type), at, out);
        text_format(out, ", (ulong)&%s, sizeof(%s), sizeof(%s[0]) | sizeof(%s) << 16);", a->name,
                    a->name, a->name, a->type);
        if (r->wanted->without_barrier)
            text_format(out, " lesson_nothing_yet((__local uint *)&%s, sizeof(%s) / 4);", a->name,
                        a->name);
    }
}

/* Whether a declaration in local memory begins at token i: no cast does. */
static bool declares_local(const rewriting *r, size_t i)
{
    return token_is_any(r, i, lesson_local_words) && !token_is(r, i - 1, "(");
}

/* The body of a kernel: arrays in local memory are reported where they are declared. */
static void emit_kernel_body(rewriting *r, const function *f, text *out)
{
    size_t i = f->body + 1;

    copy(r, f->body, out);
    emit_arguments(r, f, out);
    while (i < f->body_end) {
        size_t end = i;

        if (!declares_local(r, i)) {
            while (end < f->body_end && !declares_local(r, end))
                end++;
            emit(r, i, end, out);
        } else {
            /* A declaration in local memory, whose sizes are no accesses. */
            while (end < f->body_end && !token_is(r, end, ";"))
                end++;
            for (size_t k = i; k <= end && k < f->body_end; k++)
                copy(r, k, out);
            end++;
            emit_locals(r, f, i, end, out);
        }
        i = end;
    }
    copy(r, f->body_end, out);
}

/* Whether a directive is #if, #ifdef, #ifndef, #elif, #else or #endif. */
static bool is_condition(const token *t)
{
    return t->at[1] == 'i' ? t->at[2] == 'f' : t->at[1] == 'e' && t->at[2] != 'r';
}

/* The types that a function's accesses have, under the conditions that declarations stand under. */
static void define_types(const rewriting *r, const function *f, text *out)
{
    for (size_t i = f->params; i < f->body_end; i++) {
        const token *t = &r->tokens[i];

        if (t->kind == TOKEN_LINE && is_condition(t)) {
            text_append_bytes(out, t->at, t->length);
            text_append(out, "\n");
        }
        for (size_t k = 0; k < r->array_count; k++)
            if (r->arrays[k].declared == i)
                define_type(r->arrays[k].type, out);
    }
}

static void emit_function(rewriting *r, const function *f, text *out)
{
    if (f->traced) {
        text_append(out, "\n");
        define_types(r, f, out);
        text_format(out, "#line %u \"%s\"\n", r->tokens[f->start].line,
                    r->out->file[r->tokens[f->start].file]);
        text_append_bytes(out, r->tokens[f->start].at, r->tokens[f->start].length);
    }
    for (size_t i = f->start + f->traced; i < f->params_end; i++) {
        copy(r, i, out);
        if (i == f->params && f->traced && !f->kernel)
            text_append(out, i + 1 == f->params_end || token_is(r, i + 1, "void")
                                 ? "__global uint *trace"
                                 : "__global uint *trace, ");
        if (i == f->params && f->traced && !f->kernel && token_is(r, i + 1, "void"))
            i++;
    }
    if (f->kernel)
        text_append(out, r->tokens[f->params_end - 1].kind == TOKEN_LINE
                             ? "\n, __global uint *trace"
                             : ", __global uint *trace");
    copy(r, f->params_end, out);
    if (f->kernel)
        emit_kernel_body(r, f, out);
    else if (f->traced)
        emit(r, f->body, f->body_end + 1, out);
    else
        for (size_t i = f->body; i <= f->body_end; i++)
            copy(r, i, out);
}

static void emit_all(rewriting *r, text *out)
{
    size_t i = 0;

    define_recording(out);
    for (size_t k = 0; k < r->wanted->watched_count; k++) {
        char type[32];

        snprintf(type, sizeof(type), "%.*s", (int)strcspn(r->wanted->watched[k].type, " "),
                 r->wanted->watched[k].type);
        define_type(type, out);
    }
    for (size_t k = 0; k <= r->function_count; k++) {
        const size_t end = k < r->function_count ? r->functions[k].start : r->count - 1;

        for (; i < end; i++) {
            if (r->tokens[i].kind == TOKEN_LINE)
                emit_line(r, i, out);
            else
                copy(r, i, out);
        }
        if (k < r->function_count) {
            emit_function(r, &r->functions[k], out);
            i = r->functions[k].body_end + 1;
        }
    }
    text_append(out, "\n");
}

/* The file that a line `#line NUMBER "FILE"` names. */
static unsigned file_of_line(const recorded_source *out, const char *line)
{
    const char *name = line + strcspn(line, "\"\n");
    const size_t length = *name == '"' ? strcspn(name + 1, "\"") : 0;
    const unsigned found = length ? lesson_file_number(out, name + 1, length) : 0;

    return found < out->file_count ? found : 0;
}

/* The text of each file, so that a line of it is found by its number. */
static void keep_lines(const char *source, recorded_source *out)
{
    unsigned lines[LESSON_FILES_MAX] = {0};
    unsigned open[LESSON_FILES_MAX] = {0}, depth = 0, file = 0;
    unsigned long most = 1;

    for (const char *c = source; *c; c++)
        most += *c == '\n';
    for (const char *s = source; *s;) {
        const char *end = s + strcspn(s, "\n");

        if (!strncmp(s, "#line ", 6)) {
            const unsigned long next = strtoul(s + 6, NULL, 10);

            file = file_of_line(out, s);
            if (next == 1) {
                if (depth + 1 < LESSON_FILES_MAX)
                    open[depth++] = file;
            } else if (next <= most) { /* a file's own #line may name any number */
                /* Behind the file that it includes, or one that is there already. */
                const bool was_open = depth && open[depth - 1] != file;

                if (lines[file] + 1 < next) {
                    text_format(&out->lines[file], "#include %s\n",
                                was_open ? out->file[open[--depth]] : "(there already)");
                    lines[file]++;
                }
                /* Of a file that has in itself what others include. */
                for (; lines[file] + 1 < next; lines[file]++)
                    text_append(&out->lines[file], "\n");
            }
        } else {
            text_append_bytes(&out->lines[file], s, (size_t)(end - s));
            text_append(&out->lines[file], "\n");
            lines[file]++;
        }
        s = end + (*end != 0);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

tsr_status lesson_source(const char *source, const lesson_wanted *wanted, recorded_source *out,
                         tsr_error *err)
{
    rewriting r = {.wanted = wanted, .out = out};
    tsr_status st = TSR_OK;

    lesson_parse(&r, source);
    if (!r.failed)
        emit_all(&r, &out->text);
    keep_lines(source, out);
    if (r.failed || out->text.failed)
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory to trace %s", out->file[0]);
    else if (r.refused.length)
        st = tsr_fail(err, TSR_EINVAL, 0, "%s", text_get(&r.refused));
    else if (wanted->without_barrier && wanted->of_barriers && r.barriers != wanted->of_barriers)
        st = tsr_fail(err, TSR_ENAME, 0,
                      "%s has %zu barrier%s, not the %zu of which one is left out", out->file[0],
                      r.barriers, r.barriers == 1 ? "" : "s", wanted->of_barriers);
    else if (wanted->without_barrier && !out->removed)
        st = tsr_fail(err, TSR_ENAME, 0, "%s has no barrier %zu to leave out: it has %zu",
                      out->file[0], wanted->without_barrier, r.barriers);
    text_free(&r.refused);
    free(r.tokens);
    free(r.arrays);
    free(r.functions);
    return st;
}

void recorded_source_free(recorded_source *t)
{
    for (size_t i = 0; i < LESSON_FILES_MAX; i++)
        text_free(&t->lines[i]);
    text_free(&t->text);
    free(t->locals);
}
