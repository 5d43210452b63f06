#include "jobs/pattern.h"

#include <math.h>
#include <string.h>

/* ---- values of several parts ---- */

static const char *why(airy_status status)
{
    return status == AIRY_OK ? NULL : airy_last_error();
}

static const char *parse_bins(void *field, const char *text)
{
    struct airy_bins_value *bins = field;
    return why(airy_bins_parse(&bins->radial, &bins->azimuth, text));
}

static void print_bins(char *text, size_t size, const void *field)
{
    const struct airy_bins_value *bins = field;
    if (bins->azimuth)
        snprintf(text, size, "%zux%zu", bins->radial, bins->azimuth);
    else
        snprintf(text, size, "%zu", bins->radial);
}

static const char *parse_unit(void *field, const char *text)
{
    return why(airy_unit_parse(field, text));
}

static const char *parse_azimuthal(void *field, const char *text)
{
    return why(airy_unit_parse_azimuthal(field, text));
}

static void print_unit(char *text, size_t size, const void *field)
{
    snprintf(text, size, "%s", airy_unit_name(*(const airy_unit *)field));
}

static const struct airy_job_record bins_record = {sizeof(struct airy_bins_value), parse_bins,
                                                   print_bins},
                                    azimuthal_record = {sizeof(airy_unit), parse_azimuthal,
                                                        print_unit};
const struct airy_job_record airy_unit_record = {sizeof(airy_unit), parse_unit, print_unit};

const char *const airy_split_words[] = {"full", "bbox", "no", "pseudo", NULL},
                  *const airy_error_model_words[] = {"none",     "poisson", "azimuthal",
                                                     "variance", "hybrid",  NULL},
                  *const airy_compat_words[] = {"none", "pyfai", NULL};
static const char *const methods[] = {"csr", "csc", "lut", "histogram", NULL};
_Static_assert(AIRY_SPLIT_NO == 2 && AIRY_SPLIT_COUNT == 4, "splittings are in this order");
_Static_assert(AIRY_ERROR_MODEL_AZIMUTHAL == 2 && AIRY_ERROR_MODEL_COUNT == 5,
               "error models are in this order");
_Static_assert(AIRY_METHOD_LUT == 2 && AIRY_METHOD_COUNT == 4, "methods are in this order");

/* ---- rows ---- */

#define ROW(member, ...) AIRY_JOB_ROW(struct airy_pattern_values, member, __VA_ARGS__)
const struct airy_job_row airy_pattern_rows[] = {
    {{.name = "bins",
      .type = AIRY_PARAMETER_RECORD,
      .argument = "N[xM]",
      .fallback = "1000",
      .help =
          "makes patterns of N radial bins, or in two dimensions of N x M, M bins of chi (or of "
          "the unit {azimuthal})",
      .section = "Pattern"},
     offsetof(struct airy_pattern_values, bins),
     &bins_record},
    {{.name = "unit",
      .alias = "radial",
      .type = AIRY_PARAMETER_RECORD,
      .argument = "UNIT",
      .fallback = "q_nm^-1",
      .help = "sets the radial unit: q_nm^-1, q_A^-1, 2th_deg, 2th_rad, r_mm, r_m, d_A, d*2_nm^-2, "
              "qip_nm^-1, chi_deg, ... ('?' lists all)"},
     offsetof(struct airy_pattern_values, unit),
     &airy_unit_record},
    {{.name = "azimuthal",
      .type = AIRY_PARAMETER_RECORD,
      .argument = "UNIT",
      .fallback = "chi_deg",
      .computed = true,
      .help =
          "sets the second axis of two dimensions: chi_deg, chi_rad, chigi_deg, qoop_nm^-1, ... "
          "('?' lists all)"},
     offsetof(struct airy_pattern_values, azimuthal),
     &azimuthal_record},
    ROW(incidence, .name = "incidence", .type = AIRY_PARAMETER_REAL, .lo = -360, .hi = 360,
        .unit = "deg", .argument = "A", .fallback = "0",
        .help = "sets the angle of incidence, for units at grazing incidence (qip_nm^-1, ...)"),
    ROW(tilt, .name = "tilt", .type = AIRY_PARAMETER_REAL, .lo = -360, .hi = 360, .unit = "deg",
        .argument = "A", .fallback = "0",
        .help = "sets the sample's tilt about the beam, for units at grazing incidence"),
    ROW(sample_orientation, .name = "sample-orientation", .type = AIRY_PARAMETER_WHOLE, .lo = 1,
        .hi = 8, .fallback = "1", .computed = true,
        .help = "sets which way is up for the sample at grazing incidence, as EXIF counts "
                "orientations"),
    ROW(split, .name = "split", .type = AIRY_PARAMETER_WORD, .words = airy_split_words,
        .fallback = "full",
        .help = "splits pixels among bins: no, by bounding boxes or by their full outlines; pseudo "
                "is for two dimensions"),
    ROW(method, .name = "method", .type = AIRY_PARAMETER_WORD, .words = methods, .fallback = "csr",
        .help =
            "selects the method whose rules {compat=pyfai} reproduces; else it changes nothing"),
    ROW(error_model, .name = "error-model", .type = AIRY_PARAMETER_WORD,
        .words = airy_error_model_words, .argument = "MODEL", .fallback = "none",
        .help =
            "selects where the errors of intensities come from. none: no errors are written, and "
            "{clip} takes the spread of a bin's pixels; poisson: counting statistics; azimuthal: "
            "the spread of a bin's pixels; variance: the image {variance}; hybrid, with {clip} "
            "only: "
            "the spread decides what is clipped, and errors are those of counting"),
    ROW(clip, .name = "clip", .type = AIRY_PARAMETER_TUPLE, .least = 1, .most = 2,
        .argument = "T[,CYCLES]", .fallback = "off; 5 cycles", .computed = true,
        .help =
            "leaves out pixels that are farther than T standard deviations from the mean of their "
            "bin, several times; 0 is Chauvenet's criterion"),
    ROW(quantile, .name = "quantile", .type = AIRY_PARAMETER_TUPLE, .least = 2, .most = 2,
        .argument = "A,B", .fallback = "off", .computed = true,
        .help =
            "takes the mean of a bin's pixels from A to B percent of their weight; 50,50 is the "
            "median"),
    ROW(radial_range, .name = "radial-range", .type = AIRY_PARAMETER_TUPLE, .least = 2, .most = 2,
        .fallback = "all pixels", .computed = true, .help = "limits the radial axis, in its unit"),
    ROW(azimuth_range, .name = "azimuth-range", .type = AIRY_PARAMETER_TUPLE, .least = 2, .most = 2,
        .fallback = "all", .computed = true,
        .help =
            "limits chi in degrees (also of chi_rad), where B <= A wraps around; where {azimuthal} "
            "is no angle about the beam, in its unit"),
    ROW(chi_zero, .name = "chi-zero", .type = AIRY_PARAMETER_FLAG,
        .help = "lets chi run from 0 to 360 degrees, not from -180 to 180"),
    ROW(unweighted, .name = "unweighted", .type = AIRY_PARAMETER_FLAG,
        .help = "takes the mean of corrected pixels instead of sum over sum"),
    ROW(empty, .name = "empty", .type = AIRY_PARAMETER_REAL, .any = true, .argument = "V",
        .fallback = "NaN", .computed = true, .help = "sets the value of bins without pixels"),
    {{0}, 0, NULL}};

const struct airy_job_row airy_compat_rows[] = {
    ROW(compat, .name = "compat", .type = AIRY_PARAMETER_WORD, .words = airy_compat_words,
        .fallback = "none", .help = "reproduces the conventions of pyFAI with pyfai"),
    {{0}, 0, NULL}};
#undef ROW

static void copy_range(double range[2], bool *given, const struct airy_job_tuple *tuple)
{
    *given = tuple->count == 2;
    memcpy(range, tuple->values, 2 * sizeof(*range));
}

airy_status airy_job_pattern_params(const airy_job *job, airy_integrator_params *params,
                                    airy_sample_params *sample, const struct airy_pattern_values *v)
{
    *params = (airy_integrator_params){.bins = v->bins.radial,
                                       .azimuth_bins = v->bins.azimuth,
                                       .unit = v->unit,
                                       .azimuth_unit = v->azimuthal,
                                       .split = (airy_split)v->split,
                                       .method = (airy_method)v->method,
                                       .error_model = (airy_error_model)v->error_model,
                                       .compat = (airy_compat)v->compat,
                                       .chi_zero = v->chi_zero,
                                       .unweighted = v->unweighted,
                                       .has_empty = airy_job_is_set(job, "empty"),
                                       .empty = v->empty};
    *sample = (airy_sample_params){.has_incidence = airy_job_is_set(job, "incidence"),
                                   .has_tilt = airy_job_is_set(job, "tilt"),
                                   .incidence_deg = v->incidence,
                                   .tilt_deg = v->tilt,
                                   .orientation = (int)v->sample_orientation};
    copy_range(params->radial_range, &params->has_radial_range, &v->radial_range);
    copy_range(params->azimuth_range, &params->has_azimuth_range, &v->azimuth_range);
    if (v->clip.count)
        AIRY_TRY(airy_tuple_refuse("clip", &v->clip,
                                   airy_params_set_clip(params, v->clip.values, v->clip.count)));
    if (v->quantile.count)
        AIRY_TRY(airy_tuple_refuse("quantile", &v->quantile,
                                   airy_params_set_quantile(params, v->quantile.values)));
    return AIRY_OK;
}
