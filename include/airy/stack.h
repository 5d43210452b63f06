/**
 * Stacks of frames in HDF5 and other files, read as bytes or as pixels; stacks written,
 * compressed.
 *
 * libhdf5 is shared with the program:
 * - All calls of Airy's take one lock of Airy's, and may come from any thread. A libhdf5 that is
 *   not built thread-safe knows no lock: then the program must not call it itself while a function
 *   of this header, of image.h or of pipeline.h runs in another thread.
 * - Automatic printing of errors is switched off during Airy's calls and restored behind them; in
 *   a thread-safe libhdf5 for the calling thread only, else for all.
 * - Filters 32008 (bitshuffle) and 32004 (lz4) are registered at the first call, and only where
 *   neither the program nor HDF5_PLUGIN_PATH has them; whole frames are decoded by Airy in any
 *   case, other chunk shapes by the filter that is registered. A program that registers its own
 *   later replaces Airy's.
 */
#ifndef AIRY_STACK_H
#define AIRY_STACK_H

#include "airy/codec.h"
#include "airy/geometry.h"
#include "airy/image.h"
#include "airy/log.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Frames of one or more datasets in order, with the address of every chunk. Of a dataset with more
 * than 4096 frames addresses are read as frames are asked for, so that opening takes the same time
 * however many there are; its file must stay where it is until then.
 * Thread-safety: after create any number of threads may read; libhdf5's lock lets
 * one at a time into odd layouts.
 */
typedef struct airy_stack airy_stack;

/** How frames get out of the file. */
typedef enum airy_stack_path {
    AIRY_STACK_DIRECT = 0, /**< one chunk is one frame: read by plain pread */
    AIRY_STACK_LIBRARY,    /**< through libhdf5: other filters, other chunk shapes, big-endian,
                                ... */
    AIRY_STACK_FILES       /**< files that are not HDF5: read, and decoded where they need it, by
                                the thread that asks, without a lock */
} airy_stack_path;

typedef struct airy_stack_info {
    size_t frames; /**< SIZE_MAX: not known, a pipe */
    size_t height, width;
    airy_dtype dtype;        /**< native; big-endian files are converted */
    airy_codec_params codec; /**< of the direct path; NONE for contiguous or unfiltered data and
                                  for the library path */
    airy_stack_path path;
    uint64_t stored_bytes; /**< bytes of all frames in the file; where datasets have more than 4096
                                frames in chunks: by 1024 of each, spread over it */
    size_t max_chunk;      /**< bytes of the largest stored frame; of such datasets the largest of
                                those and an eighth, which another frame may exceed */
    size_t files;
    const char *dataset;  /**< first dataset, "FILE::/entry/data/data_000001"; lives as long as
                              the stack */
    const char *filters;  /**< "bitshuffle-lz4", "shuffle+gzip", "none"; lives as long as the
                              stack */
    size_t lost;          /**< of the frames, those of files that were missing or cut, as far as
                              that was seen when the stack was opened; stored_bytes has none of
                              them */
    const char *channel;  /**< of several channels the one that the frames are of; "": there are
                               none. Both live as long as the stack. */
    const char *channels; /**< names of all of them, "threshold_1, threshold_2" */
    const char *const *channel_names; /**< [channel_count] the same one by one, for names that have
                                           ", " in them; they live as long as the stack */
    size_t channel_count;             /**< 0: there are none */
    bool is_pipe;                     /**< airy_stack_params.pipe: frames come once and in order */
    bool headerless;                  /**< files hold the frames of airy_stack_params.raw */
    uint64_t rest_bytes;              /**< of such files, behind their last whole frames */
} airy_stack_info;

/**
 * Open paths, one or several, whose frames follow each other. HDF5: "FILE" (data found by itself:
 * /entry/data/data_000001..., /entry/data/data, /data, /entry/instrument/detector/data,
 * /entry_0000/measurement/data, or the only dataset of 3 or more dimensions, or of 2) or
 * "FILE::DATASET". 2-D: one frame; 4-D [m, n, y, x]: m * n frames, unless a dataset `channel` beside
 * it names n channels of a detector: then the frames are those of the first channel, with a
 * warning, or of the one that airy_stack_params chooses. External links and virtual
 * datasets are followed, never into the working directory; the frames of files that are
 * missing fail one by one where their number is known.
 *
 * Other files, recognised by suffix or first bytes: CBF (byte-offset), EDF and NPY (also .gz;
 * several images, either byte order; NPY of float16 as f32), TIFF (pages, strips or tiles), and
 * the other formats of airy_image_read. For an NPY file in Fortran order, a FITS file packed by
 * gzip or in tiles of several frames, and volumes of CBF, all frames are read into memory. A path
 * that is no file may be a pattern: "run_*.cbf", or "frame_####.cbf" (n # are n digits, or more);
 * its files come in the order of the numbers in their names. Up to 4096 files are looked into here,
 * by several threads, and one that cannot be read fails frame by frame; of a longer series of
 * single frames only the first is, and each later one is compared with it when it is read.
 *
 * Checksums in files are verified: Content-MD5 of CBF when a frame is read, DATASUM and
 * CHECKSUM of FITS when a file is looked into, fletcher32 of HDF5 by libhdf5, those of PNG, gzip
 * and zlib as they are unpacked. The sentence of a failure names the checksum.
 * Errors: AIRY_ERR_NOT_FOUND, AIRY_ERR_FORMAT (not HDF5, strings, compound, ...; lists candidates
 *         where several datasets would do), AIRY_ERR_UNSUPPORTED (a filter this build lacks, by
 *         name and number), AIRY_ERR_SHAPE (files that do not fit each other).
 */
AIRY_API airy_status airy_stack_create(airy_stack **stack, const char *const *paths, size_t count);

/**
 * Open a stack while its files are being written: frames end in front of the first data file of a
 * series that is not there yet, or cannot be opened yet, and whose number of frames is not
 * known.
 */
AIRY_API airy_status airy_stack_create_growing(airy_stack **stack, const char *const *paths,
                                               size_t count);

/**
 * List the files behind paths, one or several, in the order in which airy_stack_create takes them:
 * a pattern stands for what it matches now.
 *
 * @param files  out, released with airy_stack_paths_free
 * Errors: AIRY_ERR_NOT_FOUND (a pattern matches nothing), AIRY_ERR_PARAM, AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_stack_paths(char ***files, size_t *count, const char *const *paths,
                                      size_t path_count);
AIRY_API void airy_stack_paths_free(char **files, size_t count);

/** Pixels of files without a header. */
typedef struct airy_raw_frames {
    airy_dtype dtype;
    size_t height, width;
    uint64_t offset; /**< bytes in front of the first frame */
    bool big_endian;
} airy_raw_frames;
/** Parse "WIDTHxHEIGHT,DTYPE[,OFFSET][,little|big]". AIRY_ERR_PARAM, "expected ...", and the errors of
 * airy_dtype_parse. Any thread. */
AIRY_API airy_status airy_raw_frames_parse(airy_raw_frames *raw, const char *text);
/**
 * Open files that hold such frames and nothing behind them, whatever they are called.
 * Errors: AIRY_ERR_FORMAT where a file is no whole number of frames.
 */
AIRY_API airy_status airy_stack_create_raw(airy_stack **stack, const char *const *paths,
                                           size_t count, const airy_raw_frames *raw);

/** Zeroed: as airy_stack_create. */
typedef struct airy_stack_params {
    const airy_raw_frames *raw; /**< as for airy_stack_create_raw, or NULL */
    /**
     * raw describes only files that do not describe themselves. HDF5 (by name or first
     * bytes), NPY (by first bytes) and TIFF (by both) are read as such; NPY must then be complete,
     * and its frame is a row where it has one dimension. The frames of raw may lack a size:
     * AIRY_ERR_PARAM where a file turns out to be headerless.
     */
    bool raw_if_headerless;
    bool raw_rest; /**< leave out the bytes behind the last whole frame of a headerless file,
                            which may leave none: airy_stack_info.rest_bytes. Else they are
                            AIRY_ERR_FORMAT. */
    size_t
        npy_height; /**< cut the rows of an NPY file of two dimensions into frames of this height;
                            AIRY_ERR_SHAPE where they are no whole frames. 0: they are one frame */
    /**
     * Where the only path is "-" (standard input), a pipe or a character device, its frames are those
     * of raw, of a number that is not known. airy_stack_read gives each of them once and in order,
     * one thread at a time, and may read ahead where they have less than 64 KiB. Besides it only airy_stack_get_info, airy_stack_uses (false) and
     * airy_stack_destroy take such a stack: other functions, and those that run over stacks, refuse it
     * with AIRY_ERR_UNSUPPORTED.
     */
    bool pipe;
    /**
     * Called ten times a second by the thread that reads while a pipe is silent; true: the pipe is
     * taken to end there. NULL: reading waits for as long as it takes.
     */
    bool (*stop)(void *user);
    void *stop_user;
    bool growing; /**< as airy_stack_create_growing */
    /**
     * Name of one channel of a detector that has several (thresholds, their difference), or its
     * number from 1 on; its own pixel mask counts. NULL: the first, with a warning where there are
     * more. AIRY_ERR_NOT_FOUND where there is no such channel.
     */
    const char *channel;
    bool unverified; /**< leave Content-MD5 of CBF and the sums of FITS unverified, to save the time
                        that they take */
    /**
     * Folders in which files of external storage may lie for this stack, beside those of the whole
     * process (airy_external_folder_allow describes which files). AIRY_ERR_NOT_FOUND where
     * one is no folder.
     */
    const char *const *external_folders;
    size_t external_folder_count;
} airy_stack_params;
/**
 * Open paths as airy_stack_create does, in other ways.
 * @param params  NULL: the default values
 * Errors: as airy_stack_create and airy_stack_create_raw; AIRY_ERR_PARAM where frames of a pipe are
 *         not described.
 */
AIRY_API airy_status airy_stack_create_with(airy_stack **stack, const char *const *paths,
                                            size_t count, const airy_stack_params *params);
/**
 * Make a stack of frames in memory: pixels [shape[0] frames, height, width] in C order. They are not
 * copied, and stay as they are until the stack is destroyed. Its name in messages is "array"; it
 * states no geometry, no mask and no values of frames.
 * Errors: AIRY_ERR_PARAM (no pixels, a length of 0), AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_stack_create_array(airy_stack **stack, const void *pixels,
                                             airy_dtype dtype, const size_t shape[3]);
AIRY_API void airy_stack_destroy(airy_stack **stack);
AIRY_API airy_status airy_stack_get_info(const airy_stack *stack, airy_stack_info *info);

/**
 * Read one frame as native pixels.
 * @param size  height * width * bytes of the dtype
 * Errors: AIRY_ERR_IO, AIRY_ERR_CORRUPT: file, dataset, frame and block named; AIRY_ERR_UNWRITTEN
 *         where a chunk of it was never written, or nothing of a virtual dataset is mapped to it,
 *         whatever the fill value. Of a pipe: AIRY_ERR_PARAM where the frame is not the next one,
 *         AIRY_ERR_ENDED behind the last one, AIRY_ERR_CORRUPT where the pipe ends inside the frame.
 */
AIRY_API airy_status airy_stack_read(const airy_stack *stack, size_t frame, void *pixels,
                                     size_t size);

/**
 * Count the frames of HDF5 files that were never written, or not all of them, which
 * airy_stack_read refuses by AIRY_ERR_UNWRITTEN. The indices of all frames are read, no pixels.
 * Errors: AIRY_ERR_PARAM. Any thread.
 */
AIRY_API airy_status airy_stack_count_unwritten(const airy_stack *stack, size_t *count);

/** Where the bytes of a frame lie, for programs that read them by themselves. */
typedef struct airy_stack_place {
    const char *path; /**< of the file; lives as long as the stack. NULL: no such place, only
                           airy_stack_read knows the frame */
    uint64_t offset;
    size_t size;  /**< bytes there */
    bool encoded; /**< in the stack's codec; else native pixels */
} airy_stack_place;
AIRY_API airy_status airy_stack_get_place(const airy_stack *stack, size_t frame,
                                          airy_stack_place *place);

/** Describe a frame: "FILE::DATASET frame 12", for messages. */
AIRY_API airy_status airy_stack_where(const airy_stack *stack, size_t frame, char *text,
                                      size_t size);

/**
 * Return whether frames come from the file PATH (by device and inode), be it through a link or a
 * virtual dataset.
 */
AIRY_API bool airy_stack_uses(const airy_stack *stack, const char *path);

/** Parts of a geometry that a file's header can state. */
typedef enum airy_geometry_part {
    AIRY_GEOMETRY_PIXELS = 1u << 0,
    AIRY_GEOMETRY_DISTANCE = 1u << 1,
    AIRY_GEOMETRY_CENTER = 1u << 2,     /**< of the beam */
    AIRY_GEOMETRY_WAVELENGTH = 1u << 3, /**< or photon energy */
    AIRY_GEOMETRY_TILT = 1u << 4        /**< angles of the detector, such as two-theta */
} airy_geometry_part;

/**
 * Read what the first file itself contains about the experiment; found fields only. CBF and TIFF of
 * DECTRIS detectors ("# Detector_distance", "# Beam_xy", ...), EDF (SampleDistance, Center_1,
 * PSize_1, WaveLength, Dummy, ...).
 */
typedef struct airy_stack_meta {
    bool has_geometry; /**< distance, beam centre and pixel size were there: geometry is usable */
    airy_geometry geometry;
    bool has_mask; /**< a contiguous mask that is 0 everywhere is none */
    bool has_saturation;
    double saturation;
    bool has_dummy; /**< pixels of this value, within delta_dummy, are none */
    double dummy, delta_dummy;
    size_t frames; /**< of the series, as the detector was configured (nimages of each of ntrigger),
                        be they there or not; 0: not in the file */
    unsigned geometry_parts; /**< airy_geometry_part: those parts of the geometry that the file
                                  states; the others are 0 in it */
    double center[2];        /**< row and column of the beam in pixels, where it is stated */
    char unusable[256]; /**< what the file states and cannot be used, such as a distance of 0 or a
                             beam centre of 0, 0, in words; "": nothing */
    unsigned contradicted; /**< airy_geometry_part: those of which the file states two values that
                                differ by more than a thousandth; none of them is in geometry, and
                                unusable names both */
} airy_stack_meta;
AIRY_API airy_status airy_stack_get_meta(const airy_stack *stack, airy_stack_meta *meta);
/**
 * Write an image as airy_image_write does, with what is known of its frames. CBF and TIFF get
 * comments as detectors of DECTRIS write them (Detector, Pixel_size, Wavelength, Detector_distance,
 * Beam_xy, Count_cutoff), EDF the keys PSize_1, SampleDistance, Center_1, WaveLength and Dummy, HDF5
 * the fields of an Eiger master, where the image goes to /entry/data/data and has_geometry is true.
 * Other formats have no place for it. What meta does not state is not written; of a detector that
 * is turned or has an orientation of its own, the headers of CBF, TIFF and EDF lack distance and
 * beam centre, since they have no angles.
 *
 * @param meta  as airy_stack_get_meta gives it; NULL: nothing is known
 * @param mask  [height][width], 1 = bad, for HDF5; NULL: none
 */
AIRY_API airy_status airy_image_write_stated(const airy_image *image, const char *path, bool force,
                                             const airy_stack_meta *meta, const uint8_t *mask);
/**
 * Find out whether an output of frames of a stack can state what the stack states of the geometry:
 * its format has a place for it, and all files of the stack state the same. What cannot be stated
 * is reported to `message` as a warning.
 *
 * @param mask     out: the stack's pixel mask [height * width], to be released with free(), where
 *                 the geometry can be stated and the stack has one; else NULL
 * @param meta     of the stack (airy_stack_get_meta)
 * @param path     the output
 * @param message  NULL: nothing is reported
 * @param user     handed to message
 * Returns whether airy_image_write_stated is to be given the stack's meta data.
 */
AIRY_API bool airy_stack_states(uint8_t **mask, airy_stack *stack, const airy_stack_meta *meta,
                                const char *path, airy_log_fn message, void *user);
/**
 * Demand that all files of a stack state the same geometry, for callers that use the first one's; so
 * must the frames of one EDF or TIFF that have headers of their own, and the files that a virtual
 * dataset is made of (of more than 256, so many between the first and the last).
 * Lengths are the same to 1e-4 of them, beam centres to 0.1 pixel, angles to 1e-4 rad; what a file
 * does not state is not compared. The files of a long series that are not looked into when the
 * stack is opened are compared when their frames are read, which fails then. Call it before frames
 * are read.
 *
 * @param parts    airy_geometry_part: those that are compared; others come from elsewhere
 * @param differs  out, also on failure: the part that differs, 0 for none; may be NULL
 * Errors: AIRY_ERR_FORMAT (both values and both files named), AIRY_ERR_IO, AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_stack_hold_geometry(airy_stack *stack, unsigned parts, unsigned *differs);
/**
 * Demand that the files of a stack state the geometry of the first file of another one, for frames
 * that are opened later. The other stack must outlive this one.
 * Errors: as airy_stack_hold_geometry.
 */
AIRY_API airy_status airy_stack_hold_like(airy_stack *stack, const airy_stack *first,
                                          unsigned parts, unsigned *differs);
/**
 * Read the file's pixel mask: out[height * width], 1 = bad. AIRY_ERR_NOT_FOUND when it has none.
 */
AIRY_API airy_status airy_stack_mask(const airy_stack *stack, uint8_t *mask);
/** One of the planes of an image, or of the frames of a stack. */
typedef struct airy_image_plane {
    size_t number; /**< from 0, in the order of the file */
    size_t planes; /**< that there are */
    size_t height, width;
} airy_image_plane;

/**
 * Read plane->number of whatever a file is, with its header where it is FITS, and with leading axes of
 * length 1 as it may have them. Other planes are read only where the format leaves no choice.
 *
 * @param image    out; a number that is none of the planes leaves image->data NULL. Free it in any case
 * @param plane    in: number; out: the rest
 * @param channel  as airy_stack_params.channel; NULL: the first
 * Errors: those of airy_image_read and airy_stack_create; AIRY_ERR_SHAPE (one dimension).
 */
AIRY_API airy_status airy_image_read_plane(airy_image *image, airy_image_plane *plane,
                                           const char *path, const char *channel);

/**
 * Read one number per frame from a dataset (a monitor, timestamps) of the first file, which has
 * all, or of every file, as in airy_stack_values. AIRY_ERR_SHAPE when it has not frames elements.
 */
AIRY_API airy_status airy_stack_monitor(const airy_stack *stack, const char *dataset,
                                        double *values);

/** One value a frame of something else than the detector: a motor, a time, a monitor. */
typedef struct airy_frame_values {
    char name[64];    /**< what it is: the last part of the path that is no "value" or "data" */
    char path[512];   /**< of the dataset */
    char units[32];   /**< "" where the file has none */
    airy_dtype dtype; /**< AIRY_DTYPE_F64, I64 or U64; U8 of text */
    size_t text;      /**< bytes of a text, filled up with 0; 0: numbers */
    void *values;     /**< [frames of the stack] */
} airy_frame_values;
enum {
    AIRY_FRAME_VALUES_MAX = 64,       /**< datasets of a call */
    AIRY_FRAME_VALUES_TEXT_MAX = 256, /**< bytes of a text */
};

/**
 * Read datasets that have one number or text a frame: of the first file where it has one for each
 * frame of the stack; else, where it has one for each of its own, of all files of the stack, one
 * after the other.
 *
 * @param values    out, released with airy_frame_values_free
 * @param datasets  [wanted] paths in the file; NULL: all such datasets of one dimension in the
 *                  entry of the frames, in the order of the file, the first AIRY_FRAME_VALUES_MAX
 *                  of them; none where the file is not HDF5 or the stack has one frame, nor of
 *                  files of one frame each
 * Names are unique: one that is there twice gets its parent's before it.
 * Errors: AIRY_ERR_NOT_FOUND, AIRY_ERR_FORMAT (no numbers or text), AIRY_ERR_SHAPE (not one a
 *         frame), AIRY_ERR_PARAM (too many), AIRY_ERR_IO; with datasets NULL what cannot be read is
 *         passed over.
 */
AIRY_API airy_status airy_stack_values(airy_frame_values **values, size_t *count,
                                       const airy_stack *stack, const char *const *datasets,
                                       size_t wanted);
AIRY_API void airy_frame_values_free(airy_frame_values *values, size_t count);

/** One line per object of a file, for `airy info`. */
typedef struct airy_hdf5_entry {
    char path[256];
    char dtype[32];
    char filters[96];
    int ndim;                    /**< -1: cannot be opened; filters is the reason, or where the link
                                       points */
    uint64_t shape[8], chunk[8]; /**< chunk[0] = 0: not chunked */
    uint64_t stored_bytes, bytes; /**< stored_bytes 0 also for shapes of more than 2^22 chunks:
                                       they are not counted */
} airy_hdf5_entry;
AIRY_API airy_status airy_hdf5_list(airy_hdf5_entry **entries, size_t *count, const char *path);
AIRY_API void airy_hdf5_list_free(airy_hdf5_entry *entries);
/**
 * Read one string of a file: a scalar string dataset ("/entry/title") or a string attribute
 * ("/entry/data@signal").
 * @param text  out, released with free()
 * Errors: AIRY_ERR_IO, AIRY_ERR_NOT_FOUND, AIRY_ERR_FORMAT (not HDF5, not one string).
 */
AIRY_API airy_status airy_hdf5_text(char **text, const char *path, const char *object);

/**
 * A stack being written, chunk = frame: one dataset of one file, or of several files under a
 * master. Thread-safety: any number of threads may add, place and put, different frames at the same
 * time; create, finish and destroy are alone. airy_stack_writer_fill of stack_write.h does all that
 * for frames that come from a function, from memory or from another stack.
 */
typedef struct airy_stack_writer airy_stack_writer;

typedef struct airy_stack_writer_params {
    airy_dtype dtype;
    size_t frames, height, width;
    airy_codec_params codec;
    const char *dataset;           /**< NULL: "/entry/data/data" */
    bool force;                    /**< overwrite */
    const airy_geometry *geometry; /**< written as an Eiger master's fields where given */
    const uint8_t *mask;           /**< written as the pixel mask; NULL: under the usual dataset's
                                        name a mask of zeros, as XDS reads no file without one */
    size_t frames_per_file;        /**< 0: one file; else files of so many frames, the last one of
                                        what is left, under a master; dataset is NULL then */
} airy_stack_writer_params;

/**
 * Create a file of frames. It appears under its name when airy_stack_writer_finish has succeeded;
 * before, it is PATH.XXXXXXXX.partial with digits of its own.
 *
 * With frames_per_file, PATH is a master as an Eiger's: /entry/data/data_000001 and its siblings
 * are links to the files beside it that airy_stack_data_path names;
 * /entry/instrument/detector/data is a virtual dataset of all frames. Linux lets one thread at a time write to a file; threads that put frames
 * of different files do not wait for each other. A file is open from the first of its frames that
 * is placed to the last that is put; it is on the disk after that. Data files get their names
 * before the master does; where one cannot, none does. With force an old master goes before the
 * first data file is replaced (so that an error of the disk from there on leaves neither the old
 * stack nor the new one), and the data files of higher numbers that the old master linked to, as
 * airy_stack_data_count counts them, go when the new master has its name; others are not touched.
 * Errors: AIRY_ERR_EXISTS, AIRY_ERR_IO (full disk, unwritable), AIRY_ERR_PARAM (more than 100,000
 * files).
 */
AIRY_API airy_status airy_stack_writer_create(airy_stack_writer **writer, const char *path,
                                              const airy_stack_writer_params *params);
/** Add a frame that is encoded already, or raw when codec is NONE. */
AIRY_API airy_status airy_stack_writer_add(airy_stack_writer *writer, size_t frame,
                                           const void *chunk, size_t size);
/** Where a frame that is written goes. */
typedef struct airy_frame_place {
    size_t frame;
    size_t size; /**< bytes of the chunk */
    uint64_t offset;
    bool written; /**< airy_stack_writer_put has nothing more to write */
} airy_frame_place;

/**
 * Add a frame in two steps, for several threads: frames lie in the file in the order in
 * which they are placed, which takes microseconds; the bytes follow by airy_stack_writer_put, from
 * as many threads as there are. chunk and size are the same in both. A frame is placed once:
 * AIRY_ERR_PARAM the second time.
 */
AIRY_API airy_status airy_stack_writer_place(airy_stack_writer *writer, size_t frame,
                                             const void *chunk, size_t size,
                                             airy_frame_place *place);
AIRY_API airy_status airy_stack_writer_put(airy_stack_writer *writer, const airy_frame_place *place,
                                           const void *chunk, size_t size);
/**
 * Leave a frame out: its chunk is never written, so that airy_stack_read refuses it with
 * AIRY_ERR_UNWRITTEN, and other programs read the fill value, 0. The frame counts as added.
 * Errors: as airy_stack_writer_place and airy_stack_writer_put.
 */
AIRY_API airy_status airy_stack_writer_skip(airy_stack_writer *writer, size_t frame);
/**
 * Finish the file. All frames must have been added or left out: AIRY_ERR_PARAM names the first that
 * was not, and the writer stays open. Other errors as above.
 */
AIRY_API airy_status airy_stack_writer_finish(airy_stack_writer *writer);
/** Close the writer; without finish the partial files are removed. */
AIRY_API void airy_stack_writer_destroy(airy_stack_writer **writer);
/**
 * Return the path of the data file of this number, from 1, of a stack in several files: of
 * run_master.h5 run_data_000001.h5, of run.h5 the same.
 * @param path  out, released with free()
 * Errors: AIRY_ERR_PARAM (number above 100,000), AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_stack_data_path(char **path, const char *master, size_t number);
/**
 * Count the data files that a master links to under the names of airy_stack_data_path, from number
 * 1 on without a gap. Whether they are there is not looked at.
 * @param count  out; 0 where there is no such master, or the name is a symbolic link
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_stack_data_count(size_t *count, const char *master);

#ifdef __cplusplus
}
#endif
#endif
