/*
 * An island becomes objects. Pixels come in from the highest threshold down and are united with
 * their neighbours, so that the sets at a threshold are the parts of the island above it. Where
 * parts meet, those with enough flux above the threshold they met at are objects. What is left over
 * goes to the object whose Gaussian is highest there.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "sources/place_tree.h"
#include "sources/sources_parts.h"

enum { NOT_IN = INT32_MAX, FEW_OBJECTS = 16 };

/* Of a part, kept at its root. */
enum state {
    SPLIT = 1,       /* objects were made of it */
    TOUCHED = 2,     /* pixels of the current level are next to it */
    PART = 4,        /* it is large enough to count */
    BRIGHT = 8,      /* it has enough flux above the level before */
    HAS_BRIGHT = 16, /* of the part it is in now: one of its parts is bright */
    HAS_TWO = 32,    /* two are */
    WILL_SPLIT = 64
};

struct split {
    const struct airy_source_plan *plan;
    const struct airy_source_planes *planes;
    struct airy_deblend_scratch *s;
    size_t n;      /* pixels */
    int32_t least; /* pixels of a part that counts */
    double limit;  /* flux above a threshold of a part that is bright */
    float level[AIRY_SOURCE_LEVELS];
    int levels;
    struct airy_source_list *list;
    size_t first; /* of the list: the island's own */
};

airy_status airy_source_list_add(struct airy_source_list *list,
                                 const struct airy_source_object *object)
{
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 64;
        void *grown = room <= PTRDIFF_MAX / sizeof(*object)
                          ? realloc(list->object, room * sizeof(*object))
                          : NULL;
        AIRY_FAIL_IF(!grown, AIRY_ERR_MEMORY, "cannot allocate %zu x %zu bytes for sources", room,
                     sizeof(*object));
        list->object = grown;
        list->room = room;
    }
    list->object[list->count++] = *object;
    return AIRY_OK;
}

airy_status airy_deblend_scratch_make(struct airy_deblend_scratch *s, size_t room)
{
    *s = (struct airy_deblend_scratch){.room = room};
    void *block[7] = {NULL};
    const size_t size[7] = {sizeof(*s->place), sizeof(*s->order),  sizeof(*s->next),
                            sizeof(*s->owner), sizeof(*s->parent), sizeof(*s->flux),
                            sizeof(*s->state)};
    airy_status status = AIRY_OK;
    for (int i = 0; i < 7 && status == AIRY_OK; i++)
        status = airy_memory_calloc(&block[i], room, size[i], "deblending");
    s->place = block[0];
    s->order = block[1];
    s->next = block[2];
    s->owner = block[3];
    s->parent = block[4];
    s->flux = block[5];
    s->state = block[6];
    if (status != AIRY_OK)
        airy_deblend_scratch_free(s);
    return status;
}

void airy_deblend_scratch_free(struct airy_deblend_scratch *s)
{
    free(s->place);
    free(s->order);
    free(s->next);
    free(s->owner);
    free(s->parent);
    free(s->flux);
    free(s->state);
    *s = (struct airy_deblend_scratch){.room = 0};
}

static size_t address(const struct split *job, uint32_t pixel)
{
    const struct airy_place p = job->s->place[pixel];
    return p.y * job->planes->width + p.x;
}

static uint32_t find_root(int32_t *parent, uint32_t i)
{
    while (parent[i] >= 0) {
        const uint32_t up = (uint32_t)parent[i];
        if (parent[up] >= 0)
            parent[i] = parent[up];
        i = up;
    }
    return i;
}

/* parent of a root: its pixels, with the sign turned. */
static void unite(const struct split *job, uint32_t a, uint32_t b)
{
    int32_t *parent = job->s->parent;
    a = find_root(parent, a);
    b = find_root(parent, b);
    if (a == b)
        return;
    const bool swap = parent[b] < parent[a] || (parent[b] == parent[a] && b < a);
    const uint32_t to = swap ? b : a, from = swap ? a : b;
    parent[to] += parent[from];
    parent[from] = (int32_t)to;
    job->s->flux[to] += job->s->flux[from];
}

/* Pixels of the island around one. */
static int find_neighbours(uint32_t out[8], const struct split *job, uint32_t pixel)
{
    static const int step[8][2] = {{0, -1},  {-1, 0}, {1, 0},  {0, 1},
                                   {-1, -1}, {1, -1}, {-1, 1}, {1, 1}};
    const struct airy_source_planes *planes = job->planes;
    const struct airy_place p = job->s->place[pixel];
    int n = 0;
    for (int i = 0; i < job->plan->p.connectivity; i++) {
        /* Below 0 becomes larger than any width. */
        const size_t x = p.x + (size_t)(ptrdiff_t)step[i][0],
                     y = p.y + (size_t)(ptrdiff_t)step[i][1];
        if (x >= planes->width || y >= planes->height)
            continue;
        const uint32_t index = planes->label[y * planes->width + x];
        if (index != 0)
            out[n++] = index - 1;
    }
    return n;
}

/* Pixel numbers into the label plane, and places; the island's runs are in raster order. */
static void list_pixels(const struct split *job, const struct airy_islands *islands,
                        uint32_t island)
{
    uint32_t n = 0;
    for (uint32_t r = islands->first[island]; r < islands->first[island + 1]; r++) {
        const struct airy_source_run run = islands->run[r];
        uint32_t *label = job->planes->label + run.row * job->planes->width;
        for (uint32_t x = run.begin; x < run.end; x++) {
            job->s->place[n] = (struct airy_place){x, run.row};
            label[x] = ++n;
        }
    }
}

/* The mean threshold of the island's pixels, as f32. */
static double mean_threshold(const struct split *job)
{
    if (!job->plan->varies)
        return (double)job->plan->threshold;
    double sum = 0;
    for (uint32_t i = 0; i < job->n; i++)
        sum += (double)((float)job->plan->p.sigma * job->planes->noise[address(job, i)]);
    return (double)(float)(sum / (double)job->n);
}

/*
 * Thresholds in geometric steps from the island's to its peak. False where it cannot be split.
 * The total flux gives the limit.
 */
static bool make_levels(struct split *job, double threshold)
{
    double peak = 0, sum = 0;
    for (uint32_t i = 0; i < job->n; i++) {
        const double g = (double)job->planes->filtered[address(job, i)];
        peak = fmax(peak, g);
        sum += g;
    }
    if (!(threshold > 0) || !(peak > threshold))
        return false;
    for (int k = 0; k < job->levels; k++)
        job->level[k] = (float)(threshold * pow(peak / threshold, (double)k / job->levels));
    job->limit = sum * job->plan->p.deblend_contrast;
    return true;
}

/* The highest level that g is above; 0 for all else. */
static uint32_t find_level(const struct split *job, float g)
{
    uint32_t lo = 0, hi = (uint32_t)job->levels;
    while (hi - lo > 1) {
        const uint32_t middle = (lo + hi) / 2;
        if (g > job->level[middle])
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}

/* Pixels by level, the highest first, to order; where each level begins, to begin[levels + 1]. */
static void sort_levels(const struct split *job, uint32_t begin[AIRY_SOURCE_LEVELS + 1])
{
    struct airy_deblend_scratch *s = job->s;
    const uint32_t last = (uint32_t)job->levels - 1;
    memset(begin, 0, (size_t)(job->levels + 1) * sizeof(*begin));
    for (uint32_t i = 0; i < job->n; i++) {
        s->owner[i] = last - find_level(job, job->planes->filtered[address(job, i)]);
        begin[s->owner[i] + 1]++;
    }
    for (int k = 0; k < job->levels; k++)
        begin[k + 1] += begin[k];
    for (uint32_t i = 0; i < job->n; i++)
        s->order[begin[s->owner[i]]++] = i;
    for (int k = job->levels; k > 0; k--)
        begin[k] = begin[k - 1];
    begin[0] = 0;
    memset(s->owner, 0, job->n * sizeof(*s->owner));
}

/*
 * Parts that the pixels [begin, end) of order are next to. They are listed at the start of order,
 * which is done with: there are no more parts than pixels.
 */
static uint32_t touch_parts(const struct split *job, uint32_t begin, uint32_t end, double above)
{
    struct airy_deblend_scratch *s = job->s;
    uint32_t count = 0, near[8];
    for (uint32_t i = begin; i < end; i++) {
        const int n = find_neighbours(near, job, s->order[i]);
        for (int k = 0; k < n; k++) {
            if (s->parent[near[k]] == NOT_IN)
                continue;
            const uint32_t root = find_root(s->parent, near[k]);
            if (s->state[root] & TOUCHED)
                continue;
            s->state[root] |= TOUCHED;
            s->order[count++] = root;
            if (-s->parent[root] < job->least)
                continue;
            s->state[root] |= PART;
            if (s->flux[root] + above * s->parent[root] > job->limit)
                s->state[root] |= BRIGHT;
        }
    }
    return count;
}

static void add_pixels(const struct split *job, uint32_t begin, uint32_t end)
{
    struct airy_deblend_scratch *s = job->s;
    uint32_t near[8];
    for (uint32_t i = begin; i < end; i++) {
        const uint32_t pixel = s->order[i];
        s->parent[pixel] = -1;
        s->next[pixel] = pixel;
        s->state[pixel] = 0;
        s->flux[pixel] = (double)job->planes->filtered[address(job, pixel)];
    }
    for (uint32_t i = begin; i < end; i++) {
        const int n = find_neighbours(near, job, s->order[i]);
        for (int k = 0; k < n; k++)
            if (s->parent[near[k]] != NOT_IN)
                unite(job, s->order[i], near[k]);
    }
}

static airy_status add_object(const struct split *job, uint32_t root, double level)
{
    struct airy_deblend_scratch *s = job->s;
    struct airy_source_object o = {.s = {.flags = AIRY_SOURCE_MERGED, .threshold = level}};
    AIRY_TRY(airy_source_list_add(job->list, &o));
    const uint32_t number = (uint32_t)(job->list->count - job->first);
    uint32_t pixel = root;
    do {
        s->owner[pixel] = number;
        pixel = s->next[pixel];
    } while (pixel != root);
    return AIRY_OK;
}

/* Parts that have come to be one: those that count become objects where they are two or more. */
static airy_status judge_parts(const struct split *job, uint32_t count, double above)
{
    struct airy_deblend_scratch *s = job->s;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t state = s->state[s->order[i]];
        uint8_t *whole = &s->state[find_root(s->parent, s->order[i])];
        if (state & PART && state & BRIGHT)
            *whole |= *whole & HAS_BRIGHT ? HAS_TWO | WILL_SPLIT : HAS_BRIGHT;
        if (state & SPLIT)
            *whole |= WILL_SPLIT;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t state = s->state[s->order[i]];
        if (state & BRIGHT && !(state & SPLIT) &&
            s->state[find_root(s->parent, s->order[i])] & HAS_TWO)
            AIRY_TRY(add_object(job, s->order[i], above));
    }
    return AIRY_OK;
}

/* Join the rings of pixels of parts and new pixels that are one now, and forget the rest. */
static void join_parts(const struct split *job, uint32_t count, uint32_t begin, uint32_t end)
{
    struct airy_deblend_scratch *s = job->s;
    for (int pass = 0; pass < 2; pass++) {
        const uint32_t from = pass ? begin : 0, to = pass ? end : count;
        for (uint32_t i = from; i < to; i++) {
            const uint32_t pixel = s->order[i], root = find_root(s->parent, pixel);
            if (s->state[root] & WILL_SPLIT)
                s->state[root] |= SPLIT;
            if (pixel == root)
                continue;
            const uint32_t swap = s->next[pixel];
            s->next[pixel] = s->next[root];
            s->next[root] = swap;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        s->state[find_root(s->parent, s->order[i])] &= SPLIT;
}

/* Objects of an island that falls apart; none where it does not. */
static airy_status split_island(struct split *job)
{
    struct airy_deblend_scratch *s = job->s;
    uint32_t begin[AIRY_SOURCE_LEVELS + 1];
    sort_levels(job, begin);
    for (uint32_t i = 0; i < job->n; i++)
        s->parent[i] = NOT_IN;
    for (int k = 0; k < job->levels; k++) {
        /* The threshold of the level before, which the parts are the sets of. */
        const double above = k > 0 ? (double)job->level[job->levels - k] : 0;
        const uint32_t touched = touch_parts(job, begin[k], begin[k + 1], above);
        add_pixels(job, begin[k], begin[k + 1]);
        AIRY_TRY(judge_parts(job, touched, above));
        join_parts(job, touched, begin[k], begin[k + 1]);
    }
    return AIRY_OK;
}

/* Pixels by owner into order; where each owner begins, to begin[objects + 1]. Owner 0 is left out. */
static void sort_owners(const struct split *job, uint32_t *begin, size_t objects)
{
    struct airy_deblend_scratch *s = job->s;
    memset(begin, 0, (objects + 1) * sizeof(*begin));
    for (uint32_t i = 0; i < job->n; i++)
        if (s->owner[i])
            begin[s->owner[i]]++;
    for (size_t k = 0; k < objects; k++)
        begin[k + 1] += begin[k];
    /* begin[k] is the end of owner k now: fill from behind. */
    for (uint32_t i = (uint32_t)job->n; i-- > 0;)
        if (s->owner[i])
            s->order[--begin[s->owner[i]]] = i;
    for (size_t k = 0; k < objects; k++)
        begin[k] = begin[k + 1];
    begin[objects] = 0;
    for (uint32_t i = 0; i < job->n; i++)
        begin[objects] += s->owner[i] != 0;
}

static struct airy_source_pixels pixels_of(const struct split *job, const uint32_t *begin, size_t i)
{
    return (struct airy_source_pixels){.place = job->s->place,
                                       .index = job->s->order + begin[i],
                                       .gathered = job->s->state,
                                       .count = begin[i + 1] - begin[i]};
}

/* A Gaussian for each object: its value at (x, y) is exp(height - r^2 / 2), r^2 of the ellipse. */
struct gather {
    const struct split *job;
    const struct airy_source_object *object;
    struct airy_place_point *point; /* values: height, and the largest r^-2 per px^-2 */
    struct airy_place_tree tree;
    size_t objects;
};

struct best {
    const struct gather *gather;
    double x, y, value;
    uint32_t object;
};

static void try_object(void *arg, uint32_t i)
{
    struct best *best = arg;
    const struct airy_source_object *o = &best->gather->object[i];
    const double dx = best->x - o->s.x, dy = best->y - o->s.y,
                 r2 = o->s.cxx * dx * dx + o->s.cyy * dy * dy + o->s.cxy * dx * dy,
                 value = best->gather->point[i].value[0] - 0.5 * r2 / o->widening;
    if (value > best->value || (value == best->value && i < best->object)) {
        best->value = value;
        best->object = i;
    }
}

static bool can_be_best(void *arg, double distance2, const double most[2])
{
    const struct best *best = arg;
    return most[0] - 0.5 * distance2 / most[1] * (1 - 1e-9) >= best->value;
}

enum { PIECE = 16384 };

static void gather_piece(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    const struct gather *g = arg;
    struct airy_deblend_scratch *s = g->job->s;
    const size_t end = airy_min_size((index + 1) * PIECE, g->job->n);
    struct best best = {.gather = g, .object = 0};
    for (size_t i = index * PIECE; i < end; i++) {
        if (s->owner[i])
            continue;
        best.x = s->place[i].x;
        best.y = s->place[i].y;
        best.value = -(double)INFINITY;
        if (g->objects <= FEW_OBJECTS) {
            for (uint32_t k = 0; k < g->objects; k++)
                try_object(&best, k);
        } else {
            try_object(&best, best.object); /* that of the pixel before, as a start */
            airy_place_tree_walk(&g->tree, best.x, best.y, can_be_best, try_object, &best);
        }
        s->owner[i] = best.object + 1;
        s->state[i] = 1;
    }
}

/* Pixels without an owner get one. The objects have the shapes of their cores. */
static airy_status gather_rest(const struct split *job, double threshold, airy_pool *pool)
{
    static const double pi = 3.14159265358979323846;
    struct gather g = {.job = job,
                       .object = job->list->object + job->first,
                       .objects = job->list->count - job->first};
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, g.objects, sizeof(*g.point), "deblending"));
    g.point = block;
    for (size_t i = 0; i < g.objects; i++) {
        const struct airy_source_object *o = &g.object[i];
        /* The height of which the pixels above the threshold are as many as the core has. */
        const double above = (double)o->s.npix / (2 * pi * o->widening * o->s.a * o->s.b);
        g.point[i] =
            (struct airy_place_point){o->s.x,
                                      o->s.y,
                                      {fmin(log(threshold) + above, log(4 * o->s.filtered_peak)),
                                       o->widening * o->s.a * o->s.a}};
    }
    airy_status status = AIRY_OK;
    if (g.objects > FEW_OBJECTS)
        status = airy_place_tree_make(&g.tree, g.point, g.objects);
    if (status == AIRY_OK)
        airy_pool_run(pool, (job->n + PIECE - 1) / PIECE, gather_piece, &g);
    airy_place_tree_free(&g.tree);
    free(g.point);
    return status;
}

/* Shapes of the island's objects, from the pixels they own. */
static void measure_objects(const struct split *job, const uint32_t *begin, bool cores,
                            double threshold)
{
    const size_t objects = job->list->count - job->first;
    /* What flux and parent were for is done. */
    const struct airy_excess_scratch scratch = {.heap = (float *)(void *)job->s->parent,
                                                .list = (struct airy_place *)(void *)job->s->flux};
    for (size_t i = 0; i < objects; i++) {
        struct airy_source_object *o = &job->list->object[job->first + i];
        const struct airy_source_pixels pixels = pixels_of(job, begin, i);
        airy_source_shape(o, job->planes, &pixels, cores ? o->s.threshold : threshold,
                          job->plan->p.gain, !cores && o->s.flags & AIRY_SOURCE_MERGED);
        if (!cores && job->plan->p.clean)
            airy_source_excess(o, job->plan, job->planes, &pixels, &scratch);
    }
}

static airy_status finish_objects(const struct split *job, double threshold, uint32_t island,
                                  airy_pool *pool)
{
    const size_t objects = job->list->count - job->first;
    struct airy_deblend_scratch *s = job->s;
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, objects + 1, sizeof(uint32_t), "deblending"));
    uint32_t *begin = block;
    airy_status status = AIRY_OK;
    memset(s->state, 0, job->n * sizeof(*s->state));
    if (objects > 1) {
        sort_owners(job, begin, objects);
        measure_objects(job, begin, true, threshold);
        status = gather_rest(job, threshold, pool);
    }
    if (status == AIRY_OK) {
        sort_owners(job, begin, objects);
        measure_objects(job, begin, false, threshold);
    }
    for (size_t i = 0; i < objects; i++)
        job->list->object[job->first + i].island = island;
    for (uint32_t i = 0; i < job->n; i++)
        job->planes->label[address(job, i)] = s->owner[i];
    free(begin);
    return status;
}

airy_status airy_island_split(struct airy_source_list *list, struct airy_deblend_scratch *scratch,
                              const struct airy_source_plan *plan,
                              const struct airy_source_planes *planes,
                              const struct airy_islands *islands, uint32_t island, airy_pool *pool)
{
    struct split job = {.plan = plan,
                        .planes = planes,
                        .s = scratch,
                        .n = islands->pixels[island],
                        .least = plan->p.min_area < 3 ? (int32_t)plan->p.min_area : 3,
                        .levels = plan->p.deblend_levels,
                        .list = list,
                        .first = list->count};
    list_pixels(&job, islands, island);
    const double threshold = mean_threshold(&job);
    if (job.levels > 1 && plan->p.deblend_contrast < 1 && make_levels(&job, threshold))
        AIRY_TRY(split_island(&job));
    if (list->count == job.first) {
        const struct airy_source_object whole = {.s = {.flags = 0}};
        AIRY_TRY(airy_source_list_add(list, &whole));
        for (uint32_t i = 0; i < job.n; i++)
            scratch->owner[i] = 1;
    }
    return finish_objects(&job, threshold, island, pool);
}
