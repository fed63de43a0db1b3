/* Variants in C at each instruction set that this processor has, whatever operations there are:
 * what runs by default is its best one alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/isa.h"
#include "core/registry.h"
#include "measure/verify.h"
#include "tessera/tessera.h"

static isa now;
static bool whole;

/* In place of the library's. */
isa isa_best(void)
{
    return now;
}

static size_t rows;

static bool is_right(const verify_row *row, void *context)
{
    (void)context;
    rows += row->problems > 0;
    if (row->failed)
        fail_msg("%s/%s at isa %d: %s", row->op->name, row->variant->name, (int)now, row->detail);
    return true;
}

static void run_all(tsr_session *s)
{
    verify_options options = {.seed = 1, .defaults = true, .tiny = !whole};
    tsr_error err = {0};

    for (size_t i = 0; i < operation_count; i++)
        for (size_t v = 0; v < operations[i]->variant_count; v++) {
            if (!operations[i]->variants[v]->serves_cpus)
                continue;
            options.variant = operations[i]->variants[v]->name;
            if (verify_operation(s, operations[i], &options, is_right, NULL, &err))
                fail_msg("%s", err.message);
        }
}

static bool processor_has(isa which)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    return which == ISA_BASE ||
           (which == ISA_AVX2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) ||
           (which == ISA_AVX512 && __builtin_cpu_supports("avx512f") &&
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512dq"));
#else
    return which == ISA_BASE;
#endif
}

/* Each has the tiny sweep.  The whole one of the processor's best is device/OP/host; of the others
 * the best has it here, all of them with TESSERA_LONG=1. */
static bool is_due(isa which)
{
    const char *asked = getenv("TESSERA_LONG");
    const bool is_long = asked && !strcmp(asked, "1");
    isa best = ISA_BASE;

    while (best + 1 < ISA_COUNT && processor_has((isa)(best + 1)))
        best++;
    if (!whole || best == ISA_BASE)
        return which <= best;
    return which + 1 == best || (which < best && is_long);
}

static void every_instruction_set_is_right(void **state)
{
    tsr_devices *list = NULL;
    tsr_session *s = NULL;
    tsr_error err = {0};

    (void)state;
    if (tsr_devices_find_host(&list, &err) ||
        tsr_session_open(tsr_devices_get(list, 0), NULL, &s, &err))
        fail_msg("%s", err.message);
    for (now = ISA_BASE; now < ISA_COUNT; now++) {
        if (!is_due(now))
            continue;
        rows = 0;
        run_all(s);
        assert_true(rows > 0);
    }
    tsr_session_close(s);
    tsr_devices_close(list);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_instruction_set_is_right)};

    (void)argv;
    whole = argc > 1;
    return cmocka_run_group_tests_name("instruction sets", tests, NULL, NULL);
}
