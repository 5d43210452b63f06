/*
 * Pixels that stand out of their ring, on the CPU. A thread takes pieces of frames: bits of the
 * pixels that are kept, and of candidates, of which those stay that are peaks; once all are counted,
 * the same pieces are listed where the ones before them end.
 */
#include "cpu/cpu_peaks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "core/backend.h"

enum { PIECE = 1 << 16, WORD = AIRY_PEAKS_BLOCK };

struct job {
    const struct airy_peaks_plan *plan;
    const struct airy_peaks_kernels *kernels;
    const char *frames;
    size_t frame_bytes, elem, words, pieces; /* words, pieces: of a frame */
    uint64_t *bits[2];                       /* [frames][words]: kept, then candidates or peaks */
    uint32_t *found[2];                      /* [frames][pieces], later where they begin */
    float *curves;                           /* [frames][4 + 2 levels][bins] */
    struct airy_peaks_curves *sets;          /* [frames] */
    size_t levels;                           /* of least values */
};

static airy_peaks_point point_of(const double *sums, size_t bins, size_t b)
{
    const double variance = sums[AIRY_SUM_VARIANCE * bins + b];
    return (airy_peaks_point){
        .mean = sums[AIRY_SUM_SIGNAL * bins + b] / sums[AIRY_SUM_NORMALIZATION * bins + b],
        .std = sqrt((variance > 0 ? variance : 0) / sums[AIRY_SUM_NORMALIZATION2 * bins + b])};
}

/* Bins without pixels lie on the line between their neighbours. */
static void make_curve(float *mean, float *std, const double *sums, size_t bins)
{
    const double *count = sums + AIRY_SUM_COUNT_PLANE * bins;
    size_t done = 0; /* bins that have their values */
    airy_peaks_point before = {NAN, NAN};
    for (size_t b = 0; b <= bins; b++) {
        if (b < bins && !(count[b] > 0))
            continue;
        const airy_peaks_point here = b < bins ? point_of(sums, bins, b) : before,
                               from = done > 0 ? before : here;
        const double length = (double)(b - done) + 1; /* from the last one with pixels to b */
        for (size_t k = done; k <= b && k < bins; k++) {
            const airy_peaks_point p =
                k == b ? here : airy_peaks_between(from, here, (double)(k - done + 1) / length);
            mean[k] = (float)p.mean;
            std[k] = (float)p.std;
        }
        done = b + 1;
        before = here;
    }
}

/* least[k bins + b] for all levels but the first, which is there. */
static void make_least(float *least, size_t levels, size_t bins)
{
    for (size_t k = 1; k < levels; k++) {
        const float *before = least + (k - 1) * bins;
        const size_t half = (size_t)1 << (k - 1);
        for (size_t b = 0; b < bins; b++) {
            const float other = before[b + half < bins ? b + half : b];
            least[k * bins + b] = other < before[b] ? other : before[b];
        }
    }
}

/* What keeps most blocks from being looked at pixel by pixel. */
static void make_bounds(struct airy_peaks_curves *c, const struct job *job)
{
    const airy_peaks_geom *g = &job->plan->geom;
    const size_t bins = g->bins;
    float mean = 0, std = 0;
    for (size_t b = 0; b < bins; b++) {
        mean = fmaxf(mean, fabsf(c->mean[b]));
        std = fmaxf(std, c->std[b]);
    }
    memcpy(c->least_mean, c->mean, bins * sizeof(float));
    memcpy(c->least_std, c->std, bins * sizeof(float));
    make_least(c->least_mean, job->levels, bins);
    make_least(c->least_std, job->levels, bins);
    c->cutoff = sqrtf(fminf(g->pick2, g->peak2));
    /* Sums, steps, squares and roots: a dozen roundings of 2^-24 of the largest values. */
    c->slack = 0x1p-20f * (mean + c->cutoff * (std + g->noise));
}

static void make_curves(void *arg, size_t frame, unsigned worker)
{
    (void)worker;
    const struct job *job = arg;
    const size_t bins = job->plan->geom.bins;
    const double *sums = (const double *)airy_array_address(job->plan->sums) +
                         frame * AIRY_SUM_PLANES * bins;
    float *out = (float *)airy_array_address(job->plan->lists->curves) + frame * 2 * bins;
    float *room = job->curves + frame * (4 + 2 * job->levels) * bins;
    struct airy_peaks_curves *c = &job->sets[frame];
    *c = (struct airy_peaks_curves){.mean = room,
                                    .mean_step = room + bins,
                                    .std = room + 2 * bins,
                                    .std_step = room + 3 * bins,
                                    .least_mean = room + 4 * bins,
                                    .least_std = room + (4 + job->levels) * bins};
    make_curve(out, out + bins, sums, bins);
    for (size_t b = 0; b < bins; b++) {
        const size_t next = b + 1 < bins ? b + 1 : b;
        c->mean[b] = out[b];
        c->mean_step[b] = out[next] - out[b];
        c->std[b] = out[bins + b];
        c->std_step[b] = out[bins + next] - out[bins + b];
    }
    make_bounds(c, job);
}

/* A pixel's value; false: it has none in this frame. */
static bool value_at(airy_peaks_value *value, const struct job *job, size_t frame, size_t i)
{
    const struct airy_peaks_plan *plan = job->plan;
    const airy_peaks_geom *g = &plan->geom;
    const airy_peak_finder *finder = plan->finder;
    const void *raw = job->frames + frame * job->frame_bytes + i * job->elem;
    if (finder->scale[i] == 0)
        return false;
    float x;
    double wide = 0;
    uint32_t word = 0;
    switch (plan->dtype) {
#define CASE(DTYPE, type, biased)                                                                  \
    case AIRY_DTYPE_##DTYPE:                                                                       \
        x = (float)*(const type *)raw;                                                             \
        word = (biased);                                                                           \
        break;
        CASE(U8, uint8_t, *(const uint8_t *)raw)
        CASE(U16, uint16_t, *(const uint16_t *)raw)
        CASE(U32, uint32_t, *(const uint32_t *)raw)
        CASE(I8, int8_t, (uint32_t) * (const int8_t *)raw ^ 0x80000000u)
        CASE(I16, int16_t, (uint32_t) * (const int16_t *)raw ^ 0x80000000u)
        CASE(I32, int32_t, (uint32_t) * (const int32_t *)raw ^ 0x80000000u)
#undef CASE
    case AIRY_DTYPE_F32:
        x = *(const float *)raw;
        wide = (double)x;
        break;
    default:
        wide = *(const double *)raw;
        x = (float)wide;
        break;
    }
    if (airy_dtype_is_float(plan->dtype)) {
        if (!isfinite(wide) || (wide >= g->float_lo && wide <= g->float_hi))
            return false;
    } else if (g->has_invalid && word - g->lo <= g->span) {
        return false;
    }
    if (finder->corrections.dark)
        x -= finder->corrections.dark[i];
    const uint32_t place = finder->place[i];
    const struct airy_peaks_curves *c = &job->sets[frame];
    const uint32_t b = place >> g->shift;
    const airy_peaks_bin bin = {c->mean[b], c->mean_step[b], c->std[b], c->std_step[b]};
    *value = airy_peaks_evaluate(x, finder->scale[i], airy_peaks_fraction(place, g->shift, g->step),
                                 bin, g->noise2);
    return true;
}

/* The pixels of a patch that lie on the frame. */
struct patch {
    size_t y0, y1, x0, x1; /* behind the last */
};

static struct patch patch_of(const airy_peaks_geom *g, size_t i)
{
    const size_t y = i / g->width, x = i % g->width, half = g->reach;
    return (struct patch){y > half ? y - half : 0, airy_min_size(y + half + 1, g->height),
                          x > half ? x - half : 0, airy_min_size(x + half + 1, g->width)};
}

static bool is_peak(const struct job *job, size_t frame, size_t i)
{
    const airy_peaks_geom *g = &job->plan->geom;
    const struct patch p = patch_of(g, i);
    airy_peaks_value own, other;
    uint32_t candidates = 0;
    if (!value_at(&own, job, frame, i))
        return false;
    for (size_t y = p.y0; y < p.y1; y++)
        for (size_t x = p.x0; x < p.x1; x++) {
            const size_t k = y * g->width + x;
            if (!value_at(&other, job, frame, k)) {
                if (g->strict)
                    return false;
                continue;
            }
            if (other.v > own.v || (other.v == own.v && k < i))
                return false;
            candidates += airy_peaks_is_candidate(other, g->peak2) != 0;
        }
    return candidates >= g->connected;
}

static void measure(airy_peak *peak, const struct job *job, size_t frame, size_t i)
{
    const airy_peaks_geom *g = &job->plan->geom;
    const struct patch p = patch_of(g, i);
    airy_peaks_sums sums = {0};
    airy_peaks_value value;
    for (size_t y = p.y0; y < p.y1; y++)
        for (size_t x = p.x0; x < p.x1; x++)
            if (value_at(&value, job, frame, y * g->width + x))
                sums = airy_peaks_plus(sums, value, (double)y, (double)x, g->peak2);
    *peak = (airy_peak){.y = (float)(sums.y / sums.v),
                        .x = (float)(sums.x / sums.v),
                        .intensity = (float)sums.v,
                        .sigma = (float)sqrt(sums.u2),
                        .snr = (float)(sums.v / sqrt(sums.u2)),
                        .pixels = sums.candidates,
                        .index = (uint32_t)i};
}

static void mark_piece(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    const struct job *job = arg;
    const struct airy_peaks_plan *plan = job->plan;
    const size_t frame = index / job->pieces, piece = index % job->pieces, first = piece * PIECE,
                 at = frame * job->words + first / WORD;
    const float *dark = plan->finder->corrections.dark;
    const struct airy_peaks_piece part = {
        .raw = job->frames + frame * job->frame_bytes + first * job->elem,
        .place = plan->finder->place + first,
        .scale = plan->finder->scale + first,
        .dark = dark ? dark + first : NULL,
        .curves = job->sets[frame],
        .geom = &plan->geom,
        .ranges = (const struct airy_peaks_range *)plan->finder->state + first / WORD,
        .count = airy_min_size(PIECE, plan->geom.pixels - first),
        .kept = job->bits[0] + at,
        .candidates = job->bits[1] + at};
    job->kernels->mark[plan->dtype](&part);
    uint32_t found[2] = {0, 0};
    for (size_t w = 0; w * WORD < part.count; w++) {
        uint64_t peaks = 0;
        for (uint64_t left = part.candidates[w]; left; left &= left - 1) {
            const size_t i = first + w * WORD + (size_t)__builtin_ctzll(left);
            peaks |= is_peak(job, frame, i) ? left & -left : 0;
        }
        part.candidates[w] = peaks;
        found[0] += (uint32_t)__builtin_popcountll(part.kept[w]);
        found[1] += (uint32_t)__builtin_popcountll(peaks);
    }
    for (int k = 0; k < 2; k++)
        job->found[k][index] = found[k];
}

/* Where each piece's entries begin; UINT32_MAX where those of the frame are too many. */
static void place_pieces(const struct job *job)
{
    const airy_peaks_geom *g = &job->plan->geom;
    uint32_t *counts = airy_array_address(job->plan->lists->counts);
    const uint32_t most[2] = {g->max_pixels, g->max_peaks};
    for (int k = 0; k < 2; k++) {
        uint32_t base = 0;
        for (size_t f = 0; f < g->frames; f++) {
            uint32_t *found = job->found[k] + f * job->pieces, all = 0;
            for (size_t p = 0; p < job->pieces; p++)
                all += found[p];
            const bool fits = all <= most[k];
            for (size_t p = 0, at = base; p < job->pieces; p++) {
                const uint32_t n = found[p];
                found[p] = fits ? (uint32_t)at : UINT32_MAX;
                at += n;
            }
            counts[f * AIRY_PEAK_COUNTS + 2 * k] = fits ? all : 0;
            counts[f * AIRY_PEAK_COUNTS + 2 * k + 1] = all;
            base += fits ? all : 0;
        }
    }
}

static void list_piece(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    const struct job *job = arg;
    const airy_peak_lists *lists = job->plan->lists;
    const size_t frame = index / job->pieces, piece = index % job->pieces, first = piece * PIECE,
                 count = airy_min_size(PIECE, job->plan->geom.pixels - first);
    const uint64_t *kept = job->bits[0] + frame * job->words + first / WORD,
                   *peaks = job->bits[1] + frame * job->words + first / WORD;
    const char *frame_data = job->frames + frame * job->frame_bytes;
    uint32_t *indices = airy_array_address(lists->index);
    char *intensity = airy_array_address(lists->intensity);
    airy_peak *peak = airy_array_address(lists->peaks);
    size_t at = job->found[0][index];
    for (size_t w = 0; at != UINT32_MAX && w * WORD < count; w++)
        for (uint64_t left = kept[w]; left; left &= left - 1, at++) {
            const size_t i = first + w * WORD + (size_t)__builtin_ctzll(left);
            indices[at] = (uint32_t)i;
            memcpy(intensity + at * job->elem, frame_data + i * job->elem, job->elem);
        }
    at = job->found[1][index];
    for (size_t w = 0; at != UINT32_MAX && w * WORD < count; w++)
        for (uint64_t left = peaks[w]; left; left &= left - 1, at++)
            measure(&peak[at], job, frame, first + w * WORD + (size_t)__builtin_ctzll(left));
}

static airy_status take_scratch(struct job *job, airy_queue *queue)
{
    const airy_peaks_geom *g = &job->plan->geom;
    const size_t frames = g->frames, bits = frames * job->words * sizeof(uint64_t),
                 found = airy_align_up(frames * job->pieces * sizeof(uint32_t), 64),
                 curves =
                     airy_align_up(frames * (4 + 2 * job->levels) * g->bins * sizeof(float), 64),
                 sets = frames * sizeof(struct airy_peaks_curves);
    airy_buffer *scratch;
    AIRY_TRY(airy_queue_scratch(queue, AIRY_SCRATCH_PARTIALS, 2 * bits + 2 * found + curves + sets,
                                &scratch));
    char *at = scratch->handle;
    for (int k = 0; k < 2; k++) {
        job->bits[k] = (uint64_t *)(at + (size_t)k * bits);
        job->found[k] = (uint32_t *)(at + 2 * bits + (size_t)k * found);
    }
    job->curves = (float *)(at + 2 * bits + 2 * found);
    job->sets = (struct airy_peaks_curves *)(at + 2 * bits + 2 * found + curves);
    return AIRY_OK;
}

static airy_status find(airy_queue *queue, const struct airy_peaks_plan *plan)
{
    const airy_peaks_geom *g = &plan->geom;
    struct job job = {.plan = plan,
                      .kernels = airy_peaks_kernels(),
                      .frames = airy_array_address(plan->frames),
                      .elem = airy_dtype_size(plan->dtype),
                      .words = airy_align_up(((size_t)g->pixels + WORD - 1) / WORD, 8),
                      .pieces = ((size_t)g->pixels + PIECE - 1) / PIECE};
    job.frame_bytes = g->pixels * job.elem;
    job.levels = 1;
    while (job.levels < AIRY_PEAKS_LEVELS && ((size_t)1 << job.levels) <= g->bins)
        job.levels++;
    AIRY_TRY(take_scratch(&job, queue));
    const size_t count = g->frames * job.pieces;
    airy_profile_loop(queue->device, "peaks_curve", 0, g->frames, make_curves, &job);
    airy_profile_loop(queue->device, "peaks_mark", (double)g->frames * (double)job.frame_bytes,
                      count, mark_piece, &job);
    place_pieces(&job);
    airy_profile_loop(queue->device, "peaks_list", 0, count, list_piece, &job);
    return AIRY_OK;
}

/* Which bins the pixels of each block lie between. */
static airy_status prepare(airy_peak_finder *finder)
{
    const airy_peaks_geom *g = &finder->geom;
    const size_t blocks = ((size_t)g->pixels + WORD - 1) / WORD;
    struct airy_peaks_range *ranges;
    AIRY_TRY(airy_memory_calloc((void **)&ranges, blocks, sizeof(*ranges), "blocks of pixels"));
    finder->state = ranges;
    for (size_t k = 0; k < blocks; k++) {
        struct airy_peaks_range r = {UINT32_MAX, 0};
        for (size_t i = k * WORD; i < airy_min_size((k + 1) * WORD, g->pixels); i++) {
            const uint32_t bin = finder->place[i] >> g->shift;
            if (finder->scale[i] == 0)
                continue;
            r.first = bin < r.first ? bin : r.first;
            r.last = bin + 1 > r.last ? bin + 1 : r.last;
        }
        r.last = r.last < g->bins ? r.last : g->bins - 1;
        ranges[k] = r;
    }
    return AIRY_OK;
}

static void release(airy_peak_finder *finder)
{
    free(finder->state);
    finder->state = NULL;
}

const struct airy_peaks_fns airy_peaks_cpu = {.prepare = prepare, .release = release, .find = find};
