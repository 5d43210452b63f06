/* The job calibrate beside the same work by hand, and bad input. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/calibrate.h"
#include "airy/image.h"
#include "airy/integrate.h"
#include "airy/job.h"
#include "check_pipeline.h"

enum { HEIGHT = 240, WIDTH = 260, PIXELS = HEIGHT * WIDTH, CURVE = 4000 };

/* Rings of LaB6 on a flat detector, and a mask. */
struct subject {
    airy_geometry truth;
    float *pixels;
    uint8_t *mask;
    airy_host_view view, of_mask;
};

static struct subject make_subject(struct check *c)
{
    struct subject s = {.truth = {.detector = {.name = "Detector",
                                               .height = HEIGHT,
                                               .width = WIDTH,
                                               .pixel1 = 2e-4,
                                               .pixel2 = 2e-4},
                                  .dist = 0.05,
                                  .poni1 = 0.0235,
                                  .poni2 = 0.0262,
                                  .wavelength = 6e-11},
                        .pixels = check_alloc(c, PIXELS * sizeof(float)),
                        .mask = check_alloc(c, PIXELS)};
    const airy_integrator_params params = {.unit = AIRY_UNIT_TTH_DEG};
    double *image = check_alloc(c, PIXELS * sizeof(*image)), radial[CURVE], curve[CURVE];
    airy_calibrant calibrant = {.count = 0};
    CHECK_OK(c, airy_calibrant_find(&calibrant, "LaB6", s.truth.wavelength / 2));
    for (size_t i = 0; i < CURVE; i++) {
        radial[i] = 0.01 * (double)i;
        curve[i] = 10;
        for (size_t k = 0; k < calibrant.count && k < 12; k++) {
            const double sine = s.truth.wavelength / (2 * calibrant.rings[k].spacing),
                         off = (radial[i] - 2 * asin(fmin(sine, 1)) * 57.29577951308232) / 0.2;
            curve[i] += 500 * exp(-off * off);
        }
    }
    CHECK_OK(c, airy_image_from_pattern(image, &s.truth, &params, radial, curve, CURVE));
    for (size_t i = 0; i < PIXELS; i++)
        s.pixels[i] = (float)image[i];
    for (size_t i = 0; i < PIXELS; i += 101)
        s.mask[i] = 1;
    airy_calibrant_free(&calibrant);
    s.view = (airy_host_view){
        .data = s.pixels, .dtype = AIRY_DTYPE_F32, .ndim = 2, .shape = {HEIGHT, WIDTH}};
    s.of_mask = (airy_host_view){
        .data = s.mask, .dtype = AIRY_DTYPE_U8, .ndim = 2, .shape = {HEIGHT, WIDTH}};
    return s;
}

/* The job of this image; with_guess: and of a guess. */
static airy_job *open_job(struct check *c, const struct subject *s, bool with_guess)
{
    const double pixel[2] = {2e-4, 2e-4}, center[2] = {119, 130};
    airy_job *job = NULL;
    CHECK_OK(c, airy_job_create(&job, "calibrate", NULL, NULL));
    CHECK_OK(c, airy_job_set_array(job, "image", &s->view));
    CHECK_OK(c, airy_job_set(job, "calibrant", "LaB6"));
    if (!with_guess)
        return job;
    CHECK_OK(c, airy_job_set_numbers(job, "pixel", pixel, 2));
    CHECK_OK(c, airy_job_set_numbers(job, "center", center, 2));
    CHECK_OK(c, airy_job_set_number(job, "dist", 0.051));
    CHECK_OK(c, airy_job_set_number(job, "wavelength", 6e-11));
    CHECK_OK(c, airy_job_set_array(job, "mask", &s->of_mask));
    return job;
}

/* The guess by hand: the beam without tilts is the PONI. */
static airy_calibration find_by_hand(struct check *c, const struct subject *s, const float *picture)
{
    airy_calibration found = {.iterations = 0};
    airy_calibrant calibrant = {.count = 0};
    airy_calibrate_params params = {.image = picture, .guess = s->truth, .calibrant = &calibrant};
    params.guess.dist = 0.051;
    params.guess.poni1 = 119 * 2e-4;
    params.guess.poni2 = 130 * 2e-4;
    CHECK_OK(c, airy_calibrant_load(&calibrant, "LaB6", 6e-11));
    CHECK_OK(c, airy_calibrate(&found, &params));
    airy_calibrant_free(&calibrant);
    return found;
}

static void check_run(struct check *c)
{
    if (!check_case(c, "job_calibrate_run"))
        return;
    const struct subject s = make_subject(c);
    const char *output = check_run_path(c, "found.poni"), *text = NULL;
    float *picture = check_alloc(c, PIXELS * sizeof(*picture));
    for (size_t i = 0; i < PIXELS; i++)
        picture[i] = s.mask[i] ? NAN : s.pixels[i];
    airy_calibration want = find_by_hand(c, &s, picture);
    for (int to_file = 0; to_file < 2; to_file++) {
        airy_job *job = open_job(c, &s, true);
        airy_geometry found = {.dist = 0}, read = {.dist = 0};
        const airy_table *table = NULL;
        airy_host_view view;
        double rms = 0;
        if (to_file)
            CHECK_OK(c, airy_job_set(job, "output", output));
        CHECK_OK(c, airy_job_set_flag(job, "force", true));
        CHECK_OK(c, airy_job_want(job, "picture"));
        CHECK_OK(c, airy_job_run(job));
        CHECK_OK(c, airy_job_get_text(job, "geometry", &text));
        CHECK_OK(c, airy_geometry_parse(&found, text));
        CHECK(c, found.dist == want.geometry.dist && found.poni1 == want.geometry.poni1 &&
                     found.poni2 == want.geometry.poni2 && found.rot1 == want.geometry.rot1 &&
                     found.rot2 == want.geometry.rot2);
        CHECK(c, fabs(found.dist - s.truth.dist) < 1e-5 && fabs(found.rot1) < 1e-3);
        CHECK_OK(c, airy_job_get_number(job, "rms_px", &rms));
        CHECK(c, rms == want.rms_px);
        CHECK_OK(c, airy_job_get_table(job, "places", &table));
        CHECK_COUNT(c, table ? table->rows : 0, want.point_count);
        CHECK_OK(c, airy_job_get_array(job, "picture", &view));
        for (size_t i = 0; i < PIXELS; i++)
            if (!CHECK(c, s.mask[i] ? isnan(((const double *)view.data)[i])
                                    : ((const double *)view.data)[i] == (double)s.pixels[i]))
                break;
        if (to_file) {
            CHECK_OK(c, airy_geometry_read(&read, output));
            CHECK(c, fabs(read.dist - found.dist) < 1e-12);
        }
        airy_job_destroy(&job);
    }
    airy_calibration_free(&want);
}

struct refusal {
    const char *name, *value;
    airy_status status;
    const char *sentence;
};

static void check_refusals(struct check *c)
{
    static const struct refusal refusals[] = {
        {"fix", "rot9", AIRY_ERR_PARAM, "fix rot9: expected dist, poni1"},
        {"free", "rot3", AIRY_ERR_PARAM, "free rot3: turns the detector about the beam"},
        {"fix", "dist,poni1,poni2,rot1,rot2", AIRY_ERR_PARAM, "fix: nothing is left to refine"},
        {"poni1", "0.1", AIRY_ERR_PARAM, "center and poni1, poni2: give one of them"},
        {"frame", "1", AIRY_ERR_PARAM, "frame 1: image has 1 frame"},
        {"energy", "20", AIRY_ERR_PARAM, "wavelength and energy: give one of them"},
        {"guess", "/nowhere.poni", AIRY_ERR_NOT_FOUND, "nowhere.poni"},
        {"sectors", "2", AIRY_ERR_PARAM, "sectors 2: expected a whole number from 8 to 3600"}};
    if (!check_case(c, "job_calibrate_refused"))
        return;
    const struct subject s = make_subject(c);
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        airy_job *job = open_job(c, &s, true);
        const airy_status status = airy_job_set(job, refusals[i].name, refusals[i].value);
        CHECK_FAILS(c, status == AIRY_OK ? airy_job_run(job) : status, refusals[i].status,
                    refusals[i].sentence);
        airy_job_destroy(&job);
    }
    airy_job *job = open_job(c, &s, false);
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_PARAM,
                "no detector of the registry has 240 x 260 pixels");
    CHECK_OK(c, airy_job_set(job, "pixel", "2e-4,2e-4"));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_PARAM, "the guess lacks the distance");
    CHECK_OK(c, airy_job_set(job, "dist", "0.05"));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_PARAM, "the guess lacks the wavelength");
    CHECK_OK(c, airy_job_set(job, "energy", "20"));
    CHECK_FAILS(c, airy_job_run(job), AIRY_ERR_PARAM, "the guess lacks the beam centre");
    airy_job_destroy(&job);
}

void check_job_geometry(struct check *c)
{
    check_run(c);
    check_refusals(c);
}
