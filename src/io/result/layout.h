/*
 * The datasets of the integrated file and where their bytes lie.
 *
 * The file holds two root groups that share all datasets except sum_normalization,
 * sum_normalization2 and count: in one they are [bins], in the other [frames, bins]. The
 * superblock says which root counts, and one write of its entry changes that: no moment at which a
 * killed program leaves libhdf5's structures half changed. The superblock is version 0 (no
 * checksum); its root entry caches nothing, so that its scratch space is free to hold both roots'
 * addresses. The [frames, bins] datasets lie at the end of the file, are never written while no
 * frame differs, and are cut off when the file is finished without them.
 * Source: HDF5 File Format Specification version 2.0, II.A (superblock, version 0) and III.C
 *         (symbol table entry).
 */
#ifndef AIRY_IO_RESULT_LAYOUT_H
#define AIRY_IO_RESULT_LAYOUT_H

#include "airy/result.h"
#include "io/hdf5/util.h"
#include "io/result/file.h"

enum airy_pattern_field {
    AIRY_PATTERN_RADIAL = 0,
    AIRY_PATTERN_AZIMUTHAL,
    AIRY_PATTERN_SHARED_NORMALIZATION, /* [bins]; the next two follow it */
    AIRY_PATTERN_SHARED_NORMALIZATION2,
    AIRY_PATTERN_SHARED_COUNT,
    AIRY_PATTERN_ROI,
    AIRY_PATTERN_INDEX, /* from here on: rows of frames */
    AIRY_PATTERN_STATUS,
    AIRY_PATTERN_MONITOR,
    AIRY_PATTERN_FRAMES,
    AIRY_PATTERN_TOTAL,
    AIRY_PATTERN_MAX,
    AIRY_PATTERN_SATURATED,
    AIRY_PATTERN_INVALID,
    AIRY_PATTERN_ROI_SUM,
    AIRY_PATTERN_ROI_MEAN,
    AIRY_PATTERN_INTENSITY,
    AIRY_PATTERN_STD,
    AIRY_PATTERN_SEM,
    AIRY_PATTERN_SIGNAL,
    AIRY_PATTERN_VARIANCE,
    AIRY_PATTERN_MESSAGE,
    AIRY_PATTERN_NORMALIZATION, /* at the end of the file; the next two follow it */
    AIRY_PATTERN_NORMALIZATION2,
    AIRY_PATTERN_COUNT,
    AIRY_PATTERN_FIELDS
};

enum { AIRY_PATTERN_MESSAGE_BYTES = 200 };

struct airy_pattern_layout {
    uint64_t offset[AIRY_PATTERN_FIELDS]; /* 0: the file has no such dataset */
    size_t row[AIRY_PATTERN_FIELDS];      /* bytes of a row (of all, where there are no rows) */
    uint64_t map[AIRY_PATTERN_MAPS];      /* maps of the grid; 0 where there is none */
    uint64_t roots[2];                    /* object headers: shared, per frame */
    uint64_t end;                         /* of the file */
    bool per_frame;                       /* roots[1] is the one that counts */
    bool cuttable;                        /* nothing lies behind the three last datasets */
    bool cut;                             /* they have been cut off; `end` counts them */
};

/* Bytes of a row of each field (of all of it, where it has no rows). */
void airy_pattern_row_bytes(size_t bytes[AIRY_PATTERN_FIELDS],
                            const struct airy_pattern_spec *spec);
/* Where a row keeps a field that has a value for every row (src/io/result/file.c). */
const void *airy_pattern_value(const struct airy_pattern_row *data, int field, size_t bins);

/*
 * The same datasets in a file whose rows grow (src/io/result/grow.c). Lock held. put: all that does
 * not belong to rows is written, datasets are those of rows, open; negative on failure. fits:
 * AIRY_ERR_FORMAT with the first difference of an open file from spec. type: to be closed.
 */
bool airy_pattern_grows(int field, const struct airy_pattern_spec *spec);
hid_t airy_pattern_field_type(int field);
void airy_pattern_field_path(char path[128], int field);
herr_t airy_pattern_put_growing(hid_t datasets[AIRY_PATTERN_FIELDS], hid_t file,
                                const struct airy_pattern_spec *spec);
/* The rows of a partial result were begun as this run's: growing, or of a known number. */
airy_status airy_pattern_check_growth(hid_t file, bool grows);
airy_status airy_pattern_fits(hid_t file, const struct airy_pattern_spec *spec);

/*
 * The fingerprint of an open file or of one of its roots, malloc'ed; "" where it has none. Lock
 * held.
 */
airy_status airy_pattern_fingerprint(char **text, hid_t root);

/*
 * Datasets of the grid's map (src/io/result/map.c): how many; made as an NXdata of images in the
 * group "integrate"; found below a root, of the grid's shape, else AIRY_ERR_FORMAT. Lock held.
 */
size_t airy_pattern_map_count(const struct airy_pattern_spec *spec);
herr_t airy_pattern_put_maps(struct airy_pattern_layout *layout, hid_t integrate,
                             const struct airy_pattern_spec *spec);
airy_status airy_pattern_find_maps(struct airy_pattern_layout *layout, hid_t root,
                                   const struct airy_pattern_spec *spec);
/*
 * Write all that does not belong to rows into `partial`, of airy_file_begin; status is pending. Takes
 * the lock.
 */
airy_status airy_pattern_layout_create(struct airy_pattern_layout *layout, const char *partial,
                                       const struct airy_pattern_spec *spec);
/*
 * Find the same in a file made by that; AIRY_ERR_FORMAT with the first difference from spec. Takes
 * the lock.
 */
airy_status airy_pattern_layout_open(struct airy_pattern_layout *layout, const char *path,
                                     const struct airy_pattern_spec *spec);
/*
 * Make way for a new partial file: AIRY_ERR_EXISTS where one is there; with force it is removed,
 * unless another run is writing it, or it is anything but a partial result, of patterns or of sparse
 * frames. Takes the lock.
 */
airy_status airy_pattern_clear_partial(const char *partial, bool force);
/*
 * Make roots[per_frame] count, and `end` the size libhdf5 expects, in one write. fd: open for
 * writing.
 */
airy_status airy_pattern_layout_switch(int fd, const struct airy_pattern_layout *layout,
                                       bool per_frame, uint64_t end);

#endif
