/*
 * The CPU back end of the integrate family, between its own files.
 *
 * What a frame's sums are, whatever the instruction set, the number of threads, the batch and the
 * codec: the frame is cut into slices (fixed by its pixels and bins alone); within a slice every
 * bin sums its entries in ascending pixel order, one fma() each, in f64, from 0; the slices' sums
 * are added in ascending order. Every kernel keeps this order for every frame, so all of them
 * agree bit for bit.
 *
 * Frames in lanes: the same tile of up to AIRY_MAX_LANES frames lies transposed in vectors, and an
 * entry of the matrix is one multiply-add for all of them; sums lie as [bin][plane][lane].
 */
#ifndef AIRY_CPU_CPU_INTEGRATE_H
#define AIRY_CPU_CPU_INTEGRATE_H

#include "integrate/integrate_fns.h"

enum {
    AIRY_GROUP = 16,        /* pixels that share a flag, and a word of the valid bits */
    AIRY_TILE = 2048,       /* pixels looked at together; a multiple of AIRY_GROUP */
    AIRY_MAX_LANES = 16,    /* frames side by side */
    AIRY_SLICE_STEP = 8192, /* slices are multiples of it, so that blocks of the default sizes
                               never straddle two */
    AIRY_MAX_SLICES = 64,
    AIRY_MERGE_BINS = 128, /* bins that one call of the merge adds up */
    AIRY_MAX_PER_PIXEL = 6 /* entries per pixel of the compact matrix */
};

/*
 * A run of pixels, and of partial sums. Their rows: the bins [bin_lo, bin_lo + bin_count), or of a
 * matrix with cells the bin_count bins that its entries have.
 */
struct airy_slice {
    size_t pixel, pixels;
    size_t bin_lo, bin_count;
    size_t row; /* first row of its partial sums; it has bin_count + AIRY_MAX_PER_PIXEL of them */
};

enum airy_group_kind {
    AIRY_GROUP_EMPTY = 0, /* no entries */
    AIRY_GROUP_COMPACT,   /* in the compact matrix */
    AIRY_GROUP_ANY        /* in the general matrix only */
};

/* The integrator's form for this back end. */
struct airy_cpu_matrix {
    struct airy_cpu_rings *rings; /* of clip and quantile (cpu_rings.h), else NULL */
    size_t groups;                /* pixels / AIRY_GROUP, rounded up */
    size_t slices, rows;
    struct airy_slice slice[AIRY_MAX_SLICES];
    uint8_t *kind;   /* [groups], enum airy_group_kind */
    uint16_t *valid; /* [groups] bit k: pixel k of the group counts */
    /*
     * The compact matrix: per_pixel entries for each pixel, of consecutive bins from bin[]
     * (counted from the slice's bin_lo), filled with weight 0. Absent (per_pixel 0) where pixels
     * have more entries than that.
     */
    unsigned per_pixel;
    uint16_t *bin; /* [groups * AIRY_GROUP] */
    float *weight; /* [groups * AIRY_GROUP][per_pixel] */
    /*
     * Where there are so many bins that a slice meets few of them: its rows are those. NULL
     * otherwise; there is no compact matrix then.
     */
    uint32_t *cell;  /* [rows] the row's bin, ascending in a slice */
    uint32_t *place; /* [entries] row of an entry's bin in its slice */
    uint32_t *below; /* [slices][merge pieces + 1] rows of the slice below the piece's first bin */
};

airy_status airy_cpu_matrix_make(struct airy_cpu_matrix **matrix, uint64_t *bytes,
                                 const airy_integrator *integrator);
void airy_cpu_matrix_free(struct airy_cpu_matrix **matrix);

/* What to look for in raw values of one dtype, from airy_pixel_test. */
struct airy_raw_rules {
    /*
     * Integers, as the low 32 bits of the sign- or zero-extended value: left out where value - lo
     * <= span; has_interval false: none. Below `suspicious` (as unsigned) a value is neither left
     * out nor saturated nor negative.
     */
    uint32_t lo, span;
    bool has_interval;
    uint64_t suspicious;
    int64_t saturation;
    double float_lo, float_hi, float_saturation;
};

/*
 * What a slice of one frame adds to its statistics. Float totals: 16 sums by pixel number modulo
 * 16.
 */
struct airy_raw_stats {
    double partial[AIRY_GROUP];
    int64_t total;
    double max;
    bool any; /* a pixel that counts was seen, so max is one */
    uint32_t invalid, saturated;
};

/* A tile of up to AIRY_TILE pixels of `lanes` frames on its way into the sums. */
struct airy_lanes {
    const void *pixels[AIRY_MAX_LANES]; /* the tile's first pixel; readable to a whole group */
    size_t first, count;                /* of the tile in the frame */
    const airy_integrator *integrator;
    const struct airy_cpu_matrix *matrix;
    const struct airy_slice *slice;
    double *sums;          /* [slice rows][planes][lanes] */
    const uint32_t *place; /* [entries] row of an entry in sums, counted from place_lo */
    uint32_t place_lo;
    bool poisson; /* 2 planes: signal and variance; else 1 */
    /* Second pass of the azimuthal model: sums get the squares around the means. */
    const double *means;                     /* [bins][lanes] */
    const uint16_t *invalid[AIRY_MAX_LANES]; /* the tile's bits of pixels to be left out, or NULL */
};

/* Kernels of one dtype for one number of lanes. */
struct airy_sum_fns {
    /* Add the tile's values to the sums; every value is finite. */
    void (*sum)(const struct airy_lanes *lanes);
    void (*second)(const struct airy_lanes *lanes);
};

/* Kernels of one dtype. */
struct airy_raw_fns {
    struct airy_sum_fns wide, single; /* the set's lanes, and one */
    /*
     * Look through count pixels. True: all is well and stats are updated; *zero tells whether
     * every pixel that counts is 0.
     * False: look closer, stats are untouched.
     */
    bool (*scan)(struct airy_raw_stats *stats, bool *zero, const void *pixels,
                 const uint16_t *valid, size_t count, const struct airy_raw_rules *rules);
    /*
     * The same for any values: those left out (not finite ones everywhere) become 0, and their
     * bits are set.
     */
    void (*clean)(struct airy_raw_stats *stats, void *pixels, uint16_t *invalid,
                  const uint16_t *valid, size_t count, const struct airy_raw_rules *rules);
};

struct airy_integrate_kernels {
    /*
     * The fewest low bytes, 1, 2 or elem_size, that hold every counting pixel of a block: planes
     * are its bit planes, `row` bytes each and 8 elem_size of them, valid has a bit for each pixel.
     */
    size_t (*narrowest)(const uint8_t *planes, size_t row, size_t elem_size, const uint8_t *valid);
    unsigned lanes; /* of wide */
    unsigned worth; /* frames from which on wide beats `fewer`, or where that is NULL, one by one */
    const struct airy_integrate_kernels *fewer;
    const char *engine;
    struct airy_raw_fns raw[AIRY_DTYPE_COUNT]; /* u64, i64: NULL */
};

extern const struct airy_integrate_kernels airy_integrate_portable;
#if defined(__x86_64__)
extern const struct airy_integrate_kernels airy_integrate_avx2, airy_integrate_avx512;
#elif defined(__aarch64__)
extern const struct airy_integrate_kernels airy_integrate_neon;
#endif
const struct airy_integrate_kernels *airy_integrate_kernels(void);

enum { AIRY_MAX_WAVE_GROUPS = 64 };

/* What a slice of one frame leaves beside its sums. */
struct airy_slice_result {
    struct airy_raw_stats stats;
    uint32_t status; /* AIRY_STATUS_GOOD, or the slice's lowest bad block and why */
    bool marked;     /* the slice's part of the frame's invalid bits is set up */
};

/* Frames side by side, counted in the wave. */
struct airy_frame_group {
    size_t first;
    unsigned count, lanes;
    const struct airy_integrate_kernels *kernels;
    double *partials; /* [rows][planes][lanes] */
};

/*
 * One call of integrate or integrate_chunks. Frames go in waves, as many as the scratch is sized
 * for; a wave's tasks are (slice, group), slice by slice, so that a slice of the matrix stays in
 * cache for all groups.
 */
struct airy_integrate_job {
    const struct airy_integrate_plan *plan;
    const airy_integrator *integrator;
    const struct airy_cpu_matrix *matrix;
    const struct airy_integrate_kernels *kernels;
    struct airy_raw_rules rules;
    airy_dtype dtype;
    size_t elem_size, frames;
    unsigned lanes, planes;

    const uint8_t *pixels;   /* frames in memory, or NULL */
    const uint32_t *status;  /* of frames in memory, or NULL */
    const airy_block *table; /* chunks */
    const uint8_t *bytes;
    double *sums;            /* [frames][AIRY_SUM_PLANES][bins] */
    airy_frame_stats *stats; /* [frames] */

    size_t wave_first, wave_frames, groups;
    struct airy_frame_group group[AIRY_MAX_WAVE_GROUPS];
    bool second; /* pass of the azimuthal model */
    bool rings;  /* slices are only looked through, for the statistics of frames */

    /* Scratch. */
    double *partials;
    double *means;                     /* [wave frames][bins], by group as [bins][lanes];
                                          azimuthal only */
    struct airy_slice_result *results; /* [wave frames][slices] */
    uint16_t *invalid;                 /* [wave frames][matrix groups] */
    uint8_t *removed;                  /* [removed_runs][removed_size], for pixels left out */
    size_t removed_size, removed_runs;
    unsigned threads; /* that have scratch */
    uint8_t *worker;  /* [threads][worker_size] */
    size_t worker_size, lane_size;
    size_t window; /* pixels of a lane that are decoded at a time */
    uint8_t *ring; /* [ring_threads][ring_size], rings */
    size_t ring_size;
    unsigned ring_threads;
};

/*
 * cpu_integrate_merge.c: loops on the pool, after all of the wave's slices are summed; in this
 * order.
 */
void airy_integrate_stats_wave(struct airy_integrate_job *job);
/* The slices' sums to the frames', which bad frames have none of. */
void airy_integrate_merge_wave(struct airy_integrate_job *job);
/* The sums that do not depend on values, for frames with pixels left out. */
void airy_integrate_remove_wave(struct airy_integrate_job *job);
/* Means of the wave's bins for the second pass. */
void airy_integrate_mean_wave(struct airy_integrate_job *job);
/* The variance plane by the recurrence of compat pyfai. */
void airy_integrate_recur_wave(struct airy_integrate_job *job);
/* cpu_rings.c: all sums of the wave by clip or quantile; the frames are in memory. */
airy_status airy_integrate_rings_take(struct airy_integrate_job *job, airy_queue *queue);
void airy_integrate_rings_wave(struct airy_integrate_job *job);
size_t airy_integrate_merge_scratch(const struct airy_integrate_job *job);
size_t airy_integrate_removal_size(const struct airy_integrate_job *job);

#endif
