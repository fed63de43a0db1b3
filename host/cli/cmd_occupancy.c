/* tessera occupancy: how many groups a compute unit holds, and what runs out first. */
#include <jansson.h>
#include <stdio.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "cli/commands.h"
#include "cli/device_choice.h"
#include "cli/json_print.h"
#include "cli/messages.h"
#include "measure/occupancy.h"
#include "session/state.h"

enum { WARP = 32, LOCAL_STEP = 128 };

/* A kernel's needs. */
typedef struct needs {
    size_t group, registers, local;
} needs;

/* What a unit holds of it. */
typedef struct residency {
    size_t groups, items;
    double occupancy; /* 0 to 1 */
    const char *bound;
} residency;

static residency residency_of(const unit_capacity *unit, needs n)
{
    residency h;

    h.occupancy = occupancy_of(unit, n.group, n.registers, n.local, &h.bound);
    /* Work-items come in whole warps, of which a group's last one may be half empty. */
    h.items = (size_t)(h.occupancy * (double)unit->items + 0.5);
    h.groups = h.items / size_round_up(n.group, WARP);
    return h;
}

static void print_residency(const char *label, const residency *h)
{
    printf("  %-12s %6zu  %10zu  %8.1f%%  %s\n", label, h->groups, h->items, 100 * h->occupancy,
           h->bound);
}

static void print_heading(const char *first)
{
    printf("  %-12s %6s  %10s  %9s  %s\n", first, "groups", "work-items", "occupancy",
           "runs out first");
}

/* The least change of one need that lets more groups in. */
static void advise(const unit_capacity *unit, needs n)
{
    const residency now = residency_of(unit, n);
    bool said = false;

    for (size_t r = n.registers; --r > 0;) {
        const residency h = residency_of(unit, (needs){n.group, r, n.local});

        if (h.occupancy > now.occupancy) {
            printf("  %zu registers or fewer: %zu at once, %.1f%%\n", r, h.groups,
                   100 * h.occupancy);
            said = true;
            break;
        }
    }
    for (size_t bytes = size_min(size_round_up(n.local, LOCAL_STEP), unit->local);
         bytes >= LOCAL_STEP;) {
        residency h;

        bytes -= LOCAL_STEP;
        h = residency_of(unit, (needs){n.group, n.registers, bytes});
        if (h.occupancy > now.occupancy) {
            printf("  %zu bytes of local memory or fewer: %zu at once, %.1f%%\n", bytes, h.groups,
                   100 * h.occupancy);
            said = true;
            break;
        }
    }
    for (size_t step = 1; step < OCCUPANCY_GROUP_MAX / WARP; step++) {
        /* Nearer sizes first, smaller ones before larger ones. */
        const size_t smaller = size_round_up(n.group, WARP) - step * WARP;
        const size_t larger = size_round_up(n.group, WARP) + step * WARP;
        const size_t sizes[] = {smaller < n.group ? smaller : 0, larger};

        for (size_t i = 0; i < 2; i++) {
            const needs other = {sizes[i], n.registers, n.local};

            if (sizes[i] == 0 || sizes[i] > OCCUPANCY_GROUP_MAX ||
                !(residency_of(unit, other).occupancy > now.occupancy))
                continue;
            printf("  groups of %zu: %zu at once, %.1f%%\n", sizes[i],
                   residency_of(unit, other).groups, 100 * residency_of(unit, other).occupancy);
            said = true;
            step = OCCUPANCY_GROUP_MAX;
            break;
        }
    }
    if (!said)
        printf("  nothing: no change of one need alone lets more in\n");
}

/* One compute capability: beside what is asked for, other sizes of groups and other registers. */
static void print_one(unsigned capability, needs n)
{
    static const size_t groups[] = {32, 64, 128, 256, 512, 1024};
    static const size_t registers[] = {16, 24, 32, 40, 48, 64, 80, 96, 128, 168, 255};
    unit_capacity unit;
    residency h;
    char label[32];

    occupancy_capacity(capability, &unit);
    h = residency_of(&unit, n);
    printf(
        "compute capability %u.%u: a unit holds %zu work-items, %zu groups, %zu registers and %zu "
        "KiB of local memory%s\n\n",
        capability / 10, capability % 10, unit.items, unit.groups, unit.registers,
        unit.local / 1024, unit.local_each ? ", of which each group takes 1 KiB more" : "");
    print_heading("");
    print_residency("asked for", &h);
    if (h.occupancy < 1) {
        printf("\nMore work-items fit with\n");
        advise(&unit, n);
    }
    printf("\n");
    print_heading("group of");
    for (size_t i = 0; i < ARRAY_COUNT(groups); i++) {
        h = residency_of(&unit, (needs){groups[i], n.registers, n.local});
        snprintf(label, sizeof(label), "%zu", groups[i]);
        print_residency(label, &h);
    }
    printf("\n");
    print_heading("registers");
    for (size_t i = 0; i < ARRAY_COUNT(registers); i++) {
        h = residency_of(&unit, (needs){n.group, registers[i], n.local});
        snprintf(label, sizeof(label), "%zu", registers[i]);
        print_residency(label, &h);
    }
}

static void print_all(needs n)
{
    unsigned capability;

    print_heading("capability");
    for (size_t i = 0; (capability = occupancy_capability_at(i)); i++) {
        unit_capacity unit;
        residency h;
        char label[32];

        occupancy_capacity(capability, &unit);
        h = residency_of(&unit, n);
        snprintf(label, sizeof(label), "%u.%u", capability / 10, capability % 10);
        print_residency(label, &h);
    }
}

static int print_rows(unsigned only, needs n)
{
    json_t *rows = json_array();
    unsigned capability;

    for (size_t i = 0; (capability = occupancy_capability_at(i)); i++) {
        unit_capacity unit;
        residency h;
        char label[32];

        if (only && capability != only)
            continue;
        occupancy_capacity(capability, &unit);
        h = residency_of(&unit, n);
        snprintf(label, sizeof(label), "%u.%u", capability / 10, capability % 10);
        json_array_append_new(rows,
                              json_pack("{s:s, s:o, s:o, s:o, s:s}", "capability", label, "groups",
                                        json_count(h.groups), "work_items", json_count(h.items),
                                        "occupancy", json_number(h.occupancy), "bound", h.bound));
    }
    return json_print(json_pack("{s:s, s:o, s:o, s:o, s:o}", "schema", "tessera-occupancy-1",
                                "group", json_count(n.group), "registers", json_count(n.registers),
                                "local_bytes", json_count(n.local), "rows", rows));
}

/* The compute capability of the device that --device chooses. */
static tsr_status capability_of_device(const options *o, unsigned *out, tsr_error *err)
{
    choice found = {0};
    tsr_session *s = NULL;
    tsr_status st = choice_find_one(o, &found, err);
    unit_capacity unit;

    st = st ? st : choice_open(found.device[0], o, &s, err);
    if (!st) {
        *out = session_facts(s)->nv_capability;
        if (!occupancy_capacity(*out, &unit))
            st = tsr_fail(err, TSR_EUNSUPPORTED, 0,
                          "what a unit of %s holds is not known: OpenCL does not report it, and "
                          "NVIDIA's tables have no such device",
                          tsr_device_name(found.device[0]));
    }
    tsr_session_close(s);
    choice_close(&found);
    return st;
}

int cmd_occupancy(const options *o)
{
    const needs n = {o->group ? o->group : 256, o->registers ? o->registers : 32, o->local};
    unsigned capability = o->capability;
    tsr_error err = {0};

    if (o->given[OPTION_DEVICE] && o->given[OPTION_CAPABILITY])
        return wrong_usage("occupancy: --device and --capability exclude each other");
    if (o->given[OPTION_DEVICE] && capability_of_device(o, &capability, &err))
        return print_error(o->command, &err, NULL);
    if (o->given[OPTION_JSON])
        return print_rows(capability, n);
    printf("groups of %zu work-items", n.group);
    if (n.group % OCCUPANCY_WARP)
        printf(", %zu in whole warps", size_round_up(n.group, OCCUPANCY_WARP));
    printf(", %zu registers each, %zu bytes of local memory a group\n", n.registers, n.local);
    if (capability)
        print_one(capability, n);
    else
        print_all(n);
    return EXIT_DONE;
}
