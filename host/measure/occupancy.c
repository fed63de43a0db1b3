#include "measure/occupancy.h"

#include <stdio.h>
#include <string.h>

#include "base/sizes.h"

enum {
    REGISTERS_GIVEN = 8, /* of a work-item, in multiples of this */
    WARPS_GIVEN = 4,     /* a unit has four parts with registers of their own */
    LOCAL_GIVEN = 128,   /* bytes, likewise */
    KIB = 1024
};

/* "CUDA Programming Guide", technical specifications per compute capability. */
static const struct {
    unsigned capability;
    unit_capacity unit;
} known[] = {
    {70, {2048, 32, 65536, 96 * KIB, 0, 96 * KIB}},
    {75, {1024, 16, 65536, 64 * KIB, 0, 64 * KIB}},
    {80, {2048, 32, 65536, 164 * KIB, KIB, 163 * KIB}},
    {86, {1536, 16, 65536, 100 * KIB, KIB, 99 * KIB}},
    {87, {1536, 16, 65536, 164 * KIB, KIB, 163 * KIB}},
    {89, {1536, 24, 65536, 100 * KIB, KIB, 99 * KIB}},
    {90, {2048, 32, 65536, 228 * KIB, KIB, 227 * KIB}},
    {100, {2048, 32, 65536, 228 * KIB, KIB, 227 * KIB}},
    {103, {2048, 32, 65536, 228 * KIB, KIB, 227 * KIB}},
    {110, {1536, 24, 65536, 228 * KIB, KIB, 227 * KIB}},
    {120, {1536, 24, 65536, 100 * KIB, KIB, 99 * KIB}},
    {121, {1536, 24, 65536, 100 * KIB, KIB, 99 * KIB}},
};

unsigned occupancy_capability_at(size_t i)
{
    return i < sizeof(known) / sizeof(known[0]) ? known[i].capability : 0;
}

bool occupancy_capacity(unsigned capability, unit_capacity *out)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].capability == capability) {
            *out = known[i].unit;
            return true;
        }
    return false;
}

double occupancy_of(const unit_capacity *unit, size_t group, size_t registers, size_t local,
                    const char **bound)
{
    const size_t warps = size_div_up(group, OCCUPANCY_WARP);
    const size_t of_warp = size_round_up(registers, REGISTERS_GIVEN) * OCCUPANCY_WARP;
    const size_t of_group = size_round_up(local, LOCAL_GIVEN) + unit->local_each;
    size_t groups = unit->items / (warps * OCCUPANCY_WARP);

    *bound = "work-items";
    if (unit->groups < groups) {
        groups = unit->groups;
        *bound = "groups";
    }
    if (of_warp) {
        const size_t held = unit->registers / of_warp / WARPS_GIVEN * WARPS_GIVEN / warps;

        if (held < groups) {
            groups = held;
            *bound = "registers";
        }
    }
    if (of_group && (local > unit->local_group || unit->local / of_group < groups)) {
        groups = local > unit->local_group ? 0 : unit->local / of_group;
        *bound = "local memory";
    }
    return (double)(groups * warps * OCCUPANCY_WARP) / (double)unit->items;
}

bool occupancy_read_log(const char *log, const char *kernel, size_t *registers, size_t *spilled)
{
    static const char spills[] = " bytes spill stores", used[] = "Used ";
    char entry[160];
    const char *at, *end, *line;
    size_t found;

    snprintf(entry, sizeof(entry), "entry function '%s'", kernel);
    at = strstr(log, entry);
    if (!at)
        return false;
    at += strlen(entry);
    end = strstr(at, "entry function '");
    line = strstr(at, used);
    if (!line || (end && line > end) || sscanf(line + strlen(used), "%zu registers", &found) != 1)
        return false;
    *registers = found;
    *spilled = 0;
    line = strstr(at, spills);
    if (!line || (end && line > end))
        return true;
    while (line > at && line[-1] >= '0' && line[-1] <= '9')
        line--;
    sscanf(line, "%zu", spilled);
    return true;
}
