#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/text.h"
#include "cli/activity.h"
#include "cli/commands.h"
#include "cli/device_choice.h"
#include "cli/json_print.h"
#include "cli/messages.h"
#include "core/registry.h"
#include "session/state.h"

/* "12.3 KiB" */
static void format_bytes(uint64_t bytes, char *out, size_t size)
{
    if (bytes < 1024)
        snprintf(out, size, "%" PRIu64 " B", bytes);
    else if (bytes < UINT64_C(1) << 20)
        snprintf(out, size, "%.1f KiB", (double)bytes / 1024);
    else
        snprintf(out, size, "%.1f MiB", (double)bytes / (1024.0 * 1024.0));
}

static uint64_t total_bytes(const cache_entry *entries, size_t count)
{
    uint64_t total = 0;

    for (size_t i = 0; i < count; i++)
        total += entries[i].bytes;
    return total;
}

static int print_text(const cache *c, const cache_entry *entries, size_t count)
{
    char size[32];

    if (*c->why_off)
        print_plain(stdout, "%s: not used: %s\n", text_get(&c->folder), c->why_off);
    else if (*c->why_read_only)
        print_plain(stdout, "%s: in use, and cannot be written: %s\n", text_get(&c->folder),
                    c->why_read_only);
    else
        print_plain(stdout, "%s: in use\n", text_get(&c->folder));
    for (size_t i = 0; i < count; i++) {
        format_bytes(entries[i].bytes, size, sizeof size);
        printf("%12s  %s\n", size, entries[i].title);
    }
    format_bytes(total_bytes(entries, count), size, sizeof size);
    printf("%zu %s, %s\n", count, count == 1 ? "entry" : "entries", size);
    return EXIT_DONE;
}

static int print_json(const cache *c, const cache_entry *entries, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "file", json_text(entries[i].file),
                                              "bytes", json_count(entries[i].bytes), "title",
                                              json_text(entries[i].title)));
    return json_print(
        json_pack("{s:s, s:o, s:b, s:o, s:o, s:o, s:o}", "schema", "tessera-cache-1", "folder",
                  json_text(text_get(&c->folder)), "in_use", !*c->why_off, "why_off",
                  *c->why_off ? json_text(c->why_off) : json_null(), "why_read_only",
                  *c->why_read_only ? json_text(c->why_read_only) : json_null(), "entries", list,
                  "total_bytes", json_count(total_bytes(entries, count))));
}

static int print_cleared(const cache *c, size_t count, bool json)
{
    if (json)
        return json_print(json_pack("{s:s, s:o, s:o}", "schema", "tessera-cache-1", "folder",
                                    json_text(text_get(&c->folder)), "removed", json_count(count)));
    print_plain(stdout, "removed %zu %s from %s\n", count, count == 1 ? "entry" : "entries",
                text_get(&c->folder));
    return EXIT_DONE;
}

/* ---- building ahead ------------------------------------------------------------------------ */

/* What is built ahead on one device. */
typedef struct warming {
    const options *o;
    const tsr_device *device;
    size_t programs; /* of all operations so far */
} warming;

static void show_warming(void *context, const char *what, size_t done, size_t all)
{
    warming *w = context;

    w->programs++;
    activity_begin("[%zu/%zu] %s", done + 1, all, what);
}

static tsr_status warm_device(warming *w, tsr_error *err)
{
    const options *o = w->o;
    tsr_session *s = NULL;
    tsr_status st = choice_open(w->device, o, &s, err);

    if (!st && !tsr_device_is_host(w->device) && (*s->cache.why_off || *s->cache.why_read_only))
        st = tsr_fail(err, TSR_EFILE, 0, "%s: nothing is kept: %s", text_get(&s->cache.folder),
                      *s->cache.why_off ? s->cache.why_off : s->cache.why_read_only);
    for (size_t i = 0; !st && i < (o->operand_count ? o->operand_count : 1); i++)
        st = tsr_session_warm(s, o->operand_count ? o->operand[i] : NULL, show_warming, w, err);
    activity_end();
    tsr_session_close(s);
    return st;
}

static int warm(const options *o)
{
    const bool json = o->given[OPTION_JSON];
    json_t *list = json ? json_array() : NULL;
    const operation *op;
    tsr_error err = {0};
    choice found = {0};
    tsr_status st = TSR_OK;
    int status = EXIT_DONE;

    for (size_t i = 0; i < o->operand_count && !st; i++)
        st = operation_find(o->operand[i], o->command, NULL, &op, &err);
    st = st ? st : choice_find(o, &found, &err);
    for (size_t i = 0; i < found.count && !st; i++) {
        warming w = {.o = o, .device = found.device[i]};
        const uint64_t start = clock_ns();
        double seconds;

        st = warm_device(&w, &err);
        seconds = (double)(clock_ns() - start) / 1e9;
        if (!st && json)
            json_array_append_new(
                list, json_pack("{s:o, s:o, s:o}", "device", device_identity(w.device), "programs",
                                json_count(w.programs), "seconds", json_number(seconds)));
        else if (!st)
            printf("%s: %zu program%s built in %.1f s\n", tsr_device_name(w.device), w.programs,
                   w.programs == 1 ? "" : "s", seconds);
    }
    if (st) {
        status = print_error(o->command, &err, NULL);
        json_decref(list);
    } else if (json)
        status = json_print(json_pack("{s:s, s:o}", "schema", "tessera-cache-1", "warmed", list));
    choice_close(&found);
    return status;
}

int cmd_cache(const options *o)
{
    const bool json = o->given[OPTION_JSON], clear = o->given[OPTION_CLEAR];
    cache c = {0};
    cache_entry *entries = NULL;
    size_t count = 0;
    tsr_error err = {0};
    tsr_status st = TSR_OK;
    int status;

    if (clear && o->given[OPTION_WARM])
        return wrong_usage("cache: --clear and --warm exclude each other");
    if (o->given[OPTION_WARM])
        return warm(o);
    if (o->operand_count)
        return wrong_usage("cache: '%s' needs --warm", o->operand[0]);
    if (o->given[OPTION_DEVICE] || o->given[OPTION_KERNEL_DIR])
        return wrong_usage(
            "cache: --%s needs --warm",
            option_name(o->given[OPTION_DEVICE] ? OPTION_DEVICE : OPTION_KERNEL_DIR));
    cache_open(&c);
    if (clear && *c.why_off)
        st = tsr_fail(&err, TSR_EFILE, 0, "%s: nothing is removed: %s", text_get(&c.folder),
                      c.why_off);
    else if (clear)
        st = cache_clear(&c, &count, &err);
    else if (!*c.why_off)
        st = cache_list(&c, &entries, &count, &err);
    if (st)
        status = print_error(o->command, &err, NULL);
    else if (clear)
        status = print_cleared(&c, count, json);
    else
        status = json ? print_json(&c, entries, count) : print_text(&c, entries, count);
    free(entries);
    cache_close(&c);
    return status;
}
