/* What a program that makes an integrator itself gets of the values of a job, and what is refused. */
#include <stdio.h>

#include "airy/error.h"
#include "airy/job_params.h"
#include "airy/stack.h"
#include "check.h"

static const char values[] =
    "{\"pixel\": [1e-4, 1e-4], \"dist\": 0.1, \"poni2\": 0.0021, \"wavelength\": 1e-10, "
    "\"bins\": \"50\", \"unit\": \"qip_nm^-1\", \"error-model\": \"poisson\", \"clip\": [3], "
    "\"tilt\": 5, \"compat\": \"pyfai\", \"polarization\": [0.9]}";

static void check_given(struct check *c)
{
    airy_job *job = NULL;
    airy_integrator_params params;
    airy_sample_params sample;
    airy_geometry_params given;
    if (!check_case(c, "job_params_given"))
        return;
    CHECK_OK(c, airy_job_create(&job, "integrate", NULL, NULL));
    CHECK_OK(c, airy_job_get_integration(job, &params, &sample, &given));
    CHECK(c, params.bins == 1000 && !params.has_clip && !given.has_pixel && !sample.has_tilt);
    CHECK_OK(c, airy_job_set_json(job, values));
    CHECK_OK(c, airy_job_get_integration(job, &params, &sample, &given));
    CHECK(c, params.bins == 50 && params.azimuth_bins == 0 && params.unit != AIRY_UNIT_Q_NM);
    CHECK(c, params.error_model == AIRY_ERROR_MODEL_POISSON && params.has_clip &&
                 params.clip_threshold == 3 && !params.has_quantile && !params.mask &&
                 params.compat == AIRY_COMPAT_PYFAI);
    CHECK(c, sample.has_tilt && sample.tilt_deg == 5 && !sample.has_incidence);
    CHECK(c, given.has_pixel && given.pixel[1] == 1e-4 && given.dist == 0.1 && given.has_poni2 &&
                 !given.has_poni1 && !given.has_rot1 && !given.poni);
    airy_job_destroy(&job);
}

static void check_refused(struct check *c)
{
    static const struct {
        const char *json, *says;
    } cases[] = {{"{\"clip\": [3], \"quantile\": [60, 70]}", "clip"},
                 {"{\"energy\": 12, \"wavelength\": 1e-10}", "wavelength and energy"},
                 {"{\"tilt\": 5}", "tilt has no effect"},
                 {"{\"split\": \"pseudo\"}", "split pseudo"},
                 {"{\"error-model\": \"variance\"}", "error-model variance"},
                 {"{\"clip\": [-1]}", "clip"}};
    airy_job *job = NULL;
    airy_integrator_params params;
    airy_sample_params sample;
    airy_geometry_params given;
    if (!check_case(c, "job_params_refused"))
        return;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_OK(c, airy_job_create(&job, "integrate", NULL, NULL));
        CHECK_OK(c, airy_job_set_json(job, cases[i].json));
        CHECK_FAILS(c, airy_job_get_integration(job, &params, &sample, &given), AIRY_ERR_PARAM,
                    cases[i].says);
        airy_error error;
        airy_error_get(&error);
        CHECK(c, error.subject == AIRY_SUBJECT_PARAMETER);
        airy_job_destroy(&job);
    }
    CHECK_FAILS(c, airy_job_get_integration(NULL, &params, &sample, &given), AIRY_ERR_PARAM,
                "NULL");
    CHECK_OK(c, airy_job_create(&job, "peaks", NULL, NULL));
    CHECK_FAILS(c, airy_job_get_integration(job, &params, &sample, &given), AIRY_ERR_UNSUPPORTED,
                "peaks is not integrate");
    airy_job_destroy(&job);
}

static void check_raw(struct check *c)
{
    static const char *const wrong[] = {"",       "4x5",           "4,uint8",        "0x5,uint8",
                                        "4x5,u7", "4x5,uint8,1,2", "4x5,uint8,big,1"};
    airy_raw_frames raw = {.width = 7};
    if (!check_case(c, "job_params_raw"))
        return;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        CHECK(c, airy_raw_frames_parse(&raw, wrong[i]) < AIRY_OK && raw.width == 7);
    CHECK_OK(c, airy_raw_frames_parse(&raw, "4x5,uint16,512,big"));
    CHECK(c, raw.width == 4 && raw.height == 5 && raw.dtype == AIRY_DTYPE_U16 &&
                 raw.offset == 512 && raw.big_endian);
}

void check_job_params(struct check *c)
{
    check_given(c);
    check_refused(c);
    check_raw(c);
}
