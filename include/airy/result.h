/**
 * Read results: the HDF5 files of `airy integrate`, `merge`, `peaks`, `oct`, `densify` and
 * `reduce`, also those that are not finished, are being written, or show several files as one.
 *
 *     airy_result *result = NULL;
 *     float rows[10][1000];
 *     if (airy_result_open(&result, "patterns.h5") == AIRY_OK)
 *         airy_result_read(result, "intensity", 10, 10, AIRY_DTYPE_F32, rows, sizeof(rows));
 *     airy_result_close(&result);
 *
 * A result consists of rows, one for each frame (or for each group of frames that were added up),
 * of axes, and of planes. A plane is a dataset with an entry for each row, such as the intensities
 * [rows, bins], or one that all rows share. A plane is found by its name, "result/intensity", or by
 * the last part of it, "intensity".
 *
 * An open result is a snapshot: its rows, and which of them are done, are those of the moment when
 * it was opened. airy_result_refresh takes a newer one. The reader takes no lock on the file and
 * writes nothing, so that a process that writes the result is not disturbed.
 */
#ifndef AIRY_RESULT_H
#define AIRY_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include "airy/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Thread-safety: one thread at a time for each result; airy_result_is_written: any thread. */
typedef struct airy_result airy_result;

typedef enum airy_result_kind {
    AIRY_RESULT_PATTERNS = 0, /**< a pattern a row: `airy integrate`, `airy merge` */
    AIRY_RESULT_SPARSE,       /**< peaks and kept pixels of frames: `airy peaks` */
    AIRY_RESULT_FRAMES,       /**< an array a row: `airy oct`, `airy densify` */
    AIRY_RESULT_IMAGE,        /**< one array, and no rows: `airy reduce` */
    AIRY_RESULT_COUNT
} airy_result_kind;
/** "patterns", "sparse", "frames", "image"; "?" for a value that is no kind. Any thread. */
AIRY_API const char *airy_result_kind_name(airy_result_kind kind);

typedef enum airy_row {
    AIRY_ROW_PENDING = -1, /**< not written */
    AIRY_ROW_GOOD = 0,
    AIRY_ROW_BAD = 1 /**< the frame failed; airy_result_get_message has the reason */
} airy_row;

/** Texts live until the result is refreshed or closed, as those of planes and axes do. */
typedef struct airy_result_info {
    airy_result_kind kind;
    const char *path;   /**< of the file that is open: PATH, or PATH.partial */
    const char *signal; /**< name of the main plane: "result/intensity"; "" where there is none */
    size_t rows;
    size_t good, bad;    /**< rows that are done; the others are pending */
    size_t newest;       /**< the last good row; SIZE_MAX: there is none */
    size_t axes, planes; /**< how many there are */
    bool grows;          /**< rows are added to the file: nobody knew how many there would be */
    bool written;        /**< a process writes the file, or one of those that it shows as one */
    /** It has its final name, and no row is pending unless it grows (a frame that never came). */
    bool complete;
} airy_result_info;

typedef struct airy_result_axis {
    const char *name;      /**< "radial" */
    const char *path;      /**< of the dataset in the file */
    const char *label;     /**< "q (1/nm)"; "" where the file has none, as of the next two */
    const char *units;     /**< "1/nm" */
    const char *unit_name; /**< as airy_unit_parse takes it: "q_nm^-1" */
    size_t count;
    const double *values; /**< [count]; lives until the result is refreshed or closed */
} airy_result_axis;

typedef struct airy_result_plane {
    const char *name;  /**< "result/intensity", "merged/sum_signal", "frame/total", "map/roi_0" */
    const char *path;  /**< of the dataset in the file, as h5py and FILE::DATASET take it */
    const char *label; /**< "" where the file has none, as of the units */
    const char *units;
    airy_dtype dtype; /**< as stored; AIRY_DTYPE_U8 for texts */
    size_t text;      /**< bytes of a text, filled up with 0; 0: numbers */
    bool is_complex;  /**< the last axis of a row is the real and the imaginary part */
    bool has_rows;    /**< it has an entry for each row; false: all rows share it */
    size_t rows;      /**< that can be read: those of the result, 1 of a plane that rows share, or
                           the elements of a list ("sparse_frames/index") */
    int ndim;         /**< axes of a row; 0: one number */
    size_t shape[4];  /**< of a row; of texts the last axis is their bytes */
    size_t cells;     /**< numbers (bytes, of texts) of a row */
} airy_result_plane;

/**
 * Open a result.
 *
 * @param path  of the file. PATH and PATH.partial, as a run calls its file until it is finished,
 *              stand for each other: where the one that is named is not there, the other is opened
 *              (info.path).
 * Rows of a file that a linked result shows and that is not there are pending.
 * Errors: AIRY_ERR_NOT_FOUND (no such file), AIRY_ERR_IO,
 *         AIRY_ERR_FORMAT (not a result, not yet one, or not of the shapes that a result has),
 *         AIRY_ERR_CORRUPT (axes or status do not decode), AIRY_ERR_UNSUPPORTED (a filter),
 *         AIRY_ERR_MEMORY, AIRY_ERR_PARAM.
 */
AIRY_API airy_status airy_result_open(airy_result **result, const char *path);
/** Close it; sets *result to NULL. */
AIRY_API void airy_result_close(airy_result **result);
/**
 * Take a newer snapshot of the same result, also where its file has got its final name since. Texts
 * and values of the earlier one are gone. After a failure info, axes and planes are as they were,
 * and nothing can be read until a further refresh succeeds.
 *
 * libhdf5 shows a file that is open twice in a process as it was when it was first opened: of two
 * results of one growing file close the one before the other is refreshed.
 * Errors: as of airy_result_open.
 */
AIRY_API airy_status airy_result_refresh(airy_result *result);
/**
 * Return whether a process is writing this file, a result or its .partial. Writers hold a lock,
 * which is looked at and not taken. False where there is no such file.
 */
AIRY_API bool airy_result_is_written(const char *path);

/** Get a description. AIRY_ERR_PARAM where an argument is NULL, or there is no such index. */
AIRY_API airy_status airy_result_get_info(const airy_result *result, airy_result_info *info);
/**
 * Axis 0 belongs to the last axis of a row of the main plane (radius, depth; of complex numbers the
 * last but their two parts), axis 1 to the one before it (azimuth).
 */
AIRY_API airy_status airy_result_get_axis(const airy_result *result, size_t index,
                                          airy_result_axis *axis);
AIRY_API airy_status airy_result_get_plane(const airy_result *result, size_t index,
                                           airy_result_plane *plane);
/**
 * Find a plane by its name, or by the last part of its name; of several that end so the first.
 * Errors: AIRY_ERR_NOT_FOUND, AIRY_ERR_PARAM.
 */
AIRY_API airy_status airy_result_find_plane(const airy_result *result, const char *name,
                                            airy_result_plane *plane);

/**
 * Read rows first to first + count - 1 of a plane, and nothing else.
 *
 * @param plane  its name, as airy_result_find_plane takes it
 * @param dtype  of the numbers in out: of planes of floats F32 or F64; of planes of integers any,
 *               where a value outside of its range becomes the nearest one; U8 for texts
 * @param out    [count, cells] numbers in C order
 * @param bytes  of out, at least count x cells x size of the dtype
 *
 * Pending rows are NaN in planes of the groups "result" and "merged" that are read as floats;
 * elsewhere they are what the file has in their place.
 * Errors: AIRY_ERR_NOT_FOUND (no such plane; a file that a linked one shows), AIRY_ERR_PARAM (rows
 *         behind the end, too few bytes), AIRY_ERR_DTYPE, AIRY_ERR_IO, AIRY_ERR_CORRUPT,
 *         AIRY_ERR_UNSUPPORTED (a filter), AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_result_read(airy_result *result, const char *plane, size_t first,
                                      size_t count, airy_dtype dtype, void *out, size_t bytes);

/**
 * Return the status of a row; AIRY_ROW_PENDING behind the end. A result that has none is all good.
 */
AIRY_API airy_row airy_result_get_row(const airy_result *result, size_t row);
/**
 * Get why a row is bad, cut to size - 1 bytes; "" where the result has no reason.
 * Errors: AIRY_ERR_PARAM (a row behind the end), AIRY_ERR_IO.
 */
AIRY_API airy_status airy_result_get_message(airy_result *result, size_t row, char *text,
                                             size_t size);
/**
 * Get a text of the result as it is stored.
 *
 * @param name  "configuration" (JSON that the run can be repeated with), "fingerprint" (parameters
 *              that rows depend on, a line each), "program", "version", "date", or "files" (that a
 *              linked result shows, a line each)
 * @param text  out, released with free()
 * Errors: AIRY_ERR_NOT_FOUND, AIRY_ERR_FORMAT (not one string), AIRY_ERR_IO, AIRY_ERR_MEMORY,
 *         AIRY_ERR_PARAM.
 */
AIRY_API airy_status airy_result_get_text(airy_result *result, const char *name, char **text);

#ifdef __cplusplus
}
#endif
#endif
