/* A folder of tuning of a test's own, entries in it, and devices that are made up. */
#ifndef TESTS_UNIT_TUNING_FOLDER_H
#define TESTS_UNIT_TUNING_FOLDER_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/registry.h"
#include "core/tuning.h"
#include "core/tuning_class.h"
#include "core/tuning_file.h"

static char folder[64];

static inline int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/tessera-tuning-XXXXXX");
    assert_non_null(mkdtemp(folder));
    setenv("TESSERA_TUNING_DIR", folder, 1);
    return 0;
}

/* Number of files, removed if asked. */
static inline size_t count_files(bool clear)
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

static inline int drop_folder(void **state)
{
    (void)state;
    count_files(true);
    rmdir(folder);
    return 0;
}

/* Nothing embedded is of this vendor. */
static inline device_facts gpu(const char *name, const char *driver)
{
    device_facts d = {.kind = DEVICE_GPU, .vendor = "Made Up Corporation", .fp64 = true};

    snprintf(d.name, sizeof(d.name), "%s", name);
    snprintf(d.driver, sizeof(d.driver), "%s", driver);
    return d;
}

/* An entry of `d` for problems like p; the time distinguishes entries. */
static inline tuning entry_of(const device_facts *d, const problem *p, double ns)
{
    tuning t = {.variant = "tiled", .parameters = "SIDE=8", .median_ns = ns};
    text name = {0};

    tuning_owner(d, &t);
    strcpy(t.op, p->op->name);
    tuning_class(p, &name);
    strcpy(t.problem_class, text_get(&name));
    text_free(&name);
    return t;
}

static inline void store(const tuning *t)
{
    tsr_error err = {0};

    if (tuning_store(t, NULL, &err))
        fail_msg("%s", err.message);
}

/* The best entry for a problem on a device; false where there is none. */
static inline bool find(const problem *p, const device_facts *d, tuning *out)
{
    tuning *list = NULL;
    const size_t n = tuning_candidates(p, d, &list);

    if (n)
        *out = list[0];
    free(list);
    return n > 0;
}

static inline void write_file(const char *name, const char *content)
{
    char path[200];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(content, f);
    fclose(f);
}

static inline bool count_one(const tuning *t, const char *file, const char *ignored, void *context)
{
    (void)file, (void)ignored;
    *(size_t *)context += t == NULL;
    return true;
}

/* The numbers of ignored entries and files are reported. */
static inline void count_ignored(const operation *op, size_t expected)
{
    size_t count = 0;

    tuning_read(op, NULL, count_one, &count);
    assert_int_equal(count, expected);
}

#endif
