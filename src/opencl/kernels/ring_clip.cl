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

/* Kept are entries with |s - pivot omega| <= reach |omega|. */
struct interval {
    double lo, hi, pivot, reach;
};

AIRY_INLINE struct interval make_interval(double lo, double hi)
{
    const struct interval all = {lo, hi, 0.0, INFINITY};
    const struct interval some = {lo, hi, 0.5 * lo + 0.5 * hi, 0.5 * hi - 0.5 * lo};
    return lo == -INFINITY ? all : some;
}

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
                                const struct ring_own own, const airy_gather_geom g)
{
    clear_sums(sums);
    AIRY_UNROLL(4)
    for (uint k = 0u; k < own.count; k++) {
        const uint e = own.first + k * RING_GROUP;
        const VALUE v = (VALUE)image[t.pixel[e]];
        const struct ring_entry entry = load_entry(t, e, v);
        values[e] = v;
        if (!is_invalid((T)v, g))
            add_entry(sums, entry, expected_variance(t, e, v), entry.s);
    }
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

/* What is known of a bin after a pass over it. */
struct ring_state {
    struct ring_sums kept;
    double mean, spread; /* spread: sum (s - omega mean)^2 */
};

/*
 * The interval after a further rejection; false: the bin stops. All items of a bin come to the same.
 */
AIRY_INLINE bool next_interval(struct interval *in, const struct ring_state *state,
                               const airy_ring_rule rule)
{
    const double variance = CLIPS_BY == 3 ? state->spread : state->kept.v[R_EXPECTED];
    const double std = sqrt(variance / state->kept.v[R_OMEGA2]);
    const double limit = airy_ring_limit(rule, state->mean, std, state->kept.v[R_COUNT]);
    if (state->kept.entries == 0u || !isfinite(state->mean) || !isfinite(limit))
        return false;
    *in = make_interval(fmax(in->lo, state->mean - limit), fmin(in->hi, state->mean + limit));
    return true;
}

/*
 * Take over the sums of a pass, unless it has emptied the bin; false: the bin stops, as nothing was
 * rejected or all was.
 */
AIRY_INLINE bool take_over(struct ring_state *state, const struct ring_state *now, uint pass,
                           const airy_ring_rule rule)
{
    const uint before = state->kept.entries;
    if (pass > 0u && now->kept.entries == 0u && rule.compat == 0u)
        return false;
    *state = *now;
    return pass == 0u || now->kept.entries != before;
}

/*
 * Mapping: work-groups of RING_GROUP items; a group takes a bin of a frame (ALONE: RING_GROUP
 *          bins), groups of one bin follow each other. Local memory: 6.1 KiB, on NVIDIA half a KiB
 *          more, elsewhere 16 KiB more (ALONE: none). Barriers: of the work-group.
 */
__kernel __attribute__((reqd_work_group_size(RING_GROUP, 1, 1))) void
ring_clip(__global const airy_ring_bin *bins, __global const uint *pixel,
          __global const float *weight, __global const float *other, __global const float *dark,
          __global const float *variance, __global const T *frames, __global VALUE *scratch,
          __global const uint *status, __global double *sums, const airy_ring_pass g)
{
    __local struct ring_room room;
    __local ushort lists[LISTED * RING_GROUP];
    const uint item = get_local_id(0), frame = get_group_id(0) % g.gather.frames;
    const uint number = get_group_id(0) / g.gather.frames;
    const airy_ring_bin bin = bins[ALONE != 0 ? number * RING_GROUP + item : number];
    const struct ring_own own = own_entries(bin, frame_is_good(status, frame, g.gather));
    const struct ring_table t = {pixel, weight, other, dark, variance};
    __global VALUE *values = scratch + frame * g.entries;
    __local ushort *list = lists + item;
    struct interval in = make_interval(-INFINITY, INFINITY), walked = in;
    struct ring_sums core;
    struct ring_state state, now;
    uint listed = 0u, missed = 0u;
    bool stopped = false;
    clear_sums(&state.kept);
    state.mean = state.spread = 0.0;
    gather_entries(&core, values, frames + frame_start(frame, g.gather), t, own, g.gather);
    for (uint pass = 0u; pass <= g.rule.cycles; pass++) {
        const double inner = INNER * walked.reach;
        if (!stopped &&
            (missed != 0u || in.lo > walked.pivot - inner || in.hi < walked.pivot + inner)) {
            listed = walk_all(&core, list, values, t, own, in, g.gather);
            walked = in;
        }
        now.kept = core;
        walk_list(&now.kept, list, stopped ? 0u : listed, values, t, own, in, walked.pivot);
        group_ring_sums(&now.kept, &room);
        missed = now.kept.flags;
        now.mean = now.kept.v[R_SIGNAL] / now.kept.v[R_OMEGA];
        now.spread = 0.0;
#if SPREAD
        /* Where the pivot is so far away that 10 of 53 bits are lost, squares are taken anew. */
        const double off = now.mean - walked.pivot;
        now.spread = fmax(now.kept.v[R_SQUARES] -
                              off * (2.0 * now.kept.v[R_CROSS] - off * now.kept.v[R_OMEGA2]),
                          0.0);
        const bool anew = !stopped && now.kept.v[R_SQUARES] > 0x1p10 * now.spread;
        const struct ring_own again = {own.first, anew ? own.count : 0u};
        const double squares =
            group_ring_sum(moment_of(values, t, again, in, now.mean, g.gather), &room);
        now.spread = anew ? squares : now.spread;
#endif
        if (!stopped)
            stopped = !take_over(&state, &now, pass, g.rule) || pass == g.rule.cycles ||
                      !next_interval(&in, &state, g.rule);
    }
    write_planes(sums, &state.kept, state.spread, frame, bin, g.gather);
}
