#include "sources/place_tree.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"

enum { LEAF = 8 };

struct key {
    uint64_t curve;
    uint32_t point;
};

/* The 32 bits of v, with a gap behind each. */
static uint64_t spread_bits(uint32_t v)
{
    uint64_t x = v;
    x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
    x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x | x << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    x = (x | x << 2) & UINT64_C(0x3333333333333333);
    return (x | x << 1) & UINT64_C(0x5555555555555555);
}

/* Quarters of a pixel, from far outside of any image on. */
static uint32_t cell(double x)
{
    return (uint32_t)fmin(fmax(4 * x + 1e9, 0), 4e9);
}

static int compare_keys(const void *left, const void *right)
{
    const struct key *a = left, *b = right;
    if (a->curve != b->curve)
        return a->curve < b->curve ? -1 : 1;
    return a->point < b->point ? -1 : a->point > b->point;
}

static void add_box(struct airy_place_box *to, const struct airy_place_box *from)
{
    to->x[0] = fmin(to->x[0], from->x[0]);
    to->x[1] = fmax(to->x[1], from->x[1]);
    to->y[0] = fmin(to->y[0], from->y[0]);
    to->y[1] = fmax(to->y[1], from->y[1]);
    to->most[0] = fmax(to->most[0], from->most[0]);
    to->most[1] = fmax(to->most[1], from->most[1]);
}

static airy_status sort_points(struct airy_place_tree *tree)
{
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, tree->count, sizeof(struct key), "places"));
    struct key *key = block;
    for (size_t i = 0; i < tree->count; i++) {
        const struct airy_place_point *p = &tree->point[i];
        key[i].curve = spread_bits(cell(p->x)) | spread_bits(cell(p->y)) << 1;
        key[i].point = (uint32_t)i;
    }
    qsort(key, tree->count, sizeof(*key), compare_keys);
    for (size_t i = 0; i < tree->count; i++)
        tree->order[i] = key[i].point;
    free(key);
    return AIRY_OK;
}

static void make_boxes(struct airy_place_tree *tree)
{
    for (size_t i = 0; i < tree->boxes[0]; i++) {
        struct airy_place_box *to = &tree->box[i];
        const size_t end = airy_min_size((i + 1) * LEAF, tree->count);
        for (size_t j = i * LEAF; j < end; j++) {
            const struct airy_place_point *p = &tree->point[tree->order[j]];
            const struct airy_place_box one = {
                {p->x, p->x}, {p->y, p->y}, {p->value[0], p->value[1]}};
            if (j == i * LEAF)
                *to = one;
            else
                add_box(to, &one);
        }
    }
    for (int level = 1; level < tree->levels; level++) {
        const struct airy_place_box *from = tree->box + tree->first[level - 1];
        struct airy_place_box *to = tree->box + tree->first[level];
        for (size_t i = 0; i < tree->boxes[level - 1]; i += 2) {
            to[i / 2] = from[i];
            if (i + 1 < tree->boxes[level - 1])
                add_box(&to[i / 2], &from[i + 1]);
        }
    }
}

airy_status airy_place_tree_make(struct airy_place_tree *tree, const struct airy_place_point *point,
                                 size_t count)
{
    *tree = (struct airy_place_tree){.point = point, .count = count};
    size_t all = 0;
    for (size_t n = (count + LEAF - 1) / LEAF; count > 0; n = (n + 1) / 2) {
        tree->first[tree->levels] = all;
        tree->boxes[tree->levels++] = n;
        all += n;
        if (n == 1)
            break;
    }
    void *block = NULL;
    AIRY_TRY(airy_memory_calloc(&block, count, sizeof(uint32_t), "places"));
    tree->order = block;
    airy_status status = airy_memory_calloc(&block, all, sizeof(struct airy_place_box), "places");
    if (status == AIRY_OK) {
        tree->box = block;
        status = sort_points(tree);
    }
    if (status == AIRY_OK)
        make_boxes(tree);
    else
        airy_place_tree_free(tree);
    return status;
}

void airy_place_tree_free(struct airy_place_tree *tree)
{
    free(tree->order);
    free(tree->box);
    *tree = (struct airy_place_tree){.count = 0};
}

static double outside(double x, const double range[2])
{
    return x < range[0] ? range[0] - x : x > range[1] ? x - range[1] : 0;
}

struct entry {
    int level;
    size_t at; /* among the boxes of the level */
};

static double distance2(const struct airy_place_box *box, double x, double y)
{
    const double dx = outside(x, box->x), dy = outside(y, box->y);
    return dx * dx + dy * dy;
}

void airy_place_tree_walk(const struct airy_place_tree *tree, double x, double y,
                          bool (*enter)(void *arg, double distance2, const double most[2]),
                          void (*visit)(void *arg, uint32_t point), void *arg)
{
    struct entry stack[2 * AIRY_PLACE_LEVELS];
    int depth = 0;
    if (tree->count > 0)
        stack[depth++] = (struct entry){tree->levels - 1, 0};
    while (depth > 0) {
        const struct entry e = stack[--depth];
        const struct airy_place_box *box = &tree->box[tree->first[e.level] + e.at];
        if (!enter(arg, distance2(box, x, y), box->most))
            continue;
        if (e.level == 0) {
            const size_t end = airy_min_size((e.at + 1) * LEAF, tree->count);
            for (size_t i = e.at * LEAF; i < end; i++)
                visit(arg, tree->order[i]);
            continue;
        }
        /* The box that is pushed last comes first. */
        const struct airy_place_box *below = tree->box + tree->first[e.level - 1] + 2 * e.at;
        const bool two = 2 * e.at + 1 < tree->boxes[e.level - 1],
                   second = two && distance2(&below[1], x, y) < distance2(&below[0], x, y);
        if (two)
            stack[depth++] = (struct entry){e.level - 1, 2 * e.at + !second};
        stack[depth++] = (struct entry){e.level - 1, 2 * e.at + second};
    }
}
