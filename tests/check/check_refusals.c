/* What the integrate family refuses, sentence by sentence. */
#include "airy/integrate.h"
#include "check.h"

#include <string.h>

#include "core/backend.h"
#include "core/objects.h"

enum { SIDE = 12, COUNT = SIDE * SIDE };

static airy_geometry geometry(void)
{
    return (airy_geometry){.detector = {.name = "Detector",
                                        .height = SIDE,
                                        .width = SIDE,
                                        .pixel1 = 1e-3,
                                        .pixel2 = 1e-3},
                           .dist = 0.1,
                           .poni1 = 0.0052,
                           .poni2 = 0.0061,
                           .wavelength = 1e-10};
}

static void refused(struct check *c, const airy_geometry *g, airy_integrator_params params,
                    airy_status status, const char *part)
{
    airy_integrator *it = NULL;
    CHECK_FAILS(c, airy_integrator_create(&it, c->device, g, &params), status, part);
    CHECK(c, it == NULL);
    airy_integrator_destroy(&it);
}

static void check_params(struct check *c)
{
    if (!check_case(c, "refuse_params"))
        return;
    const airy_geometry g = geometry();
    float variance[COUNT] = {0};
    refused(c, &g, (airy_integrator_params){.bins = 1000001}, AIRY_ERR_PARAM, "bins = 1000001");
    refused(c, &g, (airy_integrator_params){.unit = AIRY_UNIT_COUNT}, AIRY_ERR_PARAM, "unit");
    refused(c, &g, (airy_integrator_params){.split = AIRY_SPLIT_COUNT}, AIRY_ERR_PARAM, "split");
    refused(c, &g, (airy_integrator_params){.split = AIRY_SPLIT_PSEUDO}, AIRY_ERR_PARAM,
            "two dimensions");
    refused(c, &g, (airy_integrator_params){.bins = 1000, .azimuth_bins = 4195}, AIRY_ERR_PARAM,
            "1000 x 4195");
    refused(c, &g, (airy_integrator_params){.azimuth_bins = 2, .unit = AIRY_UNIT_CHI_DEG},
            AIRY_ERR_PARAM, "the other axis");
    refused(c, &g, (airy_integrator_params){.azimuth_bins = 2, .unit = AIRY_UNIT_CHIGI_RAD},
            AIRY_ERR_PARAM, "the other axis");
    refused(c, &g, (airy_integrator_params){.azimuth_unit = AIRY_UNIT_CHI_RAD}, AIRY_ERR_PARAM,
            "second axis of two dimensions");
    refused(c, &g, (airy_integrator_params){.azimuth_bins = 2, .azimuth_unit = AIRY_UNIT_R_MM},
            AIRY_ERR_PARAM, "azimuth_unit 'r_mm' is a radial unit");
    refused(c, &g, (airy_integrator_params){.azimuth_bins = 2, .azimuth_unit = AIRY_UNIT_COUNT},
            AIRY_ERR_PARAM, "azimuth_unit =");
    refused(c, &g,
            (airy_integrator_params){
                .azimuth_bins = 2, .unit = AIRY_UNIT_QX_NM, .azimuth_unit = AIRY_UNIT_QX_NM},
            AIRY_ERR_PARAM, "also the unit of the radial axis");
    refused(c, &g,
            (airy_integrator_params){
                .azimuth_bins = 2, .azimuth_unit = AIRY_UNIT_QY_NM, .compat = AIRY_COMPAT_PYFAI},
            AIRY_ERR_UNSUPPORTED, "compat pyfai has chi_deg and chi_rad");
    refused(c, &g,
            (airy_integrator_params){
                .azimuth_bins = 2, .azimuth_unit = AIRY_UNIT_QY_NM, .chi_zero = true},
            AIRY_ERR_PARAM, "chi_zero is for angles");
    refused(c, &g,
            (airy_integrator_params){.azimuth_bins = 2,
                                     .azimuth_unit = AIRY_UNIT_QY_NM,
                                     .has_azimuth_range = true,
                                     .azimuth_range = {1, -1}},
            AIRY_ERR_PARAM, "azimuth range = 1 to -1 qy_nm^-1");
    refused(c, &g,
            (airy_integrator_params){
                .unit = AIRY_UNIT_CHI_RAD, .has_radial_range = true, .radial_range = {-4, 4}},
            AIRY_ERR_PARAM, "expected 6.283185307 at most");
    refused(c, &g, (airy_integrator_params){.method = AIRY_METHOD_COUNT}, AIRY_ERR_PARAM, "method");
    refused(c, &g, (airy_integrator_params){.error_model = AIRY_ERROR_MODEL_COUNT}, AIRY_ERR_PARAM,
            "error_model");
    refused(c, &g, (airy_integrator_params){.compat = (airy_compat)2}, AIRY_ERR_PARAM, "compat");
    refused(c, &g, (airy_integrator_params){.error_model = AIRY_ERROR_MODEL_VARIANCE},
            AIRY_ERR_PARAM, "needs a variance image");
    refused(c, &g, (airy_integrator_params){.error_model = AIRY_ERROR_MODEL_HYBRID}, AIRY_ERR_PARAM,
            "no clipping is asked for: use poisson");
    refused(c, &g,
            (airy_integrator_params){.error_model = AIRY_ERROR_MODEL_HYBRID, .has_quantile = true},
            AIRY_ERR_PARAM, "no clipping is asked for: use poisson");
    refused(c, &g, (airy_integrator_params){.has_clip = true, .has_quantile = true}, AIRY_ERR_PARAM,
            "expected one of them");
    refused(c, &g, (airy_integrator_params){.has_clip = true, .clip_threshold = -1}, AIRY_ERR_PARAM,
            "clip_threshold = -1");
    refused(c, &g, (airy_integrator_params){.has_clip = true, .clip_threshold = NAN},
            AIRY_ERR_PARAM, "clip_threshold");
    refused(c, &g, (airy_integrator_params){.has_clip = true, .clip_threshold = INFINITY},
            AIRY_ERR_PARAM, "clip_threshold");
    refused(c, &g, (airy_integrator_params){.has_clip = true, .clip_cycles = 1001}, AIRY_ERR_PARAM,
            "clip_cycles = 1001");
    static const double quantiles[][2] = {
        {-0.1, 0.5}, {0.5, 1.1}, {0.6, 0.5}, {NAN, 0.5}, {0, NAN}};
    for (size_t k = 0; k < sizeof quantiles / sizeof *quantiles; k++)
        refused(c, &g,
                (airy_integrator_params){.has_quantile = true,
                                         .quantile = {quantiles[k][0], quantiles[k][1]}},
                AIRY_ERR_PARAM, "expected 0 <= lower <= upper <= 1");
    refused(c, &g, (airy_integrator_params){.variance = variance}, AIRY_ERR_PARAM,
            "takes no variance image");
    refused(c, &g, (airy_integrator_params){.normalization = NAN}, AIRY_ERR_PARAM, "normalization");
    refused(c, &g, (airy_integrator_params){.has_polarization = true, .polarization = 1.5},
            AIRY_ERR_PARAM, "1.5");
    refused(c, &g,
            (airy_integrator_params){.has_polarization = true, .polarization_offset_deg = NAN},
            AIRY_ERR_PARAM, "offset");
    refused(c, &g, (airy_integrator_params){.has_dummy = true, .delta_dummy = -1}, AIRY_ERR_PARAM,
            "delta_dummy");
    refused(c, &g, (airy_integrator_params){.has_saturation = true, .saturation = NAN},
            AIRY_ERR_PARAM, "saturation");
    static const double ranges[][2] = {{3, 3}, {4, 3}, {NAN, 3}, {0, INFINITY}};
    for (size_t k = 0; k < 4; k++)
        refused(c, &g,
                (airy_integrator_params){.has_radial_range = true,
                                         .radial_range = {ranges[k][0], ranges[k][1]}},
                AIRY_ERR_PARAM, "radial range");
    refused(c, &g,
            (airy_integrator_params){.has_radial_range = true, .radial_range = {1, 1 + 1e-15}},
            AIRY_ERR_PARAM, "too narrow");
    refused(c, &g,
            (airy_integrator_params){
                .has_radial_range = true, .radial_range = {0, 400}, .unit = AIRY_UNIT_CHI_DEG},
            AIRY_ERR_PARAM, "360");
    refused(c, &g, (airy_integrator_params){.has_radial_range = true, .radial_range = {500, 600}},
            AIRY_ERR_PARAM, "none of 144 lies in the range");
    refused(c, &g, (airy_integrator_params){.has_azimuth_range = true, .azimuth_range = {0, NAN}},
            AIRY_ERR_PARAM, "azimuth range");
    refused(c, &g,
            (airy_integrator_params){.has_azimuth_range = true, .azimuth_range = {-200, 200}},
            AIRY_ERR_PARAM, "azimuth range");
}

static void check_geometries(struct check *c)
{
    if (!check_case(c, "refuse_geometry"))
        return;
    airy_geometry g = geometry();
    g.wavelength = 0;
    refused(c, &g, (airy_integrator_params){0}, AIRY_ERR_PARAM, "needs a wavelength");
    g = geometry();
    g.parallax = true;
    refused(c, &g, (airy_integrator_params){0}, AIRY_ERR_PARAM, "parallax needs the sensor");
    strcpy(g.detector.sensor.material, "Unobtainium");
    refused(c, &g, (airy_integrator_params){0}, AIRY_ERR_NOT_FOUND, "table of Si, Ge, GaAs, CdTe");
    strcpy(g.detector.sensor.material, "Si");
    g.wavelength = 2e-9;
    refused(c, &g, (airy_integrator_params){0}, AIRY_ERR_PARAM, "expected 1 to 1000 keV");
    g.wavelength = 0;
    refused(c, &g, (airy_integrator_params){.unit = AIRY_UNIT_R_MM}, AIRY_ERR_PARAM,
            "needs a wavelength");
    g.detector.sensor.thickness = -1;
    refused(c, &g, (airy_integrator_params){0}, AIRY_ERR_PARAM, "sensor thickness");
    g.detector.sensor = (airy_sensor){.attenuation = INFINITY};
    refused(c, &g, (airy_integrator_params){0}, AIRY_ERR_PARAM, "sensor attenuation");
    g = geometry();
    refused(c, &g, (airy_integrator_params){.sensor_efficiency = true}, AIRY_ERR_PARAM,
            "efficiency needs the sensor");
    g.detector.binning1 = 65;
    refused(c, &g, (airy_integrator_params){0}, AIRY_ERR_PARAM, "binning = 65 x 0");
    g = geometry();
    strcpy(g.detector.file, "file.h5");
    refused(c, &g, (airy_integrator_params){0}, AIRY_ERR_PARAM, "airy_detector_open");
    g = geometry();
    g.detector.height = g.detector.width = 0;
    refused(c, &g, (airy_integrator_params){0}, AIRY_ERR_PARAM, "no shape");
    g = geometry();
    g.dist = 0;
    refused(c, &g, (airy_integrator_params){0}, AIRY_ERR_PARAM, "distance");
    g = geometry();
    for (size_t i = 0; i < airy_detector_count(); i++) {
        airy_detector detector;
        CHECK_OK(c, airy_detector_get(&detector, i));
        if (strcmp(detector.name, "Aarhus") == 0) {
            g = geometry();
            g.detector = detector;
            refused(c, &g, (airy_integrator_params){0}, AIRY_ERR_UNSUPPORTED,
                    "'Aarhus' is not flat");
        }
    }
    g = geometry();
    memset(g.detector.name, 'x', sizeof g.detector.name);
    refused(c, &g, (airy_integrator_params){0}, AIRY_ERR_PARAM, "63 bytes");
    g = geometry();
    g.detector.height = g.detector.width = 1u << 20;
    refused(c, &g, (airy_integrator_params){0}, AIRY_ERR_SHAPE, "fewer than 2^32");
}

static void check_masked(struct check *c)
{
    if (!check_case(c, "refuse_masked"))
        return;
    const airy_geometry g = geometry();
    uint8_t mask[COUNT];
    float dark[COUNT] = {0}, flat[COUNT], odd[COUNT];
    memset(mask, 3, sizeof mask);
    for (size_t i = 0; i < COUNT; i++) {
        flat[i] = 1;
        odd[i] = NAN;
    }
    refused(c, &g, (airy_integrator_params){.mask = mask}, AIRY_ERR_PARAM, "144 are masked");
    refused(c, &g, (airy_integrator_params){.dark = odd}, AIRY_ERR_PARAM, "144 have a dark");
    refused(c, &g, (airy_integrator_params){.flat = odd}, AIRY_ERR_PARAM, "144 have a dark");
    refused(c, &g, (airy_integrator_params){.absorption = odd}, AIRY_ERR_PARAM, "144 have a dark");
    refused(c, &g,
            (airy_integrator_params){.variance = odd, .error_model = AIRY_ERROR_MODEL_VARIANCE},
            AIRY_ERR_PARAM, "144 have");
    refused(c, &g, (airy_integrator_params){.flat = dark}, AIRY_ERR_PARAM,
            "144 have a normalization of 0");
    /* One pixel is enough, wherever the other values are missing. */
    mask[COUNT / 2] = 0;
    dark[0] = NAN;
    flat[1] = 0;
    airy_integrator *it = NULL;
    const airy_integrator_params params = {.mask = mask, .dark = dark, .flat = flat, .bins = 3};
    if (CHECK_OK(c, airy_integrator_create(&it, c->device, &g, &params))) {
        airy_integrator_info info;
        CHECK_OK(c, airy_integrator_get_info(it, &info));
        CHECK(c, info.valid_pixels == 1);
    }
    airy_integrator_destroy(&it);
}

/* Outputs that lie in one buffer, and in the frames. */
static void check_overlaps(struct check *c, const airy_integrator *it)
{
    const size_t shape[3] = {2, SIDE, SIDE}, sums_shape[3] = {2, AIRY_SUM_PLANES, 5};
    const size_t stats_shape[2] = {2, sizeof(airy_frame_stats)};
    airy_array *frames = check_output(c, AIRY_DTYPE_U16, 3, shape),
               *sums = check_output(c, AIRY_DTYPE_F64, 3, sums_shape);
    airy_array *stats = check_output(c, AIRY_DTYPE_U8, 2, stats_shape);
    airy_array in_sums = *stats, in_frames = *stats, sums_in_frames = *sums;
    in_sums.buffer = sums->buffer;
    in_frames.buffer = sums_in_frames.buffer = frames->buffer;
    in_sums.offset = sums->offset + airy_array_size(sums) - 8;
    in_frames.offset = frames->offset + 64;
    sums_in_frames.offset = frames->offset;
    CHECK_FAILS(c, airy_integrate(c->queue, sums, &in_sums, it, frames), AIRY_ERR_PARAM,
                "sums and stats overlap");
    CHECK_FAILS(c, airy_integrate(c->queue, sums, &in_frames, it, frames), AIRY_ERR_PARAM,
                "stats and frames");
    CHECK_FAILS(c, airy_integrate(c->queue, &sums_in_frames, stats, it, frames), AIRY_ERR_PARAM,
                "sums and frames");
}

static void check_arrays(struct check *c)
{
    if (!check_case(c, "refuse_arrays"))
        return;
    const airy_geometry g = geometry();
    const airy_integrator_params params = {.bins = 5};
    airy_integrator *it = NULL;
    if (!CHECK_OK(c, airy_integrator_create(&it, c->device, &g, &params)))
        return;
    const size_t shape[4] = {2, SIDE, SIDE, 1}, odd[3] = {2, SIDE, SIDE + 1},
                 wide[3] = {2, SIDE, 2 * SIDE}, flat[2] = {SIDE, SIDE};
    const size_t sums_shape[3] = {2, AIRY_SUM_PLANES, 5}, few[3] = {1, AIRY_SUM_PLANES, 5};
    const size_t stats_shape[2] = {2, sizeof(airy_frame_stats)}, short_stats[2] = {2, 8};
    airy_array *frames = check_output(c, AIRY_DTYPE_U16, 3, shape),
               *sums = check_output(c, AIRY_DTYPE_F64, 3, sums_shape);
    airy_array *stats = check_output(c, AIRY_DTYPE_U8, 2, stats_shape), *view = NULL;
    airy_array *big = check_output(c, AIRY_DTYPE_U16, 3, wide);
    const size_t start[3] = {0, 0, 3};
    CHECK_OK(c, airy_array_view(&view, big, start, shape));
    airy_queue *q = c->queue;
    CHECK_FAILS(c, airy_integrate(q, sums, stats, it, check_output(c, AIRY_DTYPE_U16, 3, odd)),
                AIRY_ERR_SHAPE, "[n, 12, 12]");
    CHECK_FAILS(c, airy_integrate(q, sums, stats, it, check_output(c, AIRY_DTYPE_U16, 2, flat)),
                AIRY_ERR_SHAPE, "[n, 12, 12]");
    CHECK_FAILS(c, airy_integrate(q, sums, stats, it, view), AIRY_ERR_SHAPE, "gaps");
    CHECK_FAILS(c, airy_integrate(q, sums, stats, it, check_output(c, AIRY_DTYPE_U64, 3, shape)),
                AIRY_ERR_DTYPE, "uint64");
    CHECK_FAILS(c, airy_integrate(q, check_output(c, AIRY_DTYPE_F64, 3, few), stats, it, frames),
                AIRY_ERR_SHAPE, "[2, 5, 5]");
    CHECK_FAILS(
        c, airy_integrate(q, check_output(c, AIRY_DTYPE_F32, 3, sums_shape), stats, it, frames),
        AIRY_ERR_DTYPE, "sums");
    CHECK_FAILS(c,
                airy_integrate(q, sums, check_output(c, AIRY_DTYPE_U8, 2, short_stats), it, frames),
                AIRY_ERR_SHAPE, "expected [2, 32] without gaps");
    airy_array_destroy(&view);
    check_overlaps(c, it);
    airy_batch *batch = NULL;
    const airy_batch_params batch_params = {.dtype = AIRY_DTYPE_U16,
                                            .height = SIDE,
                                            .width = SIDE + 1,
                                            .codec = {.codec = AIRY_CODEC_NONE},
                                            .frames = 2};
    if (CHECK_OK(c, airy_batch_create(&batch, c->device, &batch_params))) {
        const uint16_t pixels[SIDE * (SIDE + 1)] = {0};
        CHECK_OK(c, airy_batch_add(batch, pixels, sizeof pixels));
        CHECK_OK(c, airy_batch_add(batch, pixels, sizeof pixels));
        CHECK_FAILS(c, airy_integrate_batch(q, sums, stats, it, batch), AIRY_ERR_SHAPE, "12 x 13");
    }
    airy_batch_destroy(&batch);
    airy_integrator_destroy(&it);
    airy_split split;
    airy_method method;
    airy_error_model model;
    CHECK_FAILS(c, airy_split_parse(&split, "half"), AIRY_ERR_PARAM, "full, bbox, no or pseudo");
    CHECK_FAILS(c, airy_method_parse(&method, "fast"), AIRY_ERR_PARAM,
                "csr, csc, lut or histogram");
    CHECK_FAILS(c, airy_error_model_parse(&model, "gauss"), AIRY_ERR_PARAM,
                "none, poisson, azimuthal, variance or hybrid");
    CHECK(c, airy_split_name(AIRY_SPLIT_COUNT)[0] == '?' &&
                 airy_method_name(AIRY_METHOD_COUNT)[0] == '?' &&
                 airy_error_model_name(AIRY_ERROR_MODEL_COUNT)[0] == '?');
}

/* Devices that lack something, made from the one at hand. */
static void check_devices(struct check *c)
{
    if (!check_case(c, "refuse_devices"))
        return;
    const airy_geometry g = geometry();
    const struct airy_backend *backend = c->device->backend;
    struct airy_backend without = *backend;
    without.integrate = NULL;
    c->device->backend = &without;
    refused(c, &g, (airy_integrator_params){0}, AIRY_ERR_UNSUPPORTED,
            "does not implement integrate");
    c->device->backend = backend;
    const bool fp64 = c->device->info.fp64;
    c->device->info.fp64 = false;
    refused(c, &g, (airy_integrator_params){0}, AIRY_ERR_UNSUPPORTED, "no double precision");
    c->device->info.fp64 = fp64;
    airy_device *other = NULL;
    airy_integrator *it = NULL;
    const airy_integrator_params params = {.bins = 5};
    const size_t shape[3] = {1, SIDE, SIDE}, sums_shape[3] = {1, AIRY_SUM_PLANES, 5},
                 stats_shape[2] = {1, sizeof(airy_frame_stats)};
    if (CHECK_OK(c, airy_device_create(&other, c->spec, NULL)) &&
        CHECK_OK(c, airy_integrator_create(&it, other, &g, &params))) {
        airy_array *frames = check_output(c, AIRY_DTYPE_U8, 3, shape),
                   *sums = check_output(c, AIRY_DTYPE_F64, 3, sums_shape);
        airy_array *stats = check_output(c, AIRY_DTYPE_U8, 2, stats_shape);
        CHECK_FAILS(c, airy_integrate(c->queue, sums, stats, it, frames), AIRY_ERR_DEVICE,
                    "integrator belongs to device");
    }
    airy_integrator_destroy(&it);
    airy_device_destroy(&other);
}

void check_integrate_refusals(struct check *c)
{
    check_devices(c);
    check_params(c);
    check_geometries(c);
    check_masked(c);
    check_arrays(c);
}
