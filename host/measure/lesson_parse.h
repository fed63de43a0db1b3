/**
 * The source of a kernel, read for lesson_source.c: its pieces, and the functions and arrays that
 * they declare.
 */
#ifndef MEASURE_LESSON_PARSE_H
#define MEASURE_LESSON_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "measure/lesson_source.h"

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
    size_t declared;  /* the token of the type */
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

/* Lists that NULL ends. */
extern const char *const lesson_local_words[];
extern const char *const lesson_qualifiers[];
extern const char *const lesson_atomic_loads[];
extern const char *const lesson_atomic_stores[];
extern const char *const lesson_atomic_sums[];
extern const char *const lesson_assignments[];

/** Read a source: r has its tokens, functions and arrays then, or has failed. */
void lesson_parse(rewriting *r, const char *source);

/** Whether token i is this text. */
bool token_is(const rewriting *r, size_t i, const char *s);

/** Whether it is one of a list that NULL ends. */
bool token_is_any(const rewriting *r, size_t i, const char *const *list);

/** Its text. */
void token_word(const rewriting *r, size_t i, char *to, size_t size);

/** The bracket that closes the one at i, or the last token. */
size_t token_closing(const rewriting *r, size_t i);

/** What is subscripted at token i, by the declaration that is closest before it; or NULL. */
const array_name *token_array(const rewriting *r, size_t i);

/** The function that is called at token i, or NULL. */
const function *token_function(const rewriting *r, size_t i);

/** The variable or function at token i whose values are wanted, or NULL. */
const lesson_watched *token_watched(const rewriting *r, size_t i);

/** Whether the barrier at token i is the one that is left out. */
bool token_is_left_out(const rewriting *r, size_t i);

/** Whether a barrier that stays is among these tokens, or a call of a function that waits. */
bool tokens_wait(const rewriting *r, size_t from, size_t end);

/** A list of `count` elements with room for one more; r->failed where there is no memory. */
void *lesson_grow(rewriting *r, void *list, size_t count, size_t size);

/** The number of the file that a name of `length` bytes names; file_count: there is none yet. */
unsigned lesson_file_number(const recorded_source *s, const char *name, size_t length);

/** Whether words are made of it. */
bool is_word_character(char c);

#endif
