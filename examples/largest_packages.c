/**
 * Finds the largest packages of Debian 12 by sorting the sizes of all.
 *
 *     largest_packages DATA_FOLDER [DEVICE]
 *
 * debian_sizes_kib.npy holds the installed size of 63436 packages in KiB, and
 * line i of debian_names.txt is the name of package i.  Sorting the sizes alone
 * would lose whose they are; an argsort also gives the position that each one
 * had, and so the name.  It is stable: packages of one size stay in the order of
 * the file.
 *
 * The ten largest are looked for again by a plain scan, without the library.
 * Exits with 0 only if both agree.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "example.h"
#include "read_data.h"
#include "tessera/tessera.h"

enum { LARGEST = 10 };

/* Positions of the largest sizes, the largest first; of equal ones the earlier.  n >= LARGEST. */
static void scan_for_largest(const uint32_t *sizes, size_t n, size_t largest[LARGEST])
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        size_t place = count;

        while (place > 0 && sizes[i] > sizes[largest[place - 1]])
            place--;
        if (place == LARGEST)
            continue;
        if (count < LARGEST)
            count++;
        for (size_t k = count - 1; k > place; k--)
            largest[k] = largest[k - 1];
        largest[place] = i;
    }
}

/* Prints the head of the order; true if it is what the scan found. */
static bool report(const uint32_t *sorted, const int64_t *order, const lines *names,
                   const size_t largest[LARGEST])
{
    bool same = true;

    for (size_t i = 0; i < LARGEST; i++) {
        printf("  %9lu KiB  %s\n", (unsigned long)sorted[i], names->line[order[i]]);
        same &= order[i] == (int64_t)largest[i];
    }
    printf("  %s\n", same ? "the scan finds the same" : "the scan does NOT find the same");
    return same;
}

static tsr_status sort_packages(tsr_session *session, const tsr_device *device, const char *folder,
                                bool *as_known, tsr_error *err)
{
    tsr_sort_problem problem = {.type = TSR_U32, .descending = true, .argsort = true};
    array sizes = {0};
    lines names = {0};
    int64_t *order = NULL;
    size_t largest[LARGEST] = {0};
    tsr_report done;
    tsr_status st;

    st = read_npy(folder, "debian_sizes_kib.npy", TSR_U32, &sizes, err);
    if (st == TSR_OK)
        st = read_lines(folder, "debian_names.txt", sizes.rows, &names, err);
    if (st != TSR_OK)
        goto cleanup;
    if (sizes.rows < LARGEST) {
        st = example_fail(err, TSR_EINVAL, "%zu packages are too few", sizes.rows);
        goto cleanup;
    }
    order = calloc(sizes.rows, sizeof(*order));
    if (!order) {
        st = example_fail(err, TSR_ENOMEM, "no memory for the order");
        goto cleanup;
    }
    scan_for_largest(sizes.values, sizes.rows, largest); /* the sort is in place: scan before it */
    problem.n = sizes.rows;
    st = tsr_sort(session, &problem, &(tsr_sort_arrays){.keys = sizes.values, .index = order}, NULL,
                  &done, err);
    if (st != TSR_OK)
        goto cleanup;
    printf("%zu package sizes on %s\n", sizes.rows, tsr_device_name(device));
    printf("  sort variant %s: %.1f ms, of which %.1f building it\n", done.variant,
           (double)done.wall_ns / 1e6, (double)done.build_ns / 1e6);
    *as_known = report(sizes.values, order, &names, largest);

cleanup:
    free(order);
    lines_free(&names);
    free(sizes.values);
    return st;
}

int main(int argc, char **argv)
{
    return example_main(argc, argv, "largest_packages", sort_packages);
}
