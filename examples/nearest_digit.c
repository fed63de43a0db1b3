/**
 * Recognises handwritten digits by their nearest neighbour.
 *
 *     nearest_digit DATA_FOLDER [DEVICE]
 *
 * digits.npy holds 1797 images of 8 x 8 grey values, digits_labels.npy the digit
 * that each one shows.  Every image is given the digit of the image nearest to
 * it among all others ("leave one out"), and again the majority of its three
 * nearest.
 *
 * All squared distances are one matrix product.  With one image a row of X,
 *
 *     |x_i - x_j|^2  =  -2 x_i . x_j  +  (|x_i|^2 + |x_j|^2),
 *     D              := -2 X X^T      +  C,
 *
 * which is C := alpha A B^T + beta C with A = B = X, alpha = -2 and beta = 1.
 * Here it is exact: the values are whole numbers from 0 to 16, so that nothing
 * on the way exceeds 2^24, the last whole number that float32 counts to.
 *
 * Exits with 0 only if as many images are right as are known to be.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "example.h"
#include "read_data.h"
#include "tessera/tessera.h"

enum { NEAREST = 3, KNOWN_BY_NEAREST = 1776, KNOWN_BY_MAJORITY = 1777 };

/* C_ij = |x_i|^2 + |x_j|^2, n x n; the caller frees it.  NULL: no memory. */
static float *sums_of_squares(const array *images)
{
    size_t n = images->rows;
    const float *x = images->values;
    float *square = calloc(n, sizeof(*square));
    float *c = calloc(n * n, sizeof(*c));

    if (!square || !c) {
        free(square);
        free(c);
        return NULL;
    }
    for (size_t i = 0; i < n * images->columns; i++)
        square[i / images->columns] += x[i] * x[i];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            c[i * n + j] = square[i] + square[j];
    free(square);
    return c;
}

/* The images nearest to image i, the nearest first; of equally near ones the earlier. */
static void find_nearest(const float *distances, size_t n, size_t i, size_t nearest[NEAREST])
{
    float best[NEAREST] = {INFINITY, INFINITY, INFINITY};

    for (size_t j = 0; j < n; j++) {
        size_t place = NEAREST;

        if (j == i)
            continue;
        while (place > 0 && distances[i * n + j] < best[place - 1])
            place--;
        for (size_t k = NEAREST - 1; k > place; k--) {
            best[k] = best[k - 1];
            nearest[k] = nearest[k - 1];
        }
        if (place < NEAREST) {
            best[place] = distances[i * n + j];
            nearest[place] = j;
        }
    }
}

static bool report(const char *rule, size_t right, size_t known, size_t n)
{
    printf("  %-22s %zu of %zu right (%.5f), %s\n", rule, right, n, (double)right / (double)n,
           right == known ? "as known" : "NOT as known");
    return right == known;
}

/* Gives every image a digit by its neighbours; true if that went as well as is known. */
static bool classify(const float *distances, const int *label, size_t n)
{
    size_t by_nearest = 0, by_majority = 0;
    bool as_known;

    for (size_t i = 0; i < n; i++) {
        size_t near[NEAREST] = {0};
        int first, second, third;

        find_nearest(distances, n, i, near);
        first = label[near[0]];
        second = label[near[1]];
        third = label[near[2]];
        by_nearest += first == label[i];
        /* Only where the other two agree against it does the nearest lose. */
        by_majority += (second == third ? second : first) == label[i];
    }
    as_known = report("by the nearest", by_nearest, KNOWN_BY_NEAREST, n);
    as_known &= report("by the majority of 3", by_majority, KNOWN_BY_MAJORITY, n);
    return as_known;
}

static tsr_status recognise(tsr_session *session, const tsr_device *device, const char *folder,
                            bool *as_known, tsr_error *err)
{
    tsr_matmul_problem problem = {.type = TSR_F32, .trans_b = true, .alpha = -2, .beta = 1};
    array images = {0}, labels = {0};
    float *distances = NULL;
    tsr_report done;
    tsr_status st;

    st = read_npy(folder, "digits.npy", TSR_F32, &images, err);
    if (st == TSR_OK)
        st = read_npy(folder, "digits_labels.npy", TSR_I32, &labels, err);
    if (st != TSR_OK)
        goto cleanup;
    if (labels.rows != images.rows) {
        st = example_fail(err, TSR_EINVAL, "%zu labels for %zu images", labels.rows, images.rows);
        goto cleanup;
    }
    distances = sums_of_squares(&images);
    if (!distances) {
        st = example_fail(err, TSR_ENOMEM, "no memory for the distances");
        goto cleanup;
    }
    problem.m = images.rows;
    problem.n = images.rows;
    problem.k = images.columns;
    st = tsr_matmul(session, &problem, images.values, images.values, distances, NULL, &done, err);
    if (st != TSR_OK)
        goto cleanup;
    printf("%zu handwritten digits on %s\n", images.rows, tsr_device_name(device));
    printf("  matmul variant %s: %.1f ms, of which %.1f building it\n", done.variant,
           (double)done.wall_ns / 1e6, (double)done.build_ns / 1e6);
    *as_known = classify(distances, labels.values, images.rows);

cleanup:
    free(distances);
    free(labels.values);
    free(images.values);
    return st;
}

int main(int argc, char **argv)
{
    return example_main(argc, argv, "nearest_digit", recognise);
}
