/* Where the frames of a dataset lie: all places at once, or part by part as they are asked for. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/stack/internal.h"

enum {
    WHOLE = 4096, /* frames of a dataset whose places are all read when it is opened: 4 ms */
    PART = 32,    /* places that are read together: 20 us */
    SAMPLES = 32, /* parts of a longer one, spread over it, that are read then */
    MARGIN = 8    /* a largest chunk is taken to be larger than those seen by one part in so many */
};

struct stack_table {
    struct airy_chunk_grid grid; /* its shape is `shape` */
    hsize_t shape[H5S_MAX_RANK];
    atomic_bool warned;   /* of damage: once */
    atomic_uchar known[]; /* of each part: its places are there */
};

void airy_stack_table_destroy(struct stack_table **table)
{
    free(*table);
    *table = NULL;
}

/* Lock held, and it is not known. */
static airy_status read_part(const struct stack_segment *segment, hid_t dataset, size_t part,
                             size_t *unsound)
{
    struct stack_table *table = segment->table;
    const size_t first = part * PART, count = airy_min_size(PART, segment->frames - first);
    struct airy_place *places = segment->places + first;
    const char *name = atomic_load(&table->warned) ? NULL : segment->name;
    AIRY_TRY(airy_chunk_addresses_part(places, unsound, dataset, &table->grid, first, count, name));
    for (size_t i = 0; i < count && !atomic_load(&table->warned); i++)
        atomic_store(&table->warned, places[i].kind == AIRY_PLACE_ODD);
    atomic_store_explicit(&table->known[part], 1, memory_order_release);
    return AIRY_OK;
}

/* The file ends before the frame does. */
static bool is_cut(const struct stack_segment *segment, size_t frame)
{
    const struct airy_place *place = &segment->places[frame];
    return place->size > 0 &&
           (place->offset > segment->end || place->size > segment->end - place->offset);
}

size_t airy_stack_table_lost(const struct stack_segment *segment, size_t first, size_t count)
{
    size_t lost = 0;
    for (size_t i = first; i < first + count; i++)
        lost += is_cut(segment, i);
    return lost;
}

static void add_up(struct stack_segment *segment, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        const struct airy_place *place = &segment->places[i];
        segment->stored_bytes += is_cut(segment, i) ? 0 : place->size;
        if (airy_place_is_there(place))
            segment->max_chunk = airy_max_size(segment->max_chunk, place->size);
    }
}

/*
 * *sound false: some of the samples are not as they should be. Then the whole is looked at, as that
 * of a short dataset: how much of it was never written, or is damaged, is known at the start.
 */
static airy_status sample(struct stack_segment *segment, hid_t dataset, bool *sound)
{
    const size_t parts = (segment->frames + PART - 1) / PART;
    size_t seen = 0;
    *sound = true;
    for (size_t i = 0; i < SAMPLES && *sound; i++) {
        const size_t part = i * (parts / SAMPLES), first = part * PART;
        const size_t count = airy_min_size(PART, segment->frames - first);
        size_t unsound;
        AIRY_TRY(read_part(segment, dataset, part, &unsound));
        *sound = unsound == 0 && airy_stack_table_lost(segment, first, count) == 0;
        add_up(segment, first, count);
        seen += count;
    }
    if (!*sound)
        return AIRY_OK;
    /* Below the size of the file, and so no overflow of a double's 53 bits that matters. */
    segment->stored_bytes = airy_min_size(
        (size_t)((double)segment->stored_bytes * (double)segment->frames / (double)seen),
        (size_t)segment->end);
    if (segment->table->grid.filtered)
        segment->max_chunk += segment->max_chunk / MARGIN;
    return AIRY_OK;
}

static airy_status make_table(struct stack_segment *segment, const struct airy_chunk_grid *grid)
{
    const size_t parts = (segment->frames + PART - 1) / PART;
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, 1, sizeof(struct stack_table) + parts, "chunk addresses"));
    segment->table = block;
    segment->table->grid = *grid;
    memcpy(segment->table->shape, grid->shape, (size_t)grid->ndim * sizeof(hsize_t));
    segment->table->grid.shape = segment->table->shape;
    return AIRY_OK;
}

airy_status airy_stack_table_open(struct stack_segment *segment, hid_t dataset,
                                  const struct airy_chunk_grid *grid)
{
    AIRY_TRY(airy_memory_calloc((void **)&segment->places, grid->frames, sizeof(*segment->places),
                                "chunk addresses"));
    if (grid->frames > WHOLE) {
        bool sound;
        AIRY_TRY(make_table(segment, grid));
        atomic_store(&segment->table->warned, true); /* a sample says nothing */
        AIRY_TRY(sample(segment, dataset, &sound));
        atomic_store(&segment->table->warned, false);
        if (sound)
            return AIRY_OK;
        airy_stack_table_destroy(&segment->table);
        memset(segment->places, 0, grid->frames * sizeof(*segment->places));
        segment->stored_bytes = segment->max_chunk = 0;
    }
    AIRY_TRY(airy_chunk_addresses(segment->places, dataset, grid, segment->name));
    add_up(segment, 0, grid->frames);
    return AIRY_OK;
}

airy_status airy_stack_table_fill(const airy_stack *stack, const struct stack_segment *segment,
                                  size_t inside)
{
    const size_t part = inside / PART;
    struct stack_table *table = segment->table;
    if (atomic_load_explicit(&table->known[part], memory_order_acquire))
        return AIRY_OK;
    AIRY_TRY(airy_hdf5_lock_allowing(stack->allowed));
    airy_status status = AIRY_OK;
    if (!atomic_load(&table->known[part])) { /* another thread may have read it meanwhile */
        hid_t dataset;
        size_t unsound;
        status = airy_stack_library_dataset(stack, (size_t)(segment - stack->segments), &dataset);
        if (status == AIRY_OK)
            status = read_part(segment, dataset, part, &unsound);
    }
    airy_hdf5_unlock();
    return status;
}
