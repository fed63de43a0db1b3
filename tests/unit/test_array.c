#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file/array.h"
#include "file/mtx.h"
#include "file/npy.h"

/* In the place of the C library's: where `read_most` is set, a few bytes at a time, and every third
 * call is interrupted by a signal. */
static size_t read_most;

ssize_t read(int fd, void *to, size_t size)
{
    static unsigned calls;

    if (read_most && ++calls % 3 == 0) {
        errno = EINTR;
        return -1;
    }
    return syscall(SYS_read, fd, to, read_most && size > read_most ? read_most : size);
}

/* Builds a .npy file from its parts. */
typedef struct npy_text {
    unsigned char bytes[1024];
    size_t size;
} npy_text;

static npy_text npy(unsigned version, const char *dictionary, const void *data, size_t size)
{
    npy_text t = {{0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)version, 0}, 8};
    size_t length = strlen(dictionary);

    t.bytes[t.size++] = (unsigned char)(length & 255);
    t.bytes[t.size++] = (unsigned char)(length >> 8);
    if (version > 1)
        t.size += 2;
    memcpy(t.bytes + t.size, dictionary, length);
    t.size += length;
    if (size)
        memcpy(t.bytes + t.size, data, size);
    t.size += size;
    return t;
}

static void refuses_npy(const npy_text *t, const char *message)
{
    array a = {0};
    tsr_error err = {0};

    assert_int_equal(npy_parse("a.npy", t->bytes, t->size, &a, &err), TSR_EFILE);
    assert_string_equal(err.message, message);
    assert_int_equal(err.status, TSR_EFILE);
    assert_null(a.data);
}

static void refuses_dictionary(const char *dictionary, const char *message)
{
    npy_text t = npy(1, dictionary, "12345678", 8);

    refuses_npy(&t, message);
}

static const char plain[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";

static void npy_dictionary_may_be_written_in_any_way(void **state)
{
    static const char *const same[] = {
        plain,
        "{\"shape\":(2,),\"fortran_order\":False,\"descr\":\"<f4\"}",
        " { 'fortran_order' :True ,'descr': '<f4' , 'shape' : ( 2 , ) , } \t\n",
        "{'descr':'=f4','fortran_order':False,'shape':(2L,)}\n\n\n",
        "{'descr':'f4','fortran_order':False,'shape':(2,)}",
        "{'descr':'|f4','fortran_order':False,'shape':(2,)}",
    };
    const float data[] = {1.5f, -2};

    (void)state;
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        for (unsigned version = 1; version <= 3; version++) {
            npy_text t = npy(version, same[i], data, sizeof(data));
            array a = {0};
            tsr_error err = {0};

            assert_int_equal(npy_parse("a.npy", t.bytes, t.size, &a, &err), TSR_OK);
            assert_int_equal(a.type, TSR_F32);
            assert_int_equal(a.rank, 1);
            assert_int_equal(a.shape[0], 2);
            assert_int_equal(a.shape[1], 1);
            assert_int_equal((uintptr_t)a.data % 64, 0);
            assert_memory_equal(a.data, data, sizeof(data));
            array_free(&a);
        }
    }
}

static void npy_orders_of_bytes_and_elements_are_undone(void **state)
{
    const unsigned char data[] = {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 1, 0};
    const uint16_t expected[] = {1, 3, 5, 2, 4, 256};
    npy_text t = npy(1, "{'descr':'>u2','fortran_order':True,'shape':(2,3)}", data, sizeof(data));
    array a = {0};
    tsr_error err = {0};

    (void)state;
    assert_int_equal(npy_parse("a.npy", t.bytes, t.size, &a, &err), TSR_OK);
    assert_int_equal(a.type, TSR_U16);
    assert_memory_equal(a.data, expected, sizeof(expected));
    array_free(&a);
}

/* Beyond one block of the transposition, and not a multiple of it. */
static void npy_fortran_order_of_many_blocks(void **state)
{
    enum { ROWS = 37, COLS = 70 };
    npy_text head = npy(1, "{'descr':'<i8','fortran_order':True,'shape':(37,70)}", NULL, 0);
    size_t size = head.size + ROWS * COLS * 8;
    unsigned char *file = malloc(size);
    array a = {0};
    tsr_error err = {0};

    (void)state;
    memcpy(file, head.bytes, head.size);
    for (int64_t k = 0; k < ROWS * COLS; k++)
        memcpy(file + head.size + 8 * k, &k, 8);
    assert_int_equal(npy_parse("a.npy", file, size, &a, &err), TSR_OK);
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = 0; j < COLS; j++)
            assert_int_equal(((int64_t *)a.data)[i * COLS + j], j * ROWS + i);
    }
    array_free(&a);
    free(file);
}

/* No two extents alike, and several between the first and the last. */
static void npy_fortran_order_of_many_extents(void **state)
{
    enum { A = 2, B = 3, C = 4, D = 5, E = 6, COUNT = A * B * C * D * E };
    npy_text head = npy(1, "{'descr':'|u1','fortran_order':True,'shape':(2,3,4,5,6)}", NULL, 0);
    unsigned char file[1024];
    array x = {0};
    tsr_error err = {0};
    size_t at = 0;

    (void)state;
    assert_true(head.size + COUNT <= sizeof(file));
    memcpy(file, head.bytes, head.size);
    for (size_t k = 0; k < COUNT; k++)
        file[head.size + k] = (unsigned char)(k % 251);
    assert_int_equal(npy_parse("a.npy", file, head.size + COUNT, &x, &err), TSR_OK);
    for (size_t a = 0; a < A; a++)
        for (size_t b = 0; b < B; b++)
            for (size_t c = 0; c < C; c++)
                for (size_t d = 0; d < D; d++)
                    for (size_t e = 0; e < E; e++)
                        assert_int_equal(((unsigned char *)x.data)[at++],
                                         (a + A * (b + B * (c + C * (d + D * e)))) % 251);
    array_free(&x);
}

static void npy_malformed_dictionaries_are_told_apart(void **state)
{
    (void)state;
    refuses_dictionary("", "a.npy: header: expected '{', found its end");
    refuses_dictionary("[]", "a.npy: header: expected '{' at byte 0, found \"[]\"");
    refuses_dictionary("{}", "a.npy: header: key 'descr' is missing");
    refuses_dictionary("{'descr':'<f4','shape':(2,)}",
                       "a.npy: header: key 'fortran_order' is missing");
    refuses_dictionary("{'descr':'<f4','fortran_order':False}",
                       "a.npy: header: key 'shape' is missing");
    refuses_dictionary("{'descr':'<f4','descr':'<f4'}", "a.npy: header: key 'descr' stands twice");
    refuses_dictionary("{'order':1}", "a.npy: header: unknown key 'order'");
    refuses_dictionary("{'a\x1b[31m':1}", "a.npy: header: unknown key 'a?[31m'");
    refuses_dictionary("{descr:1}",
                       "a.npy: header: expected a key in quotes at byte 1, found \"descr:1}\"");
    refuses_dictionary("{'descr' '<f4'}",
                       "a.npy: header: expected ':' after a key at byte 9, found \"'<f4'}\"");
    refuses_dictionary("{'descr': <f4}", "a.npy: header: expected a string for 'descr' at byte "
                                         "10, found \"<f4}\"");
    refuses_dictionary("{'descr': '<f4", "a.npy: header: expected a string for 'descr' at byte "
                                         "10, found \"'<f4\"");
    refuses_dictionary("{'fortran_order': false}", "a.npy: header: expected True or False for "
                                                   "'fortran_order' at byte 18, found \"false}\"");
    refuses_dictionary("{'fortran_order':True 'shape':()}",
                       "a.npy: header: expected ',' or '}' at byte 22, found \"'shape':()}\"");
    refuses_dictionary("{'shape':[2]}",
                       "a.npy: header: expected a tuple for 'shape' at byte 9, found \"[2]}\"");
    refuses_dictionary("{'shape':(2)}", "a.npy: header: expected ',' after the number in 'shape' "
                                        "at byte 11, found \")}\"");
    refuses_dictionary("{'shape':(2,02)}",
                       "a.npy: header: expected a number in 'shape' at byte 12, found \"02)}\"");
    refuses_dictionary("{'shape':(2,3 4)}",
                       "a.npy: header: expected ',' or ')' in 'shape' at byte 14, found \"4)}\"");
    refuses_dictionary("{'descr':'<f4','fortran_order':False,'shape':(2,)} x",
                       "a.npy: header: expected nothing after '}' at byte 51, found \"x\"");
}

#define TEN "1,1,1,1,1,1,1,1,1,1,"

static void npy_shapes_beyond_reach_are_refused(void **state)
{
    (void)state;
    refuses_dictionary("{'shape':(-2,)}", "a.npy: shape: -2 is negative");
    refuses_dictionary("{'shape':(18446744073709551616,)}",
                       "a.npy: shape: 18446744073709551616 is beyond 18446744073709551615");
    refuses_dictionary("{'shape':(" TEN TEN TEN TEN TEN TEN "1,1,1,1,1)}",
                       "a.npy: shape: has 65 dimensions; at most 64 are read");
    refuses_dictionary("{'descr':'<f4','fortran_order':False,'shape':(4294967296,4294967296)}",
                       "a.npy: shape: (4294967296, 4294967296) of float32 is beyond "
                       "18446744073709551615 bytes");
    refuses_dictionary("{'descr':'<f4','fortran_order':False,'shape':(9223372036854775808,)}",
                       "a.npy: shape: (9223372036854775808) of float32 is beyond "
                       "18446744073709551615 bytes");
    /* A product of two extents that fits, and of three that does not: 2^64 is 0 in 64 bits. */
    refuses_dictionary("{'descr':'<f4','fortran_order':False,'shape':(4294967296,1,4294967296)}",
                       "a.npy: shape: (4294967296, 1, 4294967296) of float32 is beyond "
                       "18446744073709551615 bytes");
    /* Fits in 64 bits: refused by the size of the file, before any allocation. */
    refuses_dictionary("{'descr':'<f4','fortran_order':False,'shape':(4611686018427387903,)}",
                       "a.npy: data: truncated, expected 18446744073709551612 bytes, found 8");
}

static void npy_types_that_are_not_read_are_named(void **state)
{
    static const struct {
        const char *descr, *what;
    } types[] = {
        {"|O", "a Python object that is not read"},
        {"<c32", "a complex number of a size that is not read"},
        {"<U3", "a Unicode string that is not read"},
        {"|S5", "a byte string that is not read"},
        {"|b2", "a boolean of a size that is not read"},
        {"<M8[ns]", "a datetime64 that is not read"},
        {"<m8[s]", "a timedelta64 that is not read"},
        {"|V16", "a void record that is not read"},
        {"<f16", "a float of a size that is not read"},
        {"<i3", "an int of a size that is not read"},
        {"<u16", "a uint of a size that is not read"},
        {"", "no type that is read"},
        {"<", "no type that is read"},
        {"<e", "no type that is read"},
        {"<x4", "no type that is read"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        char dictionary[128], message[256];

        snprintf(dictionary, sizeof(dictionary), "{'descr':'%s'}", types[i].descr);
        snprintf(message, sizeof(message),
                 "a.npy: descr: '%s' is %s; float of 16 to 64 bits, complex of 64 "
                 "and 128, int and uint of 8 to 64 bits and bool are",
                 types[i].descr, types[i].what);
        refuses_dictionary(dictionary, message);
    }
    refuses_dictionary("{'descr':[('x','<f4')]}",
                       "a.npy: descr: a structured type is not read; save one field as an array");
}

static void npy_wrong_sizes_say_expected_and_found(void **state)
{
    npy_text t = npy(1, plain, "1234567", 7);

    (void)state;
    refuses_npy(&t, "a.npy: data: truncated, expected 8 bytes, found 7");
    t = npy(1, plain, "123456789", 9);
    refuses_npy(&t, "a.npy: data: 1 bytes follow the 8 of the array");
    t = npy(1, plain, NULL, 0);
    t.size -= 5;
    refuses_npy(&t, "a.npy: header: truncated, expected 58 bytes, found 53");
    t.size = 9;
    refuses_npy(&t, "a.npy: header: truncated at byte 9");
    t.size = 3;
    refuses_npy(&t, "a.npy: header: truncated at byte 3");
}

static void npy_magic_and_version_are_checked(void **state)
{
    npy_text t = npy(1, plain, "12345678", 8);

    (void)state;
    t.bytes[5] = 'X';
    refuses_npy(&t, "a.npy: magic: \"?NUMPX\" is not \"\\x93NUMPY\"");
    t = npy(4, plain, "12345678", 8);
    refuses_npy(&t, "a.npy: version: 4.0 is none of 1.0, 2.0 and 3.0");
    t = npy(2, plain, "12345678", 8);
    t.bytes[11] = 0xFF;
    refuses_npy(&t, "a.npy: header: its length, 4278190138 bytes, is beyond 65535");
}

static tsr_status parse(const char *text, array *a, tsr_error *err)
{
    return mtx_parse("a.mtx", (const unsigned char *)text, strlen(text), 1000000, a, err);
}

static void reads_mtx(const char *text, size_t rows, size_t cols, const double *expected)
{
    array a = {0};
    tsr_error err = {0};

    if (parse(text, &a, &err))
        fail_msg("%s", err.message);
    assert_int_equal(a.type, TSR_F64);
    assert_int_equal(a.rank, 2);
    assert_int_equal(a.shape[0], rows);
    assert_int_equal(a.shape[1], cols);
    if (rows && cols)
        assert_memory_equal(a.data, expected, rows * cols * sizeof(double));
    else
        assert_null(a.data);
    array_free(&a);
}

static void refuses_mtx(const char *text, const char *message)
{
    array a = {0};
    tsr_error err = {0};

    assert_int_equal(parse(text, &a, &err), TSR_EFILE);
    assert_string_equal(err.message, message);
    assert_null(a.data);
}

#define BANNER(rest) "%%MatrixMarket matrix " rest "\n"

static void mtx_every_form_is_read(void **state)
{
    (void)state;
    reads_mtx(BANNER("array real general") "2 3\n1\n2\n3.5\n-4e-1\n+5\n.5\n", 2, 3,
              (double[]){1, 3.5, 5, 2, -0.4, 0.5});
    reads_mtx(BANNER("array integer symmetric") "2 2\n1\n2\n3", 2, 2, (double[]){1, 2, 2, 3});
    reads_mtx(BANNER("array real skew-symmetric") "3 3\n1\n2\n3\n", 3, 3,
              (double[]){0, -1, -2, 1, 0, -3, 2, 3, 0});
    reads_mtx(BANNER("coordinate real general") "2 2 2\n2 1 7\n1 2 -1\n", 2, 2,
              (double[]){0, -1, 7, 0});
    reads_mtx(BANNER("coordinate pattern symmetric") "2 2 2\n1 1\n2 1\n", 2, 2,
              (double[]){1, 1, 1, 0});
    reads_mtx(BANNER("coordinate integer skew-symmetric") "2 2 1\n2 1 5\n", 2, 2,
              (double[]){0, -5, 5, 0});
    reads_mtx(BANNER("coordinate unsigned-integer general") "1 1 1\n1 1 5\n", 1, 1, (double[]){5});
    reads_mtx(BANNER("array real general") "0 7\n", 0, 7, NULL);
    reads_mtx(BANNER("array real symmetric") "0 0\n", 0, 0, NULL);
    reads_mtx(BANNER("array real skew-symmetric") "1 1\n", 1, 1, (double[]){0});
}

/* Ends at once, though there are 2^64 - 1 columns. */
static void mtx_without_rows_costs_no_time(void **state)
{
    (void)state;
    reads_mtx(BANNER("array real general") "0 18446744073709551615\n", 0, SIZE_MAX, NULL);
}

static void mtx_duplicates_are_summed(void **state)
{
    (void)state;
    reads_mtx(BANNER("coordinate real symmetric") "2 2 4\n2 1 1\n2 1 2\n1 1 4\n1 1 8\n", 2, 2,
              (double[]){12, 3, 3, 0});
    /* Integers exactly, or not at all; real ones as float64 has them. */
    reads_mtx(BANNER("coordinate integer general") "1 1 2\n1 1 9007199254740991\n1 1 1\n", 1, 1,
              (double[]){0x1p53});
    reads_mtx(BANNER("coordinate real general") "1 1 2\n1 1 9007199254740992\n1 1 1\n", 1, 1,
              (double[]){0x1p53});
    refuses_mtx(BANNER("coordinate integer general") "2 2 3\n1 1 9007199254740992\n2 2 1\n1 1 1\n",
                "a.mtx: line 5: entries at (1, 1) up to here add up to an integer that float64 "
                "does not hold "
                "exactly");
    refuses_mtx(
        BANNER("coordinate integer skew-symmetric") "2 2 2\n2 1 -3\n2 1 -9007199254740992\n",
        "a.mtx: line 4: entries at (2, 1) up to here add up to an integer that float64 does not "
        "hold "
        "exactly");
}

static void mtx_layout_of_the_text_does_not_matter(void **state)
{
    (void)state;
    reads_mtx("%%MATRIXMARKET Matrix COORDINATE Real General\r\n% comment\r\n%\r\n\r\n"
              "  2\t2  1 \r\n\r\n% comment\r\n\t1 2 3\r\n\n  \n",
              2, 2, (double[]){0, 3, 0, 0});
}

static void mtx_special_values_and_range(void **state)
{
    array a = {0};
    tsr_error err = {0};
    const double *v;

    (void)state;
    reads_mtx(BANNER("array real general") "4 1\n-INF\nInfinity\n1e-400\n-0\n", 4, 1,
              (double[]){-(double)INFINITY, (double)INFINITY, 0, -0.0});
    assert_int_equal(parse(BANNER("array real general") "1 1\n-NaN\n", &a, &err), TSR_OK);
    v = a.data;
    assert_true(isnan(v[0]));
    array_free(&a);
    reads_mtx(BANNER("array integer general") "5 1\n9007199254740992\n-1152921504606846976\n"
                                              "+007\n-0\n0\n",
              5, 1, (double[]){9007199254740992.0, -1152921504606846976.0, 7, -0.0, 0});
    refuses_mtx(BANNER("array integer general") "1 1\n-9007199254740993\n",
                "a.mtx: line 3: value: expected an integer that float64 holds exactly, found "
                "\"-9007199254740993\"");
    refuses_mtx(BANNER("array unsigned-integer general") "1 1\n-3\n",
                "a.mtx: line 3: value: expected an integer of at least 0, found \"-3\"");
    refuses_mtx(
        BANNER("array real general") "1 1\n1e400\n",
        "a.mtx: line 3: value: expected a number within the range of float64, found \"1e400\"");
}

static void mtx_banner_is_checked(void **state)
{
    (void)state;
    refuses_mtx("%MatrixMarket matrix array real general\n1 1\n1\n",
                "a.mtx: line 1: does not begin with %%MatrixMarket");
    refuses_mtx("", "a.mtx: line 1: does not begin with %%MatrixMarket");
    refuses_mtx("%%MatrixMarket matrix array real\n",
                "a.mtx: line 1: expected %%MatrixMarket OBJECT FORMAT FIELD SYMMETRY, found "
                "\"%%MatrixMarket matrix array real\"");
    refuses_mtx("%%MatrixMarket vector array real general\n",
                "a.mtx: line 1: object: expected matrix, found \"vector\"");
    refuses_mtx(BANNER("dense real general"),
                "a.mtx: line 1: format: expected array or coordinate, found \"dense\"");
    refuses_mtx(BANNER("array float general"),
                "a.mtx: line 1: field: expected real, integer or pattern, found \"float\"");
    refuses_mtx(BANNER("array real diagonal"),
                "a.mtx: line 1: symmetry: expected general, symmetric or skew-symmetric, found "
                "\"diagonal\"");
    refuses_mtx(BANNER("array pattern general"),
                "a.mtx: line 1: field: expected real or integer in array format, found "
                "\"pattern\"");
    refuses_mtx(BANNER("coordinate pattern skew-symmetric"),
                "a.mtx: line 1: symmetry: expected general or symmetric for a pattern, found "
                "\"skew-symmetric\"");
}

static void mtx_complex_and_hermitian_are_refused_by_name(void **state)
{
    (void)state;
    refuses_mtx(BANNER("coordinate complex general"),
                "a.mtx: line 1: field: complex matrices are not read, only real, integer and "
                "pattern ones");
    refuses_mtx(BANNER("coordinate real Hermitian"),
                "a.mtx: line 1: symmetry: hermitian matrices are not read, only general, symmetric "
                "and skew-symmetric ones");
}

static void mtx_size_line_is_checked(void **state)
{
    (void)state;
    refuses_mtx(BANNER("array real general") "% only\n",
                "a.mtx: ends at line 2, without its size line ROWS COLUMNS");
    refuses_mtx(BANNER("array real general") "2 2 4\n",
                "a.mtx: line 2: expected ROWS COLUMNS, found \"2 2 4\"");
    refuses_mtx(BANNER("coordinate real general") "\n2 2\n",
                "a.mtx: line 3: expected ROWS COLUMNS ENTRIES, found \"2 2\"");
    refuses_mtx(BANNER("coordinate real general") "2 -2 0\n",
                "a.mtx: line 2: expected ROWS COLUMNS ENTRIES, found \"2 -2 0\"");
    refuses_mtx(BANNER("array real general") "99999999999999999999 1\n",
                "a.mtx: line 2: expected ROWS COLUMNS, found \"99999999999999999999 1\"");
    refuses_mtx(BANNER("array real symmetric") "2 3\n",
                "a.mtx: line 2: a symmetric matrix is square, this one is 2 x 3");
}

static void mtx_dense_size_beyond_memory_is_refused_before_allocation(void **state)
{
    static const char *const sizes[] = {"125001 1 0", "4294967296 4294967296 0",
                                        "18446744073709551615 1 0"};
    array a = {0};
    tsr_error err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char text[128];

        snprintf(text, sizeof(text), "%s%s\n", BANNER("coordinate real general"), sizes[i]);
        assert_int_equal(parse(text, &a, &err), TSR_EOVERFLOW);
    }
    assert_string_equal(err.message, "a.mtx: line 2: 18446744073709551615 x 1 as a dense float64 "
                                     "matrix is more than the memory of 1000000 bytes");
    reads_mtx(BANNER("coordinate real general") "0 4294967296 0\n", 0, 4294967296, NULL);
}

static void mtx_number_of_entries_is_checked(void **state)
{
    (void)state;
    refuses_mtx(BANNER("coordinate real general") "2 2 3\n1 1 1.00\n2 2 2.00\n\n\n",
                "a.mtx: too few entries: expected 3, found 2 by its end at line 6");
    refuses_mtx(BANNER("coordinate real general") "2 2 9\n1 1 1\n2 2 2",
                "a.mtx: line 2: too few entries: expected 9, the remaining 11 bytes hold at most "
                "2");
    refuses_mtx(BANNER("coordinate real general") "2 2 3\n1 1 1\n2 2 2\n",
                "a.mtx: line 2: too few entries: expected 3, the remaining 12 bytes hold at most "
                "2");
    refuses_mtx(BANNER("array real general") "300 300\n1\n2\n",
                "a.mtx: line 2: too few entries: expected 90000, the remaining 4 bytes hold at "
                "most 2");
    refuses_mtx(BANNER("coordinate real general") "2 2 1\n1 1 1\n2 2 2\n",
                "a.mtx: line 4: too many entries: expected 1, then found \"2 2 2\"");
    refuses_mtx(BANNER("array real symmetric") "2 2\n1\n2\n3\n4\n",
                "a.mtx: line 6: too many entries: expected 3, then found \"4\"");
}

static void mtx_entries_are_checked_and_their_line_told(void **state)
{
    (void)state;
    refuses_mtx(BANNER("coordinate real general") "2 2 1\n\n3 1 1\n",
                "a.mtx: line 4: row 3 is not within 1 to 2");
    refuses_mtx(BANNER("coordinate real general") "2 2 1\n1 0 1\n",
                "a.mtx: line 3: column 0 is not within 1 to 2");
    refuses_mtx(BANNER("coordinate real general") "2 2 1\n1.0 1 1\n",
                "a.mtx: line 3: row: expected an index, found \"1.0\"");
    /* Each index has the bound of its own extent. */
    refuses_mtx(BANNER("coordinate pattern general") "2 3 1\n3 1\n",
                "a.mtx: line 3: row 3 is not within 1 to 2");
    refuses_mtx(BANNER("coordinate pattern general") "3 2 1\n1 3\n",
                "a.mtx: line 3: column 3 is not within 1 to 2");
    reads_mtx(BANNER("coordinate pattern general") "3 1 1\n3 1\n", 3, 1, (double[]){0, 0, 1});
    refuses_mtx(BANNER("coordinate real general") "2 2 1\n1 1    \n",
                "a.mtx: line 3: expected ROW COLUMN VALUE, found \"1 1    \"");
    refuses_mtx(BANNER("coordinate pattern general") "2 2 1\n1 1 1\n",
                "a.mtx: line 3: expected ROW COLUMN, found \"1 1 1\"");
    refuses_mtx(BANNER("array real general") "1 1\n1 2\n",
                "a.mtx: line 3: expected one VALUE, found \"1 2\"");
    refuses_mtx(BANNER("array integer general") "1 1\n1.5\n",
                "a.mtx: line 3: value: expected an integer that float64 holds exactly, "
                "found \"1.5\"");
    refuses_mtx(BANNER("coordinate real symmetric") "2 2 1\n1 2 1\n",
                "a.mtx: line 3: entry (1, 2) is above the diagonal; a symmetric matrix lists the "
                "lower triangle");
    refuses_mtx(BANNER("coordinate real skew-symmetric") "2 2 1\n2 2 1\n",
                "a.mtx: line 3: entry (2, 2) is on the diagonal, which is zero in a "
                "skew-symmetric matrix");
}

static void mtx_what_strtod_would_take_beside_numbers_is_refused(void **state)
{
    static const char *const words[] = {"0x10", "1,5", "\v1", "nan(1)", "1d0", "--1",
                                        "1e",   "e1",  ".",   "+",      "\x1b"};

    (void)state;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        char text[128], message[128];

        snprintf(text, sizeof(text), "%s1 1\n%s\n", BANNER("array real general"), words[i]);
        snprintf(
            message, sizeof(message),
            "a.mtx: line 3: value: expected a number within the range of float64, found \"%s%s\"",
            words[i][0] < ' ' ? "?" : words[i], words[i][0] == '\v' ? "1" : "");
        refuses_mtx(text, message);
    }
}

/* More words than any line has, and longer ones than a number has digits. */
static void mtx_long_lines_and_words_stay_in_their_room(void **state)
{
    enum { DIGITS_MAX = 1023 };
    const char words[] = "1 1 1 1 1 1 1 1";
    char text[2 * DIGITS_MAX], message[128];

    (void)state;
    for (size_t count = 4; count <= 8; count++) {
        const int length = 2 * (int)count - 1;

        snprintf(text, sizeof(text), "%s2 2 1\n%.*s\n", BANNER("coordinate real general"), length,
                 words);
        snprintf(message, sizeof(message),
                 "a.mtx: line 3: expected ROW COLUMN VALUE, found \"%.*s\"", length, words);
        refuses_mtx(text, message);
    }
    for (int digits = DIGITS_MAX - 1; digits <= DIGITS_MAX + 2; digits++) {
        array a = {0};

        snprintf(text, sizeof(text), "%s1 1\n%0*d\n", BANNER("array real general"), digits, 7);
        assert_int_equal(parse(text, &a, NULL), digits <= DIGITS_MAX ? TSR_OK : TSR_EFILE);
        assert_true(digits > DIGITS_MAX || *(double *)a.data == 7);
        array_free(&a);
    }
}

static bool use_comma(const char *locale)
{
    return setlocale(LC_ALL, locale) && localeconv()->decimal_point[0] == ',';
}

/* Few machines have such a locale installed; most can make one. */
static void numbers_have_a_point_in_every_locale(void **state)
{
    char directory[] = "/tmp/test_array.XXXXXX", command[256];
    bool found;

    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(command, sizeof(command),
             "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1 || true", directory,
             directory);
    found = use_comma("de_DE.UTF-8");
    if (!found && system(command) == 0) {
        setenv("LOCPATH", directory, 1);
        found = use_comma("de_DE.UTF-8");
        unsetenv("LOCPATH");
    }
    snprintf(command, sizeof(command), "rm -r %s", directory);
    assert_int_equal(system(command), 0);
    if (!found)
        skip();
    reads_mtx(BANNER("array real general") "1 1\n1.5\n", 1, 1, (double[]){1.5});
    assert_int_equal(localeconv()->decimal_point[0], ','); /* the caller's is kept */
    setlocale(LC_ALL, "C");
}

static void the_thread_keeps_its_locale(void **state)
{
    (void)state;
    reads_mtx(BANNER("array real general") "1 1\n1.5\n", 1, 1, (double[]){1.5});
    assert_true(uselocale((locale_t)0) == LC_GLOBAL_LOCALE);
    refuses_mtx(BANNER("array real general") "1 1\nx\n",
                "a.mtx: line 3: value: expected a number within the range of float64, found \"x\"");
    assert_true(uselocale((locale_t)0) == LC_GLOBAL_LOCALE);
}

/* The formats' files on disk, one at a time. */
static const char *scratch(void)
{
    static char path[64];

    snprintf(path, sizeof(path), "/tmp/test_array.%ld", (long)getpid());
    return path;
}

static void put_file(const void *bytes, size_t size)
{
    FILE *f = fopen(scratch(), "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void refuses_file(const char *path, tsr_status status, const char *why)
{
    array a = {0};
    tsr_error err = {0};
    char message[256];

    snprintf(message, sizeof(message), "%s: %s", path, why);
    assert_int_equal(array_read(path, &a, &err), status);
    assert_string_equal(err.message, message);
    assert_null(a.data);
    assert_int_equal(array_read(path, &a, NULL), status);
}

static void read_tells_apart_what_is_wrong_with_a_path(void **state)
{
    (void)state;
    refuses_file("/nonexistent/a.npy", TSR_EFILE, "cannot open: No such file or directory");
    refuses_file("/tmp", TSR_EFILE, "is a directory");
    put_file("", 0);
    refuses_file(scratch(), TSR_EFILE, "is empty");
    put_file("hello\n", 6);
    refuses_file(scratch(), TSR_EFILE,
                 "is not a .npy, Matrix Market, PNG, PPM or PGM file: begins with \"hello?\"");
    put_file("P3\n1 1\n255\n1 2 3\n", 17);
    refuses_file(scratch(), TSR_EFILE,
                 "is a P3 picture; only binary PGM (P5) and PPM (P6) are read");
    put_file("PK\x03\x04", 4);
    refuses_file(scratch(), TSR_EFILE,
                 "is a zip archive (.npz?); save one of its arrays with numpy.save");
    if (geteuid() != 0) {
        chmod(scratch(), 0);
        refuses_file(scratch(), TSR_EFILE, "cannot open: Permission denied");
    }
    unlink(scratch());
}

static void read_recognises_content_and_not_names(void **state)
{
    const float data[] = {1.5f, -2};
    npy_text t = npy(1, plain, data, sizeof(data));
    array a = {0};
    tsr_error err = {0};

    (void)state;
    put_file(t.bytes, t.size);
    assert_int_equal(array_read(scratch(), &a, &err), TSR_OK);
    assert_memory_equal(a.data, data, sizeof(data));
    array_free(&a);
    assert_null(a.data);
    put_file(BANNER("array real general") "1 1\n4\n", 47);
    assert_int_equal(array_read(scratch(), &a, &err), TSR_OK);
    assert_int_equal(a.type, TSR_F64);
    array_free(&a);
    unlink(scratch());
}

/* A sparse file claims a size that no machine has the memory for. */
static void read_of_a_file_beyond_memory_is_refused_before_allocation(void **state)
{
    npy_text t = npy(1, "{'descr':'<f8','fortran_order':False,'shape':(137438953472,)}", "", 0);
    array a = {0};
    tsr_error err = {0};

    (void)state;
    put_file(t.bytes, t.size);
    if (truncate(scratch(), (off_t)t.size + ((off_t)1 << 40)) != 0)
        skip();
    assert_int_equal(array_read(scratch(), &a, &err), TSR_EOVERFLOW);
    assert_non_null(strstr(err.message, "needs 1099511627776 bytes of memory; this machine has"));
    unlink(scratch());
}

/* Runs array_read on standard input that a child fills through a pipe. */
static tsr_status read_piped(const void *bytes, size_t size, array *a, tsr_error *err)
{
    int ends[2], before = dup(STDIN_FILENO);
    pid_t child;
    tsr_status status;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        close(ends[0]);
        for (size_t at = 0; at < size;) {
            ssize_t n = write(ends[1], (const char *)bytes + at, size - at);

            if (n < 0)
                _exit(1);
            at += (size_t)n;
        }
        _exit(0);
    }
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    status = array_read("-", a, err);
    dup2(before, STDIN_FILENO); /* a child that still writes gets SIGPIPE */
    close(before);
    assert_int_equal(waitpid(child, NULL, 0), child);
    return status;
}

/* Larger than a pipe, the head and the first block together. */
static void standard_input_is_read_to_its_end(void **state)
{
    enum { COUNT = 150001 };
    const char dictionary[] = "{'descr':'<i4','fortran_order':False,'shape':(150001,)}";
    npy_text head = npy(1, dictionary, NULL, 0);
    size_t size = head.size + COUNT * 4;
    unsigned char *file = malloc(size + 1);
    array a = {0};
    tsr_error err = {0};

    (void)state;
    memcpy(file, head.bytes, head.size);
    for (int32_t i = 0; i < COUNT; i++)
        memcpy(file + head.size + 4 * (size_t)i, &i, 4);
    assert_int_equal(read_piped(file, size, &a, &err), TSR_OK);
    assert_memory_equal(a.data, file + head.size, COUNT * 4);
    array_free(&a);
    assert_int_equal(read_piped(file, size - 1, &a, &err), TSR_EFILE);
    assert_string_equal(err.message,
                        "standard input: data: truncated, expected 600004 bytes, found 600003");
    file[size] = 0;
    assert_int_equal(read_piped(file, size + 1, &a, &err), TSR_EFILE);
    assert_string_equal(err.message,
                        "standard input: data: more bytes follow the 600004 of the array");
    assert_int_equal(read_piped("", 0, &a, &err), TSR_EFILE);
    assert_string_equal(err.message, "standard input: is empty");
    free(file);
}

/* As a signal may leave it, and a file system in another machine. */
static void reads_may_be_short_and_interrupted(void **state)
{
    const float values[] = {1, 2, 3, 4, 5};
    const npy_text file = npy(1, "{'descr':'<f4','fortran_order':False,'shape':(5,)}", values, 20);
    array a = {0};
    tsr_error err = {0};
    tsr_status status;

    (void)state;
    read_most = 7;
    status = read_piped(file.bytes, file.size, &a, &err);
    read_most = 0;
    assert_int_equal(status, TSR_OK);
    assert_memory_equal(a.data, values, sizeof(values));
    array_free(&a);
}

/* As a shell leaves it after another command has read a part. */
static void standard_input_may_be_a_file_read_from_its_middle(void **state)
{
    const float data[] = {1.5f, -2};
    npy_text t = npy(1, plain, data, sizeof(data));
    char file[sizeof(t.bytes) + 5] = "first";
    int before = dup(STDIN_FILENO), fd;
    array a = {0};
    tsr_error err = {0};
    tsr_status status;

    (void)state;
    memcpy(file + 5, t.bytes, t.size);
    put_file(file, t.size + 5);
    fd = open(scratch(), O_RDONLY);
    assert_int_equal(lseek(fd, 5, SEEK_SET), 5);
    dup2(fd, STDIN_FILENO);
    close(fd);
    status = array_read("-", &a, &err);
    dup2(before, STDIN_FILENO);
    close(before);
    unlink(scratch());
    assert_int_equal(status, TSR_OK);
    assert_memory_equal(a.data, data, sizeof(data));
    array_free(&a);
}

/* A header from a pipe may ask for anything: memory follows what arrives. */
static void standard_input_that_lies_about_its_size_costs_no_memory(void **state)
{
    npy_text t = npy(1, "{'descr':'<f8','fortran_order':False,'shape':(137438953472,)}", "x", 1);
    array a = {0};
    tsr_error err = {0};

    (void)state;
    assert_int_equal(read_piped(t.bytes, t.size, &a, &err), TSR_EFILE);
    assert_string_equal(err.message,
                        "standard input: data: truncated, expected 1099511627776 bytes, found 1");
}

static array array_of(tsr_type type, size_t count, const void *data)
{
    size_t bytes = count * tsr_type_size(type);
    array a = {.type = type, .rank = 1, .shape = {count, 1}, .data = malloc(bytes)};

    assert_non_null(a.data);
    memcpy(a.data, data, bytes);
    return a;
}

static void conversion_rounds_once_and_to_even(void **state)
{
    /* 2^54 + 2^30 + 1 is nearer to the next float; by way of double it would be a tie. */
    const int64_t i64[] = {(INT64_C(1) << 54) + (INT64_C(1) << 30) + 1, -16777217, 16777219};
    const float expected[] = {18014400656965632.0f, -16777216, 16777220};
    /* So is this one, which no signed one holds. */
    const uint64_t u64[] = {(UINT64_C(1) << 63) + (UINT64_C(1) << 39) + 1, UINT64_MAX};
    const float from_u64[] = {0x1.000002p63f, 0x1p64f};
    const double f64[] = {1 + 0x1p-24, 1 + 0x3p-24, 1e300};
    const float rounded[] = {1, 1 + 0x1p-22f, INFINITY};
    array a = array_of(TSR_I64, 3, i64);

    (void)state;
    assert_int_equal(array_convert(&a, TSR_F32, NULL, NULL), TSR_OK);
    assert_int_equal(a.type, TSR_F32);
    assert_int_equal((uintptr_t)a.data % 64, 0);
    assert_memory_equal(a.data, expected, sizeof(expected));
    array_free(&a);
    a = array_of(TSR_U64, 2, u64);
    assert_int_equal(array_convert(&a, TSR_F32, NULL, NULL), TSR_OK);
    assert_memory_equal(a.data, from_u64, sizeof(from_u64));
    array_free(&a);
    a = array_of(TSR_F64, 3, f64);
    assert_int_equal(array_convert(&a, TSR_F32, NULL, NULL), TSR_OK);
    assert_memory_equal(a.data, rounded, sizeof(rounded));
    array_free(&a);
}

static void conversion_of_float16_is_exact(void **state)
{
    const uint16_t f16[] = {0, 0x8000, 1, 0x83FF, 0x0400, 0x3C00, 0xC100, 0x7BFF, 0x7C00, 0xFC00};
    const float expected[] = {0,    -0.0f, 0x1p-24f, -0x3FFp-24f, 0x1p-14f,
                              1.0f, -2.5f, 65504,    INFINITY,    -INFINITY};
    const uint16_t nan = 0x7E01;
    array a = array_of(TSR_F16, 10, f16);

    (void)state;
    assert_int_equal(array_convert(&a, TSR_F32, NULL, NULL), TSR_OK);
    assert_memory_equal(a.data, expected, sizeof(expected));
    array_free(&a);
    a = array_of(TSR_F16, 1, &nan);
    assert_int_equal(array_convert(&a, TSR_F64, NULL, NULL), TSR_OK);
    assert_true(isnan(*(double *)a.data));
    array_free(&a);
}

/* 2^62 + 2^54 + 1 lies above the middle of two bfloat16; by way of double it would be on it. */
static void conversion_to_16_bits_rounds_once(void **state)
{
    const int64_t i64[] = {(INT64_C(1) << 62) + (INT64_C(1) << 54) + 1,
                           -(INT64_C(1) << 62) - (INT64_C(1) << 54), 65519, -65520, 3};
    const double f64[] = {1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-8, 0x1p-25, -0.0, NAN};
    const uint16_t bfloats[] = {0x5E81, 0xDE80, 0x4780, 0xC780, 0x4040};
    const uint16_t halves[] = {0x3C01, 0x3C04, 0, 0x8000};
    array a = array_of(TSR_I64, 5, i64);

    (void)state;
    assert_int_equal(array_convert(&a, TSR_BF16, NULL, NULL), TSR_OK);
    assert_int_equal(a.type, TSR_BF16);
    assert_memory_equal(a.data, bfloats, sizeof(bfloats));
    assert_int_equal(array_convert(&a, TSR_F32, NULL, NULL), TSR_OK);
    assert_true(((float *)a.data)[4] == 3);
    array_free(&a);
    a = array_of(TSR_F64, 5, f64);
    assert_int_equal(array_convert(&a, TSR_F16, NULL, NULL), TSR_OK);
    assert_memory_equal(a.data, halves, sizeof(halves));
    assert_int_equal(((uint16_t *)a.data)[4] & 0x7C00, 0x7C00);
    assert_true((((uint16_t *)a.data)[4] & 0x3FF) != 0);
    array_free(&a);
}

/* NaN and infinity stay what they are; 65520 is the first that rounds to infinity. */
static void conversion_counts_what_overflows(void **state)
{
    const double f64[] = {65519.99, 65520, -1e6, INFINITY, NAN, 1e300};
    array a = array_of(TSR_F64, 6, f64);
    size_t overflowed = 9;

    (void)state;
    assert_int_equal(array_convert(&a, TSR_F64, &overflowed, NULL), TSR_OK);
    assert_int_equal(overflowed, 0);
    assert_int_equal(array_convert(&a, TSR_F32, &overflowed, NULL), TSR_OK);
    assert_int_equal(overflowed, 1);
    assert_int_equal(array_convert(&a, TSR_F16, &overflowed, NULL), TSR_OK);
    assert_int_equal(overflowed, 2);
    array_free(&a);
}

/* FP8 saturates: e4m3 from above 464 on, which is a tie with 448, the even one; e5m2 from 61440 on.
 */
static void conversion_counts_what_saturates(void **state)
{
    const double f64[] = {464, 464.01, -61439, -61440, INFINITY, NAN};
    const struct {
        tsr_type type;
        size_t count;
    } saturated[] = {{TSR_F8E4M3, 4}, {TSR_F8E5M2, 2}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        array a = array_of(TSR_F64, 6, f64);
        size_t count = 0;

        assert_int_equal(array_convert(&a, saturated[i].type, &count, NULL), TSR_OK);
        assert_int_equal(count, saturated[i].count);
        array_free(&a);
    }
}

/* The ends of each type, and what lies just beyond them. */
static void conversion_to_integers_is_exact(void **state)
{
    const struct {
        tsr_type type;
        double low, beyond_low, high, beyond_high;
    } ends[] = {{TSR_I8, -128, -129, 127, 128},
                {TSR_U8, 0, -1, 255, 256},
                {TSR_I16, -32768, -32769, 32767, 32768},
                {TSR_U16, 0, -1, 65535, 65536},
                {TSR_I32, -0x1p31, -0x1p31 - 1, 0x1p31 - 1, 0x1p31},
                {TSR_U32, 0, -1, 0x1p32 - 1, 0x1p32},
                {TSR_I64, -0x1p63, -0x1.0000000000001p63, 0x1.fffffffffffffp62, 0x1p63},
                {TSR_U64, 0, -1, 0x1.fffffffffffffp63, 0x1p64}};

    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const double within[] = {ends[i].low, ends[i].high, -0.0};
        const double beyond[] = {ends[i].beyond_low, ends[i].beyond_high, 0.5, NAN, -INFINITY};
        array a = array_of(TSR_F64, 3, within);

        assert_int_equal(array_to_integers("x", &a, ends[i].type, NULL), TSR_OK);
        assert_int_equal(a.type, ends[i].type);
        assert_int_equal(array_convert(&a, TSR_F64, NULL, NULL), TSR_OK);
        for (size_t k = 0; k < 3; k++)
            assert_true(((const double *)a.data)[k] == within[k]);
        array_free(&a);
        for (size_t k = 0; k < sizeof beyond / sizeof *beyond; k++) {
            a = array_of(TSR_F64, 1, &beyond[k]);
            assert_int_equal(array_to_integers("x", &a, ends[i].type, NULL), TSR_EINVAL);
            assert_int_equal(a.type, TSR_F64);
            array_free(&a);
        }
    }
}

static void conversion_between_integers_says_what_does_not_fit(void **state)
{
    const int64_t i64[] = {-128, INT64_MIN};
    const uint64_t most = UINT64_MAX;
    array a = array_of(TSR_I64, 2, i64);
    tsr_error err = {0};

    (void)state;
    assert_int_equal(array_to_integers("x.npy", &a, TSR_I8, &err), TSR_EINVAL);
    assert_string_equal(err.message, "x.npy: element 1 is -9223372036854775808, and int8 has the "
                                     "whole numbers from -128 to 127");
    assert_int_equal(array_to_integers("x.npy", &a, TSR_U64, &err), TSR_EINVAL);
    assert_string_equal(err.message, "x.npy: element 0 is -128, below 0");
    a.shape[0] = 1;
    assert_int_equal(array_to_integers("x.npy", &a, TSR_I8, &err), TSR_OK);
    assert_int_equal(*(const int8_t *)a.data, -128);
    array_free(&a);
    a = array_of(TSR_U64, 1, &most);
    assert_int_equal(array_to_integers("x.npy", &a, TSR_I64, &err), TSR_EINVAL);
    assert_string_equal(err.message, "x.npy: element 0 is 18446744073709551615, and int64 has the "
                                     "whole numbers from -9223372036854775808 to "
                                     "9223372036854775807");
    array_free(&a);
}

static void conversion_refuses_other_targets(void **state)
{
    const int32_t one = 1;
    array a = array_of(TSR_I32, 1, &one);
    array none = {.type = TSR_U8, .rank = 2, .shape = {0, 5}};
    tsr_error err = {0};

    (void)state;
    assert_int_equal(array_convert(&a, TSR_I8, NULL, &err), TSR_EINVAL);
    assert_string_equal(err.message, "conversion from int32 to int8: the result can only be "
                                     "float32, float64, float16, bfloat16 or FP8");
    assert_int_equal(a.type, TSR_I32);
    array_free(&a);
    array_free(NULL);
    assert_int_equal(array_convert(&none, TSR_F64, NULL, &err), TSR_OK);
    assert_int_equal(none.type, TSR_F64);
    assert_null(none.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(npy_dictionary_may_be_written_in_any_way),
        cmocka_unit_test(npy_orders_of_bytes_and_elements_are_undone),
        cmocka_unit_test(npy_fortran_order_of_many_blocks),
        cmocka_unit_test(npy_fortran_order_of_many_extents),
        cmocka_unit_test(npy_malformed_dictionaries_are_told_apart),
        cmocka_unit_test(npy_shapes_beyond_reach_are_refused),
        cmocka_unit_test(npy_types_that_are_not_read_are_named),
        cmocka_unit_test(npy_wrong_sizes_say_expected_and_found),
        cmocka_unit_test(npy_magic_and_version_are_checked),
        cmocka_unit_test(mtx_every_form_is_read),
        cmocka_unit_test(mtx_without_rows_costs_no_time),
        cmocka_unit_test(mtx_duplicates_are_summed),
        cmocka_unit_test(mtx_layout_of_the_text_does_not_matter),
        cmocka_unit_test(mtx_special_values_and_range),
        cmocka_unit_test(mtx_banner_is_checked),
        cmocka_unit_test(mtx_complex_and_hermitian_are_refused_by_name),
        cmocka_unit_test(mtx_size_line_is_checked),
        cmocka_unit_test(mtx_dense_size_beyond_memory_is_refused_before_allocation),
        cmocka_unit_test(mtx_number_of_entries_is_checked),
        cmocka_unit_test(mtx_entries_are_checked_and_their_line_told),
        cmocka_unit_test(mtx_what_strtod_would_take_beside_numbers_is_refused),
        cmocka_unit_test(mtx_long_lines_and_words_stay_in_their_room),
        cmocka_unit_test(the_thread_keeps_its_locale),
        cmocka_unit_test(numbers_have_a_point_in_every_locale),
        cmocka_unit_test(read_tells_apart_what_is_wrong_with_a_path),
        cmocka_unit_test(read_recognises_content_and_not_names),
        cmocka_unit_test(read_of_a_file_beyond_memory_is_refused_before_allocation),
        cmocka_unit_test(standard_input_is_read_to_its_end),
        cmocka_unit_test(reads_may_be_short_and_interrupted),
        cmocka_unit_test(standard_input_may_be_a_file_read_from_its_middle),
        cmocka_unit_test(standard_input_that_lies_about_its_size_costs_no_memory),
        cmocka_unit_test(conversion_rounds_once_and_to_even),
        cmocka_unit_test(conversion_of_float16_is_exact),
        cmocka_unit_test(conversion_to_16_bits_rounds_once),
        cmocka_unit_test(conversion_counts_what_overflows),
        cmocka_unit_test(conversion_counts_what_saturates),
        cmocka_unit_test(conversion_to_integers_is_exact),
        cmocka_unit_test(conversion_between_integers_says_what_does_not_fit),
        cmocka_unit_test(conversion_refuses_other_targets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
