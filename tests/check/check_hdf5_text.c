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

void check_hdf5_text(struct check *c)
{
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
