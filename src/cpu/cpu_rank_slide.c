/*
 * Ranks of many elements: the keys of a tile are sorted once, and the window is a set of bits, one for
 * each place in that order, so that a move to the right turns over two bits for each run of the
 * footprint. The word that holds the wanted element is followed from result to result, with the
 * number of elements in front of it (J. Suomela, "Median filtering is equivalent to sorting", 2014,
 * arXiv:1406.1717, section on two dimensions).
 */
#include <string.h>

#include "base/size.h"
#include "cpu/cpu_rank.h"

struct window {
    uint64_t *bits;
    size_t word;  /* with the wanted element, after find_wanted */
    size_t below; /* elements in the words in front of it */
};

static size_t count_bits(uint64_t w)
{
    w -= w >> 1 & 0x5555555555555555u;
    w = (w & 0x3333333333333333u) + (w >> 2 & 0x3333333333333333u);
    w = (w + (w >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (size_t)(w * 0x0101010101010101u >> 56);
}

static inline void add(struct window *w, uint32_t place)
{
    w->bits[place >> 6] |= (uint64_t)1 << (place & 63);
    w->below += (place >> 6) < w->word;
}

static inline void take(struct window *w, uint32_t place)
{
    w->bits[place >> 6] &= ~((uint64_t)1 << (place & 63));
    w->below -= (place >> 6) < w->word;
}

/* The place of element number `rank` of the window. */
static size_t find_wanted(struct window *w, size_t rank)
{
    while (w->below > rank)
        w->below -= count_bits(w->bits[--w->word]);
    for (;;) {
        const size_t here = count_bits(w->bits[w->word]);
        if (w->below + here > rank)
            break;
        w->below += here;
        w->word++;
    }
    uint64_t bits = w->bits[w->word];
    for (size_t i = w->below; i < rank; i++)
        bits &= bits - 1;
    return w->word * 64 + count_bits((bits & -bits) - 1);
}

/* Bytes of the places, sorted and by element; what sorting takes is for the bits afterwards. */
static size_t places_size(size_t keys)
{
    return airy_align_up(2 * keys * sizeof(uint32_t), 8);
}

size_t airy_rank_slide_scratch(size_t keys)
{
    return places_size(keys) +
           airy_max_size(airy_rank_sort_scratch(keys), (keys + 63) / 64 * sizeof(uint64_t));
}

void airy_rank_slide(const struct airy_rank_slide *s)
{
    const size_t n = s->planes * s->rows * s->length, words = (n + 63) / 64;
    uint32_t *place = s->scratch, *sorted = place + n;
    struct window w = {.bits = (uint64_t *)(void *)((char *)s->scratch + places_size(n))};
    airy_rank_sort(sorted, w.bits, s->keys, s->elem, n);
    for (size_t i = 0; i < n; i++)
        place[sorted[i]] = (uint32_t)i;
    char *to = s->results;
    for (size_t y = 0; y < s->height; y++) {
        memset(w.bits, 0, words * sizeof(*w.bits));
        w.word = w.below = 0;
        for (size_t i = 0; i < s->run_count; i++) {
            const struct airy_rank_run *r = &s->runs[i];
            const uint32_t *row = place + (r->plane * s->rows + y + r->row) * s->length;
            for (size_t x = r->first; x < r->end; x++)
                add(&w, row[x]);
        }
        for (size_t x = 0; x < s->width; x++, to += s->elem) {
            const size_t wanted = sorted[find_wanted(&w, s->rank)];
            memcpy(to, (const char *)s->keys + wanted * s->elem, s->elem);
            for (size_t i = 0; i < s->run_count && x + 1 < s->width; i++) {
                const struct airy_rank_run *r = &s->runs[i];
                const uint32_t *row = place + (r->plane * s->rows + y + r->row) * s->length + x;
                take(&w, row[r->first]);
                add(&w, row[r->end]);
            }
        }
    }
}
