/* Strings of HDF5 files. */
#include "check_stack.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hid_t string_type(size_t size)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, size);
    return type;
}

/* /fixed, /variable, /group@note, /two (two strings), /number; and /group/empty. */
static bool make_file(const char *path)
{
    const char *variable = "of any length";
    const hsize_t two = 2;
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                scalar = H5Screate(H5S_SCALAR);
    const hid_t pair = H5Screate_simple(1, &two, NULL), fixed = string_type(5),
                any = string_type(H5T_VARIABLE);
    const hid_t group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t sets[] = {
        H5Dcreate2(file, "fixed", fixed, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        H5Dcreate2(file, "variable", any, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        H5Dcreate2(file, "two", fixed, pair, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        H5Dcreate2(file, "number", H5T_NATIVE_INT, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        H5Dcreate2(group, "empty", any, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)};
    const hid_t note = H5Acreate2(group, "note", fixed, scalar, H5P_DEFAULT, H5P_DEFAULT);
    /* five bytes, no zero behind */
    bool good = H5Dwrite(sets[0], fixed, H5S_ALL, H5S_ALL, H5P_DEFAULT, "exact") >= 0;
    good &= H5Dwrite(sets[1], any, H5S_ALL, H5S_ALL, H5P_DEFAULT, &variable) >= 0;
    good &= H5Awrite(note, fixed, "why\0") >= 0;
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        good &= H5Dclose(sets[i]) >= 0;
    H5Aclose(note);
    H5Gclose(group);
    H5Tclose(any);
    H5Tclose(fixed);
    H5Sclose(pair);
    H5Sclose(scalar);
    return H5Fclose(file) >= 0 && good;
}

static void expect(struct check *c, const char *path, const char *object, const char *want)
{
    char *text = NULL;
    if (CHECK_OK(c, airy_hdf5_text(&text, path, object)) && strcmp(text, want) != 0)
        check_failed(c, __FILE__, __LINE__, "%s = '%s', expected '%s'", object, text, want);
    free(text);
}

enum { LONG_TEXT = 100000, ROWS = 1000 };

/* /names has a text for each of ROWS rows, the first one long; /data a frame for each. */
static bool make_names(const char *path, const char *first)
{
    const char *texts[ROWS];
    const hsize_t rows = ROWS, shape[3] = {ROWS, 4, 4};
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                line = H5Screate_simple(1, &rows, NULL), block = H5Screate_simple(3, shape, NULL),
                any = string_type(H5T_VARIABLE);
    const hid_t names = H5Dcreate2(file, "names", any, line, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                data = H5Dcreate2(file, "data", H5T_NATIVE_UINT8, block, H5P_DEFAULT, H5P_DEFAULT,
                                  H5P_DEFAULT);
    uint8_t pixels[ROWS * 16] = {0};
    for (int i = 0; i < ROWS; i++)
        texts[i] = i ? "short" : first;
    const bool good = H5Dwrite(names, any, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) >= 0 &&
                      H5Dwrite(data, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, pixels) >= 0;
    H5Dclose(names);
    H5Dclose(data);
    H5Tclose(any);
    H5Sclose(line);
    H5Sclose(block);
    return H5Fclose(file) >= 0 && good;
}

static airy_status read_names(struct check *c, const char *path, const char *first)
{
    static const char *const names[] = {"/names"};
    airy_stack *stack;
    airy_frame_values *values;
    size_t count;
    CHECK_OK(c, stack_open(&stack, path));
    const airy_status status = airy_stack_values(&values, &count, stack, names, 1);
    if (status == AIRY_OK) {
        const char *texts = values[0].values;
        const size_t size = values[0].text;
        CHECK(c, count == 1 && size == strlen(first) && memcmp(texts, first, size) == 0);
        CHECK(c, memcmp(texts + (ROWS - 1) * size, "short", 6) == 0);
        airy_frame_values_free(values, count);
    }
    airy_stack_destroy(&stack);
    return status;
}

/* Each row refers to the text of the first one, which is all that a file of 100 kB needs for much. */
static void check_many(struct check *c)
{
    if (!check_case(c, "hdf5_texts_bound"))
        return;
    char path[512], first[LONG_TEXT + 1];
    size_t size;
    snprintf(path, sizeof(path), "%s/names.h5", check_tmp(c));
    snprintf(first, sizeof(first), "%0*d", 200, 7);
    CHECK(c, make_names(path, first));
    CHECK_OK(c, read_names(c, path, first));
    memset(first, 'x', LONG_TEXT);
    first[LONG_TEXT] = 0;
    CHECK(c, make_names(path, first));
    uint8_t *bytes = stack_slurp(c, path, &size), *texts = NULL;
    const uint8_t head[4] = {LONG_TEXT & 255, LONG_TEXT >> 8 & 255, LONG_TEXT >> 16, 0},
                  next[4] = {5, 0, 0, 0};
    for (size_t i = 0; !texts && i + ROWS * 16 <= size; i++)
        if (memcmp(bytes + i, head, 4) == 0 && memcmp(bytes + i + 16, next, 4) == 0)
            texts = bytes + i;
    if (!CHECK(c, texts != NULL))
        return;
    for (size_t i = 1; i < ROWS; i++)
        memcpy(texts + 16 * i, texts, 16);
    CHECK_FAILS(c, read_names(c, stack_spill(c, "many.h5", bytes, size), first), AIRY_ERR_IO,
                "its texts cannot be read (at most");
}

/* Each byte of the heap's headers in turn: the texts are read, or a sentence says why not. */
static void check_heap(struct check *c)
{
    if (!check_case(c, "hdf5_heap"))
        return;
    static const uint8_t odd[] = {0x00, 0x01, 0x07, 0x10, 0x7f, 0x80, 0xf0, 0xff};
    char path[512], *text = NULL;
    size_t size, heap = 0;
    snprintf(path, sizeof(path), "%s/text.h5", check_tmp(c));
    if (!CHECK(c, make_file(path)))
        return;
    uint8_t *bytes = stack_slurp(c, path, &size);
    while (heap + 4096 < size && memcmp(bytes + heap, "GCOL", 4) != 0)
        heap++;
    /* Its header, the header of its text and the free space behind it. */
    for (size_t at = heap; CHECK(c, heap + 4096 <= size) && at < heap + 64; at++) {
        const uint8_t was = bytes[at];
        for (size_t i = 0; i < sizeof(odd); i++) {
            bytes[at] = odd[i];
            const char *damaged = stack_spill(c, "heap.h5", bytes, size);
            if (airy_hdf5_text(&text, damaged, "/variable") == AIRY_OK)
                free(text);
            if (at == heap + 48 + 8 &&
                odd[i] == 0) { /* free space of few bytes: 0, or a cut size */
                bytes[at + 1] = 0;
                damaged = stack_spill(c, "endless.h5", bytes, size);
                CHECK_FAILS(c, airy_hdf5_text(&text, damaged, "/variable"), AIRY_ERR_IO,
                            "an object in it has an impossible size");
                bytes[at + 1] = was;
            }
        }
        bytes[at] = was;
    }
}

void check_hdf5_text(struct check *c)
{
    check_many(c);
    check_heap(c);
    if (!check_case(c, "hdf5_text"))
        return;
    char path[512], *text = NULL;
    snprintf(path, sizeof(path), "%s/text.h5", check_tmp(c));
    if (!CHECK(c, make_file(path)))
        return;
    expect(c, path, "/fixed", "exact");
    expect(c, path, "/variable", "of any length");
    expect(c, path, "/group@note", "why");
    CHECK_FAILS(c, airy_hdf5_text(&text, path, "/two"), AIRY_ERR_FORMAT, "/two is not one string");
    CHECK_FAILS(c, airy_hdf5_text(&text, path, "/number"), AIRY_ERR_FORMAT,
                "/number is not one string");
    CHECK_FAILS(c, airy_hdf5_text(&text, path, "/group"), AIRY_ERR_FORMAT,
                "/group cannot be opened");
    CHECK_FAILS(c, airy_hdf5_text(&text, path, "/group/empty"), AIRY_ERR_IO,
                "/group/empty cannot be read");
    CHECK_FAILS(c, airy_hdf5_text(&text, path, "/none/there"), AIRY_ERR_NOT_FOUND,
                "/none/there is not there");
    CHECK_FAILS(c, airy_hdf5_text(&text, path, "/group@other"), AIRY_ERR_NOT_FOUND,
                "/group@other is not there");
    CHECK_FAILS(c, airy_hdf5_text(&text, path, ""), AIRY_ERR_PARAM, "object has 0 bytes");
    CHECK_FAILS(c, airy_hdf5_text(NULL, path, "/fixed"), AIRY_ERR_PARAM, "= NULL");
    CHECK_FAILS(c, airy_hdf5_text(&text, "/nowhere/text.h5", "/fixed"), AIRY_ERR_NOT_FOUND,
                "/nowhere/text.h5");
    CHECK(c, text == NULL);
}
