/* Stacks written and read back; what files say about the experiment. */
#include "check_stack.h"

#include <glob.h>
#include <hdf5.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "io/stack/source.h"

enum { FRAMES = 5, HEIGHT = 19, WIDTH = 23, PIXELS = HEIGHT * WIDTH };

static const char *tmp_path(struct check *c, const char *name)
{
    const char *folder = check_tmp(c);
    char *path = check_alloc(c, strlen(folder) + strlen(name) + 2);
    sprintf(path, "%s/%s", folder, name);
    return path;
}

/* Nothing that begins with this name and ends so is left. */
static bool no_partial(const char *path)
{
    char pattern[1024];
    glob_t found;
    snprintf(pattern, sizeof(pattern), "%s*.partial", path);
    const bool none = glob(pattern, 0, NULL, &found) == GLOB_NOMATCH;
    globfree(&found);
    return none;
}

static airy_geometry some_geometry(double rot1)
{
    airy_geometry g;
    memset(&g, 0, sizeof(g));
    strcpy(g.detector.name, "Detector");
    g.detector.height = HEIGHT;
    g.detector.width = WIDTH;
    g.detector.pixel1 = 75e-6;
    g.detector.pixel2 = 172e-6;
    g.dist = 0.1234567890123;
    g.poni1 = 0.0017;
    g.poni2 = -0.0023;
    g.rot1 = rot1;
    g.wavelength = 1.0332e-10;
    return g;
}

static bool write_stack(struct check *c, const char *path, const airy_stack_writer_params *params,
                        const uint8_t *pixels)
{
    const size_t frame = PIXELS * airy_dtype_size(params->dtype);
    airy_codec_params codec = params->codec;
    codec.elem_size = (uint32_t)airy_dtype_size(params->dtype);
    const size_t bound = airy_encode_bound(frame, &codec);
    uint8_t *chunk = check_alloc(c, bound);
    airy_stack_writer *writer = NULL;
    if (!CHECK_OK(c, airy_stack_writer_create(&writer, path, params)))
        return false;
    for (size_t i = FRAMES; i-- > 0;) {
        size_t size = bound;
        CHECK_OK(c, airy_encode(chunk, &size, pixels + i * frame, frame, &codec));
        CHECK_OK(c, airy_stack_writer_add(writer, i, chunk, size));
        if (i == 3)
            CHECK_FAILS(c, airy_stack_writer_finish(writer), AIRY_ERR_PARAM,
                        "frame 0 of 5 was not added");
    }
    CHECK(c, access(path, F_OK) != 0);
    CHECK_OK(c, airy_stack_writer_finish(writer));
    airy_stack_writer_destroy(&writer);
    return CHECK(c, access(path, F_OK) == 0);
}

static void check_round_trip(struct check *c, airy_dtype dtype, airy_codec codec, uint32_t block)
{
    if (!check_case(c, "stack_write_%s_%s_%u", airy_dtype_name(dtype), airy_codec_name(codec),
                    block))
        return;
    const size_t size = airy_dtype_size(dtype), frame = PIXELS * size;
    uint8_t *pixels = check_alloc(c, FRAMES * frame), *back = check_alloc(c, frame);
    check_rand(c, pixels, AIRY_DTYPE_U8, FRAMES * frame, 0, 7);
    const airy_stack_writer_params params = {
        .dtype = dtype,
        .frames = FRAMES,
        .height = HEIGHT,
        .width = WIDTH,
        .codec = {.codec = codec, .block_bytes = block * (uint32_t)size}};
    const char *path = tmp_path(c, "stack.h5");
    airy_stack *stack = NULL;
    airy_stack_info info;
    if (!write_stack(c, path, &params, pixels) || !CHECK_OK(c, stack_open(&stack, path)))
        return;
    CHECK_OK(c, airy_stack_get_info(stack, &info));
    CHECK(c, info.frames == FRAMES && info.height == HEIGHT && info.width == WIDTH &&
                 info.dtype == dtype);
    CHECK(c, info.path == AIRY_STACK_DIRECT && info.codec.codec == codec && info.files == 1);
    for (size_t i = 0; i < FRAMES; i++) {
        CHECK_OK(c, airy_stack_read(stack, i, back, frame));
        check_values(c, "pixels", AIRY_DTYPE_U8, back, pixels + i * frame, frame, NULL);
    }
    airy_stack_destroy(&stack);
    /* libhdf5 with the filters it has now (ours) reads the same. */
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t data = H5Dopen2(file, "/entry/data/data", H5P_DEFAULT), type = H5Dget_type(data);
    uint8_t *all = check_alloc(c, FRAMES * frame);
    CHECK(c, H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) >= 0);
    check_values(c, "H5Dread", AIRY_DTYPE_U8, all, pixels, FRAMES * frame, NULL);
    H5Tclose(type);
    H5Dclose(data);
    H5Fclose(file);
}

/* dataset: NULL, or a name that lies among the groups of the fields. */
static void check_geometry_fields(struct check *c, double rot1, bool wipe_poni, const char *dataset)
{
    if (!check_case(c, "stack_meta_%s%s%s", rot1 != 0 ? "tilted" : "straight",
                    wipe_poni ? "_fields" : "", dataset ? "_within" : ""))
        return;
    const airy_geometry want = some_geometry(rot1);
    uint8_t mask[PIXELS] = {0}, back[PIXELS];
    mask[0] = mask[77] = mask[PIXELS - 1] = 1;
    uint16_t *pixels = check_alloc(c, FRAMES * PIXELS * 2);
    const airy_stack_writer_params params = {.dtype = AIRY_DTYPE_U16,
                                             .frames = FRAMES,
                                             .height = HEIGHT,
                                             .width = WIDTH,
                                             .codec = {.codec = AIRY_CODEC_BSLZ4},
                                             .dataset = dataset,
                                             .geometry = &want,
                                             .mask = mask};
    const char *path = tmp_path(c, "stack.h5");
    airy_stack *stack = NULL;
    airy_stack_meta meta;
    if (!write_stack(c, path, &params, (const uint8_t *)pixels))
        return;
    if (wipe_poni) {
        const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        CHECK(c, H5Ldelete(file, "/entry/instrument/detector/poni", H5P_DEFAULT) >= 0);
        H5Fclose(file);
    }
    if (!CHECK_OK(c, stack_open(&stack, path)))
        return;
    CHECK_OK(c, airy_stack_get_meta(stack, &meta));
    CHECK(c, meta.has_geometry && meta.has_mask && !meta.has_saturation);
    const airy_geometry *g = &meta.geometry;
    /*
     * The fields hold beam centre = poni / pixel and the wavelength in angstrom: two roundings of
     * 2^-53 there and back.
     */
    const double rel = wipe_poni ? 4 * 0x1p-53 : 0;
    CHECK(c, g->dist == want.dist && g->rot1 == want.rot1 && g->rot2 == 0 && g->rot3 == 0);
    CHECK(c, fabs(g->poni1 - want.poni1) <= rel * fabs(want.poni1) &&
                 fabs(g->poni2 - want.poni2) <= rel * fabs(want.poni2));
    CHECK(c, fabs(g->wavelength - want.wavelength) <= rel * want.wavelength);
    CHECK(c,
          g->detector.pixel1 == want.detector.pixel1 && g->detector.pixel2 == want.detector.pixel2);
    CHECK(c, g->detector.height == HEIGHT && g->detector.width == WIDTH);
    CHECK_OK(c, airy_stack_mask(stack, back));
    check_values(c, "mask", AIRY_DTYPE_U8, back, mask, PIXELS, NULL);
    double monitor[FRAMES];
    CHECK_FAILS(c, airy_stack_monitor(stack, "/entry/none", monitor), AIRY_ERR_NOT_FOUND,
                "/entry/none");
    CHECK_FAILS(c, airy_stack_monitor(stack, dataset ? dataset : "/entry/data/data", monitor),
                AIRY_ERR_SHAPE, "one for each of 5 frames");
    airy_stack_destroy(&stack);
}

static void put_number(hid_t file, const char *path, double value, const char *units)
{
    const hid_t links = H5Pcreate(H5P_LINK_CREATE), space = H5Screate(H5S_SCALAR);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t dataset =
        H5Dcreate2(file, path, H5T_IEEE_F32LE, space, links, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
    if (units) {
        const hid_t type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, strlen(units));
        H5Tset_strpad(type, H5T_STR_NULLPAD);
        const hid_t attribute = H5Acreate2(dataset, "units", type, space, H5P_DEFAULT, H5P_DEFAULT);
        H5Awrite(attribute, type, units);
        H5Aclose(attribute);
        H5Tclose(type);
    }
    H5Dclose(dataset);
    H5Pclose(links);
    H5Sclose(space);
}

/* A master as detectors write them: units as attributes, single precision, an Eiger 4M's shape. */
static void check_master(struct check *c)
{
    if (!check_case(c, "stack_meta_master"))
        return;
    enum { H = 2167, W = 2070 };
    const char *path = tmp_path(c, "x_master.h5");
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    static const char detector[] = "/entry/instrument/detector/";
    const struct {
        const char *name;
        double value;
        const char *units;
    } numbers[] = {{"beam_center_x", 1041.5, "pixel"},
                   {"beam_center_y", 82.5, "mm"},
                   {"x_pixel_size", 75, "um"},
                   {"y_pixel_size", 7.5e-5, "m"},
                   {"distance", 250, "mm"},
                   {"saturation_value", 65000, NULL}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        char name[100];
        snprintf(name, sizeof(name), "%s%s", detector, numbers[i].name);
        put_number(file, name, numbers[i].value, numbers[i].units);
    }
    put_number(file, "/entry/instrument/beam/incident_energy", 12.5, "keV");
    const hsize_t shape[3] = {2, H, W}, one = 2;
    const hid_t space = H5Screate_simple(3, shape, NULL), line = H5Screate_simple(1, &one, NULL);
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    H5Dclose(H5Dcreate2(file, "/entry/data/data", H5T_STD_U32LE, space, links, H5P_DEFAULT,
                        H5P_DEFAULT));
    const hid_t monitor =
        H5Dcreate2(file, "/entry/monitor", H5T_STD_I16BE, line, links, H5P_DEFAULT, H5P_DEFAULT);
    const int counts[2] = {-7, 300};
    H5Dwrite(monitor, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, counts);
    H5Dclose(monitor);
    H5Pclose(links);
    H5Sclose(space);
    H5Sclose(line);
    H5Fclose(file);
    airy_stack *stack = NULL;
    airy_stack_meta meta;
    double values[2] = {0};
    if (!CHECK_OK(c, stack_open(&stack, path)) || !CHECK_OK(c, airy_stack_get_meta(stack, &meta)))
        return;
    const airy_geometry *g = &meta.geometry;
    CHECK(c,
          meta.has_geometry && !meta.has_mask && meta.has_saturation && meta.saturation == 65000);
    /* The file's numbers are single precision: relative 2^-24 each. */
    CHECK(c, fabs(g->detector.pixel1 / 75e-6 - 1) < 1e-7 &&
                 fabs(g->detector.pixel2 / 75e-6 - 1) < 1e-7);
    CHECK(c, fabs(g->dist / 0.25 - 1) < 1e-7 && fabs(g->poni2 / (1041.5 * 75e-6) - 1) < 2e-7);
    CHECK(c, fabs(g->poni1 / 82.5e-3 - 1) < 2e-7);
    CHECK(c, fabs(g->wavelength / (12398.419843320026e-10 / 12500) - 1) < 2e-7);
    CHECK(c, strstr(g->detector.name, "Eiger") && strstr(g->detector.name, "4M") &&
                 g->detector.dectris_dummy);
    CHECK_OK(c, airy_stack_monitor(stack, "/entry/monitor", values));
    CHECK(c, values[0] == -7 && values[1] == 300);
    uint8_t *mask = check_alloc(c, (size_t)H * W);
    CHECK_FAILS(c, airy_stack_mask(stack, mask), AIRY_ERR_NOT_FOUND, "no pixel mask");
    airy_stack_destroy(&stack);
}

struct stated_number {
    const char *name;
    double value;
    const char *units;
};

/* A master with a geometry and two numbers more, and what is known of it. */
static bool get_stated(struct check *c, airy_stack_meta *meta, const struct stated_number *more)
{
    static const char detector[] = "/entry/instrument/detector/";
    const char *path = tmp_path(c, "stated_master.h5");
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    char name[100];
    for (int i = 0; i < 5; i++) {
        static const struct stated_number numbers[5] = {{"beam_center_x", 4, "pixel"},
                                                        {"beam_center_y", 3, "pixel"},
                                                        {"x_pixel_size", 75, "um"},
                                                        {"y_pixel_size", 75, "um"},
                                                        {"detector_distance", 250, "mm"}};
        snprintf(name, sizeof(name), "%s%s", detector, numbers[i].name);
        put_number(file, name, numbers[i].value, numbers[i].units);
    }
    for (int i = 0; i < 2 && more[i].name; i++) {
        snprintf(name, sizeof(name), "/entry/%s", more[i].name);
        put_number(file, name, more[i].value, more[i].units);
    }
    const hsize_t shape[3] = {1, 8, 9};
    const hid_t space = H5Screate_simple(3, shape, NULL), links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    H5Dclose(H5Dcreate2(file, "/entry/data/data", H5T_STD_U16LE, space, links, H5P_DEFAULT,
                        H5P_DEFAULT));
    H5Pclose(links);
    H5Sclose(space);
    H5Fclose(file);
    airy_stack *stack = NULL;
    const bool good = CHECK_OK(c, stack_open(&stack, path)) &&
                      CHECK_OK(c, airy_stack_get_meta(stack, meta));
    airy_stack_destroy(&stack);
    return good;
}

#define BEAM "instrument/beam/incident_"
#define MONO "instrument/monochromator/"

/* Two places that state a number: where they differ, none of them is taken. */
static void check_contradictions(struct check *c)
{
    if (!check_case(c, "stack_meta_contradictions"))
        return;
    enum { W = AIRY_GEOMETRY_WAVELENGTH, D = AIRY_GEOMETRY_DISTANCE };
    static const struct {
        struct stated_number more[2];
        unsigned contradicted;
        const char *words;
    } masters[] = {
        {{{BEAM "wavelength", 1, "angstrom"}, {BEAM "energy", 12.4, "keV"}}, 0, ""},
        {{{BEAM "wavelength", 1, "angstrom"}, {BEAM "energy", 0, "keV"}}, 0, ""},
        {{{MONO "wavelength", 0.1, "nm"}, {MONO "energy", 12.4, "keV"}}, 0, ""},
        {{{BEAM "wavelength", 1, "angstrom"}, {BEAM "energy", 9, "keV"}},
         W,
         "/entry/" BEAM "wavelength gives 1e-10 m, but /entry/" BEAM "energy gives 1.3776e-10 m"},
        {{{BEAM "wavelength", 1, "angstrom"}, {MONO "wavelength", 0.13, "nm"}},
         W,
         MONO "wavelength gives 1.3e-10 m"},
        {{{BEAM "wavelength", 1, "angstrom"},
          {"instrument/detector/detectorSpecific/photon_energy", 9000, "eV"}},
         W,
         "detectorSpecific/photon_energy gives 1.3776e-10 m"},
        {{{"sample/beam/incident_wavelength", 1, "angstrom"}, {BEAM "energy", 9, "keV"}}, W, "1.3"},
        {{{"instrument/detector/distance", 0.25, "m"}}, 0, ""},
        {{{"instrument/detector/distance", 0.3, "m"}}, D, "detector_distance gives 0.25 m, but"},
    };
    for (size_t i = 0; i < sizeof(masters) / sizeof(masters[0]); i++) {
        airy_stack_meta meta;
        if (!get_stated(c, &meta, masters[i].more))
            return;
        const unsigned out = masters[i].contradicted;
        if (meta.contradicted != out || (meta.geometry_parts & out) ||
            !strstr(meta.unusable, masters[i].words) || (!out && *meta.unusable) ||
            meta.has_geometry == ((out & D) != 0) || ((out & W) && meta.geometry.wavelength != 0) ||
            ((out & D) && meta.geometry.dist != 0))
            check_failed(c, __FILE__, __LINE__, "master %zu: %u contradicted, '%s'", i,
                         meta.contradicted, meta.unusable);
    }
}

static void check_writer_errors(struct check *c)
{
    if (!check_case(c, "stack_write_errors"))
        return;
    const char *path = tmp_path(c, "stack.h5");
    airy_stack_writer *writer = NULL;
    airy_stack_writer_params params = {.dtype = AIRY_DTYPE_U16,
                                       .frames = FRAMES,
                                       .height = HEIGHT,
                                       .width = WIDTH,
                                       .codec = {.codec = AIRY_CODEC_BSLZ4}};
    uint8_t chunk[4096] = {0};
    CHECK_OK(c, airy_stack_writer_create(&writer, path, &params));
    CHECK_FAILS(c, airy_stack_writer_add(writer, FRAMES, chunk, 100), AIRY_ERR_PARAM, "frame = 5");
    CHECK_FAILS(c, airy_stack_writer_add(writer, 0, chunk, 4), AIRY_ERR_PARAM, "fewer than the 12");
    CHECK_FAILS(c, airy_stack_writer_add(writer, 0, chunk, 4000), AIRY_ERR_PARAM, "at most");
    chunk[10] = 32; /* blocks of 8192 bytes, 0 bytes decoded */
    CHECK_FAILS(c, airy_stack_writer_add(writer, 0, chunk, 100), AIRY_ERR_PARAM,
                "decodes to 0 bytes");
    airy_stack_writer_destroy(&writer);
    CHECK(c, no_partial(path) && access(path, F_OK) != 0);
    params.codec.codec = AIRY_CODEC_BSZSTD;
    CHECK_FAILS(c, airy_stack_writer_create(&writer, path, &params), AIRY_ERR_UNSUPPORTED,
                "codec = bszstd, which is decoded only");
    params.codec.codec = AIRY_CODEC_NONE;
    CHECK_OK(c, airy_stack_writer_create(&writer, path, &params));
    CHECK_FAILS(c, airy_stack_writer_add(writer, 0, chunk, 100), AIRY_ERR_PARAM,
                "100 bytes, expected 874");
    for (size_t i = 0; i < FRAMES; i++)
        CHECK_OK(c, airy_stack_writer_add(writer, i, chunk, PIXELS * 2));
    airy_stack_writer *second = NULL; /* both write; the first to finish has the name */
    CHECK_OK(c, airy_stack_writer_create(&second, path, &params));
    for (size_t i = 0; i < FRAMES; i++)
        CHECK_OK(c, airy_stack_writer_add(second, i, chunk, PIXELS * 2));
    CHECK_OK(c, airy_stack_writer_finish(writer));
    CHECK_FAILS(c, airy_stack_writer_finish(second), AIRY_ERR_EXISTS, "is there already");
    airy_stack_writer_destroy(&second);
    airy_stack_writer_destroy(&writer);
    CHECK_FAILS(c, airy_stack_writer_create(&writer, path, &params), AIRY_ERR_EXISTS,
                "is there already");
    params.force = true;
    CHECK_OK(c, airy_stack_writer_create(&writer, path, &params));
    airy_stack_writer_destroy(&writer);
    CHECK(c, access(path, F_OK) == 0);
    params.frames = 0;
    CHECK_FAILS(c, airy_stack_writer_create(&writer, path, &params), AIRY_ERR_PARAM, "0 frames");
    params.frames = 1;
    params.dataset = "data";
    CHECK_FAILS(c, airy_stack_writer_create(&writer, path, &params), AIRY_ERR_PARAM,
                "expected a path from /");
    params.dataset = NULL;
    params.dtype = AIRY_DTYPE_COUNT;
    CHECK_FAILS(c, airy_stack_writer_create(&writer, path, &params), AIRY_ERR_DTYPE, "dtype");
    params.dtype = AIRY_DTYPE_U8;
    CHECK_FAILS(c, airy_stack_writer_create(&writer, "/proc/none/x.h5", &params), AIRY_ERR_IO,
                "No such file");
}

/* One thread's part: every THREADS-th frame, the last first. */
enum { PUT_THREADS = 4, PUT_FRAMES = 40 };
struct put_job {
    airy_stack_writer *writer;
    const airy_frame_place *places;
    uint8_t *const *chunks;
    const size_t *sizes;
    size_t first;
    airy_status status;
};

static void *put_frames(void *user)
{
    struct put_job *job = user;
    for (size_t i = PUT_FRAMES; i-- > 0;)
        if (i % PUT_THREADS == job->first && job->status == AIRY_OK)
            job->status =
                airy_stack_writer_put(job->writer, &job->places[i], job->chunks[i], job->sizes[i]);
    return NULL;
}

/* Placed in order by one thread, put in another order by several. */
static void check_places(struct check *c, airy_codec kind)
{
    if (!check_case(c, "stack_write_places_%s", airy_codec_name(kind)))
        return;
    const char *path = tmp_path(c, "stack.h5");
    const airy_codec_params codec = {.codec = kind, .elem_size = 2};
    const airy_stack_writer_params params = {.dtype = AIRY_DTYPE_U16,
                                             .frames = PUT_FRAMES,
                                             .height = HEIGHT,
                                             .width = WIDTH,
                                             .codec = codec};
    const size_t frame = PIXELS * 2, bound = airy_encode_bound(frame, &codec);
    uint8_t *chunks[PUT_FRAMES], *pixels = check_alloc(c, PUT_FRAMES * frame),
                                 *back = check_alloc(c, frame);
    size_t sizes[PUT_FRAMES];
    airy_frame_place places[PUT_FRAMES];
    airy_stack_writer *writer = NULL;
    for (size_t i = 0; i < PUT_FRAMES * frame; i++)
        pixels[i] = (uint8_t)(check_rand_u64(c) & (i % 2 ? 1 : 255));
    CHECK_OK(c, airy_stack_writer_create(&writer, path, &params));
    for (size_t i = 0; i < PUT_FRAMES; i++) {
        sizes[i] = bound;
        chunks[i] = check_alloc(c, bound);
        CHECK_OK(c, airy_encode(chunks[i], &sizes[i], pixels + i * frame, frame, &codec));
        CHECK_OK(c, airy_stack_writer_place(writer, i, chunks[i], sizes[i], &places[i]));
        CHECK(c, places[i].frame == i && (i == 0 || places[i].offset > places[i - 1].offset));
    }
    CHECK_FAILS(c, airy_stack_writer_put(writer, &places[0], chunks[0], sizes[0] + 1),
                AIRY_ERR_PARAM, "were placed");
    CHECK_FAILS(c, airy_stack_writer_place(writer, 1, chunks[1], sizes[1], &places[1]),
                AIRY_ERR_PARAM, "has its place");
    CHECK_FAILS(c, airy_stack_writer_finish(writer), AIRY_ERR_PARAM, "frame 0 of 40");
    struct put_job jobs[PUT_THREADS];
    pthread_t threads[PUT_THREADS];
    for (size_t t = 0; t < PUT_THREADS; t++) {
        jobs[t] = (struct put_job){writer, places, chunks, sizes, t, AIRY_OK};
        if (!CHECK(c, pthread_create(&threads[t], NULL, put_frames, &jobs[t]) == 0))
            return;
    }
    for (size_t t = 0; t < PUT_THREADS; t++) {
        pthread_join(threads[t], NULL);
        CHECK(c, jobs[t].status == AIRY_OK);
    }
    CHECK_OK(c, airy_stack_writer_finish(writer));
    airy_stack_writer_destroy(&writer);
    airy_stack *stack = NULL;
    CHECK_OK(c, airy_stack_create(&stack, &path, 1));
    for (size_t i = 0; i < PUT_FRAMES; i++) {
        CHECK_OK(c, airy_stack_read(stack, i, back, frame));
        if (!check_values(c, "frame", AIRY_DTYPE_U8, back, pixels + i * frame, frame, NULL))
            break;
    }
    airy_stack_destroy(&stack);
}

/* A full disk, played by a limit of the file's size: one sentence, nothing left behind. */
static void check_writer_full(struct check *c)
{
    if (!check_case(c, "stack_write_full_disk"))
        return;
    const char *path = tmp_path(c, "stack.h5");
    const airy_stack_writer_params params = {.dtype = AIRY_DTYPE_F64,
                                             .frames = 1000,
                                             .height = HEIGHT,
                                             .width = WIDTH,
                                             .codec = {.codec = AIRY_CODEC_NONE}};
    const size_t frame = PIXELS * 8;
    uint8_t *pixels = check_alloc(c, frame);
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    for (rlim_t limit = 50; limit < 1200000; limit = limit * 4 + 13) {
        airy_stack_writer *writer = NULL;
        small = before;
        small.rlim_cur = limit;
        setrlimit(RLIMIT_FSIZE, &small);
        airy_status status = airy_stack_writer_create(&writer, path, &params);
        for (size_t i = 0; i < 1000 && status == AIRY_OK; i++)
            status = airy_stack_writer_add(writer, i, pixels, frame);
        if (status == AIRY_OK)
            status = airy_stack_writer_finish(writer);
        setrlimit(RLIMIT_FSIZE, &before);
        CHECK(c, status == AIRY_ERR_IO && strstr(airy_last_error(), "File too large"));
        airy_stack_writer_destroy(&writer);
        CHECK(c, no_partial(path) && access(path, F_OK) != 0);
    }
    signal(SIGXFSZ, handler);
}

void check_stack_write(struct check *c)
{
    for (int dtype = 0; dtype < AIRY_DTYPE_COUNT; dtype++)
        for (int codec = 0; codec <= AIRY_CODEC_BSHUF; codec++)
            check_round_trip(c, (airy_dtype)dtype, (airy_codec)codec, 0);
    check_round_trip(c, AIRY_DTYPE_U32, AIRY_CODEC_BSLZ4, 64);
    check_round_trip(c, AIRY_DTYPE_U16, AIRY_CODEC_BSHUF, 64);
    check_round_trip(c, AIRY_DTYPE_I16, AIRY_CODEC_LZ4, 333);
    check_geometry_fields(c, 0, false, NULL);
    check_geometry_fields(c, 0, true, NULL);
    check_geometry_fields(c, 0.3, false, NULL);
    check_geometry_fields(c, 0.3, false, "/entry/instrument/detector/data");
    check_master(c);
    check_contradictions(c);
    check_places(c, AIRY_CODEC_BSLZ4);
    check_places(c, AIRY_CODEC_NONE);
    check_writer_errors(c);
    check_writer_full(c);
}
