#include "airy/sources.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/backend.h"
#include "sources/sources_parts.h"

/* Pixels of an island that one thread takes alone, among others; larger ones come one by one. */
enum { LARGE = 1 << 17 };

struct job {
    airy_device *device;
    const struct airy_source_plan *plan;
    const struct airy_source_planes *planes;
    struct airy_islands islands;
    struct airy_source_list *list; /* [workers] */
    struct airy_deblend_scratch *scratch;
    unsigned workers;
    uint32_t *worker, *at, *objects; /* [islands]: which list has their objects, from where on */
    uint32_t *label;                 /* of all objects, island by island; 0: removed */
    uint32_t large;                  /* islands that come one by one */
    struct airy_source_object *object;
    size_t count;
    atomic_int status;
    airy_error error;
    atomic_bool told;
    airy_source *sources;
};

static airy_status check_map(const airy_queue *queue, const airy_array *map, const char *name,
                             const airy_array *image)
{
    char text[96], other[96];
    if (!map)
        return AIRY_OK;
    AIRY_TRY(airy_check_device(queue, map, name));
    AIRY_FAIL_ON_IF(map->ndim != 2 || memcmp(map->shape, image->shape, 2 * sizeof(size_t)) != 0,
                    AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER,
                    "%s is %s, expected the shape of image, %s", name,
                    airy_array_describe(map, text), airy_array_describe(image, other));
    return AIRY_OK;
}

static airy_status check_float(const airy_array *map, const char *name)
{
    char text[96];
    AIRY_FAIL_ON_IF(map && map->dtype != AIRY_DTYPE_F32 && map->dtype != AIRY_DTYPE_F64,
                    AIRY_ERR_DTYPE, AIRY_SUBJECT_PARAMETER, "%s is %s, expected float32 or float64",
                    name, airy_array_describe(map, text));
    return AIRY_OK;
}

static airy_status check_arrays(const airy_queue *queue, const airy_array *segmentation,
                                const airy_array *image, const airy_sources_params *p)
{
    char text[96];
    AIRY_FAIL_ON_IF(!queue || !image || !p, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is NULL",
                    !queue  ? "queue"
                    : image ? "params"
                            : "image");
    AIRY_TRY(airy_check_device(queue, image, "image"));
    AIRY_FAIL_IF(image->ndim != 2, AIRY_ERR_SHAPE, "image is %s, expected 2 dimensions",
                 airy_array_describe(image, text));
    AIRY_FAIL_IF(airy_array_count(image) > INT32_MAX, AIRY_ERR_SHAPE,
                 "image is %s, expected fewer than 2^31 pixels", airy_array_describe(image, text));
    AIRY_TRY(check_map(queue, p->noise_map, "noise_map", image));
    AIRY_TRY(check_float(p->noise_map, "noise_map"));
    AIRY_TRY(check_map(queue, p->background, "background", image));
    AIRY_TRY(check_float(p->background, "background"));
    AIRY_TRY(check_map(queue, p->mask, "mask", image));
    AIRY_FAIL_IF(p->mask && p->mask->dtype != AIRY_DTYPE_U8, AIRY_ERR_DTYPE,
                 "mask is %s, expected uint8", airy_array_describe(p->mask, text));
    AIRY_TRY(check_map(queue, segmentation, "segmentation", image));
    AIRY_FAIL_IF(segmentation && segmentation->dtype != AIRY_DTYPE_U32, AIRY_ERR_DTYPE,
                 "segmentation is %s, expected uint32", airy_array_describe(segmentation, text));
    const airy_array *inputs[] = {image, p->noise_map, p->background, p->mask};
    for (size_t i = 0; segmentation && i < sizeof(inputs) / sizeof(inputs[0]); i++)
        AIRY_FAIL_IF(inputs[i] && airy_array_overlaps(segmentation, inputs[i]), AIRY_ERR_PARAM,
                     "segmentation shares memory with an input");
    return AIRY_OK;
}

/* Neither negative nor infinite nor NaN; 0 takes the default. */
static airy_status set_default(double *value, const char *name, double number)
{
    AIRY_FAIL_ON_IF(!(*value >= 0) || isinf(*value), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %g, expected a number of at least 0", name, *value);
    if (*value == 0)
        *value = number;
    return AIRY_OK;
}

static airy_status plan_threshold(struct airy_source_plan *plan)
{
    airy_sources_params *p = &plan->p;
    AIRY_TRY(set_default(&p->sigma, "sigma", 5));
    AIRY_TRY(set_default(&p->noise, "noise", 0));
    AIRY_TRY(set_default(&p->gain, "gain", 0));
    plan->has_noise = p->noise_map || p->noise > 0;
    AIRY_FAIL_ON_IF(p->noise_map && p->noise > 0, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %g beside noise_map, expected one of them", "noise", p->noise);
    AIRY_FAIL_IF(!plan->has_noise && !p->has_threshold, AIRY_ERR_PARAM,
                 "no noise, noise_map or threshold, expected one of them");
    AIRY_FAIL_ON_IF(p->has_threshold && !isfinite(p->threshold), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %g, expected a number", "threshold",
                    p->threshold);
    AIRY_FAIL_IF(p->matched && (!p->kernel || !plan->has_noise || p->has_threshold), AIRY_ERR_PARAM,
                 "matched with%s, expected a kernel, noise and sigma",
                 !p->kernel        ? "out a kernel"
                 : plan->has_noise ? " a threshold"
                                   : "out noise");
    plan->varies = p->noise_map && !p->has_threshold;
    plan->threshold = p->has_threshold ? (float)p->threshold : (float)p->sigma * (float)p->noise;
    return AIRY_OK;
}

/* The kernel, over the sum of its absolute values unless it is taken as it is. */
static airy_status plan_kernel(struct airy_source_plan *plan)
{
    const airy_sources_params *p = &plan->p;
    double sum = 0;
    void *block;
    if (!p->kernel)
        return AIRY_OK;
    for (int i = 0; i < 2; i++)
        AIRY_FAIL_ON_IF(p->kernel_shape[i] % 2 == 0 || p->kernel_shape[i] > AIRY_SOURCES_KERNEL_MAX,
                        AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER,
                        "%s[%d] = %zu, expected an odd number of at most %d", "kernel_shape", i,
                        p->kernel_shape[i], AIRY_SOURCES_KERNEL_MAX);
    const size_t n = p->kernel_shape[0] * p->kernel_shape[1];
    for (size_t i = 0; i < n; i++)
        sum += fabs(p->kernel[i]);
    AIRY_FAIL_IF(!(sum > 0) || isinf(sum), AIRY_ERR_PARAM,
                 "kernel: the sum of absolute values is %g, expected a number above 0", sum);
    AIRY_TRY(airy_memory_calloc(&block, n, sizeof(double), "a kernel"));
    plan->kernel = block;
    for (size_t i = 0; i < n; i++)
        plan->kernel[i] = p->kernel_as_is ? p->kernel[i] : p->kernel[i] / sum;
    return AIRY_OK;
}

static airy_status plan_measures(airy_sources_params *p)
{
    AIRY_TRY(set_default(&p->clean_power, "clean_power", 1));
    AIRY_TRY(set_default(&p->kron_factor, "kron_factor", 2.5));
    if (!p->has_kron_minimum)
        p->kron_minimum = 3.5;
    AIRY_TRY(set_default(&p->kron_minimum, "kron_minimum", 0));
    AIRY_FAIL_ON_IF(p->aperture_count < 0 || p->aperture_count > AIRY_SOURCE_APERTURES,
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s = %d, expected 0 to %d",
                    "aperture_count", p->aperture_count, AIRY_SOURCE_APERTURES);
    AIRY_FAIL_IF(p->aperture_count > 0 && !p->apertures, AIRY_ERR_PARAM, "apertures is NULL");
    for (int i = 0; i < p->aperture_count; i++)
        AIRY_FAIL_ON_IF(!(p->apertures[i] > 0) || isinf(p->apertures[i]), AIRY_ERR_PARAM,
                        AIRY_SUBJECT_PARAMETER, "%s[%d] = %g, expected a number above 0",
                        "apertures", i, p->apertures[i]);
    return AIRY_OK;
}

static airy_status make_plan(struct airy_source_plan *plan, const airy_array *image,
                             const airy_sources_params *params)
{
    *plan = (struct airy_source_plan){
        .p = *params, .height = image->shape[0], .width = image->shape[1]};
    airy_sources_params *p = &plan->p;
    AIRY_TRY(plan_threshold(plan));
    if (p->connectivity == 0)
        p->connectivity = 8;
    AIRY_FAIL_ON_IF(p->connectivity != 4 && p->connectivity != 8, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d, expected 4 or 8", "connectivity",
                    p->connectivity);
    if (p->min_area == 0)
        p->min_area = 5;
    if (p->deblend_levels == 0)
        p->deblend_levels = 32;
    AIRY_FAIL_ON_IF(p->deblend_levels < 1 || p->deblend_levels > AIRY_SOURCE_LEVELS, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %d, expected 1 to %d", "deblend_levels",
                    p->deblend_levels, AIRY_SOURCE_LEVELS);
    if (!p->has_contrast)
        p->deblend_contrast = 0.005;
    AIRY_FAIL_ON_IF(!(p->deblend_contrast >= 0 && p->deblend_contrast <= 1), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s = %g, expected 0 to 1", "deblend_contrast",
                    p->deblend_contrast);
    AIRY_TRY(plan_measures(p));
    return plan_kernel(plan);
}

/* The first failure of a loop, with its sentence, which is its thread's. */
static void keep_failure(struct job *job, airy_status status)
{
    if (status == AIRY_OK || atomic_exchange(&job->told, true))
        return;
    (void)airy_error_first(&job->error, status);
    atomic_store(&job->status, (int)status);
}

static airy_status loop_status(struct job *job)
{
    const airy_status status = (airy_status)atomic_load(&job->status);
    return status == AIRY_OK ? AIRY_OK : airy_error_restore(&job->error);
}

static void split_one(struct job *job, uint32_t island, unsigned worker, airy_pool *pool)
{
    struct airy_source_list *list = &job->list[worker];
    if (atomic_load_explicit(&job->told, memory_order_relaxed))
        return;
    job->worker[island] = worker;
    job->at[island] = (uint32_t)list->count;
    keep_failure(job, airy_island_split(list, &job->scratch[worker], job->plan, job->planes,
                                        &job->islands, island, pool));
    job->objects[island] = (uint32_t)list->count - job->at[island];
}

static void split_index(void *arg, size_t index, unsigned worker)
{
    struct job *job = arg;
    split_one(job, job->islands.by_size[job->large + index], worker, NULL);
}

static airy_status alloc_array(uint32_t **array, size_t count)
{
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, count, sizeof(uint32_t), "islands"));
    *array = block;
    return AIRY_OK;
}

/* Memory of the workers for islands of up to `room` pixels. */
static airy_status make_scratch(struct job *job, unsigned workers, size_t room)
{
    for (unsigned i = 0; i < workers; i++) {
        airy_deblend_scratch_free(&job->scratch[i]);
        AIRY_TRY(airy_deblend_scratch_make(&job->scratch[i], room));
    }
    return AIRY_OK;
}

static airy_status split_islands(struct job *job)
{
    const struct airy_islands *islands = &job->islands;
    void *block;
    job->workers = airy_pool_size(job->device->pool);
    AIRY_TRY(airy_memory_calloc(&block, job->workers, sizeof(*job->list), "sources"));
    job->list = block;
    AIRY_TRY(airy_memory_calloc(&block, job->workers, sizeof(*job->scratch), "deblending"));
    job->scratch = block;
    AIRY_TRY(alloc_array(&job->worker, islands->count));
    AIRY_TRY(alloc_array(&job->at, islands->count));
    AIRY_TRY(alloc_array(&job->objects, islands->count));
    while (job->large < islands->count && islands->pixels[islands->by_size[job->large]] > LARGE) {
        const uint32_t island = islands->by_size[job->large++];
        AIRY_TRY(make_scratch(job, 1, islands->pixels[island]));
        split_one(job, island, 0, job->device->pool);
        AIRY_TRY(loop_status(job));
    }
    if (job->large == islands->count)
        return AIRY_OK;
    AIRY_TRY(make_scratch(job, job->workers, islands->pixels[islands->by_size[job->large]]));
    airy_profile_loop(job->device, "sources_split", 0, islands->count - job->large, split_index,
                      job);
    return loop_status(job);
}

/* One list, island by island, so that it does not matter which thread had which. */
static airy_status collect(struct job *job)
{
    void *block;
    for (size_t i = 0; i < job->islands.count; i++)
        job->count += job->objects[i];
    AIRY_TRY(airy_memory_calloc(&block, job->count, sizeof(*job->object), "sources"));
    job->object = block;
    size_t n = 0;
    for (size_t i = 0; i < job->islands.count; i++) {
        const struct airy_source_list *list = &job->list[job->worker[i]];
        memcpy(job->object + n, list->object + job->at[i], job->objects[i] * sizeof(*job->object));
        job->at[i] = (uint32_t)n;
        n += job->objects[i];
    }
    for (unsigned i = 0; i < job->workers; i++) {
        free(job->list[i].object);
        job->list[i] = (struct airy_source_list){.count = 0};
    }
    return AIRY_OK;
}

struct key {
    uint32_t y, x, object;
};

static int compare_keys(const void *left, const void *right)
{
    const struct key *a = left, *b = right;
    if (a->y != b->y)
        return a->y < b->y ? -1 : 1;
    return a->x < b->x ? -1 : a->x > b->x;
}

/* Sources in the raster order of their first pixels, and the labels of all objects. */
static airy_status number(struct job *job)
{
    void *block;
    AIRY_TRY(alloc_array(&job->label, job->count));
    AIRY_TRY(airy_memory_calloc(&block, job->count, sizeof(struct key), "sources"));
    struct key *key = block;
    size_t n = 0;
    for (size_t i = 0; i < job->count; i++)
        if (!job->object[i].removed)
            key[n++] = (struct key){job->object[i].first_y, job->object[i].first_x, (uint32_t)i};
    qsort(key, n, sizeof(*key), compare_keys);
    const airy_status status = airy_memory_calloc(&block, n, sizeof(airy_source), "sources");
    if (status == AIRY_OK) {
        job->sources = block;
        for (size_t i = 0; i < n; i++) {
            job->label[key[i].object] = (uint32_t)i + 1;
            job->sources[i] = job->object[key[i].object].s;
            job->sources[i].label = (uint32_t)i + 1;
        }
        job->count = n;
    }
    free(key);
    return status;
}

/* The label plane has numbers of objects in their islands. */
static void relabel(void *arg, size_t island, unsigned worker)
{
    (void)worker;
    const struct job *job = arg;
    const uint32_t *label = job->label + job->at[island];
    for (uint32_t r = job->islands.first[island]; r < job->islands.first[island + 1]; r++) {
        const struct airy_source_run run = job->islands.run[r];
        uint32_t *row = job->planes->label + run.row * job->planes->width;
        for (uint32_t x = run.begin; x < run.end; x++)
            row[x] = label[row[x] - 1];
    }
}

static void measure(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    const struct job *job = arg;
    airy_source_apertures(&job->sources[index], job->plan, job->planes);
}

struct turn {
    uint32_t row, end, object;
};

static int compare_turns(const void *left, const void *right)
{
    const struct turn *a = left, *b = right;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return a->object < b->object ? -1 : a->object > b->object;
}

/* Objects in SEP's order: as a scan sees islands end, on their last row. */
static airy_status clean_in_turn(struct job *job)
{
    void *block = NULL;
    uint32_t *order = NULL;
    AIRY_TRY(airy_memory_calloc(&block, job->count, sizeof(struct turn), "sources"));
    struct turn *turn = block;
    airy_status status = alloc_array(&order, job->count);
    for (size_t i = 0; i < job->count && status == AIRY_OK; i++) {
        const struct airy_source_run last =
            job->islands.run[job->islands.first[job->object[i].island + 1] - 1];
        turn[i] = (struct turn){last.row, last.end, (uint32_t)i};
    }
    if (status == AIRY_OK) {
        qsort(turn, job->count, sizeof(*turn), compare_turns);
        for (size_t i = 0; i < job->count; i++)
            order[i] = turn[i].object;
        status = airy_sources_clean(job->object, job->count, job->plan->p.clean_power, order);
    }
    free(turn);
    free(order);
    return status;
}

static airy_status clean(struct job *job)
{
    if (!job->plan->p.clean)
        return AIRY_OK;
    return job->plan->p.compat_sep
               ? clean_in_turn(job)
               : airy_sources_clean(job->object, job->count, job->plan->p.clean_power, NULL);
}

static airy_status find(struct job *job, size_t islands)
{
    AIRY_TRY(airy_islands_make(&job->islands, job->device, job->planes, islands));
    AIRY_TRY(split_islands(job));
    AIRY_TRY(collect(job));
    AIRY_TRY(clean(job));
    AIRY_TRY(number(job));
    airy_profile_loop(job->device, "sources_relabel", 0, islands, relabel, job);
    airy_profile_loop(job->device, "sources_measure", 0, job->count, measure, job);
    return AIRY_OK;
}

static void free_job(struct job *job)
{
    for (unsigned i = 0; i < job->workers; i++) {
        if (job->list)
            free(job->list[i].object);
        if (job->scratch)
            airy_deblend_scratch_free(&job->scratch[i]);
    }
    free(job->list);
    free(job->scratch);
    free(job->worker);
    free(job->at);
    free(job->objects);
    free(job->label);
    free(job->object);
    airy_islands_free(&job->islands);
}

static airy_status run(airy_queue *queue, struct job *job, airy_array *segmentation,
                       const airy_array *image)
{
    struct airy_detection detection;
    AIRY_TRY(airy_detect(queue, &detection, image, job->plan));
    job->planes = &detection.planes;
    airy_status status = find(job, detection.islands);
    if (status == AIRY_OK && segmentation)
        status = airy_array_push(queue, segmentation, detection.planes.label,
                                 job->plan->width * job->plan->height * sizeof(uint32_t));
    airy_detection_free(&detection);
    return status;
}

airy_status airy_sources_find(airy_queue *queue, airy_source **sources, size_t *count,
                              airy_array *segmentation, const airy_array *image,
                              const airy_sources_params *params)
{
    struct airy_source_plan plan;
    AIRY_FAIL_ON_IF(!sources || !count, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s is NULL",
                    sources ? "count" : "sources");
    AIRY_TRY(check_arrays(queue, segmentation, image, params));
    AIRY_TRY(make_plan(&plan, image, params));
    struct job job = {.device = queue->device, .plan = &plan};
    const airy_status status = run(queue, &job, segmentation, image);
    if (status == AIRY_OK) {
        *sources = job.sources;
        *count = job.count;
    } else {
        free(job.sources);
    }
    free_job(&job);
    free(plan.kernel);
    return status;
}

void airy_sources_free(airy_source *sources)
{
    free(sources);
}
