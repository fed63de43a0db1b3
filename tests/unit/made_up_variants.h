/* Variants that tests make up, and an operation that has them: one launch, whatever the problem. */
#ifndef TESTS_UNIT_MADE_UP_VARIANTS_H
#define TESTS_UNIT_MADE_UP_VARIANTS_H

#include "base/sizes.h"
#include "core/variant.h"

#include "made_up_operation.h"

static inline const char *made_up_plan(const job *j, plan *out)
{
    (void)j;
    plan_launch_1d(out, 0, 64, 64);
    return NULL;
}

static const tunable made_up_tunables[] = {
    {"SIDE", "a side of a tile", {8, 16}, 16},
    {"BLOCK", "sums of a work-item", {2, 4}, 4},
    {"DEPTH", "extent of the tiles", {8, 16, 32}, 16, .alias = "THICK DEEP"},
};

static const variant made_up_plain = {.name = "plain",
                                      .idea = "",
                                      .source = "none.cl",
                                      .entries = {"only"},
                                      .build = "",
                                      .plan = made_up_plan};

static const variant made_up_tiled = {.name = "tiled",
                                      .alias = "covered paved",
                                      .idea = "",
                                      .source = "none.cl",
                                      .entries = {"only"},
                                      .build = "",
                                      .tunables = made_up_tunables,
                                      .tunable_count = ARRAY_COUNT(made_up_tunables),
                                      .plan = made_up_plan};

/* Not of the operation: it has a count of which any is legal. */
static const tunable made_up_counts[] = {
    {"PARTS", "groups that share", {0, 1, 2, 4}, 0, .host_only = true, .any = true}};

static const variant made_up_shared = {
    .name = "shared", .tunables = made_up_counts, .tunable_count = ARRAY_COUNT(made_up_counts)};

static const variant *const made_up_variants[] = {&made_up_plain, &made_up_tiled};

static const operation made_up_operation = {.name = "made up",
                                            .idea = "",
                                            .variants = made_up_variants,
                                            .variant_count = ARRAY_COUNT(made_up_variants),
                                            .check = made_up_check,
                                            .operands = made_up_operands,
                                            .work = made_up_work,
                                            .describe = made_up_describe};

#endif
