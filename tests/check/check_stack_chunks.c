/* Where chunks lie in a file: the library's own table of them (src/io/hdf5/chunk_address.c). */
#include "check_stack.h"

#include <hdf5.h>
#include <stdio.h>
#include <time.h>

#include "io/stack/internal.h"

/* The table against libhdf5's own word, for every chunk index there is. */
static void check_addresses(struct check *c, const char *name)
{
    if (!check_case(c, "layout_addresses_%s", name))
        return;
    char golden[128];
    snprintf(golden, sizeof(golden), "diffraction/hdf5/%s.h5", name);
    const char *path = check_golden(c, golden);
    airy_stack *stack = NULL;
    if (!path || !CHECK_OK(c, stack_open(&stack, path)))
        return;
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "data", H5P_DEFAULT);
    for (size_t i = 0; i < stack->frames; i++) {
        size_t inside;
        const struct airy_place place = airy_stack_locate(stack, i, &inside)->places[inside];
        const hsize_t offset[3] = {i, 0, 0};
        unsigned mask = 0;
        haddr_t address = 0;
        hsize_t size = 0;
        CHECK(c, H5Dget_chunk_info_by_coord(dataset, offset, &mask, &address, &size) >= 0);
        if (address == HADDR_UNDEF)
            CHECK(c, place.kind == AIRY_PLACE_FILL);
        else
            CHECK(c, place.offset == address && place.size == size &&
                         place.kind == (mask ? AIRY_PLACE_STORED : AIRY_PLACE_CHUNK));
    }
    H5Dclose(dataset);
    H5Fclose(file);
    airy_stack_destroy(&stack);
}

static void check_many_chunks(struct check *c, bool latest)
{
    if (!check_case(c, "layout_100000_chunks_%s", latest ? "extensible_array" : "btree1"))
        return;
    enum { COUNT = 100000, SIDE = 4, BYTES = SIDE * SIDE * 2 };
    char path[600];
    snprintf(path, sizeof(path), "%s/x.h5", check_tmp(c));
    const hsize_t shape[3] = {COUNT, SIDE, SIDE}, growing[3] = {H5S_UNLIMITED, SIDE, SIDE},
                  chunk[3] = {1, SIDE, SIDE};
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_DATASET_CREATE);
    if (latest)
        H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    H5Pset_chunk(creation, 3, chunk);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hid_t space = H5Screate_simple(3, shape, growing);
    const hid_t dataset =
        H5Dcreate2(file, "/data", H5T_STD_U16LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    uint16_t pixels[SIDE * SIDE] = {0};
    for (hsize_t i = 0; i < COUNT; i++) {
        const hsize_t offset[3] = {i, 0, 0};
        pixels[3] = (uint16_t)(i * 7);
        if (i % 1000 != 17) /* some are missing */
            H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, offset, BYTES, pixels);
    }
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(creation);
    H5Pclose(access);
    H5Fclose(file);
    struct timespec start, stop;
    airy_stack *stack = NULL;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    if (!CHECK_OK(c, stack_open(&stack, path)))
        return;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &stop);
    const double seconds = (double)(stop.tv_sec - start.tv_sec) +
                           1e-9 * (double)(stop.tv_nsec - start.tv_nsec);
    printf("# %d chunks in %.3f s\n", COUNT, seconds);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    CHECK(c, seconds < 1);
#endif
    for (size_t i = 0; i < COUNT; i += 17) {
        if (i % 1000 == 17)
            CHECK_FAILS(c, airy_stack_read(stack, i, pixels, BYTES), AIRY_ERR_UNWRITTEN,
                        "never written");
        else if (CHECK_OK(c, airy_stack_read(stack, i, pixels, BYTES)) &&
                 pixels[3] != (uint16_t)(i * 7))
            check_failed(c, __FILE__, __LINE__, "frame %zu holds %u", i, pixels[3]);
    }
    airy_stack_destroy(&stack);
}

void check_stack_chunks(struct check *c)
{
    static const char *const names[] = {"frame_chunk",
                                        "frame_chunk_latest",
                                        "frame_chunk_unlim",
                                        "frame_chunk_unlim_btree1",
                                        "frame_chunk_unlim_btree2",
                                        "missing_chunk",
                                        "filter_mask",
                                        "block64"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        check_addresses(c, names[i]);
    check_many_chunks(c, false);
    check_many_chunks(c, true);
}
