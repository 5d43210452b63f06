/* airy bench integrate: a file in the page cache to patterns. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"

airy_status bench_mask(uint8_t **mask, const struct bench *bench)
{
    const airy_detector *detector = &bench->geometry.detector;
    const size_t count = detector->height * detector->width;
    airy_stack_meta meta;
    uint8_t *all = malloc(count), *own = malloc(count);
    airy_status status = all && own ? airy_detector_mask(detector, all) : AIRY_ERR_MEMORY;
    if (status == AIRY_OK)
        status = airy_stack_get_meta(bench->stack, &meta);
    if (status == AIRY_OK && meta.has_mask &&
        (status = airy_stack_mask(bench->stack, own)) == AIRY_OK)
        for (size_t i = 0; i < count; i++)
            all[i] |= own[i];
    free(own);
    if (status == AIRY_OK)
        *mask = all;
    else
        free(all);
    return status;
}

airy_status bench_integrator(airy_integrator **integrator, const struct bench *bench)
{
    const struct pattern_params *p = &bench->params->pattern;
    uint8_t *mask = NULL;
    airy_status status = bench_mask(&mask, bench);
    const airy_integrator_params params = {.bins = p->bins,
                                           .split = p->split,
                                           .method = p->method,
                                           .error_model = p->error_model,
                                           .compat = (airy_compat)bench->common->compat,
                                           .mask = mask,
                                           .unit = p->has_unit ? p->unit
                                                   : bench->geometry.wavelength > 0
                                                       ? AIRY_UNIT_Q_NM
                                                       : AIRY_UNIT_TTH_DEG};
    if (status == AIRY_OK)
        status = airy_integrator_create(integrator, bench->device, &bench->geometry, &params);
    free(mask);
    return status;
}

airy_status bench_replayed(airy_stack **stack, const struct bench *bench, size_t replay)
{
    const char **paths = malloc(replay * sizeof(*paths));
    for (size_t i = 0; paths && i < replay; i++)
        paths[i] = bench->path;
    const airy_status status = paths ? airy_stack_create(stack, paths, replay) : AIRY_ERR_MEMORY;
    free(paths);
    return status;
}

bool bench_go_on(void *user, size_t done, size_t total)
{
    (void)user;
    (void)done;
    (void)total;
    return !tool_interrupted();
}

struct integrate_job {
    const airy_stack *stack;
    airy_integrator *integrator;
    airy_run_params run;
    airy_run_info info;
    const char *path; /* of the patterns, or NULL */
};

static airy_status integrate(void *user)
{
    struct integrate_job *job = user;
    return airy_integrate_stack(job->path, job->stack, &job->integrator, 1, &job->run, &job->info);
}

/*
 * One call is the stack so often that --seconds hold three of them, 4 s at most: what is made and
 * page-locked once counts for little then, as in a long run. The first call is of the stack once.
 */
static airy_status choose_replay(const struct bench *bench, struct integrate_job *job,
                                 airy_stack **replayed, double *first)
{
    const struct bench_params *p = bench->params;
    size_t replay = p->has_replay ? p->replay : 1;
    double start = tool_now();
    airy_status status = AIRY_OK;
    if (!p->has_replay && (status = integrate(job)) == AIRY_OK) {
        *first = tool_now() - start;
        start = tool_now();
        status = integrate(job);
        const double wanted = fmin(bench_seconds(bench) / 3, 4);
        replay = (size_t)fmin(fmax(wanted / (tool_now() - start), 1), 4096);
    }
    if (status == AIRY_OK && replay > 1) {
        status = bench_replayed(replayed, bench, replay);
        job->stack = *replayed;
    }
    return status;
}

airy_status bench_time_integrate(const struct bench *bench, airy_integrator *integrator,
                                 const char *path, struct timing *t, airy_run_info *info)
{
    airy_stack *replayed = NULL;
    double first = NAN;
    struct integrate_job job = {
        .stack = bench->stack,
        .integrator = integrator,
        .run = {.batch = bench->params->pattern.batch, .force = true, .progress = bench_go_on},
        .path = path};
    const struct bench_loop loop = {.run = integrate,
                                    .user = &job,
                                    .seconds = bench_seconds(bench),
                                    .least = 3,
                                    .first = bench->params->has_replay};
    airy_status status = choose_replay(bench, &job, &replayed, &first);
    if (status == AIRY_OK)
        status = bench_loop(bench, t, &loop);
    if (isfinite(first))
        t->first = first;
    *info = job.info;
    airy_stack_destroy(&replayed);
    return status;
}

/* Frames a second that the decoder of the design would do at most, GB/s of frames. */
enum { CLOSED_DECODER_GB_S = 776 };

static airy_status report(struct bench *bench, struct timing *t, const airy_run_info *info)
{
    const airy_status status = bench_measure_wire(bench);
    if (status != AIRY_OK)
        return status;
    const double frames = (double)info->frames, raw = (double)info->decoded_bytes / frames;
    const double stored = (double)info->stored_bytes / frames;
    const double limit = bench->cpu ? bench->limits.inside / raw : bench->limits.wire / stored;
    struct bench_row row = {.name = bench->params->write ? "integrate to a file" : "integrate",
                            .unit = "frames/s",
                            .amount = frames,
                            .limit = limit,
                            .limit_name = bench->cpu ? "copy of the decoded frames"
                                                     : "copy of these chunks to the device",
                            .frames = info->frames};
    if (!bench->cpu) {
        row.bound = fmin(limit, 1e9 * CLOSED_DECODER_GB_S / raw);
        row.bound_name = "that copy, or decoding at 776 GB/s";
    }
    bench_add_rate(bench, t, &row);
    bench_add_rate(bench, t,
                   &(struct bench_row){.name = "integrate bandwidth, decoded",
                                       .unit = "GB/s",
                                       .amount = frames * raw * 1e-9,
                                       .limit = bench->cpu ? bench->limits.inside * 1e-9 : 0,
                                       .limit_name = "copy in memory",
                                       .frames = info->frames});
    bench_add_fact(bench, "compression ratio", "x", raw / stored);
    return AIRY_OK;
}

int bench_integrate(struct bench *bench)
{
    char path[4096];
    airy_integrator *integrator = NULL;
    airy_run_info info;
    struct timing t;
    if (bench->params->write) {
        const int code = bench_folder(bench);
        if (code != AIRY_EXIT_OK)
            return code;
        bench_name(path, bench, "patterns.h5");
    }
    const double start = tool_now();
    airy_status status = bench_integrator(&integrator, bench);
    const double created = tool_now() - start;
    if (status == AIRY_OK)
        status =
            bench_time_integrate(bench, integrator, bench->params->write ? path : NULL, &t, &info);
    if (status == AIRY_OK)
        status = report(bench, &t, &info);
    if (status == AIRY_OK)
        bench_add_fact(bench, "integrator set-up", "s", created);
    airy_integrator_destroy(&integrator);
    return status == AIRY_OK ? AIRY_EXIT_OK : bench_failed(bench, status);
}
