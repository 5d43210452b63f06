/*
 * Sigma clipping of bins. An entry that is rejected stays rejected, so what a bin keeps is what lies
 * in an interval that only shrinks. Entries near its ends are listed when all are walked; as long as
 * the next interval's ends lie among these, they alone are looked at again. ring_entry.h has the
 * build options.
 */
#include "opencl/kernels/ring_entry.h"

/* Entries that an item may list. */
#define LISTED 12u
/* Of the way from the middle to an end: what is nearer to the middle is not listed. */
#define INNER 0.6
/* airy_ring_starts_anew of these clips, whose rule is never that of compat. */
#define STARTS_ANEW (CLIPS_BY == 1 || CLIPS_BY == 2)

/* Kept are entries with |s - pivot omega| <= reach |omega|. */
struct interval {
    double pivot, reach;
};

AIRY_INLINE bool is_kept(const struct ring_entry entry, const struct interval in)
{
    return fabs(fma(-in.pivot, entry.omega, entry.s)) <= in.reach * fabs(entry.omega);
}

/*
 * All of the item's entries: those near the ends are listed, the others added up. flags: entries
 * that should have been listed.
 */
AIRY_INLINE uint walk_all(struct ring_sums *core, __local ushort *list,
                          __global const VALUE *values, const struct ring_table t,
                          const struct ring_own own, const struct interval in,
                          const airy_gather_geom g)
{
    const double inner = INNER * in.reach;
    uint listed = 0u;
    clear_sums(core);
    AIRY_UNROLL(4)
    for (uint k = 0u; k < own.count; k++) {
        const uint e = own.first + k * RING_GROUP;
        const VALUE v = values[e];
        const struct ring_entry entry = load_entry(t, e, v);
        const double d = fma(-in.pivot, entry.omega, entry.s), size = fabs(entry.omega);
        const bool kept = fabs(d) <= in.reach * size && !is_invalid((T)v, g);
        const bool near = kept && fabs(d) > inner * size;
        const bool list_it = near && listed < LISTED && k < 65536u;
        if (list_it)
            list[listed++ * RING_GROUP] = (ushort)k;
        else if (kept)
            add_entry(core, entry, expected_variance(t, e, v), d);
        core->flags += near && !list_it ? 1u : 0u;
    }
    return listed;
}

/* The entries of the item's list that are kept; squares stay about the pivot of the walk. */
AIRY_INLINE void walk_list(struct ring_sums *sums, __local const ushort *list, uint listed,
                           __global const VALUE *values, const struct ring_table t,
                           const struct ring_own own, const struct interval in, double pivot)
{
    for (uint j = 0u; j < listed; j++) {
        const uint e = own.first + (uint)list[j * RING_GROUP] * RING_GROUP;
        const VALUE v = values[e];
        const struct ring_entry entry = load_entry(t, e, v);
        if (is_kept(entry, in))
            add_entry(sums, entry, expected_variance(t, e, v), fma(-pivot, entry.omega, entry.s));
    }
}

/* Bring the item's entries of a frame together, and add all of them up. */
AIRY_INLINE void gather_entries(struct ring_sums *sums, __global VALUE *values,
                                __global const T *image, const struct ring_table t,
                                const struct ring_own own, double pivot, const airy_gather_geom g)
{
    clear_sums(sums);
    AIRY_UNROLL(4)
    for (uint k = 0u; k < own.count; k++) {
        const uint e = own.first + k * RING_GROUP;
        const VALUE v = (VALUE)image[t.pixel[e]];
        const struct ring_entry entry = load_entry(t, e, v);
        values[e] = v;
        if (!is_invalid((T)v, g))
            add_entry(sums, entry, expected_variance(t, e, v), fma(-pivot, entry.omega, entry.s));
    }
}

/* x of the bin's first entry, so that squares about it are not far from those about the mean. */
AIRY_INLINE double first_pivot(__global const T *image, const struct ring_table t,
                               const airy_ring_bin bin, const airy_gather_geom g)
{
    if (bin.count == 0u)
        return 0.0;
    const VALUE v = (VALUE)image[t.pixel[bin.first]];
    const struct ring_entry entry = load_entry(t, bin.first, v);
    return is_invalid((T)v, g) ? 0.0 : entry.s / entry.omega;
}

/* Squares about the mean of what is kept, of the item's entries. */
AIRY_INLINE double moment_of(__global const VALUE *values, const struct ring_table t,
                             const struct ring_own own, const struct interval in, double mean,
                             const airy_gather_geom g)
{
    double squares = 0.0;
    AIRY_UNROLL(4)
    for (uint k = 0u; k < own.count; k++) {
        const uint e = own.first + k * RING_GROUP;
        const VALUE v = values[e];
        const struct ring_entry entry = load_entry(t, e, v);
        const double from_mean = fma(-mean, entry.omega, entry.s);
        const bool kept = is_kept(entry, in) && !is_invalid((T)v, g);
        squares = kept ? fma(from_mean, from_mean, squares) : squares;
    }
    return squares;
}

/*
 * The interval after a further rejection, of the entries whose sums these are; false: the bin stops.
 * All items of a bin come to the same.
 */
AIRY_INLINE bool next_interval(struct interval *in, const struct ring_sums *kept, double spread,
                               const airy_ring_rule rule)
{
    const double variance = CLIPS_BY == 3 ? spread : kept->v[R_EXPECTED];
    const double mean = kept->v[R_SIGNAL] / kept->v[R_OMEGA],
                 std = sqrt(variance / kept->v[R_OMEGA2]);
    const double limit = airy_ring_limit(rule, mean, std, kept->v[R_COUNT]);
    if (kept->entries == 0u || !isfinite(mean) || !isfinite(limit))
        return false;
    const double lo = fmax(in->pivot - in->reach, mean - limit),
                 hi = fmin(in->pivot + in->reach, mean + limit);
    in->pivot = 0.5 * lo + 0.5 * hi;
    in->reach = 0.5 * hi - 0.5 * lo;
    return true;
}

#if STARTS_ANEW
/* Doubles as numbers of the same order, from -infinity up; and back. */
#define KEY_LEAST 0x000ffffffffffffful
#define KEY_MOST  0xfff0000000000000ul

AIRY_INLINE double of_key(ulong key)
{
    return as_double((key >> 63) != 0ul ? key ^ 0x8000000000000000ul : ~key);
}

/* Entries of the bin whose x is at most `most`, counted by all its items. */
AIRY_INLINE double count_up_to(__global const VALUE *values, const struct ring_table t,
                               const struct ring_own own, double most, const airy_gather_geom g,
                               __local struct ring_room *room)
{
    uint count = 0u;
    for (uint k = 0u; k < own.count; k++) {
        const uint e = own.first + k * RING_GROUP;
        const VALUE v = values[e];
        const struct ring_entry entry = load_entry(t, e, v);
        count += !is_invalid((T)v, g) && entry.s / entry.omega <= most ? 1u : 0u;
    }
    return group_ring_sum((double)count, room);
}

/*
 * The interval in which a bin starts anew: about the lower median of all of its entries, by the
 * standard deviation that is expected of the lower half. Few bins come here: the median is found by
 * bisection. count: sum c of all entries.
 */
AIRY_INLINE struct interval robust_start(__global const VALUE *values, const struct ring_table t,
                                         const struct ring_own own, double count,
                                         const airy_ring_rule rule, const airy_gather_geom g,
                                         __local struct ring_room *room)
{
    const double all = count_up_to(values, t, own, INFINITY, g, room),
                 rank = floor(0.5 * all - 0.5);
    ulong lo = KEY_LEAST, hi = KEY_MOST;
    while (lo < hi) {
        const ulong mid = lo + (hi - lo) / 2ul;
        if (count_up_to(values, t, own, of_key(mid), g, room) > rank)
            hi = mid;
        else
            lo = mid + 1ul;
    }
    const double median = of_key(lo), top = airy_ring_lower_half(median);
    double variance = 0.0, omega2 = 0.0;
    for (uint k = 0u; k < own.count; k++) {
        const uint e = own.first + k * RING_GROUP;
        const VALUE v = values[e];
        const struct ring_entry entry = load_entry(t, e, v);
        const bool low = !is_invalid((T)v, g) && entry.s / entry.omega <= top;
        variance += low ? expected_variance(t, e, v) : 0.0;
        omega2 += low ? entry.omega * entry.omega : 0.0;
    }
    variance = group_ring_sum(variance, room);
    omega2 = group_ring_sum(omega2, room);
    const struct interval in = {
        median, airy_ring_robust_limit(rule, median, sqrt(variance / omega2), count)};
    return in;
}
#endif

/*
 * Between the two launches, the count of a bin that is to start anew. No sum of counts is negative.
 */
#define MARK (-1.0)

AIRY_INLINE __global double *mark_of(__global double *sums, uint frame, uint bin,
                                     const airy_gather_geom g)
{
    return sums + g.sums_offset + ((ulong)frame * PLANES + COUNT) * g.bins + bin;
}

/* The arrays of both kernels. */
struct ring_job {
    struct ring_table table;
    __global const T *frames;
    __global VALUE *scratch;
    __global const uint *status;
    __global double *sums;
};

/*
 * Clip one bin of one frame. A bin of which a cycle would keep less than half is marked, and not
 * clipped any further; with `anew` it starts from its median instead.
 */
AIRY_INLINE void clip_bin(const struct ring_job job, const airy_ring_bin bin, uint frame,
                          const airy_ring_pass g, bool anew, __local ushort *list,
                          __local struct ring_room *room)
{
    const struct ring_own own = own_entries(bin, frame_is_good(job.status, frame, g.gather));
    const struct ring_table t = job.table;
    __global const T *image = job.frames + frame_start(frame, g.gather);
    __global VALUE *values = job.scratch + frame * g.entries;
    struct interval in = {0.0, INFINITY}, walked = in;
    struct ring_sums core;
    uint listed = 0u, missed = 0u, left = 0u;
    bool stopped = false;
#if STARTS_ANEW
    bool started_anew = false;
#else
    (void)anew;
#endif
    double count = 0.0, all = 0.0;
    walked.pivot = SPREAD ? first_pivot(image, t, bin, g.gather) : 0.0;
    gather_entries(&core, values, image, t, own, walked.pivot, g.gather);
    for (uint pass = 0u; pass <= g.rule.cycles; pass++) {
        const double inner = INNER * walked.reach;
        if (!stopped && (missed != 0u || in.pivot - in.reach > walked.pivot - inner ||
                         in.pivot + in.reach < walked.pivot + inner)) {
            listed = walk_all(&core, list, values, t, own, in, g.gather);
            walked = in;
        }
        struct ring_sums now = core;
        walk_list(&now, list, stopped ? 0u : listed, values, t, own, in, walked.pivot);
        group_ring_sums(&now, room);
        missed = now.flags;
        double spread = 0.0;
#if SPREAD
        /* Where the pivot is so far away that 2 of 53 bits are lost, squares are taken anew. */
        const double mean = now.v[R_SIGNAL] / now.v[R_OMEGA], off = mean - walked.pivot;
        spread = fmax(now.v[R_SQUARES] - off * (2.0 * now.v[R_CROSS] - off * now.v[R_OMEGA2]), 0.0);
        const bool lost = !stopped && now.v[R_SQUARES] > 4.0 * spread;
        const struct ring_own again = {own.first, lost ? own.count : 0u};
        const double squares =
            group_ring_sum(moment_of(values, t, again, in, mean, g.gather), room);
        spread = lost ? squares : spread;
#endif
        count = pass == 0u ? now.v[R_COUNT] : count;
        all = pass == 0u ? (double)now.entries : all;
#if STARTS_ANEW
        const bool loses_most = !stopped && airy_ring_loses_most((double)now.entries, all);
        if (anew && loses_most && !started_anew) {
            in = robust_start(values, t, own, count, g.rule, g.gather, room);
            started_anew = true;
            missed = 1u;
            left = ~0u;
            pass--; /* this pass again */
            continue;
        }
        if (!anew && loses_most) {
            if (is_writer(bin))
                *mark_of(job.sums, frame, bin.bin, g.gather) = MARK;
            stopped = true;
        }
#endif
        /* A pass that has rejected nothing, or all, is the bin's last; all is taken back. */
        const bool emptied = pass > 0u && now.entries == 0u,
                   same = pass > 0u && now.entries == left;
        if (!stopped && !emptied && !same) {
            left = now.entries;
            if (is_writer(bin))
                write_planes(job.sums, &now, LEAVES == 3 ? spread : now.v[R_EXPECTED], frame,
                             bin.bin, g.gather);
        }
        stopped = stopped || emptied || same || pass == g.rule.cycles ||
                  !next_interval(&in, &now, spread, g.rule);
    }
}

/*
 * Mapping: work-groups of RING_GROUP items; a group takes a bin of a frame (ALONE: RING_GROUP
 *          bins), groups of one bin follow each other. Local memory: 3.3 KiB, elsewhere than on
 *          NVIDIA 8 KiB more (ALONE: 3 KiB). Barriers: of the work-group.
 */
__kernel __attribute__((reqd_work_group_size(RING_GROUP, 1, 1))) void
ring_clip(RING_ARGUMENTS(VALUE))
{
    __local struct ring_room room;
    __local ushort lists[LISTED * RING_GROUP];
    const uint item = get_local_id(0), frame = get_group_id(0) % g.gather.frames;
    const uint number = get_group_id(0) / g.gather.frames;
    const struct ring_job job = {RING_TABLE, frames, scratch, status, sums};
    clip_bin(job, bins[ALONE != 0 ? number * RING_GROUP + item : number], frame, g, false,
             lists + item, &room);
}

#if STARTS_ANEW
/*
 * Clip the bins that ring_clip has marked, which are few as a rule. A median in ring_clip itself
 * would cost registers for every bin.
 * Mapping: work-groups of RING_GROUP items; a group takes a bin of AIRY_RING_ANEW_FRAMES frames
 *          (ALONE: RING_GROUP bins of a frame). Local memory, barriers: those of ring_clip.
 */
__kernel __attribute__((reqd_work_group_size(RING_GROUP, 1, 1))) void
ring_clip_anew(RING_ARGUMENTS(VALUE))
{
    __local struct ring_room room;
    __local ushort lists[LISTED * RING_GROUP];
    const uint item = get_local_id(0);
    const struct ring_job job = {RING_TABLE, frames, scratch, status, sums};
#if ALONE
    const uint frame = get_group_id(0) % g.gather.frames;
    const airy_ring_bin bin = bins[get_group_id(0) / g.gather.frames * RING_GROUP + item];
    if (bin.bin != ~0u && *mark_of(sums, frame, bin.bin, g.gather) == MARK)
        clip_bin(job, bin, frame, g, true, lists + item, &room);
#else
    __local uint marked[AIRY_RING_ANEW_FRAMES];
    const uint runs = (g.gather.frames + AIRY_RING_ANEW_FRAMES - 1u) / AIRY_RING_ANEW_FRAMES;
    const uint first = get_group_id(0) % runs * AIRY_RING_ANEW_FRAMES;
    const uint count = min(AIRY_RING_ANEW_FRAMES, g.gather.frames - first);
    const airy_ring_bin bin = bins[get_group_id(0) / runs];
    if (item < count)
        marked[item] = *mark_of(sums, first + item, bin.bin, g.gather) == MARK ? 1u : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0u; k < count; k++)
        if (marked[k] != 0u)
            clip_bin(job, bin, first + k, g, true, lists + item, &room);
#endif
}
#endif
