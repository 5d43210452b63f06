/* airy bench integrate: a file in the page cache to patterns. */
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

struct integrate_job {
    const airy_stack *stack;
    const airy_integrator *integrator;
    airy_run_params run;
    airy_run_info info;
    const char *path; /* of the patterns, or NULL */
};

static airy_status integrate(void *user)
{
    struct integrate_job *job = user;
    return airy_integrate_stack(job->path, job->stack, job->integrator, &job->run, &job->info);
}

static airy_status report(struct bench *bench, struct timing *t, const struct integrate_job *job)
{
    const airy_status status = bench_measure_limits(bench);
    if (status != AIRY_OK)
        return status;
    const double frames = (double)job->info.frames, raw = (double)job->info.decoded_bytes / frames;
    const double stored = (double)job->info.stored_bytes / frames;
    bench_add_rate(bench, t,
                   &(struct bench_row){
                       .name = "integrate",
                       .unit = "frames/s",
                       .amount = frames,
                       .limit = bench->cpu ? bench->limits.inside / raw : bench->limits.up / stored,
                       .limit_name = bench->cpu ? "copy of the decoded frames"
                                                : "copy of the chunks to the device"});
    bench_add_rate(bench, t,
                   &(struct bench_row){.name = "integrate bandwidth, decoded",
                                       .unit = "GB/s",
                                       .amount = frames * raw * 1e-9,
                                       .limit = bench->cpu ? bench->limits.inside * 1e-9 : 0,
                                       .limit_name = "copy in memory"});
    bench_add_fact(bench, "compression ratio", "x", raw / stored);
    return AIRY_OK;
}

int bench_integrate(struct bench *bench)
{
    char path[4096];
    airy_integrator *integrator = NULL;
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
    struct integrate_job job = {.stack = bench->stack,
                                .integrator = integrator,
                                .run = {.batch = bench->params->pattern.batch, .force = true},
                                .path = bench->params->write ? path : NULL};
    if (status == AIRY_OK)
        status = bench_repeat(bench, &t, integrate, &job);
    if (status == AIRY_OK)
        status = report(bench, &t, &job);
    if (status == AIRY_OK)
        bench_add_fact(bench, "integrator set-up", "s", created);
    airy_integrator_destroy(&integrator);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(bench->common, status);
}
