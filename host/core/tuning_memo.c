#include "core/tuning_memo.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "core/tuning_class.h"
#include "core/tuning_file.h"

/* The candidates of one class of problems. */
typedef struct memo_class memo_class;
struct memo_class {
    const operation *op;
    char *name;
    tuning *list; /* NULL while count is 0 */
    size_t count;
    memo_class *next;
};

/* Which folder is the user's, and when it changed last. */
typedef struct stamp {
    bool exists;
    dev_t device;
    ino_t number;
    struct timespec changed;
} stamp;

/* The system is asked for the stamp, and where that is not reliable the files are read anew, at
 * most once in so many nanoseconds: on some it takes as long as a launch.  What this process stores
 * counts at once. */
enum { STAMP_HOLDS_NS = 20 * 1000 * 1000 };

typedef struct memo {
    text path; /* of the folder: memory that is kept from call to call */
    stamp folder;
    uint64_t asked_ns; /* when the stamp was asked for, by clock_coarse_ns */
    unsigned stored;   /* tuning_stored then */
    bool reliable;     /* the stamp would differ after a change: file systems count in ticks */
    uint64_t age;      /* times that it was read anew */
    memo_class *classes;
} memo;

static void forget(memo *m)
{
    while (m->classes) {
        memo_class *c = m->classes;

        m->classes = c->next;
        free(c->name);
        free(c->list);
        free(c);
    }
}

static void release(void *data)
{
    memo *m = data;

    forget(m);
    text_free(&m->path);
    free(m);
}

static stamp read_stamp(memo *m)
{
    struct stat st;

    text_clear(&m->path);
    tuning_folder(&m->path);
    if (!m->path.length || stat(text_get(&m->path), &st) != 0)
        return (stamp){0};
    return (stamp){.exists = true, .device = st.st_dev, .number = st.st_ino, .changed = st.st_mtim};
}

static bool same_stamp(const stamp *a, const stamp *b)
{
    return a->exists == b->exists && a->device == b->device && a->number == b->number &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/* Drop what may be out of date. */
static void refresh(memo *m)
{
    const uint64_t asked_ns = clock_coarse_ns();
    struct timespec t;
    stamp now;

    if (m->age && m->stored == tuning_stored() && asked_ns - m->asked_ns < STAMP_HOLDS_NS)
        return;
    m->asked_ns = asked_ns;
    m->stored = tuning_stored();
    now = read_stamp(m);
    if (m->reliable && same_stamp(&now, &m->folder))
        return;
    forget(m);
    m->age++;
    clock_gettime(CLOCK_REALTIME, &t);
    m->folder = now;
    /* Two seconds are more than any file system's tick. */
    m->reliable = !now.exists || t.tv_sec - now.changed.tv_sec > 2;
}

/* The session's memo; NULL where memory runs out. */
static memo *memo_of(tsr_session *s)
{
    if (!s->tuning.data) {
        s->tuning.data = calloc(1, sizeof(memo));
        s->tuning.release = release;
    }
    return s->tuning.data;
}

static memo_class *look_up(memo *m, tsr_session *s, const problem *p, const char *name)
{
    memo_class *c;

    for (c = m->classes; c; c = c->next)
        if (c->op == p->op && strcmp(c->name, name) == 0)
            return c;
    c = calloc(1, sizeof(*c));
    if (!c || !(c->name = strdup(name))) {
        free(c);
        return NULL;
    }
    c->op = p->op;
    c->count = tuning_candidates(p, session_facts(s), &c->list);
    c->next = m->classes;
    m->classes = c;
    return c;
}

size_t tuning_recall(tsr_session *s, const problem *p, const tuning **out)
{
    memo *m = memo_of(s);
    memo_class *c = NULL;
    text name = {0};

    if (!m)
        return 0;
    refresh(m);
    tuning_class(p, &name);
    c = look_up(m, s, p, text_get(&name));
    text_free(&name);
    if (!c)
        return 0;
    *out = c->list;
    return c->count;
}

uint64_t tuning_age(tsr_session *s)
{
    memo *m = memo_of(s);

    if (!m)
        return 0;
    refresh(m);
    return m->age;
}
