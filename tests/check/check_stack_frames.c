/*
 * What is a frame of a series: not a place that was never written, nor an image of another channel;
 * and the numbers and masks that belong to frames, however these are reached.
 */
#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_stack.h"
#include "io/hdf5/util.h"

enum { HEIGHT = 5, WIDTH = 7, PIXELS = HEIGHT * WIDTH, FRAMES = 4 };

static hid_t create_file(const char *path)
{
    return H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
}

static const char *tmp_path(struct check *c, const char *name)
{
    const char *folder = check_tmp(c);
    char *path = check_alloc(c, strlen(folder) + strlen(name) + 2);
    sprintf(path, "%s/%s", folder, name);
    return path;
}

/* The dataset stays open. */
static hid_t put(hid_t file, const char *name, hid_t type, int ndim, const hsize_t *shape,
                 hid_t creation)
{
    const hid_t links = H5Pcreate(H5P_LINK_CREATE), space = H5Screate_simple(ndim, shape, NULL);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t dataset = H5Dcreate2(file, name, type, space, links, creation, H5P_DEFAULT);
    H5Pclose(links);
    H5Sclose(space);
    return dataset;
}

/* Pixels [rows) of frame i get the value. */
static void write_rows(hid_t dataset, hsize_t i, hsize_t rows, uint16_t value)
{
    const hsize_t start[3] = {i, 0, 0}, count[3] = {1, rows, WIDTH};
    uint16_t pixels[PIXELS];
    for (size_t p = 0; p < PIXELS; p++)
        pixels[p] = value;
    const hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(3, count, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    H5Dwrite(dataset, H5T_NATIVE_UINT16, memory, space, H5P_DEFAULT, pixels);
    H5Sclose(space);
    H5Sclose(memory);
}

static hid_t chunks_of(hsize_t rows, bool filled)
{
    const hsize_t chunk[3] = {1, rows, WIDTH};
    const uint16_t fill = 9;
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 3, chunk);
    if (filled)
        H5Pset_fill_value(creation, H5T_NATIVE_UINT16, &fill);
    return creation;
}

/* Frames 0 and 3 of 4 are written; of frame 2 with chunks of less than a frame the first one. */
static void check_unwritten_chunks(struct check *c, hsize_t rows, bool filled)
{
    const hsize_t shape[3] = {FRAMES, HEIGHT, WIDTH};
    const hid_t creation = chunks_of(rows, filled);
    const char *path = tmp_path(c, "x.h5");
    const hid_t file = create_file(path);
    const hid_t dataset = put(file, "/data", H5T_STD_U16LE, 3, shape, creation);
    write_rows(dataset, 0, HEIGHT, 5);
    write_rows(dataset, 3, HEIGHT, 5);
    if (rows < HEIGHT)
        write_rows(dataset, 2, rows, 5);
    H5Dclose(dataset);
    H5Pclose(creation);
    H5Fclose(file);
    airy_stack *stack = NULL;
    airy_image image = {0};
    uint16_t pixels[PIXELS];
    size_t unwritten = 0;
    if (!CHECK_OK(c, stack_open(&stack, path)))
        return;
    CHECK_OK(c, airy_stack_count_unwritten(stack, &unwritten));
    CHECK(c, unwritten == 2);
    CHECK_FAILS(c, airy_stack_count_unwritten(stack, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_OK(c, airy_stack_read(stack, 0, pixels, sizeof(pixels)));
    CHECK(c, pixels[PIXELS - 1] == 5);
    CHECK_FAILS(c, airy_stack_read(stack, 1, pixels, sizeof(pixels)), AIRY_ERR_UNWRITTEN,
                "/data frame 1: ");
    CHECK_FAILS(c, airy_stack_read(stack, 2, pixels, sizeof(pixels)), AIRY_ERR_UNWRITTEN,
                rows < HEIGHT ? "a part of the frame was never written"
                              : "the frame was never written");
    CHECK_OK(c, airy_stack_read(stack, 3, pixels, sizeof(pixels)));
    CHECK_FAILS(c, airy_image_read(&image, path), AIRY_ERR_UNWRITTEN, "was never written");
    airy_stack_destroy(&stack);
}

/* An image without any bytes is none, unless its writer gave it a value. */
static void check_unwritten_image(struct check *c)
{
    const hsize_t shape[2] = {HEIGHT, WIDTH};
    const uint16_t fill = 9;
    const char *path = tmp_path(c, "x.h5");
    airy_image image = {0};
    for (int filled = 0; filled < 2; filled++) {
        const hid_t creation = H5Pcreate(H5P_DATASET_CREATE), file = create_file(path);
        if (filled)
            H5Pset_fill_value(creation, H5T_NATIVE_UINT16, &fill);
        H5Dclose(put(file, "/mask", H5T_STD_U16LE, 2, shape, creation));
        H5Fclose(file);
        H5Pclose(creation);
        if (!filled)
            CHECK_FAILS(c, airy_image_read(&image, path), AIRY_ERR_UNWRITTEN, "never written");
        else if (CHECK_OK(c, airy_image_read(&image, path)))
            CHECK(c, airy_image_value(&image, PIXELS - 1) == 9);
    }
    airy_image_free(&image);
}

/* Write the frames of a module without one of them. */
static const char *make_module(struct check *c, const char *name, hsize_t frames, hsize_t without)
{
    const char *path = tmp_path(c, name);
    const hsize_t shape[3] = {frames, HEIGHT, WIDTH};
    const hid_t creation = chunks_of(HEIGHT, false), file = create_file(path),
                dataset = put(file, "/d", H5T_STD_U16LE, 3, shape, creation);
    for (hsize_t i = 0; i < frames; i++)
        if (i != without)
            write_rows(dataset, i, HEIGHT, 5);
    H5Dclose(dataset);
    H5Fclose(file);
    H5Pclose(creation);
    return path;
}

/*
 * Frames of two modules with a gap between them: frame i shows image i of the upper module and image
 * 2 i + 2 of the lower one. A frame that lacks an image of a module counts as never written, whatever
 * libhdf5 fills in.
 */
static void check_unwritten_sources(struct check *c)
{
    enum { WHOLE = 2 * HEIGHT + 1, LOWER = 9 };
    const hsize_t shape[3] = {FRAMES, WHOLE, WIDTH}, part[3] = {FRAMES, HEIGHT, WIDTH},
                  lower[3] = {LOWER, HEIGHT, WIDTH}, step[3] = {2, 1, 1}, from[3] = {2, 0, 0},
                  places[2][3] = {{0, 0, 0}, {0, HEIGHT + 1, 0}};
    const char *const modules[2] = {make_module(c, "upper.h5", FRAMES, 3),
                                    make_module(c, "lower.h5", LOWER, 4)};
    const char *path = tmp_path(c, "x.h5");
    const hid_t file = create_file(path), creation = H5Pcreate(H5P_DATASET_CREATE),
                whole = H5Screate_simple(3, shape, NULL), all = H5Screate_simple(3, part, NULL),
                some = H5Screate_simple(3, lower, NULL);
    H5Sselect_hyperslab(some, H5S_SELECT_SET, from, step, part, NULL);
    for (size_t i = 0; i < 2; i++) {
        H5Sselect_hyperslab(whole, H5S_SELECT_SET, places[i], NULL, part, NULL);
        H5Pset_virtual(creation, whole, modules[i], "/d", i ? some : all);
    }
    H5Sselect_all(whole);
    H5Dclose(H5Dcreate2(file, "data", H5T_STD_U16LE, whole, H5P_DEFAULT, creation, H5P_DEFAULT));
    H5Sclose(some);
    H5Sclose(all);
    H5Sclose(whole);
    H5Pclose(creation);
    H5Fclose(file);
    airy_stack *stack = NULL;
    airy_image image = {0};
    uint16_t pixels[WHOLE * WIDTH];
    size_t unwritten = 0;
    CHECK_FAILS(c, airy_image_read(&image, path), AIRY_ERR_UNWRITTEN, "was never written");
    if (!CHECK_OK(c, stack_open(&stack, path)))
        return;
    CHECK_OK(c, airy_stack_count_unwritten(stack, &unwritten));
    CHECK(c, unwritten == 2);
    for (size_t i = 0; i < FRAMES; i++) {
        if (i == 1 || i == 3)
            CHECK_FAILS(c, airy_stack_read(stack, i, pixels, sizeof(pixels)), AIRY_ERR_UNWRITTEN,
                        i == 1 ? "lower.h5::/d" : "upper.h5::/d");
        else if (CHECK_OK(c, airy_stack_read(stack, i, pixels, sizeof(pixels))))
            CHECK(c, pixels[0] == 5 && pixels[PIXELS] == 0 && pixels[WHOLE * WIDTH - 1] == 5);
    }
    airy_stack_destroy(&stack);
}

/* Images [2, 3, HEIGHT, WIDTH] of three channels: pixels are 10 * image + channel. */
static void put_channels(hid_t file, const char *name, bool chunked)
{
    const hsize_t shape[4] = {2, 3, HEIGHT, WIDTH}, chunk[4] = {1, 1, HEIGHT, WIDTH};
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    if (chunked)
        H5Pset_chunk(creation, 4, chunk);
    uint16_t pixels[6 * PIXELS];
    for (size_t i = 0; i < 6 * (size_t)PIXELS; i++)
        pixels[i] = (uint16_t)(10 * (i / PIXELS / 3) + i / PIXELS % 3);
    const hid_t dataset = put(file, name, H5T_STD_U16LE, 4, shape, creation);
    H5Dwrite(dataset, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, pixels);
    H5Dclose(dataset);
    H5Pclose(creation);
}

static void put_texts(hid_t file, const char *path, bool variable, const char *const texts[3])
{
    char fixed[3][16] = {0};
    for (int i = 0; i < 3; i++)
        memcpy(fixed[i], texts[i], strnlen(texts[i], sizeof(fixed[i])));
    const hsize_t three = 3;
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, variable ? H5T_VARIABLE : sizeof(fixed[0]));
    const hid_t dataset = put(file, path, type, 1, &three, H5P_DEFAULT);
    H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT,
             variable ? (const void *)texts : (const void *)fixed);
    H5Dclose(dataset);
    H5Tclose(type);
}

static void put_names(hid_t file, const char *path, bool variable)
{
    put_texts(file, path, variable,
              (const char *const[]){"threshold_1", "threshold_2", "difference"});
}

/* Of the second channel one bad pixel, of the first two. */
static void put_masks(hid_t file)
{
    const hsize_t shape[2] = {HEIGHT, WIDTH};
    uint32_t bad[PIXELS] = {1, 1};
    hid_t mask = put(file, "/entry/instrument/detector/threshold_1_channel/pixel_mask",
                     H5T_STD_U32LE, 2, shape, H5P_DEFAULT);
    H5Dwrite(mask, H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, bad);
    H5Dclose(mask);
    bad[1] = 0;
    mask = put(file, "/entry/instrument/detector/threshold_2_channel/pixel_mask", H5T_STD_U32LE, 2,
               shape, H5P_DEFAULT);
    H5Dwrite(mask, H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, bad);
    H5Dclose(mask);
}

/* channel: 0 to 2. */
static void check_channel(struct check *c, const char *path, const char *wanted, size_t channel)
{
    airy_stack *stack = NULL;
    airy_stack_info info;
    airy_stack_meta meta;
    uint16_t pixels[PIXELS];
    uint8_t bad[PIXELS];
    if (!CHECK_OK(
            c, airy_stack_create_with(&stack, &path, 1, &(airy_stack_params){.channel = wanted})) ||
        !CHECK_OK(c, airy_stack_get_info(stack, &info)) ||
        !CHECK_OK(c, airy_stack_get_meta(stack, &meta)))
        return;
    CHECK(c, info.frames == 2);
    for (size_t i = 0; i < 2; i++) {
        CHECK_OK(c, airy_stack_read(stack, i, pixels, sizeof(pixels)));
        CHECK(c, pixels[0] == 10 * i + channel && pixels[PIXELS - 1] == 10 * i + channel);
    }
    CHECK(c, meta.has_mask == (channel < 2));
    if (meta.has_mask && CHECK_OK(c, airy_stack_mask(stack, bad)))
        CHECK(c, bad[0] == 1 && bad[1] == (channel == 0));
    airy_stack_destroy(&stack);
}

static void check_channels(struct check *c)
{
    if (!check_case(c, "stack_channels"))
        return;
    for (int kind = 0; kind < 2; kind++) {
        const char *path = tmp_path(c, "x_master.h5");
        const hid_t file = create_file(path);
        put_channels(file, "/entry/data/data", kind == 1);
        put_names(file, "/entry/data/channel", kind == 1);
        put_masks(file);
        H5Fclose(file);
        check_channel(c, path, NULL, 0);
        check_channel(c, path, "threshold_2", 1);
        check_channel(c, path, "2", 1);
        check_channel(c, path, "difference", 2);
        airy_stack *stack = NULL;
        airy_stack_info told;
        if (CHECK_OK(c, stack_open(&stack, path)) && CHECK_OK(c, airy_stack_get_info(stack, &told)))
            CHECK(c, strcmp(told.channel, "threshold_1") == 0 &&
                         strcmp(told.channels, "threshold_1, threshold_2, difference") == 0);
        airy_stack_destroy(&stack);
        CHECK_FAILS(c,
                    airy_stack_create_with(&stack, &path, 1,
                                           &(airy_stack_params){.channel = "threshold_3"}),
                    AIRY_ERR_NOT_FOUND, "threshold_1, threshold_2, difference");
        CHECK_FAILS(c,
                    airy_stack_create_with(&stack, &path, 1, &(airy_stack_params){.channel = ""}),
                    AIRY_ERR_PARAM, "channel is empty");
    }
    /* A scan of two axes has no channels: all are frames. */
    const char *scan = tmp_path(c, "scan.h5");
    const hid_t file = create_file(scan);
    put_channels(file, "/entry/data/data", true);
    H5Fclose(file);
    airy_stack *stack = NULL;
    airy_stack_info info;
    if (CHECK_OK(c, stack_open(&stack, scan)) && CHECK_OK(c, airy_stack_get_info(stack, &info)))
        CHECK(c, info.frames == 6 && info.channel[0] == 0 && info.channels[0] == 0);
    airy_stack_destroy(&stack);
    CHECK_FAILS(
        c, airy_stack_create_with(&stack, &scan, 1, &(airy_stack_params){.channel = "threshold_2"}),
        AIRY_ERR_NOT_FOUND, "has no channels");
}

/* Names that nobody could type, or that would lead elsewhere: a number and a warning instead. */
static void check_damaged_names(struct check *c)
{
    static const char *const damaged[] = {"",          "\xff_1",   "a\nb",        "../a",
                                          "\xc2\x9b-", "\xe2\x82", "\x1b[31mred", "\x7f"};
    const char *said = tmp_path(c, "said");
    char text[2048];
    for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
        const char *path = tmp_path(c, "x_master.h5");
        const hid_t file = create_file(path);
        airy_stack *stack = NULL;
        airy_stack_info info;
        put_channels(file, "/entry/data/data", true);
        put_texts(file, "/entry/data/channel", i % 2,
                  (const char *const[]){"threshold_1", damaged[i], "difference"});
        H5Fclose(file);
        fflush(stderr);
        const int own = dup(STDERR_FILENO), log = open(said, O_RDWR | O_CREAT | O_TRUNC, 0600);
        dup2(log, STDERR_FILENO);
        if (CHECK_OK(c, airy_stack_create_with(&stack, &path, 1,
                                               &(airy_stack_params){.channel = "2"})) &&
            CHECK_OK(c, airy_stack_get_info(stack, &info)))
            CHECK(c, strcmp(info.channel, "2") == 0 &&
                         strcmp(info.channels, "threshold_1, 2, difference") == 0);
        fflush(stderr);
        dup2(own, STDERR_FILENO);
        close(own);
        const ssize_t bytes = pread(log, text, sizeof(text) - 1, 0);
        close(log);
        text[bytes > 0 ? bytes : 0] = 0;
        CHECK(c, strstr(text, "the names of 1 of its 3 channels"));
        airy_stack_destroy(&stack);
    }
}

/* Where names of channels cannot or must not be read, their images do not become frames. */
static void check_channel_names(struct check *c)
{
    static const char *const why[] = {"--external-folder", "is not there"};
    if (!check_case(c, "stack_channel_names"))
        return;
    check_damaged_names(c);
    const hsize_t three = 3;
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &three, NULL);
    H5Tset_size(type, 16);
    for (size_t kind = 0; kind < 3; kind++) {
        const char *path = tmp_path(c, "x_master.h5");
        const hid_t file = create_file(path), creation = H5Pcreate(H5P_DATASET_CREATE);
        airy_stack *stack = NULL;
        put_channels(file, "/entry/data/data", true);
        if (kind == 0)
            H5Pset_external(creation, "/etc/passwd", 0, 3 * 16);
        else
            H5Pset_virtual(creation, space, "none.h5", "/names", space);
        if (kind < 2)
            H5Dclose(put(file, "/entry/data/channel", type, 1, &three, creation));
        else /* no names at all */
            H5Gclose(
                H5Gcreate2(file, "/entry/data/channel", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        H5Pclose(creation);
        H5Fclose(file);
        if (kind < 2)
            CHECK_FAILS(c, stack_open(&stack, path), AIRY_ERR_FORMAT, why[kind]);
        else if (CHECK_OK(c, stack_open(&stack, path)))
            airy_stack_destroy(&stack);
    }
    H5Sclose(space);
    H5Tclose(type);
}

enum frames_kind { PLAIN, VIRTUAL, SOFT, EXTERNAL, KINDS };

/* Frames of four kinds in an entry, and two motors beside them, one behind a soft link. */
static const char *make_scan(struct check *c, enum frames_kind kind)
{
    const hsize_t shape[3] = {FRAMES, HEIGHT, WIDTH}, frames = FRAMES;
    const char *source = tmp_path(c, "source.h5"), *path = tmp_path(c, "scan.h5"),
               *name = "/scan/instrument/eiger/data";
    const double angles[FRAMES] = {0, 1, 2, 3};
    uint16_t pixels[FRAMES * PIXELS] = {0};
    const hid_t links = H5Pcreate(H5P_LINK_CREATE), creation = H5Pcreate(H5P_DATASET_CREATE),
                space = H5Screate_simple(3, shape, NULL), file = create_file(path);
    const hid_t holder = kind == PLAIN || kind == SOFT ? file : create_file(source);
    const hid_t data =
        put(holder, kind == PLAIN ? name : "/images", H5T_STD_U16LE, 3, shape, H5P_DEFAULT);
    H5Dwrite(data, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, pixels);
    H5Dclose(data);
    H5Pset_create_intermediate_group(links, 1);
    if (kind == SOFT)
        H5Lcreate_soft("/images", file, name, links, H5P_DEFAULT);
    if (kind == EXTERNAL)
        H5Lcreate_external(source, "/images", file, name, links, H5P_DEFAULT);
    if (kind == VIRTUAL) {
        H5Pset_virtual(creation, space, source, "/images", space);
        H5Dclose(put(file, name, H5T_STD_U16LE, 3, shape, creation));
    }
    const hid_t rot =
                    put(file, "/scan/measurement/rot", H5T_NATIVE_DOUBLE, 1, &frames, H5P_DEFAULT),
                diode = put(file, "/elsewhere", H5T_NATIVE_DOUBLE, 1, &frames, H5P_DEFAULT);
    H5Dwrite(rot, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, angles);
    H5Dwrite(diode, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, angles);
    H5Lcreate_soft("/elsewhere", file, "/scan/measurement/diode", links, H5P_DEFAULT);
    H5Lcreate_soft("/scan/measurement/rot", file, "/scan/instrument/again", links, H5P_DEFAULT);
    H5Lcreate_soft("/nowhere", file, "/scan/instrument/broken", links, H5P_DEFAULT);
    H5Dclose(rot);
    H5Dclose(diode);
    if (holder != file)
        H5Fclose(holder);
    H5Fclose(file);
    H5Sclose(space);
    H5Pclose(creation);
    H5Pclose(links);
    return path;
}

static void check_beside(struct check *c)
{
    if (!check_case(c, "stack_values_beside_links"))
        return;
    for (enum frames_kind kind = PLAIN; kind < KINDS; kind++) {
        char name[1024];
        snprintf(name, sizeof(name), "%s::/scan/instrument/eiger/data", make_scan(c, kind));
        airy_stack *stack = NULL;
        airy_frame_values *values = NULL;
        size_t count = 0, rot = 0, diode = 0;
        if (!CHECK_OK(c, stack_open(&stack, name)) ||
            !CHECK_OK(c, airy_stack_values(&values, &count, stack, NULL, 0)))
            return;
        for (size_t i = 0; i < count; i++) {
            rot += strcmp(values[i].name, "rot") == 0;
            diode += strcmp(values[i].name, "diode") == 0;
            CHECK(c, ((const double *)values[i].values)[FRAMES - 1] == 3);
        }
        CHECK(c, count == 2 && rot == 1 && diode == 1);
        airy_frame_values_free(values, count);
        airy_stack_destroy(&stack);
    }
}

/* Truth values, as h5py writes them, beside a record and a text. */
static void check_truth(struct check *c)
{
    if (!check_case(c, "stack_truth_found"))
        return;
    const hsize_t shape[2] = {HEIGHT, WIDTH}, one = 1;
    const char *path = tmp_path(c, "mask.h5");
    const hid_t file = create_file(path), truth = H5Tenum_create(H5T_STD_I8LE),
                record = H5Tcreate(H5T_COMPOUND, 8);
    signed char value = 0, mask[PIXELS] = {0};
    H5Tenum_insert(truth, "FALSE", &value);
    value = 1;
    H5Tenum_insert(truth, "TRUE", &value);
    H5Tinsert(record, "x", 0, H5T_NATIVE_DOUBLE);
    mask[PIXELS - 1] = 1;
    const hid_t dataset = put(file, "/entry/mask", truth, 2, shape, H5P_DEFAULT);
    H5Dwrite(dataset, truth, H5S_ALL, H5S_ALL, H5P_DEFAULT, mask);
    H5Dclose(dataset);
    H5Dclose(put(file, "/table", record, 2, shape, H5P_DEFAULT));
    H5Dclose(put(file, "/number", H5T_NATIVE_DOUBLE, 1, &one, H5P_DEFAULT));
    H5Tclose(truth);
    H5Tclose(record);
    H5Fclose(file);
    airy_image image = {0};
    airy_stack *stack = NULL;
    if (CHECK_OK(c, airy_image_read(&image, path)))
        CHECK(c, image.ndim == 2 && image.dtype == AIRY_DTYPE_I8 &&
                     airy_image_value(&image, PIXELS - 1) == 1 && airy_image_value(&image, 0) == 0);
    CHECK_OK(c, stack_open(&stack, path));
    airy_stack_destroy(&stack);
    airy_image_free(&image);
}

/* A title of EDF with any byte in it: the keys behind it count. */
static void check_titles(struct check *c)
{
    static const char *const titles[] = {"a@b", "a\tb", "a\xc4\x8d", "a\xff", "a;b", "a}b", "a\nb"};
    if (!check_case(c, "stack_edf_title"))
        return;
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
        char bytes[1024 + 2 * PIXELS] = "";
        const int used = snprintf(bytes, sizeof(bytes),
                                  "{\nByteOrder = LowByteFirst ;\nDataType = UnsignedShort ;\n"
                                  "Dim_1 = %d ;\nDim_2 = %d ;\nTitle = %s ;\nPSize_1 = 1e-4 ;\n"
                                  "PSize_2 = 2e-4 ;\nSampleDistance = 0.25 ;\nCenter_1 = 3 ;\n"
                                  "Center_2 = 2 ;\n",
                                  WIDTH, HEIGHT, titles[i]);
        memset(bytes + used, ' ', (size_t)(1024 - used));
        memcpy(bytes + 1022, "}\n", 2);
        char *odd = memchr(bytes, '@', 1024);
        if (odd)
            *odd = 0;
        airy_stack *stack = NULL;
        airy_stack_meta meta;
        if (CHECK_OK(c, stack_open(&stack, stack_spill(c, "x.edf", bytes, sizeof(bytes)))) &&
            CHECK_OK(c, airy_stack_get_meta(stack, &meta)))
            CHECK(c, meta.has_geometry && meta.geometry.dist == 0.25 &&
                         meta.geometry.detector.pixel1 == 2e-4);
        airy_stack_destroy(&stack);
    }
}

void check_stack_frames(struct check *c)
{
    if (check_case(c, "stack_unwritten")) {
        if (airy_hdf5_lock() == AIRY_OK) /* registers the filters */
            airy_hdf5_unlock();
        for (int filled = 0; filled < 2; filled++) {
            check_unwritten_chunks(c, HEIGHT, filled);
            check_unwritten_chunks(c, 2, filled);
        }
        check_unwritten_image(c);
        check_unwritten_sources(c);
    }
    check_channels(c);
    check_channel_names(c);
    check_beside(c);
    check_truth(c);
    check_titles(c);
}
