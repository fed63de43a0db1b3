/* Tuning: what is stored is found by those whom it concerns, in the order of the look-up, and
 * whatever else lies in the folder is left out with a reason.  No device: facts are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "core/tuning_memo.h"
#include "measure/tune_space.h"
#include "session/embedded.h"

#include "made_up_variants.h"
#include "tuning_folder.h"

/* The name of a file of the i-th operation. */
static const char *named_file(size_t i, const char *rest)
{
    static char name[64];

    snprintf(name, sizeof(name), "%s-%s", operation_at(i)->name, rest);
    return name;
}

/* Small and large problems of the first operation, in classes of their own. */
static problem problem_of(bool large)
{
    problem p, last;
    size_t i = 0;

    assert_true(operation_at(0)->sweep(i, true, &p));
    while (operation_at(0)->sweep(++i, true, &last))
        if (large)
            p = last;
    return p;
}

/* ---- storing and finding ----------------------------------------------------------------- */

static void what_is_stored_is_found(void **state)
{
    const device_facts d = gpu("Fast 1", "1.0");
    const problem p = problem_of(true), other = problem_of(false);
    tuning t = entry_of(&d, &p, 5), found;

    (void)state;
    assert_false(find(&p, &d, &found));
    strcpy(t.problem, "1000x1000x1000 float32");
    store(&t);
    assert_true(find(&p, &d, &found));
    assert_string_equal(found.variant, "tiled");
    assert_string_equal(found.parameters, "SIDE=8");
    assert_string_equal(found.level, "device");
    assert_string_equal(found.problem, t.problem);
    assert_true(found.median_ns == 5);
    assert_false(found.embedded);
    assert_int_equal(strncmp(found.where, folder, strlen(folder)), 0);
    assert_false(find(&other, &d, &found));
}

static void a_second_one_takes_its_place(void **state)
{
    const device_facts d = gpu("Fast 1", "1.0"), e = gpu("Fast 1", "2.0");
    const problem p = problem_of(true);
    tuning t = entry_of(&d, &p, 5), found;

    (void)state;
    store(&t);
    t.median_ns = 6;
    store(&t);
    assert_int_equal(count_files(false), 1);
    assert_true(find(&p, &d, &found));
    assert_true(found.median_ns == 6);
    t = entry_of(&e, &p, 7); /* another driver */
    store(&t);
    assert_int_equal(count_files(false), 2);
    assert_true(find(&p, &d, &found));
    assert_true(found.median_ns == 6);
}

/* Names that read alike as file names are still distinct. */
static void names_do_not_collide(void **state)
{
    const device_facts a = gpu("Fast 1", "1.0"), b = gpu("Fast-1", "1.0"), c = gpu("Fast 1", "1-0");
    const problem p = problem_of(true);
    tuning found, t;

    (void)state;
    t = entry_of(&a, &p, 1);
    store(&t);
    t = entry_of(&b, &p, 2);
    store(&t);
    t = entry_of(&c, &p, 3);
    store(&t);
    assert_int_equal(count_files(false), 3);
    assert_true(find(&p, &a, &found));
    assert_true(found.median_ns == 1);
    assert_true(find(&p, &b, &found));
    assert_true(found.median_ns == 2);
    assert_true(find(&p, &c, &found));
    assert_true(found.median_ns == 3);
}

/* Each level is found only when the ones before it are not there. */
static void levels_go_from_near_to_far(void **state)
{
    device_facts self = gpu("Fast 1", "2.0");
    const problem p = problem_of(true);
    tuning t = entry_of(&self, &p, 5), found;

    (void)state;
    self.nvidia = true;
    self.nv_capability = 90;
    tuning_owner(&self, &t);
    assert_string_equal(t.family, "sm_90");

    t.device[0] = t.driver[0] = t.family[0] = t.vendor[0] = t.kind[0] = '\0';
    store(&t);
    assert_true(find(&p, &self, &found));
    assert_string_equal(found.level, "default");

    strcpy(t.device, "Slow 7");
    strcpy(t.vendor, "Made Up Corporation");
    strcpy(t.family, "sm_70");
    strcpy(t.kind, "gpu");
    store(&t);
    assert_true(find(&p, &self, &found));
    assert_string_equal(found.level, "vendor");

    strcpy(t.device, "Slow 9");
    strcpy(t.family, "sm_90");
    store(&t);
    assert_true(find(&p, &self, &found));
    assert_string_equal(found.level, "family");

    strcpy(t.device, "Fast 1");
    strcpy(t.driver, "1.0");
    store(&t);
    assert_true(find(&p, &self, &found));
    assert_string_equal(found.level, "name");

    strcpy(t.driver, "2.0");
    store(&t);
    assert_true(find(&p, &self, &found));
    assert_string_equal(found.level, "device");
}

static void strangers_are_left_out(void **state)
{
    const device_facts gpu_d = gpu("Fast 1", "1.0");
    device_facts cpu = gpu("Some CPU", "1.0"), other = gpu("Fast 1b", "1.0");
    const problem p = problem_of(true);
    tuning t = entry_of(&gpu_d, &p, 5), found;

    (void)state;
    store(&t);
    cpu.kind = DEVICE_CPU; /* of the same vendor */
    assert_false(find(&p, &cpu, &found));
    strcpy(other.vendor, "Another");
    assert_false(find(&p, &other, &found));
}

static void the_own_class_goes_before_every_class(void **state)
{
    const device_facts d = gpu("Fast 1", "1.0");
    const problem p = problem_of(true), other = problem_of(false);
    tuning t = entry_of(&d, &p, 5), found, *list = NULL;

    (void)state;
    store(&t);
    t.problem_class[0] = '\0';
    t.median_ns = 6;
    store(&t);
    assert_int_equal(tuning_candidates(&p, &d, &list), 2);
    assert_true(list[0].median_ns == 5 && list[1].median_ns == 6);
    free(list);
    assert_true(find(&other, &d, &found));
    assert_true(found.median_ns == 6);
}

/* Files that somebody put there, by any name that begins with the operation and '-'. */
static void a_copied_file_serves(void **state)
{
    const device_facts d = gpu("Fast 1", "1.0");
    const problem p = problem_of(true);
    const tuning two[] = {entry_of(&d, &p, 5), entry_of(&d, &p, 9)};
    text content = {0};
    tuning found;

    (void)state;
    assert_int_equal(tuning_write_text(two, 2, &content, NULL), TSR_OK);
    write_file(named_file(1, "mine.json"), text_get(&content));
    assert_false(find(&p, &d, &found));
    write_file(named_file(0, "mine.json.bak"), text_get(&content));
    assert_false(find(&p, &d, &found));
    write_file(named_file(0, "mine.json"), text_get(&content));
    assert_true(find(&p, &d, &found));
    assert_true(found.median_ns == 5);
    text_free(&content);
}

static void in_force_is_one_a_class(void **state)
{
    const device_facts d = gpu("Fast 1", "1.0"), old = gpu("Fast 1", "0.9");
    const problem p = problem_of(true), q = problem_of(false);
    tuning t = entry_of(&old, &p, 5), *list = NULL;

    (void)state;
    store(&t);
    t = entry_of(&d, &p, 6);
    store(&t);
    t = entry_of(&old, &q, 7);
    store(&t);
    assert_int_equal(tuning_in_force(operation_at(0), &d, &list), 2);
    assert_true(list[0].median_ns + list[1].median_ns == 13);
    free(list);
}

/* ---- what is ignored ----------------------------------------------------------------------- */

typedef struct seen {
    size_t entries, ignored;
    char why[400];
} seen;

static bool see(const tuning *t, const char *file, const char *ignored, void *context)
{
    seen *s = context;

    assert_true((t == NULL) == (ignored != NULL));
    assert_true(file && *file);
    if (t && !t->embedded)
        s->entries++;
    if (ignored) {
        s->ignored++;
        snprintf(s->why, sizeof(s->why), "%s", ignored);
    }
    return true;
}

static void read_all(seen *s)
{
    *s = (seen){0};
    tuning_read(operation_at(0), NULL, see, s);
}

#define FIELDS_OF(op)                                                                              \
    "\"op\": \"" op "\", \"class\": \"c\", \"variant\": \"v\", \"parameters\": \"\", "             \
    "\"device\": \"d\", \"driver\": \"1\", \"family\": \"\", \"vendor\": \"\", \"kind\": \"\", "   \
    "\"problem\": \"\""
#define FIELDS           FIELDS_OF("%s")
#define FILE_OF(entries) "{\"schema\": \"tessera-tuning-1\", \"entries\": [" entries "]}"

/* A file of the first operation; "%s" in the content stands for its name. */
static void write_own(const char *content)
{
    const char *name = operation_at(0)->name;
    char whole[1024];

    snprintf(whole, sizeof(whole), content, name, name);
    write_file(named_file(0, "x.json"), whole);
}

static void what_is_wrong_is_named(void **state)
{
    static const struct {
        const char *content, *why;
    } cases[] = {
        {"", "not JSON"},
        {"{", "not JSON"},
        {"[]", "no 'schema'"},
        {"{\"schema\": 1}", "no 'schema'"},
        {"{\"schema\": \"tessera-tuning-2\", \"entries\": []}", "'tessera-tuning-2'"},
        {"{\"schema\": \"tessera-tuning-1\"}", "no array 'entries'"},
        {FILE_OF("7"), "entry 0: not an object"},
        {FILE_OF("{" FIELDS "}"), "'median_ns'"},
        {FILE_OF("{" FIELDS ", \"median_ns\": -1}"), "'median_ns'"},
        {FILE_OF("{" FIELDS_OF("elsewhere") ", \"median_ns\": 1}"), "'elsewhere'"},
        {FILE_OF("{\"op\": 7}"), "'op' is not a string"},
        {FILE_OF("{\"op\": \"%s\"}"), "'class' is missing"},
        {FILE_OF("{\"op\": \"a name that is longer than any\"}"), "'op' is longer"},
        {FILE_OF("{\"op\": \"a\\nb\"}"), "control character"},
    };
    seen s;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        write_own(cases[i].content);
        read_all(&s);
        if (s.ignored != 1 || s.entries || !strstr(s.why, cases[i].why))
            fail_msg("case %zu: %zu ignored, %zu entries: %s", i, s.ignored, s.entries, s.why);
    }
    /* A bad entry does not take the good one with it. */
    write_own(FILE_OF("{\"op\": 7}, {" FIELDS ", \"median_ns\": 1, \"more\": 2}"));
    read_all(&s);
    assert_int_equal(s.ignored, 1);
    assert_int_equal(s.entries, 1);
}

static void what_is_no_file_is_named(void **state)
{
    char path[200];
    seen s;

    (void)state;
    snprintf(path, sizeof(path), "%s/%s", folder, named_file(0, "pipe.json"));
    assert_int_equal(mkfifo(path, 0600), 0);
    read_all(&s); /* and does not wait for a writer */
    assert_int_equal(s.ignored, 1);
    assert_non_null(strstr(s.why, "regular"));
}

/* Blanks at its end make a good file larger than any is read. */
static void what_is_too_large_is_named(void **state)
{
    char good[1024];
    enum { MOST = 1 << 20 };
    char *content = malloc(MOST + 2);
    seen s;

    (void)state;
    assert_non_null(content);
    memset(content, ' ', MOST + 1);
    snprintf(good, sizeof(good), FILE_OF("{" FIELDS ", \"median_ns\": 1}"), operation_at(0)->name);
    memcpy(content, good, strlen(good));
    content[MOST + 1] = '\0';
    write_file(named_file(0, "x.json"), content);
    read_all(&s);
    assert_int_equal(s.ignored, 1);
    assert_int_equal(s.entries, 0);
    assert_non_null(strstr(s.why, "it has 1048577 bytes, and at most 1048576 are read"));
    content[MOST] = '\0';
    write_file(named_file(0, "x.json"), content);
    read_all(&s);
    assert_int_equal(s.ignored, 0);
    assert_int_equal(s.entries, 1);
    free(content);
}

/* A text that fills its field is read whole, and one of a byte more is refused. */
static void texts_fit_their_fields(void **state)
{
    static const tuning t;
    const struct {
        const char *key;
        size_t size;
    } fields[] = {{"class", sizeof(t.problem_class)},   {"variant", sizeof(t.variant)},
                  {"parameters", sizeof(t.parameters)}, {"device", sizeof(t.device)},
                  {"driver", sizeof(t.driver)},         {"family", sizeof(t.family)},
                  {"vendor", sizeof(t.vendor)},         {"kind", sizeof(t.kind)},
                  {"problem", sizeof(t.problem)}};
    const size_t count = sizeof(fields) / sizeof(fields[0]);

    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t more = 0; more < 2; more++) {
            text file = {0};
            seen s = {0};

            text_format(&file, "{\"schema\": \"tessera-tuning-1\", \"entries\": [{\"op\": \"%s\"",
                        operation_at(0)->name);
            for (size_t k = 0; k < count; k++)
                text_format(&file, ", \"%s\": \"%0*d\"", fields[k].key,
                            (int)(k == i ? fields[k].size - 1 + more : 1), 7);
            text_append(&file, ", \"median_ns\": 1}]}");
            tuning_read_text(operation_at(0), text_get(&file), file.length, "a file", false, see,
                             &s);
            text_free(&file);
            assert_int_equal(s.ignored, more);
            assert_true(!more || (strstr(s.why, fields[i].key) && strstr(s.why, "is longer than")));
        }
}

/* A stored file cut anywhere is ignored, and never taken for half an entry. */
static void every_truncation_is_ignored(void **state)
{
    const device_facts d = gpu("Fast 1", "1.0");
    const problem p = problem_of(true);
    const tuning t = entry_of(&d, &p, 5);
    text content = {0};
    tuning found;

    (void)state;
    assert_int_equal(tuning_write_text(&t, 1, &content, NULL), TSR_OK);
    for (size_t n = content.length - 2; n > 0; n--) { /* the last byte is a line end */
        content.data[n] = '\0';
        write_file(named_file(0, "x.json"), text_get(&content));
        assert_false(find(&p, &d, &found));
    }
    text_free(&content);
}

static void no_folder_is_no_tuning(void **state)
{
    const device_facts d = gpu("Fast 1", "1.0");
    const problem p = problem_of(true);
    const tuning t = entry_of(&d, &p, 5);
    tsr_error err = {0};
    tuning found;

    (void)state;
    setenv("TESSERA_TUNING_DIR", "/dev/null/nowhere", 1);
    assert_false(find(&p, &d, &found));
    assert_int_equal(tuning_store(&t, NULL, &err), TSR_EFILE);
    assert_non_null(strstr(err.message, "/dev/null"));
    setenv("TESSERA_TUNING_DIR", folder, 1);
}

/* ---- what a class holds ------------------------------------------------------------------- */

/* Of a file written by hand: as they stand. */
static void names_that_are_no_classes_stand(void **state)
{
    static const char *const names[] = {
        "float32", "float32 nn 1x2", "float32 nn 1x2x3x4", "-x", "float32-n-6x6x",
        "4-byte below 2^", "4-byte below 2^3",
        /* No powers of two, no sizes, no types, no letters, no exponents that a class has. */
        "float32 nn 3x5x7", "float32 nn 0x1x1", "0x1x1", "float32 nn -1x1x1", "float32 nn 01x1x1",
        "float32 nn 1x1x99999999999999999999", "float128 nn 1x1x1", "int32 nn 1x1x1",
        "float64 tf32 nn 1x1x1", "float32 f32 nn 1x1x1", "float32 nz 1x1x1", "float32 n 1x1x1",
        "float32  nn 1x1x1", "float32 nn 1x1x1 ", "foo-n-1x1", "foo-z-1x1", "float32-z-1x1",
        "float32-n-01x1", "float32-n-1x-1", "float32-n-31x1", "float32-n-30x30",
        "float32-x0-n-30x30", "float32-x99-n-1x1", "float32-x01-n-1x1", "3-byte below 2^12",
        "4-byte below 2^13", "4-byte below 2^68", "4-byte below 2^-1", "4-byte below 2^012",
        "4-byte Argsort below 2^12", "-1"};
    const operation *op;
    text got = {0};

    (void)state;
    for (size_t i = 0; (op = operation_at(i)); i++) {
        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
            text_clear(&got);
            tuning_class_text(op, names[k], &got);
            assert_string_equal(text_get(&got), names[k]);
        }
        text_clear(&got);
        tuning_class_text(op, "", &got);
        assert_string_equal(text_get(&got), "every class");
    }
    text_free(&got);
}

/* ---- what an entry says -------------------------------------------------------------------- */

static void stale_entries_say_so(void **state)
{
    tuning t = {.variant = "tiled", .parameters = "SIDE=8"};
    text reason = {0};

    (void)state;
    assert_null(tuning_stale(&made_up_operation, &t, &reason));
    strcpy(t.parameters, "SIDE=7");
    assert_non_null(strstr(tuning_stale(&made_up_operation, &t, &reason), "SIDE"));
    strcpy(t.parameters, "GONE=1");
    assert_non_null(strstr(tuning_stale(&made_up_operation, &t, &reason), "GONE"));
    strcpy(t.parameters, "");
    strcpy(t.variant, "gone");
    assert_non_null(strstr(tuning_stale(&made_up_operation, &t, &reason), "gone"));
    text_free(&reason);
}

static void parameters_go_over_the_defaults(void **state)
{
    const variant *v = &made_up_tiled;
    params p;

    (void)state;
    assert_int_equal(tuning_params(v, "DEPTH=8  SIDE=8", &p, NULL), TSR_OK);
    assert_int_equal(param(&p, "DEPTH"), 8);
    assert_int_equal(param(&p, "SIDE"), 8);
    assert_int_equal(param(&p, "BLOCK"), param(&(params){.tunables = v->tunables,
                                                         .count = v->tunable_count,
                                                         .value = {0, v->tunables[1].normal}},
                                               "BLOCK"));
    assert_int_equal(tuning_params(v, "DEPTH", &p, NULL), TSR_ENAME);
    assert_int_equal(tuning_params(v, "DEPTH=8x", &p, NULL), TSR_ENAME);
}

static void families(void **state)
{
    device_facts d = {.kind = DEVICE_CPU, .name = "pthread-haswell-AMD EPYC"};
    char name[64];

    (void)state;
    tuning_family(&d, name, sizeof(name));
    assert_string_equal(name, "cpu haswell");
    strcpy(d.name, "cpu-skylake-avx512-Intel(R) Xeon(R)");
    tuning_family(&d, name, sizeof(name));
    assert_string_equal(name, "cpu skylake-avx512");
    strcpy(d.name, "Intel(R) Xeon(R) CPU");
    tuning_family(&d, name, sizeof(name));
    assert_string_equal(name, "");
    d.kind = DEVICE_GPU;
    strcpy(d.name, "gfx90a:sramecc+:xnack-");
    tuning_family(&d, name, sizeof(name));
    assert_string_equal(name, "gfx90a");
    d.nvidia = true;
    d.nv_capability = 90;
    tuning_family(&d, name, sizeof(name));
    assert_string_equal(name, "sm_90");
}

/* ---- the embedded ones ---------------------------------------------------------------------- */

typedef struct embedded_check {
    const operation *op;
    size_t entries;
} embedded_check;

static bool check_embedded(const tuning *t, const char *file, const char *ignored, void *context)
{
    embedded_check *c = context;
    text reason = {0};
    const char *stale;

    if (ignored)
        fail_msg("%s: %s", file, ignored);
    stale = tuning_stale(c->op, t, &reason);
    if (stale)
        fail_msg("%s: %s", file, stale);
    assert_true(t->embedded && t->device[0] && t->driver[0] && t->kind[0] && t->median_ns > 0);
    c->entries++;
    text_free(&reason);
    return true;
}

static void embedded_entries_are_sound(void **state)
{
    embedded_check c = {0};
    size_t files = 0;

    (void)state;
    for (size_t i = 0; (c.op = operation_at(i)); i++)
        tuning_read(c.op, NULL, check_embedded, &c);
    for (size_t i = 0; i < embedded_tuning_count; i++)
        files += strstr(embedded_tunings[i].name, ".json") != NULL;
    assert_true(c.entries >= files); /* each is of an operation: none goes unread */
}

/* ---- concurrency and speed ------------------------------------------------------------------ */

/* Processes store and look up at once: what is found is whole at any time. */
static void concurrent_stores_do_no_harm(void **state)
{
    enum { WRITERS = 4, TIMES = 50 };
    const device_facts d = gpu("Fast 1", "1.0");
    const problem p = problem_of(true);
    pid_t writers[WRITERS];
    tuning t = entry_of(&d, &p, 1), found;
    int status;

    (void)state;
    store(&t);
    for (int w = 0; w < WRITERS; w++) {
        writers[w] = fork();
        assert_true(writers[w] >= 0);
        if (writers[w])
            continue;
        for (int i = 0; i < TIMES; i++) {
            t.median_ns = 1 + w;
            if (tuning_store(&t, NULL, NULL) || !find(&p, &d, &found))
                _exit(1);
        }
        _exit(0);
    }
    for (int w = 0; w < WRITERS; w++) {
        assert_int_equal(waitpid(writers[w], &status, 0), writers[w]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(count_files(false), 1);
}

/* A folder of many entries: those of other classes are not opened. */
static void a_look_up_is_quick(void **state)
{
    const device_facts d = gpu("Fast 1", "1.0");
    uint64_t best = UINT64_MAX;
    const problem p = problem_of(true);
    tuning found;

    (void)state;
    for (size_t n = 1; n <= 100; n++) {
        tuning t = entry_of(&d, &p, (double)n);

        snprintf(t.problem_class, sizeof(t.problem_class), "made up %zu", n);
        store(&t);
    }
    for (int i = 0; i < 20; i++) {
        const uint64_t start = clock_ns();
        uint64_t took;

        assert_false(find(&p, &d, &found));
        took = clock_ns() - start;
        best = took < best ? took : best;
    }
    print_message("a look-up among 100 entries takes %.3f ms\n", (double)best * 1e-6);
    assert_true(best < 1000000);
}

/* A session looks a class up once, and sees at once what is stored meanwhile. */
static void a_session_remembers_until_something_changes(void **state)
{
    const problem p = problem_of(true), other = problem_of(false);
    const tuning *list = NULL, *again = NULL;
    tsr_session *s = NULL;
    tsr_device host;
    uint64_t start;
    tuning t;

    (void)state;
    device_read_host(&host);
    strcpy(host.facts.vendor, "Made Up Corporation");
    assert_int_equal(tsr_session_open(&host, NULL, &s, NULL), TSR_OK);
    assert_int_equal(tuning_recall(s, &p, &list), 0);
    t = entry_of(&host.facts, &p, 5);
    store(&t);
    assert_int_equal(tuning_recall(s, &p, &list), 1);
    assert_true(list[0].median_ns == 5);
    t.median_ns = 6;
    store(&t);
    assert_int_equal(tuning_recall(s, &p, &list), 1);
    assert_true(list[0].median_ns == 6);
    assert_int_equal(tuning_recall(s, &other, &list), 0);

    /* A folder that has not changed for a while is not read again. */
    sleep(4);
    assert_int_equal(tuning_recall(s, &p, &list), 1);
    assert_int_equal(tuning_recall(s, &p, &again), 1);
    assert_ptr_equal(list, again);
    start = clock_ns();
    for (int i = 0; i < 1000; i++)
        tuning_recall(s, &p, &list);
    print_message("a remembered look-up takes %.2f us\n", (double)(clock_ns() - start) * 1e-6);

    t.median_ns = 7;
    store(&t);
    assert_int_equal(tuning_recall(s, &p, &list), 1);
    assert_true(list[0].median_ns == 7);
    tsr_session_close(s);
}

/* ---- the space that the tuner searches ---------------------------------------------------------
 */

static void a_space_is_every_combination(void **state)
{
    tune_space space;
    const variant *v = &made_up_tiled;
    params p, q;

    (void)state;
    assert_int_equal(tune_space_make(v, NULL, 0, &space, NULL), TSR_OK);
    assert_int_equal(space.total, 2 * 2 * 3);
    for (size_t i = 0; i < space.total; i++) {
        tune_space_at(&space, i, &p);
        assert_true(tune_space_has(&space, v, &p));
        for (size_t k = 0; k < i; k++) {
            tune_space_at(&space, k, &q);
            assert_memory_not_equal(p.value, q.value, p.count * sizeof(p.value[0]));
        }
    }
    tune_space_usual(&space, &p);
    q = params_default(v);
    assert_memory_equal(p.value, q.value, p.count * sizeof(p.value[0]));
}

static void a_space_is_restricted(void **state)
{
    const char *const set[] = {"DEPTH=8,32", "SIDE=16"}, *const wrong[] = {"DEPTH=8,9"};
    const char *const empty[] = {"DEPTH=8,"};
    tune_space space;
    const variant *v = &made_up_tiled;
    tsr_error err = {0};
    params p;

    (void)state;
    assert_int_equal(tune_space_make(v, set, 2, &space, &err), TSR_OK);
    assert_int_equal(space.total, 1 * 2 * 2);
    tune_space_usual(&space, &p); /* 16 is not allowed */
    assert_int_equal(param(&p, "DEPTH"), 8);
    p = params_default(v);
    assert_false(tune_space_has(&space, v, &p));
    assert_int_equal(tune_space_make(v, wrong, 1, &space, &err), TSR_ENAME);
    assert_non_null(strstr(err.message, "'9'"));
    assert_int_equal(tune_space_make(v, empty, 1, &space, &err), TSR_ENAME);
}

/* Counts of which any is legal may be tried beside those that are. */
static void any_count_is_tried(void **state)
{
    const char *const set[] = {"PARTS=7,4,7,131"};
    const char *const many[] = {"PARTS=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"};
    tune_space space;
    tsr_error err = {0};
    params p;

    (void)state;
    assert_int_equal(tune_space_make(&made_up_shared, set, 1, &space, &err), TSR_OK);
    assert_int_equal(space.total, 3);
    for (size_t i = 0; i < 3; i++) {
        tune_space_at(&space, i, &p);
        assert_int_equal(param(&p, "PARTS"), ((const uint32_t[]){4, 7, 131})[i]);
    }
    assert_int_equal(tune_space_make(&made_up_shared, many, 1, &space, &err), TSR_ENAME);
    assert_non_null(strstr(err.message, "PARTS is given more than 16 values"));
}

#define FRESH(test) cmocka_unit_test_setup_teardown(test, make_folder, drop_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(what_is_stored_is_found),
        FRESH(a_second_one_takes_its_place),
        FRESH(names_do_not_collide),
        FRESH(levels_go_from_near_to_far),
        FRESH(strangers_are_left_out),
        FRESH(the_own_class_goes_before_every_class),
        FRESH(a_copied_file_serves),
        FRESH(in_force_is_one_a_class),
        FRESH(what_is_wrong_is_named),
        FRESH(what_is_no_file_is_named),
        FRESH(what_is_too_large_is_named),
        cmocka_unit_test(texts_fit_their_fields),
        FRESH(every_truncation_is_ignored),
        FRESH(no_folder_is_no_tuning),
        FRESH(names_that_are_no_classes_stand),
        FRESH(stale_entries_say_so),
        FRESH(parameters_go_over_the_defaults),
        FRESH(families),
        FRESH(embedded_entries_are_sound),
        FRESH(concurrent_stores_do_no_harm),
        FRESH(a_look_up_is_quick),
        FRESH(a_session_remembers_until_something_changes),
        FRESH(a_space_is_every_combination),
        FRESH(a_space_is_restricted),
        cmocka_unit_test(any_count_is_tried),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
