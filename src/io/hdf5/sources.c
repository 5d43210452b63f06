#include "io/hdf5/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/array.h"
#include "base/size.h"
#include "io/hdf5/chunk_address.h"
#include "io/hdf5/inflate.h"
#include "io/hdf5/virtual_part.h"

enum {
    MAX_NESTED = 8,        /* virtual datasets of virtual datasets */
    MAX_BOXES = 1024,      /* parts of one source that are told apart */
    MAX_NUMBERED = 100000, /* sources named by "%b", in all */
    MAX_MARKS = 1 << 28,   /* of frames that mappings show; one takes about a nanosecond */
    FREE_PATHS = 200000,   /* libhdf5 takes up to 40 us for each: 8 s */
    ELEMENTS_OF_PATH = 64  /* and one more for as many elements that are read */
};

/* "folder/name", or NULL when nothing is there (or memory is short). */
static char *try_folder(const char *folder, size_t length, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%.*s/%s", (int)length, folder, name) < 0)
        return NULL;
    if (access(path, F_OK) == 0)
        return path;
    free(path);
    return NULL;
}

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

/* Folders of the variable; ${ORIGIN} is the one of `beside`. */
static char *try_prefixes(const char *prefixes, const char *beside, const char *name)
{
    static const char origin[] = "${ORIGIN}";
    char *found = NULL;
    while (!found && prefixes && *prefixes) {
        const size_t length = strcspn(prefixes, ":");
        const bool relative = strncmp(prefixes, origin, sizeof(origin) - 1) == 0;
        const size_t skip = relative ? sizeof(origin) - 1 : 0;
        char *folder = NULL;
        if (length > 0 && asprintf(&folder, "%.*s%.*s", relative ? (int)folder_length(beside) : 0,
                                   beside, (int)(length - skip), prefixes + skip) >= 0)
            found = try_folder(folder, strlen(folder), name);
        free(folder);
        prefixes += length + (prefixes[length] == ':');
    }
    return found;
}

char *airy_hdf5_source_find(const char *beside, const char *name)
{
    if (strcmp(name, ".") == 0)
        return strdup(beside);
    if (name[0] == '/' && access(name, F_OK) == 0)
        return strdup(name);
    const char *relative = name[0] == '/' ? strrchr(name, '/') + 1 : name;
    char *found = try_prefixes(getenv("HDF5_VDS_PREFIX"), beside, relative);
    if (!found)
        found = try_folder(beside, folder_length(beside), relative);
    char *real = found ? NULL : realpath(beside, NULL);
    if (real)
        found = try_folder(real, folder_length(real), relative);
    free(real);
    if (!found && asprintf(&found, "%.*s/%s", (int)folder_length(beside), beside, relative) < 0)
        return NULL;
    return found;
}

/* First and last index of each axis; ndim 0: everything. paths: how many libhdf5 takes to it. */
struct box {
    int ndim;
    bool exact;  /* the box is what is asked for, and no more */
    bool all;    /* a mapping takes the whole source, whose shape is not known yet */
    bool beyond; /* the source has fewer elements than the mapping takes of it */
    struct airy_points points;
    double paths;
    hsize_t first[AIRY_MAX_DIMS], last[AIRY_MAX_DIMS];
};

static void get_box(struct box *box, hid_t space)
{
    hsize_t first[H5S_MAX_RANK], last[H5S_MAX_RANK];
    box->exact = box->all = box->beyond = false;
    box->ndim = space < 0 ? 0 : H5Sget_simple_extent_ndims(space);
    if (box->ndim <= 0 || box->ndim > AIRY_MAX_DIMS || H5Sget_select_bounds(space, first, last) < 0)
        box->ndim = 0;
    for (int axis = 0; axis < box->ndim; axis++) {
        box->first[axis] = first[axis];
        box->last[axis] = last[axis];
    }
    if (space >= 0)
        H5Sclose(space);
}

static bool apart(const struct box *a, const struct box *b)
{
    bool found = false;
    for (int axis = 0; axis < a->ndim && a->ndim == b->ndim; axis++)
        found = found || a->last[axis] < b->first[axis] || b->last[axis] < a->first[axis];
    return found;
}

static bool same_box(const struct box *a, const struct box *b)
{
    bool same = a->ndim == b->ndim && a->all == b->all &&
                (!a->all || (a->points.begin == b->points.begin && a->points.end == b->points.end));
    for (int axis = 0; axis < a->ndim && same; axis++)
        same = a->first[axis] == b->first[axis] && a->last[axis] == b->last[axis];
    return same;
}

/* Let a hold b as well. */
static void stretch(struct box *a, const struct box *b)
{
    if (a->all || b->all || a->ndim != b->ndim)
        a->ndim = 0;
    a->exact = a->all = false;
    a->beyond |= b->beyond;
    for (int i = 0; i < a->ndim; i++) {
        a->first[i] = b->first[i] < a->first[i] ? b->first[i] : a->first[i];
        a->last[i] = b->last[i] > a->last[i] ? b->last[i] : a->last[i];
    }
    a->paths += b->paths;
}

/* A dataset that a virtual one names, and the parts of it that are asked for. */
struct source {
    char *file, *name;
    struct box *boxes;
    size_t box_count, box_room;
    dev_t device; /* with inode and address: which dataset it is, under whatever name */
    ino_t inode;
    haddr_t address;
};

struct sources {
    struct source *items;
    size_t count, room;
};

/*
 * What the mappings of a virtual dataset show: libhdf5 gives fill values for the rest. Parts of a
 * frame may be left out, as between the modules of a detector; a frame of which nothing is shown was
 * never written.
 */
struct shown {
    bool *boxes;  /* [box_count] of those asked for that are exact, or NULL */
    bool *frames; /* [frame_count] where all of it is asked for, or NULL */
    size_t frame_count, steps;
    const struct airy_part *shape;
};

/*
 * The sources are walked level by level, and each level has each dataset once, with all that is
 * asked of it: the work is bounded by the mappings in the files times the levels, not by the paths
 * through them. libhdf5 follows each path when it reads, so these are counted, and too many are
 * refused.
 */
struct walk {
    const char *what;     /* the dataset that was asked for */
    struct sources named; /* the next level's, as the mappings name them */
    struct shown shown;   /* of the dataset whose mappings are noted */
    bool unmapped;        /* out: nothing is mapped to a frame that is asked for */
    bool written;         /* a source that was never written is an error, where this is known */
    bool whole;           /* all of the dataset is asked for */
    bool exact;           /* what is asked for is followed to its chunks, and paths do not count */
    bool chunks;          /* the sizes of these are checked */
    bool *packed;         /* out, or NULL: some source has filters */
    size_t numbered;      /* sources named by "%b" so far */
    double paths, limit;  /* of mappings that libhdf5 follows, so far and at most */
};

static airy_status fail_memory(const struct walk *w)
{
    return airy_fail(AIRY_ERR_MEMORY, "out of memory for the sources of %s", w->what);
}

static void release(struct sources *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].file);
        free(list->items[i].name);
        free(list->items[i].boxes);
    }
    free(list->items);
    *list = (struct sources){0};
}

static bool add_box(struct source *source, const struct box *box)
{
    size_t at = 0;
    while (at < source->box_count && !same_box(&source->boxes[at], box))
        at++;
    if (at == MAX_BOXES)
        at = MAX_BOXES - 1; /* more is looked at than must be */
    if (at < source->box_count) {
        if (same_box(&source->boxes[at], box))
            source->boxes[at].paths += box->paths;
        else
            stretch(&source->boxes[at], box);
        return true;
    }
    if (source->box_count == source->box_room) {
        const size_t room = source->box_room ? 2 * source->box_room : 1;
        struct box *larger = realloc(source->boxes, room * sizeof(*larger));
        if (!larger)
            return false;
        source->boxes = larger;
        source->box_room = room;
    }
    source->boxes[source->box_count++] = *box;
    return true;
}

/* A new entry, which takes file and name. NULL: memory is short; they are freed. */
static struct source *add_source(struct sources *list, char *file, char *name)
{
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 16;
        struct source *larger = realloc(list->items, room * sizeof(*larger));
        if (!larger) {
            free(file);
            free(name);
            return NULL;
        }
        list->items = larger;
        list->room = room;
    }
    struct source *source = &list->items[list->count++];
    *source = (struct source){.file = file, .name = name};
    return source;
}

static airy_status note_source(struct walk *w, const char *file, const char *name,
                               const struct box *box)
{
    struct sources *list = &w->named;
    struct source *last = list->count ? &list->items[list->count - 1] : NULL;
    if (!last || strcmp(last->name, name) != 0 || strcmp(last->file, file) != 0) {
        char *own_file = strdup(file), *own_name = strdup(name);
        last = add_source(list, own_file, own_name);
        if (!last || !own_file || !own_name)
            return fail_memory(w);
    }
    return add_box(last, box) ? AIRY_OK : fail_memory(w);
}

/*
 * What libhdf5 makes of a source's name: "%b" is a number, "%%" a '%'. *numbered: there is a number.
 */
static char *fill_name(const char *name, size_t number, bool *numbered)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (const char *c = name; *c; c++) {
        if (c[0] == '%' && c[1] == 'b') {
            fprintf(out, "%zu", number);
            *numbered = true;
            c++;
        } else {
            fputc(*c, out);
            c += c[0] == '%' && c[1] == '%';
        }
    }
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* The elements of a dataset, UINT64_MAX where they are more. */
static hsize_t count_elements(int ndim, const hsize_t *shape)
{
    hsize_t elements = 1;
    for (int axis = 0; axis < ndim; axis++)
        if (__builtin_mul_overflow(elements, shape[axis], &elements))
            return UINT64_MAX;
    return elements;
}

/* Narrow the box to its points of the selection; it stays exact where these are one box. */
static void narrow(struct box *box, hid_t from, int ndim, const hsize_t *shape)
{
    struct airy_part part;
    const bool fits = ndim <= AIRY_MAX_DIMS &&
                      airy_virtual_part(&part, &box->points, from, ndim, shape);
    box->beyond = box->all && count_elements(ndim, shape) < box->points.end;
    box->ndim = fits ? ndim : box->all ? 0 : box->ndim;
    box->exact = box->exact && fits;
    box->all = false;
    for (int axis = 0; fits && axis < ndim; axis++) {
        box->first[axis] = part.first[axis];
        box->last[axis] = part.last[axis];
    }
}

/* Narrow the boxes of mappings that take the whole source, whose shape is known now. */
static void settle_boxes(struct source *source, hid_t dataset)
{
    hsize_t shape[H5S_MAX_RANK];
    const hid_t space = H5Dget_space(dataset);
    const int ndim = space < 0 ? 0 : H5Sget_simple_extent_dims(space, shape, NULL);
    if (ndim > 0 && H5Sselect_all(space) >= 0)
        for (size_t i = 0; i < source->box_count; i++)
            if (source->boxes[i].all)
                narrow(&source->boxes[i], space, ndim, shape);
    if (space >= 0)
        H5Sclose(space);
}

/* A mapping, or the part of it that one source of many is. */
struct mapping {
    const char *file, *name; /* the source's */
    hid_t to, from;
};

static struct airy_part part_of(const struct box *box)
{
    struct airy_part part = {.ndim = box->ndim};
    for (int axis = 0; axis < part.ndim; axis++) {
        part.first[axis] = box->first[axis];
        part.last[axis] = box->last[axis];
    }
    return part;
}

/* Of the source what is asked for: *known is false where no one box holds it and nothing else. */
static void get_wanted_box(struct box *wanted, const struct mapping *m, const struct box *asked,
                           bool *known)
{
    const struct airy_part box = part_of(asked);
    struct airy_points points = {0, 0};
    hsize_t shape[H5S_MAX_RANK];
    *known = asked->exact && airy_virtual_points(&points, &box, m->to);
    get_box(wanted, H5Scopy(m->from));
    wanted->all = H5Sget_select_type(m->from) == H5S_SEL_ALL;
    wanted->exact = *known;
    if (!*known)
        points = (struct airy_points){0, (hsize_t)H5Sget_select_npoints(m->to)};
    wanted->points = points;
    if (*known && !wanted->all) {
        narrow(wanted, m->from, H5Sget_simple_extent_dims(m->from, shape, NULL), shape);
        *known = wanted->exact;
    }
}

/* A selection of the source, block by block, or where it has too many as one box. */
static airy_status note_blocks(struct walk *w, const struct mapping *m, hid_t selected)
{
    const int ndim = H5Sget_simple_extent_ndims(selected);
    const hssize_t points = H5Sget_select_npoints(selected),
                   count = H5Sget_select_type(selected) == H5S_SEL_HYPERSLABS
                               ? H5Sget_select_hyper_nblocks(selected)
                               : 0;
    struct box box = {.exact = true, .ndim = ndim};
    airy_status status = AIRY_OK;
    if (points == 0)
        return AIRY_OK;
    if (ndim < 1 || ndim > AIRY_MAX_DIMS || count < 1 || count > MAX_BOXES) {
        get_box(&box, H5Scopy(selected));
        return note_source(w, m->file, m->name, &box);
    }
    hsize_t *blocks = calloc((size_t)count, 2 * (size_t)ndim * sizeof(*blocks));
    if (!blocks)
        return fail_memory(w);
    if (H5Sget_select_hyper_blocklist(selected, 0, (hsize_t)count, blocks) < 0)
        status = airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET,
                                "%s: its mapping cannot be read", w->what);
    for (hssize_t i = 0; i < count && status == AIRY_OK; i++) {
        for (int axis = 0; axis < ndim; axis++) {
            box.first[axis] = blocks[2 * ndim * i + axis];
            box.last[axis] = blocks[2 * ndim * i + ndim + axis];
        }
        status = note_source(w, m->file, m->name, &box);
    }
    free(blocks);
    return status;
}

/* What one of the parts that are asked for is in the source. */
static airy_status note_part(struct walk *w, const struct mapping *m, const struct box *asked)
{
    struct box wanted;
    bool known;
    get_wanted_box(&wanted, m, asked, &known);
    const struct airy_part part = part_of(asked);
    const hid_t selected = known || part.ndim == 0 ? -1
                                                   : airy_virtual_project(m->to, m->from, &part);
    if (selected < 0)
        return note_source(w, m->file, m->name, &wanted);
    const airy_status status = note_blocks(w, m, selected);
    H5Sclose(selected);
    return status;
}

/*
 * What libhdf5 may look at of the source: where a dataset is asked for in one part that is, else all
 * that the mapping takes.
 */
static airy_status note_paths(struct walk *w, const struct mapping *m, const struct box *here,
                              const struct source *asked)
{
    const struct box all = {.ndim = 0};
    struct box wanted;
    bool known;
    double paths = 0;
    for (size_t k = 0; k < asked->box_count; k++)
        paths += apart(here, &asked->boxes[k]) ? 0 : asked->boxes[k].paths;
    if (paths == 0)
        return AIRY_OK;
    w->paths += paths;
    AIRY_FAIL_ON_IF(
        w->paths > w->limit, AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_DATASET,
        "%s: its virtual datasets name each other on more than %.0f paths, which would take "
        "too long; copy what is wanted into a dataset of its own",
        w->what, w->limit);
    get_wanted_box(&wanted, m, asked->box_count == 1 ? &asked->boxes[0] : &all, &known);
    wanted.paths = paths;
    return note_source(w, m->file, m->name, &wanted);
}

/* Note what a mapping shows of what is asked for. */
static airy_status note_shown(struct shown *s, const struct walk *w, const struct mapping *m,
                              const struct box *here, const struct source *asked)
{
    for (size_t k = 0; s->boxes && k < asked->box_count; k++) {
        const struct airy_part part = part_of(&asked->boxes[k]);
        if (!s->boxes[k] && !apart(here, &asked->boxes[k]))
            s->boxes[k] = airy_virtual_touches(m->to, &part);
    }
    AIRY_FAIL_ON_IF(
        s->frames &&
            !airy_virtual_mark(s->frames, m->to, s->shape->ndim, s->shape->last, &s->steps),
        AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_DATASET,
        "%s: its mappings show more than %d frames one by one; copy what is wanted into a "
        "dataset of its own",
        w->what, (int)MAX_MARKS);
    return AIRY_OK;
}

static airy_status note_parts(struct walk *w, const struct mapping *m, const struct source *asked)
{
    struct box here;
    get_box(&here, H5Scopy(m->to));
    airy_status status = note_shown(&w->shown, w, m, &here, asked);
    if (status != AIRY_OK)
        return status;
    if (!w->exact)
        return note_paths(w, m, &here, asked);
    for (size_t k = 0; k < asked->box_count && status == AIRY_OK; k++)
        if (!apart(&here, &asked->boxes[k]))
            status = note_part(w, m, &asked->boxes[k]);
    return status;
}

/* Source `number` of a mapping, by the names that libhdf5 makes of the mapping's. */
static airy_status note_numbered(struct walk *w, const char *beside, const struct mapping *m,
                                 size_t number, const struct source *asked)
{
    bool numbered;
    struct mapping one = *m;
    char *file = fill_name(m->file, number, &numbered),
         *name = fill_name(m->name, number, &numbered),
         *found = file && name ? airy_hdf5_source_find(beside, file) : NULL;
    one.file = found;
    one.name = name;
    const airy_status status = found ? note_parts(w, &one, asked) : fail_memory(w);
    free(file);
    free(name);
    free(found);
    return status;
}

/* Indices of an axis that are asked for, below `extent`. */
static void get_range(hsize_t range[2], const struct source *asked, int ndim, int axis,
                      hsize_t extent)
{
    range[0] = extent;
    range[1] = 0;
    for (size_t k = 0; k < asked->box_count; k++) {
        const struct box *box = &asked->boxes[k];
        const hsize_t first = box->ndim == ndim ? box->first[axis] : 0,
                      end = box->ndim == ndim ? box->last[axis] + 1 : extent;
        range[0] = first < range[0] ? first : range[0];
        range[1] = end > range[1] ? end : range[1];
    }
    range[1] = range[1] < extent ? range[1] : extent;
}

/*
 * A mapping whose names have "%b": each block of the virtual dataset, as far as that goes, is a
 * source of its own.
 */
static airy_status note_series(struct walk *w, const char *beside, const struct mapping *m,
                               const struct airy_endless *to, const struct source *asked,
                               hsize_t extent)
{
    const hsize_t start = to->start[to->axis], stride = to->stride[to->axis],
                  block = to->block[to->axis];
    hsize_t range[2];
    airy_status status = AIRY_OK;
    get_range(range, asked, to->ndim, to->axis, extent);
    const hsize_t behind = start < range[0] ? range[0] - start : 0;
    for (hsize_t i = behind < block ? 0 : (behind - block) / stride;
         status == AIRY_OK && start < range[1] && i <= (range[1] - 1 - start) / stride; i++) {
        struct airy_endless one = *to;
        struct mapping part = *m;
        const hsize_t begin = start + i * stride;
        AIRY_FAIL_ON_IF(++w->numbered > MAX_NUMBERED, AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_DATASET,
                        "%s has more than %d numbered sources", w->what, MAX_NUMBERED);
        one.start[one.axis] = begin;
        part.to = airy_virtual_first(&one, block < extent - begin ? block : extent - begin);
        status = part.to < 0 ? airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET,
                                              "%s: its mapping cannot be read", w->what)
                             : note_numbered(w, beside, &part, (size_t)i, asked);
        if (part.to >= 0)
            H5Sclose(part.to);
    }
    return status;
}

/* A mapping that grows with its source, as far as the virtual dataset goes. */
static airy_status note_growing(struct walk *w, const char *beside, const struct mapping *m,
                                const struct airy_endless *to, const struct airy_endless *from,
                                const struct source *asked, hsize_t extent)
{
    const hsize_t indices = airy_virtual_indices(to, extent), one = airy_virtual_elements(from);
    hsize_t elements;
    if (indices == 0)
        return AIRY_OK;
    AIRY_FAIL_ON_IF(
        one == 0 || __builtin_mul_overflow(indices, airy_virtual_elements(to), &elements) ||
            elements % one != 0,
        AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET, "%s: its mapping cannot be read", w->what);
    struct mapping part = *m;
    part.to = airy_virtual_first(to, indices);
    part.from = airy_virtual_first(from, elements / one);
    const airy_status status = part.to < 0 || part.from < 0
                                   ? airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET,
                                                    "%s: its mapping cannot be read", w->what)
                                   : note_numbered(w, beside, &part, 0, asked);
    if (part.to >= 0)
        H5Sclose(part.to);
    if (part.from >= 0)
        H5Sclose(part.from);
    return status;
}

static airy_status note_spaces(struct walk *w, const char *beside, const struct mapping *m,
                               const struct source *asked, const struct airy_part *shape)
{
    struct airy_endless to, from;
    if (!airy_virtual_endless(&to, m->to))
        return note_numbered(w, beside, m, 0, asked);
    AIRY_FAIL_ON_IF(to.ndim != shape->ndim, AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET,
                    "%s: its mapping cannot be read", w->what);
    const hsize_t extent = shape->last[to.axis];
    return airy_virtual_endless(&from, m->from)
               ? note_growing(w, beside, m, &to, &from, asked, extent)
               : note_series(w, beside, m, &to, asked, extent);
}

static airy_status note_mapping(struct walk *w, hid_t creation, size_t i, const char *beside,
                                const struct source *asked, const struct airy_part *shape)
{
    const ssize_t file_length = H5Pget_virtual_filename(creation, i, NULL, 0);
    const ssize_t name_length = H5Pget_virtual_dsetname(creation, i, NULL, 0);
    AIRY_FAIL_ON_IF(file_length < 0 || name_length < 0, AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET,
                    "%s: its mapping cannot be read", w->what);
    char *file = calloc((size_t)file_length + 1, 1), *name = calloc((size_t)name_length + 1, 1);
    const struct mapping m = {file, name, H5Pget_virtual_vspace(creation, i),
                              H5Pget_virtual_srcspace(creation, i)};
    airy_status status;
    if (!file || !name || m.to < 0 || m.from < 0 ||
        H5Pget_virtual_filename(creation, i, file, (size_t)file_length + 1) < 0 ||
        H5Pget_virtual_dsetname(creation, i, name, (size_t)name_length + 1) < 0)
        status = fail_memory(w);
    else
        status = note_spaces(w, beside, &m, asked, shape);
    if (m.to >= 0)
        H5Sclose(m.to);
    if (m.from >= 0)
        H5Sclose(m.from);
    free(file);
    free(name);
    return status;
}

static airy_status begin_shown(struct walk *w, const struct source *asked,
                               const struct airy_part *shape)
{
    w->shown = (struct shown){.frame_count = 1, .steps = MAX_MARKS, .shape = shape};
    if (!w->written || shape->ndim < 1)
        return AIRY_OK;
    for (int axis = 0; axis < shape->ndim - 2; axis++)
        if (airy_mul_size(&w->shown.frame_count, w->shown.frame_count, shape->last[axis]))
            return fail_memory(w);
    if (!w->whole)
        w->shown.boxes = calloc(asked->box_count + 1, sizeof(bool));
    else
        w->shown.frames = calloc(w->shown.frame_count + 1, sizeof(bool));
    return w->shown.boxes || w->shown.frames ? AIRY_OK : fail_memory(w);
}

/* Note whether nothing is shown of something that is asked for. */
static void end_shown(struct walk *w, const struct source *asked)
{
    bool all = true;
    for (size_t k = 0; w->shown.boxes && k < asked->box_count; k++)
        all = all && (w->shown.boxes[k] || !asked->boxes[k].exact || asked->boxes[k].ndim == 0);
    for (size_t i = 0; all && w->shown.frames && i < w->shown.frame_count; i++)
        all = w->shown.frames[i];
    w->unmapped |= !all;
    free(w->shown.boxes);
    free(w->shown.frames);
    w->shown = (struct shown){0};
}

/* The sources of a virtual dataset join the next level; other layouts have none. */
static airy_status note_mappings(struct walk *w, hid_t dataset, const struct source *asked)
{
    const hid_t creation = H5Dget_create_plist(dataset), space = H5Dget_space(dataset);
    struct airy_part shape; /* last: one behind the last index */
    airy_status status = AIRY_OK;
    size_t count = 0;
    shape.ndim = space < 0 ? -1 : H5Sget_simple_extent_dims(space, shape.last, NULL);
    if (creation >= 0 && H5Pget_layout(creation) == H5D_VIRTUAL) {
        const airy_probe *probe = airy_probe_of(dataset);
        status = begin_shown(w, asked, &shape);
        if (status == AIRY_OK && (!probe || H5Pget_virtual_count(creation, &count) < 0))
            status = airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET,
                                  "%s: its mapping cannot be read", w->what);
        for (size_t k = 0; k < count && status == AIRY_OK; k++)
            status = note_mapping(w, creation, k, probe->path, asked, &shape);
        end_shown(w, asked);
    }
    if (space >= 0)
        H5Sclose(space);
    if (creation >= 0)
        H5Pclose(creation);
    return status;
}

static int by_name(const void *a, const void *b)
{
    const struct source *x = a, *y = b;
    const int order = strcmp(x->file, y->file);
    return order ? order : strcmp(x->name, y->name);
}

static int by_identity(const void *a, const void *b)
{
    const struct source *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->inode != y->inode)
        return x->inode < y->inode ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* Entries that are the same become one, with the boxes of all. */
static airy_status merge_same(struct sources *list, const struct walk *w,
                              int (*order)(const void *, const void *))
{
    size_t kept = 0;
    bool good = true;
    if (list->count > 1)
        qsort(list->items, list->count, sizeof(*list->items), order);
    for (size_t i = 1; i < list->count; i++) {
        struct source *into = &list->items[kept], *from = &list->items[i];
        if (order(into, from) != 0) {
            kept++;
            if (kept != i) { /* what stood there has been merged */
                list->items[kept] = *from;
                *from = (struct source){0};
            }
            continue;
        }
        for (size_t k = 0; k < from->box_count; k++)
            good = add_box(into, &from->boxes[k]) && good;
        free(from->file);
        free(from->name);
        free(from->boxes);
        *from = (struct source){0};
    }
    list->count = list->count ? kept + 1 : 0;
    return good ? AIRY_OK : fail_memory(w);
}

static airy_status open_file(hid_t *opened, const char *file, const struct walk *w)
{
    AIRY_FAIL_HINT_IF(access(file, F_OK) != 0, AIRY_ERR_NOT_FOUND, AIRY_HINT_DATA_FILE,
                      AIRY_SUBJECT_FILE,
                      "file '%s', a source of the virtual dataset %s, is not there", file, w->what);
    if (airy_hdf5_open(opened, file) != AIRY_OK)
        return airy_about(
            AIRY_SUBJECT_FILE, file,
            airy_fail_context(AIRY_ERR_FORMAT,
                              "file '%s', a source of the virtual dataset %s, is missing or cut",
                              file, w->what));
    return AIRY_OK;
}

/* Return whether a box ends behind the source. */
static bool ends_behind(const struct box *box, hid_t dataset)
{
    hsize_t shape[H5S_MAX_RANK];
    const hid_t space = H5Dget_space(dataset);
    const int ndim = space < 0 ? -1 : H5Sget_simple_extent_dims(space, shape, NULL);
    bool behind = box->beyond;
    for (int axis = 0; axis < ndim && ndim == box->ndim; axis++)
        behind = behind || box->last[axis] >= shape[axis];
    if (space >= 0)
        H5Sclose(space);
    return behind;
}

/* Return whether the box lacks data; *known is false where the box is larger than what is asked for. */
static bool lacks_box(const struct box *box, hid_t dataset, hid_t creation, bool *known)
{
    hsize_t count[AIRY_MAX_DIMS];
    *known = true;
    if (ends_behind(box, dataset))
        return true;
    for (int axis = 0; axis < box->ndim; axis++)
        count[axis] = box->last[axis] - box->first[axis] + 1;
    *known = box->exact;
    return box->ndim ? airy_chunk_check_written(dataset, box->first, count) == AIRY_ERR_UNWRITTEN
                     : !airy_chunk_all_written(dataset, creation);
}

/* Fail where the source lacks data: libhdf5 gives fill values for what was never written. */
static airy_status check_written(const struct walk *w, const struct source *source, hid_t dataset,
                                 hid_t creation)
{
    bool missing = airy_chunk_is_unwritten(dataset, creation), known = true;
    if (w->whole)
        missing = missing || !airy_chunk_all_written(dataset, creation);
    for (size_t i = 0; i < source->box_count && !missing; i++)
        missing = w->whole ? ends_behind(&source->boxes[i], dataset)
                           : lacks_box(&source->boxes[i], dataset, creation, &known);
    AIRY_FAIL_ON_IF(
        missing && !known, AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_FILE,
        "%s::%s, a source of the virtual dataset %s, was not written everywhere, and its "
        "mapping has too many parts to determine whether it lacks what is asked for; copy what "
        "is wanted into a dataset of its own",
        source->file, source->name, w->what);
    AIRY_FAIL_ON_IF(missing, AIRY_ERR_UNWRITTEN, AIRY_SUBJECT_FILE,
                    "%s::%s, a source of the virtual dataset %s, was never written%s", source->file,
                    source->name, w->what,
                    w->whole ? ", or not all of it" : " where it is asked for");
    return AIRY_OK;
}

/* Fail where a chunk that libhdf5 would unpack has another size than it should have. */
static airy_status check_chunks(const struct walk *w, const struct source *source, hid_t dataset)
{
    airy_status status = AIRY_OK;
    for (size_t k = 0; k < source->box_count && status == AIRY_OK; k++) {
        const struct box *box = &source->boxes[k];
        hsize_t count[AIRY_MAX_DIMS];
        for (int axis = 0; axis < box->ndim; axis++)
            count[axis] = box->last[axis] - box->first[axis] + 1;
        const hsize_t *first = box->ndim && !ends_behind(box, dataset) ? box->first : NULL;
        status = airy_chunk_check(dataset, first, count);
        if (status == AIRY_OK)
            status = airy_hdf5_inflate_check(dataset, first, count);
    }
    return status == AIRY_OK ? status
                             : airy_fail_context(status,
                                                 "%s::%s, a source of the virtual dataset "
                                                 "%s",
                                                 source->file, source->name, w->what);
}

/* *nested: it is a virtual dataset itself, and which one. */
static airy_status look_at(struct source *source, bool *nested, hid_t file, const struct walk *w)
{
    const hid_t dataset = airy_hdf5_dataset_source(file, source->name);
    if (dataset < 0)
        return airy_hdf5_fail(AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_FILE,
                              "%s::%s, a source of the virtual dataset %s, cannot be opened",
                              source->file, source->name, w->what);
    const hid_t creation = H5Dget_create_plist(dataset);
    const airy_probe *probe = airy_probe_of(dataset);
    H5O_info_t info;
    *nested = creation >= 0 && H5Pget_layout(creation) == H5D_VIRTUAL;
    airy_status status = AIRY_OK;
    if (*nested && (!probe || H5Oget_info2(dataset, &info, H5O_INFO_BASIC) < 0))
        status = airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET,
                              "%s: its mapping cannot be read", w->what);
    if (*nested && status == AIRY_OK) {
        source->device = probe->device;
        source->inode = probe->inode;
        source->address = info.addr;
    }
    settle_boxes(source, dataset);
    if (w->packed && !*nested && creation >= 0)
        *w->packed |= H5Pget_nfilters(creation) > 0;
    if (w->written && !*nested && creation >= 0)
        status = check_written(w, source, dataset, creation);
    if (w->chunks && !*nested && status == AIRY_OK)
        status = check_chunks(w, source, dataset);
    if (creation >= 0)
        H5Pclose(creation);
    H5Dclose(dataset);
    return status;
}

/* Look at each dataset of a level, each file opened once; those that are virtual go into *nested. */
static airy_status look_at_all(struct sources *nested, struct sources *level, const struct walk *w)
{
    hid_t file = -1;
    airy_status status = merge_same(level, w, by_name);
    for (size_t i = 0; i < level->count && status == AIRY_OK; i++) {
        struct source *source = &level->items[i];
        bool found = false;
        if (i == 0 || strcmp(level->items[i - 1].file, source->file) != 0) {
            if (file >= 0)
                H5Fclose(file);
            file = -1;
            status = open_file(&file, source->file, w);
        }
        if (status == AIRY_OK)
            status = look_at(source, &found, file, w);
        if (status == AIRY_OK && found) {
            char *path = strdup(source->file), *name = strdup(source->name);
            struct source *kept = add_source(nested, path, name);
            if (!kept || !path || !name)
                status = fail_memory(w);
            if (kept) {
                *kept = *source;
                kept->file = path;
                kept->name = name;
                source->boxes = NULL;
                source->box_count = 0;
            }
        }
    }
    if (file >= 0)
        H5Fclose(file);
    return status;
}

/* The next level's sources from the virtual datasets of this one, each once. */
static airy_status note_level(struct walk *w, struct sources *nested)
{
    airy_status status = merge_same(nested, w, by_identity);
    for (size_t i = 0; i < nested->count && status == AIRY_OK; i++) {
        const struct source *source = &nested->items[i];
        hid_t file;
        status = open_file(&file, source->file, w);
        if (status != AIRY_OK)
            break;
        const hid_t dataset = airy_hdf5_dataset_source(file, source->name);
        status = dataset < 0
                     ? airy_hdf5_fail(AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_FILE,
                                      "%s::%s cannot be opened again", source->file, source->name)
                     : note_mappings(w, dataset, source);
        if (dataset >= 0)
            H5Dclose(dataset);
        H5Fclose(file);
    }
    return status;
}

/* What is asked of the dataset, and how many paths that is worth. */
static void get_wanted(struct box *wanted, struct walk *w, hid_t dataset, const hsize_t *start,
                       const hsize_t *count)
{
    const hid_t space = H5Dget_space(dataset), creation = H5Dget_create_plist(dataset);
    const int ndim = space < 0 ? 0 : H5Sget_simple_extent_ndims(space);
    const hssize_t all = space < 0 ? 0 : H5Sget_simple_extent_npoints(space);
    double elements = start ? 1 : all > 0 ? (double)all : 0;
    size_t mappings = 0;
    *wanted = (struct box){.exact = true, .paths = 1};
    if (start && ndim > 0 && ndim <= AIRY_MAX_DIMS)
        wanted->ndim = ndim;
    for (int axis = 0; axis < wanted->ndim; axis++) {
        wanted->first[axis] = start[axis];
        wanted->last[axis] = start[axis] + count[axis] - 1;
        elements *= (double)count[axis];
    }
    if (creation < 0 || H5Pget_layout(creation) != H5D_VIRTUAL ||
        H5Pget_virtual_count(creation, &mappings) < 0)
        mappings = 0;
    w->limit = FREE_PATHS + 4 * (double)mappings + elements / ELEMENTS_OF_PATH;
    if (creation >= 0)
        H5Pclose(creation);
    if (space >= 0)
        H5Sclose(space);
}

/* w: what, and what is to be done. */
static airy_status walk(struct walk w, hid_t dataset, const hsize_t *start, const hsize_t *count)
{
    struct box wanted;
    w.whole = !start;
    get_wanted(&wanted, &w, dataset, start, count);
    airy_status status =
        note_mappings(&w, dataset, &(struct source){.boxes = &wanted, .box_count = 1});
    for (int depth = 1; w.named.count > 0 && status == AIRY_OK; depth++) {
        struct sources level = w.named, nested = {0};
        w.named = (struct sources){0};
        status = look_at_all(&nested, &level, &w);
        if (status == AIRY_OK && nested.count > 0 && depth > MAX_NESTED)
            status = airy_fail_on(AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_DATASET,
                                  "%s: virtual datasets of more than %d steps", w.what, MAX_NESTED);
        if (status == AIRY_OK)
            status = note_level(&w, &nested);
        release(&level);
        release(&nested);
    }
    release(&w.named);
    AIRY_TRY(status);
    AIRY_FAIL_ON_IF(w.unmapped, AIRY_ERR_UNWRITTEN, AIRY_SUBJECT_DATASET,
                    "%s: nothing is mapped to %s: %s never written", w.what,
                    start ? "the frame" : "some of its frames", start ? "it was" : "they were");
    return AIRY_OK;
}

/*
 * The paths are bounded by what libhdf5 may look at, which is more than what is asked for; chunks
 * that lack are those of the latter.
 */
static airy_status check(hid_t dataset, const hsize_t *start, const hsize_t *count,
                         const char *what, bool written)
{
    const struct walk paths = {.what = what, .written = written && !start},
                      exact = {.what = what, .written = true, .exact = true};
    const airy_status status = walk(paths, dataset, start, count);
    return status == AIRY_OK && written && start ? walk(exact, dataset, start, count) : status;
}

airy_status airy_sources_look(bool *packed, hid_t dataset, const char *what)
{
    *packed = false;
    return walk((struct walk){.what = what, .written = true, .packed = packed}, dataset, NULL,
                NULL);
}

airy_status airy_sources_check_chunks(hid_t dataset, const hsize_t *start, const hsize_t *count,
                                      const char *what)
{
    return walk((struct walk){.what = what, .exact = start != NULL, .chunks = true}, dataset, start,
                count);
}

airy_status airy_sources_check(hid_t dataset, const hsize_t *start, const hsize_t *count,
                               const char *what)
{
    return check(dataset, start, count, what, false);
}

airy_status airy_sources_check_written(hid_t dataset, const hsize_t *start, const hsize_t *count,
                                       const char *what)
{
    return check(dataset, start, count, what, true);
}

hid_t airy_hdf5_dataset(hid_t from, const char *name)
{
    const hid_t dataset = airy_hdf5_dataset_own(from, name);
    airy_error why;
    if (dataset < 0 || airy_sources_check(dataset, NULL, NULL, name) == AIRY_OK)
        return dataset;
    airy_error_get(&why);
    airy_hdf5_refuse(dataset, why.text);
    return -1;
}
