/*
 * The integrated file (NeXus) of a known number of frames: created whole and closed, then rows are
 * written by pwrite at dataset offset + row * size, status last. A valid HDF5 file at every
 * moment. PATH.partial until finish renames it. sum_normalization, sum_normalization2 and count
 * are [bins] as long as no frame differs; the first good row with stats.invalid > 0, or a monitor
 * or spec.differ from the start, makes them [frames, bins]: rows written before get theirs, then one write
 * changes the file over (src/io/result/layout.h). A killed program leaves rows of status -1
 * (pending); frame/status is 0 for good rows and 1 for bad ones. Thread-safety:
 * airy_pattern_file_write from any thread for different rows; the rest one thread.
 */
#ifndef AIRY_IO_RESULT_FILE_H
#define AIRY_IO_RESULT_FILE_H

#include "airy/merge.h"
#include "base/fingerprint.h"
#include "io/file/disk_room.h"

typedef struct airy_pattern_file airy_pattern_file;

struct airy_pattern_spec {
    size_t frames, bins;          /* bins: of a row; in two dimensions [azimuth_bins][radius] */
    const double *radial;         /* [bins], in two dimensions [bins / azimuth_bins] */
    size_t azimuth_bins;          /* 0: one dimension */
    const double *azimuth;        /* [azimuth_bins] */
    airy_unit unit, azimuth_unit; /* azimuth_unit: of two dimensions */
    bool errors;                  /* std, sem, sum_variance datasets */
    const uint64_t *index;        /* [frames] frame numbers in the stack */
    const char *configuration;    /* JSON */
    const char *fingerprint;      /* base/fingerprint.h */
    const double *monitor;        /* [frames] or NULL */
    const struct airy_pattern_column *columns;
    size_t column_count;
    const airy_roi *rois;
    size_t roi_count; /* at most AIRY_PATTERN_ROIS */
    size_t grid[2];   /* rows and columns of a map that the rows of the file go through; 0: none */
    bool zigzag;      /* every other row of the map backwards */
    bool grouped;     /* rows are of several frames: how many is written, and normalizations are
                     [frames, bins] from the start */
    const airy_nxazint *nxazint; /* NULL: the usual groups alone */
    bool grows;                  /* src/io/result/grow.h: frames and index are not known */
    bool differ; /* every row has normalizations of its own, [frames, bins] from the start */
    struct airy_disk_owner owner;
};

/* A dataset of one element a row that is known from the start. */
struct airy_pattern_column {
    const char *name, *units, *path; /* path: where the values come from */
    airy_dtype dtype;                /* F64, I64, U64 */
    size_t text;                     /* bytes of a text; 0: numbers */
    const void *values;              /* [frames] */
};

enum {
    AIRY_PATTERN_ROIS = 64,
    AIRY_PATTERN_MAPS = 1 + 2 * AIRY_PATTERN_ROIS /* total, and of each region sum and mean */
};

struct airy_pattern_row {
    const float *intensity, *std, *sem; /* [bins]; std, sem NULL without errors */
    const double *signal, *variance;    /* [bins] of sums; variance NULL without errors */
    const double *norms;              /* [3][bins]: sum_normalization, sum_normalization2, count */
    const double *roi_sum, *roi_mean; /* [roi_count] */
    airy_frame_stats stats;
    uint32_t frames;     /* added up in it; written where rows are grouped */
    const char *message; /* NULL or why the frame is bad; cut to the field's width */
};

/* Bytes of all rows of such a file at least; SIZE_MAX where they are more than a number holds. */
size_t airy_pattern_rows_size(const struct airy_pattern_spec *spec);
/*
 * resume: PATH.partial must be there (AIRY_ERR_NOT_FOUND) and fit the spec (AIRY_ERR_FORMAT with
 * the difference otherwise). Without resume and force neither PATH nor PATH.partial may be there
 * (AIRY_ERR_EXISTS). AIRY_ERR_IO: too little room on the disk (the rows' space is reserved here,
 * where the file system can; src/io/file/disk_room.h), unwritable folder, another process writes the
 * file. AIRY_ERR_CANCELLED: spec->owner said so.
 */
airy_status airy_pattern_file_create(airy_pattern_file **file, const char *path,
                                     const struct airy_pattern_spec *spec, bool force, bool resume);
/*
 * Write rows of a PATH.partial beside other processes, each row by one of them: a row whose
 * normalizations differ gets them at its place, but [frames, bins] ones count in the file only
 * after gather. AIRY_ERR_NOT_FOUND, AIRY_ERR_FORMAT, AIRY_ERR_IO (a run that wants it alone).
 */
airy_status airy_pattern_file_join(airy_pattern_file **file, const char *path,
                                   const struct airy_pattern_spec *spec);
/*
 * PATH.partial after all of them have left it, for finish; bad rows count as written. AIRY_ERR_IO:
 * one is still writing. force: finish may overwrite PATH.
 */
airy_status airy_pattern_file_gather(airy_pattern_file **file, const char *path,
                                     const struct airy_pattern_spec *spec, bool force);
/* Rows that a resumed run has found bad are pending again in the file, too. */
airy_status airy_pattern_file_retry(airy_pattern_file *file);
size_t airy_pattern_file_pending(const airy_pattern_file *file);
bool airy_pattern_file_row_pending(const airy_pattern_file *file, size_t row);
/* True if this row was done in an earlier run; bad rows are not, they are tried again. */
bool airy_pattern_file_done(const airy_pattern_file *file, size_t row);
airy_status airy_pattern_file_write(airy_pattern_file *file, size_t row,
                                    const struct airy_pattern_row *data);
/* Rows row to row + count - 1 with fewer calls to the system. */
airy_status airy_pattern_file_write_rows(airy_pattern_file *file, size_t row,
                                         const struct airy_pattern_row *data, size_t count);
/* Every row has its own normalizations from now on, as if one of them differed. */
airy_status airy_pattern_file_separate(airy_pattern_file *file);
/*
 * All rows must have been written. sums: planes of a frame without invalid pixels, for the
 * datasets that do not differ between frames; NULL: those of the first good row without. fsync,
 * rename.
 */
airy_status airy_pattern_file_finish(airy_pattern_file *file, const double *sums);
/* Close without finishing: the partial file stays if keep, else it is removed. */
void airy_pattern_file_destroy(airy_pattern_file **file, bool keep);

#endif
