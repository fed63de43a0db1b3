#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file/array.h"
#include "file/output.h"
#include "file/temporaries.h"

/* In the place of the C library's: where `write_most` is set, a few bytes at a time, and every
 * third call is interrupted by a signal. */
static size_t write_most;

ssize_t write(int fd, const void *bytes, size_t size)
{
    static unsigned calls;

    if (write_most && ++calls % 3 == 0) {
        errno = EINTR;
        return -1;
    }
    return syscall(SYS_write, fd, bytes, write_most && size > write_most ? write_most : size);
}

/* Where it fails, as it does on some file systems that write late, the descriptor is closed. */
static bool close_fails;

int close(int fd)
{
    const int result = (int)syscall(SYS_close, fd);

    if (!close_fails)
        return result;
    errno = EIO;
    return -1;
}

/* Where it is set, the process is killed right after a file without a name got one. */
static bool killed_after_link;

int linkat(int from_folder, const char *from, int folder, const char *path, int flags)
{
    const int result = (int)syscall(SYS_linkat, from_folder, from, folder, path, flags);

    if (killed_after_link)
        raise(SIGKILL);
    return result;
}

/* Every test runs in an empty directory of its own. */
static char directory[] = "/tmp/test_output.XXXXXX";

static int enter(void **state)
{
    (void)state;
    strcpy(directory + strlen(directory) - 6, "XXXXXX");
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

/* Files in the test's directory, hidden ones included. */
static size_t count_files(void)
{
    DIR *d = opendir(".");
    size_t n = 0;

    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static size_t slurp(const char *path, char *to, size_t most)
{
    FILE *f = fopen(path, "rb");
    size_t n;

    assert_non_null(f);
    n = fread(to, 1, most, f);
    fclose(f);
    return n;
}

static void put_file(const char *path, const char *content)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_true(fputs(content, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void holds(const char *path, const char *content)
{
    char found[1024];
    size_t n = slurp(path, found, sizeof(found));

    assert_int_equal(n, strlen(content));
    assert_memory_equal(found, content, n);
}

static float values[] = {1, 2.5f, -0.1f, 4, 5, 6};
static const array matrix = {.type = TSR_F32, .rank = 2, .shape = {2, 3}, .data = values};

static output *open_output(const char *path)
{
    output *o = NULL;
    tsr_error err = {0};

    if (output_open(path, &o, &err))
        fail_msg("%s", err.message);
    return o;
}

static void write_whole(const char *path, const array *a)
{
    output *o = open_output(path);
    tsr_error err = {0};

    if (output_write(o, a, &err) || output_commit(o, NULL, &err))
        fail_msg("%s", err.message);
}

static void refuses_open(const char *path, const char *message)
{
    output *o = NULL;
    tsr_error err = {0};

    assert_int_equal(output_open(path, &o, &err), TSR_EFILE);
    assert_string_equal(err.message, message);
    assert_null(o);
}

static const char text_of_matrix[] = "%%MatrixMarket matrix array real general\n"
                                     "2 3\n1\n4\n2.5\n5\n-0.1\n6\n";

static void npy_data_is_aligned_to_64_bytes(void **state)
{
    static const char header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    char file[256];

    (void)state;
    write_whole("a.npy", &matrix);
    assert_int_equal(slurp("a.npy", file, sizeof(file)), 128 + sizeof(values));
    assert_memory_equal(file, "\x93NUMPY\x01\x00\x76\x00", 10);
    assert_memory_equal(file + 10, header, strlen(header));
    for (size_t i = 10 + strlen(header); i < 127; i++)
        assert_int_equal(file[i], ' ');
    assert_int_equal(file[127], '\n');
    assert_memory_equal(file + 128, values, sizeof(values));
}

static void npy_header_has_room_for_the_largest(void **state)
{
    array huge = {.type = TSR_U64, .rank = 2, .shape = {0, SIZE_MAX}, .data = NULL}, back = {0};
    const array largest = {
        .rank = 3, .shape = {SIZE_MAX, 0, SIZE_MAX}, .descr = "<M8[123456789abcdef]", .opaque = 8};
    char file[256], header[128];
    tsr_error err = {0};

    (void)state;
    write_whole("a.npy", &huge);
    assert_int_equal(array_read("a.npy", &back, &err), TSR_OK);
    assert_true(back.shape[1] == SIZE_MAX);
    array_free(&back);
    write_whole("a.npy", &largest);
    assert_int_equal(strlen(largest.descr), ARRAY_DESCR_MAX);
    assert_int_equal(snprintf(header, sizeof(header),
                              "{'descr': '%s', 'fortran_order': False, 'shape': (%zu, 0, %zu), }\n",
                              largest.descr, SIZE_MAX, SIZE_MAX),
                     118);
    assert_int_equal(slurp("a.npy", file, sizeof(file)), 128);
    assert_memory_equal(file + 10, header, 118);
}

/* Whatever its length, with the line's end: around 128 bytes, and 192, too. */
static void npy_header_ends_where_data_begin(void **state)
{
    size_t extents[] = {1, 1, 1, 1};

    (void)state;
    for (size_t digits = 0; digits < 76; digits++) {
        array a = {.type = TSR_F32, .rank = 5, .data = NULL}, back = {0};
        tsr_error err = {0};

        if (digits)
            extents[digits % 4] *= 10;
        memcpy(a.shape + 1, extents, sizeof(extents)); /* behind an extent of 0 */
        write_whole("a.npy", &a);
        if (array_read("a.npy", &back, &err))
            fail_msg("%s", err.message);
        assert_memory_equal(back.shape, a.shape, 5 * sizeof(*a.shape));
        array_free(&back);
    }
}

static void mtx_is_chosen_by_the_suffix_and_written_by_columns(void **state)
{
    (void)state;
    write_whole("a.mtx", &matrix);
    holds("a.mtx", text_of_matrix);
}

static void mtx_integers_stay_integers(void **state)
{
    int64_t v[] = {INT64_MIN, INT64_MAX};
    uint8_t b[] = {0, 255};
    array a = {.type = TSR_I64, .rank = 1, .shape = {2, 1}, .data = v};

    (void)state;
    write_whole("a.mtx", &a);
    holds("a.mtx", "%%MatrixMarket matrix array integer general\n2 1\n"
                   "-9223372036854775808\n9223372036854775807\n");
    a = (array){.type = TSR_U8, .rank = 2, .shape = {1, 2}, .data = b};
    write_whole("a.mtx", &a);
    holds("a.mtx", "%%MatrixMarket matrix array integer general\n1 2\n0\n255\n");
}

/* Beyond one chunk of text; every value comes back bit by bit. */
static void mtx_float64_comes_back_exactly(void **state)
{
    enum { ROWS = 70, COLS = 31 };
    double *v = malloc(ROWS * COLS * sizeof(double));
    array a = {.type = TSR_F64, .rank = 2, .shape = {ROWS, COLS}, .data = v}, back = {0};
    tsr_error err = {0};

    (void)state;
    for (int i = 0; i < ROWS * COLS; i++)
        v[i] = (i % 2 ? -1 : 1) * exp(i - 709) / 3;
    v[0] = (double)INFINITY;
    v[1] = -0x1p-1074;
    v[2] = -0.0;
    write_whole("a.mtx", &a);
    assert_int_equal(array_read("a.mtx", &back, &err), TSR_OK);
    assert_int_equal(back.shape[0], ROWS);
    assert_memory_equal(back.data, v, ROWS * COLS * sizeof(double));
    array_free(&back);
    free(v);
}

static void mtx_nan_is_written_without_a_sign(void **state)
{
    double v[] = {-(double)NAN, -(double)INFINITY};
    array a = {.type = TSR_F64, .rank = 1, .shape = {2, 1}, .data = v};

    (void)state;
    write_whole("a.mtx", &a);
    holds("a.mtx", "%%MatrixMarket matrix array real general\n2 1\nnan\n-inf\n");
}

static void bytes_are_written_as_they_are_whatever_the_suffix(void **state)
{
    static const char *const names[] = {"a.html", "a.mtx"};
    output *o = NULL;
    tsr_error err = {0};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        if (output_open(names[i], &o, &err) || output_write_bytes(o, "<p>", 3, &err) ||
            output_write_bytes(o, "a\n", 2, &err))
            fail_msg("%s", err.message);
        assert_int_equal(access(names[i], F_OK), -1);
        assert_int_equal(output_commit(o, NULL, &err), TSR_OK);
        holds(names[i], "<p>a\n");
    }
}

static void nothing_is_visible_before_commit(void **state)
{
    output *o;

    (void)state;
    put_file("a.mtx", "old");
    o = open_output("a.mtx");
    assert_int_equal(output_write(o, &matrix, NULL), TSR_OK);
    holds("a.mtx", "old");
    assert_int_equal(count_files(), 1);
    assert_int_equal(output_commit(o, NULL, NULL), TSR_OK);
    holds("a.mtx", text_of_matrix);
    assert_int_equal(count_files(), 1);
}

static void discard_leaves_what_was_there(void **state)
{
    output *o;

    (void)state;
    put_file("a.mtx", "old");
    o = open_output("a.mtx");
    assert_int_equal(output_write(o, &matrix, NULL), TSR_OK);
    output_discard(o);
    output_discard(NULL);
    holds("a.mtx", "old");
    o = open_output("new.mtx");
    output_discard(o);
    assert_int_equal(count_files(), 1);
}

static mode_t mode_of(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static void mode_is_kept_or_follows_the_umask(void **state)
{
    mode_t before = umask(027);

    (void)state;
    write_whole("new.npy", &matrix);
    assert_int_equal(mode_of("new.npy"), 0640);
    put_file("old.npy", "");
    assert_int_equal(chmod("old.npy", 0606), 0);
    write_whole("old.npy", &matrix);
    assert_int_equal(mode_of("old.npy"), 0606);
    umask(before);
}

static void owner_is_kept_where_that_is_allowed(void **state)
{
    struct stat st;

    (void)state;
    put_file("old.npy", "");
    if (chown("old.npy", 65534, 65533) != 0)
        skip(); /* only root can give a file away */
    assert_int_equal(chmod("old.npy", 04755), 0);
    write_whole("old.npy", &matrix);
    assert_int_equal(stat("old.npy", &st), 0);
    assert_int_equal(st.st_uid, 65534);
    assert_int_equal(st.st_gid, 65533);
    assert_int_equal(st.st_mode & 07777, 04755);
}

/* What becomes of an owner and of other names is said, once. */
static void write_telling(const char *path, text *lost)
{
    output *o;

    assert_int_equal(output_open(path, &o, NULL), TSR_OK);
    assert_int_equal(output_write(o, &matrix, NULL), TSR_OK);
    assert_int_equal(output_commit(o, lost, NULL), TSR_OK);
}

static void other_links_keep_the_old_content(void **state)
{
    text lost = {0};

    (void)state;
    put_file("old.mtx", "old");
    assert_int_equal(link("old.mtx", "copy.mtx"), 0);
    write_telling("old.mtx", &lost);
    assert_string_equal(text_get(&lost), "old.mtx: the file that was there has other names (hard "
                                         "links), which keep the old content");
    holds("old.mtx", text_of_matrix);
    holds("copy.mtx", "old");
    text_clear(&lost);
    write_telling("old.mtx", &lost); /* its own by now */
    write_telling("new.mtx", &lost);
    assert_string_equal(text_get(&lost), "");
    text_free(&lost);
}

static void an_owner_that_is_not_kept_is_told(void **state)
{
    text lost = {0};
    bool told;

    (void)state;
    put_file("old.mtx", "");
    assert_int_equal(chmod("old.mtx", 0666), 0);
    assert_int_equal(chmod(".", 0777), 0);
    if (seteuid(65534) != 0)
        skip(); /* only root can be somebody else */
    write_telling("old.mtx", &lost);
    told = strstr(text_get(&lost), "old.mtx: its owner was 0:") &&
           strstr(text_get(&lost), " and is 65534:") &&
           strstr(text_get(&lost), ": only root can give a file away");
    assert_int_equal(seteuid(0), 0);
    assert_true(told);
    holds("old.mtx", text_of_matrix);
    text_free(&lost);
}

static void symbolic_links_are_followed_and_kept(void **state)
{
    struct stat st;

    (void)state;
    assert_int_equal(mkdir("d", 0777), 0);
    put_file("d/a.mtx", "old");
    assert_int_equal(symlink("d/a.mtx", "link.mtx"), 0);
    write_whole("link.mtx", &matrix);
    holds("d/a.mtx", text_of_matrix);
    assert_int_equal(symlink("d/new.mtx", "nowhere.mtx"), 0);
    assert_int_equal(symlink("nowhere.mtx", "twice.mtx"), 0);
    write_whole("twice.mtx", &matrix);
    holds("d/new.mtx", text_of_matrix);
    assert_int_equal(lstat("twice.mtx", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(symlink("loop", "loop"), 0);
    refuses_open("loop", "loop: cannot create: Too many levels of symbolic links");
}

static void paths_that_cannot_be_written_are_refused_at_open(void **state)
{
    char name[300];

    (void)state;
    refuses_open("", "output: the path is empty");
    refuses_open("/tmp", "/tmp: cannot write: Is a directory");
    refuses_open("none/a.npy", "none/a.npy: cannot create: No such file or directory");
    refuses_open("none/", "none/: cannot create: names no file");
    put_file("file", "");
    refuses_open("file/a.npy", "file/a.npy: cannot create: Not a directory");
    memset(name, 'x', 299);
    name[299] = '\0';
    assert_int_equal(output_open(name, &(output *){NULL}, NULL), TSR_EFILE);
    if (geteuid() != 0) {
        assert_int_equal(chmod("file", 0444), 0);
        refuses_open("file", "file: cannot write: Permission denied");
        assert_int_equal(chmod(".", 0555), 0);
        assert_int_equal(output_open("new", &(output *){NULL}, NULL), TSR_EFILE);
        assert_int_equal(chmod(".", 0777), 0);
    }
    assert_int_equal(count_files(), 1);
}

/* As long a name as there can be leaves none for a longer temporary one. */
static void longest_name_can_be_written(void **state)
{
    char name[256];

    (void)state;
    memset(name, 'x', 255);
    name[255] = '\0';
    write_whole(name, &matrix);
    assert_int_equal(count_files(), 1);
}

static void same_is_by_identity_and_not_by_spelling(void **state)
{
    static const struct {
        const char *a, *b;
        int same;
    } pairs[] = {
        {"x", "y", 0},        {"new", "./new", 1},     {"new", "d/../new", 1},
        {"new", "d/new", 0},  {"old", "link", 1},      {"old", "hard", 1},
        {"old", "new", 0},    {"old", "d/old", 0},     {"-", "-", 1},
        {"-", "new", 0},      {"-", "/dev/stdout", 1}, {"d/new", "dlink/new", 1},
        {"new", "to-new", 1},
    };

    (void)state;
    put_file("old", "");
    assert_int_equal(mkdir("d", 0777), 0);
    put_file("d/old", "");
    assert_int_equal(symlink("old", "link"), 0);
    assert_int_equal(symlink("d", "dlink"), 0);
    assert_int_equal(symlink("new", "to-new"), 0);
    assert_int_equal(link("old", "hard"), 0);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        output *a = open_output(pairs[i].a), *b = open_output(pairs[i].b);

        if (output_same(a, b) != pairs[i].same || output_same(b, a) != pairs[i].same)
            fail_msg("%s and %s", pairs[i].a, pairs[i].b);
        output_discard(a);
        output_discard(b);
    }
}

static void full_device_is_reported_at_commit_and_never_replaced(void **state)
{
    output *o = open_output("/dev/full");
    tsr_error err = {0};
    struct stat st;

    (void)state;
    assert_int_equal(output_write(o, &matrix, &err), TSR_OK);
    assert_int_equal(output_commit(o, NULL, &err), TSR_EFILE);
    assert_string_equal(err.message, "/dev/full: cannot write: No space left on device");
    assert_int_equal(stat("/dev/full", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

static void pipe_is_written_in_place(void **state)
{
    char found[256];
    size_t n;
    pid_t child;
    struct stat st;

    (void)state;
    assert_int_equal(mkfifo("pipe.mtx", 0600), 0);
    child = fork();
    if (child == 0) {
        output *o = NULL;

        _exit(output_open("pipe.mtx", &o, NULL) || output_write(o, &matrix, NULL) ||
              output_commit(o, NULL, NULL));
    }
    n = slurp("pipe.mtx", found, sizeof(found));
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(n, strlen(text_of_matrix));
    assert_memory_equal(found, text_of_matrix, n);
    assert_int_equal(stat("pipe.mtx", &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    assert_int_equal(count_files(), 1);
}

static void writes_may_be_short_and_interrupted(void **state)
{
    output *o = open_output("a.mtx");
    tsr_status status;

    (void)state;
    write_most = 7;
    status = output_write(o, &matrix, NULL);
    write_most = 0;
    assert_int_equal(status, TSR_OK);
    assert_int_equal(output_commit(o, NULL, NULL), TSR_OK);
    holds("a.mtx", text_of_matrix);
}

/* What close() says is the last word on what was written. */
static void failures_to_close_are_reported(void **state)
{
    output *file = open_output("a.mtx"), *device = open_output("/dev/null");
    tsr_error err = {0};
    tsr_status status;

    (void)state;
    assert_int_equal(output_write(file, &matrix, NULL), TSR_OK);
    assert_int_equal(output_write(device, &matrix, NULL), TSR_OK);
    close_fails = true;
    status = output_commit(file, NULL, &err);
    close_fails = false;
    assert_int_equal(status, TSR_EFILE);
    assert_string_equal(err.message, "a.mtx: cannot close: Input/output error");
    assert_int_equal(count_files(), 0);
    close_fails = true;
    status = output_commit(device, NULL, &err);
    close_fails = false;
    assert_int_equal(status, TSR_EFILE);
    assert_string_equal(err.message, "/dev/null: cannot close: Input/output error");
}

/* Commits to standard output that is the file `path`. */
static tsr_status commit_to_stdout(const char *path, int flags, tsr_error *err)
{
    int before = dup(STDOUT_FILENO), fd = open(path, flags, 0600);
    output *o = NULL;
    tsr_status status;

    fflush(stdout);
    assert_true(fd >= 0);
    dup2(fd, STDOUT_FILENO);
    close(fd);
    status = output_open("-", &o, err);
    if (!status)
        status = output_write(o, &matrix, err);
    if (!status)
        status = output_commit(o, NULL, err);
    dup2(before, STDOUT_FILENO);
    close(before);
    return status;
}

static void dash_is_standard_output(void **state)
{
    array back = {0};
    tsr_error err = {0};

    (void)state;
    assert_int_equal(commit_to_stdout("out", O_WRONLY | O_CREAT, &err), TSR_OK);
    assert_int_equal(array_read("out", &back, &err), TSR_OK);
    assert_memory_equal(back.data, values, sizeof(values));
    array_free(&back);
    assert_int_equal(commit_to_stdout("/dev/full", O_WRONLY, &err), TSR_EFILE);
    assert_string_equal(err.message, "standard output: cannot write: No space left on device");
    assert_int_equal(commit_to_stdout("out", O_RDONLY, &err), TSR_EFILE);
    assert_string_equal(err.message, "standard output: cannot write: Bad file descriptor");
}

/* A limit on the size of files stands for a full disk. */
static void write_error_leaves_nothing_behind(void **state)
{
    struct rlimit before, small;
    output *o;
    tsr_error err = {0};

    (void)state;
    put_file("a.npy", "old");
    o = open_output("a.npy");
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 130;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(output_write(o, &matrix, &err), TSR_EFILE);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_string_equal(err.message, "a.npy: cannot write: File too large");
    output_discard(o);
    holds("a.npy", "old");
    assert_int_equal(count_files(), 1);
}

static void commit_that_fails_leaves_nothing_behind(void **state)
{
    output *o = open_output("a.npy");
    tsr_error err = {0};

    (void)state;
    assert_int_equal(output_write(o, &matrix, &err), TSR_OK);
    assert_int_equal(mkdir("a.npy", 0777), 0);
    assert_int_equal(output_commit(o, NULL, &err), TSR_EFILE);
    assert_string_equal(err.message, "a.npy: cannot put in place: Is a directory");
    assert_int_equal(count_files(), 1);
}

static void remove_and_exit(int signal)
{
    temporaries_remove();
    _exit(signal);
}

/* Whether the folder's file system has files without a name that can get one, as an output asks. */
static bool has_unnamed_files(void)
{
#ifdef O_TMPFILE
    char link[32];
    struct stat s;
    int fd = open(".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
    bool has;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    has = fd >= 0 && stat(link, &s) == 0;
    if (fd >= 0)
        close(fd);
    return has;
#else
    return false;
#endif
}

/* An open output has no name yet. */
static void a_killed_process_leaves_nothing(void **state)
{
    pid_t child;
    int status;

    (void)state;
    if (!has_unnamed_files())
        skip();
    child = fork();
    if (child == 0) {
        output *a = NULL, *b = NULL;

        if (output_open("a.npy", &a, NULL) || output_open("b.npy", &b, NULL) ||
            output_write(b, &matrix, NULL) || output_write(a, &matrix, NULL) ||
            output_commit(a, NULL, NULL) || count_files() != 1)
            _exit(99);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(count_files(), 1); /* what was committed stays */
    assert_int_equal(access("a.npy", F_OK), 0);
}

/* A new file has its own name from the start; one that replaces another is whole beside it. */
static void a_process_killed_while_it_commits_leaves_whole_files(void **state)
{
    (void)state;
    if (!has_unnamed_files())
        skip();
    for (int there = 0; there < 2; there++) {
        pid_t child;
        int status;

        if (there)
            put_file("a.mtx", "old");
        child = fork();
        if (child == 0) {
            output *a = NULL;

            killed_after_link = true;
            _exit(output_open("a.mtx", &a, NULL) || output_write(a, &matrix, NULL) ||
                  output_commit(a, NULL, NULL));
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        assert_int_equal(count_files(), 1 + there);
        if (there)
            holds("a.mtx", "old");
        else
            holds("a.mtx", text_of_matrix);
    }
}

/* The names of a file system without unnamed files. */
static void signal_handler_removes_every_temporary(void **state)
{
    pid_t child = fork();
    int status;

    (void)state;
    if (child == 0) {
        signal(SIGTERM, remove_and_exit);
        put_file("kept", "");
        put_file("a", "");
        put_file("b", "");
        put_file("c", "");
        temporaries_drop(temporaries_add("kept"));
        if (temporaries_add("a") < 0 || temporaries_add("b") < 0 || temporaries_add("c") < 0)
            _exit(99);
        raise(SIGTERM);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), SIGTERM);
    assert_int_equal(count_files(), 1);
    assert_int_equal(access("kept", F_OK), 0);
}

static void names_beyond_the_table_are_refused_and_slots_come_back(void **state)
{
    int slot[TEMPORARIES_MAX];

    (void)state;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < TEMPORARIES_MAX; i++) {
            slot[i] = temporaries_add("name");
            assert_true(slot[i] >= 0);
        }
        assert_int_equal(temporaries_add("one more"), -1);
        for (int i = 0; i < TEMPORARIES_MAX; i++)
            temporaries_drop(slot[i]);
    }
}

static void output_may_be_an_input(void **state)
{
    array a = {0};
    tsr_error err = {0};

    (void)state;
    write_whole("a.npy", &matrix);
    assert_int_equal(array_read("a.npy", &a, &err), TSR_OK);
    write_whole("a.npy", &a);
    assert_memory_equal(a.data, values, sizeof(values));
    array_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(npy_data_is_aligned_to_64_bytes, enter, leave),
        cmocka_unit_test_setup_teardown(npy_header_has_room_for_the_largest, enter, leave),
        cmocka_unit_test_setup_teardown(npy_header_ends_where_data_begin, enter, leave),
        cmocka_unit_test_setup_teardown(mtx_is_chosen_by_the_suffix_and_written_by_columns, enter,
                                        leave),
        cmocka_unit_test_setup_teardown(mtx_integers_stay_integers, enter, leave),
        cmocka_unit_test_setup_teardown(mtx_float64_comes_back_exactly, enter, leave),
        cmocka_unit_test_setup_teardown(mtx_nan_is_written_without_a_sign, enter, leave),
        cmocka_unit_test_setup_teardown(bytes_are_written_as_they_are_whatever_the_suffix, enter,
                                        leave),
        cmocka_unit_test_setup_teardown(nothing_is_visible_before_commit, enter, leave),
        cmocka_unit_test_setup_teardown(discard_leaves_what_was_there, enter, leave),
        cmocka_unit_test_setup_teardown(mode_is_kept_or_follows_the_umask, enter, leave),
        cmocka_unit_test_setup_teardown(owner_is_kept_where_that_is_allowed, enter, leave),
        cmocka_unit_test_setup_teardown(other_links_keep_the_old_content, enter, leave),
        cmocka_unit_test_setup_teardown(an_owner_that_is_not_kept_is_told, enter, leave),
        cmocka_unit_test_setup_teardown(symbolic_links_are_followed_and_kept, enter, leave),
        cmocka_unit_test_setup_teardown(paths_that_cannot_be_written_are_refused_at_open, enter,
                                        leave),
        cmocka_unit_test_setup_teardown(longest_name_can_be_written, enter, leave),
        cmocka_unit_test_setup_teardown(same_is_by_identity_and_not_by_spelling, enter, leave),
        cmocka_unit_test_setup_teardown(full_device_is_reported_at_commit_and_never_replaced, enter,
                                        leave),
        cmocka_unit_test_setup_teardown(pipe_is_written_in_place, enter, leave),
        cmocka_unit_test_setup_teardown(writes_may_be_short_and_interrupted, enter, leave),
        cmocka_unit_test_setup_teardown(failures_to_close_are_reported, enter, leave),
        cmocka_unit_test_setup_teardown(dash_is_standard_output, enter, leave),
        cmocka_unit_test_setup_teardown(write_error_leaves_nothing_behind, enter, leave),
        cmocka_unit_test_setup_teardown(commit_that_fails_leaves_nothing_behind, enter, leave),
        cmocka_unit_test_setup_teardown(a_killed_process_leaves_nothing, enter, leave),
        cmocka_unit_test_setup_teardown(a_process_killed_while_it_commits_leaves_whole_files, enter,
                                        leave),
        cmocka_unit_test_setup_teardown(signal_handler_removes_every_temporary, enter, leave),
        cmocka_unit_test_setup_teardown(names_beyond_the_table_are_refused_and_slots_come_back,
                                        enter, leave),
        cmocka_unit_test_setup_teardown(output_may_be_an_input, enter, leave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
