#include "cli/pattern_opt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/words.h"

const char *pattern_parse_bins(void *field, const char *text)
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

/* The sentence that --unit ? is answered with. */
static const char *list_units(bool azimuthal)
{
    static char list[1024]; /* it outlives the call */
    static const char there[] = "there are ";
    const char *units[AIRY_UNIT_COUNT];
    size_t count = 0;
    for (int u = 0; u < AIRY_UNIT_COUNT; u++)
        if (!azimuthal || airy_unit_is_azimuthal((airy_unit)u))
            units[count++] = airy_unit_name((airy_unit)u);
    strcpy(list, there);
    tool_join_words(list + sizeof(there) - 1, sizeof(list) - sizeof(there) + 1, units, count);
    return list;
}

const char *pattern_parse_unit(void *field, const char *text)
{
    if (airy_unit_parse(field, text) == AIRY_OK)
        return NULL;
    return strcmp(text, "?") == 0 ? list_units(false) : airy_last_error();
}

const char *pattern_parse_azimuthal(void *field, const char *text)
{
    if (airy_unit_parse_azimuthal(field, text) == AIRY_OK)
        return NULL;
    return strcmp(text, "?") == 0 ? list_units(true) : airy_last_error();
}

static const char *parse_method(void *field, const char *text)
{
    return airy_method_parse(field, text) == AIRY_OK ? NULL : airy_last_error();
}

const char *pattern_parse_split(void *field, const char *text)
{
    return airy_split_parse(field, text) == AIRY_OK ? NULL : airy_last_error();
}

const char *pattern_parse_error_model(void *field, const char *text)
{
    return airy_error_model_parse(field, text) == AIRY_OK ? NULL : airy_last_error();
}

/* T or T,CYCLES */
const char *pattern_parse_clip(void *field, const char *text)
{
    struct pattern_clip *clip = field;
    double numbers[2];
    const size_t n = opt_numbers(text, numbers, 2);
    *clip = (struct pattern_clip){.given = true};
    if (n == 0 || !(numbers[0] >= 0 && isfinite(numbers[0])))
        return "expected T or T,CYCLES, T >= 0 (0: Chauvenet's criterion)";
    clip->threshold = numbers[0];
    if (n == 2 && !(numbers[1] >= 1 && numbers[1] <= 1000 && numbers[1] == floor(numbers[1])))
        return "expected 1 to 1000 cycles";
    clip->cycles = n == 2 ? (unsigned)numbers[1] : 0;
    return NULL;
}

static const char *parse_quantile(void *field, const char *text)
{
    struct pattern_quantile *quantile = field;
    quantile->given = true;
    if (!opt_two(text, quantile->percent) ||
        !(quantile->percent[0] >= 0 && quantile->percent[0] <= quantile->percent[1] &&
          quantile->percent[1] <= 100))
        return "expected A,B with 0 <= A <= B <= 100 (50,50: the median)";
    return NULL;
}

#define FIELD(member) .offset = offsetof(struct pattern_head, pattern.member)

const struct opt pattern_options[] = {
    {.heading = "Pattern"},
    {.name = "bins",
     .type = OPT_PARSED,
     FIELD(bins),
     .parse = pattern_parse_bins,
     .argument = "N[xM]",
     .fallback = "1000",
     .help = "radial bins; with xM two dimensions, M bins of chi (or of --azimuthal)"},
    {.name = "unit",
     .type = OPT_PARSED,
     FIELD(unit),
     .seen = offsetof(struct pattern_head, pattern.has_unit),
     .parse = pattern_parse_unit,
     .argument = "UNIT",
     .fallback = "q_nm^-1",
     .help =
         "radial unit: q_nm^-1, q_A^-1, 2th_deg, 2th_rad, r_mm, r_m, d_A, d*2_nm^-2, qip_nm^-1, "
         "... (--unit ? lists all)"},
    {.name = "radial",
     .type = OPT_PARSED,
     FIELD(unit),
     .seen = offsetof(struct pattern_head, pattern.has_unit),
     .parse = pattern_parse_unit,
     .argument = "UNIT",
     .fallback = "q_nm^-1",
     .help = "the same; --radial chi_deg or chi_rad: along chi"},
    {.name = "azimuthal",
     .type = OPT_PARSED,
     FIELD(azimuthal),
     .parse = pattern_parse_azimuthal,
     .argument = "UNIT",
     .fallback = "chi_deg",
     .help = "second axis of two dimensions: chi_deg, chi_rad, chigi_deg, qoop_nm^-1, ... "
             "(--azimuthal ? lists all)"},
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
     .parse = pattern_parse_split,
     .argument = "HOW",
     .fallback = "full",
     .help = "pixel splitting: no, bbox, full; in two dimensions pseudo, too"},
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
     .parse = pattern_parse_error_model,
     .argument = "MODEL",
     .fallback = "none",
     .help = "where the errors of intensities come from. none: no errors are written, and --clip "
             "takes the spread of a bin's pixels; poisson: counting statistics; azimuthal: the "
             "spread of a bin's pixels; variance: --variance FILE; hybrid, with --clip only: the "
             "spread decides what is clipped, errors are those of counting"},
    {.name = "clip",
     .type = OPT_PARSED,
     FIELD(clip),
     .parse = pattern_parse_clip,
     .argument = "T[,CYCLES]",
     .fallback = "off; 5 cycles",
     .help = "leave out pixels farther than T standard deviations from their bin's mean, and "
             "again; 0: Chauvenet's criterion"},
    {.name = "quantile",
     .type = OPT_PARSED,
     FIELD(quantile),
     .parse = parse_quantile,
     .argument = "A,B",
     .fallback = "off",
     .help = "mean of a bin's pixels from A to B percent of their weight; 50,50: the median"},
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

/* An option on the sample that neither axis depends on: the units that do, in one line. */
static int check_sample(const struct common *common, const struct pattern_params *p,
                        const char *option, unsigned flag)
{
    const unsigned second = p->azimuthal ? airy_unit_sample(p->azimuthal) : 0;
    if (!opt_given(common, option, NULL) || (airy_unit_sample(p->unit) | second) & flag)
        return AIRY_EXIT_OK;
    char list[512] = "";
    for (int u = 0; u < AIRY_UNIT_COUNT; u++)
        if (airy_unit_sample((airy_unit)u) & flag)
            snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", *list ? ", " : "",
                     airy_unit_name((airy_unit)u));
    return tool_usage(common, "--%s has no effect on %s%s%s, only on %s", option,
                      airy_unit_name(p->unit), p->azimuthal ? " and " : "",
                      p->azimuthal ? airy_unit_name(p->azimuthal) : "", list);
}

int pattern_check(const struct common *common, const struct pattern_params *p)
{
    if (p->clip.given && p->quantile.given)
        return tool_usage(common, "--clip and --quantile: give one of them");
    if (p->error_model == AIRY_ERROR_MODEL_HYBRID && !p->clip.given)
        return tool_usage(common, "--error-model hybrid is for --clip T: azimuthal while clipping, "
                                  "poisson after it");
    if (p->azimuthal && !p->bins.azimuth)
        return tool_usage(common,
                          "--azimuthal %s is the second axis of two dimensions: --bins "
                          "RADIUSxAZIMUTH; --radial %s has it in one",
                          airy_unit_name(p->azimuthal), airy_unit_name(p->azimuthal));
    int code = check_sample(common, p, "incidence", AIRY_SAMPLE_INCIDENCE);
    if (code == AIRY_EXIT_OK)
        code = check_sample(common, p, "tilt", AIRY_SAMPLE_TILT);
    if (code == AIRY_EXIT_OK)
        code = check_sample(common, p, "sample-orientation", AIRY_SAMPLE_ORIENTATION);
    return code;
}

void pattern_set_rings(airy_integrator_params *integrator, const struct pattern_params *p)
{
    integrator->has_clip = p->clip.given;
    integrator->clip_threshold = p->clip.threshold;
    integrator->clip_cycles = p->clip.cycles;
    integrator->has_quantile = p->quantile.given;
    for (size_t k = 0; k < 2; k++)
        integrator->quantile[k] = p->quantile.percent[k] / 100;
}

/* As the library has it when none are given. */
static unsigned cycles_of(const struct pattern_clip *clip)
{
    return clip->cycles ? clip->cycles : 5;
}

void pattern_print_rings(const struct pattern_params *p)
{
    const double *percent = p->quantile.percent;
    if (p->clip.given && p->clip.threshold > 0)
        printf("clip     farther than %g standard deviations from a bin's mean, %u times at most\n",
               p->clip.threshold, cycles_of(&p->clip));
    else if (p->clip.given)
        printf("clip     Chauvenet's criterion about a bin's mean, %u times at most\n",
               cycles_of(&p->clip));
    if (p->quantile.given && percent[0] == percent[1])
        printf("quantile %g %% of a bin's weight%s\n", percent[0],
               percent[0] == 50 ? ", the median" : "");
    else if (p->quantile.given)
        printf("quantile %g to %g %% of a bin's weight\n", percent[0], percent[1]);
}

void pattern_rings_json(json_t *json, const struct pattern_params *p)
{
    if (p->clip.given)
        json_object_set_new(json, "clip",
                            json_pack("[o,I]", tool_json_number(p->clip.threshold),
                                      (json_int_t)cycles_of(&p->clip)));
    if (p->quantile.given)
        json_object_set_new(json, "quantile",
                            json_pack("[o,o]", tool_json_number(p->quantile.percent[0]),
                                      tool_json_number(p->quantile.percent[1])));
}

void pattern_set_sample(airy_geometry *geometry, const struct pattern_params *params)
{
    const double rad = 3.14159265358979323846 / 180;
    geometry->incidence = params->incidence_deg * rad;
    geometry->tilt = params->tilt_deg * rad;
    geometry->sample_orientation = (int)params->sample_orientation;
}
