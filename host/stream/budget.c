#include "stream/budget.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/fail.h"
#include "base/sizes.h"

stream_budget stream_budget_of(const tsr_session *s)
{
    const device_facts *d = session_facts(s);
    const size_t most = (size_t)(d->global_memory / 4 * 3), device_memory = s->host_calls_memory;

    return (stream_budget){.all = device_memory ? size_min(device_memory, most) : most,
                           .each = (size_t)d->max_allocation,
                           .max = most,
                           .limited = device_memory != 0};
}

size_t stream_bytes(const problem *p)
{
    operand o[OPERANDS_MAX];
    size_t total = 0;

    for (size_t i = 0, n = p->op->operands(p, o); i < n; i++)
        if (!size_add(total, o[i].bytes, &total))
            return SIZE_MAX;
    return total;
}

bool stream_holds(const stream_budget *budget, const problem *p)
{
    operand o[OPERANDS_MAX];

    for (size_t i = 0, n = p->op->operands(p, o); i < n; i++)
        if (o[i].bytes > budget->each)
            return false;
    return stream_bytes(p) <= budget->all;
}

size_t stream_piece_bytes(size_t all, size_t most)
{
    const size_t wanted = size_min(size_max(all / PIECES_WANTED, PIECE_MIN), PIECE_MAX);

    return size_min(wanted, most);
}

tsr_status stream_refuse(tsr_error *err, const char *op, const stream_budget *budget, size_t bytes,
                         const char *what, ...)
{
    char name[160];
    const bool by_buffer = bytes <= budget->all; /* what binds is the size of one */
    va_list args;

    va_start(args, what);
    vsnprintf(name, sizeof(name), what, args);
    va_end(args);
    return tsr_fail(err, TSR_EOVERFLOW, 0, "%s: %s need %zu bytes at once, and %zu are allowed%s",
                    op, name, bytes, by_buffer ? budget->each : budget->all,
                    by_buffer ? " in a buffer" : "");
}
