/* Files that are sound HDF5 and hold numbers nobody would write: made here with libhdf5. */
#include "check_stack.h"

#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "codec/chunks.h"
#include "io/hdf5/util.h"

enum { FRAMES = 4, HEIGHT = 8, WIDTH = 16, PIXELS = HEIGHT * WIDTH };

static const char *tmp_path(struct check *c, const char *name)
{
    const char *folder = check_tmp(c);
    char *path = check_alloc(c, strlen(folder) + strlen(name) + 2);
    sprintf(path, "%s/%s", folder, name);
    return path;
}

static hid_t put_dataset(hid_t file, const char *name, hid_t type, int ndim, const hsize_t *shape,
                         hid_t creation)
{
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    const hid_t space = ndim ? H5Screate_simple(ndim, shape, NULL) : H5Screate(H5S_SCALAR);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t dataset = H5Dcreate2(file, name, type, space, links, creation, H5P_DEFAULT);
    H5Pclose(links);
    H5Sclose(space);
    return dataset;
}

static hid_t put_number(hid_t file, const char *name, double value)
{
    const hid_t dataset = put_dataset(file, name, H5T_NATIVE_DOUBLE, 0, NULL, H5P_DEFAULT);
    H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
    return dataset;
}

/* `units` of `count` strings (0: a scalar), of `bytes` bytes each (0: variable). */
static void put_units(hid_t dataset, const char *unit, hsize_t count, size_t bytes)
{
    const hid_t type = H5Tcopy(H5T_C_S1),
                space = count ? H5Screate_simple(1, &count, NULL) : H5Screate(H5S_SCALAR);
    const size_t n = count ? (size_t)count : 1;
    char *fixed = calloc(n, bytes + 1);
    const char **variable = calloc(n, sizeof(*variable));
    for (size_t i = 0; i < n; i++) {
        variable[i] = unit;
        memset(fixed + i * bytes, ' ', bytes);
        memcpy(fixed + i * bytes, unit, bytes < strlen(unit) ? bytes : strlen(unit));
    }
    H5Tset_size(type, bytes ? bytes : H5T_VARIABLE);
    if (bytes)
        H5Tset_strpad(type, H5T_STR_SPACEPAD);
    const hid_t attribute = H5Acreate2(dataset, "units", type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, bytes ? (const void *)fixed : variable);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    free(fixed);
    free(variable);
}

/* A stack with a geometry whose pixel size has such units. */
static const char *make_master(struct check *c, const char *unit, hsize_t count, size_t bytes,
                               const char *energy_unit)
{
    const char *path = tmp_path(c, "x.h5");
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t shape[3] = {FRAMES, HEIGHT, WIDTH};
    H5Dclose(put_dataset(file, "/entry/data/data", H5T_NATIVE_UINT16, 3, shape, H5P_DEFAULT));
    static const struct {
        const char *name;
        double value;
    } numbers[] = {{"x_pixel_size", 75},
                   {"y_pixel_size", 75},
                   {"detector_distance", 0.1},
                   {"beam_center_x", 3},
                   {"beam_center_y", 4}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        char name[100];
        snprintf(name, sizeof(name), "/entry/instrument/detector/%s", numbers[i].name);
        const hid_t dataset = put_number(file, name, numbers[i].value);
        if (i < 2)
            put_units(dataset, unit, count, bytes);
        H5Dclose(dataset);
    }
    const hid_t energy = put_number(file, "/entry/instrument/beam/incident_energy", 12.5);
    put_units(energy, energy_unit, 0, 0);
    H5Dclose(energy);
    H5Fclose(file);
    return path;
}

/* What airy_stack_get_meta says on standard error; the caller's text. */
static bool get_meta(struct check *c, airy_stack_meta *meta, const char *path, char *said,
                     size_t size)
{
    airy_stack *stack = NULL;
    if (!CHECK_OK(c, stack_open(&stack, path)))
        return false;
    const int old = dup(STDERR_FILENO),
              log = open(tmp_path(c, "log"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    dup2(log, STDERR_FILENO);
    const airy_status status = airy_stack_get_meta(stack, meta);
    dup2(old, STDERR_FILENO);
    const ssize_t n = pread(log, said, size - 1, 0);
    said[n < 0 ? 0 : n] = 0;
    close(log);
    close(old);
    airy_stack_destroy(&stack);
    return CHECK_OK(c, status);
}

static void check_units(struct check *c)
{
    if (!check_case(c, "hostile_units"))
        return;
    airy_stack_meta meta;
    char said[4096];
    static const struct {
        hsize_t count;
        size_t bytes;
        bool good;
    } kinds[] = {{0, 0, true},  {0, 2, true},   {0, 9, true},    {1, 0, true},     {1, 5, true},
                 {2, 0, false}, {64, 0, false}, {2, 200, false}, {40, 200, false}, {300, 2, false}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (!get_meta(c, &meta, make_master(c, "um", kinds[i].count, kinds[i].bytes, "keV"), said,
                      sizeof(said)))
            return;
        CHECK(c, meta.has_geometry == kinds[i].good);
        if (kinds[i].good)
            CHECK(c, fabs(meta.geometry.detector.pixel1 / 75e-6 - 1) < 1e-12 &&
                         meta.geometry.wavelength > 0.9e-10);
        else
            CHECK(c, strstr(said, "x_pixel_size: units is not one string; it is not used"));
    }
    if (get_meta(c, &meta, make_master(c, "furlong", 0, 0, "barn"), said, sizeof(said)))
        CHECK(c, !meta.has_geometry &&
                     strstr(said,
                            "x.h5::/entry/instrument/detector/x_pixel_size has units 'furlong'"));
    if (get_meta(c, &meta, make_master(c, "um", 0, 0, "barn"), said, sizeof(said)))
        CHECK(c, meta.has_geometry && meta.geometry.wavelength == 0 &&
                     strstr(said, "photon energy has units 'barn'"));
    static const struct {
        const char *length, *energy;
        double metres, electron_volts;
    } spellings[] = {{"micrometers", "eV", 75e-6, 12.5},
                     {"MM", "KEV", 75e-3, 12.5e3},
                     {"Metre", "electronvolts", 75, 12.5},
                     {"Angstrom", "J", 75e-10, 12.5 / 1.602176634e-19},
                     {"\xc2\xb5m", "joule", 75e-6, 12.5 / 1.602176634e-19},
                     {"nanometer", "kev", 75e-9, 12.5e3},
                     {"microns", "", 75e-6, 12.5}};
    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
        const char *path = make_master(c, spellings[i].length, 0, 0, spellings[i].energy);
        if (get_meta(c, &meta, path, said, sizeof(said)))
            CHECK(c, meta.has_geometry &&
                         fabs(meta.geometry.detector.pixel1 / spellings[i].metres - 1) < 1e-12 &&
                         fabs(meta.geometry.wavelength * spellings[i].electron_volts /
                                  1.2398419843320026e-6 -
                              1) < 1e-12);
    }
    static const char *const others[] = {"Mm", "Pm", "s", "mss", "m m"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (get_meta(c, &meta, make_master(c, others[i], 0, 0, "eV"), said, sizeof(said)))
            CHECK(c, !meta.has_geometry && strstr(said, "no known length"));
}

/* Filter 32008 with such values over chunks of two frames, so that libhdf5 calls the decoder. */
static const char *make_filtered(struct check *c, const unsigned values[5], const uint8_t *chunk,
                                 size_t size)
{
    const char *path = tmp_path(c, "filter.h5");
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t shape[3] = {FRAMES, HEIGHT, WIDTH}, box[3] = {2, HEIGHT, WIDTH};
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 3, box);
    H5Zunregister(AIRY_FILTER_BITSHUFFLE); /* so that nobody corrects the values */
    H5Pset_filter(creation, AIRY_FILTER_BITSHUFFLE, H5Z_FLAG_OPTIONAL, 5, values);
    const hid_t dataset = put_dataset(file, "/data", H5T_NATIVE_UINT16, 3, shape, creation);
    for (hsize_t i = 0; i < FRAMES; i += 2)
        H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, (hsize_t[3]){i, 0, 0}, size, chunk);
    H5Dclose(dataset);
    H5Pclose(creation);
    H5Fclose(file);
    airy_filter_register();
    return path;
}

static void check_element_size(struct check *c)
{
    if (!check_case(c, "hostile_element_size"))
        return;
    static const unsigned sizes[] = {0,          3,          65536,      65537,     0x10000000,
                                     0x20000000, 0x20000001, 0x80000000, 0xffffffff};
    uint8_t chunk[64] = {0}, pixels[PIXELS * 2];
    chunk[6] = 2 * PIXELS * 2 >> 8;
    chunk[10] = 0x20;
    airy_image image;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        for (unsigned block = 0; block < 2; block++) {
            const unsigned values[5] = {0, 4, sizes[i], block * 8, 2};
            const char *path = make_filtered(c, values, chunk, sizeof(chunk));
            airy_stack *stack = NULL;
            if (!CHECK_OK(c, stack_open(&stack, path)))
                continue;
            CHECK_FAILS(c, airy_stack_read(stack, 1, pixels, sizeof(pixels)), AIRY_ERR_CORRUPT,
                        "frame 1");
            airy_stack_destroy(&stack);
            CHECK_FAILS(c, airy_image_read(&image, path), AIRY_ERR_CORRUPT, "/data");
        }
    }
    uint64_t decoded;
    uint32_t block;
    CHECK_FAILS(c, airy_chunk_header(&decoded, &block, chunk, 12, AIRY_CODEC_BSLZ4, 0x20000000),
                AIRY_ERR_PARAM, "expected 1 to 65536");
    CHECK_FAILS(c, airy_chunk_header(&decoded, &block, chunk, 12, AIRY_CODEC_BSLZ4, 0),
                AIRY_ERR_PARAM, "element size = 0");
}

/* One-byte frames, chunk = frame; `written` of them, the last ones of the shape. */
static const char *make_sparse(struct check *c, hsize_t frames, hsize_t written)
{
    const char *path = tmp_path(c, "sparse.h5");
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t shape[3] = {frames, 1, 1}, box[3] = {1, 1, 1};
    const uint8_t fill = 7;
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 3, box);
    H5Pset_fill_value(creation, H5T_NATIVE_UINT8, &fill);
    const hid_t dataset = put_dataset(file, "/data", H5T_NATIVE_UINT8, 3, shape, creation);
    for (hsize_t i = 0; i < written; i++) {
        const uint8_t value = (uint8_t)i;
        H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, (hsize_t[3]){frames - written + i, 0, 0}, 1,
                       &value);
    }
    H5Dclose(dataset);
    H5Pclose(creation);
    H5Fclose(file);
    return path;
}

/* Shapes that a small file cannot fill: the work is that of the file, not that of the shape. */
static void check_sparse(struct check *c)
{
    if (!check_case(c, "hostile_sparse"))
        return;
    enum { MANY = 1 << 26 };
    airy_stack *stack = NULL;
    airy_stack_info info;
    uint8_t pixel = 0;
    for (size_t written = 0; written <= 3; written += 3) {
        if (!CHECK_OK(c, stack_open(&stack, make_sparse(c, MANY, written))) ||
            !CHECK_OK(c, airy_stack_get_info(stack, &info)))
            return;
        CHECK(c, info.frames == MANY && info.stored_bytes == written &&
                     info.path == AIRY_STACK_DIRECT);
        for (size_t i = 0; i < 5; i++) {
            if (i < 5 - written)
                CHECK_FAILS(c, airy_stack_read(stack, MANY - 5 + i, &pixel, 1), AIRY_ERR_UNWRITTEN,
                            "never written");
            else if (CHECK_OK(c, airy_stack_read(stack, MANY - 5 + i, &pixel, 1)))
                CHECK(c, pixel == i - (5 - written));
        }
        airy_stack_destroy(&stack);
    }
    CHECK_FAILS(c, stack_open(&stack, make_sparse(c, MANY, 5000)), AIRY_ERR_UNSUPPORTED,
                "5000 of 67108864 frames");
    CHECK_FAILS(c, stack_open(&stack, make_sparse(c, MANY + 1, 0)), AIRY_ERR_UNSUPPORTED,
                "at most 67108864");
}

/* An index without entries, that counts chunks which a file of this size cannot hold. */
static void check_claims(struct check *c)
{
    if (!check_case(c, "hostile_claims"))
        return;
    const char *path = tmp_path(c, "claims.h5");
    const hsize_t shape[3] = {1 << 20, 1, 1}, box[3] = {1, 1, 1}, square[2] = {1 << 15, 1 << 15},
                  dot[2] = {1, 1};
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pset_chunk(creation, 3, box);
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    H5Dclose(put_dataset(file, "/data", H5T_NATIVE_UINT8, 3, shape, creation));
    H5Fclose(file);
    airy_stack *stack = NULL;
    if (CHECK_OK(c, stack_open(&stack, path)))
        airy_stack_destroy(&stack);
    CHECK(c, truncate(path, 1 << 15) == 0);
    CHECK_FAILS(c, stack_open(&stack, path), AIRY_ERR_FORMAT,
                "lists 1048576 chunks, the file has 32768 bytes");
    /* One chunk of 2^40: libhdf5 would look at all of them to sum up their bytes. */
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_INCR);
    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hid_t wide = put_dataset(file, "/data", H5T_NATIVE_UINT8, 3,
                                   (hsize_t[3]){1 << 20, 1 << 20, 1}, creation);
    H5Dwrite_chunk(wide, H5P_DEFAULT, 0, (hsize_t[3]){0, 0, 0}, 1, "x");
    H5Dclose(wide);
    H5Fclose(file);
    airy_hdf5_entry *entries = NULL;
    size_t count = 0;
    if (CHECK_OK(c, airy_hdf5_list(&entries, &count, path)))
        CHECK(c,
              count == 1 && entries[0].bytes == (uint64_t)1 << 40 && entries[0].stored_bytes == 0);
    airy_hdf5_list_free(entries);
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_LATE);
    H5Pset_chunk(creation, 2, dot);
    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Dclose(put_dataset(file, "/data", H5T_NATIVE_UINT8, 2, square, creation));
    H5Fclose(file);
    airy_image image;
    CHECK_FAILS(c, airy_image_read(&image, path), AIRY_ERR_CORRUPT,
                "1073741824 chunks, of which 0 are written");
    H5Pclose(creation);
    H5Pclose(access);
}

/* Shapes that nobody stores, in contiguous datasets without a byte. */
static void check_absurd(struct check *c)
{
    if (!check_case(c, "hostile_absurd_shape"))
        return;
    static const hsize_t shapes[][3] = {{(hsize_t)1 << 40, 1, 1},
                                        {(1 << 20) + 1, 4, 4},
                                        {1, (hsize_t)1 << 20, 1 << 20},
                                        {1 << 20, 4, 4}};
    static const char *const parts[] = {"1099511627776 frames", "of which the file holds 0",
                                        "frames of 2199023255552"};
    for (size_t i = 0; i < 4; i++) {
        const char *path = tmp_path(c, "absurd.h5");
        const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        H5Dclose(put_dataset(file, "/data", H5T_NATIVE_UINT16, 3, shapes[i], H5P_DEFAULT));
        H5Fclose(file);
        airy_stack *stack = NULL;
        if (i < 3)
            CHECK_FAILS(c, stack_open(&stack, path),
                        i == 1 ? AIRY_ERR_FORMAT : AIRY_ERR_UNSUPPORTED, parts[i]);
        else if (CHECK_OK(c, stack_open(&stack, path)))
            airy_stack_destroy(&stack);
    }
}

/* More pixels than memory is left, in a file that holds none. */
static void check_large_image(struct check *c)
{
    if (!check_case(c, "hostile_large_image"))
        return;
    const hsize_t shape[1] = {airy_memory_available() + ((hsize_t)1 << 31)};
    const char *path = tmp_path(c, "large.h5");
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const uint8_t fill = 7; /* so that it counts as written */
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_fill_value(creation, H5T_NATIVE_UINT8, &fill);
    H5Dclose(put_dataset(file, "/data", H5T_NATIVE_UINT8, 1, shape, creation));
    H5Pclose(creation);
    H5Fclose(file);
    airy_image image;
    CHECK_FAILS(c, airy_image_read(&image, path), AIRY_ERR_MEMORY, "bytes of memory that are left");
}

/* Each dataset is an object; links to one of them count as well. */
static void check_many_objects(struct check *c)
{
    if (!check_case(c, "hostile_many_objects"))
        return;
    const char *path = tmp_path(c, "many.h5");
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    for (int i = 0; i < 200100; i++) {
        char name[16];
        snprintf(name, sizeof(name), "l%d", i);
        H5Lcreate_soft("/none", file, name, H5P_DEFAULT, H5P_DEFAULT);
    }
    H5Fclose(file);
    H5Pclose(access);
    airy_hdf5_entry *entries = NULL;
    size_t count = 0;
    CHECK_FAILS(c, airy_hdf5_list(&entries, &count, path), AIRY_ERR_UNSUPPORTED,
                "more than 200000 objects or links");
}

static unsigned filter_calls;

/* A program's own filter: it gives back what it gets. */
static size_t count_call(unsigned flags, size_t count, const unsigned values[], size_t size,
                         size_t *capacity, void **buffer)
{
    (void)flags, (void)count, (void)values, (void)capacity, (void)buffer;
    filter_calls++;
    return size;
}

/*
 * In a process of its own, as registered filters are for good; 0 or the number of the step that
 * went wrong.
 */
static int use_own_filter(const char *short_chunk, const char *own, const char *out)
{
    static const H5Z_class2_t filter = {.version = H5Z_CLASS_T_VERS,
                                        .id = AIRY_FILTER_BITSHUFFLE,
                                        .encoder_present = 1,
                                        .decoder_present = 1,
                                        .name = "bitshuffle of the program",
                                        .filter = count_call};
    if (H5close() < 0 || H5open() < 0 || H5Zregister(&filter) < 0)
        return 1;
    airy_stack *stack = NULL;
    uint8_t pixels[PIXELS * 2] = {0};
    /* Its chunk says that it is too small: refused before any filter is asked. */
    if (stack_open(&stack, short_chunk) != AIRY_OK ||
        airy_stack_read(stack, 0, pixels, sizeof(pixels)) != AIRY_ERR_CORRUPT ||
        !strstr(airy_last_error(), "256 bytes decoded, expected 512") || filter_calls != 0)
        return 2;
    airy_stack_destroy(&stack);
    const hsize_t shape[3] = {FRAMES, HEIGHT, WIDTH};
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 3, shape);
    H5Pset_filter(creation, AIRY_FILTER_BITSHUFFLE, H5Z_FLAG_MANDATORY, 0, NULL);
    const hid_t file = H5Fcreate(own, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t dataset = put_dataset(file, "/data", H5T_NATIVE_UINT16, 3, shape, creation);
    uint16_t all[FRAMES * PIXELS] = {1, 2, 3};
    const herr_t written = H5Dwrite(dataset, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, all);
    H5Dclose(dataset);
    H5Pclose(creation);
    H5Fclose(file);
    if (written < 0 || filter_calls == 0)
        return 3;
    airy_stack_writer *writer = NULL;
    const airy_stack_writer_params params = {.dtype = AIRY_DTYPE_U16,
                                             .frames = 1,
                                             .height = 8,
                                             .width = 8,
                                             .codec = {.codec = AIRY_CODEC_BSLZ4}};
    if (airy_stack_writer_create(&writer, out, &params) != AIRY_ERR_UNSUPPORTED ||
        !strstr(airy_last_error(), "sets other parameters"))
        return 4;
    return 0;
}

static void check_own_filter(struct check *c)
{
    if (!check_case(c, "hostile_own_filter"))
        return;
    uint8_t chunk[64] = {0};
    chunk[6] = 1; /* 256 bytes of 512 */
    chunk[10] = 0x20;
    const unsigned values[5] = {0, 4, 2, 0, 2};
    const char *short_chunk = make_filtered(c, values, chunk, sizeof(chunk)),
               *own = tmp_path(c, "own.h5"), *out = tmp_path(c, "out.h5");
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0)
        _exit(use_own_filter(short_chunk, own, out));
    int status = -1;
    CHECK(c, child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    CHECK(c, WEXITSTATUS(status) == 0);
    if (WEXITSTATUS(status) != 0)
        printf("# step %d\n", WEXITSTATUS(status));
}

/* Numbers in a chunk that is shorter than its shape: libhdf5 would copy from behind it. */
static void check_short_numbers(struct check *c)
{
    if (!check_case(c, "hostile_short_numbers"))
        return;
    const char *path = make_master(c, "um", 0, 0, "keV");
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT),
                creation = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t shape[1] = {FRAMES};
    H5Pset_chunk(creation, 1, shape);
    static const char *const names[2] = {"/monitor", "/entry/instrument/detector/saturation_value"};
    for (int i = 0; i < 2; i++) {
        const hid_t dataset = put_dataset(file, names[i], H5T_NATIVE_DOUBLE, 1, shape, creation);
        H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, (hsize_t[1]){0}, 3, "abc");
        H5Dclose(dataset);
    }
    H5Pset_deflate(creation, 1);
    H5Pset_fletcher32(creation);
    const hid_t summed = put_dataset(file, "/summed", H5T_NATIVE_DOUBLE, 1, shape, creation);
    H5Dwrite_chunk(summed, H5P_DEFAULT, 0, (hsize_t[1]){0}, 3, "abc");
    H5Dclose(summed);
    H5Pclose(creation);
    H5Fclose(file);
    airy_stack *stack = NULL;
    airy_stack_meta meta;
    double values[FRAMES];
    if (!CHECK_OK(c, stack_open(&stack, path)))
        return;
    CHECK_FAILS(c, airy_stack_monitor(stack, "/monitor", values), AIRY_ERR_CORRUPT,
                "has 3 bytes, expected 32");
    CHECK_FAILS(c, airy_stack_monitor(stack, "/summed", values), AIRY_ERR_CORRUPT,
                "fewer than the 4 of its checksum");
    CHECK_OK(c, airy_stack_get_meta(stack, &meta));
    CHECK(c, meta.has_geometry && !meta.has_saturation);
    airy_stack_destroy(&stack);
}

void check_stack_hostile(struct check *c)
{
    check_short_numbers(c);
    check_own_filter(c);
    check_sparse(c);
    check_claims(c);
    check_absurd(c);
    check_large_image(c);
    check_many_objects(c);
    check_units(c);
    check_element_size(c);
}
