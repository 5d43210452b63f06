/* What a run has beside its patterns: regions, the map of a scan, values carried over. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integrate/integrate.h"

enum { MOST_ROIS = 64 };

/* NxM */
const char *around_grid(void *field, const char *text)
{
    const char *const wanted = "expected ROWSxCOLUMNS, 1 to 1000000 each and 2^28 points at most";
    size_t *grid = field;
    uint64_t rows, columns;
    char first[24];
    const char *x = strchr(text, 'x');
    snprintf(first, sizeof(first), "%.*s", x ? (int)(x - text < 23 ? x - text : 23) : 0, text);
    if (!x || !opt_whole(first, &rows) || !opt_whole(x + 1, &columns) || rows < 1 || columns < 1 ||
        rows > 1000000 || columns > 1000000 || rows * columns > 1 << 28)
        return wanted;
    grid[0] = (size_t)rows;
    grid[1] = (size_t)columns;
    return NULL;
}

static bool parse_roi(airy_roi *roi, const char *text)
{
    double n[4];
    const size_t count = opt_numbers(text, n, 4);
    if (count != 2 && count != 4)
        return false;
    *roi = (airy_roi){.radial = {n[0], n[1]}, .has_azimuth = count == 4};
    if (count == 4)
        memcpy(roi->azimuth, n + 2, sizeof(roi->azimuth));
    return true;
}

int around_check(const struct integrate_params *p)
{
    const struct common *common = &p->geometry.common;
    const bool text = p->output && ascii_name(p->output);
    airy_roi roi;
    if (p->roi.count > MOST_ROIS)
        return tool_usage(common, "--roi: %zu regions, expected at most %d", p->roi.count,
                          MOST_ROIS);
    for (size_t i = 0; i < p->roi.count; i++) {
        if (!parse_roi(&roi, p->roi.items[i]) || !(roi.radial[0] < roi.radial[1]))
            return tool_usage(common,
                              "--roi %s: expected A,B or A,B,CHI0,CHI1 with A < B, in the unit and "
                              "in degrees",
                              p->roi.items[i]);
        if (roi.has_azimuth && !p->pattern.bins.azimuth)
            return tool_usage(common, "--roi %s: a range of chi needs --bins RADIUSxAZIMUTH",
                              p->roi.items[i]);
    }
    if (p->zigzag && !p->grid[0])
        return tool_usage(common, "--zigzag goes with --grid");
    if (text && (p->roi.count || p->grid[0] || p->carry.count))
        return tool_usage(common,
                          "--%s: text files hold patterns only (also --average, --sum); write .h5",
                          p->roi.count ? "roi"
                          : p->grid[0] ? "grid"
                                       : "carry");
    for (size_t i = 0; i < p->carry.count; i++)
        if (strcmp(p->carry.items[i], "none") == 0 && p->carry.count > 1)
            return tool_usage(common, "--carry none: give no other dataset beside it");
    return AIRY_EXIT_OK;
}

static int open_grid(struct integration *job)
{
    const struct integrate_params *p = job->params;
    const size_t points = p->grid[0] * p->grid[1], group = job->run.group > 1 ? job->run.group : 1,
                 rows = (job->frames - 1) / group + 1;
    if (!p->grid[0])
        return AIRY_EXIT_OK;
    if (rows > points)
        return tool_fail(job->common,
                         "--grid %zux%zu: %zu points for %zu patterns; choose a part by --frames",
                         p->grid[0], p->grid[1], points, rows);
    if (rows < points)
        tool_say(job->common, "--grid %zux%zu: %zu patterns, the last %zu points stay NaN",
                 p->grid[0], p->grid[1], rows, points - rows);
    memcpy(job->run.grid, p->grid, sizeof(job->run.grid));
    job->run.zigzag = p->zigzag;
    return AIRY_EXIT_OK;
}

static int open_carried(struct integration *job)
{
    const struct opt_list *carry = &job->params->carry;
    const bool named = carry->count > 0;
    if (named && strcmp(carry->items[0], "none") == 0)
        return AIRY_EXIT_OK;
    if (job->source) /* live_stream.c refuses names */
        return AIRY_EXIT_OK;
    const airy_status status = airy_stack_values(&job->carried, &job->carried_count, job->stack,
                                                 named ? carry->items : NULL, carry->count);
    if (status != AIRY_OK)
        return named ? tool_fail(job->common, "--carry: %s", airy_last_error())
                     : tool_failed(job->common, status);
    for (size_t i = 0; job->common->verbose && i < job->carried_count; i++)
        tool_say(job->common, "carried over: %s from %s", job->carried[i].name,
                 job->carried[i].path);
    job->run.carried = job->carried;
    job->run.carried_count = job->carried_count;
    return AIRY_EXIT_OK;
}

int around_open(struct integration *job)
{
    const struct opt_list *roi = &job->params->roi;
    if (roi->count) {
        job->rois = calloc(roi->count, sizeof(job->rois[0]));
        if (!job->rois)
            return tool_fail(job->common, "out of memory for %zu regions", roi->count);
        for (size_t i = 0; i < roi->count; i++)
            if (!parse_roi(&job->rois[i], roi->items[i]))
                return tool_usage(job->common, "--roi %s: expected A,B or A,B,CHI0,CHI1",
                                  roi->items[i]);
        job->run.rois = job->rois;
        job->run.roi_count = roi->count;
    }
    if (job->params->follow) { /* values of all frames are not there yet */
        if (job->params->grid[0] && !job->frames)
            return tool_fail(job->common, "--grid with --follow: give the frames by --frames A:B");
        return job->params->grid[0] ? open_grid(job) : AIRY_EXIT_OK;
    }
    const int code = open_grid(job);
    return code == AIRY_EXIT_OK ? open_carried(job) : code;
}

int around_fit(const struct integration *job)
{
    airy_integrator_info axes;
    airy_status status = airy_integrator_get_info(job->integrator, &axes);
    for (size_t i = 0; status == AIRY_OK && i < job->run.roi_count; i++)
        if (airy_roi_check(&job->rois[i], &axes) != AIRY_OK)
            return tool_fail(job->common, "--roi %s: %s", job->params->roi.items[i],
                             airy_last_error());
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(job->common, status);
}

void around_close(struct integration *job)
{
    free(job->rois);
    airy_frame_values_free(job->carried, job->carried_count);
}
