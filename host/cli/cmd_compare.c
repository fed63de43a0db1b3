#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "cli/commands.h"
#include "cli/compare_print.h"
#include "cli/messages.h"
#include "cli/terminal.h"
#include "file/output.h"
#include "measure/report.h"
#include "measure/roofline.h"

/* The files of the command line, and what owns their rows. */
typedef struct inputs {
    compare_file *file;   /* what is compared */
    compare_file *errors; /* the rows of errors */
    result_row **rows;
    size_t count;
} inputs;

static void inputs_free(inputs *in)
{
    for (size_t i = 0; in->rows && i < in->count; i++)
        free(in->rows[i]);
    free(in->rows);
    free(in->file);
    free(in->errors);
}

/* The rows of a file in two parts, each in its order: those of errors are moved behind the others.
 */
static tsr_status part_errors(result_row *rows, size_t count, compare_file *others,
                              compare_file *of_errors, tsr_error *err)
{
    result_row *errors = malloc((count + 1) * sizeof *errors);
    size_t kept = 0, moved = 0;

    if (!errors)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu rows", count);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].kind == RESULT_ERROR)
            errors[moved++] = rows[i];
        else
            rows[kept++] = rows[i];
    }
    memcpy(rows + kept, errors, moved * sizeof *errors);
    free(errors);
    others->rows = rows;
    others->count = kept;
    of_errors->rows = rows + kept;
    of_errors->count = moved;
    return TSR_OK;
}

/* The limits of a row's device, of its own file before those of others. */
static void limits_of(const inputs *in, size_t file, const result_row *row, limits *out)
{
    *out = (limits){0};
    for (size_t i = 0; i <= in->count; i++) {
        const compare_file *f = &in->file[i < in->count ? i : file];

        for (size_t k = 0; k < f->count; k++)
            if (result_same_driver(&f->rows[k], row))
                roofline_note(&f->rows[k], out);
    }
}

/* What was measured before the limits were has its place under them, too. */
static void place_rows(inputs *in)
{
    for (size_t i = 0; i < in->count; i++) {
        for (size_t k = 0; k < in->file[i].count; k++) {
            result_row *row = &in->rows[i][k];
            limits l;

            if (row->kind != RESULT_KERNEL || row->place == RESULT_ON_HOST ||
                !compare_has_rate(row) || row->share > 0)
                continue;
            limits_of(in, i, row, &l);
            roofline_place(&l, row);
        }
    }
}

static tsr_status inputs_read(const options *o, inputs *in, tsr_error *err)
{
    in->file = calloc(o->operand_count, sizeof *in->file);
    in->errors = calloc(o->operand_count, sizeof *in->errors);
    in->rows = calloc(o->operand_count, sizeof *in->rows);
    if (!in->file || !in->errors || !in->rows)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for %zu files", o->operand_count);
    in->count = o->operand_count;
    for (size_t i = 0; i < in->count; i++) {
        size_t count;
        tsr_status st = result_read_file(o->operand[i], &in->rows[i], &count, err);

        st = st ? st : part_errors(in->rows[i], count, &in->file[i], &in->errors[i], err);
        if (st)
            return st;
        in->file[i].path = in->errors[i].path = o->operand[i];
    }
    place_rows(in);
    return TSR_OK;
}

static tsr_status format(const options *o, const comparison *c, text *out, tsr_error *err)
{
    const bool to_file = o->given[OPTION_OUTPUT] && strcmp(o->value[OPTION_OUTPUT], "-") != 0;

    if (o->given[OPTION_JSON])
        return compare_as_json(c, o->fail_below, out, err);
    if (!o->given[OPTION_CSV])
        return compare_as_text(c, o->fail_below,
                               to_file ? WIDTH_USUAL : terminal_width(STDOUT_FILENO), out, err);
    compare_as_csv(c, out);
    return TSR_OK;
}

static tsr_status write_text(output **to, const text *t, tsr_error *err)
{
    tsr_status st;

    if (t->failed)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for the comparison");
    st = output_write_bytes(*to, text_get(t), t->length, err);
    if (st)
        return st;
    st = commit_and_warn(*to, err);
    *to = NULL; /* freed, also on failure */
    return st;
}

/* Where the comparison goes. */
typedef struct outputs {
    output *table, *page; /* page: NULL without --html */
} outputs;

/* -o and --html name files of their own: checked before a result is read, and not after it is lost.
 */
static tsr_status check_output(const options *o, const output *to, const char *option,
                               const char *path, tsr_error *err)
{
    for (size_t i = 0; i < o->operand_count; i++)
        if (output_is(to, o->operand[i]))
            return tsr_fail(err, TSR_ENAME, 0, "%s %s would overwrite the input %s", option, path,
                            o->operand[i]);
    return TSR_OK;
}

static tsr_status outputs_open(const options *o, outputs *out, tsr_error *err)
{
    const char *table_path = o->given[OPTION_OUTPUT] ? o->value[OPTION_OUTPUT] : "-";
    const char *page_path = o->value[OPTION_HTML];
    tsr_status st = output_open(table_path, &out->table, err);

    st = st ? st : check_output(o, out->table, "-o", table_path, err);
    if (!st && page_path)
        st = output_open(page_path, &out->page, err);
    if (!st && page_path)
        st = check_output(o, out->page, "--html", page_path, err);
    if (!st && page_path && output_same(out->table, out->page))
        st = tsr_fail(err, TSR_ENAME, 0,
                      "the table and the page would both be written to '%s': give one of them "
                      "another file (-o, --html)",
                      page_path);
    return st;
}

/* The page, then the table: both are made before either is put in place. */
static tsr_status write_outputs(const options *o, const comparison *c, const compare_file *errors,
                                outputs *out, tsr_error *err)
{
    text table = {0}, page = {0};
    tsr_status st = format(o, c, &table, err);

    if (!st && out->page)
        st = report_html(c, errors, &page, err);
    if (!st && out->page)
        st = write_text(&out->page, &page, err);
    if (!st)
        st = write_text(&out->table, &table, err);
    if (!st && page.length && !o->given[OPTION_QUIET] && strcmp(o->value[OPTION_HTML], "-") != 0)
        print_plain(stderr, "page: %s\n", o->value[OPTION_HTML]);
    text_free(&table);
    text_free(&page);
    return st;
}

/* Columns of one file are devices: none has lost what another has. */
static bool is_of_base_file(const comparison *c, size_t column)
{
    return c->columns[column].file == c->columns[c->columns[column].base].file;
}

/* Name what the later columns lack; it fails nothing. */
static void report_missing(const comparison *c)
{
    for (size_t j = 0; j < c->column_count; j++) {
        size_t missing = 0, first = 0;
        text name = {0};

        if (is_of_base_file(c, j))
            continue;
        for (size_t i = 0; i < c->line_count; i++) {
            if (compare_judge(c, i, j).outcome == COMPARE_MISSING && missing++ == 0)
                first = i;
        }
        if (!missing)
            continue;
        compare_group_name(c->lines[first].what, &name);
        text_append(&name, ": ");
        compare_name(&c->lines[first], &name);
        hint("%zu of the rates of [%zu] %s missing in [%zu] %s, the first: %s", missing,
             c->columns[j].base + 1, missing == 1 ? "is" : "are", j + 1,
             c->files[c->columns[j].file].path, text_get(&name));
        text_free(&name);
    }
}

static void append_loss(const comparison *c, size_t line, size_t column, text *out)
{
    compare_verdict v = compare_judge(c, line, column);

    if (out->length)
        text_append(out, "; ");
    compare_group_name(c->lines[line].what, out);
    text_append(out, ": ");
    compare_name(&c->lines[line], out);
    if (compare_broken(&v))
        text_format(out, " (%s in %s)", result_outcome_name(v.row->outcome),
                    c->files[c->columns[column].file].path);
    else
        text_format(out, " (%.3f of that in %s, within the noise %.3f at most, in %s)", v.ratio,
                    c->files[c->columns[c->columns[column].base].file].path, v.favourable,
                    c->files[c->columns[column].file].path);
}

/* Status 3 where a rate is lost.  Columns of the first file are compared with, not judged. */
static int judge(const options *o, const comparison *c)
{
    size_t judged = 0, lost = 0;
    text losses = {0};
    tsr_error err = {0};

    for (size_t i = 0; i < c->line_count; i++) {
        for (size_t j = 0; j < c->column_count; j++) {
            compare_verdict v = compare_judge(c, i, j);

            if (is_of_base_file(c, j) || !(compare_judged(&v) || compare_broken(&v)))
                continue;
            judged++;
            if (compare_lost(&v, o->fail_below)) {
                append_loss(c, i, j, &losses);
                lost++;
            }
        }
    }
    if (!judged)
        tsr_fail(
            &err, TSR_EINVAL, 0,
            "no variant or limit has a rate of %d samples or more in two files: --fail-below has "
            "nothing to judge",
            COMPARE_SAMPLES_MIN);
    else if (lost)
        tsr_fail(&err, TSR_EBOUND, 0, "%zu of %zu rates %s below %g times the earlier file's: %s",
                 lost, judged, lost == 1 ? "is" : "are", o->fail_below, text_get(&losses));
    text_free(&losses);
    return err.status == TSR_OK ? EXIT_DONE : print_error(o->command, &err, NULL);
}

int cmd_compare(const options *o)
{
    inputs in = {0};
    outputs out = {0};
    comparison c = {0};
    tsr_error err = {0};
    tsr_status st;
    int status = EXIT_DONE;

    for (size_t i = 0; i < o->operand_count; i++)
        if (!strcmp(o->operand[i], "-"))
            return wrong_usage("compare: '-' is standard input, and compare reads files");
    if (o->given[OPTION_FAIL_BELOW] && o->operand_count < 2)
        return wrong_usage("compare: --fail-below needs two files or more, and one is given");
    st = outputs_open(o, &out, &err);
    if (!st)
        st = inputs_read(o, &in, &err);
    if (!st)
        st = compare_build(in.file, in.count, &c, &err);
    if (!st)
        st = write_outputs(o, &c, in.errors, &out, &err);
    if (st) {
        status = print_error(o->command, &err, NULL);
    } else {
        if (!o->given[OPTION_QUIET])
            report_missing(&c);
        if (o->given[OPTION_FAIL_BELOW])
            status = judge(o, &c);
    }
    output_discard(out.table);
    output_discard(out.page);
    compare_close(&c);
    inputs_free(&in);
    return status;
}
