/* Small HDF5 files that name other files, and themselves many times. Made here with libhdf5. */
#include "airy/file.h"
#include "check_stack.h"

#include <hdf5.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIDE = 16, PIXELS = SIDE * SIDE };

static const char *in_folder(struct check *c, const char *folder, const char *name)
{
    char *path = check_alloc(c, strlen(folder) + strlen(name) + 2);
    sprintf(path, "%s/%s", folder, name);
    return path;
}

static hid_t put(hid_t file, const char *name, hid_t creation)
{
    const hsize_t shape[3] = {1, SIDE, SIDE};
    const hid_t space = H5Screate_simple(3, shape, NULL);
    const hid_t dataset =
        H5Dcreate2(file, name, H5T_NATIVE_UINT8, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Sclose(space);
    return dataset;
}

/* A file whose /d has its pixels in another one. */
static void put_external(const char *path, const char *raw)
{
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(creation, raw, 0, PIXELS);
    H5Dclose(put(file, "d", creation));
    H5Pclose(creation);
    H5Fclose(file);
}

/* A file whose /v is all of another file's /d. */
static void put_view(const char *path, const char *source)
{
    const hsize_t shape[3] = {1, SIDE, SIDE};
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(3, shape, NULL);
    H5Pset_virtual(creation, space, source, "/d", space);
    H5Dclose(put(file, "v", creation));
    H5Sclose(space);
    H5Pclose(creation);
    H5Fclose(file);
}

static void expect_pixels(struct check *c, const char *name, const uint8_t *pixels)
{
    airy_image image;
    if (!CHECK_OK(c, airy_image_read(&image, name)))
        return;
    CHECK(c, memcmp(image.data, pixels, PIXELS) == 0);
    airy_image_free(&image);
}

static void check_external(struct check *c)
{
    if (!check_case(c, "bounds_external"))
        return;
    uint8_t pixels[PIXELS];
    airy_image image;
    for (int i = 0; i < PIXELS; i++)
        pixels[i] = (uint8_t)(7 * i);
    const char *elsewhere = stack_spill(c, "raw.bin", pixels, sizeof(pixels)), *here = check_tmp(c),
               *file = in_folder(c, here, "x.h5"), *view = in_folder(c, here, "v.h5"),
               *pipe = in_folder(c, here, "pipe"), *data = in_folder(c, here, "x.h5::/d"),
               *seen = in_folder(c, here, "v.h5::/v");
    char folder[1024];
    snprintf(folder, sizeof(folder), "%s", elsewhere);
    *strrchr(folder, '/') = 0;
    put_view(view, "x.h5");
    /* Beside the file, by a relative and by an absolute name. */
    CHECK(c, link(elsewhere, in_folder(c, here, "beside.bin")) == 0);
    put_external(file, "beside.bin");
    expect_pixels(c, data, pixels);
    /* There libhdf5 would take the working directory's. */
    CHECK_FAILS(c, airy_image_read(&image, seen), AIRY_ERR_NOT_FOUND, "working directory");
    put_external(file, in_folder(c, here, "beside.bin"));
    expect_pixels(c, data, pixels);
    expect_pixels(c, seen, pixels);
    /* A link in the folder that leads out of it. */
    CHECK(c, symlink(elsewhere, in_folder(c, here, "out.bin")) == 0);
    const char *const away[] = {elsewhere, "out.bin"};
    for (size_t i = 0; i < 2; i++) {
        put_external(file, away[i]);
        CHECK_FAILS(c, airy_image_read(&image, data), AIRY_ERR_NOT_FOUND, "--external-folder");
        CHECK_FAILS(c, airy_image_read(&image, seen), AIRY_ERR_NOT_FOUND,
                    i ? "working directory" : "--external-folder");
    }
    /* Pipes and devices, also where their folder is allowed. */
    CHECK(c, mkfifo(pipe, 0600) == 0);
    CHECK_OK(c, airy_external_folder_allow("/dev"));
    put_external(file, pipe);
    CHECK_FAILS(c, airy_image_read(&image, data), AIRY_ERR_NOT_FOUND, "is a pipe");
    CHECK_FAILS(c, airy_image_read(&image, seen), AIRY_ERR_NOT_FOUND, "is a pipe");
    put_external(file, "/dev/zero");
    CHECK_FAILS(c, airy_image_read(&image, data), AIRY_ERR_NOT_FOUND, "is a device");
    CHECK_FAILS(c, airy_external_folder_allow(NULL), AIRY_ERR_PARAM, "folder is missing");
    CHECK_FAILS(c, airy_external_folder_allow(elsewhere), AIRY_ERR_NOT_FOUND, "is no folder");
    CHECK_OK(c, airy_external_folder_allow(folder));
    put_external(file, elsewhere);
    expect_pixels(c, data, pixels);
    expect_pixels(c, seen, pixels);
}

static airy_status read_stack(const char *path, const char *folder, uint8_t *pixels)
{
    airy_stack *stack;
    airy_status status = airy_stack_create_with(
        &stack, &path, 1,
        &(airy_stack_params){.external_folders = &folder, .external_folder_count = folder != NULL});
    if (status != AIRY_OK)
        return status;
    status = airy_stack_read(stack, 0, pixels, PIXELS);
    airy_stack_destroy(&stack);
    return status;
}

struct reader {
    const char *path, *folder;
    int wrong;
};

static void *read_often(void *user)
{
    struct reader *r = user;
    uint8_t pixels[PIXELS];
    for (int i = 0; i < 100; i++)
        r->wrong += (read_stack(r->path, r->folder, pixels) == AIRY_OK) != (r->folder != NULL);
    return NULL;
}

/* A folder that one stack allows is of no use to another one, before, meanwhile or afterwards. */
static void check_external_of_stack(struct check *c)
{
    if (!check_case(c, "bounds_external_of_stack"))
        return;
    uint8_t pixels[PIXELS] = {0}, raw[PIXELS];
    memset(raw, 7, sizeof(raw));
    const char *elsewhere = stack_spill(c, "own.bin", raw, sizeof(raw)), *here = check_tmp(c),
               *file = in_folder(c, here, "own.h5"), *view = in_folder(c, here, "view.h5");
    char folder[1024];
    snprintf(folder, sizeof(folder), "%s", elsewhere);
    *strrchr(folder, '/') = 0;
    put_external(file, elsewhere);
    put_view(view, "own.h5");
    CHECK_FAILS(c, read_stack(file, NULL, pixels), AIRY_ERR_NOT_FOUND, "--external-folder");
    CHECK_OK(c, read_stack(file, folder, pixels));
    CHECK(c, memcmp(pixels, raw, sizeof(raw)) == 0);
    CHECK_OK(c, read_stack(view, folder, pixels));
    CHECK_FAILS(c, read_stack(file, NULL, pixels), AIRY_ERR_NOT_FOUND, "--external-folder");
    CHECK_FAILS(c, read_stack(file, file, pixels), AIRY_ERR_NOT_FOUND, "is no folder");
    CHECK_FAILS(c,
                airy_stack_create_with(&(airy_stack *){NULL}, &file, 1,
                                       &(airy_stack_params){.external_folder_count = 1}),
                AIRY_ERR_PARAM, "external_folders[0] is NULL");
    struct reader readers[2] = {{file, folder, 0}, {file, NULL, 0}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        CHECK(c, pthread_create(&threads[i], NULL, read_often, &readers[i]) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK(c, readers[0].wrong == 0 && readers[1].wrong == 0);
}

/*
 * /d0 ... /d<levels>: each row of one is a column of the next, so that libhdf5 comes to the last by
 * SIDE^levels paths. The last is plain, or the first again.
 */
static void put_fan(const char *path, int levels, bool cyclic)
{
    const hsize_t shape[3] = {1, SIDE, SIDE};
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    for (int level = 0; level < levels; level++) {
        const hid_t creation = H5Pcreate(H5P_DATASET_CREATE), to = H5Screate_simple(3, shape, NULL),
                    from = H5Screate_simple(3, shape, NULL);
        char name[16], next[16];
        snprintf(name, sizeof(name), "d%d", level);
        snprintf(next, sizeof(next), "/d%d", cyclic && level + 1 == levels ? 0 : level + 1);
        for (hsize_t i = 0; i < SIDE; i++) {
            H5Sselect_hyperslab(to, H5S_SELECT_SET, (hsize_t[]){0, i, 0}, NULL,
                                (hsize_t[]){1, 1, SIDE}, NULL);
            H5Sselect_hyperslab(from, H5S_SELECT_SET, (hsize_t[]){0, 0, i}, NULL,
                                (hsize_t[]){1, SIDE, 1}, NULL);
            H5Pset_virtual(creation, to, ".", next, from);
        }
        H5Dclose(put(file, name, creation));
        H5Pclose(creation);
        H5Sclose(to);
        H5Sclose(from);
    }
    char name[16];
    uint8_t pixels[PIXELS];
    for (int i = 0; i < PIXELS; i++)
        pixels[i] = (uint8_t)i;
    snprintf(name, sizeof(name), "d%d", levels);
    const hid_t last = put(file, name, H5P_DEFAULT);
    H5Dwrite(last, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, pixels);
    H5Dclose(last);
    H5Fclose(file);
}

static void check_fan(struct check *c)
{
    if (!check_case(c, "bounds_fan"))
        return;
    const char *folder = check_tmp(c), *path = in_folder(c, folder, "x.h5"),
               *name = in_folder(c, folder, "x.h5::/d0");
    airy_image image;
    uint8_t pixels[PIXELS];
    /* An even number of transpositions is none. */
    for (int i = 0; i < PIXELS; i++)
        pixels[i] = (uint8_t)i;
    put_fan(path, 4, false);
    expect_pixels(c, name, pixels);
    put_fan(path, 8, false);
    CHECK_FAILS(c, airy_image_read(&image, name), AIRY_ERR_UNSUPPORTED, "paths");
    put_fan(path, 2, true);
    CHECK_FAILS(c, airy_image_read(&image, name), AIRY_ERR_UNSUPPORTED, "");
}

void check_stack_bounds(struct check *c)
{
    check_external_of_stack(c);
    check_external(c);
    check_fan(c);
}
