#include "pattern_opt.h"

#include <stdio.h>
#include <string.h>

static const char *parse_bins(void *field, const char *text)
{
    const char *const wanted = "expected N or RADIUSxAZIMUTH, 1 to 1000000 each and 4194304 in all";
    struct pattern_bins *bins = field;
    uint64_t radius, azimuth = 0;
    char first[24];
    const char *x = strchr(text, 'x');
    snprintf(first, sizeof(first), "%.*s", x ? (int)(x - text) : 23, text);
    if (!opt_whole(first, &radius) || radius < 1 || radius > 1000000)
        return wanted;
    if (x && (!opt_whole(x + 1, &azimuth) || azimuth < 1 || azimuth > 1000000 ||
              radius * azimuth > 1 << 22))
        return wanted;
    bins->radius = (size_t)radius;
    bins->azimuth = (size_t)azimuth;
    return NULL;
}

static const char *parse_unit(void *field, const char *text)
{
    return airy_unit_parse(field, text) == AIRY_OK ? NULL : airy_last_error();
}

static const char *parse_method(void *field, const char *text)
{
    return airy_method_parse(field, text) == AIRY_OK ? NULL : airy_last_error();
}

static const char *parse_split(void *field, const char *text)
{
    return airy_split_parse(field, text) == AIRY_OK ? NULL : airy_last_error();
}

static const char *parse_error_model(void *field, const char *text)
{
    return airy_error_model_parse(field, text) == AIRY_OK ? NULL : airy_last_error();
}

#define FIELD(member) .offset = offsetof(struct pattern_head, pattern.member)

const struct opt pattern_options[] = {
    {.heading = "Pattern"},
    {.name = "bins",
     .type = OPT_PARSED,
     FIELD(bins),
     .parse = parse_bins,
     .argument = "N[xM]",
     .fallback = "1000",
     .help = "radial bins; with xM two dimensions, M bins of chi"},
    {.name = "unit",
     .type = OPT_PARSED,
     FIELD(unit),
     .seen = offsetof(struct pattern_head, pattern.has_unit),
     .parse = parse_unit,
     .argument = "UNIT",
     .fallback = "q_nm^-1",
     .help =
         "radial unit: q_nm^-1, q_A^-1, 2th_deg, 2th_rad, r_mm, r_m, d_A, d*2_nm^-2, qip_nm^-1, "
         "... (--unit ? lists all)"},
    {.name = "incidence",
     .type = OPT_FLOAT,
     FIELD(incidence_deg),
     .lo = -360,
     .hi = 360,
     .argument = "A",
     .fallback = "0",
     .help = "angle of incidence in degrees, for units at grazing incidence (qip_nm^-1, ...)"},
    {.name = "tilt",
     .type = OPT_FLOAT,
     FIELD(tilt_deg),
     .lo = -360,
     .hi = 360,
     .argument = "A",
     .fallback = "0",
     .help = "the sample's tilt about the beam in degrees, for the same"},
    {.name = "sample-orientation",
     .type = OPT_COUNT,
     FIELD(sample_orientation),
     .lo = 1,
     .hi = 8,
     .argument = "N",
     .fallback = "1",
     .help = "1 to 8 as EXIF counts: which way is up for the sample, for the same"},
    {.name = "split",
     .type = OPT_PARSED,
     FIELD(split),
     .parse = parse_split,
     .argument = "HOW",
     .fallback = "full",
     .help = "pixel splitting: no, bbox, full; in two dimensions pseudo, too"},
    {.name = "method",
     .type = OPT_PARSED,
     FIELD(method),
     .parse = parse_method,
     .argument = "HOW",
     .fallback = "csr",
     .help = "how the matrix is walked: histogram, csr, csc, lut"},
    {.name = "error-model",
     .type = OPT_PARSED,
     FIELD(error_model),
     .parse = parse_error_model,
     .argument = "MODEL",
     .fallback = "none",
     .help = "none, poisson, azimuthal or variance"},
    {.name = "batch",
     .type = OPT_COUNT,
     FIELD(batch),
     .lo = 1,
     .hi = 65536,
     .argument = "N",
     .fallback = "chosen",
     .help = "frames a batch"},
    {0},
};

void pattern_set_sample(airy_geometry *geometry, const struct pattern_params *params)
{
    const double rad = 3.14159265358979323846 / 180;
    geometry->incidence = params->incidence_deg * rad;
    geometry->tilt = params->tilt_deg * rad;
    geometry->sample_orientation = (int)params->sample_orientation;
}
