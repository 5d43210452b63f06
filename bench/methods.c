/* airy bench integrate --all: every splitting and error model, in one and two dimensions. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

/* Results of one way to integrate. */
struct way {
    airy_integrator_params params;
    char name[96];
    const char *engine; /* static text */
    struct timing *t;   /* NULL: not measured, `why` */
    struct bench_integrated done;
    char why[256];
};

/* What is asked for beside the mean. */
static const struct {
    const char *name;
    airy_error_model model;
    bool clip, quantile;
} models[] = {
    {"none", AIRY_ERROR_MODEL_NONE, false, false},
    {"poisson", AIRY_ERROR_MODEL_POISSON, false, false},
    {"azimuthal", AIRY_ERROR_MODEL_AZIMUTHAL, false, false},
    {"variance", AIRY_ERROR_MODEL_VARIANCE, false, false},
    {"clip 3, azimuthal", AIRY_ERROR_MODEL_AZIMUTHAL, true, false},
    {"clip 3, hybrid", AIRY_ERROR_MODEL_HYBRID, true, false},
    {"median", AIRY_ERROR_MODEL_NONE, false, true},
};

enum { MODELS = sizeof(models) / sizeof(models[0]) };

enum { MAX_WAYS = 2 * AIRY_SPLIT_COUNT * MODELS };

struct ways {
    struct way list[MAX_WAYS];
    size_t count;
};

static void add_way(struct ways *ways, const airy_integrator_params *params, airy_split split,
                    size_t model)
{
    struct way *way = &ways->list[ways->count++];
    *way = (struct way){.params = *params};
    airy_integrator_params *p = &way->params;
    p->split = split;
    p->error_model = models[model].model;
    p->has_clip = models[model].clip;
    p->clip_threshold = 3;
    p->has_quantile = models[model].quantile;
    p->quantile[0] = p->quantile[1] = 0.5;
    snprintf(way->name, sizeof(way->name), "%s %s, %s", p->azimuth_bins ? "2-D" : "1-D",
             airy_split_name(split), models[model].name);
}

/* One engine serves all methods, so that each way is timed once. */
static void list_ways(struct ways *ways, const airy_integrator_params *given)
{
    enum { CELLS_RADIUS = 1000, CELLS_AZIMUTH = 360 };
    for (int two = 0; two < 2; two++) {
        airy_integrator_params params = *given;
        if (!two)
            params.azimuth_bins = 0;
        else if (!given->azimuth_bins) {
            params.bins = CELLS_RADIUS;
            params.azimuth_bins = CELLS_AZIMUTH;
        }
        for (int split = 0; split < AIRY_SPLIT_COUNT; split++)
            for (size_t model = 0; model < MODELS; model++)
                if (split != AIRY_SPLIT_PSEUDO || two)
                    add_way(ways, &params, (airy_split)split, model);
    }
}

static airy_status measure_way(const struct bench *bench, struct way *way)
{
    struct bench_params params = *bench->params;
    struct bench part = *bench;
    params.integrator = way->params;
    if (!params.has_seconds)
        params.seconds = 0.25;
    params.has_seconds = true;
    part.params = &params;
    airy_integrator *integrator = NULL;
    airy_integrator_info info;
    way->t = malloc(sizeof(*way->t));
    airy_status status = way->t ? bench_integrator(&integrator, &part) : AIRY_ERR_MEMORY;
    if (status == AIRY_OK)
        status = airy_integrator_get_info(integrator, &info);
    if (status == AIRY_OK)
        status = bench_time_integrate(&part, &integrator, 1, NULL, way->t, &way->done);
    if (status == AIRY_OK)
        way->engine = info.engine;
    airy_integrator_destroy(&integrator);
    if (status != AIRY_ERR_UNSUPPORTED)
        return status;
    snprintf(way->why, sizeof(way->why), "%s", airy_last_error());
    free(way->t);
    way->t = NULL;
    return AIRY_OK;
}

static double rate_of(struct way *way)
{
    return way->t ? (double)way->done.info.frames / bench_percentile(way->t, 0.5) : 0;
}

static void report_way(struct bench *bench, struct way *way, double fastest)
{
    if (!way->t) {
        bench_add_missing(bench, way->name, "frames/s", way->why);
        return;
    }
    bench_add_rate(bench, way->t,
                   &(struct bench_row){.name = way->name,
                                       .unit = "frames/s",
                                       .amount = (double)way->done.info.frames,
                                       .limit = fastest,
                                       .limit_name = way->params.azimuth_bins
                                                         ? "the fastest so far in two dimensions"
                                                         : "the fastest so far in one dimension",
                                       .frames = way->done.info.frames,
                                       .note = way->engine});
}

/* The last of a splitting. */
static bool ends_group(const struct ways *ways, size_t i)
{
    if (i + 1 == ways->count)
        return true;
    const airy_integrator_params *here = &ways->list[i].params, *next = &ways->list[i + 1].params;
    return here->split != next->split || here->azimuth_bins != next->azimuth_bins;
}

airy_status bench_methods(struct bench *bench)
{
    struct ways *ways = calloc(1, sizeof(*ways));
    airy_status status = ways ? AIRY_OK : AIRY_ERR_MEMORY;
    double fastest[2] = {0,
                         0}; /* so far: the first way, the mean alone, is rarely beaten by much */
    if (ways)
        list_ways(ways, &bench->params->integrator);
    for (size_t i = 0; ways && i < ways->count && status == AIRY_OK; i++) {
        struct way *way = &ways->list[i];
        double *best = &fastest[way->params.azimuth_bins != 0];
        tool_say(bench->common, "%s ...", way->name);
        status = tool_interrupted() ? AIRY_ERR_CANCELLED : measure_way(bench, way);
        if (status == AIRY_OK) {
            const double rate = rate_of(way);
            *best = rate > *best ? rate : *best;
            report_way(bench, way, *best);
            if (bench->params->table && ends_group(ways, i))
                bench_show(bench);
        }
        free(way->t);
        way->t = NULL;
    }
    free(ways);
    return status;
}
