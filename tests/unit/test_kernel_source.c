/* Kernel sources as compilers get them: includes expanded once, lines that can be found again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/registry.h"
#include "core/variant.h"
#include "session/embedded.h"
#include "session/source.h"

static const char *const file_names[] = {"a.cl",       "b.clh",           "c.clh",    "loop.clh",
                                         "missing.cl", "common/real.clh", "no_end.cl"};
static const char *const file_texts[] = {
    "first\n#include \"b.clh\"\nthird\n#include \"c.clh\"\n#include \"b.clh\"\nlast\n",
    "text of b\n",
    "#include \"b.clh\"\n#include \"loop.clh\"\ntext of c\n",
    "#include \"loop.clh\"\ntext of loop\n",
    "#include \"nowhere.clh\"\n",
    "not the embedded one\n",
    "no line end"};

enum { FILES = sizeof(file_names) / sizeof(file_names[0]) };

static char folder[64], subfolder[80];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/tessera-source-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(subfolder, sizeof(subfolder), "%s/common", folder);
    assert_int_equal(mkdir(subfolder, 0700), 0);
    for (size_t i = 0; i < FILES; i++) {
        char path[128];
        FILE *f;

        snprintf(path, sizeof(path), "%s/%s", folder, file_names[i]);
        f = fopen(path, "w");
        assert_non_null(f);
        fputs(file_texts[i], f);
        fclose(f);
    }
    return 0;
}

static int drop_folder(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        char path[128];

        snprintf(path, sizeof(path), "%s/%s", folder, file_names[i]);
        remove(path);
    }
    return rmdir(subfolder) + rmdir(folder);
}

static size_t occurrences(const char *haystack, const char *needle)
{
    size_t n = 0;

    for (const char *at = strstr(haystack, needle); at; at = strstr(at + 1, needle))
        n++;
    return n;
}

static void includes_are_expanded_once(void **state)
{
    text t = {0};

    (void)state;
    assert_int_equal(source_read(folder, "a.cl", &t, NULL), TSR_OK);
    assert_string_equal(text_get(&t), "#line 1 \"a.cl\"\nfirst\n"
                                      "#line 1 \"b.clh\"\ntext of b\n"
                                      "#line 3 \"a.cl\"\nthird\n"
                                      "#line 1 \"c.clh\"\n"
                                      "#line 2 \"c.clh\"\n"
                                      "#line 1 \"loop.clh\"\n"
                                      "#line 2 \"loop.clh\"\ntext of loop\n"
                                      "#line 3 \"c.clh\"\ntext of c\n"
                                      "#line 5 \"a.cl\"\n"
                                      "#line 6 \"a.cl\"\nlast\n");
    text_free(&t);
}

static void the_last_line_needs_no_end(void **state)
{
    text t = {0};

    (void)state;
    assert_int_equal(source_read(folder, "no_end.cl", &t, NULL), TSR_OK);
    assert_string_equal(text_get(&t), "#line 1 \"no_end.cl\"\nno line end");
    text_free(&t);
}

static void missing_files_are_named(void **state)
{
    char expected[160];
    tsr_error err = {0};
    text t = {0};

    (void)state;
    assert_int_equal(source_read(folder, "missing.cl", &t, &err), TSR_EFILE);
    snprintf(expected, sizeof(expected), "%s/nowhere.clh", folder);
    assert_non_null(strstr(err.message, expected));
    assert_non_null(strstr(err.message, "No such file"));
    assert_int_equal(source_read(NULL, "nowhere.cl", &t, &err), TSR_EFILE);
    assert_non_null(strstr(err.message, "'nowhere.cl' is not in the library"));
    assert_int_equal(source_read("/nonexistent", "a.cl", &t, &err), TSR_EFILE);
    assert_non_null(strstr(err.message, "/nonexistent/a.cl"));
    text_free(&t);
}

static void put_file(const char *name, const char *content)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(content, f);
    fclose(f);
}

static void remove_put(const char *name)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    assert_int_equal(remove(path), 0);
}

/* Whatever comes behind an include that failed. */
static void what_fails_is_not_made_good(void **state)
{
    tsr_error err = {0};
    text t = {0};

    (void)state;
    put_file("fails.cl", "#include \"nowhere.clh\"\n#include \"b.clh\"\ntext\n");
    assert_int_equal(source_read(folder, "fails.cl", &t, &err), TSR_EFILE);
    assert_non_null(strstr(err.message, "nowhere.clh"));
    remove_put("fails.cl");
    text_free(&t);
}

/* Names of up to 63 bytes are read; what is longer is no include of ours, but the compiler's. */
static void long_names_stay_in_their_room(void **state)
{
    (void)state;
    for (int length = 62; length <= 66; length++) {
        char content[128], name[80];
        tsr_error err = {0};
        text t = {0};
        tsr_status st;

        snprintf(name, sizeof(name), "%0*d", length, 0);
        snprintf(content, sizeof(content), "#include \"%s\"\n", name);
        put_file("long.cl", content);
        st = source_read(folder, "long.cl", &t, &err);
        assert_int_equal(st, length < 64 ? TSR_EFILE : TSR_OK);
        assert_non_null(strstr(st ? err.message : text_get(&t), name));
        remove_put("long.cl");
        text_free(&t);
    }
}

/* As many levels as there is room to remember; where files are not remembered they may go round. */
static void includes_have_a_depth(void **state)
{
    enum { DEPTH = 16, FILES_DEEP = DEPTH + 3 };
    char name[16], content[64];

    (void)state;
    for (int i = 0; i < FILES_DEEP; i++) {
        snprintf(name, sizeof(name), "%d.clh", i);
        snprintf(content, sizeof(content), "#include \"%d.clh\"\n", i + 1);
        put_file(name, i + 1 < FILES_DEEP ? content : "the last\n");
    }
    for (int i = 0; i < FILES_DEEP; i++) {
        const bool fits = FILES_DEEP - 1 - i <= DEPTH;
        tsr_error err = {0};
        text t = {0};

        snprintf(name, sizeof(name), "%d.clh", i);
        assert_int_equal(source_read(folder, name, &t, &err), fits ? TSR_OK : TSR_EFILE);
        assert_true(fits || strstr(err.message, "includes go too deep"));
        text_free(&t);
    }
    for (int i = 0; i < FILES_DEEP; i++) {
        snprintf(name, sizeof(name), "%d.clh", i);
        remove_put(name);
    }
}

/* Opened and read like a file, the pipe would wait for a writer and the device never end. */
static void what_is_no_file_is_refused(void **state)
{
    tsr_error err = {0};
    char path[128];
    text t = {0};

    (void)state;
    snprintf(path, sizeof(path), "%s/odd.cl", folder);
    alarm(20);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(i ? symlink("/dev/zero", path) : mkfifo(path, 0600), 0);
        assert_int_equal(source_read(folder, "odd.cl", &t, &err), TSR_EFILE);
        assert_non_null(strstr(err.message, "odd.cl': it is no regular file"));
        assert_int_equal(unlink(path), 0);
    }
    alarm(0);
    text_free(&t);
}

static void a_folder_stands_in_for_the_embedded_files(void **state)
{
    text t = {0};

    (void)state;
    assert_int_equal(source_read(folder, "common/real.clh", &t, NULL), TSR_OK);
    assert_non_null(strstr(text_get(&t), "not the embedded one"));
    text_clear(&t);
    assert_int_equal(source_read("", "common/real.clh", &t, NULL), TSR_OK);
    assert_null(strstr(text_get(&t), "not the embedded one"));
    assert_non_null(strstr(text_get(&t), "REAL_BITS"));
    text_free(&t);
}

/* No include is left over for a compiler that would not find it. */
static void every_embedded_kernel_expands(void **state)
{
    tsr_error err = {0};

    (void)state;
    assert_true(embedded_file_count > 0);
    for (size_t i = 0; i < embedded_file_count; i++) {
        text t = {0};

        if (source_read(NULL, embedded_files[i].name, &t, &err))
            fail_msg("%s", err.message);
        assert_int_equal(occurrences(text_get(&t), "#include"), 0);
        for (size_t k = 0; k < embedded_file_count; k++) {
            char first_line[128];

            snprintf(first_line, sizeof(first_line), "#line 1 \"%s\"\n", embedded_files[k].name);
            assert_true(occurrences(text_get(&t), first_line) <= 1);
        }
        text_free(&t);
    }
}

static void kept(const char *whole, const char *runs, const char *expected)
{
    text t = {0};

    text_append(&t, whole);
    assert_int_equal(source_keep(&t, runs, NULL), TSR_OK);
    assert_string_equal(text_get(&t), expected);
    text_free(&t);
}

/* What is left stays on its line. */
static void kernels_that_do_not_run_are_left_out(void **state)
{
    static const char whole[] = "uint helper(void)\n{\n}\n"
                                "__kernel void one(uint a)\n{\n    if (a) {\n    }\n}\n"
                                "\n"
                                "__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void\n"
                                "one_long(uint a)\n{\n#if A\n    one();\n#else\n#endif\n}\n"
                                "last\n";

    (void)state;
    kept(whole, "", whole);
    kept(whole, " one one_long", whole);
    kept(whole, " one",
         "uint helper(void)\n{\n}\n__kernel void one(uint a)\n{\n    if (a) {\n    }\n}\n"
         "\n\n\n\n\n\n\n\n\nlast\n");
    kept(whole, " one_long",
         "uint helper(void)\n{\n}\n\n\n\n\n\n\n"
         "__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void\n"
         "one_long(uint a)\n{\n#if A\n    one();\n#else\n#endif\n}\nlast\n");
    kept(whole, " none", "uint helper(void)\n{\n}\n\n\n\n\n\n\n\n\n\n\n\n\n\n\nlast\n");
}

/* Without its end, or with that of an #if before it, a kernel is no piece to take away. */
static void kernels_that_are_no_piece_stay(void **state)
{
    static const char *const whole[] = {
        "__kernel void a()\n{\n", "__kernel void a();\n", "__kernel void a()\n{\n}",
        "#if A\n__kernel void a()\n{\n#else\n__kernel void b()\n{\n#endif\n}\n",
        "#if A\n__kernel void a()\n{\n#endif\n}\n"};

    (void)state;
    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
        kept(whole[i], " other", whole[i]);
}

/* Of the kernels of every variant, each can be had alone. */
static void every_kernel_stands_alone(void **state)
{
    (void)state;
    for (size_t o = 0; o < operation_count; o++)
        for (size_t i = 0; i < operations[o]->variant_count; i++) {
            const variant *v = operations[o]->variants[i];

            for (size_t e = 0; v->source && e < ENTRIES_MAX && v->entries[e]; e++) {
                char runs[80], head[80];
                text t = {0};

                snprintf(runs, sizeof(runs), " %s", v->entries[e]);
                snprintf(head, sizeof(head), "%s(", v->entries[e]);
                assert_int_equal(source_read(NULL, v->source, &t, NULL), TSR_OK);
                assert_int_equal(source_keep(&t, runs, NULL), TSR_OK);
                if (occurrences(text_get(&t), "\n__kernel ") != 1 || !strstr(text_get(&t), head))
                    fail_msg("%s of %s", v->entries[e], v->source);
                text_free(&t);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(includes_are_expanded_once),
        cmocka_unit_test(the_last_line_needs_no_end),
        cmocka_unit_test(missing_files_are_named),
        cmocka_unit_test(what_fails_is_not_made_good),
        cmocka_unit_test(long_names_stay_in_their_room),
        cmocka_unit_test(includes_have_a_depth),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(a_folder_stands_in_for_the_embedded_files),
        cmocka_unit_test(every_embedded_kernel_expands),
        cmocka_unit_test(kernels_that_do_not_run_are_left_out),
        cmocka_unit_test(kernels_that_are_no_piece_stay),
        cmocka_unit_test(every_kernel_stands_alone),
    };

    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
