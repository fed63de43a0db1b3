#include "cli/text_chart.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal.h"

enum { ROWS = 12, MARGIN = 10, STEP_MAX = 12, LETTERS = 26 };

/* The scale: what a value is on the axis, from `low` in the last row to `high` in the first. */
typedef struct scale {
    bool logarithmic;
    double low, high;
} scale;

static double on_axis(const scale *s, double value)
{
    return s->logarithmic ? log2(value) : value;
}

static double value_at(const scale *s, double part)
{
    const double at = s->low + part * (s->high - s->low);

    return s->logarithmic ? exp2(at) : at;
}

static bool find_scale(const text_chart *c, scale *out)
{
    double least = 0, most = 0;

    for (size_t i = 0; i < c->series_count * c->x_count; i++) {
        const double v = c->values[i];

        if (v > 0 && (least == 0 || v < least))
            least = v;
        most = fmax(most, v);
    }
    out->logarithmic = most >= 8 * least;
    out->low = out->logarithmic ? on_axis(out, least) : 0;
    out->high = on_axis(out, most);
    return most > 0 && out->high > out->low;
}

/* The row of a value, 0 the highest. */
static double row_of(const scale *s, double value)
{
    return (ROWS - 1) * (1 - (on_axis(s, value) - s->low) / (s->high - s->low));
}

/* Letters first, dots where nothing else is. */
static void draw_series(const text_chart *c, const scale *s, size_t series, size_t step,
                        char *picture, size_t columns)
{
    const double *values = &c->values[series * c->x_count];

    for (size_t i = 0; i < c->x_count; i++) {
        char *at;

        if (!(values[i] > 0))
            continue;
        at = &picture[(size_t)lround(row_of(s, values[i])) * columns + i * step];
        *at = *at == ' ' || *at == '.' ? (char)('a' + series) : '*';
        if (i + 1 == c->x_count || !(values[i + 1] > 0))
            continue;
        for (size_t k = 1; k < step; k++) {
            const double part = (double)k / (double)step;
            const double row = row_of(s, values[i]) * (1 - part) + row_of(s, values[i + 1]) * part;

            at = &picture[(size_t)lround(row) * columns + i * step + k];
            if (*at == ' ')
                *at = '.';
        }
    }
}

static void append_number(double x, text *out)
{
    text_format(out,
                x >= 1e6   ? "%*.2e"
                : x >= 100 ? "%*.0f"
                : x >= 1   ? "%*.3g"
                           : "%*.2g",
                MARGIN - 2, x);
}

static void append_picture(const scale *s, const char *picture, size_t columns, text *out)
{
    for (size_t row = 0; row < ROWS; row++) {
        size_t length = columns;

        while (length && picture[row * columns + length - 1] == ' ')
            length--;
        if (row % 3 == 0 || row == ROWS - 1)
            append_number(value_at(s, 1 - (double)row / (ROWS - 1)), out);
        else
            text_format(out, "%*s", MARGIN - 2, "");
        text_format(out, " |%.*s\n", (int)length, &picture[row * columns]);
    }
}

/* Labels below their points; one that would run into the one before it is left out. */
static void append_labels(const text_chart *c, size_t step, text *out)
{
    size_t at = 0;

    text_format(out, "%*s", MARGIN, "");
    for (size_t i = 0; i < c->x_count; i++) {
        if (i && at >= i * step)
            continue;
        text_format(out, "%*s%s", (int)(i * step - at), "", c->x[i]);
        at = i * step + text_width(c->x[i]);
    }
    text_format(out, "  %s\n", c->knob);
}

static void append_legend(const text_chart *c, size_t count, bool several, size_t width, text *out)
{
    text names = {0};

    for (size_t i = 0; i < count; i++)
        text_format(&names, "%s%c: %s", i ? ", " : "", (char)('a' + i), c->series[i]);
    if (several)
        text_append(&names, ", *: several");
    text_format(out, "%*s", MARGIN, "");
    text_wrap(out, text_get(&names), MARGIN, MARGIN, width);
    text_append(out, "\n");
    out->failed |= names.failed;
    text_free(&names);
}

void text_chart_draw(const text_chart *c, size_t width, text *out)
{
    const size_t count = c->series_count < LETTERS ? c->series_count : LETTERS;
    size_t step, columns;
    char *picture;
    scale s;

    if (c->x_count < 2 || !find_scale(c, &s))
        return;
    step = (width - MARGIN - 8) / c->x_count;
    step = step > STEP_MAX ? STEP_MAX : step < 2 ? 2 : step;
    columns = (c->x_count - 1) * step + 1;
    picture = malloc(ROWS * columns);
    if (!picture) {
        out->failed = true;
        return;
    }
    memset(picture, ' ', ROWS * columns);
    for (size_t i = 0; i < count; i++)
        draw_series(c, &s, i, step, picture, columns);
    text_format(out, "%*s%s%s\n", MARGIN, "", s.logarithmic ? "logarithmic, " : "", c->unit);
    append_picture(&s, picture, columns, out);
    append_labels(c, step, out);
    append_legend(c, count, memchr(picture, '*', ROWS * columns) != NULL, width, out);
    free(picture);
}
