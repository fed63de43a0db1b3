#include "cli/bench_print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sizes.h"
#include "cli/json_print.h"
#include "cli/messages.h"

enum { CELL = 32 };

/* The limit that traffic is compared with, as roofline_place does: what moves keys writes what it
 * reads. */
static limit memory_limit(const result_row *row)
{
    return work_unit_of(row->unit) == WORK_KEYS ? LIMIT_MEMORY_COPY : LIMIT_MEMORY_READ;
}

/* Bytes a nanosecond are GB/s; 0 where something is unknown. */
static double rate_of(double bytes, double ns)
{
    return bytes > 0 && ns > 0 ? bytes / ns : 0;
}

/* Of what a limit allows; 0 where something is unknown. */
static double share_of(double bytes, double ns, const limits *l, limit of)
{
    return l && l->of[of].value > 0 ? rate_of(bytes, ns) / l->of[of].value : 0;
}

/* ---- the table ---------------------------------------------------------------------------- */

/* A number, or "-" where there is none. */
static const char *cell(char out[CELL], const char *format, double x)
    __attribute__((format(printf, 2, 0)));

static const char *cell(char out[CELL], const char *format, double x)
{
    if (x > 0)
        snprintf(out, CELL, format, x);
    else
        strcpy(out, "-");
    return out;
}

static void print_command(const explanation *x, size_t i, const result_row *row, const limits *l)
{
    const explained *c = &x->command[i];
    char passes[CELL], moved[CELL], speed[CELL], share[CELL], registers[CELL], occupancy[CELL];
    char groups[CELL] = "-";

    if (c->groups)
        snprintf(groups, CELL, "%zu x %zu", c->groups, c->group);
    printf("  %4zu %-28s %10.2f us %5.1f%% %7s %9s %8s %7s %16s %9s %8zu %9s%s%s\n", i + 1,
           c->kernel, c->time.median_ns / 1e3, 100 * c->time.median_ns / fmax(x->call.median_ns, 1),
           cell(passes, "%.2f", c->bytes / fmax(x->compulsory, 1)),
           cell(moved, "%.4g", c->bytes / 1e6),
           cell(speed, "%.4g", rate_of(c->bytes, c->time.median_ns)),
           cell(share, "%.1f%%", 100 * share_of(c->bytes, c->time.median_ns, l, memory_limit(row))),
           groups, cell(registers, "%.0f", (double)c->registers), c->local_bytes,
           cell(occupancy, "%.1f%%", 100 * c->occupancy),
           c->occupancy > 0 && !c->registers ? " at most, by "
           : c->occupancy > 0                ? " by "
                                             : "",
           c->bound);
    if (c->spilled)
        printf("       %-28s spills %zu bytes a work-item\n", "", c->spilled);
}

static bool is_first(const explanation *x, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!strcmp(x->command[k].kernel, x->command[i].kernel))
            return false;
    return true;
}

/* What the commands of one kernel take together. */
typedef struct kernel_sum {
    size_t commands;
    double ns, bytes; /* bytes: 0 where one has none */
} kernel_sum;

static kernel_sum sum_kernel(const explanation *x, size_t first)
{
    kernel_sum sum = {0};
    bool known = true;

    for (size_t k = first; k < x->count; k++) {
        const explained *c = &x->command[k];

        if (strcmp(c->kernel, x->command[first].kernel) != 0)
            continue;
        sum.commands++;
        sum.ns += c->time.median_ns;
        sum.bytes += c->bytes;
        known = known && c->bytes > 0;
    }
    if (!known)
        sum.bytes = 0;
    return sum;
}

/* `of_call`: its share of the call's time, 0 where it is no part of it. */
static void print_part(const char *what, size_t commands, double ns, double of_call, double bytes,
                       double share)
{
    char times[CELL] = "", part[CELL], moved[CELL], rate[CELL], reached[CELL];

    if (commands)
        snprintf(times, CELL, "%zu x", commands);
    printf("  %4s %-28s %10.2f us %6s %9s %8s %7s\n", times, what, ns / 1e3,
           cell(part, "%.1f%%", 100 * of_call), cell(moved, "%.4g", bytes / 1e6),
           cell(rate, "%.4g", rate_of(bytes, ns)), cell(reached, "%.1f%%", 100 * share));
}

static void print_copy(const char *what, double ns, double bytes, const limits *l, limit of)
{
    if (ns > 0)
        print_part(what, 0, ns, 0, bytes, share_of(bytes, ns, l, of));
}

/* Each kernel's commands together, what lies between them, and the copies, which are no part of the
 * call. */
static void print_parts(const explanation *x, const result_row *row, const limits *l)
{
    const limit of = memory_limit(row);
    const double bytes = explain_bytes(x), call = fmax(x->call.median_ns, 1);

    printf("  %4s %-28s %13s %6s %9s %8s %7s\n", "", "where the time goes", "time", "share",
           "MB moved", "GB/s", "of lim.");
    for (size_t i = 0; i < x->count; i++) {
        const kernel_sum sum = sum_kernel(x, i);

        if (is_first(x, i))
            print_part(x->command[i].kernel, sum.commands, sum.ns, sum.ns / call, sum.bytes,
                       share_of(sum.bytes, sum.ns, l, of));
    }
    print_part(x->between.median_ns < 0 ? "side by side" : "between commands", 0,
               x->between.median_ns, x->between.median_ns / call, 0, 0);
    print_part("the whole call", x->count, x->call.median_ns, 1, bytes,
               share_of(bytes, x->call.median_ns, l, of));
    print_copy("copying to the device", row->to_device_ns, row->to_device_bytes, l,
               LIMIT_TO_DEVICE_PAGEABLE);
    print_copy("copying from the device", row->from_device_ns, row->from_device_bytes, l,
               LIMIT_FROM_DEVICE_PAGEABLE);
}

/* "12.5 MB", as much as the naive step of the ladder asks for, or a part of it. */
static void print_asked(const traffic *t, const char *name)
{
    printf("  work-items ask for %.4g MB of global memory, %.3g times what is compulsory",
           t->requested / 1e6, t->requested / fmax(t->compulsory, 1));
    if (t->results > 1)
        printf(", %.3g bytes for each result", t->requested / t->results);
    if (t->loads > 0)
        printf(" (%.3g loads and a store)", t->loads);
    if (t->first > 1.001 * t->requested)
        printf(", %.3g times less than %s", t->first / t->requested, t->first_name);
    else if (t->first > 0 && t->first < 0.999 * t->requested)
        printf(", %.3g times as much as %s", t->requested / t->first, t->first_name);
    else if (t->first > 0 && strcmp(t->first_name, name) != 0)
        printf(", as much as %s", t->first_name);
    if (t->local > 0)
        printf("; for %.4g MB of local memory, and a group passes %.4g barrier%s", t->local / 1e6,
               t->barriers, t->barriers == 1 ? "" : "s");
    putchar('\n');
}

/* Where the call lies under the roofline, by what it asks for and by what is compulsory. */
static void print_intensity(const explanation *x, const intensity *i, const char *unit)
{
    const double most = i->asked * i->memory; /* per ns, had every byte to come from memory */
    const double rate = x->traffic.flops / fmax(x->call.median_ns, 1);

    if (!(i->least > 0))
        return;
    printf("  %.4g million %s: %.3g a compulsory byte", x->traffic.flops / 1e6,
           work_unit_of(unit) == WORK_OPS ? "operations" : "FLOPs", i->least);
    if (i->asked > 0)
        printf(", %.3g a byte that is asked for", i->asked);
    if (i->ridge > 0)
        printf("; the ridge, %s over memory read, is at %.3g", i->limit, i->ridge);
    putchar('\n');
    if (!(i->ridge > 0))
        return;
    printf("  the problem is %s", intensity_word(i->least, i->ridge));
    if (i->asked > 0)
        printf("; what this kernel asks for is %s", intensity_word(i->asked, i->ridge));
    if (i->asked > 0 && i->asked < i->ridge)
        printf(": at most %.4g %s from memory, and %.4g were reached", most,
               work_unit_name(work_unit_of(unit) == WORK_OPS ? WORK_OPS : WORK_FLOPS), rate);
    if (i->asked > 0 && i->asked < i->ridge && rate > most)
        printf(", since caches serve the rest");
    putchar('\n');
}

static void print_traffic(const explanation *x, const result_row *row, const limits *l)
{
    const intensity i = intensity_of(&x->traffic, l, row->precision);

    if (x->traffic.requested > 0)
        print_asked(&x->traffic, x->name);
    else if (x->unstated)
        printf("  what work-items ask for is not stated: %s %s\n", x->name, x->unstated);
    print_intensity(x, &i, row->unit);
}

/* Whether a rate exceeds its limit by more than a clock's error. */
static bool is_beyond(double bytes, double ns, const limits *l, limit of)
{
    return share_of(bytes, ns, l, of) > 1.03;
}

void explain_print(const explanation *x, const result_row *row, const limits *l)
{
    const limit of = memory_limit(row);
    bool beyond =
        is_beyond(row->to_device_bytes, row->to_device_ns, l, LIMIT_TO_DEVICE_PAGEABLE) ||
        is_beyond(row->from_device_bytes, row->from_device_ns, l, LIMIT_FROM_DEVICE_PAGEABLE);

    printf(
        "  commands of one %s, each timed by itself: medians of %zu calls beside those of the row "
        "above;\n  a pass is the %.4g MB that must be read and written\n",
        x->name, x->call.count, x->compulsory / 1e6);
    print_parts(x, row, l);
    printf("  %4s %-28s %13s %6s %7s %9s %8s %7s %16s %9s %8s %9s\n", "", "kernel", "time", "share",
           "passes", "MB moved", "GB/s", "of lim.", "groups x items", "registers", "local B",
           "occupancy");
    for (size_t i = 0; i < x->count; i++) {
        print_command(x, i, row, l);
        beyond |= is_beyond(x->command[i].bytes, x->command[i].time.median_ns, l, of);
    }
    print_traffic(x, row, l);
    if (l)
        printf("  GB/s is of MB moved, and 'of lim.' its share of the limit '%s'%s\n",
               limit_name(of),
               beyond ? "; above a limit, what was moved was still in a cache" : "");
    puts("  share: of the commands' time; passes: MB moved beside the pass above; registers: of a "
         "work-item;\n  local B: bytes of a work-group's local memory; occupancy: of the warps "
         "that a "
         "unit has room for; -: not known");
    fflush(stdout);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static json_t *json_times(const timing *t)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "samples", json_count(t->count), "min_ns",
                     json_number(t->min_ns), "median_ns", json_number(t->median_ns), "max_ns",
                     json_number(t->max_ns));
}

static json_t *json_command(const explanation *x, const explained *c, double share)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, "
                     "s:o, s:o}",
                     "kernel", json_text(c->kernel), "groups", json_count(c->groups), "group",
                     json_count(c->group), "time", json_times(&c->time), "bytes",
                     json_number(c->bytes), "passes",
                     json_number(c->bytes / fmax(x->compulsory, 1)), "share", json_number(share),
                     "registers", json_count(c->registers), "spilled_bytes", json_count(c->spilled),
                     "local_bytes", json_count(c->local_bytes), "occupancy",
                     json_number(c->occupancy), "occupancy_bound", c->bound, "requested_bytes",
                     json_number(c->traffic.requested), "local_traffic_bytes",
                     json_number(c->traffic.local), "barriers", json_number(c->traffic.barriers),
                     "busy", json_number(c->traffic.busy), "flops", json_number(c->flops));
}

static json_t *json_traffic(const traffic *t, const intensity *i)
{
    const bool placed = i->ridge > 0;

    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:s, s:s, s:s}",
                     "loads_a_result", json_number(t->loads), "requested_bytes",
                     json_number(t->requested), "local_traffic_bytes", json_number(t->local),
                     "flops", json_number(t->flops), "first_requested_bytes", json_number(t->first),
                     "first", t->first_name, "intensity", json_number(i->asked),
                     "compulsory_intensity", json_number(i->least), "ridge", json_number(i->ridge),
                     "ridge_limit", i->limit, "problem_is",
                     placed && i->least > 0 ? intensity_word(i->least, i->ridge) : "", "kernel_is",
                     placed && i->asked > 0 ? intensity_word(i->asked, i->ridge) : "");
}

static json_t *json_explanation(const explanation *x, const result_row *row, const limits *l)
{
    const limit of = memory_limit(row);
    const intensity i = intensity_of(&x->traffic, l, row->precision);
    json_t *commands = json_array(), *document;

    for (size_t k = 0; k < x->count; k++) {
        const explained *c = &x->command[k];

        json_array_append_new(commands,
                              json_command(x, c, share_of(c->bytes, c->time.median_ns, l, of)));
    }
    document = json_pack(
        "{s:s, s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "schema", "tessera-explain-1", "op", row->op, "problem", json_text(row->problem), "name",
        json_text(x->name), "device_id", row->device_id, "device", json_text(row->device),
        "parameters", json_text(x->parameters), "compulsory_bytes", json_number(x->compulsory),
        "limit", limit_name(of), "limit_gb_per_s", json_number(l ? l->of[of].value : 0), "bytes",
        json_number(explain_bytes(x)), "call", json_times(&x->call), "between",
        json_times(&x->between), "to_device_ns", json_number(row->to_device_ns), "from_device_ns",
        json_number(row->from_device_ns), "copied_bytes",
        json_number(row->to_device_bytes + row->from_device_bytes), "commands", commands);
    if (document)
        json_object_update_new(document, json_traffic(&x->traffic, &i));
    if (document)
        json_object_set_new(document, "unstated", json_text(x->unstated ? x->unstated : ""));
    return document;
}

int explain_print_json(const explanation *x, const result_row *row, const limits *l)
{
    json_t *document = json_explanation(x, row, l);
    char *line = document ? json_dumps(document, JSON_COMPACT) : NULL;
    text out = {0};
    int status = 0;

    if (line)
        text_append_json(&out, line);
    if (!line || out.failed)
        status = out_of_memory();
    else
        puts(text_get(&out));
    text_free(&out);
    free(line);
    json_decref(document);
    fflush(stdout);
    return status;
}
