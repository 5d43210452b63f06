/*
 * Files at the edge of what can be counted, and files that grow, for bounds.sh and run.sh.
 *
 *   airy-bounds-files OUT.h5 FRAMES HEIGHT WIDTH KIND [BYTES]
 *   airy-bounds-files OUT.npy FRAMES HEIGHT WIDTH hole [BYTES]
 *
 * Pixels are unsigned integers of BYTES bytes (1). KIND is the index of HDF5's chunks, one a frame: btree1, fixed, extensible,
 * btree2, where every frame is written; or "hole": frames one behind the other, of which none takes room on a disk; or "swmr":
 * an extensible dataset that gets a frame each 5 ms, and lets others read. 0 FRAMES are a dataset that may grow.
 */
#include <hdf5.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int write_npy(const char *path, const hsize_t shape[3], size_t bytes)
{
    enum { HEADER = 128 };
    char header[HEADER + 1];
    memcpy(header, "\223NUMPY\1\0\166\0", 10);
    const int used =
        snprintf(header + 10, HEADER - 10,
                 "{'descr': '%s%zu', 'fortran_order': False, 'shape': (%llu, %llu, %llu), }",
                 bytes == 1 ? "|u" : "<u", bytes, (unsigned long long)shape[0],
                 (unsigned long long)shape[1], (unsigned long long)shape[2]);
    memset(header + 10 + used, ' ', (size_t)(HEADER - 10 - used));
    header[HEADER - 1] = '\n';
    FILE *file = fopen(path, "wb");
    if (!file)
        return 1;
    const bool written =
        fwrite(header, 1, HEADER, file) == HEADER && fflush(file) == 0 &&
        ftruncate(fileno(file), (off_t)(HEADER + shape[0] * shape[1] * shape[2] * bytes)) == 0;
    return fclose(file) != 0 || !written;
}

/* Frame i, and room for it where the dataset grows. */
static bool append(hid_t dataset, hsize_t i, const hsize_t shape[3], const unsigned char *frame,
                   size_t size)
{
    const struct timespec pause = {0, 5000000};
    const hsize_t at[3] = {i, 0, 0}, larger[3] = {i + 1, shape[1], shape[2]};
    const bool good = H5Dset_extent(dataset, larger) >= 0 &&
                      H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, at, size, frame) >= 0 &&
                      H5Dflush(dataset) >= 0;
    nanosleep(&pause, NULL);
    return good;
}

static bool fill(hid_t dataset, const hsize_t shape[3], size_t bytes, bool grows)
{
    const size_t size = shape[1] * shape[2] * bytes;
    unsigned char *frame = calloc(1, size);
    bool good = frame != NULL;
    for (hsize_t i = 0; good && i < shape[0]; i++) {
        const hsize_t at[3] = {i, 0, 0};
        frame[i % size] = (unsigned char)(i % 251);
        good = grows ? append(dataset, i, shape, frame, size)
                     : H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, at, size, frame) >= 0;
    }
    free(frame);
    return good;
}

static int write_hdf5(const char *path, const hsize_t shape[3], const char *kind, size_t bytes)
{
    const bool hole = strcmp(kind, "hole") == 0, old = strcmp(kind, "btree1") == 0;
    const bool grows = shape[0] == 0 || !(hole || strcmp(kind, "fixed") == 0);
    const bool grows_twice = strcmp(kind, "btree2") == 0;
    const hsize_t most[3] = {grows ? H5S_UNLIMITED : shape[0],
                             grows_twice ? H5S_UNLIMITED : shape[1], shape[2]};
    const hsize_t chunk[3] = {1, shape[1] ? shape[1] : 1, shape[2] ? shape[2] : 1};
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_DATASET_CREATE),
                links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    if (!old)
        H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    if (!hole || grows) {
        H5Pset_chunk(creation, 3, chunk);
    } else {
        H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
        H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
    }
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access),
                space = H5Screate_simple(
                    3,
                    strcmp(kind, "swmr") == 0 ? (const hsize_t[3]){0, shape[1], shape[2]} : shape,
                    most);
    const hid_t type = bytes == 1 ? H5T_STD_U8LE : bytes == 2 ? H5T_STD_U16LE : H5T_STD_U32LE;
    const hid_t dataset =
        H5Dcreate2(file, "/entry/data/data", type, space, links, creation, H5P_DEFAULT);
    const bool swmr = strcmp(kind, "swmr") == 0;
    const bool good = dataset >= 0 && (!swmr || H5Fstart_swmr_write(file) >= 0) &&
                      (hole || fill(dataset, shape, bytes, swmr));
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(access);
    H5Pclose(creation);
    H5Pclose(links);
    return H5Fclose(file) < 0 || !good;
}

int main(int count, char **words)
{
    if (count < 6)
        return 2;
    const hsize_t shape[3] = {strtoull(words[2], NULL, 10), strtoull(words[3], NULL, 10),
                              strtoull(words[4], NULL, 10)};
    const size_t bytes = count > 6 ? strtoul(words[6], NULL, 10) : 1, length = strlen(words[1]);
    return length > 4 && strcmp(words[1] + length - 4, ".npy") == 0
               ? write_npy(words[1], shape, bytes)
               : write_hdf5(words[1], shape, words[5], bytes);
}
