/* Result rows: what is written reads back, and what is no row is refused by its field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "result_rows.h"

static void a_row_reads_back(void **state)
{
    const result_row row = full_row();
    text line = {0}, again = {0};
    result_row got;
    tsr_error err = {0};

    (void)state;
    written(&row, &line);
    assert_int_equal(strchr(text_get(&line), '\n') - text_get(&line), line.length - 1);
    if (result_from_json(text_get(&line), &got, &err))
        fail_msg("%s", err.message);
    written(&got, &again);
    assert_string_equal(text_get(&line), text_get(&again));
    assert_int_equal(got.seed, UINT64_MAX);
    assert_int_equal(got.timer, TIMER_WALL);
    assert_int_equal(got.selected, SELECTED_BY_TUNING);
    assert_int_equal(got.place, RESULT_BY_CUDA);
    assert_true(isinf(got.worst));
    assert_true(got.time.high_ns == 3 && got.time.max_ns == 4.125 && got.rate == 0.1);
    assert_string_equal(got.peer_version, "12.4");
    text_free(&line);
    text_free(&again);
}

/* Rows of overlap too, one of which is a list. */
static void a_row_of_overlap(void **state)
{
    static const char *const own[] = {"memory", "queues", "chunks", "queue_ns"};
    static const char *const wrong[] = {"{}",
                                        "7",
                                        "[7]",
                                        "[[0,\"copy in\",0]]",
                                        "[[0,\"copy in\",0,1,2]]",
                                        "[[2,\"copy in\",0,1]]", /* of queues 0 and 1 */
                                        "[[-1,\"copy in\",0,1]]",
                                        "[[0,\"copy\",0,1]]",
                                        "[[0,\"copy in\",2,1]]",
                                        "[[0,\"copy in\",-1,1]]",
                                        "[[0,\"copy in\",null,1]]"};
    result_row row = full_row(), got;
    text line = {0}, again = {0}, bad = {0};
    const char *at;
    int before;

    (void)state;
    written(&row, &line);
    assert_null(strstr(text_get(&line), "timeline"));
    row.kind = RESULT_OVERLAP;
    strcpy(row.memory, "pinned");
    row.queues = 2;
    row.chunks = 3;
    row.queue_ns = 12.5;
    row.bar_count = RESULT_BARS_MAX;
    for (size_t i = 0; i < RESULT_BARS_MAX; i++)
        row.bars[i] = (result_bar){i % 2, (bar_what)(i % 3), (double)i, (double)i + 0.5};
    written(&row, &line);
    assert_int_equal(result_from_json(text_get(&line), &got, NULL), TSR_OK);
    written(&got, &again);
    assert_string_equal(text_get(&line), text_get(&again));
    assert_int_equal(got.kind, RESULT_OVERLAP);
    assert_int_equal(got.bar_count, RESULT_BARS_MAX);
    assert_int_equal(got.bars[191].queue * 10 + got.bars[191].what, 10 + BAR_COPY_OUT);
    assert_true(got.bars[191].end_ns == 191.5);
    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
        char *without = edited(text_get(&line), own[i], "\"another\":1"), quoted[64];

        snprintf(quoted, sizeof quoted, "field '%s' is missing", own[i]);
        refused(without, quoted);
        free(without);
    }
    at = strstr(text_get(&line), "\"timeline\":") + strlen("\"timeline\":");
    before = (int)(at - text_get(&line));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        text_clear(&bad);
        text_format(&bad, "%.*s%s}", before, text_get(&line), wrong[i]);
        refused(text_get(&bad), "field 'timeline' is not a list of at most 192 bars");
    }
    text_clear(&bad); /* one bar more than there may be */
    text_format(&bad, "%.*s[[0,\"kernel\",0,1],%s", before, text_get(&line), at + 1);
    refused(text_get(&bad), "field 'timeline' is not a list of at most 192 bars");
    text_free(&line);
    text_free(&again);
    text_free(&bad);
}

/* Rows of experiments have fields of their own. */
static void a_row_of_the_laboratory(void **state)
{
    static const char *const own[] = {"experiment", "knob", "x", "ratio", "claim"};
    result_row row = full_row(), got;
    text line = {0}, plain = {0};

    (void)state;
    written(&row, &plain);
    row.kind = RESULT_LAB;
    strcpy(row.experiment, "stride");
    strcpy(row.knob, "words");
    strcpy(row.x, "32");
    row.ratio = 0.125;
    row.claim = 0.03125;
    written(&row, &line);
    assert_int_equal(result_from_json(text_get(&line), &got, NULL), TSR_OK);
    assert_int_equal(got.kind, RESULT_LAB);
    assert_string_equal(got.experiment, "stride");
    assert_string_equal(got.knob, "words");
    assert_string_equal(got.x, "32");
    assert_true(got.ratio == 0.125 && got.claim == 0.03125 && !got.base);
    assert_null(strstr(text_get(&line), "\"base\":"));
    row.base = true;
    text_clear(&line);
    written(&row, &line);
    assert_int_equal(result_from_json(text_get(&line), &got, NULL), TSR_OK);
    assert_true(got.base);
    row.base = false;
    text_clear(&line);
    written(&row, &line);
    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
        char *without = edited(text_get(&line), own[i], "\"another\":1"), quoted[64];

        snprintf(quoted, sizeof quoted, "\"%s\":", own[i]);
        assert_null(strstr(text_get(&plain), quoted));
        snprintf(quoted, sizeof quoted, "field '%s' is missing", own[i]);
        refused(without, quoted);
        free(without);
    }
    text_free(&line);
    text_free(&plain);
}

/* Rows of errors have fields of their own, which no other row has. */
static void a_row_of_errors(void **state)
{
    static const char *const own[] = {"subject",  "family",   "error_max",   "error_rms",
                                      "roundoff", "elements", "class_errors"};
    result_row row = full_row(), got;
    text line = {0}, plain = {0};

    (void)state;
    written(&row, &plain);
    row.kind = RESULT_ERROR;
    row.subject = SUBJECT_PEER;
    strcpy(row.distribution, "wide");
    row.error_max = INFINITY;
    row.error_rms = 2e-7;
    row.roundoff = 0x1p-24;
    row.elements = 12;
    row.class_errors = 3;
    written(&row, &line);
    assert_int_equal(result_from_json(text_get(&line), &got, NULL), TSR_OK);
    assert_int_equal(got.kind, RESULT_ERROR);
    assert_int_equal(got.subject, SUBJECT_PEER);
    assert_string_equal(got.distribution, "wide");
    assert_true(isinf(got.error_max) && got.error_rms == 2e-7 && got.roundoff == 0x1p-24);
    assert_int_equal(got.elements * 10 + got.class_errors, 123);
    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
        char *without = edited(text_get(&line), own[i], "\"another\":1"), quoted[64];

        assert_null(strstr(text_get(&plain), own[i]));
        snprintf(quoted, sizeof(quoted), "'%s' is missing", own[i]);
        refused(without, quoted);
        free(without);
    }
    /* The same fields in a row of another kind. */
    {
        char *other = edited(text_get(&line), "kind", "\"kind\":\"peer\"");

        refused(other, "'subject' is no field of");
        free(other);
    }
    text_free(&line);
    text_free(&plain);
}

/* Rows of what splits factors say how many tiles ran strictly; others have no such field. */
static void a_row_with_tiles(void **state)
{
    result_row row = full_row(), got;
    text line = {0};
    char *other;

    (void)state;
    written(&row, &line);
    assert_null(strstr(text_get(&line), "tiles"));
    row.tiles = 256;
    row.strict_tiles = 12;
    written(&row, &line);
    assert_int_equal(result_from_json(text_get(&line), &got, NULL), TSR_OK);
    assert_int_equal(got.tiles, 256);
    assert_int_equal(got.strict_tiles, 12);
    other = edited(text_get(&line), "strict_tiles", "\"another\":1");
    refused(other, "'strict_tiles' is missing");
    free(other);
    other = edited(text_get(&line), "tiles", "\"another\":1");
    refused(other, "'another' is no field of");
    free(other);
    other = edited(text_get(&line), "tiles", "\"tiles\":0");
    refused(other, "'tiles' is no field of");
    free(other);
    other = edited(text_get(&line), "tiles", "\"tiles\":-1");
    refused(other, "'tiles' is not a whole number");
    free(other);
    other = edited(text_get(&line), "tiles", "\"tiles\":11");
    refused(other, "strict_tiles is 12, and tiles is 11");
    free(other);
    /* Beside those of errors. */
    row.kind = RESULT_ERROR;
    row.elements = 3;
    written(&row, &line);
    assert_int_equal(result_from_json(text_get(&line), &got, NULL), TSR_OK);
    assert_int_equal(got.strict_tiles * 10 + got.elements, 123);
    text_free(&line);
}

/* A member more than the schema has stands for the one that went, so that counts agree. */
static void every_field_is_needed(void **state)
{
    const result_row row = full_row();
    text line = {0}, header = {0};
    size_t count = 0;

    (void)state;
    written(&row, &line);
    result_csv_header(&header);
    for (char *name = strtok(header.data, ",\r\n"); name; name = strtok(NULL, ",\r\n"), count++) {
        char *without = edited(text_get(&line), name, "\"another\":1");
        char quoted[64], value[80];

        snprintf(quoted, sizeof(quoted), "'%s' is missing", name);
        refused(without, quoted);
        free(without);
        snprintf(value, sizeof(value), "\"%s\":[]", name);
        snprintf(quoted, sizeof(quoted), "'%s' is not", name);
        without = edited(text_get(&line), name, value);
        refused(without, quoted);
        free(without);
    }
    assert_int_equal(count, 51);
    text_free(&line);
    text_free(&header);
}

static void refused_with(const char *name, const char *member, const char *says)
{
    const result_row row = full_row();
    text line = {0};
    char *other;

    written(&row, &line);
    other = edited(text_get(&line), name, member);
    refused(other, says);
    free(other);
    text_free(&line);
}

static void what_no_row_says(void **state)
{
    (void)state;
    refused("", "no JSON");
    refused("{", "no JSON");
    refused("[]", "not a JSON object");
    refused("{}", "schema");
    refused("{\"schema\":\"tessera-run-1\"}", "tessera-run-1");
    refused_with("schema", "\"schema\":\"tessera-result-1\"", "tessera-result-1");
    refused_with("schema", "\"schema\":\"tessera-result-2\",\"colour\":1", "'colour'");
    refused_with("seed", "\"seed\":\"18446744073709551616\"", "'seed'");
    refused_with("seed", "\"seed\":\"-1\"", "'seed'");
    refused_with("samples", "\"samples\":1.5", "'samples'");
    refused_with("samples", "\"samples\":-1", "'samples'");
    refused_with("rate", "\"rate\":-1", "'rate'");
    refused_with(
        "kind", "\"kind\":\"guess\"",
        "'kind' is not \"kernel\", \"peer\", \"limit\", \"error\", \"overlap\" or \"lab\"");
    refused_with("selected", "\"selected\":\"named by the caller\"",
                 "'selected' is not \"\", \"named\", \"tuned\" or \"preferred\"");
    refused_with("timer", "\"timer\":\"clock\"", "'timer' is not \"events\", \"wall\" or \"held\"");
    refused_with("place", "\"place\":\"\"", "'place'");
    refused_with("outcome", "\"outcome\":\"wrong\"", "outcome is 'wrong'");
    refused_with("op", "\"op\":\"0123456789abcdef\"", "'op'");
    refused_with("low_ns", "\"low_ns\":2.5", "do not ascend");
    refused_with("low_ns", "\"low_ns\":0.0625", "do not ascend");
    refused_with("median_ns", "\"median_ns\":3.5", "do not ascend");
    refused_with("high_ns", "\"high_ns\":9", "do not ascend");
    refused_with("max_ns", "\"max_ns\":null", "do not ascend");
    refused_with("min_ns", "\"min_ns\":0", "no time");
    refused_with("unsupported", "\"unsupported\":\"too big\"", "unsupported");
    refused_with("op", "\"op\":\"a\",\"op\":\"b\"", "duplicate");
}

static void bytes_that_are_no_text(void **state)
{
    result_row row = full_row(), got;
    text line = {0};

    (void)state;
    strcpy(row.device, "GPU \xff\"quoted\"");
    written(&row, &line);
    assert_int_equal(result_from_json(text_get(&line), &got, NULL), TSR_OK);
    assert_string_equal(got.device, "GPU ?\"quoted\"");
    text_free(&line);
}

static void csv(void **state)
{
    result_row row = full_row();
    text out = {0}, begin = {0};

    (void)state;
    strcpy(row.device, "a \"b\", c");
    result_to_csv(&row, &out);
    assert_non_null(strstr(text_get(&out), ",\"a \"\"b\"\", c\","));
    assert_non_null(strstr(text_get(&out), ",18446744073709551615\r\n"));
    text_format(&begin, "peer,timed,%s,4x5x6 float32,", row.op);
    assert_int_equal(strncmp(text_get(&out), text_get(&begin), begin.length), 0);
    text_free(&out);
    text_free(&begin);
}

static void rates(void **state)
{
    result_row row = {.work = 2e9, .bytes = 3e9, .time = {1, 1, 1e9, 1e9, 1e9, 1e9, 1e9}};

    (void)state;
    strcpy(row.unit, "GFLOP/s");
    result_rate(&row);
    assert_true(row.rate == 2);
    strcpy(row.unit, "GB/s");
    result_rate(&row);
    assert_true(row.rate == 3);
    strcpy(row.unit, "Mkeys/s");
    result_rate(&row);
    assert_true(row.rate == 2000);
}

static void files(void **state)
{
    const result_row row = full_row();
    char path[] = "/tmp/tessera-test-result-XXXXXX";
    const int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    result_row *rows = NULL;
    tsr_error err = {0};
    text line = {0};
    size_t count = 0;

    (void)state;
    written(&row, &line);
    fprintf(file, "%s\n%s", text_get(&line), text_get(&line));
    fflush(file);
    assert_int_equal(result_read_file(path, &rows, &count, &err), TSR_OK);
    assert_int_equal(count, 2);
    assert_string_equal(rows[1].name, "cuBLAS");
    free(rows);
    fprintf(file, "half a row");
    fclose(file);
    assert_int_equal(result_read_file(path, &rows, &count, &err), TSR_EFILE);
    assert_non_null(strstr(err.message, "line 4"));
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(result_read_file(path, &rows, &count, &err), TSR_EFILE);
    assert_non_null(strstr(err.message, "no rows"));
    unlink(path);
    assert_int_equal(result_read_file(path, &rows, &count, &err), TSR_EFILE);
    text_free(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_reads_back),
        cmocka_unit_test(every_field_is_needed),
        cmocka_unit_test(a_row_of_overlap),
        cmocka_unit_test(a_row_of_the_laboratory),
        cmocka_unit_test(a_row_of_errors),
        cmocka_unit_test(a_row_with_tiles),
        cmocka_unit_test(what_no_row_says),
        cmocka_unit_test(bytes_that_are_no_text),
        cmocka_unit_test(csv),
        cmocka_unit_test(rates),
        cmocka_unit_test(files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
