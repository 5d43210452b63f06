/* airy oct calibrate: the plan's axis and dispersion from recordings of mirrors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/oct_calibrate.h"
#include "oct/oct.h"
#include "plot/gnuplot.h"

enum { MOST_LINES = 4096, MIRRORS = 2 };

struct oct_calibrate_params {
    struct common common;
    struct opt_list dark;
    const char *output, *plan, *plot;
    airy_oct_fit fit;
    size_t degree;
    double distance;
    bool has_degree, has_distance;
};

static const char *const fits[AIRY_OCT_FIT_COUNT + 1] = {"auto", "both", "axis", "dispersion"};

#define FIELD(member) .offset = offsetof(struct oct_calibrate_params, member)
#define SEEN(member)  .seen = offsetof(struct oct_calibrate_params, member)

static const struct opt calibrate_options[] = {
    {.heading = "Recordings"},
    {.name = "plan",
     .type = OPT_STRING,
     FIELD(plan),
     .use = OPT_READ,
     .argument = "START.json",
     .fallback = "a Hann window",
     .help = "plan to begin with: what headerless files are, the window, an axis or a dispersion "
             "that is known; the new plan takes over the rest of it"},
    {.name = "dark",
     .type = OPT_LIST,
     FIELD(dark),
     .use = OPT_READ,
     .argument = "FILE",
     .fallback = "the plan's background line",
     .help = "line that is subtracted, the mean where there are several; once for both mirrors, or "
             "once for each"},
    {.name = "distance",
     .type = OPT_FLOAT,
     FIELD(distance),
     SEEN(has_distance),
     .lo = 1e-3,
     .hi = 1e7,
     .argument = "UM",
     .fallback = "unknown",
     .help = "micrometres between the mirrors, for the depth of a bin"},
    {.heading = "Fit"},
    {.name = "fit",
     .type = OPT_WORD,
     FIELD(fit),
     .words = fits,
     .argument = "WHAT",
     .fallback = "both of two mirrors; of one the axis, or dispersion where the plan has an axis",
     .help = "both, axis or dispersion"},
    {.name = "degree",
     .type = OPT_COUNT,
     FIELD(degree),
     SEEN(has_degree),
     .lo = AIRY_OCT_CALIBRATE_MIN_DEGREE,
     .hi = AIRY_OCT_CALIBRATE_MAX_DEGREE,
     .argument = "N",
     .fallback = "the lowest that leaves no more phase than noise",
     .help = "of the axis as a polynomial; 3 is written as poly, higher ones as a curve"},
    {.heading = "Result"},
    {.name = "output",
     .letter = 'o',
     .type = OPT_STRING,
     FIELD(output),
     .use = OPT_WRITTEN,
     .argument = "PLAN.json",
     .help = "plan for airy oct"},
    {.name = "plot",
     .type = OPT_STRING,
     FIELD(plot),
     .use = OPT_WRITTEN,
     .argument = "OUT.png",
     .help = "draw the profiles before and after (.png, .svg, .pdf)"},
    {0},
};

/* Lines in double; [count][samples]. */
struct recording {
    double *lines;
    size_t count, samples;
};

/* Sample i of a line as it was recorded. */
static double sample_at(const airy_oct_params *plan, airy_dtype dtype, const void *line, size_t i)
{
    const uint8_t *bytes = line;
    const int shift = plan->bit_shift;
    if (plan->packing) {
        const size_t bits = oct_packed_bits(plan);
        uint32_t code = 0;
        for (size_t b = 0; b < bits; b++) {
            const size_t at = i * bits + b;
            const uint32_t bit = bytes[at / 8] >> (plan->big_endian ? 7 - at % 8 : at % 8) & 1u;
            code |= bit << (plan->big_endian ? bits - 1 - b : b);
        }
        return code >> shift;
    }
    if (dtype == AIRY_DTYPE_U8)
        return bytes[i] >> shift;
    uint8_t own[4];
    const size_t size = airy_dtype_size(dtype);
    for (size_t b = 0; b < size; b++) /* the machine's order is little-endian, as everywhere */
        own[b] = bytes[i * size + (plan->big_endian ? size - 1 - b : b)];
    if (dtype == AIRY_DTYPE_F32) {
        float v;
        memcpy(&v, own, sizeof(v));
        return (double)v;
    }
    if (dtype == AIRY_DTYPE_U16) {
        uint16_t v;
        memcpy(&v, own, sizeof(v));
        return v >> shift;
    }
    int16_t v;
    memcpy(&v, own, sizeof(v));
    return v >> shift;
}

/* NPY of any type and number of axes, also a single line. */
static int read_npy(const struct common *common, const char *path, struct recording *r)
{
    airy_image image = {0};
    const airy_status status = airy_image_read_real(&image, path);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    int code = AIRY_EXIT_OK;
    const size_t count = tool_count(image.shape, image.ndim);
    r->samples = image.ndim > 0 ? image.shape[image.ndim - 1] : 0;
    r->count = r->samples ? count / r->samples : 0;
    r->count = r->count < MOST_LINES ? r->count : MOST_LINES;
    r->lines = r->count ? malloc(r->count * r->samples * sizeof(double)) : NULL;
    if (!r->count)
        code = tool_fail(common, "%s: has no samples", path);
    else if (!r->lines)
        code = tool_fail(common, "%s: out of memory", path);
    for (size_t i = 0; code == AIRY_EXIT_OK && i < r->count * r->samples; i++)
        r->lines[i] = airy_image_value(&image, i);
    airy_image_free(&image);
    return code;
}

/* Frames one by one until there are enough lines. */
static int read_frames(const struct common *common, const char *path, const struct oct_frames *from,
                       const airy_oct_params *plan, struct recording *r)
{
    const airy_stack_info *info = &from->info;
    airy_oct_params as = *plan;
    as.big_endian = plan->big_endian && (plan->packing || info->headerless);
    const size_t bits = oct_packed_bits(plan), line = from->frame_bytes / info->height;
    r->samples = bits ? info->width * 8 / bits : info->width;
    char *frame = malloc(from->frame_bytes + 1);
    r->lines = malloc(MOST_LINES * r->samples * sizeof(double) + 1);
    int code = frame && r->lines ? AIRY_EXIT_OK : tool_fail(common, "%s: out of memory", path);
    for (size_t f = 0; code == AIRY_EXIT_OK && f < info->frames && r->count < MOST_LINES; f++) {
        const airy_status status = oct_frames_read(from, f, frame);
        if (status == AIRY_ERR_ENDED)
            break;
        if (status != AIRY_OK)
            code = tool_failed(common, status);
        for (size_t l = 0; code == AIRY_EXIT_OK && l < info->height && r->count < MOST_LINES;
             l++, r->count++)
            for (size_t i = 0; i < r->samples; i++)
                r->lines[r->count * r->samples + i] =
                    sample_at(&as, from->dtype, frame + l * line, i);
    }
    free(frame);
    if (code == AIRY_EXIT_OK && r->count == 0)
        code = tool_fail(common, "%s: no whole frame is in it", path);
    return code;
}

/* A mirror's or a dark recording; plan: zeroed where there is none. */
static int read_recording(const struct common *common, const char *path,
                          const airy_oct_config *config, struct recording *r)
{
    const airy_oct_params *plan = &config->params;
    if (tool_has_suffix(path, ".npy") && !plan->packing)
        return read_npy(common, path, r);
    const size_t bits = oct_packed_bits(plan);
    /* Lines count, not frames: a headerless file need not hold whole ones. */
    const airy_raw_frames raw = {.dtype = config->converted ? config->converted : plan->dtype,
                                 .height = 1,
                                 .width = bits ? (plan->samples * bits + 7) / 8 : plan->samples,
                                 .offset = config->header_bytes};
    const airy_stack_params params = {
        .raw = &raw, .raw_if_headerless = true, .raw_rest = true, .npy_height = 1, .pipe = true};
    struct oct_frames frames = {.stack = NULL};
    const airy_status status = oct_frames_open(&frames, path, &params);
    if (status == AIRY_ERR_PARAM && (raw.width == 0 || !config->has_dtype))
        return tool_fail(common,
                         "%s is headerless; --plan says what it is (samples and dtype are needed)",
                         path);
    const int code = status == AIRY_OK ? read_frames(common, path, &frames, plan, r)
                                       : tool_failed(common, status);
    oct_frames_close(&frames);
    return code;
}

/* The mean line, in the first one's place. */
static void take_mean(struct recording *r)
{
    for (size_t i = 0; i < r->samples; i++) {
        double sum = 0;
        for (size_t l = 0; l < r->count; l++)
            sum += r->lines[l * r->samples + i];
        r->lines[i] = sum / (double)r->count;
    }
    r->count = 1;
}

struct job {
    const struct oct_calibrate_params *p;
    size_t mirrors;
    airy_oct_config config;
    struct recording mirror[MIRRORS], dark[MIRRORS];
    airy_oct_calibration found;
};

static int read_all(struct job *job)
{
    const struct oct_calibrate_params *p = job->p;
    const struct common *common = &p->common;
    int code = AIRY_EXIT_OK;
    for (size_t m = 0; m < job->mirrors && code == AIRY_EXIT_OK; m++)
        code = read_recording(common, common->inputs.items[m], &job->config, &job->mirror[m]);
    for (size_t d = 0; d < p->dark.count && code == AIRY_EXIT_OK; d++) {
        code = read_recording(common, p->dark.items[d], &job->config, &job->dark[d]);
        if (code == AIRY_EXIT_OK)
            take_mean(&job->dark[d]);
    }
    const size_t samples = job->mirror[0].samples;
    for (size_t m = 1; m < job->mirrors && code == AIRY_EXIT_OK; m++)
        if (job->mirror[m].samples != samples)
            code = tool_fail(
                common, "%s has lines of %zu samples, %s of %zu: expected two of a kind",
                common->inputs.items[0], samples, common->inputs.items[m], job->mirror[m].samples);
    for (size_t d = 0; d < p->dark.count && code == AIRY_EXIT_OK; d++)
        if (job->dark[d].samples != samples)
            code = tool_fail(common,
                             "--dark %s has lines of %zu samples, expected %zu as the mirror",
                             p->dark.items[d], job->dark[d].samples, samples);
    if (code == AIRY_EXIT_OK && job->config.params.samples && job->config.params.samples != samples)
        code = tool_fail(common, "plan %s: samples = %zu, but %s has lines of %zu", p->plan,
                         job->config.params.samples, common->inputs.items[0], samples);
    return code;
}

static int calibrate(struct job *job)
{
    const struct oct_calibrate_params *p = job->p;
    airy_oct_params *plan = &job->config.params;
    plan->samples = job->mirror[0].samples;
    if (!p->plan)
        plan->window = AIRY_OCT_WINDOW_HANN;
    airy_oct_calibrate_params params = {.samples = plan->samples,
                                        .mirrors = job->mirrors,
                                        .fit = p->fit,
                                        .degree = p->has_degree ? (int)p->degree : 0,
                                        .start = plan,
                                        .distance_m = p->has_distance ? 1e-6 * p->distance : 0};
    for (size_t m = 0; m < job->mirrors; m++) {
        const struct recording *dark = &job->dark[p->dark.count == 2 ? m : 0];
        params.mirror[m] = (airy_oct_mirror){.lines = job->mirror[m].lines,
                                             .count = job->mirror[m].count,
                                             .dark = dark->lines ? dark->lines
                                                     : plan->background == AIRY_OCT_BACKGROUND_LINE
                                                         ? plan->background_line
                                                         : NULL};
    }
    const airy_status status = airy_oct_calibrate(&job->found, &params);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
}

/* The plan with what was found. */
static int write_plan(const struct job *job)
{
    const struct oct_calibrate_params *p = job->p;
    const airy_oct_calibration *found = &job->found;
    airy_oct_config config = job->config;
    airy_oct_params *plan = &config.params;
    if (found->has_axis) {
        plan->axis = found->degree == 3 ? AIRY_OCT_AXIS_POLY : AIRY_OCT_AXIS_CURVE;
        plan->axis_table = found->degree == 3 ? NULL : found->curve;
        memcpy(plan->poly, found->poly, sizeof(plan->poly));
        /* Positions between samples: linear interpolation loses depth that the curve was found for. */
        plan->interpolation = p->plan ? plan->interpolation : AIRY_OCT_CUBIC;
    }
    if (found->has_dispersion) {
        plan->has_dispersion = true;
        plan->phase_table = NULL;
        memcpy(plan->dispersion, found->dispersion, sizeof(plan->dispersion));
    }
    const airy_status status = airy_oct_config_write(&config, p->output, p->common.force);
    if (status == AIRY_OK && !p->plan && plan->background == AIRY_OCT_BACKGROUND_NONE)
        tool_say(&p->common,
                 "the plan subtracts no background: a picture made with it is brightest "
                 "at depth 0; \"background\": \"mean\" in %s changes that",
                 p->output);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
}

static void draw_profile(FILE *s, const airy_oct_calibration *found, size_t m, size_t after,
                         double scale)
{
    const double *top = found->profile + (2 * m + 1) * found->profile_count;
    const double *values = found->profile + (2 * m + after) * found->profile_count;
    double most = 1e-300;
    for (size_t i = 8; i < found->profile_count; i++)
        most = top[i] > most ? top[i] : most;
    for (size_t i = 0; i < found->profile_count; i++)
        fprintf(s, "%.6g %.4f\n", scale * found->profile_step * (double)i,
                20 * log10(fmax(values[i], 1e-300) / most));
    fputs("e\n", s);
}

/* Magnitudes in dB of each mirror's peak after. */
static int draw(const struct job *job)
{
    const airy_oct_calibration *found = &job->found;
    static const char *const colours[MIRRORS] = {"#2166ac", "#b2182b"};
    struct gnuplot plot;
    const int code = gnuplot_begin(&plot, &job->p->common, job->p->plot, 0.6);
    if (code != AIRY_EXIT_OK)
        return code;
    FILE *s = plot.script;
    const bool um = isfinite(found->depth_step_m);
    const double scale = um ? 1e6 * found->depth_step_m : 1;
    fprintf(
        s,
        "set xlabel '%s'\nset ylabel 'magnitude (dB)'\nset yrange [-70:5]\nset xrange [0:%.6g]\n"
        "set key top right\nset grid ytics lc '#e0e0e0'\nplot ",
        um ? "depth (µm)" : "depth (bins)",
        scale * found->profile_step * (double)found->profile_count);
    for (size_t m = 0; m < found->mirrors; m++)
        fprintf(
            s,
            "%s'-' with lines lc '%s' lw 0.7 dt 2 title 'mirror %zu before, %.2f bins wide', '-' "
            "with lines lc '%s' title 'after, %.2f bins (theory %.2f)'",
            m ? ", " : "", colours[m], m + 1, found->before[m].width, colours[m],
            found->after[m].width, found->after[m].limit);
    fputc('\n', s);
    for (size_t m = 0; m < found->mirrors; m++)
        for (size_t after = 0; after < 2; after++)
            draw_profile(s, found, m, after, scale);
    return gnuplot_end(&plot);
}

static json_t *peak_json(const airy_oct_peak *peak, double step_um)
{
    json_t *json = json_pack("{s:o, s:o, s:o, s:o}", "bin", tool_json_number(peak->position),
                             "width_bins", tool_json_number(peak->width), "theory_bins",
                             tool_json_number(peak->limit), "phase_rms",
                             tool_json_number(peak->phase_rms));
    if (json && isfinite(step_um)) {
        json_object_set_new(json, "depth_um", tool_json_number(peak->position * step_um));
        json_object_set_new(json, "width_um", tool_json_number(peak->width * step_um));
        json_object_set_new(json, "theory_um", tool_json_number(peak->limit * step_um));
    }
    return json;
}

static int report_json(const struct job *job)
{
    const airy_oct_calibration *f = &job->found;
    const double um = 1e6 * f->depth_step_m;
    json_t *mirrors = json_array();
    for (size_t m = 0; m < f->mirrors; m++)
        json_array_append_new(mirrors, json_pack("{s:o, s:I, s:o, s:o}", "input",
                                                 tool_json_string(job->p->common.inputs.items[m]),
                                                 "lines", (json_int_t)job->mirror[m].count,
                                                 "before", peak_json(&f->before[m], um), "after",
                                                 peak_json(&f->after[m], um)));
    json_t *json = json_pack("{s:o, s:I, s:o}", "output", tool_json_string(job->p->output),
                             "samples", (json_int_t)f->samples, "mirrors", mirrors);
    if (f->has_axis)
        json_object_set_new(json, "degree", json_integer(f->degree));
    if (f->degree == 3)
        json_object_set_new(json, "poly",
                            json_pack("[o,o,o,o]", tool_json_number(f->poly[0]),
                                      tool_json_number(f->poly[1]), tool_json_number(f->poly[2]),
                                      tool_json_number(f->poly[3])));
    if (f->has_dispersion)
        json_object_set_new(json, "dispersion",
                            json_pack("[o,o,o,o]", tool_json_number(f->dispersion[0]),
                                      tool_json_number(f->dispersion[1]),
                                      tool_json_number(f->dispersion[2]),
                                      tool_json_number(f->dispersion[3])));
    if (isfinite(um))
        json_object_set_new(json, "depth_step_um", tool_json_number(um));
    return tool_print_json(&job->p->common, json);
}

static int report(const struct job *job)
{
    const airy_oct_calibration *f = &job->found;
    const double um = 1e6 * f->depth_step_m;
    if (job->p->common.json)
        return report_json(job);
    for (size_t m = 0; m < f->mirrors; m++) {
        const airy_oct_peak *b = &f->before[m], *a = &f->after[m];
        printf("mirror %zu: bin %.2f, width %.2f before, %.3f after, theory %.3f bins", m + 1,
               a->position, b->width, a->width, a->limit);
        if (isfinite(um))
            printf(" (%.3f, %.3f, %.3f um)", b->width * um, a->width * um, a->limit * um);
        printf("; phase %.2f before, %.3f rad rms after\n", b->phase_rms, a->phase_rms);
    }
    if (f->degree == 3)
        printf("axis: poly [%.9g, %.9g, %.9g, %.9g]\n", f->poly[0], f->poly[1], f->poly[2],
               f->poly[3]);
    else if (f->has_axis)
        printf("axis: curve of degree %d\n", f->degree);
    if (f->has_dispersion)
        printf("dispersion: [%.6g, %.6g, %.6g, %.6g] rad\n", f->dispersion[0], f->dispersion[1],
               f->dispersion[2], f->dispersion[3]);
    if (isfinite(um))
        printf("depth: %.6g um a bin\n", um);
    return AIRY_EXIT_OK;
}

static int check_oct_calibrate(void *user)
{
    const struct oct_calibrate_params *p = user;
    const struct common *c = &p->common;
    if (!p->output)
        return tool_usage(c, "-o PLAN.json is missing");
    if (p->dark.count > 1 && p->dark.count != c->inputs.count)
        return tool_usage(c,
                          "--dark is given %zu times, expected once, or once for each of %zu "
                          "mirror%s",
                          p->dark.count, c->inputs.count, tool_s(c->inputs.count));
    if (p->has_distance && c->inputs.count != 2)
        return tool_usage(c, "--distance lies between two mirrors, and there is one");
    const int code = p->plot ? gnuplot_check_name(c, p->plot) : AIRY_EXIT_OK;
    return code == AIRY_EXIT_OK && p->plot ? gnuplot_check(c) : code;
}

static int run_oct_calibrate(void *user)
{
    const struct oct_calibrate_params *p = user;
    const struct common *common = &p->common;
    struct job job = {.p = p, .mirrors = common->inputs.count};
    int code = AIRY_EXIT_OK;
    if (p->plan) {
        const airy_status status = airy_oct_config_read(&job.config, p->plan);
        code = status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
    }
    if (code == AIRY_EXIT_OK)
        code = read_all(&job);
    if (code == AIRY_EXIT_OK)
        code = calibrate(&job);
    if (code == AIRY_EXIT_OK)
        code = write_plan(&job);
    if (code == AIRY_EXIT_OK && p->plot)
        code = draw(&job);
    if (code == AIRY_EXIT_OK)
        code = report(&job);
    airy_oct_calibration_free(&job.found);
    for (size_t m = 0; m < MIRRORS; m++) {
        free(job.mirror[m].lines);
        free(job.dark[m].lines);
    }
    airy_oct_config_free(&job.config);
    return code;
}

const struct command cmd_oct_calibrate = {
    .name = "oct calibrate",
    .usage = "MIRROR [MIRROR2] -o PLAN.json [options]",
    .summary = "axis and dispersion of an OCT spectrometer from recordings of mirrors",
    .details =
        "Two recordings of a mirror at different depths, on the same side of depth 0, tell both "
        "the "
        "places of the samples on the axis of wavenumbers and the dispersion between the arms; one "
        "tells either of them. Files are NPY (also one line alone), HDF5, " IF_TIFF(
            "TIFF, ") "or what --plan says "
                      "they are; up to 4096 lines of each are taken, turned to the same phase. "
                      "Written is a plan "
                      "for airy oct, printed are the widths of the peaks at half of their "
                      "magnitude, before, "
                      "after "
                      "and as theory has them for the spectrum and the window.",
    .examples =
        "  airy oct calibrate near.npy far.npy --dark dark.npy -o plan.json --plot peaks.png\n"
        "  airy oct calibrate far.raw --plan known_axis.json --fit dispersion -o plan.json\n",
    .tables = {calibrate_options},
    .params_size = sizeof(struct oct_calibrate_params),
    .min_inputs = 1,
    .max_inputs = MIRRORS,
    .check = check_oct_calibrate,
    .run = run_oct_calibrate,
};
