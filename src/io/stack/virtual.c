/* Virtual datasets whose mapping is whole frames become frames of their source datasets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "io/hdf5/sources.h"
#include "io/stack/internal.h"

struct shape {
    int ndim;
    hsize_t extent[H5S_MAX_RANK];
};

/*
 * Frame i of the virtual dataset is frame from of segment owner - 1; owner 0: nothing is mapped
 * there.
 */
struct frame_source {
    size_t from;
    uint32_t owner;
};

struct known_source {
    size_t segment;
    struct shape shape;
};

struct resolver {
    airy_stack *stack;
    hid_t creation;
    const char *path; /* of the file the virtual dataset lies in */
    const char *name;
    struct shape shape;
    size_t frames, mapped;        /* of the dataset; by the mappings so far */
    struct frame_source *sources; /* [frames] */
    struct known_source *known;   /* sources opened so far */
    size_t known_count;
    uint32_t *slots; /* [slot_count], a power of two: 1 + place in known by the names' hash, or 0 */
    size_t slot_count;
    bool simple; /* false: libhdf5 has to read it */
};

/* A regular selection of whole frames: which indices of each leading axis. */
struct frame_selection {
    int leading;
    hsize_t start[H5S_MAX_RANK], stride[H5S_MAX_RANK], count[H5S_MAX_RANK], block[H5S_MAX_RANK];
    size_t frames;
};

static bool whole_axis(const struct frame_selection *s, int axis, hsize_t extent)
{
    return s->start[axis] == 0 &&
           ((s->count[axis] == 1 && s->block[axis] == extent) ||
            (s->count[axis] == extent && s->block[axis] == 1 && s->stride[axis] == 1));
}

static bool get_selection(struct frame_selection *s, hid_t space, const struct shape *shape)
{
    const H5S_sel_type type = H5Sget_select_type(space);
    s->leading = shape->ndim - 2;
    if (type == H5S_SEL_ALL) {
        for (int axis = 0; axis < shape->ndim; axis++) {
            s->start[axis] = 0;
            s->stride[axis] = s->block[axis] = 1;
            s->count[axis] = shape->extent[axis];
        }
    } else if (type != H5S_SEL_HYPERSLABS || H5Sget_simple_extent_ndims(space) != shape->ndim ||
               H5Sis_regular_hyperslab(space) <= 0 ||
               H5Sget_regular_hyperslab(space, s->start, s->stride, s->count, s->block) < 0) {
        return false;
    }
    if (!whole_axis(s, shape->ndim - 2, shape->extent[shape->ndim - 2]) ||
        !whole_axis(s, shape->ndim - 1, shape->extent[shape->ndim - 1]))
        return false;
    s->frames = 1;
    for (int axis = 0; axis < s->leading; axis++) {
        size_t picked, last;
        if (s->count[axis] == 0 || s->block[axis] == 0 ||
            airy_mul_size(&picked, s->count[axis], s->block[axis]) ||
            airy_mul_size(&last, s->count[axis] - 1, s->stride[axis]) ||
            airy_add_size(&last, last, s->block[axis] - 1) ||
            airy_add_size(&last, last, s->start[axis]) || last >= shape->extent[axis] ||
            airy_mul_size(&s->frames, s->frames, picked))
            return false;
    }
    return true;
}

/* The n-th selected frame, in C order, as a frame number of the dataset. */
static size_t selected_frame(const struct frame_selection *s, const struct shape *shape, size_t n)
{
    size_t frame = 0, step = 1;
    for (int axis = s->leading - 1; axis >= 0; axis--) {
        const size_t picked = (size_t)(s->count[axis] * s->block[axis]);
        const size_t i = n % picked;
        n /= picked;
        frame += step * (size_t)(s->start[axis] + i / s->block[axis] * s->stride[axis] +
                                 i % s->block[axis]);
        step *= (size_t)shape->extent[axis];
    }
    return frame;
}

static bool get_shape(struct shape *shape, hid_t dataset)
{
    const hid_t space = H5Dget_space(dataset);
    shape->ndim = space < 0 ? -1 : H5Sget_simple_extent_dims(space, shape->extent, NULL);
    if (space >= 0)
        H5Sclose(space);
    return shape->ndim >= 2;
}

/* A mapping that takes parts of frames is left to libhdf5. */
static bool same_frame(const struct shape *a, const struct shape *b)
{
    return a->extent[a->ndim - 2] == b->extent[b->ndim - 2] &&
           a->extent[a->ndim - 1] == b->extent[b->ndim - 1];
}

static bool is_plain(hid_t dataset)
{
    const hid_t creation = H5Dget_create_plist(dataset);
    const bool plain = creation >= 0 && H5Pget_layout(creation) != H5D_VIRTUAL;
    if (creation >= 0)
        H5Pclose(creation);
    return plain;
}

/* Frames of a source that cannot be opened: each read of one says why. */
static airy_status add_broken(struct resolver *r, struct known_source *known, const char *file,
                              const char *dataset, const char *why)
{
    airy_stack *stack = r->stack;
    known->shape.ndim = 0;
    AIRY_TRY(airy_stack_add_blank(stack, &known->segment, file, dataset));
    struct stack_segment *broken = &stack->segments[known->segment];
    (void)airy_hinted(AIRY_HINT_DATA_FILE,
                      airy_fail_on(AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_FILE,
                                   "file '%s', a source of the virtual dataset %s::%s, is %s", file,
                                   r->path, r->name, why));
    broken->broken = airy_error_keep();
    AIRY_FAIL_IF(!broken->broken, AIRY_ERR_MEMORY, "out of memory for a failure's sentence");
    airy_log(AIRY_LOG_WARN, "%s", airy_last_error());
    return AIRY_OK;
}

/*
 * The same, with the sentence of the failure that a cut file leads to; other failures are
 * forwarded.
 */
static airy_status add_cut(struct resolver *r, struct known_source *known, const char *file,
                           const char *dataset, airy_status failed)
{
    if (failed != AIRY_ERR_FORMAT && failed != AIRY_ERR_IO && failed != AIRY_ERR_NOT_FOUND)
        return failed;
    char text[600];
    snprintf(text, sizeof(text), "missing or cut: %.580s", airy_last_error());
    return add_broken(r, known, file, dataset, text);
}

/* An index of chunks that is cut is the source's trouble, not the stack's. */
static airy_status add_sound(struct resolver *r, struct known_source *known, hid_t source,
                             const char *file, const char *dataset)
{
    const airy_status status =
        airy_stack_add_segment(r->stack, &known->segment, source, file, dataset);
    if (status != AIRY_OK)
        return add_cut(r, known, file, dataset, status);
    r->stack->segments[known->segment].is_source = strcmp(file, r->path) != 0;
    return AIRY_OK;
}

/* The segment of a source dataset; shape: its own. */
static airy_status open_source(struct resolver *r, struct known_source *known, const char *file,
                               const char *dataset)
{
    if (access(file, F_OK) != 0)
        return add_broken(r, known, file, dataset, "not there");
    struct shape *shape = &known->shape;
    hid_t opened;
    airy_status status = airy_hdf5_open(&opened, file);
    if (status != AIRY_OK)
        return add_cut(r, known, file, dataset, status);
    const hid_t source = airy_hdf5_dataset_own(opened, dataset);
    if (source < 0)
        status = add_cut(r, known, file, dataset,
                         airy_hdf5_fail(AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_FILE,
                                        "%s::%s cannot be opened", file, dataset));
    else if (!get_shape(shape, source) || !same_frame(shape, &r->shape) || !is_plain(source))
        r->simple = false;
    else
        status = add_sound(r, known, source, file, dataset);
    if (source >= 0)
        H5Dclose(source);
    H5Fclose(opened);
    return status;
}

static void map_frames(struct resolver *r, const struct known_source *source, hid_t source_space,
                       const struct frame_selection *to)
{
    struct frame_selection from;
    const bool broken = r->stack->segments[source->segment].broken != NULL;
    r->simple = broken ||
                (get_selection(&from, source_space, &source->shape) && from.frames == to->frames);
    /* Mappings that cover each other are odd, and many of a large shape would take hours. */
    r->simple = r->simple && to->frames <= r->frames - r->mapped;
    r->mapped += r->simple ? to->frames : 0;
    for (size_t n = 0; r->simple && n < to->frames; n++) {
        const size_t frame = selected_frame(to, &r->shape, n);
        r->sources[frame] =
            (struct frame_source){.from = broken ? 0 : selected_frame(&from, &source->shape, n),
                                  .owner = (uint32_t)(source->segment + 1)};
    }
}

/* Names of a mapping; a '%' in them makes libhdf5 number the sources, which is left to it. */
static bool get_names(const struct resolver *r, size_t i, char **file, char **dataset)
{
    const ssize_t file_length = H5Pget_virtual_filename(r->creation, i, NULL, 0);
    const ssize_t dataset_length = H5Pget_virtual_dsetname(r->creation, i, NULL, 0);
    if (file_length < 0 || dataset_length < 0)
        return false;
    char *name = malloc((size_t)file_length + 1);
    *dataset = malloc((size_t)dataset_length + 1);
    const bool got =
        name && *dataset &&
        H5Pget_virtual_filename(r->creation, i, name, (size_t)file_length + 1) == file_length &&
        H5Pget_virtual_dsetname(r->creation, i, *dataset, (size_t)dataset_length + 1) ==
            dataset_length &&
        !strchr(name, '%') && !strchr(*dataset, '%');
    *file = got ? airy_hdf5_source_find(r->path, name) : NULL;
    free(name);
    return *file != NULL;
}

/* Each source is opened once, however many mappings name it. */
static airy_status get_source(struct resolver *r, const struct known_source **found,
                              const char *file, const char *dataset)
{
    const uint64_t hash = airy_hash_text(airy_hash_text(AIRY_HASH_START, file), dataset);
    size_t at = (size_t)hash & (r->slot_count - 1);
    for (; r->slots[at]; at = (at + 1) & (r->slot_count - 1)) {
        struct known_source *known = &r->known[r->slots[at] - 1];
        const struct stack_segment *segment = &r->stack->segments[known->segment];
        if (strcmp(segment->path, file) == 0 && strcmp(segment->dataset, dataset) == 0) {
            *found = known;
            return AIRY_OK;
        }
    }
    struct known_source *larger = realloc(r->known, (r->known_count + 1) * sizeof(*larger));
    AIRY_FAIL_IF(!larger, AIRY_ERR_MEMORY, "out of memory for %zu sources of a virtual dataset",
                 r->known_count + 1);
    r->known = larger;
    AIRY_TRY(open_source(r, &larger[r->known_count], file, dataset));
    if (r->simple) {
        *found = &larger[r->known_count++];
        r->slots[at] = (uint32_t)r->known_count;
    }
    return AIRY_OK;
}

static airy_status resolve_mapping(struct resolver *r, size_t i)
{
    char *file = NULL, *dataset = NULL;
    const struct known_source *source = NULL;
    airy_status status = AIRY_OK;
    hid_t virtual_space = -1, source_space = -1;
    if (!get_names(r, i, &file, &dataset)) {
        r->simple = false;
        goto out;
    }
    virtual_space = H5Pget_virtual_vspace(r->creation, i);
    source_space = H5Pget_virtual_srcspace(r->creation, i);
    /* A source that goes on without an end libhdf5 has open already. */
    struct frame_selection to;
    r->simple = virtual_space >= 0 && source_space >= 0 &&
                get_selection(&to, virtual_space, &r->shape);
    if (!r->simple)
        goto out;
    AIRY_TRY_OR(out, get_source(r, &source, file, dataset));
    if (r->simple)
        map_frames(r, source, source_space, &to);
out:
    if (virtual_space >= 0)
        H5Sclose(virtual_space);
    if (source_space >= 0)
        H5Sclose(source_space);
    free(file);
    free(dataset);
    return status;
}

/* Frames that nothing is mapped to were never written. */
static airy_status add_unmapped(struct resolver *r, size_t *segment)
{
    AIRY_TRY(airy_stack_add_blank(r->stack, segment, r->path, r->name));
    struct stack_segment *blank = &r->stack->segments[*segment];
    blank->direct = blank->fill_only = true;
    blank->frames = r->frames;
    return AIRY_OK;
}

static airy_status add_runs(struct resolver *r)
{
    airy_stack *stack = r->stack;
    size_t blank = SIZE_MAX;
    for (size_t frame = 0; frame < r->frames; frame++) {
        const struct frame_source *source = &r->sources[frame];
        if (!source->owner && blank == SIZE_MAX)
            AIRY_TRY(add_unmapped(r, &blank));
        const size_t segment = source->owner ? source->owner - 1 : blank;
        const size_t from = source->owner ? source->from : frame;
        AIRY_TRY(
            airy_stack_add_run(stack, (struct stack_run){stack->frames + frame, 1, segment, from}));
    }
    stack->frames += r->frames;
    return AIRY_OK;
}

static airy_status resolve_all(struct resolver *r)
{
    size_t count = 0;
    if (H5Pget_virtual_count(r->creation, &count) < 0)
        return airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                              "%s::%s: its mapping cannot be read", r->path, r->name);
    /* Each mapping has one source at most. */
    for (r->slot_count = 1; r->slot_count < 2 * (count + 1);)
        r->slot_count *= 2;
    AIRY_TRY(airy_memory_calloc((void **)&r->slots, r->slot_count, sizeof(*r->slots),
                                "sources of a virtual dataset"));
    for (size_t i = 0; i < count && r->simple; i++)
        AIRY_TRY(resolve_mapping(r, i));
    return r->simple ? add_runs(r) : AIRY_OK;
}

/* libhdf5 will read the sources: which files they are. */
static airy_status note_sources(const struct resolver *r)
{
    size_t count = 0;
    if (H5Pget_virtual_count(r->creation, &count) < 0)
        return AIRY_OK;
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < count && status == AIRY_OK; i++) {
        char *file = NULL, *dataset = NULL;
        if (get_names(r, i, &file, &dataset))
            status = airy_stack_note_file(r->stack, file);
        free(file);
        free(dataset);
    }
    return status;
}

/* Of a virtual dataset whose frames are counted. */
static airy_status resolve(struct resolver *r)
{
    AIRY_TRY(airy_memory_calloc((void **)&r->sources, r->frames, sizeof(*r->sources),
                                "a virtual dataset"));
    const size_t segments = r->stack->segment_count;
    airy_status status = resolve_all(r);
    if (status == AIRY_OK && !r->simple)
        status = note_sources(r);
    if (status != AIRY_OK || !r->simple)
        airy_stack_drop_segments(r->stack, segments);
    free(r->sources);
    free(r->known);
    free(r->slots);
    return status;
}

airy_status airy_stack_add_virtual(airy_stack *stack, bool *resolved, hid_t dataset,
                                   const char *path, const char *name)
{
    struct resolver r = {.stack = stack, .path = path, .name = name, .frames = 1, .simple = true};
    *resolved = false;
    r.creation = H5Dget_create_plist(dataset); /* a copy: of many mappings it takes a while */
    if (r.creation < 0)
        return AIRY_OK;
    const airy_probe *probe = airy_probe_of(dataset);
    if (probe)
        r.path = probe->path; /* behind an external link it is another file */
    r.simple = H5Pget_layout(r.creation) == H5D_VIRTUAL && get_shape(&r.shape, dataset);
    for (int axis = 0; r.simple && axis < r.shape.ndim - 2; axis++)
        r.frames *= (size_t)r.shape.extent[axis]; /* the caller has checked the product */
    airy_status status = AIRY_OK;
    if (r.simple && r.frames <= AIRY_STACK_MAX_FRAMES) {
        status = resolve(&r);
        *resolved = status == AIRY_OK && r.simple;
    }
    H5Pclose(r.creation);
    return status;
}
