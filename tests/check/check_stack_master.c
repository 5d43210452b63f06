/* Stacks written into several files under a master. */
#include "check_stack.h"

#include <dirent.h>
#include <hdf5.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FRAMES = 11, HEIGHT = 19, WIDTH = 23, PIXELS = HEIGHT * WIDTH, ELEM = 4 };
enum { FRAME = PIXELS * ELEM, THREADS = 4 };

/* A stack, its pixels and where it goes. */
struct series {
    struct check *c;
    const char *folder, *path;
    airy_stack_writer_params params;
    uint8_t *pixels;
    uint8_t *chunks[FRAMES];
    size_t sizes[FRAMES];
};

static const char *join(struct check *c, const char *folder, const char *name)
{
    char *path = check_alloc(c, strlen(folder) + strlen(name) + 2);
    sprintf(path, "%s/%s", folder, name);
    return path;
}

/* How many files and folders are in it. */
static size_t count_entries(const char *folder)
{
    size_t count = 0;
    DIR *directory = opendir(folder);
    while (directory && readdir(directory))
        count++;
    if (directory)
        closedir(directory);
    return count - 2; /* itself and the one above */
}

static bool begin(struct series *s, struct check *c, const char *name, size_t each, airy_codec kind)
{
    const airy_codec_params codec = {.codec = kind, .elem_size = ELEM};
    const size_t bound = airy_encode_bound(FRAME, &codec);
    *s = (struct series){.c = c, .folder = join(c, check_tmp(c), "series")};
    s->path = join(c, s->folder, name);
    s->params = (airy_stack_writer_params){.dtype = AIRY_DTYPE_U32,
                                           .frames = FRAMES,
                                           .height = HEIGHT,
                                           .width = WIDTH,
                                           .codec = codec,
                                           .frames_per_file = each};
    s->pixels = check_alloc(c, FRAMES * FRAME);
    check_rand(c, s->pixels, AIRY_DTYPE_U8, FRAMES * FRAME, 0, 7);
    for (size_t i = 0; i < FRAMES; i++) {
        s->sizes[i] = bound;
        s->chunks[i] = check_alloc(c, bound);
        if (!CHECK_OK(
                c, airy_encode(s->chunks[i], &s->sizes[i], s->pixels + i * FRAME, FRAME, &codec)))
            return false;
    }
    return CHECK(c, mkdir(s->folder, 0777) == 0);
}

static airy_status add_all(const struct series *s, airy_stack_writer *writer)
{
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < FRAMES && status == AIRY_OK; i++)
        status = airy_stack_writer_add(writer, i, s->chunks[i], s->sizes[i]);
    return status;
}

/* All at once; what is wrong is left to the caller. */
static airy_status write_series(const struct series *s)
{
    airy_stack_writer *writer = NULL;
    airy_status status = airy_stack_writer_create(&writer, s->path, &s->params);
    if (status == AIRY_OK)
        status = add_all(s, writer);
    if (status == AIRY_OK)
        status = airy_stack_writer_finish(writer);
    airy_stack_writer_destroy(&writer);
    return status;
}

/* The frames from first on, of a stack of so many. */
static void check_frames(const struct series *s, const char *path, size_t first, size_t frames,
                         size_t files)
{
    struct check *c = s->c;
    uint8_t back[FRAME];
    airy_stack *stack = NULL;
    airy_stack_info info;
    if (!CHECK_OK(c, stack_open(&stack, path)) || !CHECK_OK(c, airy_stack_get_info(stack, &info)))
        return;
    CHECK(c, info.frames == frames && info.height == HEIGHT && info.width == WIDTH &&
                 info.dtype == AIRY_DTYPE_U32 && info.path == AIRY_STACK_DIRECT &&
                 info.codec.codec == s->params.codec.codec);
    CHECK(c, files == 0 || info.files == files);
    for (size_t i = 0; i < frames; i++) {
        CHECK_OK(c, airy_stack_read(stack, i, back, FRAME));
        check_values(c, "pixels", AIRY_DTYPE_U8, back, s->pixels + (first + i) * FRAME, FRAME,
                     NULL);
    }
    airy_stack_destroy(&stack);
}

static int read_number(hid_t file, const char *name)
{
    int value = -1;
    const hid_t data = H5Dopen2(file, "/entry/data/data", H5P_DEFAULT),
                attribute = H5Aopen(data, name, H5P_DEFAULT);
    H5Aread(attribute, H5T_NATIVE_INT, &value);
    H5Aclose(attribute);
    H5Dclose(data);
    return value;
}

/* As other programs see it: libhdf5 with our filters. */
static void check_by_library(const struct series *s, size_t each, size_t files)
{
    struct check *c = s->c;
    uint8_t *all = check_alloc(c, FRAMES * FRAME);
    const hid_t master = H5Fopen(s->path, H5F_ACC_RDONLY, H5P_DEFAULT),
                data = H5Dopen2(master, "/entry/instrument/detector/data", H5P_DEFAULT);
    CHECK(c, H5Dread(data, H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) >= 0);
    check_values(c, "virtual dataset", AIRY_DTYPE_U8, all, s->pixels, FRAMES * FRAME, NULL);
    H5Dclose(data);
    for (size_t i = 0; i < files; i++) {
        char name[64], *path = NULL;
        const size_t first = i * each, end = first + each < FRAMES ? first + each : FRAMES;
        sprintf(name, "/entry/data/data_%06zu", i + 1);
        const hid_t part = H5Dopen2(master, name, H5P_DEFAULT), space = H5Dget_space(part);
        hsize_t shape[3] = {0};
        CHECK(c, H5Sget_simple_extent_dims(space, shape, NULL) == 3 && shape[0] == end - first);
        H5Sclose(space);
        H5Dclose(part);
        if (!CHECK_OK(c, airy_stack_data_path(&path, s->path, i + 1)))
            continue;
        const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        CHECK(c, read_number(file, "image_nr_low") == (int)first + 1 &&
                     read_number(file, "image_nr_high") == (int)end);
        H5Fclose(file);
        check_frames(s, path, first, end - first, 1);
        free(path);
    }
    H5Fclose(master);
}

static herr_t add_frames(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    (void)info;
    hsize_t shape[3] = {0};
    if (strncmp(name, "data", 4) != 0)
        return 0;
    const hid_t data = H5Dopen2(group, name, H5P_DEFAULT), space = H5Dget_space(data);
    H5Sget_simple_extent_dims(space, shape, NULL);
    *(size_t *)user += shape[0];
    H5Sclose(space);
    H5Dclose(data);
    return 0;
}

/*
 * As fabio 2026.6 and the older readers of dxtbx count: the frames of all names in /entry/data that
 * begin with "data". The default plot is one of them.
 */
static void check_counted(struct check *c, hid_t file, size_t frames)
{
    size_t counted = 0;
    char *signal = NULL;
    const hid_t data = H5Gopen2(file, "/entry/data", H5P_DEFAULT),
                attribute = H5Aopen(data, "signal", H5P_DEFAULT), type = H5Aget_type(attribute);
    CHECK(c, H5Literate(data, H5_INDEX_NAME, H5_ITER_INC, NULL, add_frames, &counted) >= 0);
    CHECK(c, counted == frames);
    CHECK(c, H5Aread(attribute, type, &signal) >= 0 && signal &&
                 H5Lexists(data, signal, H5P_DEFAULT) > 0);
    H5free_memory(signal);
    H5Tclose(type);
    H5Aclose(attribute);
    H5Gclose(data);
}

static uint64_t read_scalar(hid_t file, const char *name)
{
    uint64_t value = UINT64_MAX;
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    H5Dread(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
    H5Dclose(dataset);
    return value;
}

/*
 * As neggia 1.2.0 reads for XDS: positive integers, and a mask of two axes, 32 bits, unsigned, that
 * lies in one piece of the file. Under the name that NeXus gives it, too.
 */
static void check_for_xds(struct check *c, const char *path, const uint8_t *mask)
{
#define SPECIFIC "/entry/instrument/detector/detectorSpecific/"
    uint32_t values[PIXELS];
    hsize_t shape[2] = {0};
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    CHECK(c, read_scalar(file, SPECIFIC "nimages") == FRAMES);
    CHECK(c, read_scalar(file, SPECIFIC "ntrigger") == 1);
    CHECK(c, read_scalar(file, SPECIFIC "x_pixels_in_detector") == WIDTH);
    CHECK(c, read_scalar(file, SPECIFIC "y_pixels_in_detector") == HEIGHT);
    CHECK(c, read_scalar(file, SPECIFIC "bit_depth_image") == 32);
    check_counted(c, file, FRAMES);
    static const char *const names[] = {SPECIFIC "pixel_mask",
                                        "/entry/instrument/detector/pixel_mask"};
    for (size_t k = 0; k < 2; k++) {
        const hid_t set = H5Dopen2(file, names[k], H5P_DEFAULT), space = H5Dget_space(set),
                    type = H5Dget_type(set), creation = H5Dget_create_plist(set);
        CHECK(c, H5Sget_simple_extent_ndims(space) == 2 &&
                     H5Sget_simple_extent_dims(space, shape, NULL) == 2 && shape[0] == HEIGHT &&
                     shape[1] == WIDTH);
        CHECK(c, H5Tequal(type, H5T_STD_U32LE) > 0 && H5Pget_layout(creation) == H5D_CONTIGUOUS &&
                     H5Dget_offset(set) != HADDR_UNDEF);
        CHECK(c, H5Dread(set, H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
        size_t wrong = 0;
        for (size_t i = 0; i < PIXELS; i++)
            wrong += values[i] != (mask ? mask[i] : 0);
        CHECK(c, wrong == 0);
        H5Pclose(creation);
        H5Tclose(type);
        H5Sclose(space);
        H5Dclose(set);
    }
    H5Fclose(file);
#undef SPECIFIC
}

/* One file and several, with a mask and without one. */
static void check_foreign(struct check *c)
{
    struct series s;
    uint8_t mask[PIXELS] = {0}, back[PIXELS];
    mask[0] = mask[WIDTH + 3] = mask[PIXELS - 1] = 1;
    for (unsigned k = 0; k < 4; k++) {
        const bool several = k & 1, masked = k & 2;
        airy_stack *stack = NULL;
        airy_stack_meta meta;
        if (!check_case(c, "stack_master_foreign_%s%s", several ? "several" : "one",
                        masked ? "_masked" : ""))
            continue;
        if (!begin(&s, c, "run_master.h5", several ? 4 : 0, AIRY_CODEC_BSLZ4))
            return;
        s.params.mask = masked ? mask : NULL;
        CHECK_OK(c, write_series(&s));
        check_for_xds(c, s.path, s.params.mask);
        if (!CHECK_OK(c, stack_open(&stack, s.path)) ||
            !CHECK_OK(c, airy_stack_get_meta(stack, &meta)))
            return;
        /* Zeros are no mask. */
        CHECK(c, meta.has_mask == masked && meta.frames == FRAMES);
        CHECK_OK(c, airy_stack_mask(stack, back));
        CHECK(c, !masked || memcmp(back, mask, PIXELS) == 0);
        airy_stack_destroy(&stack);
    }
}

static void check_round_trip(struct check *c, size_t each, airy_codec kind)
{
    if (!check_case(c, "stack_master_%zu_a_file_%s", each, airy_codec_name(kind)))
        return;
    struct series s;
    const size_t files = (FRAMES - 1) / each + 1;
    airy_stack_writer *writer = NULL;
    if (!begin(&s, c, "100%b_master.h5", each, kind) ||
        !CHECK_OK(c, airy_stack_writer_create(&writer, s.path, &s.params)))
        return;
    for (size_t i = FRAMES; i-- > 0;) {
        if (i == 3)
            CHECK_FAILS(c, airy_stack_writer_finish(writer), AIRY_ERR_PARAM,
                        "frame 0 of 11 was not added");
        CHECK_OK(c, airy_stack_writer_add(writer, i, s.chunks[i], s.sizes[i]));
    }
    CHECK(c, access(s.path, F_OK) != 0);
    CHECK_OK(c, airy_stack_writer_finish(writer));
    CHECK_FAILS(c, airy_stack_writer_finish(writer), AIRY_ERR_PARAM, "no open writer");
    airy_stack_writer_destroy(&writer);
    CHECK(c, count_entries(s.folder) == files + 1);
    check_frames(&s, s.path, 0, FRAMES, files);
    check_by_library(&s, each, files);
}

/* One thread's frames: every THREADS-th. */
struct put_job {
    const struct series *s;
    airy_stack_writer *writer;
    size_t first;
    airy_status status;
};

static void *put_frames(void *user)
{
    struct put_job *job = user;
    for (size_t i = job->first; i < FRAMES && job->status == AIRY_OK; i += THREADS)
        job->status = airy_stack_writer_add(job->writer, i, job->s->chunks[i], job->s->sizes[i]);
    return NULL;
}

static void check_threads(struct check *c)
{
    if (!check_case(c, "stack_master_threads"))
        return;
    struct series s;
    struct put_job jobs[THREADS];
    pthread_t threads[THREADS];
    airy_stack_writer *writer = NULL;
    if (!begin(&s, c, "run.h5", 3, AIRY_CODEC_BSLZ4) ||
        !CHECK_OK(c, airy_stack_writer_create(&writer, s.path, &s.params)))
        return;
    for (size_t t = 0; t < THREADS; t++) {
        jobs[t] = (struct put_job){&s, writer, t, AIRY_OK};
        if (!CHECK(c, pthread_create(&threads[t], NULL, put_frames, &jobs[t]) == 0))
            return;
    }
    for (size_t t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        CHECK(c, jobs[t].status == AIRY_OK);
    }
    CHECK_OK(c, airy_stack_writer_finish(writer));
    airy_stack_writer_destroy(&writer);
    check_frames(&s, s.path, 0, FRAMES, 4);
}

/* The frames of a data file that is gone fail, the others do not. */
static void check_lost_file(struct check *c, size_t lost)
{
    if (!check_case(c, "stack_master_lost_%zu", lost))
        return;
    struct series s;
    char *path = NULL;
    uint8_t back[FRAME];
    airy_stack *stack = NULL;
    airy_stack_info info;
    if (!begin(&s, c, "run_master.h5", 4, AIRY_CODEC_BSLZ4) || !CHECK_OK(c, write_series(&s)) ||
        !CHECK_OK(c, airy_stack_data_path(&path, s.path, lost)))
        return;
    CHECK(c, unlink(path) == 0);
    if (CHECK_OK(c, stack_open(&stack, s.path)) && CHECK_OK(c, airy_stack_get_info(stack, &info)) &&
        CHECK(c, info.frames == FRAMES && info.lost == (lost == 3 ? 3 : 4)))
        for (size_t i = 0; i < FRAMES; i++) {
            const airy_status status = airy_stack_read(stack, i, back, FRAME);
            CHECK(c, (status == AIRY_OK) == (i / 4 + 1 != lost));
        }
    airy_stack_destroy(&stack);
    const char *whole = join(c, s.folder, "run_master.h5::/entry/instrument/detector/data");
    if (CHECK_OK(c, stack_open(&stack, whole)) && CHECK_OK(c, airy_stack_get_info(stack, &info)))
        CHECK(c, info.frames == FRAMES && info.lost == (lost == 3 ? 3 : 4));
    airy_stack_destroy(&stack);
    free(path);
}

static void check_names(struct check *c)
{
    static const struct {
        const char *master, *data;
    } names[] = {{"run_master.h5", "run_data_000012.h5"},
                 {"a/b.c/run_master.nxs", "a/b.c/run_data_000012.nxs"},
                 {"/x/run.h5", "/x/run_data_000012.h5"},
                 {"_master.h5", "_master_data_000012.h5"},
                 {"a.b/_master", "a.b/_master_data_000012"},
                 {"a.b/run_master", "a.b/run_data_000012"},
                 {"run_master_master.h5", "run_master_data_000012.h5"},
                 {".h5", ".h5_data_000012"}};
    char *path = NULL;
    if (!check_case(c, "stack_master_names"))
        return;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        CHECK_OK(c, airy_stack_data_path(&path, names[i].master, 12));
        CHECK(c, path && strcmp(path, names[i].data) == 0);
        free(path);
        path = NULL;
    }
    CHECK_OK(c, airy_stack_data_path(&path, "x.h5", 100000));
    CHECK(c, path && strcmp(path, "x_data_100000.h5") == 0);
    free(path);
    path = NULL;
    CHECK_FAILS(c, airy_stack_data_path(&path, "x.h5", 0), AIRY_ERR_PARAM, "number = 0");
    CHECK_FAILS(c, airy_stack_data_path(&path, "x.h5", 100001), AIRY_ERR_PARAM, "number = 100001");
    CHECK_FAILS(c, airy_stack_data_path(&path, NULL, 1), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_stack_data_path(NULL, "x.h5", 1), AIRY_ERR_PARAM, "NULL");
    CHECK(c, path == NULL);
}

static void check_errors(struct check *c)
{
    if (!check_case(c, "stack_master_errors"))
        return;
    struct series s;
    airy_frame_place place;
    airy_stack_writer *writer = NULL;
    if (!begin(&s, c, "run_master.h5", 4, AIRY_CODEC_BSLZ4))
        return;
    s.params.dataset = "/entry/data/data";
    CHECK_FAILS(c, airy_stack_writer_create(&writer, s.path, &s.params), AIRY_ERR_PARAM,
                "names of their own");
    s.params.dataset = NULL;
    s.params.frames_per_file = 1;
    s.params.frames = 100001;
    CHECK_FAILS(c, airy_stack_writer_create(&writer, s.path, &s.params), AIRY_ERR_PARAM,
                "100001 files of 1 frames");
    s.params.frames_per_file = 1u << 30;
    s.params.frames = (size_t)1 << 31;
    CHECK_FAILS(c, airy_stack_writer_create(&writer, s.path, &s.params), AIRY_ERR_PARAM,
                "expected at most 2147483647");
    s.params.frames = FRAMES;
    s.params.frames_per_file = 4;
    CHECK_FAILS(c, airy_stack_writer_create(&writer, "/proc/none/x.h5", &s.params), AIRY_ERR_IO,
                "No such file");
    /* Dropped in between nothing is left, of whatever file. */
    CHECK_OK(c, airy_stack_writer_create(&writer, s.path, &s.params));
    CHECK_OK(c, airy_stack_writer_place(writer, 10, s.chunks[10], s.sizes[10], &place));
    CHECK_FAILS(c, airy_stack_writer_place(writer, 10, s.chunks[10], s.sizes[10], &place),
                AIRY_ERR_PARAM, "has its place");
    place.frame = 0;
    CHECK_FAILS(c, airy_stack_writer_put(writer, &place, s.chunks[10], s.sizes[10]), AIRY_ERR_PARAM,
                "not begun");
    for (size_t i = 0; i < 5; i++)
        CHECK_OK(c, airy_stack_writer_add(writer, i, s.chunks[i], s.sizes[i]));
    CHECK(c, count_entries(s.folder) == 4);
    airy_stack_writer_destroy(&writer);
    CHECK(c, count_entries(s.folder) == 0);
}

static void spill(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

static bool holds(const char *path, const char *text)
{
    char have[32] = "";
    FILE *file = fopen(path, "r");
    const bool read = file && fgets(have, sizeof(have), file);
    if (file)
        fclose(file);
    return read && strcmp(have, text) == 0;
}

/* What is there already stays, from before or since; with force it goes. */
static void check_taken(struct check *c)
{
    if (!check_case(c, "stack_master_taken"))
        return;
    struct series s;
    airy_stack_writer *writer = NULL;
    if (!begin(&s, c, "run_master.h5", 4, AIRY_CODEC_BSLZ4))
        return;
    const char *second = join(c, s.folder, "run_data_000002.h5"),
               *fourth = join(c, s.folder, "run_data_000004.h5");
    spill(second, "mine");
    CHECK_FAILS(c, airy_stack_writer_create(&writer, s.path, &s.params), AIRY_ERR_EXISTS,
                "run_data_000002.h5' is there already");
    CHECK(c, count_entries(s.folder) == 1 && holds(second, "mine"));
    unlink(second);
    CHECK_OK(c, airy_stack_writer_create(&writer, s.path, &s.params));
    CHECK_OK(c, add_all(&s, writer));
    spill(second, "mine");
    CHECK_FAILS(c, airy_stack_writer_finish(writer), AIRY_ERR_EXISTS,
                "run_data_000002.h5' is there already");
    airy_stack_writer_destroy(&writer);
    CHECK(c, count_entries(s.folder) == 1 && holds(second, "mine"));
    spill(fourth, "of a longer one");
    spill(s.path, "old");
    CHECK_FAILS(c, airy_stack_writer_create(&writer, s.path, &s.params), AIRY_ERR_EXISTS,
                "run_master.h5' is there already");
    s.params.force = true;
    CHECK_OK(c, write_series(&s));
    CHECK(c, count_entries(s.folder) == 5 && holds(fourth, "of a longer one"));
    check_frames(&s, s.path, 0, FRAMES, 3);
    /* A folder is in the way: what is there stays. */
    unlink(second);
    CHECK(c, mkdir(second, 0777) == 0);
    CHECK(c, write_series(&s) == AIRY_ERR_IO && strstr(airy_last_error(), "run_data_000002.h5"));
    CHECK(c, access(s.path, F_OK) == 0 && count_entries(s.folder) == 5);
    /* run.h5 would have its data files. */
    CHECK(c, rmdir(second) == 0);
    CHECK_OK(c, write_series(&s));
    CHECK_FAILS(c, airy_stack_writer_create(&writer, join(c, s.folder, "run.h5"), &s.params),
                AIRY_ERR_EXISTS, "run_master.h5' has data files of the same names");
    check_frames(&s, s.path, 0, FRAMES, 3);
}

/* A stack under the name of one in more files: what only the old master linked to goes. */
static void check_shorter(struct check *c)
{
    if (!check_case(c, "stack_master_shorter"))
        return;
    struct series s;
    size_t count = 7;
    if (!begin(&s, c, "run_master.h5", 2, AIRY_CODEC_BSLZ4) || !CHECK_OK(c, write_series(&s)))
        return;
    const char *fifth = join(c, s.folder, "run_data_000005.h5"),
               *seventh = join(c, s.folder, "run_data_000007.h5"),
               *other = join(c, s.folder, "run_data_0000051.h5"),
               *link = join(c, s.folder, "link_master.h5");
    spill(seventh, "of nobody");
    spill(other, "of nobody");
    CHECK(c, unlink(fifth) == 0 && mkdir(fifth, 0777) == 0);
    CHECK(c, symlink("run_master.h5", link) == 0);
    CHECK_OK(c, airy_stack_data_count(&count, link));
    CHECK(c, count == 0);
    CHECK_OK(c, airy_stack_data_count(&count, s.path));
    CHECK(c, count == 6);
    s.params.force = true;
    s.params.frames_per_file = 4;
    CHECK_OK(c, write_series(&s));
    /* Gone: 4, 6. A folder is not what the master linked to. */
    CHECK(c, count_entries(s.folder) == 1 + 3 + 4 && holds(seventh, "of nobody") &&
                 holds(other, "of nobody") && rmdir(fifth) == 0);
    check_frames(&s, s.path, 0, FRAMES, 3);
    /* One file takes the place of the master: it is not a stack in several files, they stay. */
    s.params.frames_per_file = 0;
    CHECK_OK(c, write_series(&s));
    CHECK(c, count_entries(s.folder) == 1 + 3 + 3);
    CHECK_OK(c, airy_stack_data_count(&count, s.path));
    CHECK(c, count == 0);
    /* A master by another name has links to files that are another stack's. */
    s.params.frames_per_file = 4;
    CHECK_OK(c, write_series(&s));
    const char *renamed = join(c, s.folder, "else_master.h5");
    CHECK(c, rename(s.path, renamed) == 0);
    CHECK_OK(c, airy_stack_data_count(&count, renamed));
    CHECK(c, count == 0);
    CHECK_OK(c, airy_stack_data_count(&count, seventh));
    CHECK(c, count == 0);
    CHECK_FAILS(c, airy_stack_data_count(NULL, s.path), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_stack_data_count(&count, ""), AIRY_ERR_PARAM, "NULL");
}

/* A full disk, played by a limit of each file's size. */
static void check_full(struct check *c)
{
    if (!check_case(c, "stack_master_full_disk"))
        return;
    struct series s;
    struct rlimit before, small;
    if (!begin(&s, c, "run_master.h5", 4, AIRY_CODEC_NONE))
        return;
    getrlimit(RLIMIT_FSIZE, &before);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    /* The master takes 64 KiB and some, a data file as much and 7 KiB of frames. */
    for (rlim_t limit = 50; limit < 68000; limit = limit * 2 + 13) {
        small = before;
        small.rlim_cur = limit;
        setrlimit(RLIMIT_FSIZE, &small);
        const airy_status status = write_series(&s);
        setrlimit(RLIMIT_FSIZE, &before);
        CHECK(c, status == AIRY_ERR_IO && strstr(airy_last_error(), "File too large"));
        CHECK(c, count_entries(s.folder) == 0);
    }
    signal(SIGXFSZ, handler);
}

void check_stack_master(struct check *c)
{
    static const size_t each[] = {1, 2, 4, 10, 11, 12, 1000};
    for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++)
        check_round_trip(c, each[i], AIRY_CODEC_BSLZ4);
    check_round_trip(c, 4, AIRY_CODEC_NONE);
    check_round_trip(c, 4, AIRY_CODEC_LZ4);
    check_foreign(c);
    check_threads(c);
    for (size_t lost = 1; lost <= 3; lost++)
        check_lost_file(c, lost);
    check_names(c);
    check_errors(c);
    check_taken(c);
    check_shorter(c);
    check_full(c);
}
