/*
 * Sources of virtual datasets that libhdf5 reads, and which it fills in without a word: numbered
 * ones, those that grow, and selections that are not regular.
 */
#include <hdf5.h>
#include <stdio.h>
#include <string.h>

#include "check_stack.h"
#include "io/hdf5/util.h"

enum { HEIGHT = 4, WIDTH = 5, WHOLE = 2 * HEIGHT + 1, MAX_FRAMES = 8 };

static const char *path_in(struct check *c, const char *folder, const char *name)
{
    char *path = check_alloc(c, strlen(folder) + strlen(name) + 2);
    sprintf(path, "%s/%s", folder, name);
    return path;
}

/* Frames of 5, each a chunk; those of `without` (bits) were never written. */
static void make_source(struct check *c, const char *folder, const char *name, hsize_t frames,
                        unsigned without)
{
    const hsize_t shape[3] = {frames, HEIGHT, WIDTH}, most[3] = {H5S_UNLIMITED, HEIGHT, WIDTH},
                  one[3] = {1, HEIGHT, WIDTH};
    uint16_t pixels[HEIGHT * WIDTH];
    for (size_t p = 0; p < HEIGHT * WIDTH; p++)
        pixels[p] = 5;
    const hid_t file = H5Fcreate(path_in(c, folder, name), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(3, shape, most),
                memory = H5Screate_simple(3, one, NULL);
    H5Pset_chunk(creation, 3, one);
    const hid_t set =
        H5Dcreate2(file, "d", H5T_STD_U16LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    for (hsize_t i = 0; i < frames; i++) {
        const hsize_t at[3] = {i, 0, 0};
        H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, one, NULL);
        if (!(without >> i & 1))
            H5Dwrite(set, H5T_NATIVE_UINT16, memory, space, H5P_DEFAULT, pixels);
    }
    H5Dclose(set);
    H5Sclose(memory);
    H5Sclose(space);
    H5Pclose(creation);
    H5Fclose(file);
}

/* From `first` on: `count` blocks of so many frames, `step` apart, of rows and columns; count 0: endless. */
struct slab {
    hsize_t first, step, count, frames, row, rows, column, columns;
};

static hid_t select_slabs(hsize_t frames, hsize_t rows, const struct slab *slabs, size_t count)
{
    const bool endless = slabs[0].count == 0;
    const hsize_t shape[3] = {frames, rows, WIDTH},
                  most[3] = {endless ? H5S_UNLIMITED : frames, rows, WIDTH};
    const hid_t space = H5Screate_simple(3, shape, most);
    for (size_t i = 0; i < count && slabs[i].frames; i++) {
        const struct slab *s = &slabs[i];
        const hsize_t start[3] = {s->first, s->row, s->column},
                      step[3] = {s->step, s->rows, s->columns},
                      number[3] = {endless ? H5S_UNLIMITED : s->count, 1, 1},
                      block[3] = {s->frames, s->rows, s->columns};
        H5Sselect_hyperslab(space, i ? H5S_SELECT_OR : H5S_SELECT_SET, start, step, number, block);
    }
    return space;
}

struct mapping {
    struct slab to[2]; /* frames 0: no second one */
    const char *source;
    hsize_t source_frames;
    struct slab from[2]; /* frames 0: all */
};

struct sources {
    const char *name;
    hsize_t frames, rows;
    struct mapping mappings[3];
    const char *
        good; /* one a frame: '5' it can be read, '-' not all of it was written, '?' another error */
};

static const char *make_virtual(struct check *c, const char *folder, const struct sources *v)
{
    const char *path = path_in(c, folder, "virtual.h5");
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_DATASET_CREATE);
    const bool endless = v->mappings[0].source && v->mappings[0].to[0].count == 0;
    const hsize_t shape[3] = {v->frames, v->rows, WIDTH},
                  most[3] = {endless ? H5S_UNLIMITED : v->frames, v->rows, WIDTH};
    CHECK(c, H5Pset_layout(creation, H5D_VIRTUAL) >= 0);
    for (size_t i = 0; i < 3 && v->mappings[i].source; i++) {
        const struct mapping *m = &v->mappings[i];
        const hid_t to = select_slabs(v->frames, v->rows, m->to, 2),
                    from = select_slabs(m->source_frames, HEIGHT, m->from, 2);
        CHECK(c, H5Pset_virtual(creation, to, m->source, "d", from) >= 0);
        H5Sclose(to);
        H5Sclose(from);
    }
    const hid_t space = H5Screate_simple(3, shape, most),
                file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access),
                set = H5Dcreate2(file, "data", H5T_STD_U16LE, space, H5P_DEFAULT, creation,
                                 H5P_DEFAULT);
    CHECK(c, set >= 0);
    H5Dclose(set);
    H5Fclose(file);
    H5Sclose(space);
    H5Pclose(creation);
    H5Pclose(access);
    return path;
}

static void check_frames(struct check *c, const char *folder, const struct sources *v)
{
    const char *path = make_virtual(c, folder, v);
    uint16_t pixels[WHOLE * WIDTH];
    airy_stack_info info = {0};
    airy_stack *stack = NULL;
    airy_image image = {0};
    char found[MAX_FRAMES + 1] = "";
    size_t unwritten = 0, lacking = 0;
    if (!CHECK_OK(c, stack_open(&stack, path)) || !CHECK_OK(c, airy_stack_get_info(stack, &info)))
        return;
    for (size_t i = 0; i < info.frames && i < MAX_FRAMES; i++) {
        const airy_status status =
            airy_stack_read(stack, i, pixels, v->rows * WIDTH * sizeof(pixels[0]));
        found[i] = status == AIRY_OK              ? (char)('0' + pixels[WIDTH + 1])
                   : status == AIRY_ERR_UNWRITTEN ? '-'
                                                  : '?';
        lacking += status == AIRY_ERR_UNWRITTEN;
    }
    if (strcmp(found, v->good) != 0)
        check_failed(c, __FILE__, __LINE__, "%s: frames are '%s', expected '%s': %s", v->name,
                     found, v->good, airy_last_error());
    if (!strchr(found, '?')) {
        CHECK_OK(c, airy_stack_count_unwritten(stack, &unwritten));
        CHECK(c, unwritten == lacking);
    }
    CHECK(c, (airy_image_read(&image, path) == AIRY_OK) == (strspn(found, "5") == strlen(found)));
    airy_image_free(&image);
    airy_stack_destroy(&stack);
}

#define ROWS(row, rows) row, rows, 0, WIDTH
#define NUMBERED(row)                                                                              \
    {                                                                                              \
        {                                                                                          \
            0, 2, 0, 2, ROWS(row, HEIGHT)                                                          \
        }                                                                                          \
    }
#define GROWING(row)                                                                               \
    {                                                                                              \
        {                                                                                          \
            0, 1, 0, 1, ROWS(row, HEIGHT)                                                          \
        }                                                                                          \
    }

static const struct sources all_sources[] = {
    {"numbered", 2, HEIGHT, {{NUMBERED(0), "a%b.h5", 2, {{0}}}}, "555-55"},
    {"numbered modules", 2, WHOLE, {{NUMBERED(0), "a%b.h5", 2, {{0}}}}, "555-55"},
    {"fewer of one module",
     2,
     WHOLE,
     {{NUMBERED(0), "b%b.h5", 2, {{0}}}, {NUMBERED(5), "few%b.h5", 2, {{0}}}},
     "5555??"},
    {"growing", 6, HEIGHT, {{GROWING(0), "d.h5", 6, GROWING(0)}}, "555-55"},
    {"growing modules",
     6,
     WHOLE,
     {{GROWING(5), "six.h5", 6, GROWING(0)}, {GROWING(0), "d.h5", 6, GROWING(0)}},
     "555-55"},
    {"a module that grew less",
     6,
     WHOLE,
     {{GROWING(0), "six.h5", 6, GROWING(0)}, {GROWING(5), "four.h5", 4, GROWING(0)}},
     "5555--"},
    {"irregular parts of frames",
     6,
     HEIGHT,
     {{{{0, 1, 6, 1, ROWS(0, 2)}, {0, 1, 6, 1, 3, 1, 1, 3}},
       "d.h5",
       6,
       {{0, 1, 6, 1, ROWS(0, 2)}, {0, 1, 6, 1, 3, 1, 1, 3}}}},
     "555-55"},
    {"irregular parts of whole frames",
     6,
     HEIGHT,
     {{{{0, 1, 6, 1, ROWS(0, 2)}, {0, 1, 6, 1, 3, 1, 1, 3}},
       "six.h5",
       6,
       {{0, 1, 6, 1, ROWS(0, 2)}, {0, 1, 6, 1, 3, 1, 1, 3}}}},
     "555555"},
    {"irregular frames",
     6,
     WHOLE,
     {{{{0, 1, 2, 1, ROWS(0, HEIGHT)}, {4, 1, 1, 1, ROWS(0, HEIGHT)}},
       "d.h5",
       6,
       {{0, 1, 1, 1, ROWS(0, HEIGHT)}, {3, 1, 2, 1, ROWS(0, HEIGHT)}}}},
     "5---5-"},
    {"modules of some frames",
     6,
     WHOLE,
     {{{{1, 1, 2, 1, ROWS(0, HEIGHT)}}, "six.h5", 6, {{0, 1, 2, 1, ROWS(0, HEIGHT)}}}},
     "-55---"},
    {"modules of every second frame",
     6,
     WHOLE,
     {{{{0, 2, 3, 1, ROWS(0, HEIGHT)}}, "six.h5", 6, {{0, 1, 3, 1, ROWS(0, HEIGHT)}}},
      {{{0, 2, 1, 1, ROWS(5, HEIGHT)}}, "six.h5", 6, {{0, 1, 1, 1, ROWS(0, HEIGHT)}}}},
     "5-5-5-"},
    {"nothing mapped", 3, WHOLE, {{{{0}}, NULL, 0, {{0}}}}, "---"},
    {"a source with fewer frames",
     6,
     WHOLE,
     {{{{0, 1, 6, 1, ROWS(0, HEIGHT)}}, "four.h5", 6, {{0}}}},
     "5555--"},
};

void check_stack_sources(struct check *c)
{
    char name[16];
    if (!check_case(c, "stack_sources"))
        return;
    if (airy_hdf5_lock() == AIRY_OK) /* registers the filters */
        airy_hdf5_unlock();
    const char *folder = check_tmp(c);
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof(name), "a%d.h5", i);
        make_source(c, folder, name, 2, i == 1 ? 2 : 0);
        snprintf(name, sizeof(name), "b%d.h5", i);
        make_source(c, folder, name, 2, 0);
        snprintf(name, sizeof(name), "few%d.h5", i);
        if (i < 2)
            make_source(c, folder, name, 2, 0);
    }
    make_source(c, folder, "six.h5", 6, 0);
    make_source(c, folder, "four.h5", 4, 0);
    make_source(c, folder, "d.h5", 6, 8);
    for (size_t i = 0; i < sizeof(all_sources) / sizeof(all_sources[0]); i++)
        check_frames(c, folder, &all_sources[i]);
}
