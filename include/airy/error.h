/**
 * The record of a failure: its sentence, what it is about, and what to do next.
 *
 *   if (airy_image_read(&image, "dark.tif") != AIRY_OK) {
 *       airy_error error;
 *       char hint[AIRY_HINT_TEXT];
 *       airy_error_get(&error);
 *       airy_hint_render(hint, sizeof(hint), error.hint, airy_hint_keyword, NULL);
 *       fprintf(stderr, "%s%s%s\n", error.text, *hint ? "; " : "", hint);
 *   }
 *
 * prints "cannot open 'dark.tif': No such file or directory; check the path".
 *
 * Each failure of a library call leaves one record for the calling thread. It stays until the next
 * failure in that thread, or until airy_error_clear. A call that works in several threads brings
 * the record of its first failure back to the thread that made the call. Read the record only after
 * a call that has failed: a call that succeeds may leave one of something that it tried.
 */
#ifndef AIRY_ERROR_H
#define AIRY_ERROR_H

#include "airy/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    AIRY_ERROR_TEXT = 1024, /**< bytes of a sentence with its end; a longer one is cut */
    AIRY_ERROR_NAME = 512,  /**< bytes of a subject's name with its end; a longer one is cut */
    AIRY_HINT_TEXT = 512    /**< bytes that have room for each rendered hint with its end */
};

/** The kind of thing that a failure is about. */
typedef enum airy_subject {
    AIRY_SUBJECT_NONE = 0,  /**< nothing that has a name */
    AIRY_SUBJECT_FILE,      /**< a file; the name is its path */
    AIRY_SUBJECT_DATASET,   /**< a dataset or group of an HDF5 file; "FILE::DATASET" or "DATASET" */
    AIRY_SUBJECT_FRAME,     /**< a frame; as airy_stack_where names it, "frame N" of no stack */
    AIRY_SUBJECT_PARAMETER, /**< a parameter of the call; its name, such as "run.group" */
    AIRY_SUBJECT_ADDRESS,   /**< a network address, "tcp://HOST:PORT", or a ring buffer's name */
    AIRY_SUBJECT_DEVICE,    /**< a device, as the caller named it or as airy_device_spec does */
    AIRY_SUBJECT_COUNT
} airy_subject;

/** "none", "file", "dataset", "frame", "parameter", "address", "device"; never NULL. Any thread. */
AIRY_API const char *airy_subject_name(airy_subject subject);

/** What to do next. airy_hint_render makes a text of it. */
typedef enum airy_hint {
    AIRY_HINT_NONE = 0,       /**< the library knows nothing */
    AIRY_HINT_STATED,         /**< the sentence itself contains the hint */
    AIRY_HINT_OVERWRITE,      /**< allow the output to be replaced */
    AIRY_HINT_INTERRUPTED,    /**< go on with an interrupted run, or begin anew */
    AIRY_HINT_FOLLOW,         /**< resume as it was begun: without a number of frames */
    AIRY_HINT_NO_FOLLOW,      /**< the same: with a number of frames */
    AIRY_HINT_UNFINISHED,     /**< finish the run that makes the file */
    AIRY_HINT_PARTIAL,        /**< wait for a result, or read what there is of it, PATH.partial */
    AIRY_HINT_PATH,           /**< check the path */
    AIRY_HINT_FILE,           /**< check the file */
    AIRY_HINT_FETCH,          /**< fetch the file again */
    AIRY_HINT_ACCESS,         /**< check path, permissions and free space */
    AIRY_HINT_PERMISSIONS,    /**< check the permissions */
    AIRY_HINT_SPACE,          /**< the disk is full */
    AIRY_HINT_WRITER,         /**< another process writes the file */
    AIRY_HINT_PIPE,           /**< a pipe cannot be read here */
    AIRY_HINT_REGULAR,        /**< a folder or a device was given instead of a file */
    AIRY_HINT_FOLDER,         /**< as REGULAR, of an input, which may be several files */
    AIRY_HINT_CONTENTS,       /**< list what the file holds */
    AIRY_HINT_NAME,           /**< check the name */
    AIRY_HINT_GROWING,        /**< the file is being written or copied, or its copy was cut */
    AIRY_HINT_GROWING_FRAMES, /**< as GROWING, of a run that may leave frames out */
    AIRY_HINT_DATA_FILE,      /**< put a data file beside its master */
    AIRY_HINT_DATA_FRAMES,    /**< as DATA_FILE, of a run that may leave frames out */
    AIRY_HINT_FRAMES,         /**< choose other frames */
    AIRY_HINT_RAW,            /**< describe the frames of a file without a header */
    AIRY_HINT_MASK,           /**< use another pixel mask */
    AIRY_HINT_WAVELENGTH,     /**< give a wavelength */
    AIRY_HINT_ATTENUATION,    /**< give the attenuation of the sensor */
    AIRY_HINT_DETECTORS,      /**< list the detectors */
    AIRY_HINT_CELESTIAL,      /**< use an image with sky coordinates */
    AIRY_HINT_COMPLEX,        /**< write complex numbers as pairs */
    AIRY_HINT_MEMORY,         /**< use less memory, or allow more */
    AIRY_HINT_MATRIX,         /**< make the matrix of an integrator smaller, or allow more memory */
    AIRY_HINT_BINS,           /**< make that of an integrator without pixel splitting smaller */
    AIRY_HINT_MAX_PIXELS,     /**< leave the frame out, or list more pixels */
    AIRY_HINT_MAX_PEAKS,      /**< leave the frame out, or list more peaks */
    AIRY_HINT_SAME_OPTIONS,   /**< give results that were made with the same parameters */
    AIRY_HINT_DEVICES,        /**< list the devices */
    AIRY_HINT_CPU,            /**< use the CPU */
    AIRY_HINT_CPU_OR_FLOAT32, /**< use the CPU, or arrays of single precision */
    AIRY_HINT_STREAM,         /**< the address of a stream was given instead of a file */
    AIRY_HINT_BIND,           /**< the address belongs to another machine */
    AIRY_HINT_PORT,           /**< another program uses the port */
    AIRY_HINT_HOST,           /**< check the name of the host */
    AIRY_HINT_PRODUCER,       /**< start the producer first */
    AIRY_HINT_LATE,           /**< read the images of a series that began too early from its file */
    AIRY_HINT_SKIP,           /**< leave bad frames out */
    AIRY_HINT_SKIP_RESUME,    /**< as SKIP, and go on with the rows that are done */
    AIRY_HINT_ANEW,           /**< begin anew instead of resuming */
    AIRY_HINT_SAME_RUN,       /**< resume with the same parameters, or begin anew */
    AIRY_HINT_DETECTOR,       /**< name the detector that the frames are of, or its binning */
    AIRY_HINT_SENSOR,         /**< give the material of the sensor, or its attenuation */
    AIRY_HINT_FETCH_GEOMETRY, /**< as FETCH, or give the geometry */
    AIRY_HINT_GIVE_GEOMETRY,  /**< give a geometry, as a file or by its values */
    AIRY_HINT_GIVE_PIXELS,    /**< give the pixel size, or a geometry */
    AIRY_HINT_GIVE_DISTANCE,  /**< give the distance, or a geometry */
    AIRY_HINT_GIVE_CENTER,    /**< give the beam centre, or a geometry */
    AIRY_HINT_GIVE_WAVELENGTH, /**< give the wavelength or the energy */
    AIRY_HINT_GIVE_BEAM,       /**< give the beam's place in pixels */
    AIRY_HINT_GIVE_DETECTOR,   /**< name the detector, or give its pixel size */
    AIRY_HINT_HOLD_PIXELS,     /**< take files of different pixel sizes one by one, or give one */
    AIRY_HINT_HOLD_DISTANCE,   /**< take files of different distances one by one, or give one */
    AIRY_HINT_HOLD_CENTER,     /**< take files of different beam centres one by one, or give one */
    AIRY_HINT_HOLD_WAVELENGTH, /**< take files of different wavelengths one by one, or give one */
    AIRY_HINT_HOLD_TILT,       /**< take files of different tilts one by one, or give one */
    AIRY_HINT_FRAME,           /**< choose one frame */
    AIRY_HINT_COUNT
} airy_hint;

/** A failure. Plain data: it may be copied, and belongs to no thread. */
typedef struct airy_error {
    airy_status status;         /**< AIRY_OK: nothing has failed */
    airy_subject subject;       /**< what the failure is about */
    airy_hint hint;             /**< what to do next */
    char name[AIRY_ERROR_NAME]; /**< of the subject; "" where it is AIRY_SUBJECT_NONE */
    char text[AIRY_ERROR_TEXT]; /**< the sentence that airy_last_error() returns */
} airy_error;

/**
 * Copy the record of the calling thread's last failure. Where nothing has failed yet, status is
 * AIRY_OK and the texts are empty. Any thread.
 */
AIRY_API void airy_error_get(airy_error *error);

/**
 * Make a record the calling thread's last failure, as one that a program's other thread got.
 * Returns its status; a record of AIRY_OK changes nothing. Any thread.
 */
AIRY_API airy_status airy_error_restore(const airy_error *error);

/** Forget the calling thread's last failure. Any thread. */
AIRY_API void airy_error_clear(void);

/**
 * Write how the user's interface names a parameter or a function into text, and return true;
 * return false where it has no such parameter or function.
 *
 *   name "force",    value "on":      a flag that is set:     --force           force=True
 *   name "on-error", value "skip":    a parameter's word:     --on-error skip   on_error="skip"
 *   name "energy",   value "E":       a placeholder (capital letters):  --energy E   energy=E
 *   name "batch",    value NULL:      the parameter itself:   --batch           batch
 *   name "info()",   value "FILE":    a function and what it is given:  'airy info FILE'
 *   name "info()",   value "detectors=on":                              'airy info --detectors'
 *
 * The names that hints refer to are those of the parameters force, resume, follow, on-error,
 * frames, raw, mask-only, poni, center, detector, pixel, binning, dist, poni1, poni2, rot1, rot2, rot3,
 * wavelength, energy, sensor, attenuation, memory-limit, batch, threads, device, bins, split,
 * max-pixels, max-peaks, connect and inputs, and of the functions info(), convert(), devices() and
 * integrate().
 *
 * @param user the caller's, as given to airy_hint_render
 * @param size bytes of text with its end, at least 64
 */
typedef bool (*airy_hint_style)(void *user, char *text, size_t size, const char *name,
                                const char *value);

/**
 * Name a parameter as a keyword argument, force=True, and a function as a call, airy.info(FILE).
 * user: NULL, or a list `const char *const *` that ends in NULL, with the names ("on-error",
 * "info()") that the interface has. Any thread.
 */
AIRY_API bool airy_hint_keyword(void *user, char *text, size_t size, const char *name,
                                const char *value);

/**
 * Name an argument or member as C programs have it: skip_bad = true, memory_limit. What the
 * library's functions and structs lack, such as several inputs in one text, is not named. user:
 * NULL, or the names that a program sets by text, as for airy_hint_keyword, which then are named
 * "on_error", or "on_error" = "skip". Any thread.
 */
AIRY_API bool airy_hint_c(void *user, char *text, size_t size, const char *name, const char *value);

/**
 * Write a hint as text, without a full stop, such as "raise --memory-limit, or choose another
 * --device". A hint may have several alternatives. Those that refer to something that the user's
 * interface lacks are left out, so that the text may be empty.
 *
 * @param text  out; room for AIRY_HINT_TEXT bytes is enough
 * @param style how the interface names parameters and functions
 * @param user  given to style
 * @return bytes of the whole text without its end, as snprintf does. Any thread.
 */
AIRY_API size_t airy_hint_render(char *text, size_t size, airy_hint hint, airy_hint_style style,
                                 void *user);

#ifdef __cplusplus
}
#endif
#endif
