/* Tuning: what is stored is found by those whom it concerns, in the order of the look-up, and
 * whatever else lies in the folder is left out with a reason.  No device: facts are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "core/registry.h"
#include "core/tuning.h"
#include "core/tuning_class.h"
#include "core/tuning_file.h"
#include "core/tuning_memo.h"
#include "measure/tune_space.h"
#include "ops/matmul/matmul_shape.h"
#include "ops/matvec/matvec_shape.h"
#include "ops/segsort/segsort_problem.h"
#include "ops/sort/sort_order.h"
#include "ops/topk/topk_problem.h"
#include "session/embedded.h"

/* ---- a folder and devices of the test's own ---------------------------------------------- */

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/tessera-tuning-XXXXXX");
    assert_non_null(mkdtemp(folder));
    setenv("TESSERA_TUNING_DIR", folder, 1);
    return 0;
}

/* Number of files, removed if asked. */
static size_t count_files(bool clear)
{
    DIR *dir = opendir(folder);
    struct dirent *e;
    size_t n = 0;

    while (dir && (e = readdir(dir))) {
        char path[400];

        if (e->d_name[0] == '.')
            continue;
        n++;
        snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
        if (clear)
            remove(path);
    }
    if (dir)
        closedir(dir);
    return n;
}

static int drop_folder(void **state)
{
    (void)state;
    count_files(true);
    rmdir(folder);
    return 0;
}

/* Nothing embedded is of this vendor. */
static device_facts gpu(const char *name, const char *driver)
{
    device_facts d = {.kind = DEVICE_GPU, .vendor = "Made Up Corporation", .fp64 = true};

    snprintf(d.name, sizeof(d.name), "%s", name);
    snprintf(d.driver, sizeof(d.driver), "%s", driver);
    return d;
}

static problem matmul(size_t n)
{
    return matmul_problem(
        (tsr_matmul_problem){.type = TSR_F32, .m = n, .n = n, .k = n, .alpha = 1});
}

/* An entry of `d` for problems like p; the time distinguishes entries. */
static tuning entry_of(const device_facts *d, const problem *p, double ns)
{
    tuning t = {.variant = "tiled", .parameters = "TILE=8", .median_ns = ns};
    text name = {0};

    tuning_owner(d, &t);
    strcpy(t.op, p->op->name);
    tuning_class(p, &name);
    strcpy(t.problem_class, text_get(&name));
    text_free(&name);
    return t;
}

static void store(const tuning *t)
{
    tsr_error err = {0};

    if (tuning_store(t, NULL, &err))
        fail_msg("%s", err.message);
}

/* The best entry for a problem on a device; false where there is none. */
static bool find(const problem *p, const device_facts *d, tuning *out)
{
    tuning *list = NULL;
    const size_t n = tuning_candidates(p, d, &list);

    if (n)
        *out = list[0];
    free(list);
    return n > 0;
}

static void write_file(const char *name, const char *content)
{
    char path[200];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(content, f);
    fclose(f);
}

static bool count_one(const tuning *t, const char *file, const char *ignored, void *context)
{
    (void)file, (void)ignored;
    *(size_t *)context += t == NULL;
    return true;
}

/* The numbers of ignored entries and files are reported. */
static void count_ignored(const operation *op, size_t expected)
{
    size_t count = 0;

    tuning_read(op, NULL, count_one, &count);
    assert_int_equal(count, expected);
}

/* ---- storing and finding ----------------------------------------------------------------- */

static void what_is_stored_is_found(void **state)
{
    const device_facts d = gpu("Fast 1", "1.0");
    const problem p = matmul(1000), other = matmul(100);
    tuning t = entry_of(&d, &p, 5), found;

    (void)state;
    assert_false(find(&p, &d, &found));
    strcpy(t.problem, "1000x1000x1000 float32");
    store(&t);
    assert_true(find(&p, &d, &found));
    assert_string_equal(found.variant, "tiled");
    assert_string_equal(found.parameters, "TILE=8");
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
    const problem p = matmul(1000);
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

/* Entries of sort from before topk and segsort had names of their own, in the file and under the
 * name of then.
 */
static void entries_of_an_operation_that_came_apart_stay(void **state)
{
    const device_facts d = gpu("Fast 1", "1.0");
    const problem whole = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = 5000});
    const problem first =
        problem_from(&operation_topk, &(tsr_topk_problem){{.type = TSR_U32, .n = 5000}, .k = 3},
                     sizeof(tsr_topk_problem));
    const problem parts = problem_from(
        &operation_segsort, &(tsr_segsort_problem){{.type = TSR_U32, .n = 5000}, .segments = 7},
        sizeof(tsr_segsort_problem));
    tuning t = entry_of(&d, &parts, 4), found;

    (void)state;
    assert_string_equal(t.problem_class, "4-byte segments below 2^12");
    strcpy(t.op, "sort");
    strcpy(t.variant, "item-segments");
    store(&t);
    t = entry_of(&d, &first, 5);
    strcpy(t.op, "sort");
    strcpy(t.variant, "item-top");
    store(&t);
    t = entry_of(&d, &whole, 6);
    store(&t);
    assert_int_equal(count_files(false), 3);
    assert_true(find(&parts, &d, &found));
    assert_true(found.median_ns == 4);
    assert_string_equal(found.op, "segsort");
    assert_true(find(&first, &d, &found));
    assert_true(found.median_ns == 5);
    assert_string_equal(found.op, "topk");
    assert_true(find(&whole, &d, &found));
    assert_true(found.median_ns == 6);
    count_ignored(&operation_sort, 0);
    count_ignored(&operation_topk, 0);
    count_ignored(&operation_segsort, 0);
}

/* Names that read alike as file names are still distinct. */
static void names_do_not_collide(void **state)
{
    const device_facts a = gpu("Fast 1", "1.0"), b = gpu("Fast-1", "1.0"), c = gpu("Fast 1", "1-0");
    const problem p = matmul(1000);
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
    const problem p = matmul(1000);
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
    const problem p = matmul(1000);
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
    const problem p = matmul(1000), other = matmul(10);
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
    const problem p = matmul(1000);
    const tuning two[] = {entry_of(&d, &p, 5), entry_of(&d, &p, 9)};
    text content = {0};
    tuning found;

    (void)state;
    assert_int_equal(tuning_write_text(two, 2, &content, NULL), TSR_OK);
    write_file("sort-mine.json", text_get(&content));
    assert_false(find(&p, &d, &found));
    write_file("matmul-mine.json.bak", text_get(&content));
    assert_false(find(&p, &d, &found));
    write_file("matmul-mine.json", text_get(&content));
    assert_true(find(&p, &d, &found));
    assert_true(found.median_ns == 5);
    text_free(&content);
}

static void in_force_is_one_a_class(void **state)
{
    const device_facts d = gpu("Fast 1", "1.0"), old = gpu("Fast 1", "0.9");
    const problem p = matmul(1000), q = matmul(64);
    tuning t = entry_of(&old, &p, 5), *list = NULL;

    (void)state;
    store(&t);
    t = entry_of(&d, &p, 6);
    store(&t);
    t = entry_of(&old, &q, 7);
    store(&t);
    assert_int_equal(tuning_in_force(&operation_matmul, &d, &list), 2);
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
    tuning_read(&operation_matmul, NULL, see, s);
}

#define FIELDS(op)                                                                                 \
    "\"op\": \"" op "\", \"class\": \"c\", \"variant\": \"v\", \"parameters\": \"\", "             \
    "\"device\": \"d\", \"driver\": \"1\", \"family\": \"\", \"vendor\": \"\", \"kind\": \"\", "   \
    "\"problem\": \"\""
#define FILE_OF(entries) "{\"schema\": \"tessera-tuning-1\", \"entries\": [" entries "]}"

static void what_is_wrong_is_named(void **state)
{
    static const struct {
        const char *content, *why;
    } cases[] = {
        {"", "no JSON"},
        {"{", "no JSON"},
        {"[]", "no 'schema'"},
        {"{\"schema\": 1}", "no 'schema'"},
        {"{\"schema\": \"tessera-tuning-2\", \"entries\": []}", "'tessera-tuning-2'"},
        {"{\"schema\": \"tessera-tuning-1\"}", "no array 'entries'"},
        {FILE_OF("7"), "entry 0: no object"},
        {FILE_OF("{" FIELDS("matmul") "}"), "'median_ns'"},
        {FILE_OF("{" FIELDS("matmul") ", \"median_ns\": -1}"), "'median_ns'"},
        {FILE_OF("{" FIELDS("sort") ", \"median_ns\": 1}"), "'sort'"},
        {FILE_OF("{\"op\": 7}"), "'op' is no string"},
        {FILE_OF("{\"op\": \"matmul\"}"), "'class' is missing"},
        {FILE_OF("{\"op\": \"a name that is longer than any\"}"), "'op' is longer"},
        {FILE_OF("{\"op\": \"a\\nb\"}"), "control character"},
    };
    seen s;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        write_file("matmul-x.json", cases[i].content);
        read_all(&s);
        if (s.ignored != 1 || s.entries || !strstr(s.why, cases[i].why))
            fail_msg("case %zu: %zu ignored, %zu entries: %s", i, s.ignored, s.entries, s.why);
    }
    /* A bad entry does not take the good one with it. */
    write_file("matmul-x.json",
               FILE_OF("{\"op\": 7}, {" FIELDS("matmul") ", \"median_ns\": 1, \"more\": 2}"));
    read_all(&s);
    assert_int_equal(s.ignored, 1);
    assert_int_equal(s.entries, 1);
}

static void what_is_no_file_is_named(void **state)
{
    char path[200];
    seen s;

    (void)state;
    snprintf(path, sizeof(path), "%s/matmul-pipe.json", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    read_all(&s); /* and does not wait for a writer */
    assert_int_equal(s.ignored, 1);
    assert_non_null(strstr(s.why, "regular"));
}

/* Blanks at its end make a good file larger than any is read. */
static void what_is_too_large_is_named(void **state)
{
    static const char good[] = FILE_OF("{" FIELDS("matmul") ", \"median_ns\": 1}");
    enum { MOST = 1 << 20 };
    char *content = malloc(MOST + 2);
    seen s;

    (void)state;
    assert_non_null(content);
    memset(content, ' ', MOST + 1);
    memcpy(content, good, sizeof(good) - 1);
    content[MOST + 1] = '\0';
    write_file("matmul-x.json", content);
    read_all(&s);
    assert_int_equal(s.ignored, 1);
    assert_int_equal(s.entries, 0);
    assert_non_null(strstr(s.why, "it has 1048577 bytes, and at most 1048576 are read"));
    content[MOST] = '\0';
    write_file("matmul-x.json", content);
    read_all(&s);
    assert_int_equal(s.ignored, 0);
    assert_int_equal(s.entries, 1);
    free(content);
}

/* A stored file cut anywhere is ignored, and never taken for half an entry. */
static void every_truncation_is_ignored(void **state)
{
    const device_facts d = gpu("Fast 1", "1.0");
    const problem p = matmul(1000);
    const tuning t = entry_of(&d, &p, 5);
    text content = {0};
    tuning found;

    (void)state;
    assert_int_equal(tuning_write_text(&t, 1, &content, NULL), TSR_OK);
    for (size_t n = content.length - 2; n > 0; n--) { /* the last byte is a line end */
        content.data[n] = '\0';
        write_file("matmul-x.json", text_get(&content));
        assert_false(find(&p, &d, &found));
    }
    text_free(&content);
}

static void no_folder_is_no_tuning(void **state)
{
    const device_facts d = gpu("Fast 1", "1.0");
    const problem p = matmul(1000);
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

static void expect_class(const problem *p, const char *holds)
{
    text name = {0}, got = {0};

    tuning_class(p, &name);
    tuning_class_text(p->op, text_get(&name), &got);
    assert_string_equal(text_get(&got), holds);
    text_free(&name);
    text_free(&got);
}

/* The first and the last problem of a range are of it, their neighbours of another. */
static void classes_name_their_problems(void **state)
{
    problem p = matmul_problem(
        (tsr_matmul_problem){.type = TSR_F32, .m = 1024, .n = 1, .k = 127, .alpha = 1});

    (void)state;
    expect_class(&p, "float32 nn, M 1024-2047, N 1, K 64-127");
    matmul_in(&p)->m = 2047;
    matmul_in(&p)->k = 64;
    expect_class(&p, "float32 nn, M 1024-2047, N 1, K 64-127");
    matmul_in(&p)->m = 2048;
    matmul_in(&p)->n = 3;
    matmul_in(&p)->precision = TSR_PRECISION_TF32;
    matmul_in(&p)->trans_b = 1;
    expect_class(&p, "float32 tf32 nt, M 2048-4095, N 2-3, K 64-127");

    p = matvec_problem(
        (tsr_matvec_problem){.type = TSR_F64, .rows = 4096, .columns = 16, .alpha = 1});
    expect_class(&p, "float64 n, rows 4096-16383, columns 16-63");
    matvec_in(&p)->rows = 16383;
    matvec_in(&p)->columns = 63;
    expect_class(&p, "float64 n, rows 4096-16383, columns 16-63");
    matvec_in(&p)->rows = 4095;
    matvec_in(&p)->columns = 3;
    matvec_in(&p)->trans = 1;
    expect_class(&p, "float64 t, rows 1024-4095, columns 1-3");
    matvec_in(&p)->type = TSR_BF16;
    matvec_in(&p)->y_f32 = true;
    matvec_in(&p)->batch = 64;
    matvec_in(&p)->stride_y = 3;
    expect_class(&p, "bfloat16 to float32 t, batch 64-255, rows 1024-4095, columns 1-3");
    matvec_in(&p)->y_f32 = false;
    matvec_in(&p)->batch = 3;
    expect_class(&p, "bfloat16 t, batch 2-3, rows 1024-4095, columns 1-3");

    p = sort_problem((tsr_sort_problem){.type = TSR_U32, .n = (size_t)1 << 20});
    expect_class(&p, "4-byte, 2^20 to 2^24 - 1 keys");
    sort_in(&p)->n = ((size_t)1 << 24) - 1;
    expect_class(&p, "4-byte, 2^20 to 2^24 - 1 keys");
    sort_in(&p)->n = ((size_t)1 << 20) - 1;
    sort_in(&p)->argsort = 1;
    expect_class(&p, "4-byte argsort, 2^16 to 2^20 - 1 keys");
    sort_in(&p)->value_bytes = 8;
    expect_class(&p, "4-byte argsort, 2^16 to 2^20 - 1 keys");
    sort_in(&p)->argsort = 0;
    expect_class(&p, "4-byte with 8-byte values, 2^16 to 2^20 - 1 keys");
    sort_in(&p)->value_bytes = 1;
    expect_class(&p, "4-byte with 1-byte values, 2^16 to 2^20 - 1 keys");
    sort_in(&p)->value_bytes = 16;
    expect_class(&p, "4-byte argsort, 2^16 to 2^20 - 1 keys");
    sort_in(&p)->value_bytes = 0;
    sort_in(&p)->argsort = 1;
    sort_in(&p)->n = 4095;
    expect_class(&p, "4-byte argsort, 1 to 2^12 - 1 keys");
    sort_in(&p)->rows = 8;
    expect_class(&p, "4-byte argsort rows, 1 to 2^12 - 1 keys");
    sort_in(&p)->argsort = 0;
    sort_in(&p)->value_bytes = 4;
    expect_class(&p, "4-byte argsort rows, 1 to 2^12 - 1 keys");
    sort_in(&p)->value_bytes = 0;
    expect_class(&p, "4-byte rows, 1 to 2^12 - 1 keys");
    p = problem_from(&operation_topk,
                     &(tsr_topk_problem){{.type = TSR_U32, .n = 4095, .rows = 8}, .k = 3},
                     sizeof(tsr_topk_problem));
    expect_class(&p, "4-byte rows top, 1 to 2^12 - 1 keys");
    p = problem_from(
        &operation_segsort,
        &(tsr_segsort_problem){{.type = TSR_U32, .n = 70000, .value_bytes = 4}, .segments = 10},
        sizeof(tsr_segsort_problem));
    expect_class(&p, "4-byte argsort segments, 2^12 to 2^16 - 1 keys");
}

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
    const operation *const ops[] = {&operation_matmul, &operation_matvec, &operation_sort};
    text got = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
            text_clear(&got);
            tuning_class_text(ops[i], names[k], &got);
            assert_string_equal(text_get(&got), names[k]);
        }
        text_clear(&got);
        tuning_class_text(ops[i], "", &got);
        assert_string_equal(text_get(&got), "every class");
    }
    text_free(&got);
}

/* ---- what an entry says -------------------------------------------------------------------- */

static void stale_entries_say_so(void **state)
{
    tuning t = {.variant = "tiled", .parameters = "TILE=8"};
    text reason = {0};

    (void)state;
    assert_null(tuning_stale(&operation_matmul, &t, &reason));
    strcpy(t.parameters, "TILE=7");
    assert_non_null(strstr(tuning_stale(&operation_matmul, &t, &reason), "TILE"));
    strcpy(t.parameters, "GONE=1");
    assert_non_null(strstr(tuning_stale(&operation_matmul, &t, &reason), "GONE"));
    strcpy(t.parameters, "");
    strcpy(t.variant, "gone");
    assert_non_null(strstr(tuning_stale(&operation_matmul, &t, &reason), "gone"));
    text_free(&reason);
}

static void parameters_go_over_the_defaults(void **state)
{
    const variant *v;
    params p;

    (void)state;
    assert_int_equal(variant_find(&operation_matmul, "vector", &v, NULL), TSR_OK);
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
    const problem p = matmul(1000);
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
    const problem p = matmul(1000);
    tuning found;

    (void)state;
    for (size_t n = 1; n <= 100; n++) {
        const problem other = matmul_problem((tsr_matmul_problem){.type = TSR_F32,
                                                                  .m = (size_t)1 << n % 12,
                                                                  .n = 1,
                                                                  .k = (size_t)1 << n / 12,
                                                                  .alpha = 1});
        const tuning t = entry_of(&d, &other, (double)n);

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
    const problem p = matmul(1000), other = matmul(10);
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
    const variant *v;
    params p, q;

    (void)state;
    assert_int_equal(variant_find(&operation_matmul, "vector", &v, NULL), TSR_OK);
    assert_int_equal(tune_space_make(v, NULL, 0, &space, NULL), TSR_OK);
    assert_int_equal(space.total, 2 * 2 * 3 * 2);
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
    const char *const set[] = {"DEPTH=8,32", "TILE=16"}, *const wrong[] = {"DEPTH=8,9"};
    const char *const empty[] = {"DEPTH=8,"};
    tune_space space;
    const variant *v;
    tsr_error err = {0};
    params p;

    (void)state;
    assert_int_equal(variant_find(&operation_matmul, "vector", &v, NULL), TSR_OK);
    assert_int_equal(tune_space_make(v, set, 2, &space, &err), TSR_OK);
    assert_int_equal(space.total, 2 * 2 * 2 * 2);
    tune_space_usual(&space, &p); /* 16 is not allowed */
    assert_int_equal(param(&p, "DEPTH"), 8);
    p = params_default(v);
    assert_false(tune_space_has(&space, v, &p));
    assert_int_equal(tune_space_make(v, wrong, 1, &space, &err), TSR_ENAME);
    assert_non_null(strstr(err.message, "'9'"));
    assert_int_equal(tune_space_make(v, empty, 1, &space, &err), TSR_ENAME);
}

#define FRESH(test) cmocka_unit_test_setup_teardown(test, make_folder, drop_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(what_is_stored_is_found),
        FRESH(a_second_one_takes_its_place),
        FRESH(entries_of_an_operation_that_came_apart_stay),
        FRESH(names_do_not_collide),
        FRESH(levels_go_from_near_to_far),
        FRESH(strangers_are_left_out),
        FRESH(the_own_class_goes_before_every_class),
        FRESH(a_copied_file_serves),
        FRESH(in_force_is_one_a_class),
        FRESH(what_is_wrong_is_named),
        FRESH(what_is_no_file_is_named),
        FRESH(what_is_too_large_is_named),
        FRESH(every_truncation_is_ignored),
        FRESH(no_folder_is_no_tuning),
        FRESH(classes_name_their_problems),
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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
