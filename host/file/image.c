#include "file/image.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/sizes.h"
#include "base/text.h"
#include "file/block.h"

#ifdef TESSERA_PNG
#include <png.h>
#endif

static const unsigned char png_magic[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};

static bool begins_as_png(const input *s)
{
    return s->head_size >= sizeof(png_magic) && !memcmp(s->head, png_magic, sizeof(png_magic));
}

bool image_begins(const input *s)
{
    return begins_as_png(s) ||
           (s->head_size >= 3 && s->head[0] == 'P' && (s->head[1] == '5' || s->head[1] == '6') &&
            (isspace(s->head[2]) || s->head[2] == '#'));
}

/* An array of height x width x channels, of rank 2 where there is one channel. */
static tsr_status allocate(const char *name, size_t height, size_t width, size_t channels,
                           array *out, tsr_error *err)
{
    array a = {.type = TSR_U8, .rank = channels == 1 ? 2 : 3, .shape = {height, width, channels}};
    size_t bytes;
    tsr_status st;

    if (!size_mul(height, width, &bytes) || !size_mul(bytes, channels, &bytes))
        return tsr_fail(err, TSR_EOVERFLOW, 0, "%s: %zux%zu pixels are too many", name, width,
                        height);
    st = bytes ? block_allocate(name, bytes, &a.data, err) : TSR_OK;
    if (!st)
        *out = a;
    return st;
}

/* ---- PGM and PPM ---------------------------------------------------------------------------- */

/* The next number of a header, behind blanks and comments, and go on behind it. */
static bool take_number(const input *s, size_t *at, size_t *out)
{
    const unsigned char *head = s->head;
    size_t n = 0, digits = 0;

    while (*at < s->head_size && (isspace(head[*at]) || head[*at] == '#')) {
        if (head[*at] == '#')
            while (*at < s->head_size && head[*at] != '\n')
                ++*at;
        else
            ++*at;
    }
    for (; *at < s->head_size && isdigit(head[*at]) && digits < 18; digits++)
        n = n * 10 + (size_t)(head[(*at)++] - '0');
    *out = n;
    return digits > 0;
}

static tsr_status read_pnm(input *s, array *out, tsr_error *err)
{
    const size_t channels = s->head[1] == '6' ? 3 : 1;
    const char *format = channels == 3 ? "PPM" : "PGM";
    size_t at = 2, width, height, most, got = 0;
    unsigned char skipped, more;
    array a = {0};
    tsr_status st = TSR_OK;

    if (!take_number(s, &at, &width) || !take_number(s, &at, &height) ||
        !take_number(s, &at, &most) || at >= s->head_size || !isspace(s->head[at]))
        return tsr_fail(
            err, TSR_EFILE, 0,
            "%s: the header of a %s file is width, height and largest value, and then one blank",
            s->name, format);
    if (most != 255)
        return tsr_fail(
            err, TSR_EFILE, 0,
            "%s: its largest value is %zu, and only %s files in which it is 255 are read", s->name,
            most, format);
    st = allocate(s->name, height, width, channels, &a, err);
    for (size_t i = 0; i <= at && !st; i++) /* the header */
        st = input_take(s, &skipped, 1, &got, err);
    if (!st && a.data)
        st = input_take(s, a.data, array_count(&a), &got, err);
    if (!st && a.data && got < array_count(&a))
        st = tsr_fail(err, TSR_EFILE, 0, "%s: data: truncated, expected %zu bytes, found %zu",
                      s->name, array_count(&a), got);
    if (!st)
        st = input_take(s, &more, 1, &got, err);
    if (!st && got)
        st = tsr_fail(err, TSR_EFILE, 0,
                      "%s: data: there is more behind the %zu bytes of one picture", s->name,
                      array_count(&a));
    if (st)
        array_free(&a);
    else
        *out = a;
    return st;
}

static tsr_status encode_pnm(const array *a, size_t channels, encode_put *put, void *to,
                             tsr_error *err)
{
    char header[64];
    const int length = snprintf(header, sizeof(header), "P%d\n%zu %zu\n255\n",
                                channels == 3 ? 6 : 5, a->shape[1], a->shape[0]);
    const tsr_status st = put(to, header, (size_t)length, err);

    return st || !a->data ? st : put(to, a->data, array_count(a), err);
}

/* ---- PNG ------------------------------------------------------------------------------------ */

#ifdef TESSERA_PNG

/* Bytes of the picture that a file begins with, to the end of its last chunk (PNG
 * specification, 5.3); 0 where that is not whole, which libpng, once it has all pixels, does not
 * look for.
 */
static size_t png_length(const unsigned char *bytes, size_t size)
{
    enum { LENGTH = 4, NAME = 4, CHECKSUM = 4, AROUND = LENGTH + NAME + CHECKSUM };
    size_t at = sizeof(png_magic);

    while (at <= size && size - at >= AROUND) {
        const unsigned char *chunk = bytes + at;
        const size_t length =
            (size_t)chunk[0] << 24 | (size_t)chunk[1] << 16 | (size_t)chunk[2] << 8 | chunk[3];

        if (length > size - at - AROUND)
            break;
        at += AROUND + length;
        if (!memcmp(chunk + LENGTH, "IEND", NAME))
            return at;
    }
    return 0;
}

/* libpng's simplified interface, which keeps its longjmp to itself. */
static tsr_status read_png(input *s, array *out, tsr_error *err)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    void *bytes = NULL;
    size_t size;
    array a = {0};
    tsr_status st = input_take_block(s, SIZE_MAX, &bytes, &size, err);

    if (st)
        return st;
    if (!png_image_begin_read_from_memory(&image, bytes, size)) {
        st = tsr_fail(err, TSR_EFILE, 0, "%s: PNG: %s", s->name, image.message);
        goto cleanup;
    }
    if (image.format & PNG_FORMAT_FLAG_LINEAR) {
        st = tsr_fail(err, TSR_EFILE, 0,
                      "%s: has 16 bits a channel, and only PNG files of up to 8 are read", s->name);
        goto cleanup;
    }
    /* Colours in place of a palette, in the order red, green, blue, opacity. */
    image.format &= PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA;
    st = allocate(s->name, image.height, image.width, PNG_IMAGE_PIXEL_CHANNELS(image.format), &a,
                  err);
    if (!st && !png_image_finish_read(&image, NULL, a.data, 0, NULL))
        st = tsr_fail(err, TSR_EFILE, 0, "%s: PNG: %s", s->name, image.message);
    if (!st && png_length(bytes, size) == 0)
        st = tsr_fail(err, TSR_EFILE, 0, "%s: PNG: cut short: it ends before its last chunk does",
                      s->name);
    else if (!st && png_length(bytes, size) != size)
        st = tsr_fail(err, TSR_EFILE, 0, "%s: PNG: %zu bytes follow the %zu of one picture",
                      s->name, size - png_length(bytes, size), png_length(bytes, size));
    if (!st) {
        *out = a;
        a = (array){0}; /* moved to the caller */
    }

cleanup:
    png_image_free(&image);
    array_free(&a);
    free(bytes);
    return st;
}

static tsr_status encode_png(const array *a, size_t channels, encode_put *put, void *to,
                             tsr_error *err)
{
    static const png_uint_32 formats[] = {0, PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB,
                                          PNG_FORMAT_RGBA};
    png_image image = {.version = PNG_IMAGE_VERSION, .format = formats[channels]};
    char *bytes = NULL;
    size_t size = 0;
    FILE *file;
    tsr_status st;

    if (!a->data || a->shape[0] > INT32_MAX || a->shape[1] > INT32_MAX)
        return tsr_fail(err, TSR_EINVAL, 0, "a .png file has no pictures of %zux%zu pixels",
                        a->shape[1], a->shape[0]);
    image.width = (png_uint_32)a->shape[1];
    image.height = (png_uint_32)a->shape[0];
    file = open_memstream(&bytes, &size);
    if (!file)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for a PNG file");
    if (!png_image_write_to_stdio(&image, file, 0, a->data, 0, NULL))
        st = tsr_fail(err, TSR_EINVAL, 0, "PNG: %s", image.message);
    else
        st = TSR_OK;
    if (fclose(file) != 0 && !st)
        st = tsr_fail(err, TSR_ENOMEM, 0, "no memory for a PNG file");
    st = st ? st : put(to, bytes, size, err);
    png_image_free(&image);
    free(bytes);
    return st;
}

#else

static tsr_status read_png(input *s, array *out, tsr_error *err)
{
    (void)out;
    return tsr_fail(err, TSR_EFILE, 0,
                    "%s: is a PNG file, and this was built without libpng; .ppm and .npy are read",
                    s->name);
}

#endif

/* ---- either --------------------------------------------------------------------------------- */

tsr_status image_read(input *s, array *out, tsr_error *err)
{
    return begins_as_png(s) ? read_png(s, out, err) : read_pnm(s, out, err);
}

bool image_suffix(const char *suffix)
{
#ifdef TESSERA_PNG
    if (!strcmp(suffix, ".png"))
        return true;
#endif
    return !strcmp(suffix, ".pgm") || !strcmp(suffix, ".ppm");
}

tsr_status image_encode(const char *suffix, const array *a, encode_put *put, void *to,
                        tsr_error *err)
{
    const size_t channels = a->rank == 2 ? 1 : a->rank == 3 ? a->shape[2] : 0;
    const bool colour = !strcmp(suffix, ".ppm"), grey = !strcmp(suffix, ".pgm");
    text shape = {0};

    if (a->type != TSR_U8 || a->opaque || channels < 1 || channels > 4 ||
        (colour && channels != 3) || (grey && channels != 1)) {
        for (unsigned i = 0; i < a->rank; i++)
            text_format(&shape, "%s%zu", i ? "x" : "", a->shape[i]);
        tsr_fail(err, TSR_EINVAL, 0, "a %s file holds uint8 of height x width%s, not %s of %s%s",
                 suffix,
                 colour ? " x 3"
                 : grey ? ""
                        : ", or height x width x 2 to 4",
                 array_type_name(a), a->rank ? "" : "no dimension", text_get(&shape));
        text_free(&shape);
        return TSR_EINVAL;
    }
#ifdef TESSERA_PNG
    if (!colour && !grey)
        return encode_png(a, channels, put, to, err);
#endif
    return encode_pnm(a, channels, put, to, err);
}
