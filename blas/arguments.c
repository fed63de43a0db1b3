#include "blas/arguments.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "blas/xerbla.h"

/* The reference's words for C's options, by their position among Fortran's arguments. */
static const char *option_name(const blas_call *call, int position, int *value)
{
    const struct {
        bool there;
        const char *name;
        int value;
    } options[] = {
        {blas_has_side(call->routine), "Side", call->side},
        {call->routine != BLAS_GEMM, "Uplo", call->uplo},
        {blas_has_trans(call->routine), call->routine == BLAS_GEMM ? "TransA" : "Trans",
         call->transa},
        {call->routine == BLAS_GEMM, "TransB", call->transb},
        {blas_is_triangular(call->routine), "Diag", call->diag},
    };

    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        position -= options[i].there;
        if (options[i].there && position == 0) {
            *value = options[i].value;
            return options[i].name;
        }
    }
    return "";
}

/* The layout, at position 0, or an option of C's. */
static void report_option(const blas_call *given, int position)
{
    char routine[32];
    int value = given->layout;
    const char *name = position ? option_name(given, position, &value) : "layout";

    snprintf(routine, sizeof routine, "cblas_%s", given->name);
    RowMajorStrg = given->layout == BLAS_ROW_MAJOR;
    cblas_xerbla(position + 1, routine, "Illegal %s setting, %d\n", name, value);
    RowMajorStrg = 0;
}

/* What Fortran's routine does, called from C or not. */
static void report_fortran(const blas_call *call, int position)
{
    /* A handler may take it for an integer of 64 bits. */
    const int info[2] = {position, 0};
    char name[7];

    snprintf(name, sizeof name, "%-6s", call->name);
    for (char *letter = name; *letter; letter++)
        *letter = (char)toupper((unsigned char)*letter);
    CBLAS_CallFromC = call->in_c;
    RowMajorStrg = call->layout == BLAS_ROW_MAJOR;
    xerbla_(name, info, strlen(name));
    CBLAS_CallFromC = 0;
    RowMajorStrg = 0;
}

bool blas_take_arguments(blas_call *call)
{
    const blas_call given = *call;
    const bool real = call->type == 's' || call->type == 'd';
    int position;

    if (!blas_layout_is_legal(call)) {
        report_option(&given, 0);
        return false;
    }
    position = blas_illegal_option(call);
    if (position) {
        /* Whether a rank update may be conjugated is for Fortran's routine to say. */
        const bool is_fortrans =
            !call->in_c || (position == 2 && blas_is_rank_update(call->routine) &&
                            (call->transa == 'T' || call->transa == 'C'));

        if (is_fortrans)
            report_fortran(&given, position);
        else
            report_option(&given, position);
        return false;
    }
    if (call->layout == BLAS_ROW_MAJOR)
        blas_transpose_equation(call);
    position = blas_illegal_size(call);
    if (position) {
        report_fortran(call, position);
        return false;
    }
    if (real && call->transa == 'C')
        call->transa = 'T';
    if (real && call->transb == 'C')
        call->transb = 'T';
    return true;
}
