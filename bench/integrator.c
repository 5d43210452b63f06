/* Integrators of airy bench, and the time that they take for a stack. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

bool bench_borrows(const char *section, const char *name)
{
    return strcmp(name, "channel") == 0 || strcmp(name, "batch") == 0 ||
           (section && (strcmp(section, "Geometry") == 0 || strcmp(section, "Pattern") == 0));
}

/* An airy_log_fn with a struct common. */
static void print_warning(void *user, airy_log_level level, const char *text)
{
    (void)level;
    tool_say(user, "%s", text);
}

int bench_take_given(struct bench_params *p)
{
    const struct common *common = &p->job.common;
    uint64_t batch = 0;
    if (strcmp(opt_given(common, "error-model", ""), "variance") == 0)
        return tool_usage(common, "--error-model variance needs an image: none, poisson or "
                                  "azimuthal can be timed");
    const airy_status status =
        airy_job_get_integration(p->job.job, &p->integrator, &p->sample, &p->geometry);
    if (status != AIRY_OK)
        return tool_refused(common, status);
    p->geometry.message = print_warning;
    p->geometry.user = (void *)common;
    p->has_unit = opt_given(common, "unit", NULL) != NULL;
    p->has_bins = opt_given(common, "bins", NULL) != NULL;
    p->channel = opt_given(common, "channel", NULL);
    (void)opt_whole(opt_given(common, "batch", "0"), &batch); /* the job has looked at it */
    p->batch = (size_t)batch;
    return AIRY_EXIT_OK;
}

int bench_find_geometry(struct bench *bench)
{
    airy_stack_meta meta;
    airy_geometry_params given = bench->params->geometry;
    airy_status status = airy_stack_get_meta(bench->stack, &meta);
    if (status != AIRY_OK)
        return tool_failed(bench->common, status);
    given.input = bench->path;
    status = airy_geometry_resolve(&bench->geometry, &given, &meta, bench->stack_info.height,
                                   bench->stack_info.width);
    if (status != AIRY_OK)
        return tool_refused(bench->common, status);
    airy_geometry_set_sample(&bench->geometry, &bench->params->sample);
    status = airy_detector_open(&bench->arrays, &bench->geometry.detector);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(bench->common, status);
}

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

airy_integrator_params bench_params(const struct bench *bench, const uint8_t *mask)
{
    airy_integrator_params params = bench->params->integrator;
    params.mask = mask;
    if (!bench->params->has_unit)
        params.unit = bench->geometry.wavelength > 0 ? AIRY_UNIT_Q_NM : AIRY_UNIT_TTH_DEG;
    return params;
}

/* Of what --all times with a given variance: 1 for each pixel, malloc'ed. */
static airy_status set_variance(float **variance, airy_integrator_params *params,
                                const struct bench *bench)
{
    const size_t count = bench->geometry.detector.height * bench->geometry.detector.width;
    *variance = NULL;
    if (params->error_model != AIRY_ERROR_MODEL_VARIANCE)
        return AIRY_OK;
    *variance = malloc(count * sizeof(**variance));
    for (size_t i = 0; *variance && i < count; i++)
        (*variance)[i] = 1;
    params->variance = *variance;
    return *variance ? AIRY_OK : AIRY_ERR_MEMORY;
}

airy_status bench_integrator(airy_integrator **integrator, const struct bench *bench)
{
    uint8_t *mask = NULL;
    float *variance = NULL;
    airy_status status = bench_mask(&mask, bench);
    airy_integrator_params params = bench_params(bench, mask);
    if (status == AIRY_OK)
        status = set_variance(&variance, &params, bench);
    if (status == AIRY_OK)
        status = airy_integrator_create(integrator, bench->device, &bench->geometry, &params);
    free(variance);
    free(mask);
    return status;
}

airy_status bench_team(struct bench *bench)
{
    uint8_t *mask = NULL;
    airy_status status = bench_mask(&mask, bench);
    const airy_integrator_params params = bench_params(bench, mask);
    if (status == AIRY_OK)
        status = team_integrators(&bench->team, &bench->geometry, &params);
    free(mask);
    return status;
}

airy_status bench_replayed(airy_stack **stack, const struct bench *bench, size_t replay)
{
    const char **paths = malloc(replay * sizeof(*paths));
    for (size_t i = 0; paths && i < replay; i++)
        paths[i] = bench->path;
    const airy_stack_params params = {.channel = bench->params->channel};
    const airy_status status = paths ? airy_stack_create_with(stack, paths, replay, &params)
                                     : AIRY_ERR_MEMORY;
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
    airy_integrator *const *integrators;
    size_t count;
    airy_run_params run;
    airy_run_info info;
    const char *path; /* of the patterns, or NULL */
};

static airy_status integrate(void *user)
{
    struct integrate_job *job = user;
    return airy_integrate_stack(job->path, job->stack, job->integrators, job->count, &job->run,
                                &job->info);
}

/* A file that is there would be removed while the next run is timed. */
static airy_status remove_patterns(void *user)
{
    const struct integrate_job *job = user;
    if (job->path)
        (void)unlink(job->path);
    return AIRY_OK;
}

/* Times of the stack once: the first call, and the median of some more. */
static airy_status time_once(const struct bench *bench, struct integrate_job *job, double *first,
                             double *once)
{
    struct timing *t = malloc(sizeof(*t));
    const struct bench_loop loop = {.prepare = remove_patterns,
                                    .run = integrate,
                                    .user = job,
                                    .seconds = fmin(bench_seconds(bench) / 4, 0.5),
                                    .least = bench->params->all ? 1 : 3,
                                    .first = true};
    const airy_status status = t ? bench_loop(bench, t, &loop) : AIRY_ERR_MEMORY;
    if (status == AIRY_OK) {
        *first = t->first;
        *once = bench_percentile(t, 0.5);
    }
    free(t);
    return status;
}

static airy_status set_replay(const struct bench *bench, struct integrate_job *job,
                              airy_stack **replayed, size_t replay)
{
    airy_stack_destroy(replayed);
    const airy_status status = bench_replayed(replayed, bench, replay);
    job->stack = *replayed;
    return status;
}

/*
 * So often that --seconds hold three calls, 4 s at most. What one more time costs is known from a
 * few of them: much of a single one is what is made and page-locked once.
 */
static airy_status choose_replay(const struct bench *bench, struct integrate_job *job,
                                 airy_stack **replayed, double once, size_t *replay)
{
    enum { FEW = 5, MOST = 4096 };
    const double wanted = fmin(bench_seconds(bench) / 3, 4);
    *replay = 1;
    if (once >= wanted)
        return AIRY_OK;
    airy_status status = set_replay(bench, job, replayed, FEW);
    const double start = tool_now();
    if (status == AIRY_OK)
        status = integrate(job);
    const double few = tool_now() - start, more = (few - once) / (FEW - 1);
    if (status == AIRY_OK)
        *replay = (size_t)fmin(fmax((wanted - once) / fmax(more, 1e-6), 0) + 1, MOST);
    return status;
}

airy_status bench_time_integrate(const struct bench *bench, airy_integrator *const *integrators,
                                 size_t count, const char *path, struct timing *t,
                                 struct bench_integrated *out)
{
    airy_stack *replayed = NULL;
    struct integrate_job job = {
        .stack = bench->stack,
        .integrators = integrators,
        .count = count,
        .run = {.batch = bench->params->batch, .force = true, .progress = bench_go_on},
        .path = path};
    const struct bench_loop loop = {.prepare = remove_patterns,
                                    .run = integrate,
                                    .user = &job,
                                    .seconds = bench_seconds(bench),
                                    .least = bench->params->all ? 2 : 3};
    double first = NAN;
    *out = (struct bench_integrated){.replay = bench->params->replay};
    airy_status status = time_once(bench, &job, &first, &out->once);
    if (status == AIRY_OK && !bench->params->has_replay)
        status = choose_replay(bench, &job, &replayed, out->once, &out->replay);
    if (status == AIRY_OK)
        status = set_replay(bench, &job, &replayed, out->replay);
    if (status == AIRY_OK)
        status = bench_loop(bench, t, &loop);
    t->first = first;
    out->info = job.info;
    airy_stack_destroy(&replayed);
    return status;
}
