/* What a stack is made of. */
#ifndef AIRY_IO_STACK_INTERNAL_H
#define AIRY_IO_STACK_INTERNAL_H

#include "base/error.h"
#include "base/size.h"
#include "io/hdf5/chunk_address.h"
#include "io/stack/header_geometry.h"
#include "io/stack/source.h"

enum {
    AIRY_STACK_OPEN_FILES = 128,     /* kept open; more are opened for each read */
    AIRY_STACK_OPEN_DATASETS = 8,    /* kept open in libhdf5 */
    AIRY_STACK_MAX_FRAMES = 1 << 26, /* of chunked and virtual datasets, whose frames have a
                                        table */
    AIRY_STACK_CHANNEL = 64,         /* bytes of a channel's name */
    AIRY_STACK_CHANNELS = 800,       /* of a list of them; more are cut */
};

/* A file with frames in it, read by pread. */
struct stack_file {
    char *path;
    dev_t device;
    ino_t inode;
    uint64_t size;      /* of a file that is not HDF5, when it was opened */
    int fd;             /* -1: opened for each read */
    const void *memory; /* the bytes themselves; NULL: they are in the file */
};

struct stack_plain;
struct stack_table; /* which of the places of a long dataset are known */

/*
 * Frames of one real dataset, or of a part of a virtual one that no file stands behind, or of
 * files that are not HDF5, whose frames follow each other.
 */
struct stack_segment {
    char *name;           /* "FILE::DATASET" for messages */
    char *path, *dataset; /* how libhdf5 opens it again */
    char *filters;
    size_t frames;
    airy_dtype dtype;
    airy_codec_params codec;
    bool direct;               /* frames have places; false: all through libhdf5 */
    size_t file;               /* of the places; the first of plain's */
    struct stack_plain *plain; /* NULL: HDF5 */
    struct airy_place *places; /* [frames]; NULL: pixels lie one frame behind the other from
                                  `start` on */
    struct stack_table *table; /* NULL: all places are known */
    uint64_t start, end;       /* end: size of the file when it was opened */
    bool fill_only;            /* nothing is stored at all */
    bool sources_missing;      /* a virtual dataset lacks sources or their data: check each frame */
    bool sources_packed;       /* they may have filters, or have: check the chunks of each frame */
    bool is_source; /* of a virtual dataset, in a file that may have a header of its own */
    struct airy_kept_error *broken; /* of each read; NULL: readable */
    uint64_t stored_bytes;
    size_t max_chunk;   /* bytes of the largest stored frame, of those with places */
    size_t cache_bytes; /* of a cache of chunks that decodes each chunk once */
};

/*
 * Frames [first, first + count) of the stack are frames from, from + 1, ... of a segment. Sorted
 * by first, without gaps.
 */
struct stack_run {
    size_t first, count, segment, from;
};

/* Frames [first, first + frames) of the stack come from this input. */
struct stack_part {
    char *path;
    bool plain;  /* not HDF5: of several files the first */
    bool series; /* all data files of a master */
    size_t first, frames;
};

struct stack_pipe;    /* where frames come once and in order */
struct stack_library; /* datasets open in libhdf5, guarded by its lock */

struct airy_stack {
    struct stack_file *files;
    size_t file_count;
    size_t *file_slots; /* hash table by device and inode: index + 1, 0: free; at most half full */
    size_t file_slot_count;
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
    struct airy_folder *allowed; /* external files may lie in these, too */
    bool unverified;             /* checksums that files carry are passed over */
    bool growing;                /* its files are being written */
    size_t lost;                 /* frames of files that are missing or cut */
    bool headerless;             /* files hold frames without a header, and behind them */
    uint64_t rest_bytes;         /* so many bytes */
    char *first_path;            /* the first file, for meta and monitors */
    char *first_dataset;         /* as that file names it, be it a link or virtual; NULL: no HDF5 */
    bool first_is_plain;
    struct stack_part *parts; /* for values of frames */
    size_t part_count;
    struct stack_library *library;
    struct stack_pipe *pipe;            /* or NULL; frames is 0 then, and there are no runs */
    const char *wanted_channel;         /* while it is made; NULL: none was asked for */
    char channel[AIRY_STACK_CHANNEL];   /* that its frames are of; "": there are no channels */
    char channels[AIRY_STACK_CHANNELS]; /* the names of all, with ", " between */
    const char **channel_names;         /* [channel_count] the texts lie behind the pointers */
    size_t channel_count;
    unsigned held; /* airy_geometry_part: files that are looked into when they are read must state
                      these as `like` does, the header of like_path */
    struct airy_header like;
    const char *like_path; /* of a part or a file */
};

/* One of several channels, which are the last axis but two of a dataset. */
struct stack_channel {
    size_t index, count; /* count 1: all is one series */
};
/*
 * Which frames of a dataset of this shape are wanted: of several channels those of the first, with a
 * warning, where none was asked for. Lock held. AIRY_ERR_NOT_FOUND where the one asked for is not
 * there.
 */
airy_status airy_stack_find_channel(airy_stack *stack, struct stack_channel *channel, hid_t file,
                                    const char *path, const char *name, int ndim,
                                    const hsize_t *shape);
/* Keep those of the frames behind `first`, which are the runs behind the first `runs`. */
airy_status airy_stack_take_channel(airy_stack *stack, const struct stack_channel *channel,
                                    size_t runs, size_t first);

/* One dataset that create has settled on. */
struct stack_choice {
    char *path, *dataset;
    size_t plain_first, plain_count;   /* not HDF5: these paths, and dataset is NULL */
    size_t series_first, series_count; /* choices of the series it belongs to; count 0: none */
};
/*
 * What to open for "FILE" or "FILE::DATASET", appended to choices; datasets of fewer dimensions
 * than `least` are no candidates. Lock held.
 */
airy_status airy_stack_find(struct stack_choice **choices, size_t *count, const char *path,
                            int least);

/* Add all frames of a dataset behind those there are; the file is open. Lock held. */
airy_status airy_stack_add(airy_stack *stack, hid_t file, const char *path, const char *dataset);
/* Frames that the master says there will be; 0: it does not. Lock held. */
size_t airy_stack_series_total(hid_t file);
/*
 * Frames that dataset `index` of a series has or had (src/io/stack/series.c): of its own shape,
 * else by the numbers of the images in the files around it, else as many as in the other files; of
 * the last file what is left of the master's total. 0: nobody says. Lock held.
 */
airy_status airy_stack_series_frames(size_t *frames, const struct stack_choice *series,
                                     size_t count, size_t index);
/* Shape and type of a dataset of frames. */
struct stack_facts {
    int ndim;
    hsize_t shape[H5S_MAX_RANK];
    size_t frames, height, width, frame_bytes;
    airy_dtype dtype;
    bool native;
};
/* Get the facts, or fail where the dataset has no frames. name starts the sentence. Lock held. */
airy_status airy_stack_get_facts(struct stack_facts *facts, hid_t dataset, const char *name);
/* Add a segment for one real dataset of a stack (lock held); src/io/stack/segments.c. */
airy_status airy_stack_add_segment(airy_stack *stack, size_t *segment, hid_t dataset,
                                   const char *path, const char *name);
/*
 * What a frame of the stack is: settled by the first, AIRY_ERR_SHAPE for others. name is whose
 * frame it is; like has the first while the stack has no segments.
 */
airy_status airy_stack_settle_frame(airy_stack *stack, size_t height, size_t width,
                                    airy_dtype dtype, const char *name, const char *like);
/* Behind those there are; its path is the stack's on success. */
airy_status airy_stack_append_file(airy_stack *stack, const struct stack_file *file);
/* The last one of this device and inode; SIZE_MAX: there is none. */
size_t airy_stack_find_file(const airy_stack *stack, dev_t device, ino_t inode);
/* The file that was opened when the stack was made; own: close it. */
airy_status airy_stack_open_file(int *fd, bool *own, const struct stack_file *file);
/* Fail where the file of this device and inode is not the one that the stack was made with. */
airy_status airy_stack_check_file(const struct stack_file *file, dev_t device, ino_t inode);

/* Standard input ("-"), a pipe or a character device. */
bool airy_stack_is_pipe(const char *path);
/* The frames of params->raw, which are checked, through such a path; src/io/stack/pipe.c. */
airy_status airy_stack_pipe_open(airy_stack *stack, const char *path,
                                 const airy_stack_params *params);
airy_status airy_stack_pipe_read(const airy_stack *stack, size_t frame, void *pixels);
void airy_stack_pipe_close(struct stack_pipe **pipe);

/* Frames in memory, which stays the caller's, as all that an empty stack has; src/io/stack/memory.c. */
airy_status airy_stack_open_memory(airy_stack *stack, const void *pixels, airy_dtype dtype,
                                   const size_t shape[3]);
bool airy_stack_is_memory(const airy_stack *stack);

/* All frames of files that are not HDF5 behind those there are; src/io/stack/plain.c. */
airy_status airy_stack_add_plain(airy_stack *stack, const char *const *paths, size_t count,
                                 const airy_stack_params *params);
void airy_plain_destroy(struct stack_plain **plain);
/* AIRY_PLACE_STORED or, for what airy_plain_read_frame has to read, AIRY_PLACE_LIBRARY. */
struct airy_place airy_plain_place(const airy_stack *stack, const struct stack_segment *segment,
                                   size_t inside, size_t *file);
airy_status airy_plain_read_frame(const airy_stack *stack, const struct stack_segment *segment,
                                  size_t inside, void *pixels);
/* Frames of its files that could not be looked into. */
size_t airy_plain_lost(const struct stack_segment *segment);
void airy_plain_where(const airy_stack *stack, const struct stack_segment *segment, size_t inside,
                      size_t number, char *text, size_t size);
/* The header of the first file, or NULL. */
const char *airy_plain_text(const struct stack_segment *segment);
/* Read metadata from that header (src/io/stack/plain_meta.c); text: NULL, or the header. */
void airy_plain_meta(airy_stack_meta *meta, const airy_stack *stack, const char *text);
/* Its geometry; warns of nothing. */
void airy_plain_header(struct airy_header *header, const char *text);
/* Fails at the first file looked into whose header differs from `like`, of path; *like may be
 * empty, and is the first header that states something then. */
airy_status airy_plain_hold(const struct stack_segment *segment, const airy_stack *stack,
                            struct airy_header *like, const char **path, unsigned *differs);
/* The geometry of an HDF5 file's header; takes the lock. Warns of nothing. */
airy_status airy_stack_header(struct airy_header *header, const char *path);

/* An empty one: no frames, no file. */
airy_status airy_stack_add_blank(airy_stack *stack, size_t *segment, const char *path,
                                 const char *name);
/*
 * A file that libhdf5 reads frames from behind the stack's back, so that airy_stack_uses knows it;
 * one that is not there is passed over.
 */
airy_status airy_stack_note_file(airy_stack *stack, const char *path);
/*
 * Drop all segments but the first `keep`. What segments of other files than HDF5 own must have been
 * destroyed (airy_plain_destroy).
 */
void airy_stack_drop_segments(airy_stack *stack, size_t keep);
airy_status airy_stack_add_run(airy_stack *stack, struct stack_run run);
/*
 * Runs of a virtual dataset's frames, starting at stack->frames (lock held); *resolved = false,
 * and nothing added, where the dataset is not virtual, or its mapping is not whole frames of plain
 * datasets: libhdf5 reads it then.
 */
airy_status airy_stack_add_virtual(airy_stack *stack, bool *resolved, hid_t dataset,
                                   const char *path, const char *name);

/*
 * The places of a dataset's frames, when it is opened (lock held): all of them, or of a long one
 * some, spread over it, and the others as they are asked for, so that opening takes the same time
 * however many frames there are. Sets places, table, stored_bytes and max_chunk; where others are
 * to come the last two are what is likely, max_chunk with a margin. src/io/stack/table.c.
 */
airy_status airy_stack_table_open(struct stack_segment *segment, hid_t dataset,
                                  const struct airy_chunk_grid *grid);
/* Of frames with known places, how many their file ends before. */
size_t airy_stack_table_lost(const struct stack_segment *segment, size_t first, size_t count);
void airy_stack_table_destroy(struct stack_table **table);
/*
 * Have the place of a frame of a segment with a table; takes the lock where it is not known yet.
 * Any number of threads. AIRY_ERR_IO where the file is not there any more, or is another one.
 */
airy_status airy_stack_table_fill(const airy_stack *stack, const struct stack_segment *segment,
                                  size_t inside);

/* The dataset of a segment, open; it stays so until the lock is given back. Lock held. */
airy_status airy_stack_library_dataset(const airy_stack *stack, size_t segment, hid_t *dataset);
/* AIRY_ERR_UNWRITTEN where not all of a frame was ever written; takes the lock, reads nothing. */
airy_status airy_stack_library_written(const airy_stack *stack, size_t segment, size_t frame);
/* One frame of a segment through libhdf5, native pixels; takes the lock. */
airy_status airy_stack_library_read(const airy_stack *stack, size_t segment, size_t frame,
                                    void *pixels);
airy_status airy_stack_library_open(airy_stack *stack);
void airy_stack_library_close(airy_stack *stack);

/* Segment and frame in it. */
const struct stack_segment *airy_stack_locate(const airy_stack *stack, size_t frame,
                                              size_t *inside);

#endif
