/*
 * By how much an object's min_area brightest pixels are above the threshold: wings that are higher
 * explain the object.
 */
#include <stdlib.h>

#include "sources/sources_parts.h"

static void swap_floats(float *a, float *b)
{
    const float swap = *a;
    *a = *b;
    *b = swap;
}

static void sift_down(float *heap, size_t n)
{
    for (size_t i = 0, child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && heap[child + 1] < heap[child];
        if (heap[i] <= heap[child])
            return;
        swap_floats(&heap[i], &heap[child]);
    }
}

static void sift_up(float *heap, size_t i)
{
    for (size_t up; i > 0 && heap[i] < heap[up = (i - 1) / 2]; i = up)
        swap_floats(&heap[i], &heap[up]);
}

static float find_excess(const struct airy_source_plan *plan,
                         const struct airy_source_planes *planes, struct airy_place p)
{
    const size_t at = p.y * planes->width + p.x;
    const float threshold = plan->varies ? (float)plan->p.sigma * planes->noise[at]
                                         : plan->threshold;
    return planes->filtered[at] - threshold;
}

/* Pixels from number i on in its row, of the core, to the left of x. */
static size_t count_front(const struct airy_source_pixels *pixels, size_t i, uint32_t x)
{
    const uint32_t row = pixels->place[pixels->index[i]].y;
    size_t n = 0;
    for (; i < pixels->count; i++) {
        const struct airy_place p = pixels->place[pixels->index[i]];
        if (p.y != row || p.x >= x)
            break;
        n += !pixels->gathered[pixels->index[i]];
    }
    return n;
}

/*
 * Pixels as they stand in SEP's list of an object with one run a row: those to the left of where
 * the row above begins come in front of all before, other ones behind. Gathered ones come last.
 */
static void list_pixels(struct airy_place *list, const struct airy_source_pixels *pixels)
{
    const size_t n = pixels->count;
    size_t in_front = 0, core = 0;
    for (size_t i = 0; i < n; i++)
        core += !pixels->gathered[pixels->index[i]];
    for (int pass = 0; pass < 2; pass++) {
        struct airy_place start = {0, UINT32_MAX};
        uint32_t above = 0; /* where the row above begins */
        size_t front = in_front, put = 0, behind = in_front, last = core;
        for (size_t i = 0; i < n; i++) {
            const struct airy_place p = pixels->place[pixels->index[i]];
            const bool gathered = pixels->gathered[pixels->index[i]];
            if (!gathered && p.y != start.y) {
                above = start.y == UINT32_MAX ? 0 : start.x;
                start = p;
                put = 0;
            }
            if (pass == 0) {
                in_front += !gathered && p.x < above;
                continue;
            }
            if (gathered) {
                list[last++] = p;
            } else if (p.x >= above) {
                list[behind++] = p;
            } else { /* rows stand from the last to the first, pixels within them in order */
                if (put == 0)
                    front -= count_front(pixels, i, above);
                list[front + put++] = p;
            }
        }
    }
}

static int compare_floats(const void *left, const void *right)
{
    const float a = *(const float *)left, b = *(const float *)right;
    return a < b ? -1 : a > b;
}

/* As SEP's: the next step starts one place behind the child. */
static void sift_down_oddly(float *heap, size_t n)
{
    for (size_t i = 0, k; (k = 2 * (i + 1)) <= n; i = k) {
        const size_t child = k != n && heap[k - 1] > heap[k] ? k++ : k - 1;
        if (heap[i] <= heap[child])
            return;
        swap_floats(&heap[i], &heap[child]);
    }
}

/*
 * As SEP 1.4 and SExtractor 2 find it: of min_area pixels it is that of the first in the list; else
 * the first min_area are sorted, the next one is not looked at, and the others go through a heap
 * that loses its order below its second row.
 */
static float find_odd_excess(const struct airy_source_plan *plan,
                             const struct airy_source_planes *planes, const struct airy_place *list,
                             size_t count, float *heap)
{
    const size_t wanted = plan->p.min_area;
    for (size_t i = 0; i < count; i++) {
        const float excess = find_excess(plan, planes, list[i]);
        if (i < wanted)
            heap[i] = excess;
        else if (i == wanted)
            qsort(heap, wanted, sizeof(*heap), compare_floats);
        else if (excess > heap[0]) {
            heap[0] = excess;
            sift_down_oddly(heap, wanted);
        }
    }
    return heap[0];
}

void airy_source_excess(struct airy_source_object *o, const struct airy_source_plan *plan,
                        const struct airy_source_planes *planes,
                        const struct airy_source_pixels *pixels,
                        const struct airy_excess_scratch *scratch)
{
    const size_t wanted = plan->p.min_area;
    float *heap = scratch->heap;
    size_t n = 0;
    o->excess = 0;
    if (pixels->count < wanted)
        return;
    if (plan->p.compat_sep) {
        list_pixels(scratch->list, pixels);
        o->excess = (double)find_odd_excess(plan, planes, scratch->list, pixels->count, heap);
        return;
    }
    for (size_t i = 0; i < pixels->count; i++) {
        const float excess = find_excess(plan, planes, pixels->place[pixels->index[i]]);
        if (n < wanted) {
            heap[n] = excess;
            sift_up(heap, n++);
        } else if (excess > heap[0]) {
            heap[0] = excess;
            sift_down(heap, n);
        }
    }
    o->excess = (double)heap[0];
}
