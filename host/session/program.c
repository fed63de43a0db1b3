#include "session/program.h"

#include <assert.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/standard_error.h"
#include "device/query.h"
#include "session/retarget.h"
#include "session/source.h"

/* Part of every key: raise it when entries of older versions must not be read. */
enum { BINARY_FORMAT = 6 };

/* Arguments of a kernel that are remembered; later ones are set each time. */
enum { ARGUMENTS_KEPT = 24 };

/* All 0 where nothing is known. */
struct set_argument {
    size_t bytes;
    uint64_t call; /* of a buffer; UINT64_MAX of NULL in its place; 0 of a value */
    bool local;    /* `bytes` of local memory, which have no value */
    unsigned char value[PROGRAM_VALUE_MAX];
};

static void program_free(program *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->entry_count; i++) {
        clReleaseKernel(p->entries[i].kernel);
        free(p->entries[i].name);
        free(p->entries[i].set);
    }
    free(p->entries);
    if (p->handle)
        clReleaseProgram(p->handle);
    text_free(&p->source_file);
    text_free(&p->replaced);
    text_free(&p->options);
    text_free(&p->runs);
    text_free(&p->key);
    text_free(&p->log);
    free(p);
}

/* Whether the driver finds what it compiled in a cache of its own.  PoCL does, unless it is told
 * not to; and asked for a binary it compiles every kernel once more, for work-groups of any size,
 * which takes as long again as the first call.  Entries of such a driver say that a program was
 * built, and hold no binary but a witness: see driver_witness(). */
static bool driver_keeps_builds(const tsr_session *s)
{
    const char *pocl = getenv("POCL_KERNEL_CACHE");

    return s->device.facts.compiles_late && !(pocl && strcmp(pocl, "0") == 0);
}

/* Where PoCL's cache is, as it finds it. */
static void driver_folder(text *out)
{
    const char *own = getenv("POCL_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");

    if (own)
        text_append(out, own);
    else if (xdg && *xdg)
        text_format(out, "%s/pocl/kcache", xdg);
    else if (home)
        text_format(out, "%s/.cache/pocl/kcache", home);
}

/* The name of the folder in another one that was changed last; "" where there is none. */
static void newest_folder(const char *in, text *name)
{
    struct timespec newest = {0};
    DIR *dir = opendir(in);
    struct dirent *e;

    while (dir && (e = readdir(dir))) {
        text path = {0};
        struct stat s;
        bool newer;

        text_format(&path, "%s/%s", in, e->d_name);
        newer = e->d_name[0] != '.' && stat(text_get(&path), &s) == 0 && S_ISDIR(s.st_mode) &&
                (s.st_mtim.tv_sec > newest.tv_sec ||
                 (s.st_mtim.tv_sec == newest.tv_sec && s.st_mtim.tv_nsec > newest.tv_nsec));
        if (newer) {
            newest = s.st_mtim;
            text_clear(name);
            text_append(name, e->d_name);
        }
        text_free(&path);
    }
    if (dir)
        closedir(dir);
}

/* A program's folder in the driver's cache, after a build the one that it made: while that is
 * there, nobody has emptied the cache since.  PoCL has "AB/CDEF", by a hash; "" where it has none.
 */
static void driver_witness(text *out)
{
    text folder = {0}, first = {0}, second = {0};

    driver_folder(&folder);
    newest_folder(text_get(&folder), &first);
    text_format(&folder, "/%s", text_get(&first));
    if (first.length)
        newest_folder(text_get(&folder), &second);
    if (second.length)
        text_format(out, "%s/%s", text_get(&first), text_get(&second));
    text_free(&folder);
    text_free(&first);
    text_free(&second);
}

/* Whether a witness that an entry holds is there still. */
static bool driver_has(const char *witness)
{
    text path = {0};
    struct stat s;
    bool there;

    driver_folder(&path);
    text_format(&path, "/%s", witness);
    there = !*witness || stat(text_get(&path), &s) == 0;
    text_free(&path);
    return there;
}

/* Everything that decides what the binary is; its first line is the title that people see. */
static void compose_key(const tsr_session *s, const program *p, const char *source, text *key)
{
    const device_facts *d = &s->device.facts;
    const char *folder = getenv("POCL_CACHE_DIR");
    char platform[512] = "", version[256];

    clGetPlatformInfo(s->device.platform, CL_PLATFORM_VERSION, sizeof(platform) - 1, platform,
                      NULL);
    query_string(s->device.id, CL_DEVICE_VERSION, version, sizeof(version));
    text_format(key, "program %s on %s:%s %s\n", text_get(&p->source_file), d->name,
                text_get(&p->runs), text_get(&p->options));
    text_format(key, "format %d\nplatform %s %s\ndevice %s %s\ndriver %s\n", BINARY_FORMAT,
                d->platform, platform, d->vendor, version, d->driver);
    if (driver_keeps_builds(s)) /* in this folder */
        text_format(key, "kept by the driver %s\n", folder ? folder : "");
    text_append(key, source);
}

static void read_log(const tsr_session *s, cl_program handle, text *out)
{
    size_t bytes = 0;
    char *log;

    if (clGetProgramBuildInfo(handle, s->device.id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) !=
            CL_SUCCESS ||
        bytes == 0)
        return;
    log = calloc(1, bytes + 1);
    if (log && clGetProgramBuildInfo(handle, s->device.id, CL_PROGRAM_BUILD_LOG, bytes, log,
                                     NULL) == CL_SUCCESS)
        text_append(out, log);
    free(log);
}

/* Its log says what the compiler has to say. */
static cl_int build_quietly(const tsr_session *s, cl_program handle, const char *options)
{
    cl_int rc;

    standard_error_hide();
    rc = clBuildProgram(handle, 1, &s->device.id, options, NULL, NULL);
    standard_error_show();
    return rc;
}

/* From the cache; false where there is nothing usable, whatever the reason. */
static bool load(tsr_session *s, program *p)
{
    unsigned char *binary = NULL;
    const unsigned char *borrowed;
    cl_int status = CL_SUCCESS, rc;
    size_t size = 0;

    if (!cache_load(&s->cache, text_get(&p->key), &binary, &size, &p->log))
        return false;
    if (driver_keeps_builds(s)) {
        p->saved = driver_has((const char *)binary);
        free(binary);
        text_clear(&p->log);
        return false;
    }
    borrowed = binary;
    p->handle =
        clCreateProgramWithBinary(s->context, 1, &s->device.id, &size, &borrowed, &status, &rc);
    free(binary);
    if (p->handle && rc == CL_SUCCESS && status == CL_SUCCESS &&
        build_quietly(s, p->handle, text_get(&p->options)) == CL_SUCCESS) {
        p->built = TSR_BUILD_CACHED;
        p->saved = true;
        return true;
    }
    if (p->handle)
        clReleaseProgram(p->handle);
    p->handle = NULL;
    text_clear(&p->log);
    return false;
}

/* The file that people know it by. */
static const char *program_file(const program *p)
{
    return p->replaced.length ? text_get(&p->replaced) : text_get(&p->source_file);
}

tsr_status program_mismatch(const program *p, const char *name, const char *call, cl_int rc,
                            tsr_error *err)
{
    return p->replaced.length
               ? tsr_fail(err, TSR_ECL, rc,
                          "'%.200s' must define the kernel %s with the arguments "
                          "that %s gives it: %s",
                          text_get(&p->replaced), name, text_get(&p->source_file), call)
               : tsr_fail(err, TSR_ECL, rc, "%s(%s) in %s", call, name, text_get(&p->source_file));
}

/* The first line of a log that names an error, else its first line. */
static int log_head(const char *log, const char **head)
{
    const char *mark = strstr(log, "error");
    const char *start = mark ? mark : log;

    while (start > log && start[-1] != '\n')
        start--;
    *head = start;
    return (int)strcspn(start, "\n");
}

/* What the compiler said goes into err, its head, and into the session, all of it. */
static tsr_status build_failed(tsr_session *s, const program *p, const char *how, cl_int rc,
                               tsr_error *err)
{
    const char *head;
    int length;

    text_clear(&s->build_log);
    text_append(&s->build_log, text_get(&p->log));
    length = log_head(text_get(&p->log), &head);
    return tsr_fail(err, TSR_EBUILD, rc, "building %s [%s]: %.*s", program_file(p), how, length,
                    head);
}

tsr_status program_from_ptx(tsr_session *s, program *p, const text *ptx, const char *how,
                            tsr_error *err)
{
    const unsigned char *borrowed = (const unsigned char *)text_get(ptx);
    cl_int rc, status = CL_SUCCESS;
    cl_program again = clCreateProgramWithBinary(s->context, 1, &s->device.id, &ptx->length,
                                                 &borrowed, &status, &rc);

    if (again && rc == CL_SUCCESS)
        rc = status ? status : build_quietly(s, again, "");
    if (again)
        read_log(s, again, &p->log);
    if (!again || rc != CL_SUCCESS) {
        if (again)
            clReleaseProgram(again);
        return build_failed(s, p, how, rc, err);
    }
    clReleaseProgram(p->handle);
    p->handle = again;
    return TSR_OK;
}

/* Build p->handle from the PTX that it has, for another target (session/retarget.h). */
static tsr_status retarget(tsr_session *s, program *p, const char *target, tsr_error *err)
{
    unsigned char *binary = NULL;
    text ptx = {0};
    size_t size;
    tsr_status st = program_binary(p, &binary, &size, err);

    st = st ? st : retarget_ptx((const char *)binary, target, &ptx, err);
    st = st ? st : program_from_ptx(s, p, &ptx, target, err);
    free(binary);
    text_free(&ptx);
    return st;
}

static tsr_status compile(tsr_session *s, program *p, const char *source, tsr_error *err)
{
    char target[RETARGET_NAME];
    cl_int rc;

    p->handle = clCreateProgramWithSource(s->context, 1, &source, NULL, &rc);
    if (!p->handle)
        return tsr_fail(err, TSR_ECL, rc, "clCreateProgramWithSource(%s)",
                        text_get(&p->source_file));
    rc = build_quietly(s, p->handle, text_get(&p->options));
    read_log(s, p->handle, &p->log);
    if (rc != CL_SUCCESS)
        return build_failed(s, p, text_get(&p->options), rc, err);
    p->built = p->saved ? TSR_BUILD_CACHED : TSR_BUILD_COMPILED;
    return retarget_wanted(source, target) ? retarget(s, p, target, err) : TSR_OK;
}

/* Load or compile; one process compiles what several want, and the others then find its entry. */
static tsr_status build(tsr_session *s, program *p, const char *source, tsr_error *err)
{
    const char *what = text_get(&p->source_file);
    bool loaded;

    session_building(s, "loading", what);
    loaded = load(s, p);
    if (!loaded && !p->saved) {
        session_building(s, "waiting for another process that compiles", what);
        cache_lock_entry(&s->cache, text_get(&p->key), &s->building);
        loaded = load(s, p);
        if (loaded || p->saved)
            cache_unlock(&s->building);
        else
            session_building(s, "compiling", what);
    }
    return loaded ? TSR_OK : compile(s, p, source, err);
}

static program *find(tsr_session *s, const char *source_file, const char *options, const char *runs)
{
    for (program *p = s->programs; p; p = p->next)
        if (strcmp(text_get(&p->source_file), source_file) == 0 &&
            strcmp(text_get(&p->options), options) == 0 && strcmp(text_get(&p->runs), runs) == 0)
            return p;
    return NULL;
}

/* A program that is not built yet, with its key and source. */
static tsr_status prepare(const tsr_session *s, const char *source_file, const char *options,
                          const char *runs, text *source, program **out, tsr_error *err)
{
    const char *path = source_replacement(text_get(&s->kernel_dir), source_file);
    program *p = calloc(1, sizeof(*p));
    tsr_status st;

    if (!p)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for program %s", source_file);
    p->device = s->device.id;
    text_append(&p->source_file, source_file);
    text_append(&p->options, options);
    text_append(&p->runs, runs);
    if (path)
        text_append(&p->replaced, path);
    st = source_read(text_get(&s->kernel_dir), source_file, source, err);
    st = st ? st : source_keep(source, runs, err);
    if (!st)
        compose_key(s, p, text_get(source), &p->key);
    if (!st && (p->key.failed || p->source_file.failed || p->replaced.failed || p->options.failed ||
                p->runs.failed))
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory for program %s", source_file);
    if (st)
        program_free(p);
    else
        *out = p;
    return st;
}

/* The kernels that are compiled alone; "": all of the file together.  PoCL compiles a kernel when
 * it is first launched, so the others cost nothing there, and version 3.1 runs some
 * kernels wrongly where they are alone in their program. */
static const char *compiled_alone(const tsr_session *s, const char *runs)
{
    return s->device.facts.compiles_late ? "" : runs;
}

bool program_at_hand(tsr_session *s, const char *source_file, const char *options, const char *runs)
{
    unsigned char *data = NULL;
    text source = {0}, log = {0};
    const char *alone = compiled_alone(s, runs);
    program *p = find(s, source_file, options, alone);
    bool there = p != NULL;
    size_t size;

    if (!there && !prepare(s, source_file, options, alone, &source, &p, NULL)) {
        there = cache_load(&s->cache, text_get(&p->key), &data, &size, &log) &&
                (!driver_keeps_builds(s) || driver_has((const char *)data));
        program_free(p);
    }
    free(data);
    text_free(&source);
    text_free(&log);
    return there;
}

tsr_status program_get(tsr_session *s, const char *source_file, const char *options,
                       const char *runs, program **out, tsr_error *err)
{
    uint64_t start = clock_ns();
    const char *alone = compiled_alone(s, runs);
    program *p = find(s, source_file, options, alone);
    text source = {0};
    tsr_status st;

    if (p) {
        *out = p;
        return TSR_OK;
    }
    st = prepare(s, source_file, options, alone, &source, &p, err);
    st = st ? st : build(s, p, text_get(&source), err);
    if (st != TSR_OK)
        goto cleanup;
    p->build_ns = clock_ns() - start;
    s->build_ns += p->build_ns;
    p->next = s->programs;
    s->programs = p;
    *out = p;
    p = NULL; /* moved to the session */
    if (!s->device.facts.compiles_late)
        programs_save(s);

cleanup:
    if (st || !s->device.facts.compiles_late)
        session_end_build(s);
    text_free(&source);
    program_free(p);
    return st;
}

/* What the compiler says of a kernel, asked once: each question costs a call of the driver. */
static void ask_compiler(const program *p, program_entry *e)
{
    size_t required[3] = {0};

    clGetKernelWorkGroupInfo(e->kernel, p->device, CL_KERNEL_WORK_GROUP_SIZE,
                             sizeof(e->group_limit), &e->group_limit, NULL);
    clGetKernelWorkGroupInfo(e->kernel, p->device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                             sizeof(required), required, NULL);
    clGetKernelWorkGroupInfo(e->kernel, p->device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof(e->local_bytes),
                             &e->local_bytes, NULL);
    e->group_required = required[0] * required[1] * required[2];
}

static tsr_status make_entry(const program *p, const char *name, program_entry *out, tsr_error *err)
{
    program_entry e = {.name = strdup(name), .set = calloc(ARGUMENTS_KEPT, sizeof(*e.set))};
    tsr_status st = TSR_OK;
    cl_int rc;

    if (!e.name || !e.set) {
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory for kernel %s", name);
        goto cleanup;
    }
    e.kernel = clCreateKernel(p->handle, name, &rc);
    if (!e.kernel) {
        st = program_mismatch(p, name, "clCreateKernel", rc, err);
        goto cleanup;
    }
    ask_compiler(p, &e);
    *out = e;
    e = (program_entry){0}; /* moved to the caller */

cleanup:
    free(e.set);
    free(e.name);
    return st;
}

tsr_status program_kernel(program *p, const char *name, const program_entry **out, tsr_error *err)
{
    program_entry *entries;
    tsr_status st;

    for (size_t i = 0; i < p->entry_count; i++) {
        if (strcmp(p->entries[i].name, name) == 0) {
            *out = &p->entries[i];
            return TSR_OK;
        }
    }
    entries = realloc(p->entries, (p->entry_count + 1) * sizeof(*entries));
    if (!entries)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for kernel %s", name);
    p->entries = entries;
    st = make_entry(p, name, &entries[p->entry_count], err);
    if (st == TSR_OK)
        *out = &entries[p->entry_count++];
    return st;
}

/* Argument i := `bytes` bytes of `value`, or of local memory where that is NULL, unless it has them
 * already. */
static cl_int set_argument_to(const program_entry *e, cl_uint i, size_t bytes, const void *value,
                              uint64_t call)
{
    set_argument *set;
    cl_int rc;

    if (i >= ARGUMENTS_KEPT)
        return clSetKernelArg(e->kernel, i, bytes, value);
    set = &e->set[i];
    if (set->bytes == bytes && set->call == call && set->local == !value &&
        (!value || memcmp(set->value, value, bytes) == 0))
        return CL_SUCCESS;
    rc = clSetKernelArg(e->kernel, i, bytes, value);
    if (rc != CL_SUCCESS) {
        *set = (set_argument){0};
        return rc;
    }
    set->bytes = bytes;
    set->call = call;
    set->local = !value;
    if (value)
        memcpy(set->value, value, bytes);
    return rc;
}

cl_int program_set_value(const program_entry *e, cl_uint i, size_t bytes, const void *value)
{
    assert(!value || bytes <= PROGRAM_VALUE_MAX);
    return set_argument_to(e, i, bytes, value, 0);
}

cl_int program_set_buffer(const program_entry *e, cl_uint i, cl_mem buffer, uint64_t call)
{
    return set_argument_to(e, i, sizeof(buffer), &buffer, buffer ? call : UINT64_MAX);
}

/* Where the session's device is among `count` binaries, which are in the order of the context's
 * devices.  PoCL has them of the devices only that the program was built for: the session's. */
static tsr_status find_device(const program *p, size_t count, size_t *at, tsr_error *err)
{
    cl_device_id *devices = calloc(count, sizeof(*devices));
    cl_int rc = CL_SUCCESS;

    if (!devices)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu devices", count);
    if (count > 1)
        rc = clGetProgramInfo(p->handle, CL_PROGRAM_DEVICES, count * sizeof(*devices), devices,
                              NULL);
    for (*at = 0; rc == CL_SUCCESS && count > 1 && *at < count && devices[*at] != p->device;)
        ++*at;
    free(devices);
    if (rc != CL_SUCCESS || *at == count)
        return tsr_fail(err, TSR_ECL, rc, "none of the %zu binaries of %s is the device's", count,
                        text_get(&p->source_file));
    return TSR_OK;
}

tsr_status program_binary(const program *p, unsigned char **out, size_t *size, tsr_error *err)
{
    unsigned char **binaries = NULL; /* NULL for devices whose binary is not asked for */
    size_t *sizes = NULL, at = 0;
    size_t bytes = 0, count;
    cl_int rc = clGetProgramInfo(p->handle, CL_PROGRAM_BINARY_SIZES, 0, NULL, &bytes);
    tsr_status st;

    count = bytes / sizeof(*sizes);
    if (rc != CL_SUCCESS || count == 0)
        return tsr_fail(err, TSR_ECL, rc, "no binary of %s", text_get(&p->source_file));
    st = find_device(p, count, &at, err);
    if (st)
        return st;
    sizes = calloc(count, sizeof(*sizes));
    binaries = calloc(count, sizeof(*binaries));
    if (!sizes || !binaries) {
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu binaries", count);
        goto cleanup;
    }
    rc = clGetProgramInfo(p->handle, CL_PROGRAM_BINARY_SIZES, count * sizeof(*sizes), sizes, NULL);
    if (rc != CL_SUCCESS || sizes[at] == 0) {
        st = tsr_fail(err, TSR_ECL, rc, "no binary of %s", text_get(&p->source_file));
        goto cleanup;
    }
    binaries[at] = calloc(1, sizes[at] + 1);
    if (!binaries[at]) {
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory for a binary of %zu bytes", sizes[at]);
        goto cleanup;
    }
    rc =
        clGetProgramInfo(p->handle, CL_PROGRAM_BINARIES, count * sizeof(*binaries), binaries, NULL);
    if (rc != CL_SUCCESS) {
        st = tsr_fail(err, TSR_ECL, rc, "clGetProgramInfo(CL_PROGRAM_BINARIES)");
        goto cleanup;
    }
    *out = binaries[at];
    *size = sizes[at];
    binaries[at] = NULL; /* moved to the caller */

cleanup:
    if (binaries)
        free(binaries[at]);
    free(binaries);
    free(sizes);
    return st;
}

void programs_save(tsr_session *s)
{
    for (program *p = s->programs; p; p = p->next) {
        unsigned char *binary = NULL;
        text witness = {0};
        size_t size = 0;

        if (p->saved || s->cache.why_off[0])
            continue;
        if (driver_keeps_builds(s)) {
            driver_witness(&witness);
            binary = (unsigned char *)witness.data;
            size = witness.length;
        } else if (program_binary(p, &binary, &size, NULL) != TSR_OK)
            continue;
        /* Tried once: a cache that cannot be written costs speed, not results. */
        cache_store(&s->cache, text_get(&p->key), binary, size, text_get(&p->log));
        p->saved = true;
        free(binary);
    }
    session_end_build(s);
}

void programs_release(tsr_session *s)
{
    if (s->calls_kept.data)
        s->calls_kept.release(s->calls_kept.data);
    s->calls_kept.data = NULL;
    while (s->programs) {
        program *next = s->programs->next;

        program_free(s->programs);
        s->programs = next;
    }
}
