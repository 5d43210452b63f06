/*
 * OCT lines (kernels/oct.cl). Lengths that are powers of two from 32 on are transformed as they are;
 * others by a convolution with a chirp (L. Bluestein, IEEE Trans. Audio Electroacoust. 18 (1970) 451) on
 * a power of two, in the same kernel: two transforms in local memory cost less than the writing and
 * reading of spectra that a transform of its own would need.
 */
#include "opencl/cl_oct.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/backend.h"
#include "opencl/cl_launch.h"
#include "opencl/cl_move.h"

/*
 * LOCAL_REST: what a driver may add to the local memory of a work-group. LOCAL_MOST: more leaves room
 * for a single group on most devices. GROUP: items of a group, where a set of lines has fewer. FAR:
 * groups a compute unit whose elements meet in global memory. LAUNCH_LINES: numbered with 32 bits.
 */
enum {
    LOCAL_REST = 128,
    LOCAL_MOST = 48 << 10,
    LEAST = 32,
    GROUP = 128,
    REQUIRED_GROUP = 256,
    FAR = 2,
    LAUNCH_LINES = 1 << 30,
    MAGIC = 0x4b000000, /* 2^23 as a float */
    NO_BOUND = 255,     /* of AIRY_TUNE_OCT_REGISTERS */
    WIDE = 32,          /* elements of an item, which need more registers */
    WIDE_LEAST = 128,   /* an H200, 4,096 samples: 96 registers 145 M lines/s, 128 to 192 156 */
    OPTIONS = 768
};

/* ---- how lines are transformed ---- */

static const struct {
    unsigned elements, each, radix[3];
} shapes[] = {
    {32, 16, {16, 1, 2}},      {64, 16, {16, 1, 4}},    {128, 16, {16, 1, 8}},
    {256, 32, {32, 1, 8}},     {512, 32, {32, 1, 16}},  {1024, 16, {16, 8, 8}},
    {2048, 16, {16, 16, 8}},   {4096, 32, {32, 16, 8}}, {8192, 32, {32, 16, 16}},
    {16384, 32, {32, 32, 16}},
};

/* Local memory of a set of lines: samples, then what items exchange. */
static size_t room_of(const struct airy_cl_oct *impl, size_t samples, unsigned transforms)
{
    const size_t lines = transforms * (impl->pairs ? 2 : 1), halves = 4 * ((lines + 1) / 2),
                 floats = 4 * lines, loaded = impl->bits == 32 ? floats : halves,
                 places = impl->elements + impl->each + impl->elements / impl->each + 1;
    size_t size = impl->form == AIRY_OCT_FORM_IN_PLACE ? 16 : loaded * samples;
    if (impl->rolling)
        size = airy_max_size(loaded * places + 4 * lines * (impl->elements / impl->each),
                             floats * places);
    if (!impl->global_room)
        size = airy_max_size(size, (size_t)(impl->split ? 4 : 8) * transforms * impl->room_step);
    return (size + 15) / 16 * 16;
}

static size_t local_limit(const airy_queue *queue)
{
    const uint64_t most = queue->device->info.local_mem < LOCAL_MOST ? queue->device->info.local_mem
                                                                     : LOCAL_MOST;
    return most > LOCAL_REST ? (size_t)most - LOCAL_REST : 0;
}

/* The transform of the least power of two that does; pairs need bins on both sides of 0. */
static void set_shape(struct airy_cl_oct *impl, const airy_oct_params *p)
{
    const size_t n = p->samples, end = p->depth_last;
    impl->chirp = n < LEAST || (n & (n - 1)) != 0;
    const size_t needed = !impl->chirp ? n : impl->pairs ? n + 2 * end - 2 : n + end - 1;
    unsigned i = 0;
    while (shapes[i].elements < needed)
        i++;
    impl->elements = shapes[i].elements;
    impl->each = shapes[i].each;
    for (int k = 0; k < 3; k++)
        impl->radix[k] = shapes[i].radix[k];
    impl->room_step = impl->elements + (impl->each == 32 ? 32 : 16);
}

/*
 * Two lines a transform where the samples of both have room, and exchange in local memory, if need be
 * of half of the numbers at a time.
 */
static bool find_shape(struct airy_cl_oct *impl, const airy_queue *queue,
                       const struct airy_oct *oct)
{
    static const struct {
        bool pairs, split, far;
    } ways[] = {{true, false, false}, {true, true, false}, {false, false, false},
                {false, true, false}, {true, false, true}, {false, false, true}};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (ways[i].pairs && oct->tables.phasor)
            continue;
        impl->pairs = ways[i].pairs;
        impl->split = ways[i].split;
        impl->global_room = ways[i].far;
        set_shape(impl, &oct->p);
        if (room_of(impl, oct->p.samples, 1) <= local_limit(queue))
            return impl->elements / impl->each <= queue->device->info.max_group;
    }
    return false;
}

static airy_status choose_shape(struct airy_cl_oct *impl, const airy_queue *queue,
                                const struct airy_oct *oct)
{
    const airy_device_info *info = &queue->device->info;
    AIRY_FAIL_HINT_IF(!find_shape(impl, queue, oct), AIRY_ERR_UNSUPPORTED, AIRY_HINT_CPU,
                      AIRY_SUBJECT_NONE,
                      "lines of %zu samples need work-groups of %u items and %zu bytes of local "
                      "memory, '%s' has %u and %llu",
                      oct->p.samples, impl->elements / impl->each, room_of(impl, oct->p.samples, 1),
                      info->spec, info->max_group, (unsigned long long)info->local_mem);
    impl->phasor = impl->chirp || oct->tables.phasor;
    return AIRY_OK;
}

/* What of the options holds for all launches of a plan. */
static void print_plan(struct airy_cl_oct *impl, const struct airy_oct *oct)
{
    const size_t n = oct->p.samples;
    const bool all = oct->p.depth_first == 0 && oct->p.depth_last == n / 2 && !impl->chirp;
    snprintf(impl->options, sizeof(impl->options),
             "-DN=%zu -DM=%u -DEACH=%u -DR1=%u -DR2=%u -DR3=%u -DPAIRS=%d -DFORM=%u -DTAPS=%zu "
             "-DOFFSET=%u -DROLLING=%d -DPHASOR=%d -DCHIRP=%d -DCONJUGATE=%d -DALL=%d -DSPLIT=%d "
             "-DGLOBAL_ROOM=%d -DROOM_STEP=%u -DBITS=%u -DBIG=%d -DSIGNED=%d -DSHIFT=%d",
             n, impl->elements, impl->each, impl->radix[0], impl->radix[1], impl->radix[2],
             (int)impl->pairs, impl->form, oct->tables.taps, impl->offset, (int)impl->rolling,
             (int)impl->phasor, (int)impl->chirp, (int)oct->conjugate, (int)all, (int)impl->split,
             (int)impl->global_room, impl->room_step, impl->bits,
             oct->p.big_endian && impl->bits != 8, (int)impl->is_signed, oct->p.bit_shift);
}

static void release(struct airy_oct *oct)
{
    struct airy_cl_oct *impl = oct->impl;
    airy_array_destroy(&impl->table);
    airy_array_destroy(&impl->mean);
    airy_array_destroy(&impl->positions);
    free(impl);
    oct->impl = NULL;
}

static airy_status prepare(airy_queue *queue, struct airy_oct *oct)
{
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, 1, sizeof(struct airy_cl_oct), "an OCT plan"));
    struct airy_cl_oct *impl = oct->impl = block;
    impl->bits = airy_oct_sample_bits(&oct->p);
    impl->is_signed = oct->p.dtype == AIRY_DTYPE_I16;
    impl->rolling = oct->p.background == AIRY_OCT_BACKGROUND_ROLLING;
    impl->offset = oct->tables.offset ? 1 : oct->p.background == AIRY_OCT_BACKGROUND_MEAN ? 2 : 0;
    impl->form = AIRY_OCT_FORM_TAPS;
    AIRY_TRY(choose_shape(impl, queue, oct));
    AIRY_TRY(airy_cl_oct_tables(queue, impl, oct));
    print_plan(impl, oct);
    oct->info.method = impl->chirp   ? "convolution with a chirp"
                       : impl->pairs ? "powers of two, two lines at a time"
                                     : "powers of two";
    return AIRY_OK;
}

/* ---- samples ---- */

/* ---- launches ---- */

struct job {
    airy_queue *queue;
    const struct airy_oct_lines_plan *plan;
    const struct airy_cl_oct *impl;
    airy_oct_lines_geom geom;
    unsigned transforms, sides; /* of a set, sets of a group */
    size_t lines;               /* of this launch */
};

/* Result = gain quantity + bias; the logarithm is to base 2, of |F|^2 + least. */
static void set_finish(airy_oct_lines_geom *g, const struct airy_oct_lines_plan *plan)
{
    const airy_oct_finish *f = &plan->oct->finish;
    const bool display = plan->display && f->display;
    double scale = display ? f->scale : 1, bias = display ? f->offset : 0;
    g->least = AIRY_OCT_LEAST_POWER / f->power_scale;
    if (plan->quantity == AIRY_OCT_DB) {
        bias += scale * 10 * log10((double)f->power_scale);
        scale *= 10 * log10(2);
    } else if (plan->quantity == AIRY_OCT_POWER) {
        scale *= f->power_scale;
    } else if (plan->quantity == AIRY_OCT_MAGNITUDE) {
        scale *= f->magnitude_scale;
    }
    g->gain = (float)scale;
    g->bias = (float)bias;
    g->top = f->top;
}

/*
 * Two transforms share a table's entries if that leaves two sets of lines for each compute unit, and
 * sets share a group if that leaves a group for each.
 */
static void choose_sets(struct job *job, size_t block_lines, size_t blocks)
{
    const struct airy_cl_oct *impl = job->impl;
    const airy_device_info *info = &job->queue->device->info;
    const size_t n = job->plan->oct->p.samples, units = airy_max_size(info->units, 1),
                 limit = local_limit(job->queue);
    const unsigned items = impl->elements / impl->each, lines = impl->pairs ? 2 : 1;
    const bool two = impl->each == 16 && !impl->chirp && !impl->split && !impl->global_room &&
                     airy_tuned(job->queue->device, AIRY_TUNE_OCT_TRANSFORMS) > 1 &&
                     room_of(impl, n, 2) <= limit && block_lines * blocks >= 2 * units * 2 * lines;
    job->transforms = two ? 2 : 1;
    const size_t each = lines * job->transforms, tiles = (block_lines + each - 1) / each,
                 room = room_of(impl, n, job->transforms);
    job->geom.tiles = (uint32_t)tiles;
    job->geom.sets = (uint32_t)(tiles * blocks);
    job->sides = 1;
    while (!impl->global_room && 2 * job->sides * items <= GROUP &&
           2 * job->sides * items <= info->max_group && 2 * job->sides * room <= limit &&
           tiles * blocks >= 2 * job->sides * units)
        job->sides *= 2;
}

static void print_options(char text[OPTIONS], const struct job *job)
{
    const struct airy_cl_oct *impl = job->impl;
    const struct airy_oct *oct = job->plan->oct;
    const airy_device *device = job->queue->device;
    const airy_dtype to = job->plan->dst->dtype;
    const unsigned lines = job->transforms * (impl->pairs ? 2 : 1),
                   at_once = airy_cl_oct_at_once(impl, oct, job->plan->src, lines > 2 ? 2 : 4),
                   group = job->sides * (impl->elements / impl->each),
                   tuned = airy_tuned(device, AIRY_TUNE_OCT_REGISTERS),
                   registers = impl->each >= WIDE && tuned < WIDE_LEAST ? WIDE_LEAST : tuned;
    char bound[AIRY_CL_BOUND];
    airy_cl_bound(bound, device, group <= REQUIRED_GROUP && registers < NO_BOUND ? registers : 0);
    snprintf(text, OPTIONS,
             "%s -DTRANSFORMS=%u -DSIDE=%u -DROOM=%zu -DAT_ONCE=%u -DPATTERN=%d -DQUANTITY=%d "
             "-DOUT=%s -DINTEGER=%d -DPOST=%d -DFLIP=%d %s",
             impl->options, job->transforms, job->sides,
             room_of(impl, oct->p.samples, job->transforms), at_once, oct->pattern != NULL,
             (int)job->plan->quantity, airy_cl_types[to].name, to != AIRY_DTYPE_F32,
             job->plan->display && oct->finish.display && oct->post, job->geom.flip != 0, bound);
}

static uint32_t flip_bits(airy_oct_flip flip, uint64_t first)
{
    const uint32_t even = flip == AIRY_OCT_FLIP_EVEN || flip == AIRY_OCT_FLIP_ALL,
                   odd = flip == AIRY_OCT_FLIP_ODD || flip == AIRY_OCT_FLIP_ALL;
    return first % 2 == 0 ? even | odd << 1 : odd | even << 1;
}

/* Frames from `first` on. */
static airy_status launch(struct job *job, size_t first, size_t frames)
{
    const struct airy_oct_lines_plan *plan = job->plan;
    const struct airy_cl_oct *impl = job->impl;
    const struct airy_oct *oct = plan->oct;
    airy_oct_lines_geom *g = &job->geom;
    const size_t lines = oct->p.lines, depth = oct->info.depth,
                 parts = plan->quantity == AIRY_OCT_COMPLEX ? 2 : 1,
                 blocks = plan->mean ? frames : 1,
                 block_lines = plan->mean ? lines : frames * lines;
    char options[OPTIONS];
    g->src_offset = plan->src->offset + first * oct->info.frame_bytes;
    g->dst_offset = airy_cl_offset(plan->dst) + first * lines * depth * parts;
    g->mean_offset = plan->mean ? airy_cl_offset(plan->mean) + first * oct->p.samples : 0;
    g->block_lines = (uint32_t)block_lines;
    g->flip = flip_bits(plan->flip, plan->first_frame + first);
    choose_sets(job, block_lines, blocks);
    print_options(options, job);
    const size_t items = job->sides * (impl->elements / impl->each),
                 all = (g->sets + job->sides - 1) / job->sides,
                 groups = impl->global_room
                              ? airy_min_size(
                                    all, FAR * airy_max_size(job->queue->device->info.units, 1))
                              : all,
                 global = groups * items;
    airy_buffer *scratch = NULL;
    if (impl->global_room)
        AIRY_TRY(airy_queue_scratch(job->queue, AIRY_SCRATCH_BLOCKS,
                                    groups * impl->room_step * 2 * sizeof(float), &scratch));
    const struct airy_cl_kernel_spec spec = {"oct.cl", "oct_lines", options};
    const struct airy_cl_arg args[] = {AIRY_CL_ARRAY(plan->src),
                                       AIRY_CL_ARRAY(impl->table),
                                       plan->mean ? AIRY_CL_ARRAY(plan->mean) : AIRY_CL_NULL,
                                       oct->pattern ? AIRY_CL_ARRAY(oct->pattern) : AIRY_CL_NULL,
                                       oct->post ? AIRY_CL_ARRAY(oct->post) : AIRY_CL_NULL,
                                       AIRY_CL_ARRAY(plan->dst),
                                       scratch ? AIRY_CL_BUFFER(scratch) : AIRY_CL_NULL,
                                       AIRY_CL_VALUE(*g)};
    const double bytes = (double)frames * ((double)oct->info.frame_bytes +
                                           (double)(lines * depth * parts) *
                                               (double)airy_dtype_size(plan->dst->dtype));
    return airy_cl_launch(job->queue, &spec, 1, &global, &items, bytes, args,
                          sizeof(args) / sizeof(args[0]));
}

static airy_status lines(airy_queue *queue, const struct airy_oct_lines_plan *plan)
{
    const struct airy_oct *oct = plan->oct;
    struct job job = {.queue = queue,
                      .plan = plan,
                      .impl = oct->impl,
                      .geom = {.line_bytes = oct->info.line_bytes,
                               .lines = (uint32_t)oct->p.lines,
                               .rolling = (uint32_t)oct->p.rolling,
                               .depth_first = (uint32_t)oct->p.depth_first,
                               .depth = (uint32_t)oct->info.depth,
                               .magic = MAGIC}};
    for (size_t i = 0; i < AIRY_OCT_PIECES; i++)
        job.geom.at[i] = job.impl->at[i];
    set_finish(&job.geom, plan);
    const size_t each = airy_max_size(LAUNCH_LINES / oct->p.lines, 1);
    for (size_t first = 0; first < plan->frames; first += each)
        AIRY_TRY(launch(&job, first, airy_min_size(each, plan->frames - first)));
    return AIRY_OK;
}

const struct airy_oct_fns airy_oct_opencl = {
    .prepare = prepare,
    .release = release,
    .mean = airy_cl_oct_mean,
    .lines = lines,
    .combine = airy_cl_oct_combine,
};
