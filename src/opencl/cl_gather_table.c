/* The integrator's matrix in the tiles of gather_geom.h. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "opencl/cl_buffer.h"
#include "opencl/cl_integrate.h"
#include "shared/gather_geom.h"

enum { TILE_WIDTH = AIRY_GATHER_TILE_WIDTH, TILE_HEIGHT = AIRY_GATHER_TILE_HEIGHT };
enum { PITCH = AIRY_GATHER_PITCH, GROUP = AIRY_GATHER_GROUP };

static const char what[] = "the matrix by tile";

/* A bin in the tile that a worker has in hand. */
struct part {
    uint32_t bin, count;    /* count: entries */
    uint32_t first, pieces; /* items of the unit */
    uint32_t next;          /* piece that takes the next entry */
    uint64_t at;            /* where the entries of this round lie */
};

struct worker {
    uint32_t *count; /* [bins], 0 between tiles */
    uint32_t *where; /* [bins] the bin's number in part */
    struct part *part;
    size_t capacity;
    bool failed;
};

/* Sizes of a tile, then the numbers of the first of each. */
struct tile {
    uint64_t entries;
    uint32_t units, segments;
};

struct build {
    const airy_integrator *it;
    size_t tiles_x, tiles;
    struct tile *tile; /* [tiles + 1] */
    struct worker *worker;
    unsigned workers;
    airy_gather_unit *units;
    airy_gather_segment *segments;
    uint32_t *valid; /* [tiles][AIRY_GATHER_VALID_WORDS] */
    uint16_t *places;
    float *weight, *coef;
    double *base;      /* [segments][AIRY_BASE_PLANES], by tile */
    double *slot_base; /* the same by slot */
    uint32_t *row;     /* [bins + 1] */
};

/* Pixels of a row of a tile: [first, last) of the image. */
static void tile_row(const struct build *b, size_t tile, size_t y, size_t *first, size_t *last)
{
    const size_t x = tile % b->tiles_x * TILE_WIDTH, w = b->it->width;
    *first = (tile / b->tiles_x * TILE_HEIGHT + y) * w + x;
    *last = *first + airy_min_size(TILE_WIDTH, w - x);
}

static size_t tile_rows(const struct build *b, size_t tile)
{
    const size_t y = tile / b->tiles_x * TILE_HEIGHT;
    return airy_min_size(TILE_HEIGHT, b->it->height - y);
}

static bool add_part(struct worker *w, size_t n, uint32_t bin)
{
    if (n == w->capacity) {
        const size_t capacity = 2 * w->capacity + 256;
        struct part *part = realloc(w->part, capacity * sizeof(*part));
        if (!part)
            return false;
        w->part = part;
        w->capacity = capacity;
    }
    w->part[n].bin = bin;
    return true;
}

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return (x->bin > y->bin) - (x->bin < y->bin);
}

/* The bins of a tile, ascending, with their numbers of entries. */
static size_t find_parts(const struct build *b, struct worker *w, size_t tile)
{
    const struct airy_matrix *m = &b->it->matrix;
    size_t n = 0;
    for (size_t y = 0; y < tile_rows(b, tile); y++) {
        size_t first, last;
        tile_row(b, tile, y, &first, &last);
        for (uint32_t e = m->start[first]; e < m->start[last]; e++) {
            if (w->count[m->bin[e]] == 0 && !add_part(w, n++, m->bin[e])) {
                w->failed = true;
                return 0;
            }
            w->count[m->bin[e]]++;
        }
    }
    if (n > 0)
        qsort(w->part, n, sizeof(*w->part), compare_parts);
    for (size_t k = 0; k < n; k++) {
        struct part *part = &w->part[k];
        part->count = w->count[part->bin];
        w->count[part->bin] = 0;
        w->where[part->bin] = (uint32_t)k;
    }
    return n;
}

static uint32_t pieces_of(uint32_t count, uint32_t length)
{
    return (count + length - 1) / length;
}

/* Deal the parts of a unit to its items, at most `length` entries each; returns the depth. */
static uint32_t deal_parts(struct part *part, size_t n)
{
    uint32_t low = 1, high = 1;
    for (size_t k = 0; k < n; k++)
        high = part[k].count > high ? part[k].count : high;
    while (low < high) { /* the shortest length for which there are items enough */
        const uint32_t length = low + (high - low) / 2;
        size_t pieces = 0;
        for (size_t k = 0; k < n; k++)
            pieces += pieces_of(part[k].count, length);
        if (pieces <= GROUP)
            high = length;
        else
            low = length + 1;
    }
    uint32_t first = 0, depth = 0;
    for (size_t k = 0; k < n; k++) {
        part[k].first = first;
        part[k].pieces = pieces_of(part[k].count, low);
        part[k].next = 0;
        first += part[k].pieces;
        const uint32_t deep = pieces_of(part[k].count, part[k].pieces);
        depth = deep > depth ? deep : depth;
    }
    return depth;
}

/* Units of n parts: at least one, which has the statistics. */
static size_t units_of(size_t n)
{
    return airy_max_size(1, (n + GROUP - 1) / GROUP);
}

static void measure_tile(void *arg, size_t tile, unsigned worker)
{
    struct build *b = arg;
    struct worker *w = &b->worker[worker];
    const size_t n = find_parts(b, w, tile), units = units_of(n);
    uint64_t entries = 0;
    for (size_t u = 0; u < units; u++) {
        const size_t first = n * u / units, last = n * (u + 1) / units;
        entries += (uint64_t)deal_parts(w->part + first, last - first) * GROUP;
    }
    b->tile[tile] = (struct tile){entries, (uint32_t)units, (uint32_t)n};
}

static void mark_valid(const struct build *b, size_t tile)
{
    uint32_t *words = b->valid + tile * AIRY_GATHER_VALID_WORDS;
    for (size_t y = 0; y < tile_rows(b, tile); y++) {
        size_t first, last;
        tile_row(b, tile, y, &first, &last);
        for (size_t i = first; i < last; i++) {
            const size_t bit = y * TILE_WIDTH + (i - first);
            words[bit / 32] |= (b->it->valid[i] ? 1u : 0u) << (bit % 32);
        }
    }
}

/* The units of a tile, with room for their entries. */
static void place_units(struct build *b, struct worker *w, size_t tile, size_t n)
{
    const struct tile *t = &b->tile[tile];
    uint64_t at = t->entries;
    const size_t units = units_of(n);
    for (size_t u = 0; u < units; u++) {
        const size_t first = n * u / units, last = n * (u + 1) / units;
        const uint32_t depth = deal_parts(w->part + first, last - first);
        b->units[t->units + u] =
            (airy_gather_unit){.first_entry = at,
                               .depth = depth,
                               .x = (uint32_t)(tile % b->tiles_x * TILE_WIDTH),
                               .y = (uint32_t)(tile / b->tiles_x * TILE_HEIGHT),
                               .first_segment = t->segments + (uint32_t)first,
                               .segments = (uint32_t)(last - first),
                               .tile = u == 0 ? (uint32_t)tile : UINT32_MAX};
        for (size_t k = first; k < last; k++) {
            struct part *part = &w->part[k];
            part->at = at + part->first;
            b->segments[t->segments + k] = (airy_gather_segment){
                .bin = part->bin, .first = (uint16_t)part->first, .count = (uint16_t)part->pieces};
        }
        for (uint64_t e = at; e < at + (uint64_t)depth * GROUP; e++) {
            b->places[e] = AIRY_GATHER_NOWHERE;
            b->weight[e] = 0;
            if (b->coef)
                b->coef[e] = 0;
        }
        at += (uint64_t)depth * GROUP;
    }
}

static void fill_tile(void *arg, size_t tile, unsigned worker)
{
    struct build *b = arg;
    const airy_integrator *it = b->it;
    const struct airy_matrix *m = &it->matrix;
    struct worker *w = &b->worker[worker];
    const size_t n = find_parts(b, w, tile);
    if (w->failed)
        return;
    mark_valid(b, tile);
    place_units(b, w, tile, n);
    double *base = b->base + (size_t)b->tile[tile].segments * AIRY_BASE_PLANES;
    for (size_t y = 0; y < tile_rows(b, tile); y++) {
        size_t first, last;
        tile_row(b, tile, y, &first, &last);
        for (size_t i = first; i < last; i++)
            for (uint32_t e = m->start[i]; e < m->start[i + 1]; e++) {
                const size_t k = w->where[m->bin[e]];
                struct part *part = &w->part[k];
                double terms[AIRY_BASE_PLANES];
                airy_base_terms(terms, it, i, e);
                for (size_t plane = 0; plane < AIRY_BASE_PLANES; plane++)
                    base[k * AIRY_BASE_PLANES + plane] += terms[plane];
                b->places[part->at + part->next] = (uint16_t)(y * PITCH + (i - first));
                b->weight[part->at + part->next] = it->weight[e];
                if (b->coef)
                    b->coef[part->at + part->next] = m->coef[e];
                if (++part->next == part->pieces) {
                    part->next = 0;
                    part->at += GROUP;
                }
            }
    }
}

/* Sizes become the numbers of the first; the sums stand behind the last tile. */
static void number_tiles(struct build *b)
{
    struct tile sum = {0};
    for (size_t t = 0; t <= b->tiles; t++) {
        const struct tile size = b->tile[t];
        b->tile[t] = sum;
        sum.entries += size.entries;
        sum.units += size.units;
        sum.segments += size.segments;
    }
}

/* Slots are by bin, in it by tile. */
static void number_slots(struct build *b)
{
    const size_t bins = b->it->bins, segments = b->tile[b->tiles].segments;
    for (size_t s = 0; s < segments; s++)
        b->row[b->segments[s].bin + 1]++;
    for (size_t bin = 0; bin < bins; bin++)
        b->row[bin + 1] += b->row[bin];
    for (size_t s = 0; s < segments; s++) {
        airy_gather_segment *segment = &b->segments[s];
        segment->slot = b->row[segment->bin]++;
        for (size_t plane = 0; plane < AIRY_BASE_PLANES; plane++)
            b->slot_base[segment->slot * (size_t)AIRY_BASE_PLANES + plane] =
                b->base[s * AIRY_BASE_PLANES + plane];
    }
    for (size_t bin = bins; bin > 0; bin--)
        b->row[bin] = b->row[bin - 1];
    b->row[0] = 0;
}

static bool any_failed(const struct build *b)
{
    bool failed = false;
    for (unsigned k = 0; k < b->workers; k++)
        failed = failed || b->worker[k].failed;
    return failed;
}

static airy_status make_workers(struct build *b)
{
    const unsigned workers = airy_pool_size(b->it->device->pool);
    AIRY_TRY(airy_memory_calloc((void **)&b->worker, workers, sizeof(*b->worker), what));
    for (; b->workers < workers; b->workers++) {
        struct worker *w = &b->worker[b->workers];
        AIRY_TRY(airy_memory_calloc((void **)&w->count, 2 * b->it->bins, sizeof(*w->count), what));
        w->where = w->count + b->it->bins;
    }
    return AIRY_OK;
}

static void free_build(struct build *b)
{
    for (unsigned k = 0; k < b->workers; k++) {
        free(b->worker[k].count);
        free(b->worker[k].part);
    }
    free(b->worker);
    free(b->tile);
    free(b->units);
    free(b->valid);
    free(b->segments);
    free(b->base);
    free(b->slot_base);
    free(b->row);
    airy_memory_release(b->places);
    airy_memory_release(b->weight);
    airy_memory_release(b->coef);
}

static airy_status make_table(struct build *b)
{
    const airy_integrator *it = b->it;
    airy_pool *pool = it->device->pool;
    AIRY_TRY(make_workers(b));
    AIRY_TRY(airy_memory_calloc((void **)&b->tile, b->tiles + 1, sizeof(*b->tile), what));
    airy_pool_run(pool, b->tiles, measure_tile, b);
    AIRY_FAIL_IF(any_failed(b), AIRY_ERR_MEMORY, "no memory for %s", what);
    number_tiles(b);
    const struct tile *all = &b->tile[b->tiles];
    const size_t entries = (size_t)all->entries, segments = all->segments;
    AIRY_TRY(airy_memory_calloc((void **)&b->units, all->units, sizeof(*b->units), what));
    AIRY_TRY(airy_memory_calloc((void **)&b->valid, b->tiles * AIRY_GATHER_VALID_WORDS,
                                sizeof(*b->valid), what));
    AIRY_TRY(airy_memory_calloc((void **)&b->segments, segments + 1, sizeof(*b->segments), what));
    AIRY_TRY(airy_memory_calloc((void **)&b->base, segments * AIRY_BASE_PLANES + 1,
                                sizeof(*b->base), what));
    AIRY_TRY(airy_memory_calloc((void **)&b->slot_base, segments * AIRY_BASE_PLANES + 1,
                                sizeof(*b->slot_base), what));
    AIRY_TRY(airy_memory_calloc((void **)&b->row, it->bins + 1, sizeof(*b->row), what));
    AIRY_TRY(airy_memory_alloc((void **)&b->places, entries * sizeof(*b->places)));
    AIRY_TRY(airy_memory_alloc((void **)&b->weight, entries * sizeof(*b->weight)));
    if (it->weight != it->matrix.coef)
        AIRY_TRY(airy_memory_alloc((void **)&b->coef, entries * sizeof(*b->coef)));
    airy_pool_run(pool, b->tiles, fill_tile, b);
    AIRY_FAIL_IF(any_failed(b), AIRY_ERR_MEMORY, "no memory for %s", what);
    number_slots(b);
    return AIRY_OK;
}

static airy_status upload_table(struct airy_cl_gather *gather, airy_queue *queue,
                                const struct build *b)
{
    const struct tile *all = &b->tile[b->tiles];
    const size_t entries = (size_t)all->entries, segments = all->segments;
    gather->unit_count = all->units;
    gather->slots = segments;
    gather->tiles = b->tiles;
    AIRY_TRY(airy_cl_upload(&gather->units, queue, b->units, all->units * sizeof(*b->units), what));
    AIRY_TRY(airy_cl_upload(&gather->valid, queue, b->valid,
                            b->tiles * AIRY_GATHER_VALID_WORDS * sizeof(*b->valid), what));
    AIRY_TRY(airy_cl_upload(&gather->segments, queue, b->segments, segments * sizeof(*b->segments),
                            what));
    AIRY_TRY(airy_cl_upload(&gather->places, queue, b->places, entries * sizeof(*b->places), what));
    AIRY_TRY(airy_cl_upload(&gather->weight, queue, b->weight, entries * sizeof(*b->weight), what));
    if (b->coef)
        AIRY_TRY(airy_cl_upload(&gather->coef, queue, b->coef, entries * sizeof(*b->coef), what));
    AIRY_TRY(airy_cl_upload(&gather->slot_base, queue, b->slot_base,
                            segments * AIRY_BASE_PLANES * sizeof(*b->slot_base), what));
    return airy_cl_upload(&gather->row, queue, b->row, (b->it->bins + 1) * sizeof(*b->row), what);
}

airy_status airy_cl_gather_table(struct airy_cl_gather *gather, airy_queue *queue,
                                 const airy_integrator *integrator)
{
    struct build b = {.it = integrator,
                      .tiles_x = (integrator->width + TILE_WIDTH - 1) / TILE_WIDTH};
    b.tiles = b.tiles_x * ((integrator->height + TILE_HEIGHT - 1) / TILE_HEIGHT);
    airy_status status = make_table(&b);
    if (status == AIRY_OK)
        status = upload_table(gather, queue, &b);
    free_build(&b);
    return status;
}
