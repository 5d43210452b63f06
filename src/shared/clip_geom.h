/* Statistics and clips that a device finds by itself (kernels/clip.cl). The same on host and device. */
#ifndef AIRY_SHARED_CLIP_GEOM_H
#define AIRY_SHARED_CLIP_GEOM_H

#include "shared/array_box.h"

#define AIRY_CLIP_ITEMS   256u   /* of a work-group of the walk */
#define AIRY_CLIP_EACH    8u     /* elements an item takes at a time; part of the order of sums */
#define AIRY_CLIP_BATCH   4u     /* such steps before elements go to their buckets */
#define AIRY_CLIP_STAGE   1024u  /* elements that wait for it; more go at once */
#define AIRY_CLIP_SOLVERS 512u   /* items of the group that plans and solves */
#define AIRY_CLIP_GROUPS  512u   /* of a walk, at most: one for each of these */
#define AIRY_CLIP_SAMPLE  4096u  /* elements that are looked at first, at most */
#define AIRY_CLIP_LOOKED  16384u /* the same where warps are and f32 holds elements */
#define AIRY_CLIP_BINS    2048u  /* in which its middle is counted */
#define AIRY_CLIP_IMAGES  16u    /* of a launch, at most */
#define AIRY_CLIP_BUCKETS 4096u  /* of the elements near the median */
#define AIRY_CLIP_SORTED  512u   /* elements of a bucket that are ranked in local memory */
#define AIRY_CLIP_BLOCK   256u   /* tails that are sorted together: one an item of the walk */
#define AIRY_CLIP_ENDS    4u     /* as long as so many elements: what is left of a block of them */
/* clip_ranks: items, those that share the work of one element, and elements of a group. */
#define AIRY_CLIP_RANK_ITEMS 1024u
#define AIRY_CLIP_RANK_SHARE 32u
#define AIRY_CLIP_RANKED     (AIRY_CLIP_RANK_ITEMS / AIRY_CLIP_RANK_SHARE)

typedef struct airy_clip_geom {
    airy_array_box src, mask;
    airy_u64 src_step, mask_step; /* elements from an image to the next one of a launch */
    airy_u64 count;               /* of an image, fewer than 2^32 */
    airy_u64 passes;
    double kappa_low, kappa_high;
    airy_u32 samples, stretch; /* one element of each stretch is in the sample */
    airy_u32 groups;
    airy_u32 room;  /* tails a group may list: whole blocks */
    airy_u32 depth; /* elements that a bucket holds */
    airy_u32 clips; /* 0: statistics alone */
    airy_u32 mean;  /* the center is the mean */
    airy_u32 inclusive;
    airy_u32 median; /* wanted */
    airy_u32 turn;   /* of the answer */
    airy_u32 slot;   /* of the first image */
    airy_u32 unused;
} airy_clip_geom;
AIRY_ASSERT_SIZE(airy_clip_geom, 224);

/* What the walk sums and lists, from the sample. */
typedef struct airy_clip_plan {
    double pivot;
    double core_lo, core_hi;     /* summed; what lies outside, the tails, is listed */
    double window_lo, window_hi; /* in the core, with the median: in buckets */
} airy_clip_plan;

/* What a group of the walk found. */
typedef struct airy_clip_part {
    double sum, squares;  /* of x - pivot over the core */
    airy_i64 least, most; /* keys of its extremes, and their first places */
    airy_u32 least_at, most_at;
    airy_u32 count, below;     /* of the core; below the window */
    airy_u32 ties_lo, ties_hi; /* on the ends of the window */
    airy_u32 masked, infinite;
    airy_u32 tails; /* found; no more than `room` are listed */
    airy_u32 low;   /* of them below the core */
    double tail_sum, tail_squares;
} airy_clip_part;
AIRY_ASSERT_SIZE(airy_clip_part, 88);
#define AIRY_CLIP_PART_WORDS 11u /* of 8 bytes */

/* Why the device gave up: the data are not what the sample told. */
enum {
    AIRY_CLIP_DONE,
    AIRY_CLIP_FULL,    /* more tails than can be listed */
    AIRY_CLIP_MISSED,  /* the median is not in the window */
    AIRY_CLIP_CROWDED, /* its bucket is full of different values */
    AIRY_CLIP_INSIDE   /* bounds in the core */
};

typedef struct airy_clip_found {
    airy_u32 turn; /* an answer to the host: stored last */
    airy_u32 status;
    double sum, squares, pivot; /* of the elements that are left, as in a part */
    double median, min, max;
    double low, high; /* bounds of the last pass */
    airy_u64 min_at, max_at;
    airy_u64 count, finite, masked, infinite, passes;
    airy_u64 tails; /* listed */
} airy_clip_found;
AIRY_ASSERT_SIZE(airy_clip_found, 136);

/* All of an image that lives on the device between the kernels. */
typedef struct airy_clip_state {
    airy_clip_plan plan;
    airy_u64 unused; /* counts begin at a multiple of 16 bytes */
    airy_u64 parts[AIRY_CLIP_PART_WORDS][AIRY_CLIP_GROUPS]; /* first all groups' first words */
    airy_i64 sample[AIRY_CLIP_SAMPLE];                      /* keys, ascending */
    /* Elements of each bucket, and the extremes of the keys that it did not hold. */
    airy_i64 least[AIRY_CLIP_BUCKETS], most[AIRY_CLIP_BUCKETS];
    airy_u32 counts[AIRY_CLIP_BUCKETS];
    airy_i32 looked[AIRY_CLIP_LOOKED]; /* keys of the larger sample, as it was drawn */
} airy_clip_state;
AIRY_ASSERT_SIZE(airy_clip_state, 48 + 88 * AIRY_CLIP_GROUPS + 8 * AIRY_CLIP_SAMPLE +
                                      20 * AIRY_CLIP_BUCKETS + 4 * AIRY_CLIP_LOOKED);

/* What the groups that look at an image's sample tell the last one of them: 0 before and after. */
typedef struct airy_clip_tally {
    airy_u32 done;         /* groups */
    airy_u32 valid, below; /* elements; those below all bins */
    airy_u32 unused;
    airy_u32 counts[AIRY_CLIP_BINS];
    /* The extremes of a bin, as numbers of which the largest is kept. Right behind the counts. */
    airy_u32 most[AIRY_CLIP_BINS], least[AIRY_CLIP_BINS];
} airy_clip_tally;
AIRY_ASSERT_SIZE(airy_clip_tally, 16 + 12 * AIRY_CLIP_BINS);

#endif
