/* What a stack is made of. */
#ifndef AIRY_IO_STACK_INTERNAL_H
#define AIRY_IO_STACK_INTERNAL_H

#include "base/size.h"
#include "io/chunk_address.h"
#include "io/stack_source.h"

enum {
    AIRY_STACK_OPEN_FILES = 128,     /* kept open; more are opened for each read */
    AIRY_STACK_OPEN_DATASETS = 8,    /* kept open in libhdf5 */
    AIRY_STACK_MAX_FRAMES = 1 << 26, /* of chunked and virtual datasets, whose frames have a
                                        table */
};

/* A file with frames in it, read by pread. */
struct stack_file {
    char *path;
    dev_t device;
    ino_t inode;
    int fd; /* -1: opened for each read */
};

/* Frames of one real dataset, or of a part of a virtual one that no file stands behind. */
struct stack_segment {
    char *name;           /* "FILE::DATASET" for messages */
    char *path, *dataset; /* how libhdf5 opens it again */
    char *filters;
    size_t frames;
    airy_dtype dtype;
    airy_codec_params codec;
    bool direct;               /* frames have places; false: all through libhdf5 */
    size_t file;               /* of the places */
    struct airy_place *places; /* [frames]; NULL: pixels lie one frame behind the other from
                                  `start` on */
    uint64_t start, end;       /* end: size of the file when it was opened */
    uint8_t fill[8];           /* one native element */
    bool fill_only;            /* nothing is stored at all */
    bool sources_missing;      /* of a virtual dataset: looked for again with each frame */
    char *broken;              /* the sentence of each read; NULL: readable */
    uint64_t stored_bytes;
    size_t cache_bytes; /* chunk cache that libhdf5 needs to decode each chunk once */
};

/*
 * Frames [first, first + count) of the stack are frames from, from + 1, ... of a segment. Sorted
 * by first, without gaps.
 */
struct stack_run {
    size_t first, count, segment, from;
};

struct stack_library; /* datasets open in libhdf5, guarded by its lock */

struct airy_stack {
    struct stack_file *files;
    size_t file_count;
    struct stack_segment *segments;
    size_t segment_count;
    struct stack_run *runs;
    size_t run_count;
    size_t frames, height, width, frame_bytes;
    airy_dtype dtype;
    airy_codec_params codec;
    airy_stack_path path;
    uint64_t stored_bytes;
    size_t max_chunk;
    char *first_path; /* the first file, for meta and monitors */
    struct stack_library *library;
};

/* One dataset that create has settled on. */
struct stack_choice {
    char *path, *dataset;
    size_t series_first, series_count; /* choices of the series it belongs to; count 0: none */
};
/*
 * What to open for "FILE" or "FILE::DATASET", appended to choices; datasets of fewer dimensions
 * than `least` are no candidates. Lock held.
 */
airy_status airy_stack_find(struct stack_choice **choices, size_t *count, const char *path,
                            int least);
/* "FILE::DATASET" cut in two, malloc'ed; *dataset is NULL for "FILE" alone. */
airy_status airy_stack_split(char **file, char **dataset, const char *path);

/* Add all frames of a dataset behind those there are. Lock held. */
airy_status airy_stack_add(airy_stack *stack, const char *path, const char *dataset);
/*
 * Frames that dataset `index` of a series has or had (src/io/stack_series.c): of its own shape,
 * else by the numbers of the images in the files around it, else as many as in the other files; of
 * the last file what is left of the master's total. 0: nobody says. Lock held.
 */
airy_status airy_stack_series_frames(size_t *frames, const struct stack_choice *series,
                                     size_t count, size_t index);
/* Add a segment for one real dataset of a stack (lock held); src/io/stack_add.c. */
airy_status airy_stack_add_segment(airy_stack *stack, size_t *segment, hid_t dataset,
                                   const char *path, const char *name);
/* An empty one: no frames, no file. */
airy_status airy_stack_add_blank(airy_stack *stack, size_t *segment, const char *path,
                                 const char *name);
/*
 * A file that libhdf5 reads frames from behind the stack's back, so that airy_stack_uses knows it;
 * one that is not there is passed over.
 */
airy_status airy_stack_note_file(airy_stack *stack, const char *path);
void airy_stack_drop_segments(airy_stack *stack, size_t keep);
airy_status airy_stack_add_run(airy_stack *stack, struct stack_run run);
/*
 * Runs of a virtual dataset's frames, starting at stack->frames (lock held); *resolved = false,
 * and nothing added, where its mapping is not whole frames of plain datasets: libhdf5 reads it
 * then.
 */
airy_status airy_stack_add_virtual(airy_stack *stack, bool *resolved, hid_t dataset,
                                   const char *path, const char *name);

/* One frame of a segment through libhdf5, native pixels; takes the lock. */
airy_status airy_stack_library_read(const airy_stack *stack, size_t segment, size_t frame,
                                    void *pixels);
airy_status airy_stack_library_open(airy_stack *stack);
void airy_stack_library_close(airy_stack *stack);

/* Segment and frame in it. */
const struct stack_segment *airy_stack_locate(const airy_stack *stack, size_t frame,
                                              size_t *inside);

#endif
