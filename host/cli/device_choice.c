#include "cli/device_choice.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "cli/activity.h"
#include "cli/json_print.h"
#include "cli/messages.h"
#include "cli/operands.h"
#include "core/registry.h"
#include "device/device.h"
#include "session/source.h"

const char *choice_wanted(const options *o)
{
    const char *wanted =
        o->value[OPTION_DEVICE] ? o->value[OPTION_DEVICE] : getenv("TESSERA_DEVICE");

    return wanted && *wanted ? wanted : NULL;
}

/* A list of the machine's devices, and room to pick all of them.  `host` needs no driver. */
static tsr_status list_devices(const char *wanted, choice *out, tsr_error *err)
{
    tsr_status st;

    *out = (choice){0};
    activity_begin("looking for devices");
    if (wanted && !strcmp(wanted, "host"))
        st = tsr_devices_find_host(&out->list, err);
    else
        st = tsr_devices_find(&out->list, err);
    activity_end();
    if (st)
        return st;
    out->device = calloc(tsr_devices_count(out->list), sizeof(const tsr_device *));
    return out->device ? TSR_OK : tsr_fail(err, TSR_ENOMEM, 0, "out of memory");
}

tsr_status choice_all(choice *out, tsr_error *err)
{
    tsr_status st = list_devices(NULL, out, err);
    const tsr_device *device;
    size_t opencl;

    if (st)
        return st;
    while (out->count < tsr_devices_count(out->list)) {
        out->device[out->count] = tsr_devices_get(out->list, out->count);
        out->count++;
    }
    return out->count > 1 ? TSR_OK : tsr_devices_select(out->list, "all", &device, 1, &opencl, err);
}

/* "OP/OP_IDEA.cl=FILE": the variant's source and what --kernel-file puts in its place. */
static tsr_status replace_source(const options *o, const operation **of, const variant **found,
                                 text *out, tsr_error *err)
{
    const char *file = o->value[OPTION_KERNEL_FILE], *name = o->value[OPTION_KERNEL];
    const variant *v = NULL;
    const operation *op;
    tsr_status st;

    if (o->given[OPTION_KERNEL_DIR])
        return tsr_fail(err, TSR_ENAME, 0, "--kernel-dir and --kernel-file exclude each other");
    if (!name || !strcmp(name, "all") || !(operation_named(o->command) || o->operand_count))
        return tsr_fail(err, TSR_ENAME, 0,
                        "--kernel-file needs --kernel V, a variant in whose place it runs");
    st = operation_asked(o, operation_named(o->command) ? o->command : o->operand[0], NULL, &op,
                         err);
    st = st ? st : variant_find(op, name, &v, err);
    if (st)
        return st;
    if (!v->source)
        return tsr_fail(err, TSR_ENAME, 0, "--kernel-file: %s is C code, without a kernel", name);
    *of = op;
    *found = v;
    text_format(out, "%s=%s", v->source, file);
    return out->failed ? tsr_fail(err, TSR_ENOMEM, 0, "out of memory") : TSR_OK;
}

const char *kernel_file_name(const options *o)
{
    const char *path = o->value[OPTION_KERNEL_FILE];
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? slash + 1 : path;
}

/* Whether a source has a kernel of this name: a word with a bracket behind it. */
static bool has_kernel(const char *source, const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = strstr(source, name); at; at = strstr(at + 1, name))
        if ((at == source || (!isalnum((unsigned char)at[-1]) && at[-1] != '_')) &&
            at[length + strspn(at + length, " \t\n")] == '(')
            return true;
    return false;
}

/* Check that a file of the user's has a kernel of the step that it replaces: a compiler would
 * report something else, such as a -D that is not given. */
static tsr_status check_kernels(const operation *op, const variant *v, const char *replaced,
                                tsr_error *err)
{
    text source = {0};
    bool found = false;
    tsr_status st = source_read(replaced, v->source, &source, err);

    for (size_t i = 0; !st && i < ENTRIES_MAX && v->entries[i]; i++)
        found = found || has_kernel(text_get(&source), v->entries[i]);
    if (!st && !found)
        st = tsr_fail(err, TSR_EFILE, 0,
                      "%s has no kernel '%s', which %s launches: begin with what `tessera kernels "
                      "%s %s --source` prints",
                      source_replacement(replaced, v->source), v->entries[0], v->name, op->name,
                      v->name);
    text_free(&source);
    return st;
}

tsr_status choice_find(const options *o, choice *out, tsr_error *err)
{
    const char *wanted = choice_wanted(o);
    const operation *op = NULL;
    const variant *v = NULL;
    text replaced = {0};
    tsr_status st = TSR_OK;
    size_t all;

    *out = (choice){0};
    if (o->given[OPTION_KERNEL_FILE])
        st = replace_source(o, &op, &v, &replaced, err);
    st = st ? st : source_check(text_get(&replaced), err);
    if (!st && v)
        st = check_kernels(op, v, text_get(&replaced), err);
    text_free(&replaced);
    st = st ? st : list_devices(wanted, out, err);
    if (st)
        return st;
    all = tsr_devices_count(out->list);
    st = tsr_devices_select(out->list, o->value[OPTION_DEVICE], out->device, all, &out->count, err);
    if (st == TSR_ENODEVICE)
        warn_failures(out->list);
    if (st)
        out->count = 0;
    else if (wanted && !strcmp(wanted, "all"))
        out->device[out->count++] = tsr_devices_get(out->list, all - 1);
    return st;
}

tsr_status choice_find_one(const options *o, choice *out, tsr_error *err)
{
    tsr_status st = choice_find(o, out, err);

    if (!st && out->count > 1)
        return tsr_fail(err, TSR_ENAME, 0, "device '%s' names %zu devices, and %s runs on one",
                        choice_wanted(o), out->count, o->command);
    return st;
}

void choice_close(choice *c)
{
    free(c->device);
    tsr_devices_close(c->list);
    *c = (choice){0};
}

/* Once a process: without the cache every run compiles what it needs. */
static void warn_cache(const cache *c)
{
    static bool warned;

    if (*c->why_off && c->wanted && !warned)
        warn("cache folder '%s' is not used: %s; TESSERA_CACHE_DIR names another, or 'off'",
             text_get(&c->folder), c->why_off);
    else if (*c->why_read_only && !warned)
        warn("cache folder '%s': nothing more is kept: it cannot be written: %s; TESSERA_CACHE_DIR "
             "names another, or 'off'",
             text_get(&c->folder), c->why_read_only);
    warned = true;
}

tsr_status choice_open(const tsr_device *device, const options *o, tsr_session **out,
                       tsr_error *err)
{
    tsr_session_options wanted = {.kernel_dir = o->value[OPTION_KERNEL_DIR],
                                  .profile = 1,
                                  .copies = o->given[OPTION_COPY],
                                  .same_kernels = o->given[OPTION_REPEAT], /* to compare times */
                                  .device_memory = o->device_memory};
    const operation *op;
    const variant *v;
    text replaced = {0};
    tsr_status st = TSR_OK;

    if (o->given[OPTION_KERNEL_FILE])
        st = replace_source(o, &op, &v, &replaced, err);
    if (replaced.length)
        wanted.kernel_dir = text_get(&replaced);
    activity_begin("opening %s", tsr_device_name(device));
    st = st ? st : tsr_session_open(device, &wanted, out, err);
    activity_end();
    text_free(&replaced);
    if (st)
        return st;
    if (!o->given[OPTION_QUIET])
        activity_watch(*out);
    if (!tsr_device_is_host(device))
        warn_cache(&(*out)->cache);
    return TSR_OK;
}

tsr_status choice_limits(tsr_session *s, double seconds, limits *out, tsr_error *err)
{
    tsr_status st;

    if (roofline_recall(s, out))
        return TSR_OK;
    activity_begin("measuring the limits of %s, once", tsr_device_name(&s->device));
    st = roofline_measure(s, false, seconds, out, NULL, NULL, err);
    activity_end();
    if (st != TSR_EBOUND)
        return st;
    warn("%s; this limit counts as unknown", err->message);
    return TSR_OK;
}

void device_id_text(const tsr_device *device, char id[DEVICE_ID_SIZE])
{
    if (tsr_device_is_host(device))
        snprintf(id, DEVICE_ID_SIZE, "host");
    else
        snprintf(id, DEVICE_ID_SIZE, "%u:%u", device->platform_index, device->device_index);
}

json_t *device_identity(const tsr_device *device)
{
    char id[DEVICE_ID_SIZE];

    device_id_text(device, id);
    return json_pack("{s:s, s:o, s:o, s:o}", "id", id, "name", json_text(tsr_device_name(device)),
                     "platform", json_text(tsr_device_platform(device)), "driver",
                     json_text(device->facts.driver));
}
