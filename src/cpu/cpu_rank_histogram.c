/*
 * Ranks of 8-bit elements in time that does not depend on the window: a histogram for each column
 * of the window's height, of which two elements change from row to row, and the window's own, to
 * which one column is added and from which one is taken. Both are of two levels, 16 bins and 16 in
 * each of these; of the window's second level only what is looked at is brought up to date
 * (S. Perreault, P. Hebert, "Median filtering in constant time", IEEE Transactions on Image
 * Processing 16, 2007, 2389).
 */
#include <string.h>

#include "base/size.h"
#include "cpu/cpu_rank.h"

enum { BINS = 16 };

/* Counts fit 16 bits: AIRY_RANK_HISTOGRAM_MOST elements. */
struct column {
    uint16_t coarse[BINS], fine[BINS][BINS];
};

struct window {
    uint16_t coarse[BINS], fine[BINS][BINS];
    size_t at[BINS]; /* first column of the window that fine[] is of */
    bool known[BINS];
};

static inline void add_bins(uint16_t *restrict to, const uint16_t *restrict bins)
{
    for (int i = 0; i < BINS; i++)
        to[i] = (uint16_t)(to[i] + bins[i]);
}

static inline void take_bins(uint16_t *restrict to, const uint16_t *restrict bins)
{
    for (int i = 0; i < BINS; i++)
        to[i] = (uint16_t)(to[i] - bins[i]);
}

/* A row of the tile, in all planes, into the columns (change 1) or out of them (-1). */
static void count_row(struct column *columns, const struct airy_rank_slide *s, size_t y, int change)
{
    for (size_t k = 0; k < s->planes; k++) {
        const uint8_t *row = (const uint8_t *)s->keys + (k * s->rows + y) * s->length;
        for (size_t x = 0; x < s->width + s->taps[1] - 1; x++) {
            uint16_t *coarse = &columns[x].coarse[row[x] / BINS],
                     *fine = &columns[x].fine[row[x] / BINS][row[x] % BINS];
            *coarse = (uint16_t)(*coarse + change);
            *fine = (uint16_t)(*fine + change);
        }
    }
}

/* fine[bin] of the window whose first column is x. */
static void update_bin(struct window *w, const struct column *columns, size_t bin, size_t x,
                       size_t taps)
{
    uint16_t *fine = w->fine[bin];
    if (!w->known[bin] || x - w->at[bin] > taps / 2) {
        memset(fine, 0, sizeof(w->fine[bin]));
        for (size_t i = x; i < x + taps; i++)
            add_bins(fine, columns[i].fine[bin]);
    } else {
        for (size_t i = w->at[bin]; i < x; i++) {
            take_bins(fine, columns[i].fine[bin]);
            add_bins(fine, columns[i + taps].fine[bin]);
        }
    }
    w->known[bin] = true;
    w->at[bin] = x;
}

/* The bin that element `rank` is in; *rank becomes its number there. */
static size_t find_bin(const uint16_t bins[BINS], size_t *rank)
{
    size_t i = 0;
    while (bins[i] <= *rank)
        *rank -= bins[i++];
    return i;
}

static void filter_row(uint8_t *to, const struct airy_rank_slide *s, const struct column *columns)
{
    const size_t taps = s->taps[1];
    struct window w = {.at = {0}};
    for (size_t i = 0; i < taps; i++)
        add_bins(w.coarse, columns[i].coarse);
    for (size_t x = 0; x < s->width; x++) {
        if (x > 0) {
            take_bins(w.coarse, columns[x - 1].coarse);
            add_bins(w.coarse, columns[x + taps - 1].coarse);
        }
        size_t rank = s->rank;
        const size_t bin = find_bin(w.coarse, &rank);
        update_bin(&w, columns, bin, x, taps);
        to[x] = (uint8_t)(bin * BINS + find_bin(w.fine[bin], &rank));
    }
}

size_t airy_rank_histogram_scratch(size_t length)
{
    return length * sizeof(struct column);
}

void airy_rank_histogram(const struct airy_rank_slide *s)
{
    struct column *columns = s->scratch;
    memset(columns, 0, (s->width + s->taps[1] - 1) * sizeof(*columns));
    for (size_t y = 0; y < s->taps[0]; y++)
        count_row(columns, s, y, 1);
    for (size_t y = 0; y < s->height; y++) {
        if (y > 0) {
            count_row(columns, s, y - 1, -1);
            count_row(columns, s, y + s->taps[0] - 1, 1);
        }
        filter_row((uint8_t *)s->results + y * s->width, s, columns);
    }
}
