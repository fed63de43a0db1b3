/* Calls of matvec on host memory, streamed through a device in pieces.  Needs an OpenCL device of
 * the type CPU, such as PoCL's. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "ops/matvec/matvec_shape.h"
#include "stream_fixture.h"

static void applies_as_host(fixture *f, const tsr_matvec_problem *p, size_t memory, size_t chunks)
{
    const problem q = matvec_problem(*p);

    computes_as_host(f, &q, memory, chunks);
}

enum { ROWS = 20, COLUMNS = 30, PRODUCTS = 7, LINE = 4 * COLUMNS, VECTORS = 4 * (ROWS + COLUMNS) };

static tsr_matvec_problem vectors_problem(void)
{
    return (tsr_matvec_problem){.rows = ROWS,
                                .columns = COLUMNS,
                                .alpha = 2,
                                .batch = PRODUCTS,
                                .stride_a = ROWS * COLUMNS,
                                .stride_x = COLUMNS,
                                .stride_y = ROWS};
}

/* Plain or transposed, y not read or read. */
static tsr_matvec_problem vectors_form(int form)
{
    tsr_matvec_problem p = vectors_problem();

    p.trans = form & 1;
    p.stride_x = p.trans ? ROWS : COLUMNS;
    p.stride_y = p.trans ? COLUMNS : ROWS;
    p.beta = form & 2 ? 3 : 0;
    return p;
}

/* Whole products, 2 to a group where each of three slots has room for as many. */
static void matrices_go_in_groups(void **state)
{
    enum { OWN = ROWS * LINE + VECTORS };
    fill_whole(*state);
    for (int form = 0; form < 4; form++) {
        const tsr_matvec_problem p = vectors_form(form);

        applies_as_host(*state, &p, PRODUCTS * OWN, 0);
        applies_as_host(*state, &p, PRODUCTS * OWN - 1, 4);
        applies_as_host(*state, &p, 3 * OWN, 7);
        applies_as_host(*state, &p, 2 * OWN, 7);
    }
}

/* Panels of each matrix, of 4 lines and of one; beside vectors of two products, and of one. */
static void matrices_go_in_panels(void **state)
{
    fill_whole(*state);
    for (int form = 0; form < 4; form++) {
        const tsr_matvec_problem p = vectors_form(form);

        applies_as_host(*state, &p, 2 * VECTORS + 3 * 4 * LINE, PRODUCTS * ROWS / 4);
        applies_as_host(*state, &p, 2 * VECTORS + 3 * LINE, PRODUCTS * ROWS);
        applies_as_host(*state, &p, VECTORS + 3 * LINE, PRODUCTS * ROWS);
    }
}

/* Vectors of one matrix: in groups beside it, or, where it has no room beside them, its panels for
 * as many vectors as half of the room holds. */
static void vectors_share_a_matrix(void **state)
{
    enum { PASS = 4, PANEL = 3, PANELS = 2 * (ROWS / PANEL + 1) };
    tsr_matvec_problem p = vectors_problem();

    fill_whole(*state);
    p.stride_a = 0;
    for (int form = 0; form < 2; form++) {
        p.beta = form;
        applies_as_host(*state, &p, PASS * VECTORS + 3 * PANEL * LINE, PANELS);
        applies_as_host(*state, &p, VECTORS + 3 * LINE, PRODUCTS * ROWS);
    }
    p.batch = 200;
    applies_as_host(*state, &p, ROWS * LINE + 3 * 10 * VECTORS, 20);
    p.stride_x = 0;
    applies_as_host(*state, &p, ROWS * LINE + LINE + 3 * 10 * 4 * ROWS, 20);
}

/* Vectors whose elements lie apart, and results of 16 bits to which panels add, through a copy in
 * the type of the sums; for one matrix in two passes. */
static void results_go_through_a_copy(void **state)
{
    enum { PASS = 4, PANEL = 3, PANELS = 2 * (ROWS / PANEL + 1) };

    fill_whole(*state);
    for (int form = 0; form < 16; form++) {
        tsr_matvec_problem p = vectors_form(form & 3);
        const size_t size = form & 4 ? 2 : 4, incy = form & 4 && p.trans ? 1 : 3;
        const size_t vectors = size * p.stride_x + 4 * p.stride_y; /* of a product */

        p.type = form & 4 ? TSR_BF16 : TSR_F32;
        p.incx = 2;
        p.incy = incy;
        p.stride_x *= 2;
        p.stride_y *= incy;
        if (form & 8) {
            p.stride_a = 0;
            applies_as_host(*state, &p,
                            PASS * vectors + (form & 4 ? PASS * vectors : 3 * PANEL * LINE),
                            PANELS);
        }
        applies_as_host(*state, &p, vectors + 3 * COLUMNS * size, PRODUCTS * ROWS);
    }
}

/* Products of a group; 0: there are none. */
static size_t group_of(const partition *p)
{
    return p->kind && strcmp(p->kind->name, "groups") == 0 ? p->cut[0] : 0;
}

/* A shared matrix as large as a buffer may be leaves groups as they are, which are no larger. */
static void a_shared_matrix_may_fill_a_buffer(void **state)
{
    enum { MATRIX = ROWS * LINE, GROUP = 10, MEMORY = MATRIX + 3 * GROUP * VECTORS };
    problem p = matvec_problem(vectors_problem());
    tsr_session *s = open_session(*state, PAGEABLE, 0);
    partition how;

    matvec_in(&p)->stride_a = 0;
    matvec_in(&p)->batch = 200;
    s->device.facts.max_allocation = MATRIX;
    how = chosen_for(s, &p, MEMORY);
    assert_int_equal(group_of(&how), GROUP);
    s->device.facts.max_allocation = GROUP / 2 * 4 * COLUMNS;
    matvec_in(&p)->rows = 5;
    how = chosen_for(s, &p, MEMORY);
    assert_int_equal(group_of(&how), GROUP / 2);
    s->device.facts.max_allocation = MATRIX - 1;
    matvec_in(&p)->rows = ROWS;
    how = chosen_for(s, &p, MEMORY);
    assert_int_equal(group_of(&how), 0);
    tsr_session_close(s);
}

/* What holds neither a line in each slot beside a product's vectors is refused; y is as it was. */
static void vectors_that_do_not_fit_are_refused(void **state)
{
    const tsr_matvec_problem p = vectors_problem();
    fixture *f = *state;
    tsr_session *s = open_session(f, PAGEABLE, VECTORS + 3 * LINE - 1);
    arrays a = take_arrays(f, s, PAGEABLE);
    tsr_error err = {0};

    assert_int_equal(tsr_matvec(s, &p, a.at[0], a.at[1], a.at[2], NULL, NULL, &err), TSR_EOVERFLOW);
    if (!strstr(err.message, "x, y and 3 lines of A need 560 bytes at once, and 559 are allowed"))
        fail_msg("%s", err.message);
    assert_memory_equal(a.at[2], f->before[2], ROOM);
    drop_arrays(s, PAGEABLE, &a);
    tsr_session_close(s);
}

static problem matrices(size_t rows, size_t columns, size_t batch)
{
    return matvec_problem((tsr_matvec_problem){.rows = rows,
                                               .columns = columns,
                                               .alpha = 1,
                                               .batch = batch,
                                               .stride_a = rows * columns,
                                               .stride_x = columns,
                                               .stride_y = rows});
}

static void too_many_pieces_are_refused(void **state)
{
    /* Each in bytes that hold what has to be there at once. */
    const struct {
        problem problem;
        size_t bytes;
    } cases[] = {
        {matrices(5000, 100, 1), 20800 + 1200},
        {matrices(10, 100, 500), 440 + 1200},
    };
    tsr_session *s = open_session(*state, PAGEABLE, 0);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        refuses_pieces(s, &cases[i].problem, cases[i].bytes);
    tsr_session_close(s);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_fixture, drop_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(matrices_go_in_groups),
        TEST(matrices_go_in_panels),
        TEST(vectors_share_a_matrix),
        TEST(results_go_through_a_copy),
        TEST(a_shared_matrix_may_fill_a_buffer),
        TEST(vectors_that_do_not_fit_are_refused),
        TEST(too_many_pieces_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
