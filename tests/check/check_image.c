/* Images: round trips over all dtypes, files as other programs write them, hostile headers. */
#include "check_stack.h"

#include <dirent.h>
#include <hdf5.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "airy/file.h"

#include "base/cache_file.h"
#include "io/image/formats.h"
#include "io/file/plain_file.h"

static const char *tmp_path(struct check *c, const char *name)
{
    const char *folder = check_tmp(c);
    char *path = check_alloc(c, strlen(folder) + strlen(name) + 2);
    sprintf(path, "%s/%s", folder, name);
    return path;
}

static void check_round_trip(struct check *c, airy_dtype dtype, int ndim, const char *suffix)
{
    if (!check_case(c, "image_%s_%dd%s", airy_dtype_name(dtype), ndim, suffix))
        return;
    airy_image image = {.dtype = dtype, .ndim = ndim}, back;
    size_t count = 1;
    for (int axis = 0; axis < ndim; axis++) {
        image.shape[axis] = (size_t)(7 - 2 * axis) + (axis == 3);
        count *= image.shape[axis];
    }
    const size_t size = airy_dtype_size(dtype);
    image.data = check_alloc(c, count * size);
    check_rand(c, image.data, AIRY_DTYPE_U8, count * size, 0,
               255); /* NaN and infinities among the floats: bytes must come back */
    char name[32];
    snprintf(name, sizeof(name), "image%s", suffix);
    const char *path = tmp_path(c, name);
    if (strcmp(suffix, ".edf") == 0 && ndim == 4) {
        CHECK_FAILS(c, airy_image_write(&image, path, false), AIRY_ERR_UNSUPPORTED,
                    "at most 3 dimensions");
        return;
    }
    CHECK_OK(c, airy_image_write(&image, path, false));
    CHECK_FAILS(c, airy_image_write(&image, path, false), AIRY_ERR_EXISTS, "is there already");
    CHECK_OK(c, airy_image_write(&image, path, true));
    if (strcmp(suffix, ".fits") == 0 && !AIRY_HAVE_FITS) {
        CHECK_FAILS(c, airy_image_read(&back, path), AIRY_ERR_UNSUPPORTED, "lacks CFITSIO");
        return;
    }
    if (!CHECK_OK(c, airy_image_read(&back, path)))
        return;
    const bool row = strcmp(suffix, ".edf") == 0 && ndim == 1; /* EDF has at least two axes */
    CHECK(c, back.dtype == dtype && back.ndim == ndim + row);
    CHECK(c, memcmp(back.shape + row, image.shape, (size_t)ndim * sizeof(size_t)) == 0);
    CHECK(c, memcmp(back.data, image.data, count * size) == 0);
    airy_image_free(&back);
    CHECK(c, back.data == NULL);
}

/* A file of this header text (padding and all) and data. */
static const char *npy_file(struct check *c, int version, const char *text, const void *data,
                            size_t bytes)
{
    const size_t length = strlen(text), fixed = version == 1 ? 10 : 12;
    uint8_t *file = check_alloc(c, fixed + length + bytes);
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (uint8_t)version;
    file[8] = (uint8_t)length;
    file[9] = (uint8_t)(length >> 8);
    memcpy(file + fixed, text, length);
    if (bytes)
        memcpy(file + fixed + length, data, bytes);
    return stack_spill(c, "x.npy", file, fixed + length + bytes);
}

static void check_npy_variants(struct check *c)
{
    if (!check_case(c, "npy_variants"))
        return;
    static const uint8_t big[6] = {0, 1, 0, 2, 1, 0};        /* > u2: 1, 2, 256 */
    static const int16_t fortran[6] = {0, 10, 1, 11, 2, 12}; /* of [[0, 1, 2], [10, 11, 12]] */
    static const double one = 2.5;
    airy_image image;
    CHECK_OK(
        c, airy_image_read(
               &image, npy_file(c, 2, "{'descr': '>u2', 'fortran_order': False, 'shape': (3,), }\n",
                                big, 6)));
    CHECK(c, image.ndim == 1 && image.shape[0] == 3 && airy_image_value(&image, 0) == 1 &&
                 airy_image_value(&image, 2) == 256);
    airy_image_free(&image);
    CHECK_OK(
        c, airy_image_read(
               &image, npy_file(c, 3, "{\"shape\":(2,3),\"fortran_order\":True,\"descr\":\"<i2\"}",
                                fortran, 12)));
    CHECK(c, image.ndim == 2 && image.shape[0] == 2 && image.shape[1] == 3);
    for (size_t i = 0; i < 6; i++)
        CHECK(c, airy_image_value(&image, i) == (i < 3 ? (double)i : 7.0 + (double)i));
    airy_image_free(&image);
    CHECK_OK(c, airy_image_read(
                    &image, npy_file(c, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': ()}",
                                     &one, 8)));
    CHECK(c, image.ndim == 1 && image.shape[0] == 1 && airy_image_value(&image, 0) == 2.5);
    airy_image_free(&image);
    CHECK_OK(
        c, airy_image_read(
               &image, npy_file(c, 1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2L, 1L)}",
                                "\1", 2)));
    CHECK(c, image.dtype == AIRY_DTYPE_U8 && image.ndim == 2 && airy_image_value(&image, 0) == 1);
    airy_image_free(&image);
}

/* IEEE 754-2008, 3.4: binary16 by its definition. */
static float half_value(unsigned half)
{
    const unsigned exponent = half >> 10 & 31, fraction = half & 1023;
    const double size = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                        : exponent     ? ldexp(1024 + fraction, (int)exponent - 25)
                                       : ldexp(fraction, -24);
    return (float)copysign(size, half & 0x8000 ? -1.0 : 1.0);
}

static bool is_half(float got, unsigned half)
{
    const float want = half_value(half);
    return isnan(want) ? isnan(got) != 0 : got == want && !signbit(got) == !signbit(want);
}

/* All values of float16: 4 frames of 128 x 128 in either byte order, as an image, a stack, a reader. */
static void check_npy_half_of(struct check *c, bool big, bool fortran)
{
    enum { FRAME = 128 * 128, COUNT = 4 * FRAME };
    char text[128];
    uint8_t *data = check_alloc(c, (size_t)2 * COUNT);
    float *frame = check_alloc(c, FRAME * sizeof(float));
    airy_image image = {0};
    airy_stack *stack = NULL;
    size_t wrong = 0;
    for (size_t i = 0; i < COUNT; i++) {
        data[2 * i + !big] = (uint8_t)(i >> 8);
        data[2 * i + big] = (uint8_t)i;
    }
    snprintf(text, sizeof(text), "{'descr': '%cf2', 'fortran_order': %s, 'shape': (4, 128, 128)}",
             big ? '>' : '<', fortran ? "True" : "False");
    const char *path = npy_file(c, 1, text, data, (size_t)2 * COUNT);
    if (!CHECK_OK(c, airy_image_read(&image, path)) ||
        !CHECK_OK(c, airy_stack_create(&stack, &path, 1)))
        return;
    CHECK(c, image.dtype == AIRY_DTYPE_F32 && image.ndim == 3 && image.shape[0] == 4);
    for (size_t i = 0; i < COUNT; i++) {
        const size_t z = i / FRAME, y = i / 128 % 128, x = i % 128;
        wrong += !is_half(((const float *)image.data)[i],
                          (unsigned)(fortran ? z + 4 * (y + 128 * x) : i));
    }
    CHECK_OK(c, airy_stack_read(stack, 3, frame, FRAME * sizeof(float)));
    const float *last = (const float *)image.data + (size_t)3 * FRAME;
    CHECK(c, wrong == 0 && memcmp(frame, last, FRAME * sizeof(float)) == 0);
    airy_stack_destroy(&stack);
    airy_image_free(&image);
    for (size_t cut = 1; cut <= 3; cut++)
        CHECK_FAILS(c, airy_image_read(&image, npy_file(c, 1, text, data, 2 * COUNT - cut)),
                    AIRY_ERR_FORMAT, "its shape needs 131072");
}

static void check_npy_half(struct check *c)
{
    if (!check_case(c, "npy_half"))
        return;
    for (unsigned i = 0; i < 4; i++)
        check_npy_half_of(c, i & 1, i & 2);
}

/* Kernels of SExtractor. */
static void check_conv(struct check *c)
{
    static const struct {
        const char *text;
        size_t height, width;
        double values[9];
    } kernels[] = {
        {"CONV NORM\n# 3x3 mask of FWHM = 2 pixels.\n1 2 1\n2 4 2\n1 2 1\n",
         3,
         3,
         {0.0625, 0.125, 0.0625, 0.125, 0.25, 0.125, 0.0625, 0.125, 0.0625}},
        {"CONV NONORM\r\n 1.5e1\t-2 \r\n\r\n#\n0 +.25 # the last", 2, 2, {15, -2, 0, 0.25}},
        {"CONV NORM # of absolute values\n-1 2 -1\n", 1, 3, {-0.25, 0.5, -0.25}},
        {"CONV\n8\n0\n", 2, 1, {1, 0}},
        {"CONV\tNONORM\n0", 1, 1, {0}},
    };
    if (!check_case(c, "conv"))
        return;
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
        for (int named = 0; named < 2; named++) {
            airy_image image = {0};
            const size_t count = kernels[i].height * kernels[i].width;
            const char *path =
                stack_spill(c, named ? "x.conv" : "x", kernels[i].text, strlen(kernels[i].text));
            if (!CHECK_OK(c, airy_image_read(&image, path)))
                continue;
            CHECK(c, airy_image_is_plain(path));
            CHECK(c, image.dtype == AIRY_DTYPE_F64 && image.ndim == 2 &&
                         image.shape[0] == kernels[i].height && image.shape[1] == kernels[i].width);
            CHECK(c, memcmp(image.data, kernels[i].values, count * sizeof(double)) == 0);
            CHECK(c, !airy_image_has_format("x.conv") && airy_image_is_plain("x.conv"));
            CHECK_FAILS(c, airy_image_write(&image, "x.conv", true), AIRY_ERR_UNSUPPORTED,
                        "no format that is written");
            airy_image_free(&image);
        }
    static const char marked[] = "\xef\xbb\xbf"
                                 "CONV NONORM\r\n1 2\r\n";
    airy_image image = {0};
    if (CHECK_OK(c, airy_image_read(&image, stack_spill(c, "x.conv", marked, sizeof(marked) - 1))))
        CHECK(c, image.shape[1] == 2 && ((double *)image.data)[1] == 2);
    airy_image_free(&image);
}

static const char *repeat(struct check *c, const char *start, const char *part, size_t count)
{
    const size_t head = strlen(start), n = strlen(part);
    char *text = check_alloc(c, head + n * count + 1);
    memcpy(text, start, head + 1);
    for (size_t i = 0; i < count; i++)
        memcpy(text + head + i * n, part, n + 1);
    return text;
}

static void check_conv_hostile(struct check *c)
{
    if (!check_case(c, "conv_hostile"))
        return;
    const struct {
        const char *text, *part;
    } bad[] = {
        {"", "line 1: expected CONV NORM"},
        {"\n\n", "line 1: expected CONV NORM"},
        {"1 2 1\n", "line 1: expected CONV NORM"},
        {"# CONV NORM\n1", "line 1: expected CONV NORM"},
        {"CONVOLVE NORM\n1", "line 1: expected CONV NORM"},
        {"CONV SUM\n1", "line 1: 'SUM', expected CONV NORM"},
        {"CONV", "line 1: the file ends before a row"},
        {"CONV NORM\n# nothing\n", "line 2: the file ends before a row"},
        {"CONV NORM\n1 2\n\n1\n", "line 4: a row of 1 numbers, the first one has 2"},
        {"CONV NORM\n1 2x\n", "line 2: '2x', expected a decimal number"},
        {"CONV NORM\n1 0x10\n", "line 2: '0x10', expected a decimal number"},
        {"CONV NORM\n1,2\n", "line 2: '1,2', expected a decimal number"},
        {"CONV NORM\n1\n\x1b[31mred\n", "line 3: '?[31mred'"},
        {"CONV NORM\nabcdefghijklmnopqrstuvwxyz\n", "'abcdefghijklmnopqrst...'"},
        {"CONV NONORM\n1 nan\n", "'nan', expected a decimal number"},
        {"CONV NONORM\n1e999\n", "'1e999', expected a decimal number"},
        {"CONV NORM\n0 0\n", "NORM: the sum of absolute values is 0"},
        {"CONV NORM\n1e308 1e308\n", "NORM: the sum of absolute values is inf"},
        {repeat(c, "CONV NORM\n", "1 ", 1026), "line 2: more than 1025 numbers in a row"},
        {repeat(c, "CONV NORM\n", "1\n", 1026), "line 1027: more than 1025 rows"},
    };
    airy_image image = {0};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_FAILS(
            c, airy_image_read(&image, stack_spill(c, "x.conv", bad[i].text, strlen(bad[i].text))),
            AIRY_ERR_FORMAT, bad[i].part);
    CHECK_FAILS(c, airy_image_read(&image, stack_spill(c, "x.conv", "CONV NORM\n1\0 2\n", 15)),
                AIRY_ERR_FORMAT, "byte 11 is 0");
    const char *large = stack_spill(c, "x.conv", "CONV NORM\n1\n", 12);
    CHECK(c, truncate(large, (off_t)1 << 40) == 0);
    CHECK_FAILS(c, airy_image_read(&image, large), AIRY_ERR_FORMAT, "expected a kernel of at most");
    const char *most = repeat(c, "CONV NONORM\n", repeat(c, "", "1 ", 1025), 1);
    CHECK_OK(c, airy_image_read(&image, stack_spill(c, "x.conv", most, strlen(most))));
    CHECK(c, image.shape[1] == 1025);
    airy_image_free(&image);
}

static void check_npy_hostile(struct check *c)
{
    if (!check_case(c, "npy_hostile"))
        return;
    static const struct {
        const char *text;
        airy_status status;
        const char *part;
    } bad[] = {
        {"", AIRY_ERR_FORMAT, "no dictionary"},
        {"{", AIRY_ERR_FORMAT, "malformed"},
        {"{}", AIRY_ERR_FORMAT, "'descr' is missing"},
        {"{'descr': '<f4', 'descr': '<f4'}", AIRY_ERR_FORMAT, "there twice"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", AIRY_ERR_FORMAT,
         "'x' is unknown"},
        {"{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}", AIRY_ERR_FORMAT, "malformed"},
        {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}", AIRY_ERR_FORMAT,
         "neither True nor False"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 1}", AIRY_ERR_FORMAT, "no tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", AIRY_ERR_FORMAT,
         "tuple of sizes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}", AIRY_ERR_FORMAT,
         "tuple of sizes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,", AIRY_ERR_FORMAT,
         "tuple of sizes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1)}", AIRY_ERR_UNSUPPORTED,
         "more than 4"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0,)}", AIRY_ERR_SHAPE, "shape[0] = 0"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296,4294967296)}",
         AIRY_ERR_SHAPE, "below 2^64"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
         AIRY_ERR_FORMAT, "tuple of sizes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", AIRY_ERR_FORMAT,
         "behind the dictionary"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", AIRY_ERR_FORMAT,
         "4 bytes behind the header"},
        {"{'descr': '<u1', 'fortran_order': False, 'shape': (3,)}", AIRY_ERR_FORMAT,
         "its shape needs 3"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", AIRY_ERR_UNSUPPORTED,
         "structured"},
        {"{'descr': '<c32', 'fortran_order': False, 'shape': (1,)}", AIRY_ERR_UNSUPPORTED,
         "'<c32'"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1, 1, 1, 1)}", AIRY_ERR_UNSUPPORTED,
         "complex numbers of 4 dimensions"},
        {"{'descr': 'f4', 'fortran_order': False, 'shape': (1,)}", AIRY_ERR_FORMAT,
         "no byte order"},
        {"{'descr': '|f4', 'fortran_order': False, 'shape': (1,)}", AIRY_ERR_FORMAT,
         "no byte order"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", AIRY_ERR_UNSUPPORTED, "'|O'"},
        {"{'descr': '<f4\\'', 'fortran_order': False, 'shape': (1,)}", AIRY_ERR_FORMAT,
         "no string"},
    };
    airy_image image;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_FAILS(c, airy_image_read(&image, npy_file(c, 1, bad[i].text, "\0\0\0", 4)),
                    bad[i].status, bad[i].part);
    CHECK_FAILS(c, airy_image_read(&image, npy_file(c, 4, "{}", "", 0)), AIRY_ERR_UNSUPPORTED,
                "version 4.0");
    CHECK_FAILS(c, airy_image_read(&image, stack_spill(c, "x.npy", "\x93NUMPY\1\0\xff\xff{", 11)),
                AIRY_ERR_FORMAT, "ends inside");
    CHECK_FAILS(
        c, airy_image_read(&image, stack_spill(c, "x.npy", "\x93NUMPY\2\0\xff\xff\xff\xff{", 13)),
        AIRY_ERR_FORMAT, "at most 65536");
    CHECK_FAILS(c, airy_image_read(&image, stack_spill(c, "x.npy", "\x93NUMPY\2\0\0\0", 10)),
                AIRY_ERR_FORMAT, "ends inside");
    CHECK_FAILS(c, airy_image_read(&image, stack_spill(c, "x.npy", "", 0)), AIRY_ERR_FORMAT,
                "no NPY file");
    CHECK_FAILS(c, airy_image_read(&image, stack_spill(c, "x.jpg", "xx*", 3)), AIRY_ERR_UNSUPPORTED,
                "no known format");
    CHECK_FAILS(c, airy_image_read(&image, "/proc/none/x.npy"), AIRY_ERR_NOT_FOUND, "cannot open");
}

static void check_edf_files(struct check *c)
{
    if (!check_case(c, "edf_files"))
        return;
    static const char plain[] = "{\r\nHeaderID = EH:000001:000000:000000 ;\r\nDim_1 = 3;Dim_2=1 ; "
                                "datatype = UNSIGNEDSHORT ;\n"
                                "ByteOrder = HighByteFirst ; Size = 8 ;\n}\n\0\1\0\2\1\0\0\0";
    airy_image image;
    CHECK_OK(c, airy_image_read(&image, stack_spill(c, "x.edf", plain, sizeof(plain) - 1)));
    CHECK(c, image.dtype == AIRY_DTYPE_U16 && image.ndim == 2 && image.shape[0] == 1 &&
                 image.shape[1] == 3);
    CHECK(c, airy_image_value(&image, 0) == 1 && airy_image_value(&image, 1) == 2 &&
                 airy_image_value(&image, 2) == 256);
    airy_image_free(&image);
    static const struct {
        const char *text;
        airy_status status;
        const char *part;
    } bad[] = {
        {"x", AIRY_ERR_FORMAT, "does not start with '{'"},
        {"{ Dim_1 = 1 ; ", AIRY_ERR_FORMAT, "no '}'"},
        {"{ Dim_1 = 1 ; }", AIRY_ERR_FORMAT, "no line feed"},
        {"{ Dim_1 = 1 ; }\n", AIRY_ERR_FORMAT, "'DataType' is missing"},
        {"{ DataType = Complex ; }\n", AIRY_ERR_UNSUPPORTED, "'Complex'"},
        {"{ DataType = Float ; }\n", AIRY_ERR_FORMAT, "'ByteOrder' is missing"},
        {"{ DataType = Float ; ByteOrder = Middle ; }\n", AIRY_ERR_FORMAT, "'Middle'"},
        {"{ DataType = SignedByte ; }\n", AIRY_ERR_FORMAT, "'Dim_1' is missing"},
        {"{ DataType = SignedByte ; Dim_1 = -3 ; }\n", AIRY_ERR_FORMAT, "'-3'"},
        {"{ DataType = SignedByte ; Dim_1 = 0 ; }\n", AIRY_ERR_SHAPE, "= 0"},
        {"{ DataType = SignedByte ; Dim_1 = 5 ; Size = 3 ; }\n", AIRY_ERR_FORMAT,
         "its dimensions need 5"},
        {"{ DataType = SignedByte ; Dim_1 = 5 ; }\nabc", AIRY_ERR_FORMAT, "3 bytes behind"},
        {"{ DataType = SignedByte ; Dim_1 = 5 ; Size = 10 ; }\nabcde", AIRY_ERR_FORMAT,
         "10 bytes of data, but 5 are there"},
        {"{ DataType = SignedByte ; Dim_1 = 5 ; Size = 517 ; }\nabcde", AIRY_ERR_FORMAT,
         "need only 5"},
        {"{ DataType = SignedByte ; Dim_1 = 5 ; Dim_2 = 1 ; DIM_1 = 1 ; Dim_2 = 5 ; }\nabcde",
         AIRY_ERR_FORMAT, "Dim_1 is '5' and again '1'"},
        {"{ DataType = SignedByte ; DataType = UnsignedByte ; Dim_1 = 5 ; }\nabcde",
         AIRY_ERR_FORMAT, "'SignedByte' and again 'UnsignedByte'"},
        {"{ DataType = SignedByte ; Dim_1 = 5 ; Compression = GzipCompression ; }\nabcde",
         AIRY_ERR_UNSUPPORTED, "Gzip"},
        {"{ DataType = SignedByte ; Dim_1 = 3 ; }\nabc{ DataType = SignedByte ; Dim_1 = 2 ; }\nab",
         AIRY_ERR_FORMAT, "another shape"},
        {"{ DataType = SignedByte ; Dim_1 = 9999999999 ; Dim_2 = 9999999999 ; }\n", AIRY_ERR_SHAPE,
         "below 2^64"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_FAILS(
            c, airy_image_read(&image, stack_spill(c, "x.edf", bad[i].text, strlen(bad[i].text))),
            bad[i].status, bad[i].part);
}

static void check_hdf5_images(struct check *c)
{
    if (!check_case(c, "image_hdf5"))
        return;
    const char *golden = check_golden(c, "diffraction/hdf5/big_endian.h5");
    if (!golden)
        return;
    airy_image image, small = {.dtype = AIRY_DTYPE_I16,
                               .ndim = 2,
                               .shape = {2, 2},
                               .data = (int16_t[4]){1, -2, 3, -4}};
    CHECK_OK(c, airy_image_read(&image, golden));
    CHECK(c,
          image.ndim == 3 && image.shape[0] == 6 && image.shape[1] == 37 && image.shape[2] == 44);
    CHECK(c, stack_crc32(image.data, 37 * 44 * 4) == 678781668u); /* frame 0 of expected.json */
    airy_image_free(&image);
    golden = check_golden(c, "diffraction/hdf5/series_master.h5");
    CHECK_OK(c, airy_image_read(&image, golden)); /* two datasets of three frames */
    CHECK(c, image.ndim == 3 && image.shape[0] == 6);
    CHECK(c, stack_crc32((uint8_t *)image.data + 5 * 37 * 44 * 4, 37 * 44 * 4) == 1694678316u);
    airy_image_free(&image);
    char path[1024];
    snprintf(path, sizeof(path), "%s::/some/where", tmp_path(c, "x.h5"));
    CHECK_OK(c, airy_image_write(&small, path, false));
    CHECK_OK(c, airy_image_read(&image, path));
    CHECK(c, image.dtype == AIRY_DTYPE_I16 && memcmp(image.data, small.data, 8) == 0);
    airy_image_free(&image);
    CHECK_FAILS(c, airy_image_write(&small, path, false), AIRY_ERR_EXISTS, "is there already");
    CHECK_OK(c, airy_image_write(&small, path, true)); /* nothing else is in the file */
    static const char *const others[] = {"::/some", "::/some/where/else", "::/some/wher",
                                         "::where"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        strcpy(strstr(path, "::"), others[i]);
        CHECK_FAILS(c, airy_image_check_others(path), AIRY_ERR_EXISTS, "which would be lost");
        CHECK_FAILS(c, airy_image_write(&small, path, true), AIRY_ERR_EXISTS, "also holds /some");
    }
    strcpy(strstr(path, "::"), "::/none");
    CHECK_FAILS(c, airy_image_read(&image, path), AIRY_ERR_NOT_FOUND, "/none");
    *strstr(path, "::") = 0;
    CHECK_OK(c, airy_image_check_others(path)); /* the file as a whole was named */
    CHECK_OK(c, airy_image_check_others("none.h5::/none"));
    CHECK_FAILS(c, airy_image_check_others(NULL), AIRY_ERR_PARAM, "missing");
}

/* What a format holds is what it is written with. */
/*
 * As fabio 2026.6 opens a file that has something in /entry/data whose name begins with "data": it
 * takes the first frame of three axes. An image is one in two dimensions again, a stack of one is not.
 */
static void check_hdf5_one(struct check *c)
{
    if (!check_case(c, "image_hdf5_one"))
        return;
    float pixels[6] = {1, 2, 3, 4, 5, 6};
    for (int ndim = 2; ndim <= 3; ndim++) {
        airy_image image = {.dtype = AIRY_DTYPE_F32, .ndim = ndim, .data = pixels}, back;
        const size_t shape[3] = {1, 2, 3};
        memcpy(image.shape, shape + 3 - ndim, (size_t)ndim * sizeof(*shape));
        const char *path = tmp_path(c, ndim == 2 ? "two.h5" : "three.h5");
        if (!CHECK_OK(c, airy_image_write(&image, path, false)) ||
            !CHECK_OK(c, airy_image_read(&back, path)))
            return;
        CHECK(c, back.ndim == ndim && back.shape[ndim - 2] == 2 && back.shape[ndim - 1] == 3 &&
                     memcmp(back.data, pixels, sizeof(pixels)) == 0);
        airy_image_free(&back);
        hsize_t found[3] = {0};
        const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT),
                    dataset = H5Dopen2(file, "/entry/data/data", H5P_DEFAULT),
                    space = H5Dget_space(dataset);
        CHECK(c, H5Sget_simple_extent_ndims(space) == 3 &&
                     H5Sget_simple_extent_dims(space, found, NULL) == 3 && found[0] == 1 &&
                     found[1] == 2 && found[2] == 3);
        H5Sclose(space);
        H5Dclose(dataset);
        H5Fclose(file);
    }
}

static void check_format(struct check *c)
{
    static const char *const suffixes[] = {".npy", ".h5",  ".edf", ".fits",
                                           ".tif", ".png", ".cbf", ".txt"};
    uint8_t data[8] = {1};
    if (!check_case(c, "image_check_format"))
        return;
    for (size_t s = 0; s < sizeof(suffixes) / sizeof(suffixes[0]); s++) {
        char name[32];
        snprintf(name, sizeof(name), "format%s", suffixes[s]);
        const char *path = tmp_path(c, name);
        for (int dtype = 0; dtype < AIRY_DTYPE_COUNT; dtype++) {
            bool any = false;
            for (int ndim = 1; ndim <= AIRY_MAX_DIMS; ndim++) {
                const airy_image image = {
                    .dtype = (airy_dtype)dtype, .ndim = ndim, .shape = {1, 1, 1, 1}, .data = data};
                const airy_status written = airy_image_write(&image, path, true);
                CHECK(c, written == AIRY_OK || written == AIRY_ERR_UNSUPPORTED);
                CHECK(c, airy_image_check_format(path, image.dtype, ndim) == written);
                any = any || written == AIRY_OK;
            }
            CHECK(c, (airy_image_check_format(path, (airy_dtype)dtype, 0) == AIRY_OK) == any);
        }
    }
    const airy_image_format_info *format;
    size_t written = 0, formats = 0;
    for (; (format = airy_image_format(formats)); formats++) {
        char name[32];
        snprintf(name, sizeof(name), "a%s", format->suffix);
        written += format->writes;
        CHECK(c, format->name[0] && format->suffix[0] == '.');
        for (int ndim = 1; ndim <= AIRY_MAX_DIMS; ndim++)
            for (int dtype = 0; dtype < AIRY_DTYPE_COUNT; dtype++)
                CHECK(c, (airy_image_check_format(name, (airy_dtype)dtype, ndim) == AIRY_OK) ==
                             (format->writes && format->dtypes >> dtype & 1 &&
                              ndim >= format->min_ndim && ndim <= format->max_ndim));
    }
    CHECK(c, formats == 8 && written >= 6 && !airy_image_format(SIZE_MAX));
    CHECK(c, strcmp(airy_image_format(0)->suffix, ".npy") == 0);
    /* The sentence of a name of no format lists those that hold the image. */
    CHECK_FAILS(c, airy_image_check_format("a.txt", AIRY_DTYPE_F32, 4), AIRY_ERR_UNSUPPORTED,
                "expected .npy, .h5 or .fits");
    CHECK_FAILS(c, airy_image_check_format(NULL, AIRY_DTYPE_U8, 2), AIRY_ERR_PARAM, "missing");
    CHECK_FAILS(c, airy_image_check_format("a.npy", AIRY_DTYPE_COUNT, 2), AIRY_ERR_DTYPE,
                "not known");
    CHECK_FAILS(c, airy_image_check_format("a.npy", AIRY_DTYPE_U8, 5), AIRY_ERR_SHAPE,
                "5 dimensions");
    CHECK_FAILS(c, airy_image_check_format("a.png", AIRY_DTYPE_F32, 0), AIRY_ERR_UNSUPPORTED,
                "'a.png': PNG holds uint8 and uint16, this image is float32");
}

static void check_png(struct check *c)
{
    if (!check_case(c, "png"))
        return;
    uint8_t rgb[5 * 7 * 3];
    check_rand(c, rgb, AIRY_DTYPE_U8, sizeof(rgb), 0, 255);
    const char *path = tmp_path(c, "x.png");
    size_t size = 0;
    CHECK_OK(c, airy_png_write(path, rgb, 5, 7, false));
    CHECK_FAILS(c, airy_png_write(path, rgb, 5, 7, false), AIRY_ERR_EXISTS, "is there already");
    const uint8_t *bytes = stack_slurp(c, path, &size);
    /* Signature, header chunk with width, height, 8 bits, colour type 2 (RGB). */
    static const uint8_t want[] = {0x89, 'P', 'N', 'G', 13, 10, 26, 10, 0, 0, 0, 13, 'I',
                                   'H',  'D', 'R', 0,   0,  0,  7,  0,  0, 0, 5, 8,  2};
    CHECK(c, bytes && size > sizeof(want) && memcmp(bytes, want, sizeof(want)) == 0);
    CHECK_FAILS(c, airy_png_write(path, rgb, 0, 7, true), AIRY_ERR_PARAM, "0 x 7");
    CHECK_FAILS(c, airy_png_write("/proc/none/x.png", rgb, 5, 7, true), AIRY_ERR_IO,
                "cannot create");
}

/* Files that end in suffix. */
static size_t count_files(const char *folder, const char *suffix)
{
    size_t count = 0;
    DIR *list = opendir(folder);
    for (const struct dirent *entry; list && (entry = readdir(list));) {
        const size_t n = strlen(entry->d_name), m = strlen(suffix);
        count += entry->d_name[0] != '.' && n >= m && strcmp(entry->d_name + n - m, suffix) == 0;
    }
    if (list)
        closedir(list);
    return count;
}

static void check_new_file(struct check *c)
{
    if (!check_case(c, "file_new"))
        return;
    const char *folder = check_tmp(c);
    char path[512], *partial = NULL;
    int fd = -1;
    snprintf(path, sizeof(path), "%s/x", folder);
    if (!CHECK_OK(c, airy_file_create(&fd, &partial, path)))
        return;
    CHECK(c, write(fd, "x", 1) == 1 && close(fd) == 0 && access(path, F_OK) != 0);
    CHECK(c, strncmp(partial, path, strlen(path)) == 0 && count_files(folder, ".partial") == 1);
    CHECK_OK(c, airy_file_move(partial, path, false));
    free(partial);
    CHECK(c, count_files(folder, "") == 1 && access(path, F_OK) == 0);
    if (!CHECK_OK(c, airy_file_create(&fd, &partial, path)))
        return;
    close(fd);
    CHECK_FAILS(c, airy_file_move(partial, path, false), AIRY_ERR_EXISTS, "is there already");
    CHECK_OK(c, airy_file_move(partial, path, true));
    CHECK_FAILS(c, airy_file_move(partial, path, true), AIRY_ERR_IO, "its name");
    free(partial);
    if (!CHECK_OK(c, airy_file_create(&fd, &partial, path)))
        return;
    close(fd);
    airy_file_remove(partial);
    CHECK(c, count_files(folder, "") == 1);
    free(partial);
    for (int i = 0; i < 2; i++) { /* it gets its name, and is refused a second time */
        char other[512];
        snprintf(other, sizeof(other), "%s/printed", folder);
        if (!CHECK_OK(c, airy_file_create(&fd, &partial, other)))
            return;
        CHECK(c, write(fd, "x", 1) == 1);
        const airy_status status = airy_file_commit(fd, partial, other, false, i == 0);
        CHECK(c, status == (i ? AIRY_ERR_EXISTS : AIRY_OK) && count_files(folder, "") == 2);
    }
    CHECK_FAILS(c, airy_file_commit(0, NULL, path, true, true), AIRY_ERR_PARAM, "missing");
    CHECK_FAILS(c, airy_file_commit(-1, (char[]){"x"}, path, true, true), AIRY_ERR_PARAM,
                "missing");
    if (CHECK_OK(c, airy_file_create(&fd, &partial, path))) { /* closed already: it is removed */
        close(fd);
        CHECK_FAILS(c, airy_file_commit(fd, partial, path, true, true), AIRY_ERR_IO,
                    "it cannot be written");
        CHECK(c, count_files(folder, ".partial") == 0);
    }
    CHECK_FAILS(c, airy_file_create(&fd, &partial, NULL), AIRY_ERR_PARAM, "missing");
    CHECK_FAILS(c, airy_file_create(&fd, &partial, "/proc/none/x"), AIRY_ERR_IO, "cannot create");
}

/* Processes that begin `count` files for path and are gone. */
static bool leave_files(const char *path, int count)
{
    const pid_t child = fork();
    for (int i = 0; child == 0 && i < count; i++) {
        int fd;
        char *partial;
        if (airy_file_create(&fd, &partial, path) != AIRY_OK)
            _exit(1);
    }
    if (child == 0)
        _exit(0);
    int code = 1;
    return child > 0 && waitpid(child, &code, 0) == child && code == 0;
}

/*
 * What a killed run left of this output goes, of however many outputs; what is written, or is none of
 * ours, stays.
 */
static void check_left_file(struct check *c)
{
    enum { OUTPUTS = 100 };
    if (!check_case(c, "file_left"))
        return;
    static const char *const names[] = {"x.0123abcd.partial", "x.0123abcg.partial", "x.partial",
                                        "y.0123abcd.partial"};
    const char *folder = check_tmp(c);
    char path[512], left[512], *written = NULL, *partial = NULL;
    int fd[2] = {-1, -1};
    fflush(stdout);
    for (int i = 0; i < OUTPUTS; i++) {
        snprintf(path, sizeof(path), "%s/x%d", folder, i);
        CHECK(c, leave_files(path, 3) && count_files(folder, ".partial") == 3);
        if (!CHECK_OK(c, airy_file_create(&fd[0], &written, path)))
            return;
        CHECK(c, count_files(folder, ".partial") == 1 && access(written, F_OK) == 0);
        CHECK_OK(c, airy_file_create(&fd[1], &partial, path));
        CHECK(c, count_files(folder, ".partial") == 2 && access(written, F_OK) == 0);
        close(fd[0]);
        close(fd[1]);
        airy_file_remove(written);
        airy_file_remove(partial);
        free(written);
        free(partial);
    }
    /* A temporary file that this process has closed stays when others of the same output begin. */
    char *three[3] = {NULL};
    snprintf(path, sizeof(path), "%s/same", folder);
    for (size_t i = 0; i < 3; i++)
        if (!CHECK_OK(c, airy_file_begin(&three[i], path)))
            return;
    for (size_t i = 0; i < 3; i++) {
        CHECK(c, access(three[i], F_OK) == 0);
        airy_file_remove(three[i]);
        free(three[i]);
    }
    /* Of whatever digits. */
    snprintf(path, sizeof(path), "%s/x", folder);
    if (!CHECK_OK(c, airy_file_create(&fd[0], &written, path)))
        return;
    for (size_t i = 0; i < 4; i++) {
        snprintf(left, sizeof(left), "%s/%s", folder, names[i]);
        FILE *file = fopen(left, "w");
        CHECK(c, file && fclose(file) == 0);
    }
    airy_file_remove_left(path);
    airy_file_remove_left(NULL);
    for (size_t i = 0; i < 4; i++) {
        snprintf(left, sizeof(left), "%s/%s", folder, names[i]);
        CHECK(c, (access(left, F_OK) == 0) == (i > 0));
    }
    CHECK(c, written && access(written, F_OK) == 0);
    close(fd[0]);
    airy_file_remove(written);
    free(written);
}

/* A name as long as a file system takes is shortened by whole characters until it is the file's. */
static void check_long_name(struct check *c)
{
    if (!check_case(c, "file_long_name"))
        return;
    for (size_t length = NAME_MAX - 20; length <= NAME_MAX + 1; length++) {
        char folder[512], path[1024], *partial = NULL;
        int fd = -1;
        snprintf(folder, sizeof(folder), "%s/", check_tmp(c));
        const size_t start = strlen(folder);
        memcpy(path, folder, start);
        for (size_t i = 0; i < length; i++) /* of three bytes each, and some of one */
            path[start + i] = i < length % 3 ? 'a' : "\xe2\x82\xac"[(i - length % 3) % 3];
        path[start + length] = 0;
        const airy_status status = airy_file_create(&fd, &partial, path);
        if (length > NAME_MAX) {
            CHECK(c, status == AIRY_ERR_IO && strstr(airy_last_error(), "too long"));
            continue;
        }
        if (!CHECK_OK(c, status))
            return;
        close(fd);
        const char *mark = partial + strlen(partial) - strlen(".XXXXXXXX.partial");
        const size_t kept = (size_t)(mark - partial) - start;
        CHECK(c, strncmp(partial, path, start + kept) == 0 && strcmp(mark + 9, ".partial") == 0);
        CHECK(c, kept == length ? length + 17 <= NAME_MAX
                                : kept % 3 == length % 3 && kept + 17 + 3 > NAME_MAX);
        CHECK_OK(c, airy_file_move(partial, path, false));
        free(partial);
        CHECK(c, access(path, F_OK) == 0 && count_files(folder, ".partial") == 0);
    }
}

struct making {
    char folder[512];
    atomic_uint made;
};

/* Files for ever: of four one is left open, one gets its name, one goes, one is of the cache. */
static void *make_files(void *user)
{
    static const char bytes[1 << 16];
    struct making *making = user;
    for (;;) {
        const unsigned number = atomic_fetch_add(&making->made, 1);
        char path[600], name[32], *partial;
        int fd;
        snprintf(name, sizeof(name), "%u.whole", number);
        snprintf(path, sizeof(path), "%s/%s", making->folder, name);
        if (number % 4 == 3) {
            if (!airy_cache_store(making->folder, name, (struct airy_cache_key){{1, 2}}, bytes,
                                  sizeof(bytes)))
                return NULL; /* it was removed meanwhile */
            continue;
        }
        if (airy_file_create(&fd, &partial, path) != AIRY_OK)
            _exit(1);
        close(fd);
        if (number % 4 == 1 && airy_file_move(partial, path, false) != AIRY_OK)
            return NULL; /* it was removed meanwhile */
        if (number % 4 == 2)
            airy_file_remove(partial);
        free(partial);
    }
}

/* A process of several threads that ends as in a signal's handler, at any moment of theirs. */
static void check_clean_up(struct check *c)
{
    enum { RUNS = 20, THREADS = 3 };
    if (!check_case(c, "file_clean_up"))
        return;
    for (unsigned run = 0; run < RUNS; run++) {
        struct making making = {0};
        snprintf(making.folder, sizeof(making.folder), "%s", check_tmp(c));
        fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            pthread_t thread[THREADS];
            for (int i = 0; i < THREADS; i++)
                if (pthread_create(&thread[i], NULL, make_files, &making) != 0)
                    _exit(1);
            while (atomic_load(&making.made) < 30 + 7 * run)
                usleep(100);
            airy_file_clean_up();
            airy_file_clean_up(); /* a second signal */
            usleep(2000);         /* the others are not dead at once */
            _exit(0);
        }
        int how = -1;
        CHECK(c, child > 0 && waitpid(child, &how, 0) == child && how == 0);
        const size_t whole = count_files(making.folder, ".whole");
        CHECK(c, whole >= 5 && count_files(making.folder, "") == whole);
    }
}

void check_image(struct check *c)
{
    if (!c->is_cpu)
        return; /* files and host memory only */
    static const char *const suffixes[] = {".npy", ".h5", ".edf", ".fits"};
    for (int dtype = 0; dtype < AIRY_DTYPE_COUNT; dtype++)
        for (int ndim = 1; ndim <= 4; ndim++)
            for (int s = 0; s < 4; s++)
                check_round_trip(c, (airy_dtype)dtype, ndim, suffixes[s]);
    check_format(c);
    check_npy_variants(c);
    check_npy_half(c);
    check_npy_hostile(c);
    check_conv(c);
    check_conv_hostile(c);
    check_edf_files(c);
    check_hdf5_images(c);
    check_hdf5_one(c);
    check_png(c);
    check_new_file(c);
    check_left_file(c);
    check_long_name(c);
    check_clean_up(c);
}
