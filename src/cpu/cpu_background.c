/*
 * Backgrounds on the CPU: a thread takes a mesh, whose pixels stay in its cache between the steps;
 * a map is made row by row.
 */
#include "cpu/cpu_background.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "background/background_fns.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/profile.h"
#include "cpu/cpu_reduce.h"

enum {
    TILE = 1 << 16, /* pixels that a thread has in its cache, as f64 */
    ROWS = 8,       /* of a map, that a thread takes at a time */
    PIECES = 64,    /* between nodes, of a row, that are worked out at a time */
    BUFFER = 512    /* pixels that are converted at a time */
};

/* What a thread works in. Sums before a group of bins: of counts, and of i and i^2 for each. */
struct room {
    uint32_t counts[AIRY_BACKGROUND_COUNTS];
    struct airy_background_sums before[AIRY_BACKGROUND_GROUPS + 1];
    _Alignas(64) double tile[]; /* padded */
};

struct meshes_job {
    const struct airy_background_plan *plan;
    const struct airy_background_kernels *kernels;
    const struct airy_reduce_kernels *reduce;
    double *level, *noise;
    char *rooms; /* [workers] of room_size bytes */
    size_t room_size;
};

/* A mesh, and how it is read: `rows` rows at a time. */
struct mesh {
    size_t y, x, height, width, rows;
    size_t loaded; /* first row of those in the tile; height: none are */
    size_t padded; /* pixels in the tile */
};

static struct mesh find_mesh(const struct airy_background_plan *plan, size_t index)
{
    const size_t y = index / plan->nodes[1] * plan->mesh[0],
                 x = index % plan->nodes[1] * plan->mesh[1];
    struct mesh m = {.y = y,
                     .x = x,
                     .height = airy_min_size(plan->mesh[0], plan->image->shape[0] - y),
                     .width = airy_min_size(plan->mesh[1], plan->image->shape[1] - x)};
    m.rows = airy_min_size(m.height, TILE / m.width);
    m.loaded = m.height;
    return m;
}

/* Rows of the mesh from `row` on into the tile, unless they are there. */
static void load_tile(const struct meshes_job *job, struct mesh *m, double *tile, size_t row)
{
    const airy_array *image = job->plan->image, *mask = job->plan->mask;
    const size_t rows = airy_min_size(m->rows, m->height - row), n = rows * m->width;
    if (m->loaded == row)
        return;
    for (size_t j = 0; j < rows; j++) {
        double *to = tile + j * m->width;
        const size_t at = (m->y + row + j) * image->pitch[0] + m->x;
        const char *from = airy_array_address(image);
        job->reduce->load[image->dtype](to, from + at * airy_dtype_size(image->dtype), m->width);
        if (!mask)
            continue;
        const uint8_t *out = airy_array_address(mask);
        out += (m->y + row + j) * mask->pitch[0] + m->x;
        for (size_t i = 0; i < m->width; i++)
            to[i] = out[i] ? (double)NAN : to[i];
    }
    if (job->plan->compat && airy_dtype_size(image->dtype) > 2)
        for (size_t i = 0; i < n; i++)
            tile[i] = (double)(float)tile[i];
    m->loaded = row;
    m->padded = airy_align_up(n, AIRY_REDUCE_GROUP);
    for (size_t i = n; i < m->padded; i++)
        tile[i] = (double)NAN;
}

/* The first pixel that counts; NaN: there is none. */
static double find_first(const double *tile, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fabs(tile[i]) <= AIRY_BACKGROUND_LARGEST)
            return tile[i];
    return (double)NAN;
}

struct moments {
    size_t count;
    double mean, std, min, max;
};

/* Of the pixels in [lo, hi], about a pivot; NaN: about the first of them. */
static struct moments measure(const struct meshes_job *job, struct mesh *m, struct room *room,
                              double pivot, double lo, double hi)
{
    struct airy_reduce_moments all = {.min = (double)INFINITY, .max = -(double)INFINITY};
    for (size_t row = 0; row < m->height; row += m->rows) {
        struct airy_reduce_moments part;
        load_tile(job, m, room->tile, row);
        if (isnan(pivot))
            pivot = find_first(room->tile, m->padded);
        if (isnan(pivot))
            continue;
        job->reduce->moments(&part, room->tile, m->padded, pivot, lo, hi);
        all.count += part.count;
        all.sum += part.sum;
        all.squares += part.squares;
        all.min = fmin(all.min, part.min);
        all.max = fmax(all.max, part.max);
    }
    const double n = (double)all.count, mean = all.sum / n,
                 variance = all.squares / n - mean * mean;
    return (struct moments){.count = all.count,
                            .mean = pivot + mean,
                            .std = variance > 0 ? sqrt(variance) : 0,
                            .min = all.min,
                            .max = all.max};
}

/* The same about the mean that it finds, if that is far from `pivot`. */
static struct moments measure_again(const struct meshes_job *job, struct mesh *m, struct room *room,
                                    double pivot, double lo, double hi)
{
    struct moments all = measure(job, m, room, pivot, lo, hi);
    for (int i = 1; i < AIRY_BACKGROUND_SUMS &&
                    airy_background_sums_again(pivot, all.mean, all.std, all.min, all.max);
         i++) {
        pivot = all.mean;
        all = measure(job, m, room, pivot, lo, hi);
    }
    return all;
}

static void fill_bins(const struct meshes_job *job, struct mesh *m, struct room *room,
                      const airy_background_bins *bins)
{
    memset(room->counts, 0,
           airy_align_up(bins->levels, AIRY_BACKGROUND_GROUP) * sizeof(room->counts[0]));
    for (size_t row = 0; row < m->height; row += m->rows) {
        load_tile(job, m, room->tile, row);
        (job->plan->compat ? job->kernels->bins_compat
                           : job->kernels->bins)(room->counts, room->tile, m->padded, bins);
    }
}

static struct airy_background_sums sum_below(const struct room *room, size_t i)
{
    struct airy_background_sums s = room->before[i / AIRY_BACKGROUND_GROUP];
    for (size_t k = i / AIRY_BACKGROUND_GROUP * AIRY_BACKGROUND_GROUP; k < i; k++) {
        s.count += room->counts[k];
        s.first += (uint64_t)room->counts[k] * k;
        s.second += (uint64_t)room->counts[k] * (k * k);
    }
    return s;
}

/*
 * The first k in [lo, hi] that airy_background_meet asks for; *below: pixels in bins below it.
 * before: pixels below lo; all: those in [lo, hi].
 */
static size_t find_meeting(uint64_t *below, const struct room *room, size_t lo, size_t hi,
                           uint64_t before, uint64_t all)
{
    const uint32_t *counts = room->counts;
    size_t group = lo / AIRY_BACKGROUND_GROUP, last = hi / AIRY_BACKGROUND_GROUP;
    while (group < last) { /* the last group whose first bin is not it, or that of lo */
        const size_t mid = group + (last - group + 1) / 2, k = mid * AIRY_BACKGROUND_GROUP;
        const uint64_t upto = room->before[mid].count - before,
                       past = upto + counts[k] + (k < hi ? counts[k + 1] : 0);
        if (upto + past >= all)
            last = mid - 1;
        else
            group = mid;
    }
    size_t k = group * AIRY_BACKGROUND_GROUP < lo ? lo : group * AIRY_BACKGROUND_GROUP;
    uint64_t upto = k == lo ? 0 : room->before[group].count - before;
    for (; k < hi && 2 * upto + counts[k] + counts[k + 1] < all; k++)
        upto += counts[k];
    *below = upto;
    return k;
}

static airy_background_pass look(const struct room *room, size_t lo, size_t hi)
{
    const struct airy_background_sums low = sum_below(room, lo), high = sum_below(room, hi + 1);
    const uint64_t all = high.count - low.count;
    uint64_t below;
    const size_t k = find_meeting(&below, room, lo, hi, low.count, all);
    const uint64_t upto = below + room->counts[k];
    const int32_t split =
        airy_background_meet((int32_t)k, (uint32_t)below, (uint32_t)upto, (uint32_t)all);
    return (airy_background_pass){.first = high.first - low.first,
                                  .second = high.second - low.second,
                                  .count = (uint32_t)all,
                                  .low = (uint32_t)(split == (int32_t)k ? upto : below),
                                  .at = split >= 0 ? room->counts[split] : 0,
                                  .next = room->counts[split + 1],
                                  .split = split};
}

/* What a mesh's last histogram gave. */
struct histogram {
    airy_background_bins bins;
    airy_background_clip clip;
    int32_t crowd; /* airy_background_crowd */
};

/* Level and noise of the pixels in [*lo, *hi]; whether it is to be done again, of fewer. */
static bool estimate_within(const struct meshes_job *job, struct mesh *m, struct room *room,
                            const struct moments *all, struct histogram *last, double *lo,
                            double *hi, double *level, double *noise)
{
    const struct airy_background_plan *plan = job->plan;
    const airy_background_bins bins = airy_background_plan(
        (uint32_t)all->count, all->mean, all->std, all->min, all->max, plan->compat);
    *level = bins.alike;
    *noise = 0;
    *last = (struct histogram){.bins = bins, .crowd = -1};
    if (bins.levels == 0)
        return false;
    fill_bins(job, m, room, &bins);
    job->kernels->sums(room->before, room->counts,
                       (bins.levels + AIRY_BACKGROUND_GROUP - 1) / AIRY_BACKGROUND_GROUP);
    airy_background_clip clip = airy_background_clip_begin(bins.levels);
    while (airy_background_clip_goes_on(clip)) {
        const airy_background_pass pass = look(room, (size_t)clip.lo, (size_t)clip.hi);
        if (clip.pass == 0)
            last->crowd = airy_background_crowd(pass);
        clip = airy_background_clip_pass(clip, pass, bins.levels);
    }
    last->clip = clip;
    *level = airy_background_level(clip, bins, (uint32_t)plan->estimate);
    *noise = clip.std * bins.scale;
    return !plan->compat && airy_background_narrow(lo, hi, clip, bins);
}

/* The value that most pixels of a bin have, of which there is one alone in a coarse mesh. */
static double find_value(const struct meshes_job *job, struct mesh *m, struct room *room,
                         const struct histogram *last)
{
    double value = (double)INFINITY;
    if (last->bins.levels == 0)
        return last->bins.alike;
    for (size_t row = 0; row < m->height; row += m->rows) {
        load_tile(job, m, room->tile, row);
        for (size_t i = 0; i < m->padded; i++)
            if (airy_background_bin(room->tile[i], last->bins) == last->crowd)
                value = fmin(value, room->tile[i]);
    }
    return value;
}

/* The distance of the next other value; infinite: there is none. */
static double find_step(const struct meshes_job *job, struct mesh *m, struct room *room,
                        double value)
{
    double step = (double)INFINITY;
    for (size_t row = 0; row < m->height; row += m->rows) {
        load_tile(job, m, room->tile, row);
        for (size_t i = 0; i < m->padded; i++) {
            const double x = room->tile[i];
            if (fabs(x) <= AIRY_BACKGROUND_LARGEST && x != value)
                step = fmin(step, fabs(x - value));
        }
    }
    return step;
}

/* Level and noise of a mesh of few different values. */
static void estimate_coarse(const struct meshes_job *job, struct mesh *m, struct room *room,
                            const struct histogram *last, double *level, double *noise)
{
    const double value = find_value(job, m, room, last), step = find_step(job, m, room, value);
    double lo, hi;
    if (!(step < (double)INFINITY))
        return;
    airy_background_coarse_start(&lo, &hi, last->clip, last->bins, value, step);
    size_t before = 0;
    for (int i = 0; i < AIRY_BACKGROUND_COARSE_ROUNDS; i++) {
        const struct moments all = measure(job, m, room, value, lo, hi);
        if (all.count == 0 || all.count == before)
            break;
        before = all.count;
        *level = job->plan->estimate == AIRY_BACKGROUND_MEDIAN ? value : all.mean;
        *noise = all.std;
        airy_background_coarse_next(&lo, &hi, all.mean, all.std, step);
    }
}

static void estimate_mesh(const struct meshes_job *job, struct mesh *m, struct room *room,
                          double *level, double *noise)
{
    const double largest = AIRY_BACKGROUND_LARGEST;
    double lo, hi;
    *level = *noise = (double)NAN;
    struct moments all = measure(job, m, room, (double)NAN, -largest, largest);
    if (2 * all.count < m->height * m->width)
        return;
    const bool differ = all.min < all.max;
    struct histogram last = {.crowd = -1};
    airy_background_cuts(&lo, &hi, all.mean, all.std, job->plan->compat);
    if (differ)
        all = measure_again(job, m, room, all.mean, lo, hi);
    size_t before = SIZE_MAX;
    for (int i = 0; i < AIRY_BACKGROUND_ROUNDS && all.count > 0 && all.count < before; i++) {
        before = all.count;
        if (!estimate_within(job, m, room, &all, &last, &lo, &hi, level, noise))
            break;
        all = measure_again(job, m, room, *level, lo, hi);
    }
    if (differ && !job->plan->compat && (last.bins.levels == 0 || last.crowd >= 0))
        estimate_coarse(job, m, room, &last, level, noise);
}

static void run_mesh(void *arg, size_t index, unsigned worker)
{
    const struct meshes_job *job = arg;
    struct mesh m = find_mesh(job->plan, index);
    struct room *room = (struct room *)(void *)(job->rooms + worker * job->room_size);
    estimate_mesh(job, &m, room, &job->level[index], &job->noise[index]);
}

static airy_status meshes(airy_queue *queue, const struct airy_background_plan *plan,
                          double *level_noise)
{
    const size_t area = airy_min_size(plan->mesh[0], plan->image->shape[0]) *
                        airy_min_size(plan->mesh[1], plan->image->shape[1]),
                 pixels = airy_align_up(airy_min_size(area, TILE), AIRY_REDUCE_GROUP),
                 size = sizeof(struct room) + pixels * sizeof(double);
    airy_buffer *rooms;
    unsigned threads;
    AIRY_TRY(airy_queue_thread_scratch(queue, AIRY_SCRATCH_PARTIALS, size, &threads, &rooms));
    struct meshes_job job = {.plan = plan,
                             .kernels = airy_background_kernels(),
                             .reduce = airy_reduce_kernels(),
                             .level = level_noise,
                             .noise = level_noise + plan->nodes[0] * plan->nodes[1],
                             .rooms = rooms->handle,
                             .room_size = size};
    const double bytes = (double)airy_array_size(plan->image) +
                         (plan->mask ? (double)airy_array_size(plan->mask) : 0);
    airy_profile_loop_few(queue->device, "background_meshes", bytes, threads,
                          plan->nodes[0] * plan->nodes[1], run_mesh, &job);
    return AIRY_OK;
}

struct map_job {
    const struct airy_background_map_plan *plan;
    const struct airy_background_kernels *kernels;
    const struct airy_reduce_kernels *reduce;
    double *places; /* of pixels from a node's mesh on: [2 mesh] */
    float *places_f32;
};

/* What becomes of a run of pixels. */
enum what { LEVEL, LESS, NOISE };

static void put_f64(const struct map_job *job, enum what what, double *dst, const double *src,
                    size_t at, size_t n, const airy_background_cubic *c)
{
    const struct airy_background *b = job->plan->background;
    if (what == LESS)
        job->kernels->less_f64(dst, src, job->places + at, n, c, b->base);
    else if (what == LEVEL)
        job->kernels->level_f64(dst, job->places + at, n, c, b->base);
    else
        job->kernels->noise_f64(dst, job->places + at, n, c, b->floor);
}

static void put_f32(const struct map_job *job, enum what what, float *dst, const float *src,
                    size_t at, size_t n, const airy_background_cubic *c)
{
    const struct airy_background *b = job->plan->background;
    if (what == LESS)
        job->kernels->less_f32(dst, src, job->places_f32 + at, n, c, b->base);
    else if (what == LEVEL)
        job->kernels->level_f32(dst, job->places_f32 + at, n, c, b->base);
    else
        job->kernels->noise_f32(dst, job->places_f32 + at, n, c, b->floor);
}

/* By f64, whatever src and dst are. */
static void put_any(const struct map_job *job, const airy_array *dst, char *to,
                    const airy_array *src, const char *from, size_t at, size_t n,
                    const airy_background_cubic *c)
{
    _Alignas(64) double values[BUFFER];
    for (size_t done = 0; done < n; done += BUFFER) {
        const size_t run = airy_min_size(BUFFER, n - done);
        double *f64 = dst->dtype == AIRY_DTYPE_F64 ? (double *)to + done : values;
        job->reduce->load[src->dtype](values, from + done * airy_dtype_size(src->dtype), run);
        put_f64(job, LESS, f64, values, at + done, run, c);
        for (size_t i = 0; f64 == values && i < run; i++)
            ((float *)to)[done + i] = (float)values[i];
    }
}

/* Pixels x to x + n of a row, `at` pixels from the mesh of the piece's first node on. */
static void put_run(const struct map_job *job, enum what what, const airy_array *dst, size_t y,
                    size_t x, size_t at, size_t n, const airy_background_cubic *c)
{
    const airy_array *src = what == LESS ? job->plan->src : NULL;
    char *to = (char *)airy_array_address(dst) +
               (y * dst->pitch[0] + x) * airy_dtype_size(dst->dtype);
    const char *from = src ? (const char *)airy_array_address(src) +
                                 (y * src->pitch[0] + x) * airy_dtype_size(src->dtype)
                           : NULL;
    if (src && src->dtype != dst->dtype)
        put_any(job, dst, to, src, from, at, n, c);
    else if (dst->dtype == AIRY_DTYPE_F32)
        put_f32(job, what, (float *)to, (const float *)from, at, n, c);
    else
        put_f64(job, what, (double *)to, (const double *)from, at, n, c);
}

/* Values and derivatives along x at nodes first to first + n of a row of pixels. */
static void make_nodes(double *value, double *bend, const struct airy_background *b,
                       const double *planes, airy_background_row r, size_t first, size_t n)
{
    const size_t plane = b->nodes[0] * b->nodes[1];
    const double *low = planes + r.lo * b->nodes[1] + first,
                 *high = planes + r.hi * b->nodes[1] + first;
    for (size_t i = 0; i < n; i++) {
        value[i] = airy_background_along(r, low[i], high[i],
                                         low[i + AIRY_BACKGROUND_ALONG_Y * plane],
                                         high[i + AIRY_BACKGROUND_ALONG_Y * plane]);
        bend[i] = airy_background_along(r, low[i + AIRY_BACKGROUND_ALONG_X * plane],
                                        high[i + AIRY_BACKGROUND_ALONG_X * plane],
                                        low[i + AIRY_BACKGROUND_ALONG_BOTH * plane],
                                        high[i + AIRY_BACKGROUND_ALONG_BOTH * plane]);
    }
}

/* First pixel of a piece of a row; of piece number `pieces` the end. */
static size_t piece_begin(const struct airy_background *b, size_t piece, size_t pieces)
{
    if (piece == pieces)
        return b->shape[1];
    return piece == 0 ? 0 : piece * b->mesh[1] + b->mesh[1] / 2;
}

static void map_row(const struct map_job *job, enum what what, const airy_array *dst, size_t y)
{
    const struct airy_background *b = job->plan->background;
    const size_t pieces = airy_background_pieces((uint32_t)b->nodes[1]),
                 plane = b->nodes[0] * b->nodes[1];
    const double *planes = (const double *)airy_array_address(b->splines) +
                           (what == NOISE ? AIRY_BACKGROUND_PLANES * plane : 0);
    const airy_background_row r =
        airy_background_row_of((uint32_t)y, (uint32_t)b->mesh[0], (uint32_t)b->nodes[0], b->compat);
    double value[PIECES + 1] = {0}, bend[PIECES + 1] = {0};
    for (size_t first = 0; first < pieces; first += PIECES) {
        const size_t n = airy_min_size(PIECES, pieces - first);
        make_nodes(value, bend, b, planes, r, first, airy_min_size(n + 1, b->nodes[1]));
        for (size_t i = 0; i < n; i++) {
            const airy_background_cubic c =
                b->nodes[1] > 1
                    ? airy_background_cubic_of(value[i], value[i + 1], bend[i], bend[i + 1])
                    : (airy_background_cubic){.a = value[0]};
            const size_t x = piece_begin(b, first + i, pieces),
                         end = piece_begin(b, first + i + 1, pieces);
            put_run(job, what, dst, y, x, x - (first + i) * b->mesh[1], end - x, &c);
        }
    }
}

static void map_rows(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    const struct map_job *job = arg;
    const struct airy_background_map_plan *plan = job->plan;
    const size_t end = airy_min_size((index + 1) * ROWS, plan->background->shape[0]);
    for (size_t y = index * ROWS; y < end; y++) {
        if (plan->dst)
            map_row(job, plan->src ? LESS : LEVEL, plan->dst, y);
        if (plan->noise)
            map_row(job, NOISE, plan->noise, y);
    }
}

static airy_status map(airy_queue *queue, const struct airy_background_map_plan *plan)
{
    const struct airy_background *b = plan->background;
    const size_t count = 2 * b->mesh[1];
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, count, sizeof(double) + sizeof(float),
                                "places of a background"));
    struct map_job job = {.plan = plan,
                          .kernels = airy_background_kernels(),
                          .reduce = airy_reduce_kernels(),
                          .places = block,
                          .places_f32 = (float *)((double *)block + count)};
    for (size_t i = 0; i < count; i++) {
        job.places[i] = airy_background_place((uint32_t)i, (uint32_t)b->mesh[1], 0);
        job.places_f32[i] = (float)job.places[i];
    }
    const airy_array *const arrays[3] = {plan->dst, plan->src, plan->noise};
    double bytes = 0;
    for (int i = 0; i < 3; i++)
        bytes += arrays[i] ? (double)airy_array_size(arrays[i]) : 0;
    airy_profile_loop(queue->device, "background_map", bytes, (b->shape[0] + ROWS - 1) / ROWS,
                      map_rows, &job);
    free(block);
    return AIRY_OK;
}

const struct airy_background_fns airy_background_cpu = {.meshes = meshes, .map = map};
