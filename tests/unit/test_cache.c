/* The binary cache gives back what was stored, whole, or nothing: whatever happened to its files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file/temporaries.h"
#include "session/cache.h"

/* A folder of the test's own and the open cache in it. */
typedef struct fixture {
    char folder[64];
    cache c;
} fixture;

static int make_fixture(void **state)
{
    fixture *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    strcpy(f->folder, "/tmp/tessera-cache-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    setenv("TESSERA_CACHE_DIR", f->folder, 1);
    cache_open(&f->c);
    assert_string_equal(f->c.why_off, "");
    *state = f;
    return 0;
}

/* Call action on every file of the folder; returns how many there are. */
static size_t each_file(const fixture *f, void (*action)(const char *path))
{
    DIR *dir = opendir(f->folder);
    struct dirent *e;
    size_t n = 0;

    assert_non_null(dir);
    while ((e = readdir(dir))) {
        char path[400];

        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", f->folder, e->d_name);
        n++;
        if (action)
            action(path);
    }
    closedir(dir);
    return n;
}

static void remove_file(const char *path)
{
    remove(path);
}

static int drop_fixture(void **state)
{
    fixture *f = *state;

    cache_close(&f->c);
    chmod(f->folder, 0700);
    each_file(f, remove_file);
    assert_int_equal(rmdir(f->folder), 0);
    free(f);
    return 0;
}

/* The only file of the folder. */
static char only_path[400];

static void remember(const char *path)
{
    snprintf(only_path, sizeof(only_path), "%s", path);
}

static const char *only_file(const fixture *f)
{
    assert_int_equal(each_file(f, remember), 1);
    return only_path;
}

static bool loads(const fixture *f, const char *key)
{
    unsigned char *data = NULL;
    size_t size = 0;
    bool found = cache_load(&f->c, key, &data, &size, NULL);

    assert_int_equal(found, data != NULL);
    free(data);
    return found;
}

static const char key[] = "program a.cl on nothing\nand all that decides it";
static const unsigned char bytes[] = {0, 1, 2, 255, 0, '\n', 7};

static void store(const fixture *f)
{
    assert_true(cache_store(&f->c, key, bytes, sizeof(bytes), "the log\nof the build"));
}

static void what_is_stored_comes_back(void **state)
{
    const fixture *f = *state;
    unsigned char *data = NULL;
    size_t size = 0;
    text log = {0};

    assert_false(loads(f, key));
    store(f);
    assert_true(cache_load(&f->c, key, &data, &size, &log));
    assert_int_equal(size, sizeof(bytes));
    assert_memory_equal(data, bytes, sizeof(bytes));
    assert_string_equal(text_get(&log), "the log\nof the build");
    free(data);
    text_free(&log);
    assert_false(loads(f, "another key"));
    /* A second one takes its place. */
    assert_true(cache_store(&f->c, key, bytes, 1, ""));
    assert_true(cache_load(&f->c, key, &data, &size, NULL));
    assert_int_equal(size, 1);
    free(data);
    only_file(f);
}

static void empty_data_is_data(void **state)
{
    const fixture *f = *state;
    unsigned char *data = NULL;
    size_t size = 77;

    assert_true(cache_store(&f->c, "k", NULL, 0, ""));
    assert_true(cache_load(&f->c, "k", &data, &size, NULL));
    assert_int_equal(size, 0);
    free(data);
}

static void every_truncation_reads_as_absent(void **state)
{
    const fixture *f = *state;
    struct stat st;

    store(f);
    assert_int_equal(stat(only_file(f), &st), 0);
    for (off_t length = st.st_size - 1; length >= 0; length--) {
        assert_int_equal(truncate(only_path, length), 0);
        assert_false(loads(f, key));
    }
    store(f); /* and is replaced */
    assert_true(loads(f, key));
}

static void every_flipped_bit_reads_as_absent(void **state)
{
    const fixture *f = *state;
    struct stat st;
    int fd;

    store(f);
    assert_int_equal(stat(only_file(f), &st), 0);
    fd = open(only_path, O_RDWR);
    assert_true(fd >= 0);
    for (off_t at = 0; at < st.st_size; at++) {
        unsigned char good, bad;

        assert_int_equal(pread(fd, &good, 1, at), 1);
        bad = good ^ (unsigned char)(1u << at % 8);
        assert_int_equal(pwrite(fd, &bad, 1, at), 1);
        assert_false(loads(f, key));
        assert_int_equal(pwrite(fd, &good, 1, at), 1);
    }
    close(fd);
    assert_true(loads(f, key));
}

static void trailing_bytes_read_as_absent(void **state)
{
    const fixture *f = *state;
    FILE *file;

    store(f);
    file = fopen(only_file(f), "ab");
    assert_non_null(file);
    fputc('x', file);
    fclose(file);
    assert_false(loads(f, key));
}

/* Sizes whose sum is that of the entry once it has passed 2^64. */
static void sizes_that_wrap_read_as_absent(void **state)
{
    const fixture *f = *state;
    const off_t key_size = 8, log_size = 16; /* where they stand: behind 8 bytes of magic */
    uint64_t size;
    int fd;

    store(f);
    fd = open(only_file(f), O_RDWR);
    assert_true(fd >= 0);
    for (off_t at = key_size; at <= log_size; at += log_size - key_size) {
        assert_int_equal(pread(fd, &size, sizeof(size), at), sizeof(size));
        size += UINT64_C(1) << 63;
        assert_int_equal(pwrite(fd, &size, sizeof(size), at), sizeof(size));
    }
    close(fd);
    assert_false(loads(f, key));
}

/* Two keys with one hash would share a file: the entry holds its whole key. */
static void a_foreign_entry_reads_as_absent(void **state)
{
    const fixture *f = *state;
    char first[400], as_long[sizeof(key)];

    store(f);
    strcpy(first, only_file(f));
    assert_int_equal(rename(first, "/tmp/tessera-cache-aside"), 0);
    assert_true(cache_store(&f->c, "another key", bytes, sizeof(bytes), ""));
    assert_int_equal(rename(only_file(f), first), 0);
    assert_false(loads(f, key));
    assert_false(loads(f, "another key")); /* its own place is empty */
    memcpy(as_long, key, sizeof(key));
    as_long[0] ^= 1;
    assert_int_equal(remove(first), 0);
    assert_true(cache_store(&f->c, as_long, bytes, sizeof(bytes), ""));
    assert_int_equal(rename(only_file(f), first), 0);
    assert_false(loads(f, key));
    assert_int_equal(rename("/tmp/tessera-cache-aside", first), 0);
    assert_true(loads(f, key));
}

static void others_must_not_write(void **state)
{
    fixture *f = *state;

    store(f);
    for (mode_t mode = 0720; mode; mode = mode == 0720 ? 0702 : 0) {
        cache c;

        assert_int_equal(chmod(f->folder, mode), 0);
        cache_open(&c);
        assert_non_null(strstr(c.why_off, "others can write it"));
        assert_false(cache_store(&c, key, bytes, sizeof(bytes), ""));
        assert_false(cache_load(&c, key, &(unsigned char *){NULL}, &(size_t){0}, NULL));
        cache_close(&c);
    }
}

static void a_folder_of_another_user_is_not_used(void **state)
{
    fixture *f = *state;
    cache c;

    if (geteuid() != 0)
        skip(); /* nobody else can give a folder away */
    assert_int_equal(chown(f->folder, 65534, 65534), 0);
    cache_open(&c);
    assert_non_null(strstr(c.why_off, "belongs to another user"));
    cache_close(&c);
    assert_int_equal(chown(f->folder, 0, 0), 0);
}

static void a_folder_below_one_that_others_write_is_not_used(void **state)
{
    fixture *f = *state;
    char outer[128], path[160];
    cache c;

    snprintf(outer, sizeof(outer), "%s/outer", f->folder);
    snprintf(path, sizeof(path), "%s/inner", outer);
    assert_int_equal(mkdir(outer, 0700), 0);
    setenv("TESSERA_CACHE_DIR", path, 1);
    assert_int_equal(chmod(outer, 0702), 0);
    cache_open(&c);
    assert_non_null(strstr(c.why_off, "others can write the folder "));
    cache_close(&c);
    if (geteuid() == 0) { /* a group of others, and the user's own, of the same name */
        assert_int_equal(chown(outer, 0, 65534), 0);
        assert_int_equal(chmod(outer, 0720), 0);
        cache_open(&c);
        assert_non_null(strstr(c.why_off, "others can write the folder "));
        cache_close(&c);
        assert_int_equal(chown(outer, 0, 0), 0);
        cache_open(&c);
        assert_string_equal(c.why_off, "");
        cache_close(&c);
    }
    assert_int_equal(chmod(outer, 01777), 0); /* as /tmp */
    cache_open(&c);
    assert_string_equal(c.why_off, "");
    cache_close(&c);
    if (geteuid() == 0) {
        assert_int_equal(chown(outer, 65534, 65534), 0);
        cache_open(&c);
        assert_non_null(strstr(c.why_off, "above it belongs to another user (65534)"));
        cache_close(&c);
    }
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(outer), 0);
}

static void entries_that_others_may_have_written_read_as_absent(void **state)
{
    const fixture *f = *state;

    store(f);
    assert_int_equal(chmod(only_file(f), 0620), 0);
    assert_false(loads(f, key));
    assert_int_equal(chmod(only_path, 0602), 0);
    assert_false(loads(f, key));
    assert_int_equal(chmod(only_path, 0644), 0);
    assert_true(loads(f, key));
    if (geteuid() == 0) {
        assert_int_equal(chown(only_path, 65534, 65534), 0);
        assert_false(loads(f, key));
    }
}

/* Opened and read like a file, the pipe would wait for a writer and the device never end. */
static void what_is_no_file_reads_as_absent(void **state)
{
    const fixture *f = *state;
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int socket_fd = socket(AF_UNIX, SOCK_STREAM, 0);

    store(f);
    only_file(f);
    alarm(20);
    assert_int_equal(unlink(only_path), 0);
    assert_int_equal(mkfifo(only_path, 0600), 0);
    assert_false(loads(f, key));
    assert_int_equal(unlink(only_path), 0);
    assert_int_equal(symlink("/dev/zero", only_path), 0);
    assert_false(loads(f, key));
    assert_int_equal(unlink(only_path), 0);
    assert_true(socket_fd >= 0 && strlen(only_path) < sizeof(name.sun_path));
    snprintf(name.sun_path, sizeof(name.sun_path), "%.100s", only_path);
    assert_int_equal(bind(socket_fd, (struct sockaddr *)&name, sizeof(name)), 0);
    assert_false(loads(f, key));
    close(socket_fd);
    alarm(0);
    store(f); /* takes the place of any of them */
    assert_true(loads(f, key));
}

/* A limit of file sizes ends the write in its middle. */
static void a_store_that_fails_leaves_nothing(void **state)
{
    const fixture *f = *state;
    static unsigned char large[100000];
    struct rlimit before, small;

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_false(cache_store(&f->c, key, large, sizeof(large), ""));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(each_file(f, NULL), 0);
}

static void a_file_is_no_folder(void **state)
{
    fixture *f = *state;
    char below[128], path[128];
    FILE *file;
    cache c;

    snprintf(path, sizeof(path), "%s/file", f->folder);
    snprintf(below, sizeof(below), "%s/file/below", f->folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    for (int i = 0; i < 2; i++) {
        setenv("TESSERA_CACHE_DIR", i ? path : below, 1);
        cache_open(&c);
        assert_string_not_equal(c.why_off, "");
        assert_false(cache_store(&c, key, bytes, sizeof(bytes), ""));
        cache_close(&c);
    }
}

static void folders_are_made_for_the_user_alone(void **state)
{
    fixture *f = *state;
    char outer[128], path[160];
    struct stat st;
    cache c;

    snprintf(outer, sizeof(outer), "%s/outer", f->folder);
    snprintf(path, sizeof(path), "%s/inner", outer);
    setenv("TESSERA_CACHE_DIR", path, 1);
    umask(0);
    cache_open(&c);
    umask(022);
    assert_string_equal(c.why_off, "");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    cache_close(&c);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(outer), 0);
}

static void clear_takes_its_own_files_alone(void **state)
{
    const fixture *f = *state;
    static const char *const kept[] = {"notes.txt", "0123456789abcdef.txt", "0123456789ABCDEF.tsr",
                                       "0123456789abcde.tsr", "news"};
    cache_entry *list = NULL;
    tsr_error err = {0};
    size_t count = 0;
    char path[400];

    store(f);
    assert_true(cache_store(&f->c, "b second\nrest", bytes, 2, ""));
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        FILE *file;

        snprintf(path, sizeof(path), "%s/%s", f->folder, kept[i]);
        file = fopen(path, "w");
        assert_non_null(file);
        fclose(file);
    }
    assert_int_equal(cache_list(&f->c, &list, &count, &err), TSR_OK);
    assert_int_equal(count, 2);
    assert_string_equal(list[0].title, "b second");
    assert_string_equal(list[1].title, "program a.cl on nothing");
    free(list);
    assert_int_equal(cache_clear(&f->c, &count, &err), TSR_OK);
    assert_int_equal(count, 2);
    assert_false(loads(f, key));
    assert_int_equal(each_file(f, NULL), sizeof(kept) / sizeof(kept[0]));
}

/* ---- writers at once --------------------------------------------------------------------- */

enum { WRITERS = 4, ROUNDS = 200, LARGE = 20000 };

static void write_rounds(const fixture *f, unsigned char who)
{
    unsigned char *data = malloc(LARGE);

    if (!data)
        _exit(1);
    memset(data, who, LARGE);
    for (int i = 0; i < ROUNDS; i++)
        if (!cache_store(&f->c, key, data, LARGE - (size_t)who, "log"))
            _exit(1);
    free(data);
    _exit(0);
}

static void concurrent_writers_leave_whole_entries(void **state)
{
    const fixture *f = *state;
    pid_t child[WRITERS];
    size_t seen = 0;
    int left = WRITERS;

    for (int i = 0; i < WRITERS; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] == 0)
            write_rounds(f, (unsigned char)(i + 1));
    }
    while (left) {
        unsigned char *data = NULL;
        size_t size = 0;
        int status = 0;

        if (cache_load(&f->c, key, &data, &size, NULL)) {
            seen++;
            assert_int_equal(size, LARGE - data[0]);
            for (size_t i = 1; i < size; i++)
                assert_int_equal(data[i], data[0]);
            free(data);
        } else {
            assert_int_equal(seen, 0); /* once there, it is never away */
        }
        if (waitpid(-1, &status, WNOHANG) > 0) {
            left--;
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        }
    }
    assert_true(seen > 0);
    only_file(f); /* no temporary file is left */
}

/* ---- a writer that is interrupted ---------------------------------------------------------- */

enum { SLOWLY_WRITTEN = 1 << 26 };

static void remove_and_exit(int number)
{
    temporaries_remove();
    _exit(number);
}

/* Counts the files of the folder that are being written. */
static size_t count_unfinished(const fixture *f)
{
    DIR *dir = opendir(f->folder);
    struct dirent *e;
    size_t n = 0;

    assert_non_null(dir);
    while ((e = readdir(dir)))
        n += strncmp(e->d_name, "new-", 4) == 0;
    closedir(dir);
    return n;
}

/* The handler of a signal removes the file that is being written, on which nearly all of the
 * child's time goes. */
static void an_interrupted_writer_leaves_no_temporary_file(void **state)
{
    const fixture *f = *state;
    unsigned char *data = calloc(1, SLOWLY_WRITTEN);
    int status = 0;
    pid_t child;

    assert_non_null(data);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGTERM, remove_and_exit);
        alarm(60); /* where nobody ends it */
        for (;;)
            cache_store(&f->c, key, data, SLOWLY_WRITTEN, "log");
    }
    free(data);
    while (count_unfinished(f) == 0 && waitpid(child, &status, WNOHANG) == 0)
        ;
    assert_int_equal(kill(child, SIGTERM), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), SIGTERM);
    assert_int_equal(count_unfinished(f), 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_fixture, drop_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_stored_comes_back),
        TEST(empty_data_is_data),
        TEST(every_truncation_reads_as_absent),
        TEST(every_flipped_bit_reads_as_absent),
        TEST(trailing_bytes_read_as_absent),
        TEST(sizes_that_wrap_read_as_absent),
        TEST(a_foreign_entry_reads_as_absent),
        TEST(others_must_not_write),
        TEST(a_folder_of_another_user_is_not_used),
        TEST(a_folder_below_one_that_others_write_is_not_used),
        TEST(entries_that_others_may_have_written_read_as_absent),
        TEST(what_is_no_file_reads_as_absent),
        TEST(a_store_that_fails_leaves_nothing),
        TEST(a_file_is_no_folder),
        TEST(folders_are_made_for_the_user_alone),
        TEST(clear_takes_its_own_files_alone),
        TEST(concurrent_writers_leave_whole_entries),
        TEST(an_interrupted_writer_leaves_no_temporary_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
