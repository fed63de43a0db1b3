#include "measure/lesson_parse.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sizes.h"

/* ---- pieces ---------------------------------------------------------------------------------- */

void *lesson_grow(rewriting *r, void *list, size_t count, size_t size)
{
    void *grown = list;

    /* At powers of two. */
    if ((count & (count - 1)) == 0)
        grown = realloc(list, (count ? 2 * count : 1) * size);
    r->failed = r->failed || !grown;
    return grown ? grown : list;
}

bool is_word_character(char c)
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

unsigned lesson_file_number(const recorded_source *s, const char *name, size_t length)
{
    const size_t kept = size_min(length, LESSON_NAME_SIZE - 1);

    for (unsigned i = 0; i < s->file_count; i++)
        if (strlen(s->file[i]) == kept && !strncmp(s->file[i], name, kept))
            return i;
    return (unsigned)s->file_count;
}

static unsigned file_number(rewriting *r, const char *name, size_t length)
{
    recorded_source *out = r->out;
    const unsigned found = lesson_file_number(out, name, length);

    if (found < out->file_count)
        return found;
    if (out->file_count == LESSON_FILES_MAX)
        return LESSON_FILES_MAX - 1;
    snprintf(out->file[out->file_count], sizeof(out->file[0]), "%.*s", (int)length, name);
    return (unsigned)out->file_count++;
}

static void add_token(rewriting *r, token t)
{
    r->tokens = lesson_grow(r, r->tokens, r->count, sizeof(*r->tokens));
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
    if (!is_word_character(*at))
        return sign_length(at);
    /* A number may have a point. */
    while (is_word_character(at[length]) || (isdigit((unsigned char)*at) && at[length] == '.'))
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
            if (!strncmp(s, "global", 6) && !is_word_character(s[6]) &&
                (!is_word_character(s[-1]) || !strncmp(s - 3, " __", 3) ||
                 !strncmp(s - 3, "\t__", 3)))
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
        t.kind = is_word_character(*s) ? TOKEN_WORD : TOKEN_SIGN;
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
            t.kind = is_word_character(*t.at) ? TOKEN_WORD : TOKEN_SIGN;
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

bool token_is(const rewriting *r, size_t i, const char *s)
{
    return i < r->count && r->tokens[i].length == strlen(s) &&
           !strncmp(r->tokens[i].at, s, r->tokens[i].length);
}

bool token_is_any(const rewriting *r, size_t i, const char *const *list)
{
    for (; *list; list++)
        if (token_is(r, i, *list))
            return true;
    return false;
}

static const char *const global_words[] = {"__global", "global", NULL};
const char *const lesson_local_words[] = {"__local", "local", NULL};
static const char *const kernel_words[] = {"__kernel", "kernel", NULL};

void token_word(const rewriting *r, size_t i, char *to, size_t size)
{
    snprintf(to, size, "%.*s", (int)r->tokens[i].length, r->tokens[i].at);
}

size_t token_closing(const rewriting *r, size_t i)
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
    function f = {.start = start, .params_end = i - 1, .body = i, .body_end = token_closing(r, i)};
    size_t depth = 0;

    for (f.params = i; f.params-- > start;) {
        depth += token_is(r, f.params, ")");
        if (token_is(r, f.params, "(") && --depth == 0)
            break;
    }
    f.name_at = f.params - 1;
    if (f.params <= start || r->tokens[f.name_at].kind != TOKEN_WORD)
        return;
    token_word(r, f.name_at, f.name, sizeof(f.name));
    for (size_t k = start; k < f.name_at; k++)
        f.kernel = f.kernel || token_is_any(r, k, kernel_words);
    r->functions = lesson_grow(r, r->functions, r->function_count, sizeof(*r->functions));
    if (!r->failed)
        r->functions[r->function_count++] = f;
}

static void find_functions(rewriting *r)
{
    size_t start = 0, brackets = 0;

    for (size_t i = 0; i + 1 < r->count; i++) {
        brackets += token_is(r, i, "(");
        brackets -= brackets && token_is(r, i, ")");
        /* A directive among parameters stands within their function. */
        if ((r->tokens[i].kind == TOKEN_LINE && !brackets) || token_is(r, i, ";")) {
            start = i + 1;
            brackets = 0;
        } else if (token_is(r, i, "{")) {
            if (i > start && token_is(r, i - 1, ")"))
                add_function(r, start, i);
            i = token_closing(r, i);
            start = i + 1;
        }
    }
}

const char *const lesson_qualifiers[] = {"const", "volatile", "restrict", NULL};

static void add_array(rewriting *r, const array_name *a)
{
    r->arrays = lesson_grow(r, r->arrays, r->array_count, sizeof(*r->arrays));
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
    array_name a = {.local = token_is_any(r, i, lesson_local_words), .from = from, .end = end};

    for (i++; token_is_any(r, i, lesson_qualifiers);)
        i++;
    if (r->tokens[i].kind != TOKEN_WORD)
        return;
    token_word(r, i, a.type, sizeof(a.type));
    a.declared = i;
    do {
        bool pointer = false;

        for (i++; token_is(r, i, "*") || token_is_any(r, i, lesson_qualifiers); i++)
            pointer = pointer || token_is(r, i, "*");
        if (r->tokens[i].kind != TOKEN_WORD)
            return;
        token_word(r, i, a.name, sizeof(a.name));
        a.dims = 0;
        for (i++; !pointer && token_is(r, i, "["); i = token_closing(r, i) + 1)
            a.dims++;
        if ((pointer || a.dims) && !is_atomic(r, a.type) && strcmp(a.type, "void") != 0)
            add_array(r, &a);
        /* An initial value. */
        for (; !params && i + 1 < end && !token_is(r, i, ",") && !token_is(r, i, ";"); i++)
            if (token_is(r, i, "("))
                i = token_closing(r, i);
    } while (!params && token_is(r, i, ","));
}

/* Atomic objects have no plain accesses, and no values of their type. */
static void find_atomics(rewriting *r)
{
    char type[48], name[48];

    for (size_t i = 0; i + 3 < r->count; i++) {
        if (!token_is(r, i, "typedef") || !token_is(r, i + 3, ";") || r->atomic_count == 16)
            continue;
        token_word(r, i + 1, type, sizeof(type));
        token_word(r, i + 2, name, sizeof(name));
        if (is_atomic(r, type) && !is_atomic(r, name))
            snprintf(r->atomic[r->atomic_count++], sizeof(r->atomic[0]), "%s", name);
    }
}

const array_name *token_array(const rewriting *r, size_t i)
{
    const array_name *found = NULL;

    if (r->tokens[i].kind != TOKEN_WORD || !token_is(r, i + 1, "["))
        return NULL;
    if (i && (token_is(r, i - 1, ".") || token_is(r, i - 1, "->")))
        return NULL;
    for (size_t k = 0; k < r->array_count; k++)
        if (r->arrays[k].from <= i && i < r->arrays[k].end && token_is(r, i, r->arrays[k].name))
            found = &r->arrays[k];
    return found;
}

const function *token_function(const rewriting *r, size_t i)
{
    if (r->tokens[i].kind != TOKEN_WORD || !token_is(r, i + 1, "("))
        return NULL;
    for (size_t k = 0; k < r->function_count; k++)
        if (token_is(r, i, r->functions[k].name))
            return &r->functions[k];
    return NULL;
}

const lesson_watched *token_watched(const rewriting *r, size_t i)
{
    if (i && (token_is(r, i - 1, ".") || token_is(r, i - 1, "->")))
        return NULL;
    for (size_t k = 0; k < r->wanted->watched_count; k++)
        if (token_is(r, i, r->wanted->watched[k].name))
            return &r->wanted->watched[k];
    return NULL;
}

/* Functions whose first argument is an address: of OpenCL C 2.0, and those of cl/common/ that are
 * made of them or of NVIDIA's instructions. */
const char *const lesson_atomic_loads[] = {"atomic_load_explicit", "atomic_fetch_add_explicit",
                                           "take_ticket",          "state_read",
                                           "published_at",         NULL};
const char *const lesson_atomic_stores[] = {"atomic_store_explicit", "state_publish", "publish",
                                            NULL};
const char *const lesson_atomic_sums[] = {"atomic_inc", "atomic_add", NULL};
const char *const lesson_assignments[] = {
    "=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>=", NULL};

/* Whether a function does anything that is recorded, itself or by those that it calls. */
static bool does_anything(const rewriting *r, const function *f)
{
    if (f->kernel)
        return true;
    if (token_is_any(r, f->name_at, lesson_atomic_loads) ||
        token_is_any(r, f->name_at, lesson_atomic_stores))
        return false;
    for (size_t i = f->body; i < f->body_end; i++) {
        const function *called = token_function(r, i);

        if (token_is_any(r, i, lesson_atomic_loads) || token_is_any(r, i, lesson_atomic_stores) ||
            token_is_any(r, i, lesson_atomic_sums) || token_array(r, i) ||
            token_is(r, i, "barrier") || token_watched(r, i) ||
            (called && called->traced && !called->kernel))
            return true;
    }
    return false;
}

bool token_is_left_out(const rewriting *r, size_t i)
{
    size_t number = 0;

    if (r->tokens[i].file != 0 || !r->wanted->without_barrier)
        return false;
    for (size_t k = 0; k <= i; k++)
        number += r->tokens[k].file == 0 && token_is(r, k, "barrier") && token_is(r, k + 1, "(");
    return number == r->wanted->without_barrier;
}

bool tokens_wait(const rewriting *r, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++) {
        const function *called = token_function(r, i);

        if ((called && called->waits) || (token_is(r, i, "barrier") && !token_is_left_out(r, i)))
            return true;
    }
    return false;
}

/* Which functions wait, and which have something to record: themselves, or by those that they call,
 * so that one that is found may let others be found. */
static void find_by_calls(rewriting *r)
{
    bool more = true;

    while (more) {
        more = false;
        for (size_t k = 0; k < r->function_count; k++) {
            function *f = &r->functions[k];

            if (!f->waits && tokens_wait(r, f->body, f->body_end))
                f->waits = more = true;
            if (f->traced || !does_anything(r, f))
                continue;
            /* Functions of one name, of which #if takes one, are called alike. */
            for (size_t j = 0; j < r->function_count; j++)
                if (!strcmp(r->functions[j].name, f->name))
                    r->functions[j].traced = more = true;
        }
    }
}

void lesson_parse(rewriting *r, const char *source)
{
    cut_up(r, source);
    if (r->failed)
        return;
    find_functions(r);
    find_atomics(r);
    for (size_t k = 0; k < r->function_count; k++) {
        const function *f = &r->functions[k];

        for (size_t i = f->params; i < f->body_end; i++)
            if (token_is_any(r, i, global_words) || token_is_any(r, i, lesson_local_words))
                add_arrays(r, i, f->params, f->body_end, i < f->params_end);
    }
    find_by_calls(r);
}
