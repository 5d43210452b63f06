/* Results of `airy oct`: into a file that grows, pictures, projections. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oct/oct.h"
#include "plot/gnuplot.h"

/* File part of "OUT[,more]" names of pictures and projections. */
static bool is_png(const char *path)
{
    return path && tool_has_suffix(path, ".png");
}

int oct_sink_check(const struct oct_params *p)
{
    const struct common *common = &p->common;
    if (!p->plan)
        return tool_usage(common, "--plan PLAN.json is missing");
    if (!p->output && !p->plot && !p->enface && !p->mip && !common->explain && !p->feed &&
        !oct_is_live(p))
        return tool_usage(common, "no output: give -o OUT" FRAME_SUFFIXES
                                  " or .png, --plot, --enface or --mip");
    if (p->output && !is_png(p->output) && !airy_frame_writer_has_format(p->output))
        return tool_usage(common,
                          "output '%s': expected a name that ends in " FRAME_SUFFIXES " or .png",
                          p->output);
    if (p->has_frame && !p->plot && !is_png(p->output))
        return tool_usage(common,
                          "--frame %zu chooses the picture of --plot or of -o OUT.png; "
                          "neither is given",
                          p->frame);
    if (oct_enface_check(common, p->enface) != AIRY_EXIT_OK)
        return AIRY_EXIT_USAGE;
    if (!p->plot)
        return AIRY_EXIT_OK;
    const int code = gnuplot_check_name(common, p->plot);
    return code == AIRY_EXIT_OK ? gnuplot_check(common) : code;
}

int oct_sink_adapt(const struct oct_params *p, airy_oct_params *plan)
{
    const bool png = is_png(p->output);
    if (plan->output == AIRY_OCT_COMPLEX && (png || p->plot || p->enface || p->mip))
        return tool_fail(&p->common, "complex results have no picture; \"output\" of the plan says "
                                     "what else there is");
    if (png && plan->to == AIRY_DTYPE_F32) {
        plan->display = true;
        plan->to = AIRY_DTYPE_U8;
    }
    return AIRY_EXIT_OK;
}

/* What the numbers of a result are, as the name of a dataset and its unit. */
static void name_signal(const airy_oct_params *plan, airy_frame_writer_params *params)
{
    static const char *const names[] = {"db", "magnitude", "power", "phase", "complex"};
    static const char *const units[] = {"dB", NULL, NULL, "rad", NULL};
    params->signal = plan->display                          ? "display"
                     : plan->flow == AIRY_OCT_FLOW_VARIANCE ? "variance"
                                                            : names[plan->output];
    params->signal_units =
        plan->display || plan->flow == AIRY_OCT_FLOW_VARIANCE ? NULL : units[plan->output];
}

static int open_writer(struct oct_sink *s, const struct oct_sink_open *o)
{
    const struct common *common = &s->p->common;
    const double step = oct_depth_um(&s->info);
    double *depth = malloc(s->info.depth * sizeof(*depth));
    if (!depth)
        return tool_fail(common, "out of memory for %zu bins", s->info.depth);
    for (size_t i = 0; i < s->info.depth; i++)
        depth[i] = (double)(s->plan->depth_first + i) * (step > 0 ? step : 1);
    airy_frame_writer_params params = {
        .dtype = s->plan->to,
        .height = s->info.out_lines,
        .width = s->info.depth,
        .is_complex = s->plan->output == AIRY_OCT_COMPLEX,
        .complex_as_pairs = s->p->pairs,
        .force = common->force,
        .frames = o->frames == UINT64_MAX ? 0 : o->frames / s->info.frames_per_result,
        .process = "oct",
        .axis = depth,
        .axis_name = step > 0 ? "depth" : "bin",
        .axis_units = step > 0 ? "um" : NULL,
        .configuration = o->configuration};
    name_signal(s->plan, &params);
    const airy_status status = airy_frame_writer_create(&s->writer, s->p->output, &params);
    free(depth);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

int oct_sink_open(struct oct_sink *s, const struct oct_sink_open *o)
{
    const struct oct_params *p = o->p;
    const struct common *common = &p->common;
    *s = (struct oct_sink){.p = p, .plan = o->plan, .info = o->info, .png = is_png(p->output)};
    s->peak.value = (double)NAN;
    s->has_peak = o->peak != NULL;
    if (o->peak)
        s->peak = *o->peak;
    s->one = o->frames != UINT64_MAX && o->frames / o->info.frames_per_result == 1;
    const char *const outputs[] = {p->output, p->plot};
    for (size_t i = 0; i < 2; i++)
        if (outputs[i] && o->source->input.stack &&
            airy_stack_uses(o->source->input.stack, outputs[i]))
            return tool_fail(common,
                             "output '%s' is a file that frames are read from; choose "
                             "another name",
                             outputs[i]);
    s->values = malloc(o->info.out_lines * o->info.depth * sizeof(*s->values));
    if (!s->values)
        return tool_fail(common, "out of memory for %zu x %zu values", o->info.out_lines,
                         o->info.depth);
    int code = oct_map_open(&s->enface, p, "enface", p->enface, &s->info, o->plan->depth_first);
    if (code == AIRY_EXIT_OK)
        code = oct_map_open(&s->mip, p, "mip", p->mip, &s->info, o->plan->depth_first);
    if (code == AIRY_EXIT_OK && p->output && !s->png)
        code = open_writer(s, o);
    return code;
}

/* One result as floats. */
static const float *as_floats(struct oct_sink *s, const void *result)
{
    const size_t count = s->info.out_lines * s->info.depth;
    if (s->plan->to == AIRY_DTYPE_F32)
        return result;
    const airy_image image = {
        .dtype = s->plan->to, .ndim = 1, .shape = {count}, .data = (void *)result};
    for (size_t i = 0; i < count; i++)
        s->values[i] = (float)airy_image_value(&image, i);
    return s->values;
}

/* The largest of them, NaN left out; -infinity where there is none. */
static float find_largest(const float *values, size_t count)
{
    enum { AT_ONCE = 16 };
    float most[AT_ONCE], largest = -INFINITY;
    size_t i = 0;
    for (size_t k = 0; k < AT_ONCE; k++)
        most[k] = -INFINITY;
    for (; i + AT_ONCE <= count; i += AT_ONCE)
        for (size_t k = 0; k < AT_ONCE; k++)
            most[k] = values[i + k] > most[k] ? values[i + k] : most[k];
    for (size_t k = 0; k < AT_ONCE; k++)
        largest = most[k] > largest ? most[k] : largest;
    for (; i < count; i++)
        largest = values[i] > largest ? values[i] : largest;
    return largest;
}

/* A camera goes on meanwhile: of 4,096 lines, number by number, 16 buffers were full before the end. */
void oct_find_peak(struct oct_peak *peak, const float *values, const airy_oct_info *info,
                   size_t depth_first)
{
    *peak = (struct oct_peak){.value = (double)NAN};
    for (size_t l = 0; l < info->out_lines; l++) {
        const float *line = values + l * info->depth, most = find_largest(line, info->depth);
        if (!(most > -INFINITY) || (double)most <= peak->value)
            continue;
        for (size_t z = 0; z < info->depth; z++)
            if (isfinite(line[z]) && !((double)line[z] <= peak->value))
                *peak = (struct oct_peak){(double)line[z], l, depth_first + z};
    }
}

/* NAME.png, or NAME_0012.png. */
static int write_picture(struct oct_sink *s, const void *result)
{
    char path[4200];
    const char *output = s->p->output;
    if (s->one || s->p->has_frame)
        snprintf(path, sizeof(path), "%s", output);
    else
        snprintf(path, sizeof(path), "%.*s_%04llu.png", (int)(strlen(output) - 4), output,
                 (unsigned long long)s->frames);
    s->pictures++;
    return oct_picture_write(s, result, path);
}

/* Drawn at the end, when nobody waits for frames any more. */
static int keep_drawn(struct oct_sink *s, const float *values)
{
    const size_t size = s->info.out_lines * s->info.depth * sizeof(*values);
    s->drawn = malloc(size);
    if (!s->drawn)
        return tool_fail(&s->p->common, "%s: out of memory for the picture", s->p->plot);
    memcpy(s->drawn, values, size);
    return AIRY_EXIT_OK;
}

static int add_one(struct oct_sink *s, const void *result)
{
    const struct oct_params *p = s->p;
    const bool chosen = s->frames == p->frame, picture = s->png && (!p->has_frame || chosen),
               plot = p->plot && chosen;
    int code = AIRY_EXIT_OK;
    if (picture)
        code = write_picture(s, result);
    const bool first = s->frames == 0 && !s->has_peak;
    if (s->plan->output == AIRY_OCT_COMPLEX || !(first || plot || s->enface || s->mip))
        return code;
    const float *values = as_floats(s, result);
    if (first)
        oct_find_peak(&s->peak, values, &s->info, s->plan->depth_first);
    if (code == AIRY_EXIT_OK && plot)
        code = keep_drawn(s, values);
    if (code == AIRY_EXIT_OK && s->enface)
        code = oct_map_add(s->enface, values);
    if (code == AIRY_EXIT_OK && s->mip)
        code = oct_map_add(s->mip, values);
    return code;
}

int oct_sink_add(struct oct_sink *s, const void *results, size_t count)
{
    int code = AIRY_EXIT_OK;
    if (s->writer) {
        const airy_status status = airy_frame_writer_add(s->writer, results, count);
        if (status != AIRY_OK)
            return tool_failed(&s->p->common, status);
    }
    for (size_t i = 0; i < count && code == AIRY_EXIT_OK; i++, s->frames++)
        code = add_one(s, (const char *)results + i * s->info.result_bytes);
    return code;
}

int oct_sink_finish(struct oct_sink *s)
{
    const struct common *common = &s->p->common;
    if (s->frames == 0)
        return tool_fail(common, "%s: too few frames came for one result, which takes %zu",
                         common->inputs.items[0], s->info.frames_per_result);
    if (s->p->has_frame && s->p->frame >= s->frames)
        return tool_fail(common, "--frame %zu: there are %llu results, numbered from 0",
                         s->p->frame, (unsigned long long)s->frames);
    int code = s->drawn ? oct_plot(s, s->drawn) : AIRY_EXIT_OK;
    if (code == AIRY_EXIT_OK && s->enface)
        code = oct_map_write(s->enface);
    if (code == AIRY_EXIT_OK && s->mip)
        code = oct_map_write(s->mip);
    if (code != AIRY_EXIT_OK || !s->writer)
        return code;
    const airy_status status = airy_frame_writer_finish(s->writer);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

void oct_sink_close(struct oct_sink *s)
{
    airy_frame_writer_destroy(&s->writer);
    oct_map_close(&s->enface);
    oct_map_close(&s->mip);
    free(s->values);
    free(s->drawn);
    *s = (struct oct_sink){.p = NULL};
}
