#include "measure/lesson_source.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* A piece of the text: the blanks and comments before it belong to it. */
typedef enum token_kind { TOKEN_WORD, TOKEN_SIGN, TOKEN_LINE, TOKEN_END } token_kind;

typedef struct token {
    token_kind kind; /* TOKEN_LINE: a line of the preprocessor */
    const char *blank,
        *at;       /* blank is NULL of a piece that a macro stood for: a space is before it */
    size_t length; /* from `at` on */
    unsigned file, line;
} token;

/* Something that subscripts reach: a pointer or an array. */
typedef struct array_name {
    char name[64], type[48];
    bool local;
    unsigned dims;    /* of an array; 0: a pointer */
    size_t from, end; /* the tokens in which the name means this; of a macro's: all */
} array_name;

typedef struct function {
    char name[64];
    bool kernel, traced;       /* a traced one takes the buffer as an argument */
    bool waits;                /* it has a barrier, or calls one that has */
    size_t start, name_at;     /* tokens: of the declaration, of the name */
    size_t params, params_end; /* the brackets */
    size_t body, body_end;     /* the braces */
} function;

typedef struct rewriting {
    const lesson_wanted *wanted;
    recorded_source *out;
    token *tokens;
    size_t count;
    array_name *arrays;
    size_t array_count;
    function *functions;
    size_t function_count;
    size_t barriers;     /* of the first file, so far */
    char atomic[16][48]; /* types that stand for atomic_uint, atomic_count of them */
    size_t atomic_count;
    bool failed;
    text refused; /* what cannot be rewritten, if anything; its first */
} rewriting;

/* ---- pieces ---------------------------------------------------------------------------------- */

static void *grow(rewriting *r, void *list, size_t count, size_t size)
{
    void *grown = list;

    /* At powers of two. */
    if ((count & (count - 1)) == 0)
        grown = realloc(list, (count ? 2 * count : 1) * size);
    r->failed = r->failed || !grown;
    return grown ? grown : list;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Behind blanks and comments. */
static const char *behind_blanks(const char *s)
{
    for (;;) {
        const char *end = s;

        while (*end == ' ' || *end == '\t' || *end == '\n' || *end == '\r')
            end++;
        if (end[0] == '/' && end[1] == '*') {
            const char *close = strstr(end + 2, "*/");

            end = close ? close + 2 : end + strlen(end);
        } else if (end[0] == '/' && end[1] == '/') {
            end += strcspn(end, "\n");
        }
        if (end == s)
            return s;
        s = end;
    }
}

/* The end of a line of the preprocessor, which a backslash continues. */
static const char *line_end(const char *s)
{
    for (;; s++) {
        s += strcspn(s, "\n");
        if (!*s || s[-1] != '\\')
            return s;
    }
}

static size_t sign_length(const char *s)
{
    static const char *const signs[] = {
        "<<=", ">>=", "->", "++", "--", "+=", "-=", "*=", "/=", "%=", "|=",
        "&=",  "^=",  "==", "!=", "<=", ">=", "&&", "||", "<<", ">>"};

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (!strncmp(s, signs[i], strlen(signs[i])))
            return strlen(signs[i]);
    return 1;
}

static unsigned file_number(rewriting *r, const char *name, size_t length)
{
    recorded_source *out = r->out;

    for (unsigned i = 0; i < out->file_count; i++)
        if (strlen(out->file[i]) == length && !strncmp(out->file[i], name, length))
            return i;
    if (out->file_count == LESSON_FILES_MAX)
        return LESSON_FILES_MAX - 1;
    snprintf(out->file[out->file_count], sizeof(out->file[0]), "%.*s", (int)length, name);
    return (unsigned)out->file_count++;
}

static void add_token(rewriting *r, token t)
{
    r->tokens = grow(r, r->tokens, r->count, sizeof(*r->tokens));
    if (!r->failed)
        r->tokens[r->count++] = t;
}

static size_t token_length(const char *at)
{
    size_t length = 0;

    if (*at == '"' || *at == '\'') {
        for (length = 1; at[length] && at[length] != *at; length++)
            length += at[length] == '\\' && at[length + 1];
        return length + (at[length] != '\0');
    }
    if (!is_word(*at))
        return sign_length(at);
    /* A number may have a point. */
    while (is_word(at[length]) || (isdigit((unsigned char)*at) && at[length] == '.'))
        length++;
    return length;
}

/* The body of a macro without arguments that declares pointers to global memory, by its name: the
 * parameters of several kernels may be one.  NULL: there is none. */
static const char *declaring_macro(const rewriting *r, const token *t, const char **end)
{
    for (size_t i = 0; i < r->count; i++) {
        const token *m = &r->tokens[i];
        const char *name = m->at + strlen("#define "), *body = name + t->length;

        if (m->kind != TOKEN_LINE || m->length <= strlen("#define ") + t->length ||
            strncmp(m->at, "#define ", strlen("#define ")) != 0 ||
            strncmp(name, t->at, t->length) != 0 || !strchr(" \t\\\n", *body))
            continue;
        *end = m->at + m->length;
        for (const char *s = body; s + 6 < *end; s++)
            if (!strncmp(s, "global", 6) && !is_word(s[6]) &&
                (!is_word(s[-1]) || !strncmp(s - 3, " __", 3) || !strncmp(s - 3, "\t__", 3)))
                return body;
    }
    return NULL;
}

/* Cut up what a macro stands for, as if it stood at a token's place. */
static void cut_up_macro(rewriting *r, const token *place, const char *body, const char *end)
{
    for (const char *s = body; s < end; s++) {
        token t = *place;

        if (strchr(" \t\\\n", *s))
            continue;
        t.blank = NULL;
        t.at = s;
        t.kind = is_word(*s) ? TOKEN_WORD : TOKEN_SIGN;
        t.length = token_length(s);
        s += t.length - 1;
        add_token(r, t);
    }
}

/* Cut the text up; #line says whose line each is. */
static void cut_up(rewriting *r, const char *source)
{
    unsigned file = 0, line = 1;

    for (const char *s = source; !r->failed;) {
        token t = {.blank = s, .at = behind_blanks(s)};
        const char *body, *body_end;

        for (const char *c = s; c < t.at; c++)
            line += *c == '\n';
        t.file = file;
        t.line = line;
        if (!*t.at) {
            t.kind = TOKEN_END;
            add_token(r, t);
            return;
        }
        if (*t.at == '#') {
            t.kind = TOKEN_LINE;
            t.length = (size_t)(line_end(t.at) - t.at);
            if (!strncmp(t.at, "#line ", 6)) {
                const char *name = memchr(t.at, '"', t.length);

                line = (unsigned)strtoul(t.at + 6, NULL, 10) - 1;
                if (name)
                    file = file_number(r, name + 1, strcspn(name + 1, "\""));
            } else {
                for (size_t i = 0; i < t.length; i++)
                    line += t.at[i] == '\n';
            }
        } else {
            t.kind = is_word(*t.at) ? TOKEN_WORD : TOKEN_SIGN;
            t.length = token_length(t.at);
        }
        s = t.at + t.length;
        body = t.kind == TOKEN_WORD ? declaring_macro(r, &t, &body_end) : NULL;
        if (body)
            cut_up_macro(r, &t, body, body_end);
        else
            add_token(r, t);
    }
}

static bool is(const rewriting *r, size_t i, const char *s)
{
    return i < r->count && r->tokens[i].length == strlen(s) &&
           !strncmp(r->tokens[i].at, s, r->tokens[i].length);
}

static bool is_any(const rewriting *r, size_t i, const char *const *list)
{
    for (; *list; list++)
        if (is(r, i, *list))
            return true;
    return false;
}

static const char *const global_words[] = {"__global", "global", NULL};
static const char *const local_words[] = {"__local", "local", NULL};
static const char *const kernel_words[] = {"__kernel", "kernel", NULL};

static void word_of(const rewriting *r, size_t i, char *to, size_t size)
{
    snprintf(to, size, "%.*s", (int)r->tokens[i].length, r->tokens[i].at);
}

/* The bracket that closes the one at i, or the last token. */
static size_t closing(const rewriting *r, size_t i)
{
    size_t depth = 0;

    for (; i + 1 < r->count; i++) {
        if (r->tokens[i].kind != TOKEN_SIGN)
            continue;
        if (strchr("([{", r->tokens[i].at[0]))
            depth++;
        else if (strchr(")]}", r->tokens[i].at[0]) && --depth == 0)
            return i;
    }
    return i;
}

/* ---- what there is --------------------------------------------------------------------------- */

/* The function whose body opens at i. */
static void add_function(rewriting *r, size_t start, size_t i)
{
    function f = {.start = start, .params_end = i - 1, .body = i, .body_end = closing(r, i)};
    size_t depth = 0;

    for (f.params = i; f.params-- > start;) {
        depth += is(r, f.params, ")");
        if (is(r, f.params, "(") && --depth == 0)
            break;
    }
    f.name_at = f.params - 1;
    if (f.params <= start || r->tokens[f.name_at].kind != TOKEN_WORD)
        return;
    word_of(r, f.name_at, f.name, sizeof(f.name));
    for (size_t k = start; k < f.name_at; k++)
        f.kernel = f.kernel || is_any(r, k, kernel_words);
    r->functions = grow(r, r->functions, r->function_count, sizeof(*r->functions));
    if (!r->failed)
        r->functions[r->function_count++] = f;
}

static void find_functions(rewriting *r)
{
    size_t start = 0;

    for (size_t i = 0; i + 1 < r->count; i++) {
        if (r->tokens[i].kind == TOKEN_LINE || is(r, i, ";")) {
            start = i + 1;
        } else if (is(r, i, "{")) {
            if (i > start && is(r, i - 1, ")"))
                add_function(r, start, i);
            i = closing(r, i);
            start = i + 1;
        }
    }
}

static const char *const qualifiers[] = {"const", "volatile", "restrict", NULL};

static void add_array(rewriting *r, const array_name *a)
{
    r->arrays = grow(r, r->arrays, r->array_count, sizeof(*r->arrays));
    if (!r->failed)
        r->arrays[r->array_count++] = *a;
}

static bool is_atomic(const rewriting *r, const char *type)
{
    for (size_t k = 0; k < r->atomic_count; k++)
        if (!strcmp(r->atomic[k], type))
            return true;
    return !strcmp(type, "atomic_uint") || !strcmp(type, "atomic_int");
}

/* The declarations behind a token __global or __local, or either without its underscores: pointers,
 * and arrays in local memory. */
static void add_arrays(rewriting *r, size_t i, size_t from, size_t end, bool params)
{
    array_name a = {.local = is_any(r, i, local_words), .from = from, .end = end};

    for (i++; is_any(r, i, qualifiers);)
        i++;
    if (r->tokens[i].kind != TOKEN_WORD)
        return;
    word_of(r, i, a.type, sizeof(a.type));
    do {
        bool pointer = false;

        for (i++; is(r, i, "*") || is_any(r, i, qualifiers); i++)
            pointer = pointer || is(r, i, "*");
        if (r->tokens[i].kind != TOKEN_WORD)
            return;
        word_of(r, i, a.name, sizeof(a.name));
        a.dims = 0;
        for (i++; !pointer && is(r, i, "["); i = closing(r, i) + 1)
            a.dims++;
        if ((pointer || a.dims) && !is_atomic(r, a.type) && strcmp(a.type, "void") != 0)
            add_array(r, &a);
        /* An initial value. */
        for (; !params && i + 1 < end && !is(r, i, ",") && !is(r, i, ";"); i++)
            if (is(r, i, "("))
                i = closing(r, i);
    } while (!params && is(r, i, ","));
}

/* Atomic objects have no plain accesses, and no values of their type. */
static void find_atomics(rewriting *r)
{
    char type[48], name[48];

    for (size_t i = 0; i + 3 < r->count; i++) {
        if (!is(r, i, "typedef") || !is(r, i + 3, ";") || r->atomic_count == 16)
            continue;
        word_of(r, i + 1, type, sizeof(type));
        word_of(r, i + 2, name, sizeof(name));
        if (is_atomic(r, type) && !is_atomic(r, name))
            snprintf(r->atomic[r->atomic_count++], sizeof(r->atomic[0]), "%s", name);
    }
}

static void find_arrays(rewriting *r)
{
    for (size_t k = 0; k < r->function_count; k++) {
        const function *f = &r->functions[k];

        for (size_t i = f->params; i < f->body_end; i++)
            if (is_any(r, i, global_words) || is_any(r, i, local_words))
                add_arrays(r, i, f->params, f->body_end, i < f->params_end);
    }
}

/* What a word means at token i: the declaration that is closest before it. */
static const array_name *array_at(const rewriting *r, size_t i)
{
    const array_name *found = NULL;

    if (r->tokens[i].kind != TOKEN_WORD || !is(r, i + 1, "["))
        return NULL;
    if (i && (is(r, i - 1, ".") || is(r, i - 1, "->")))
        return NULL;
    for (size_t k = 0; k < r->array_count; k++)
        if (r->arrays[k].from <= i && i < r->arrays[k].end && is(r, i, r->arrays[k].name))
            found = &r->arrays[k];
    return found;
}

static const function *function_at(const rewriting *r, size_t i)
{
    if (r->tokens[i].kind != TOKEN_WORD || !is(r, i + 1, "("))
        return NULL;
    for (size_t k = 0; k < r->function_count; k++)
        if (is(r, i, r->functions[k].name))
            return &r->functions[k];
    return NULL;
}

static const lesson_watched *watched_at(const rewriting *r, size_t i)
{
    if (i && (is(r, i - 1, ".") || is(r, i - 1, "->")))
        return NULL;
    for (size_t k = 0; k < r->wanted->watched_count; k++)
        if (is(r, i, r->wanted->watched[k].name))
            return &r->wanted->watched[k];
    return NULL;
}

/* Functions whose first argument is an address: of OpenCL C 2.0, and those of cl/common/ that are
 * made of them or of NVIDIA's instructions. */
static const char *const atomic_loads[] = {"atomic_load_explicit", "atomic_fetch_add_explicit",
                                           "take_ticket",          "state_read",
                                           "published_at",         NULL};
static const char *const atomic_stores[] = {"atomic_store_explicit", "state_publish", "publish",
                                            NULL};
static const char *const assignments[] = {
    "=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>=", NULL};

/* Whether a function does anything that is recorded, itself or by those that it calls. */
static bool does_anything(const rewriting *r, const function *f)
{
    if (f->kernel)
        return true;
    if (is_any(r, f->name_at, atomic_loads) || is_any(r, f->name_at, atomic_stores))
        return false;
    for (size_t i = f->body; i < f->body_end; i++) {
        const function *called = function_at(r, i);

        if (is_any(r, i, atomic_loads) || is_any(r, i, atomic_stores) || array_at(r, i) ||
            is(r, i, "barrier") || watched_at(r, i) ||
            (called && called->traced && !called->kernel))
            return true;
    }
    return false;
}

static void find_traced(rewriting *r)
{
    bool more = true;

    while (more) {
        more = false;
        for (size_t k = 0; k < r->function_count; k++) {
            function *f = &r->functions[k];

            /* Functions of one name, of which #if takes one, are called alike. */
            if (f->traced || !does_anything(r, f))
                continue;
            for (size_t j = 0; j < r->function_count; j++)
                if (!strcmp(r->functions[j].name, f->name))
                    r->functions[j].traced = more = true;
        }
    }
}

/* Whether the barrier at token i is the one that is left out. */
static bool is_left_out(const rewriting *r, size_t i)
{
    size_t number = 0;

    if (r->tokens[i].file != 0 || !r->wanted->without_barrier)
        return false;
    for (size_t k = 0; k <= i; k++)
        number += r->tokens[k].file == 0 && is(r, k, "barrier") && is(r, k + 1, "(");
    return number == r->wanted->without_barrier;
}

/* Whether a barrier that stays is among these tokens, or a call of a function that waits. */
static bool waits(const rewriting *r, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++) {
        const function *called = function_at(r, i);

        if ((called && called->waits) || (is(r, i, "barrier") && !is_left_out(r, i)))
            return true;
    }
    return false;
}

static void find_waiting(rewriting *r)
{
    bool more = true;

    while (more) {
        more = false;
        for (size_t k = 0; k < r->function_count; k++) {
            function *f = &r->functions[k];

            if (f->waits || !waits(r, f->body, f->body_end))
                continue;
            f->waits = more = true;
        }
    }
}

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
            i = closing(r, i);
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

    if (i < 2 || !is(r, i - 1, "&"))
        return false;
    if (is(r, i - 2, ")"))
        return i > 3 && (is(r, i - 3, "*") || is_any(r, i - 3, qualifiers));
    return !is(r, i - 2, "]") &&
           (r->tokens[i - 2].kind != TOKEN_WORD || is_any(r, i - 2, not_values));
}

/* Whether an element whose subscripts end before token i is a structure or a vector of which only a
 * member is set: that has no record. */
static bool member_is_set(const rewriting *r, size_t i)
{
    if (!is(r, i, "."))
        return false;
    for (; is(r, i, "."); i += 2)
        ;
    for (; is(r, i, "["); i = closing(r, i) + 1)
        ;
    return is_any(r, i, assignments) || is(r, i, "++") || is(r, i, "--");
}

/* An access that reads and writes has its subscript twice: one that does more than name a place
 * cannot be there. */
static void refuse_effects(rewriting *r, size_t i, size_t end)
{
    for (size_t k = i + 1; k < end && !r->refused.length; k++) {
        const bool call = is(r, k, "(") || is(r, k, ",");

        if (is(r, k, "++") || is(r, k, "--") || is_any(r, k, assignments) ||
            (call && is(r, k + 1, "&")) || !strncmp(r->tokens[k].at, "atom", 4))
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
    const array_name *a = array_at(r, i);
    unsigned dims = 0;

    if (!a || address_taken(r, i))
        return NULL;
    for (*end = i + 1; is(r, *end, "["); *end = closing(r, *end) + 1)
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
    const bool before = is(r, i, "++") || is(r, i, "--");
    size_t end, stop;
    const array_name *a = element_at(r, i + before, &end);

    if (!a)
        return i;
    if (before || is(r, end, "++") || is(r, end, "--")) {
        emit_step(r, a, i + before, end, before ? i : end, out);
        return before ? end : end + 1;
    }
    if (is_any(r, end, assignments)) {
        stop = value_end(r, end);
        access_head(r, a, LESSON_STORE, i, end, out);
        text_append(out, ",");
        if (!is(r, end, "=")) {
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
    const size_t end = closing(r, i + 1) + 1;

    r->barriers += r->tokens[i].file == 0;
    if (is_left_out(r, i)) {
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
    const size_t open = i + 1, end = closing(r, open) + 1, first = argument_end(r, open);
    const bool store = is_any(r, i, atomic_stores);

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
    const size_t open = i + 1, end = closing(r, open) + 1, first = argument_end(r, open);

    blanks(r, i, out);
    watched_head(r, watched_at(r, i), i, out);
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
    const lesson_watched *w = watched_at(r, i);
    const size_t end = w && is(r, i + 1, "[") ? closing(r, i + 1) + 1 : i + 1;
    size_t stop;

    if (w && is(r, i + 1, "("))
        return emit_watched_call(r, i, out);
    if (!w || !is_any(r, end, assignments))
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
    if (!is(r, end, "=")) {
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
    const size_t end = closing(r, i + 1);
    size_t body_end = is(r, end + 1, "{") ? closing(r, end + 1) : end + 1, first, second;

    while (!is(r, end + 1, "{") && body_end + 1 < r->count && !is(r, body_end, ";"))
        body_end = is(r, body_end, "(") ? closing(r, body_end) + 1 : body_end + 1;
    for (first = i + 2; first < end && !is(r, first, ";"); first++)
        if (is(r, first, "("))
            first = closing(r, first);
    for (second = first + 1; second < end && !is(r, second, ";"); second++)
        if (is(r, second, "("))
            second = closing(r, second);
    if (second >= end || second == first + 1 || waits(r, end, body_end))
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
    const size_t end = closing(r, i + 1);
    size_t body_end = is(r, end + 1, "{") ? closing(r, end + 1) : end + 1;

    while (!is(r, end + 1, "{") && body_end + 1 < r->count && !is(r, body_end, ";"))
        body_end++;
    if (is(r, end + 1, ";") || waits(r, end, body_end))
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

        while (s + length < end && is_word(s[length]))
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
        const function *called = function_at(r, i);
        size_t next = i;

        if (r->tokens[i].kind == TOKEN_LINE) {
            emit_line(r, i++, out);
            continue;
        }
        if (is(r, i, "barrier") && is(r, i + 1, "("))
            next = emit_barrier(r, i, out);
        else if ((is_any(r, i, atomic_loads) || is_any(r, i, atomic_stores)) && is(r, i + 1, "("))
            next = emit_atomic(r, i, out);
        else if (is(r, i, "for") && is(r, i + 1, "("))
            next = emit_loop(r, i, out);
        else if (is(r, i, "while") && is(r, i + 1, "("))
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
            text_append(out, is(r, i + 1, ")") ? "trace" : "trace, ");
            i++;
        }
    }
}

/* ---- helpers of the new text ------------------------------------------------------------------
 */

/* What each type of elements needs. */
static void define_type(const char *type, text *out)
{
    text_format(out,
                "#ifndef LESSON_TYPE_%s\n#define LESSON_TYPE_%s\n"
                "static inline uint lesson_bits_%s(%s value)\n{\n"
                "    union { %s value; uint bits; } u;\n    u.bits = 0;\n    u.value = value;\n"
                "    return u.bits;\n}\n"
                "static inline %s lesson_set_%s(__global uint *trace, uint code, uint which, uint "
                "place, %s value)\n{\n"
                "    lesson_event(trace, code, which | (ulong)place << 32, lesson_bits_%s(value), "
                "sizeof(%s));\n    return value;\n}\n",
                type, type, type, type, type, type, type, type, type, type);
    for (size_t k = 0; k < 2; k++) {
        const char *space = k ? "local" : "global";

        text_format(
            out,
            "static inline %s lesson_load_%s_%s(__global uint *trace, uint code, __%s const "
            "%s *at)\n{\n    const %s value = *at;\n\n"
            "    lesson_event(trace, code, (ulong)at, lesson_bits_%s(value), sizeof(%s));\n"
            "    return value;\n}\n"
            "static inline %s lesson_store_%s_%s(__global uint *trace, uint code, __%s %s "
            "*at, %s value)\n{\n"
            "    lesson_event(trace, code, (ulong)at, lesson_bits_%s(value), sizeof(%s));\n"
            "    *at = value;\n    return value;\n}\n",
            type, space, type, space, type, type, type, type, type, space, type, space, type, type,
            type, type);
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
        "static inline bool lesson_first_of_group(void)\n{\n"
        "    return get_local_id(0) + get_local_id(1) + get_local_id(2) == 0;\n}\n"
        "static inline bool lesson_goes_on(void)\n{\n"
        "    return get_local_id(0) < get_local_size(0);\n}\n"
        "static inline void lesson_nothing_yet(__local uint *words, uint count)\n{\n"
        "    for (uint i = 0; lesson_first_of_group() && i < count; i++)\n"
        "        words[i] = 0x7fc00000u;\n    barrier(CLK_LOCAL_MEM_FENCE);\n}\n");
}

/* The types that a function's accesses have. */
static void define_types(rewriting *r, const function *f, text *out)
{
    for (size_t k = 0; k < r->array_count; k++)
        if (r->arrays[k].from == f->params)
            define_type(r->arrays[k].type, out);
}

/* Where the pointers that a kernel gets point to. */
static void emit_arguments(const rewriting *r, const function *f, text *out)
{
    unsigned number = 0;
    bool pointer = false;
    size_t name = 0;

    text_append(out, " if (get_global_id(0) + get_global_id(1) + get_global_id(2) == 0) {");
    for (size_t i = f->params + 1; i <= f->params_end; i++) {
        if (is(r, i, ",") || i == f->params_end) {
            if (pointer && name) {
                char word[64];

                word_of(r, name, word, sizeof(word));
                text_append(out, " lesson_event(trace, ");
                code(r, LESSON_ARGUMENT, LESSON_UNSIGNED, f->name_at, out);
                text_format(out, ", (ulong)%s, %u, 0);", word, number);
            }
            number++;
            pointer = false;
            name = 0;
        }
        pointer = pointer || is(r, i, "*");
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
        lesson_array *made;
        size_t at = from;

        if (!a->local || !a->dims || a->from != f->params)
            continue;
        while (at < i && !(is(r, at, a->name) && is(r, at + 1, "[")))
            at++;
        if (at == i)
            continue;
        r->out->locals = grow(r, r->out->locals, r->out->local_count, sizeof(*r->out->locals));
        if (r->failed)
            return;
        made = &r->out->locals[r->out->local_count++];
        *made = (lesson_array){
            .file = r->tokens[at].file, .line = r->tokens[at].line, .type = type_of(a->type)};
        snprintf(made->name, sizeof(made->name), "%s", a->name);
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
    return is_any(r, i, local_words) && !is(r, i - 1, "(");
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
            while (end < f->body_end && !is(r, end, ";"))
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
            text_append(out, i + 1 == f->params_end || is(r, i + 1, "void")
                                 ? "__global uint *trace"
                                 : "__global uint *trace, ");
        if (i == f->params && f->traced && !f->kernel && is(r, i + 1, "void"))
            i++;
    }
    if (f->kernel)
        text_append(out, ", __global uint *trace");
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

    for (unsigned i = 0; i < out->file_count; i++)
        if (strlen(out->file[i]) == length && !strncmp(out->file[i], name + 1, length))
            return i;
    return 0;
}

/* The text of each file, so that a line of it is found by its number. */
static void keep_lines(const char *source, recorded_source *out)
{
    unsigned open[LESSON_FILES_MAX] = {0}, depth = 0, file = 0;

    for (const char *s = source; *s;) {
        const char *end = s + strcspn(s, "\n");

        if (!strncmp(s, "#line ", 6)) {
            file = file_of_line(out, s);
            if (strtoul(s + 6, NULL, 10) == 1) {
                if (depth + 1 < LESSON_FILES_MAX)
                    open[depth++] = file;
            } else {
                /* Behind the file that it includes, or one that is there already. */
                const bool was_open = depth && open[depth - 1] != file;

                text_format(&out->lines[file], "#include %s\n",
                            was_open ? out->file[open[--depth]] : "(there already)");
            }
        } else {
            text_append_bytes(&out->lines[file], s, (size_t)(end - s));
            text_append(&out->lines[file], "\n");
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

    cut_up(&r, source);
    if (!r.failed) {
        find_functions(&r);
        find_atomics(&r);
        find_arrays(&r);
        find_waiting(&r);
        find_traced(&r);
    }
    if (!r.failed)
        emit_all(&r, &out->text);
    keep_lines(source, out);
    if (r.failed || out->text.failed)
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory to trace %s", out->file[0]);
    else if (r.refused.length)
        st = tsr_fail(err, TSR_EINVAL, 0, "%s", text_get(&r.refused));
    else if (wanted->without_barrier && !out->removed)
        st = tsr_fail(err, TSR_EINVAL, 0, "%s has no barrier %zu to leave out: it has %zu",
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
