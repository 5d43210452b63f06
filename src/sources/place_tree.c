#include "sources/place_tree.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"

enum { LEAF = 8, MAX_DEPTH = 32 };

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
    for (size_t i = 0; i < tree->leaves; i++) {
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
    size_t from = 0, n = tree->leaves;
    for (size_t to = n; n > 1; to += n) {
        for (size_t i = 0; i < n; i += 2) {
            tree->box[to + i / 2] = tree->box[from + i];
            if (i + 1 < n)
                add_box(&tree->box[to + i / 2], &tree->box[from + i + 1]);
        }
        from = to;
        n = (n + 1) / 2;
    }
}

airy_status airy_place_tree_make(struct airy_place_tree *tree, const struct airy_place_point *point,
                                 size_t count)
{
    *tree = (struct airy_place_tree){.point = point, .count = count};
    tree->leaves = tree->boxes = (count + LEAF - 1) / LEAF;
    for (size_t n = tree->leaves; n > 1;)
        tree->boxes += n = (n + 1) / 2;
    void *block = NULL;
    AIRY_TRY(airy_memory_calloc(&block, count, sizeof(uint32_t), "places"));
    tree->order = block;
    airy_status status =
        airy_memory_calloc(&block, tree->boxes, sizeof(struct airy_place_box), "places");
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
    size_t level_first, level_count, at; /* of the boxes of its level */
};

static double distance2(const struct airy_place_box *box, double x, double y)
{
    const double dx = outside(x, box->x), dy = outside(y, box->y);
    return dx * dx + dy * dy;
}

/* Boxes of the level below that this one is over. */
static int children(struct entry child[2], const struct airy_place_tree *tree,
                    const struct entry *parent)
{
    size_t first = 0, n = tree->leaves;
    while (first + n < parent->level_first) {
        first += n;
        n = (n + 1) / 2;
    }
    child[0] = (struct entry){first, n, 2 * parent->at};
    child[1] = (struct entry){first, n, 2 * parent->at + 1};
    return child[1].at < n ? 2 : 1;
}

void airy_place_tree_walk(const struct airy_place_tree *tree, double x, double y,
                          bool (*enter)(void *arg, double distance2, const double most[2]),
                          void (*visit)(void *arg, uint32_t point), void *arg)
{
    struct entry stack[2 * MAX_DEPTH];
    int depth = 0;
    if (tree->count > 0)
        stack[depth++] = (struct entry){tree->boxes - 1, 1, 0};
    while (depth > 0) {
        const struct entry e = stack[--depth];
        const struct airy_place_box *box = &tree->box[e.level_first + e.at];
        if (!enter(arg, distance2(box, x, y), box->most))
            continue;
        if (e.level_first == 0) {
            const size_t end = airy_min_size((e.at + 1) * LEAF, tree->count);
            for (size_t i = e.at * LEAF; i < end; i++)
                visit(arg, tree->order[i]);
            continue;
        }
        struct entry child[2];
        const int n = children(child, tree, &e);
        const struct airy_place_box *below = tree->box + child[0].level_first;
        const bool swap = n == 2 && distance2(&below[child[0].at], x, y) <
                                        distance2(&below[child[1].at], x, y);
        if (n == 2)
            stack[depth++] = child[swap ? 1 : 0];
        stack[depth++] = child[swap ? 0 : (n == 2 ? 1 : 0)];
    }
}
