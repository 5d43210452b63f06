/* Removal of what the wings of a brighter source explain. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "sources/place_tree.h"
#include "sources/sources_parts.h"

/* Sources further apart than this many times the sum of their semi-axes leave each other alone. */
static const double zone = 10;

struct wings {
    struct airy_source_object *object;
    const uint32_t *rank; /* 0: the brightest, or whose turn is first */
    uint32_t self;
    double power, amplitude,
        alpha; /* amplitude (1 + alpha r^2)^-power, r in units of the ellipse */
};

/* The wings' value, or the largest there can be at a distance. */
static double wing(const struct wings *w, double r2)
{
    return w->amplitude * pow(1 + w->alpha * r2, -w->power);
}

/* most: the largest semi-axis, and the smallest excess with its sign turned. */
static bool reaches(void *arg, double distance2, const double most[2])
{
    const struct wings *w = arg;
    const double a = w->object[w->self].s.a, reach = zone * (a + most[0]);
    return distance2 <= reach * reach && wing(w, distance2 / (a * a) * (1 - 1e-9)) > -most[1];
}

/* Remove an object if the wings explain it. */
static void try_wings(const struct wings *w, uint32_t index)
{
    const airy_source *s = &w->object[w->self].s;
    struct airy_source_object *o = &w->object[index];
    const double dx = o->s.x - s->x, dy = o->s.y - s->y, reach = zone * (s->a + o->s.a),
                 r2 = s->cxx * dx * dx + s->cyy * dy * dy + s->cxy * dx * dy;
    if (w->alpha > 0 && dx * dx + dy * dy <= reach * reach && r2 > 0 && wing(w, r2) > o->excess)
        o->removed = true;
}

static void try_fainter(void *arg, uint32_t index)
{
    const struct wings *w = arg;
    if (w->rank[index] > w->rank[w->self] && !w->object[index].removed)
        try_wings(w, index);
}

static void set_wings(struct wings *w, uint32_t self)
{
    static const double pi = 3.14159265358979323846;
    const struct airy_source_object *o = &w->object[self];
    const double area = pi * o->s.a * o->s.b;
    w->self = self;
    w->amplitude = o->s.filtered_flux / (2 * area * o->widening);
    w->alpha = (pow(w->amplitude / o->s.threshold, 1 / w->power) - 1) * area / (double)o->s.npix;
}

struct bright {
    double flux;
    uint32_t index;
};

/* The brightest first; of equal ones the first in raster order. */
static int compare_bright(const void *left, const void *right)
{
    const struct bright *a = left, *b = right;
    if (a->flux != b->flux)
        return a->flux > b->flux ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static void clean(struct airy_source_object *object, size_t count, double power,
                  const struct bright *bright, const uint32_t *rank,
                  const struct airy_place_tree *tree)
{
    for (size_t i = 0; i < count; i++) {
        const struct airy_source_object *o = &object[bright[i].index];
        struct wings w = {.object = object, .rank = rank, .power = power};
        set_wings(&w, bright[i].index);
        if (!o->removed && w.alpha > 0)
            airy_place_tree_walk(tree, o->s.x, o->s.y, reaches, try_fainter, &w);
    }
}

/* SEP's way: every source, in turn, against all that come after it, brighter ones too. */
static bool is_in_zone(void *arg, double distance2, const double most[2])
{
    const struct wings *w = arg;
    const double reach = zone * (w->object[w->self].s.a + most[0]);
    return distance2 <= reach * reach;
}

static void try_both(void *arg, uint32_t index)
{
    struct wings *w = arg;
    struct airy_source_object *o = &w->object[index];
    if (w->rank[index] <= w->rank[w->self] || o->removed)
        return;
    struct wings other = *w;
    const bool is_fainter = o->s.filtered_flux < w->object[w->self].s.filtered_flux;
    if (!is_fainter)
        set_wings(&other, index);
    try_wings(&other, is_fainter ? index : w->self);
}

static void clean_in_turn(struct airy_source_object *object, size_t count, double power,
                          const uint32_t *turn, const uint32_t *rank,
                          const struct airy_place_tree *tree)
{
    for (size_t i = 0; i < count; i++) {
        struct wings w = {.object = object, .rank = rank, .power = power};
        set_wings(&w, turn[i]);
        if (!object[turn[i]].removed)
            airy_place_tree_walk(tree, object[turn[i]].s.x, object[turn[i]].s.y, is_in_zone,
                                 try_both, &w);
    }
}

airy_status airy_sources_clean(struct airy_source_object *object, size_t count, double power,
                               const uint32_t *turn)
{
    void *bright = NULL, *rank = NULL, *point = NULL;
    struct airy_place_tree tree = {.count = 0};
    airy_status status = airy_memory_calloc(&bright, count, sizeof(struct bright), "sources");
    AIRY_TRY_OR(out, status);
    AIRY_TRY_OR(out, airy_memory_calloc(&rank, count, sizeof(uint32_t), "sources"));
    AIRY_TRY_OR(out, airy_memory_calloc(&point, count, sizeof(struct airy_place_point), "sources"));
    struct bright *sorted = bright;
    uint32_t *ranks = rank;
    struct airy_place_point *points = point;
    for (size_t i = 0; i < count; i++) {
        const airy_source *s = &object[i].s;
        sorted[i] = (struct bright){s->filtered_flux, (uint32_t)i};
        points[i] = (struct airy_place_point){s->x, s->y, {s->a, -object[i].excess}};
    }
    AIRY_TRY_OR(out, airy_place_tree_make(&tree, points, count));
    if (!turn)
        qsort(sorted, count, sizeof(*sorted), compare_bright);
    for (size_t i = 0; i < count; i++)
        ranks[turn ? turn[i] : sorted[i].index] = (uint32_t)i;
    if (turn)
        clean_in_turn(object, count, power, turn, ranks, &tree);
    else
        clean(object, count, power, sorted, ranks, &tree);
out:
    airy_place_tree_free(&tree);
    free(bright);
    free(rank);
    free(point);
    return status;
}
