/* One run by several processes' worth of calls, and on several devices at once. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/pipeline.h"
#include "airy/tune.h"
#include "check_pipeline.h"

enum { FRAMES = 70, MOST = 4 };

void check_datasets_same(struct check *c, const char *got, const char *want,
                         const char *const *datasets, size_t number)
{
    for (size_t i = 0; i < number; i++) {
        airy_image a = {0}, b = {0};
        char name[2][700];
        snprintf(name[0], sizeof(name[0]), "%s::/entry/integrate/%s", got, datasets[i]);
        snprintf(name[1], sizeof(name[1]), "%s::/entry/integrate/%s", want, datasets[i]);
        if (CHECK_OK(c, airy_image_read(&a, name[0])) &&
            CHECK_OK(c, airy_image_read(&b, name[1]))) {
            size_t count = 1;
            bool same = a.ndim == b.ndim && a.dtype == b.dtype;
            for (int d = 0; same && d < a.ndim; d++) {
                same = a.shape[d] == b.shape[d];
                count *= a.shape[d];
            }
            if (!same || memcmp(a.data, b.data, count * airy_dtype_size(a.dtype)) != 0)
                check_failed(c, __FILE__, __LINE__, "%s differs", datasets[i]);
        }
        airy_image_free(&a);
        airy_image_free(&b);
    }
}

void check_run_same(struct check *c, const char *got, const char *want)
{
    static const char *const datasets[] = {
        "result/intensity",          "result/sem",          "result/std",
        "merged/sum_signal",         "merged/sum_variance", "merged/sum_normalization",
        "merged/sum_normalization2", "merged/count",
    };
    check_datasets_same(c, got, want, datasets, sizeof(datasets) / sizeof(datasets[0]));
}

/* A second device of the same kind as the one under test, or the same again. */
static airy_integrator *other_integrator(struct check *c, airy_device **device)
{
    if (!CHECK_OK(c, airy_device_create(device, c->spec, NULL)))
        return NULL;
    return check_run_integrator(c, *device, AIRY_ERROR_MODEL_POISSON);
}

struct set {
    const char *path, *want, *out;
    airy_stack *stack;
    airy_integrator *integrators[MOST];
    airy_device *devices[MOST];
    size_t count;
};

static airy_geometry plain_geometry(struct check *c, const airy_stack *stack)
{
    airy_stack_info info = {0};
    CHECK_OK(c, airy_stack_get_info(stack, &info));
    return (airy_geometry){.detector = {.name = "Detector",
                                        .height = info.height,
                                        .width = info.width,
                                        .pixel1 = 1e-4,
                                        .pixel2 = 1e-4},
                           .dist = 0.1,
                           .wavelength = 1e-10};
}

/* The same axis is not enough: a mask, a dummy value or a factor makes other patterns. */
static void check_not_alike(struct check *c, const airy_stack *stack)
{
    airy_run_info run;
    const airy_geometry geometry = plain_geometry(c, stack);
    const size_t pixels = geometry.detector.height * geometry.detector.width;
    uint8_t *mask = check_alloc(c, pixels);
    mask[pixels / 2] = 1;
    const airy_integrator_params params[] = {{.bins = 20},
                                             {.bins = 20},
                                             {.bins = 20, .mask = mask},
                                             {.bins = 20, .normalization = 1000},
                                             {.bins = 20, .has_dummy = true, .dummy = 7}};
    airy_integrator *its[5] = {NULL};
    for (int i = 0; i < 5; i++)
        CHECK_OK(c, airy_integrator_create(&its[i], c->device, &geometry, &params[i]));
    for (int i = 1; i < 5 && its[i]; i++) {
        airy_integrator *const pair[2] = {its[0], its[i]};
        if (i == 1)
            CHECK_OK(c, airy_integrate_plan(&run, stack, pair, 2, NULL));
        else
            CHECK_FAILS(c, airy_integrate_plan(&run, stack, pair, 2, NULL), AIRY_ERR_PARAM,
                        "makes other patterns");
    }
    for (int i = 0; i < 5; i++)
        airy_integrator_destroy(&its[i]);
}

enum { VARIANTS = 22 };

/* The first is the plain one; each other one differs from it in the parameter that is named. */
struct variant {
    const char *name;
    airy_geometry geometry;
    airy_integrator_params params;
};

static void make_variants(struct variant list[VARIANTS], const airy_geometry *geometry,
                          const uint8_t *mask, const float *image)
{
    static const char *const names[VARIANTS] = {"",
                                                "dist",
                                                "poni1",
                                                "rot1",
                                                "pixel1",
                                                "split",
                                                "mask",
                                                "dark",
                                                "flat",
                                                "absorption",
                                                "variance",
                                                "polarization",
                                                "no-solid-angle",
                                                "normalization",
                                                "dummy",
                                                "clip",
                                                "saturation",
                                                "mask-saturated",
                                                "unweighted",
                                                "empty",
                                                "quantile-lower",
                                                "azimuth-range-lower"};
    for (int i = 0; i < VARIANTS; i++)
        list[i] = (struct variant){names[i],
                                   *geometry,
                                   {.bins = 20,
                                    .has_radial_range = true,
                                    .radial_range = {0.1, 2},
                                    .error_model = AIRY_ERROR_MODEL_VARIANCE,
                                    .variance = image}};
    list[1].geometry.dist *= 1 + 0x1p-50;
    list[2].geometry.poni1 = 1e-5;
    list[3].geometry.rot1 = 1e-6;
    list[4].geometry.detector.pixel1 *= 1.5;
    list[5].params.split = AIRY_SPLIT_BBOX;
    list[6].params.mask = mask;
    list[7].params.dark = image;
    list[8].params.flat = image;
    list[9].params.absorption = image;
    list[10].params.variance = image + 1; /* one element further on: other values */
    list[11].params.has_polarization = true;
    list[12].params.no_solid_angle = true;
    list[13].params.normalization = 1000;
    list[14].params.has_dummy = true, list[14].params.dummy = 7;
    list[15].params.has_clip = true, list[15].params.clip_threshold = 5;
    list[16].params.has_saturation = true, list[16].params.saturation = 1e9;
    list[17].params.mask_saturated = true;
    list[18].params.unweighted = true;
    list[19].params.has_empty = true, list[19].params.empty = -1;
    list[20].params.has_quantile = true, list[20].params.quantile[1] = 1;
    list[21].params.has_azimuth_range = true, list[21].params.azimuth_range[1] = 90;
}

/* A result of these parameters, and the beginning of one. */
static void make_results(struct check *c, const airy_stack *stack, const airy_integrator *it,
                         const char *whole, const char *begun)
{
    const airy_run_params params = {.force = true};
    airy_run_info info;
    airy_integrator *const one[1] = {(airy_integrator *)it};
    CHECK_OK(c, airy_integrate_stack(whole, stack, one, 1, &params, &info));
    if (begun)
        CHECK_OK(c, airy_run_create(begun, stack, it, &params, &info));
}

/*
 * Rows of different parameters in one result would be wrong numbers that look right: a run is not
 * resumed, and results are neither merged nor linked, where any parameter differs.
 */
static void check_mixes(struct check *c, const airy_stack *stack)
{
    const airy_geometry geometry = plain_geometry(c, stack);
    struct variant list[VARIANTS];
    const char *path[3] = {check_run_path(c, "a.h5"), check_run_path(c, "b.h5"),
                           check_run_path(c, "both.h5")};
    const char *begun = check_run_path(c, "begun.h5");
    const size_t pixels = geometry.detector.height * geometry.detector.width;
    uint8_t *mask = check_alloc(c, pixels), *empty = check_alloc(c, pixels);
    float *image = check_alloc(c, (pixels + 1) * sizeof(float)),
          *copy = check_alloc(c, pixels * sizeof(float));
    const airy_run_params again = {.resume = true};
    airy_integrator *its[2] = {NULL};
    airy_run_info info;
    mask[pixels / 2] = 1;
    for (size_t i = 0; i <= pixels; i++)
        image[i] = 1.0f + (float)i / (float)pixels;
    memcpy(copy, image, pixels * sizeof(float));
    make_variants(list, &geometry, mask, image);
    CHECK_OK(c, airy_integrator_create(&its[0], c->device, &list[0].geometry, &list[0].params));
    if (!its[0])
        return;
    make_results(c, stack, its[0], path[0], begun);
    for (int i = 1; i < VARIANTS; i++) {
        char want[64];
        snprintf(want, sizeof(want), "parameter %s differs", list[i].name);
        CHECK_OK(c, airy_integrator_create(&its[1], c->device, &list[i].geometry, &list[i].params));
        if (!its[1])
            continue;
        make_results(c, stack, its[1], path[1], NULL);
        CHECK_FAILS(c, airy_run_create(begun, stack, its[1], &again, &info), AIRY_ERR_FORMAT, want);
        CHECK_FAILS(c, airy_run_work(begun, stack, &its[1], 1, NULL, &info), AIRY_ERR_FORMAT, want);
        CHECK_FAILS(c, airy_patterns_merge(path[2], path, 2, NULL, NULL), AIRY_ERR_FORMAT, want);
        CHECK_FAILS(c, airy_patterns_link(path[2], path, 2, true), AIRY_ERR_FORMAT, want);
        airy_integrator_destroy(&its[1]);
    }
    /* Equal arrays elsewhere in memory are the same, and a mask of nothing is no mask. */
    list[0].params.variance = copy;
    list[0].params.mask = empty;
    CHECK_OK(c, airy_integrator_create(&its[1], c->device, &list[0].geometry, &list[0].params));
    make_results(c, stack, its[1], path[1], NULL);
    CHECK_OK(c, airy_run_create(begun, stack, its[1], &again, &info));
    CHECK_OK(c, airy_patterns_merge(path[2], path, 2, NULL, NULL));
    CHECK_OK(c, airy_patterns_link(path[2], path, 2, true));
    /* libhdf5 keeps the sources of a virtual dataset open between two reads of it. */
    const char *const linked = path[2];
    const airy_patterns_params rebin = {.rebin = 2};
    CHECK_OK(c, airy_patterns_merge(check_run_path(c, "merged.h5"), &linked, 1, &rebin, NULL));
    airy_integrator_destroy(&its[1]);
    airy_integrator_destroy(&its[0]);
}

/* The stack with two frames whose normalizations differ, and its result by one call. */
static bool open_set(struct check *c, struct set *set, size_t count, size_t special,
                     enum spoil spoil)
{
    *set = (struct set){.path = check_run_path(c, "stack.h5"),
                        .want = check_run_path(c, "want.h5"),
                        .out = check_run_path(c, "out.h5"),
                        .count = count};
    uint32_t *pixels = check_run_frames(c, FRAMES);
    pixels[7 * RUN_PIXELS + 5] = pixels[60 * RUN_PIXELS + 500] = 1000000000; /* dummies */
    check_run_stack(c, set->path, pixels, FRAMES, special, spoil);
    set->integrators[0] = check_run_integrator(c, c->device, AIRY_ERROR_MODEL_POISSON);
    for (size_t i = 1; i < count; i++)
        set->integrators[i] = other_integrator(c, &set->devices[i]);
    const airy_run_params params = {.skip_bad = true, .batch = 5};
    return CHECK_OK(c, airy_stack_create(&set->stack, &set->path, 1)) &&
           CHECK_OK(
               c, airy_integrate_stack(set->want, set->stack, set->integrators, 1, &params, NULL));
}

static void close_set(struct set *set)
{
    airy_stack_destroy(&set->stack);
    for (size_t i = 0; i < set->count; i++) {
        airy_integrator_destroy(&set->integrators[i]);
        airy_device_destroy(&set->devices[i]);
    }
}

struct worker {
    const struct set *set;
    airy_run_params params;
    airy_run_info info;
    airy_status status;
    pthread_t thread;
};

static void *do_part(void *arg)
{
    struct worker *w = arg;
    w->status =
        airy_run_work(w->set->out, w->set->stack, w->set->integrators, 1, &w->params, &w->info);
    return NULL;
}

/* Parts at the same time or one after the other, the last first. */
static void check_parts(struct check *c, size_t parts, bool together)
{
    struct set set;
    if (!check_case(c, "run_%zu_parts_%s", parts, together ? "together" : "in_turn"))
        return;
    if (open_set(c, &set, 1, FRAMES, SOUND)) {
        const airy_run_params params = {.parts = parts, .batch = 3};
        airy_run_info info;
        size_t frames = 0;
        CHECK_OK(c, airy_run_create(set.out, set.stack, set.integrators[0], &params, &info));
        CHECK(c, info.resumed == 0);
        struct worker *workers = check_alloc(c, parts * sizeof(*workers));
        for (size_t i = 0; i < parts; i++) {
            struct worker *w = &workers[parts - 1 - i];
            *w = (struct worker){.set = &set, .params = params};
            w->params.part = parts - 1 - i;
            if (!together)
                do_part(w);
            else if (!CHECK(c, pthread_create(&w->thread, NULL, do_part, w) == 0))
                return;
        }
        for (size_t i = 0; i < parts; i++) {
            if (together)
                pthread_join(workers[i].thread, NULL);
            CHECK(c, workers[i].status == AIRY_OK && workers[i].info.bad == 0);
            frames += workers[i].info.frames;
        }
        CHECK(c, frames == FRAMES);
        CHECK_OK(c, airy_run_finish(set.out, set.stack, set.integrators[0], &params, &info));
        CHECK(c, info.frames == FRAMES && !info.stopped);
        check_run_same(c, set.out, set.want);
    }
    close_set(&set);
}

/* What several processes share of a run whose rows are claimed. */
struct counter {
    atomic_size_t next, calls;
    size_t step, stop_at; /* rows a claim, 0: what is asked for; claims after which to stop */
};

static bool claim(void *user, size_t least, size_t *first, size_t *count)
{
    struct counter *counter = user;
    *count = counter->step ? counter->step : least;
    *first = atomic_fetch_add(&counter->next, *count);
    return atomic_fetch_add(&counter->calls, 1) < counter->stop_at;
}

/* So many at work on one run, each row claimed by one of them. */
static void claim_all(struct check *c, struct set *set, const airy_run_params *params,
                      struct counter *counter, size_t count, airy_run_info *sum)
{
    struct worker *workers = check_alloc(c, count * sizeof(*workers));
    *sum = (airy_run_info){0};
    for (size_t i = 0; i < count; i++) {
        workers[i] = (struct worker){.set = set, .params = *params};
        workers[i].params.parts = count;
        workers[i].params.claim = claim;
        workers[i].params.claim_user = counter;
        if (!CHECK(c, pthread_create(&workers[i].thread, NULL, do_part, &workers[i]) == 0))
            return;
    }
    for (size_t i = 0; i < count; i++) {
        pthread_join(workers[i].thread, NULL);
        CHECK(c, workers[i].status == AIRY_OK || workers[i].info.stopped);
        sum->frames += workers[i].info.frames;
        sum->stopped |= workers[i].info.stopped;
        CHECK(c, workers[i].info.resumed == 0);
    }
}

static void check_claims(struct check *c, size_t count, size_t batch, size_t step, size_t group)
{
    struct set set;
    if (!check_case(c, "run_claimed_by_%zu_b%zu_s%zu_g%zu", count, batch, step, group))
        return;
    if (open_set(c, &set, 1, FRAMES, SOUND)) {
        airy_run_params params = {.batch = batch, .group = group, .force = true};
        airy_run_info info;
        airy_integrator *const *its = set.integrators;
        CHECK_OK(c, airy_integrate_stack(set.want, set.stack, its, 1, &params, NULL));
        params.force = false;
        struct counter some = {.step = step, .stop_at = 3},
                       rest = {.step = step, .stop_at = SIZE_MAX};
        CHECK_OK(c, airy_run_create(set.out, set.stack, its[0], &params, NULL));
        claim_all(c, &set, &params, &some, count, &info);
        CHECK(c, info.stopped && info.frames < FRAMES);
        size_t done = info.frames;
        params.resume = true;
        CHECK_OK(c, airy_run_create(set.out, set.stack, its[0], &params, &info));
        /* Frames of a group that was not finished count for nothing. */
        CHECK(c, group > batch ? info.resumed <= done : info.resumed == done);
        done = info.resumed;
        claim_all(c, &set, &params, &rest, count, &info);
        CHECK(c, !info.stopped && info.frames == FRAMES - done);
        CHECK_OK(c, airy_run_finish(set.out, set.stack, its[0], &params, &info));
        check_run_same(c, set.out, set.want);
        params = (airy_run_params){.claim = claim, .claim_user = &rest};
        CHECK_FAILS(c, airy_integrate_stack(set.out, set.stack, its, 1, &params, NULL),
                    AIRY_ERR_PARAM, "a work queue (claim)");
    }
    close_set(&set);
}

/* A part that did not come: nothing is finished; resumed, only its rows are made, by other parts. */
static void check_missing_part(struct check *c)
{
    struct set set;
    if (!check_case(c, "run_missing_part_resumed"))
        return;
    if (open_set(c, &set, 1, FRAMES, SOUND)) {
        airy_run_params params = {.parts = 3};
        airy_run_info info;
        airy_integrator *const *its = set.integrators;
        CHECK_FAILS(c, airy_run_work(set.out, set.stack, its, 1, &params, &info),
                    AIRY_ERR_NOT_FOUND, "out.h5.partial");
        CHECK_OK(c, airy_run_create(set.out, set.stack, its[0], &params, NULL));
        CHECK_FAILS(c, airy_run_create(set.out, set.stack, its[0], &params, NULL), AIRY_ERR_EXISTS,
                    "interrupted");
        CHECK_OK(c, airy_run_work(set.out, set.stack, its, 1, &params, &info));
        size_t done = info.frames;
        params.part = 2;
        CHECK_OK(c, airy_run_work(set.out, set.stack, its, 1, &params, &info));
        done += info.frames;
        CHECK_FAILS(c, airy_run_finish(set.out, set.stack, its[0], &params, &info),
                    AIRY_ERR_INCOMPLETE, "rows are not written");
        CHECK(c, done < FRAMES && info.frames == done && info.stopped);
        char partial[600];
        snprintf(partial, sizeof(partial), "%s.partial", set.out);
        CHECK(c, access(partial, F_OK) == 0 && access(set.out, F_OK) != 0);
        params = (airy_run_params){.resume = true, .parts = 2};
        CHECK_OK(c, airy_run_create(set.out, set.stack, its[0], &params, &info));
        CHECK(c, info.resumed == done);
        for (params.part = 0; params.part < 2; params.part++) {
            CHECK_OK(c, airy_run_work(set.out, set.stack, its, 1, &params, &info));
            done += info.frames;
        }
        CHECK(c, done == FRAMES);
        params.part = 0;
        CHECK_OK(c, airy_run_finish(set.out, set.stack, its[0], &params, NULL));
        check_run_same(c, set.out, set.want);
    }
    close_set(&set);
}

/* What parts have left is gone on with by a single call. */
static void check_parts_then_alone(struct check *c)
{
    struct set set;
    if (!check_case(c, "run_part_resumed_alone"))
        return;
    if (open_set(c, &set, 1, 33, FLIPPED)) {
        airy_run_params params = {.parts = 2, .skip_bad = true};
        airy_run_info info;
        CHECK_OK(c, airy_run_create(set.out, set.stack, set.integrators[0], &params, NULL));
        params.part = 1;
        CHECK_OK(c, airy_run_work(set.out, set.stack, set.integrators, 1, &params, &info));
        const size_t done = info.frames - info.bad;
        CHECK(c, info.bad == 1);
        params = (airy_run_params){.resume = true, .skip_bad = true};
        CHECK_OK(c, airy_integrate_stack(set.out, set.stack, set.integrators, 1, &params, &info));
        CHECK(c, info.resumed == done && info.frames == FRAMES - done && info.bad == 1);
        check_run_same(c, set.out, set.want);
    }
    close_set(&set);
}

static void check_devices(struct check *c, size_t count)
{
    struct set set;
    if (!check_case(c, "run_on_%zu_devices", count))
        return;
    if (open_set(c, &set, count, FRAMES, SOUND)) {
        const airy_run_params params = {.batch = 3, .slots = 2, .readers = 2, .force = true};
        airy_run_info info;
        for (int repeat = 0; repeat < 4; repeat++) {
            CHECK_OK(c, airy_integrate_stack(set.out, set.stack, set.integrators, count, &params,
                                             &info));
            CHECK(c, info.frames == FRAMES && info.bad == 0);
            check_run_same(c, set.out, set.want);
        }
    }
    close_set(&set);
}

/* The frame that ends a run is the first, and all rows before it are there. */
static void check_devices_bad(struct check *c)
{
    struct set set;
    if (!check_case(c, "run_on_3_devices_bad_frame"))
        return;
    if (open_set(c, &set, 3, 41, FLIPPED)) {
        airy_run_info info;
        airy_run_params params = {.batch = 2, .slots = 2, .skip_bad = true};
        CHECK_OK(c, airy_integrate_stack(set.out, set.stack, set.integrators, 3, &params, &info));
        CHECK(c, info.frames == FRAMES && info.bad == 1);
        CHECK(c, strstr(info.first_error, "frame 41") != NULL);
        check_run_same(c, set.out, set.want);
        params.skip_bad = false;
        params.force = true;
        CHECK_FAILS(c, airy_integrate_stack(set.out, set.stack, set.integrators, 3, &params, &info),
                    AIRY_ERR_CORRUPT, "frame 41");
        CHECK(c, info.frames >= 41 && info.frames < FRAMES);
    }
    close_set(&set);
}

/* The intensity of a run; NULL after a message. */
static const float *run_to_memory(struct check *c, const char *path, airy_integrator *integrator,
                                  const airy_run_params *params, airy_run_info *info,
                                  airy_image *image)
{
    const char *out = check_run_path(c, "run.h5");
    char name[700];
    airy_stack *stack = NULL;
    airy_image_free(image);
    airy_run_params forced = *params;
    forced.force = true;
    snprintf(name, sizeof(name), "%s::/entry/integrate/result/intensity", out);
    const bool good =
        CHECK_OK(c, airy_stack_create(&stack, &path, 1)) &&
        CHECK_OK(c, airy_integrate_stack(out, stack, &integrator, 1, &forced, info)) &&
        CHECK_OK(c, airy_image_read(image, name));
    airy_stack_destroy(&stack);
    return good ? image->data : NULL;
}

/* A spoiled chunk in each place of a batch leaves the patterns beside it as they are. */
static void check_hostile_places(struct check *c)
{
    enum { COUNT = 17, BATCH = 8 };
    static const airy_codec codecs[] = {AIRY_CODEC_BSLZ4, AIRY_CODEC_LZ4};
    static const enum spoil spoils[] = {TRUNCATED, FLIPPED};
    for (size_t k = 0; k < 4; k++) {
        if (!check_case(c, "run_hostile_places_%s_%s", k / 2 ? "lz4" : "bslz4",
                        k % 2 ? "token" : "length"))
            continue;
        const char *path = check_run_path(c, "stack.h5");
        const uint32_t *pixels = check_run_frames(c, COUNT);
        airy_integrator *integrator = check_run_integrator(c, c->device, AIRY_ERROR_MODEL_NONE);
        airy_image sound = {0}, image = {0};
        airy_run_info info;
        const airy_run_params params = {.batch = BATCH, .skip_bad = true};
        check_run_stack_as(c, path, codecs[k / 2], pixels, COUNT, COUNT, SOUND);
        const float *want = run_to_memory(c, path, integrator, &params, &info, &sound);
        CHECK(c, info.bad == 0);
        for (size_t bad = BATCH; want && bad < 2 * BATCH; bad++) {
            const char *spoiled = check_run_path(c, "spoiled.h5");
            check_run_stack_as(c, spoiled, codecs[k / 2], pixels, COUNT, bad, spoils[k % 2]);
            const float *got = run_to_memory(c, spoiled, integrator, &params, &info, &image);
            CHECK(c, info.bad == 1);
            for (size_t i = 0; got && i < COUNT; i++) {
                const size_t at = i * RUN_BINS;
                if (i == bad ? !isnan(got[at])
                             : memcmp(got + at, want + at, RUN_BINS * sizeof(float)) != 0)
                    check_failed(c, __FILE__, __LINE__, "frame %zu beside the bad frame %zu", i,
                                 bad);
            }
        }
        airy_image_free(&sound);
        airy_image_free(&image);
        airy_integrator_destroy(&integrator);
    }
}

/* How a run is cut and by how many threads it is done changes no bit. */
static void check_cuts(struct check *c)
{
    enum { COUNT = 67 };
    if (!check_case(c, "run_any_batch_slots_readers_threads"))
        return;
    const char *path = check_run_path(c, "stack.h5");
    airy_integrator *integrator = check_run_integrator(c, c->device, AIRY_ERROR_MODEL_POISSON);
    airy_image first = {0}, image = {0};
    airy_run_info info;
    const size_t size = (size_t)COUNT * RUN_BINS * sizeof(float);
    check_run_stack(c, path, check_run_frames(c, COUNT), COUNT, COUNT, SOUND);
    const airy_run_params one = {.batch = 1, .slots = 1, .readers = 1};
    const float *want = run_to_memory(c, path, integrator, &one, &info, &first);
    for (size_t batch = 1; want && batch <= COUNT; batch += batch == 33 ? COUNT - 33 : 1) {
        const airy_run_params params = {
            .batch = batch, .slots = 1 + batch % 7, .readers = 1 + batch % 5};
        const float *got = run_to_memory(c, path, integrator, &params, &info, &image);
        if (got && memcmp(got, want, size) != 0)
            check_failed(c, __FILE__, __LINE__, "batches of %zu, %zu slots, %zu readers", batch,
                         params.slots, params.readers);
    }
    for (uint32_t threads = 1; want && threads <= 7; threads += 2) {
        airy_device *device = NULL;
        if (!CHECK_OK(
                c, airy_device_create(&device, c->spec, &(airy_device_params){.threads = threads})))
            break;
        if (!c->is_cpu)
            CHECK_OK(c,
                     airy_tuning_set(device, "pipeline.copies", 1 + threads / 3, AIRY_TUNING_SET));
        airy_integrator *other = check_run_integrator(c, device, AIRY_ERROR_MODEL_POISSON);
        const airy_run_params params = {.batch = 7, .slots = 4};
        const float *got = run_to_memory(c, path, other, &params, &info, &image);
        if (got && memcmp(got, want, size) != 0)
            check_failed(c, __FILE__, __LINE__, "%u threads", threads);
        airy_integrator_destroy(&other);
        airy_device_destroy(&device);
    }
    airy_image_free(&first);
    airy_image_free(&image);
    airy_integrator_destroy(&integrator);
}

enum { LARGE = 1100, LARGE_FRAMES = 5, LARGE_BAD = 3, LARGE_OTHER = 1 };

/*
 * Frames of 4.8 MB that do not compress; one is cut into other blocks, one has a wrong length in its
 * second half.
 */
static void write_large(struct check *c, const char *path, const uint32_t *pixels, bool spoil,
                        airy_codec kind)
{
    const size_t size = (size_t)LARGE * LARGE * sizeof(uint32_t);
    airy_codec_params codec = {.codec = kind, .elem_size = 4, .block_bytes = 8192};
    const airy_stack_writer_params params = {.dtype = AIRY_DTYPE_U32,
                                             .frames = LARGE_FRAMES,
                                             .height = LARGE,
                                             .width = LARGE,
                                             .codec = codec};
    airy_stack_writer *writer = NULL;
    if (!CHECK_OK(c, airy_stack_writer_create(&writer, path, &params)))
        return;
    uint8_t *chunk = check_alloc(c, 2 * size);
    for (size_t i = 0; i < LARGE_FRAMES; i++) {
        codec.block_bytes = i == LARGE_OTHER ? 65536 : 8192;
        size_t used = airy_encode_bound(size, &codec);
        CHECK_OK(c, airy_encode(chunk, &used, (const uint8_t *)pixels + i * size, size, &codec));
        if (spoil && i == LARGE_BAD)
            used -= 1000;
        CHECK_OK(c, airy_stack_writer_add(writer, i, chunk, used));
    }
    CHECK_OK(c, airy_stack_writer_finish(writer));
    airy_stack_writer_destroy(&writer);
}

/* Frames that several readers share give what they give when they are stored as they are. */
static void check_large_frames(struct check *c)
{
    if (!check_case(c, "run_large_frames"))
        return;
    const size_t count = (size_t)LARGE_FRAMES * LARGE * LARGE;
    uint32_t *pixels = check_alloc(c, count * sizeof(uint32_t));
    check_rand(c, pixels, AIRY_DTYPE_U32, count, 0, 4e9);
    const airy_geometry geometry = {
        .detector =
            {.name = "Detector", .height = LARGE, .width = LARGE, .pixel1 = 1e-4, .pixel2 = 1e-4},
        .dist = 0.1,
        .wavelength = 1e-10,
    };
    const char *const names[] = {"chunks.h5", "bad.h5", "plain.h5"};
    airy_image images[3] = {{0}};
    airy_integrator *integrator = NULL;
    CHECK_OK(c, airy_integrator_create(&integrator, c->device, &geometry,
                                       &(airy_integrator_params){.bins = RUN_BINS}));
    for (size_t i = 0; i < 3; i++) {
        const char *path = check_run_path(c, names[i]), *out = check_run_path(c, "out.h5");
        airy_stack *stack = NULL;
        airy_run_info info = {0};
        char result[700];
        write_large(c, path, pixels, i == 1, i == 2 ? AIRY_CODEC_NONE : AIRY_CODEC_BSLZ4);
        const airy_run_params params = {.skip_bad = true, .batch = i + 1, .readers = 5};
        CHECK_OK(c, airy_stack_create(&stack, &path, 1));
        CHECK_OK(c, airy_integrate_stack(out, stack, &integrator, 1, &params, &info));
        CHECK(c, info.bad == (i == 1));
        if (i == 1)
            CHECK(c, strstr(info.first_error, "frame 3") && strstr(info.first_error, "block"));
        snprintf(result, sizeof(result), "%s::/entry/integrate/result/intensity", out);
        CHECK_OK(c, airy_image_read(&images[i], result));
        airy_stack_destroy(&stack);
    }
    /* A device may use fixed-point weights for chunks: each within 1e-6. */
    const struct check_tol stored = {.rel = c->is_cpu ? 0 : 2e-6};
    for (size_t i = 0; images[0].data && images[1].data && images[2].data && i < LARGE_FRAMES;
         i++) {
        const size_t at = i * RUN_BINS;
        const float *got = (const float *)images[0].data + at;
        check_values(c, "stored", AIRY_DTYPE_F32, (const float *)images[2].data + at, got, RUN_BINS,
                     &stored);
        if (i == LARGE_BAD)
            CHECK(c, isnan(((const float *)images[1].data)[at]));
        else
            check_values(c, "beside a bad one", AIRY_DTYPE_F32, (const float *)images[1].data + at,
                         got, RUN_BINS, &(struct check_tol){0});
    }
    for (size_t i = 0; i < 3; i++)
        airy_image_free(&images[i]);
    airy_integrator_destroy(&integrator);
}

static void check_refusals_of_runs(struct check *c)
{
    struct set set;
    if (!check_case(c, "run_errors"))
        return;
    if (open_set(c, &set, 2, FRAMES, SOUND)) {
        airy_integrator *const *its = set.integrators;
        airy_integrator *const gap[2] = {its[0], NULL};
        airy_run_info info;
        CHECK_FAILS(c, airy_integrate_stack(NULL, set.stack, gap, 2, NULL, &info), AIRY_ERR_PARAM,
                    "integrators[1] is NULL");
        CHECK_FAILS(c, airy_integrate_stack(NULL, set.stack, its, 0, NULL, &info), AIRY_ERR_PARAM,
                    "NULL");
        CHECK_FAILS(
            c,
            airy_integrate_stack(set.out, set.stack, its, 1, &(airy_run_params){.parts = 2}, &info),
            AIRY_ERR_PARAM, "parts = 2");
        CHECK_FAILS(c,
                    airy_run_work(set.out, set.stack, its, 1,
                                  &(airy_run_params){.parts = 2, .part = 2}, &info),
                    AIRY_ERR_PARAM, "part = 2");
        CHECK_FAILS(
            c, airy_run_work(set.out, set.stack, its, 1, &(airy_run_params){.parts = 65537}, &info),
            AIRY_ERR_PARAM, "parts = 65537");
        CHECK_FAILS(c, airy_run_finish(set.out, set.stack, its[0], NULL, &info), AIRY_ERR_NOT_FOUND,
                    "out.h5.partial");
        airy_integrator *plain = check_run_integrator(c, c->device, AIRY_ERROR_MODEL_NONE);
        airy_integrator *const mixed[2] = {its[0], plain};
        CHECK_FAILS(c, airy_integrate_stack(NULL, set.stack, mixed, 2, NULL, &info), AIRY_ERR_PARAM,
                    "integrators[1] makes other patterns");
        check_not_alike(c, set.stack);
        CHECK_OK(c, airy_run_create(set.out, set.stack, its[0], NULL, NULL));
        CHECK_FAILS(c, airy_run_work(set.out, set.stack, &plain, 1, NULL, &info), AIRY_ERR_FORMAT,
                    "cannot resume");
        airy_integrator_destroy(&plain);
    }
    close_set(&set);
}

static void check_parameters_differ(struct check *c)
{
    struct set set;
    if (!check_case(c, "run_parameters_differ"))
        return;
    if (open_set(c, &set, 1, FRAMES, SOUND))
        check_mixes(c, set.stack);
    close_set(&set);
}

void check_pipeline_parts(struct check *c)
{
    check_parameters_differ(c);
    check_claims(c, 1, 4, 0, 1);
    check_claims(c, 3, 4, 3, 1);
    check_claims(c, 2, 6, 0, 3);
    check_claims(c, 2, 4, 1, 7);
    check_parts(c, 1, false);
    check_parts(c, 3, false);
    check_parts(c, 3, true);
    check_parts(c, 16, true);
    check_parts(c, 100, false);
    check_missing_part(c);
    check_parts_then_alone(c);
    check_devices(c, 2);
    check_devices(c, MOST);
    check_devices_bad(c);
    check_hostile_places(c);
    check_cuts(c);
    check_large_frames(c);
    check_refusals_of_runs(c);
}
