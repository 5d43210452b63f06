#include "cli/pattern_opt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *why(airy_status status)
{
    return status == AIRY_OK ? NULL : airy_last_error();
}

static const char *parse_bins(void *field, const char *text)
{
    struct pattern_bins *bins = field;
    return why(airy_bins_parse(&bins->radius, &bins->azimuth, text));
}

static const char *parse_unit(void *field, const char *text)
{
    return why(airy_unit_parse(field, text));
}

static const char *parse_azimuthal(void *field, const char *text)
{
    return why(airy_unit_parse_azimuthal(field, text));
}

static const char *parse_method(void *field, const char *text)
{
    return why(airy_method_parse(field, text));
}

static const char *parse_split(void *field, const char *text)
{
    return why(airy_split_parse(field, text));
}

static const char *parse_error_model(void *field, const char *text)
{
    return why(airy_error_model_parse(field, text));
}

/* 1 to 8 into an int. */
static const char *parse_orientation(void *field, const char *text)
{
    uint64_t value;
    if (!opt_whole(text, &value) || value < 1 || value > 8)
        return "expected a whole number from 1 to 8";
    *(int *)field = (int)value;
    return NULL;
}

/* T or T,CYCLES */
static const char *parse_clip(void *field, const char *text)
{
    double numbers[2];
    return why(airy_params_set_clip(field, numbers, opt_numbers(text, numbers, 2)));
}

static const char *parse_quantile(void *field, const char *text)
{
    double percent[2] = {-1, -1};
    (void)opt_two(text, percent);
    return why(airy_params_set_quantile(field, percent));
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
     .help = "sets the number of radial bins; with xM two dimensions, M bins of chi (or of "
             "--azimuthal)"},
    {.name = "unit",
     .type = OPT_PARSED,
     FIELD(unit),
     .seen = offsetof(struct pattern_head, pattern.has_unit),
     .parse = parse_unit,
     .argument = "UNIT",
     .fallback = "q_nm^-1",
     .help = "sets the radial unit: q_nm^-1, q_A^-1, 2th_deg, 2th_rad, r_mm, r_m, d_A, d*2_nm^-2, "
             "qip_nm^-1, "
             "... (--unit ? lists all)"},
    {.name = "radial",
     .type = OPT_PARSED,
     FIELD(unit),
     .seen = offsetof(struct pattern_head, pattern.has_unit),
     .parse = parse_unit,
     .argument = "UNIT",
     .fallback = "q_nm^-1",
     .help =
         "sets the unit of the radial axis, as --unit does; chi_deg or chi_rad: the axis is chi"},
    {.name = "azimuthal",
     .type = OPT_PARSED,
     FIELD(azimuthal),
     .parse = parse_azimuthal,
     .argument = "UNIT",
     .fallback = "chi_deg",
     .help = "sets the second axis of two dimensions: chi_deg, chi_rad, chigi_deg, qoop_nm^-1, ... "
             "(--azimuthal ? lists all)"},
    {.name = "incidence",
     .type = OPT_FLOAT,
     FIELD(sample.incidence_deg),
     .seen = offsetof(struct pattern_head, pattern.sample.has_incidence),
     .lo = -360,
     .hi = 360,
     .argument = "A",
     .fallback = "0",
     .help =
         "sets the angle of incidence in degrees, for units at grazing incidence (qip_nm^-1, ...)"},
    {.name = "tilt",
     .type = OPT_FLOAT,
     FIELD(sample.tilt_deg),
     .seen = offsetof(struct pattern_head, pattern.sample.has_tilt),
     .lo = -360,
     .hi = 360,
     .argument = "A",
     .fallback = "0",
     .help = "sets the sample's tilt about the beam in degrees, for units at grazing incidence"},
    {.name = "sample-orientation",
     .type = OPT_PARSED,
     FIELD(sample.orientation),
     .parse = parse_orientation,
     .argument = "N",
     .fallback = "1",
     .help = "sets which way is up for the sample, 1 to 8 as EXIF counts, for units at grazing "
             "incidence"},
    {.name = "split",
     .type = OPT_PARSED,
     FIELD(split),
     .parse = parse_split,
     .argument = "HOW",
     .fallback = "full",
     .help = "sets the pixel splitting: no, bbox, full; in two dimensions also pseudo"},
    {.name = "method",
     .type = OPT_PARSED,
     FIELD(method),
     .parse = parse_method,
     .argument = "HOW",
     .fallback = "csr",
     .help = "with --compat pyfai, the method whose rules are reproduced: csr, csc, lut, "
             "histogram; else it changes nothing"},
    {.name = "error-model",
     .type = OPT_PARSED,
     FIELD(error_model),
     .parse = parse_error_model,
     .argument = "MODEL",
     .fallback = "none",
     .help =
         "sets where the errors of intensities come from. none: no errors are written, and --clip "
         "takes the spread of a bin's pixels; poisson: counting statistics; azimuthal: the "
         "spread of a bin's pixels; variance: --variance FILE; hybrid, with --clip only: the "
         "spread decides what is clipped, errors are those of counting"},
    {.name = "clip",
     .type = OPT_PARSED,
     FIELD(rings),
     .parse = parse_clip,
     .argument = "T[,CYCLES]",
     .fallback = "off; 5 cycles",
     .help = "leaves out pixels farther than T standard deviations from their bin's mean, and "
             "again; 0: Chauvenet's criterion"},
    {.name = "quantile",
     .type = OPT_PARSED,
     FIELD(rings),
     .parse = parse_quantile,
     .argument = "A,B",
     .fallback = "off",
     .help =
         "takes the mean of a bin's pixels from A to B percent of their weight; 50,50: the median"},
    {.name = "batch",
     .type = OPT_COUNT,
     FIELD(batch),
     .lo = 1,
     .hi = 65536,
     .argument = "N",
     .fallback = "chosen",
     .help = "sets the number of frames in a batch"},
    {0},
};

airy_integrator_params pattern_integrator(const struct pattern_params *p)
{
    airy_integrator_params params = p->rings;
    params.bins = p->bins.radius;
    params.azimuth_bins = p->bins.azimuth;
    params.unit = p->unit;
    params.azimuth_unit = p->azimuthal;
    params.split = p->split;
    params.method = p->method;
    params.error_model = p->error_model;
    return params;
}

int pattern_check(const struct common *common, const airy_integrator_params *integrator,
                  const airy_sample_params *sample, bool has_variance)
{
    const airy_status status = airy_params_check(integrator, sample, has_variance);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_refused(common, status);
}

/* As the library has it when none are given. */
static unsigned cycles_of(const airy_integrator_params *rings)
{
    return rings->clip_cycles ? rings->clip_cycles : 5;
}

/* As it was given: 0.55 times 100 is not 55. */
static double percent_of(double part)
{
    return round(part * 1e10) / 1e8;
}

void pattern_print_rings(const struct pattern_params *p)
{
    const airy_integrator_params *r = &p->rings;
    const double percent[2] = {percent_of(r->quantile[0]), percent_of(r->quantile[1])};
    if (r->has_clip && r->clip_threshold > 0)
        printf("clip     farther than %g standard deviations from a bin's mean, %u times at most\n",
               r->clip_threshold, cycles_of(r));
    else if (r->has_clip)
        printf("clip     Chauvenet's criterion about a bin's mean, %u times at most\n",
               cycles_of(r));
    if (r->has_quantile && percent[0] == percent[1])
        printf("quantile %g %% of a bin's weight%s\n", percent[0],
               percent[0] == 50 ? ", the median" : "");
    else if (r->has_quantile)
        printf("quantile %g to %g %% of a bin's weight\n", percent[0], percent[1]);
}

void pattern_rings_json(json_t *json, const struct pattern_params *p)
{
    const airy_integrator_params *r = &p->rings;
    if (r->has_clip)
        json_object_set_new(
            json, "clip",
            json_pack("[o,I]", tool_json_number(r->clip_threshold), (json_int_t)cycles_of(r)));
    if (r->has_quantile)
        json_object_set_new(json, "quantile",
                            json_pack("[o,o]", tool_json_number(percent_of(r->quantile[0])),
                                      tool_json_number(percent_of(r->quantile[1]))));
}
