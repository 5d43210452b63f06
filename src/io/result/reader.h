/* An open result: what was found in its file. */
#ifndef AIRY_IO_RESULT_READER_H
#define AIRY_IO_RESULT_READER_H

#include "airy/result.h"
#include "io/hdf5/util.h"

enum {
    AIRY_RESULT_NAME = 64, /* bytes of the last part of a plane's name */
    AIRY_RESULT_AXES = 2,
    AIRY_RESULT_PLANES_MAX = 512, /* more than any result has: datasets are not counted further */
    AIRY_RESULT_DIMS = 5,         /* of a dataset */
    AIRY_RESULT_AXIS_MAX = 1 << 22,
    AIRY_RESULT_ROWS_MAX = 1 << 26
};

struct airy_result_dataset {
    airy_result_plane about; /* its texts are those below once all planes are found */
    char name[AIRY_RESULT_NAME + 16], path[AIRY_RESULT_NAME + 96], label[160], units[64];
    hid_t dataset; /* opened when it is first read; negative: it is not open */
    unsigned long file;
    haddr_t address;
    int ndim;
    hsize_t shape[AIRY_RESULT_DIMS];
    bool is_list;  /* its rows are elements */
    bool is_blank; /* rows that are pending have no values */
};

struct airy_result_line {
    airy_result_axis about;
    char name[AIRY_RESULT_NAME], path[AIRY_RESULT_NAME + 96], label[160], units[64], unit_name[64];
    double *values;
};

struct airy_result {
    char *name, *path; /* as given, and as opened */
    hid_t file;
    airy_result_info info;
    char base[AIRY_RESULT_NAME + 16];   /* the group of the texts */
    char signal[AIRY_RESULT_NAME + 96]; /* path of the main plane; "": there is none */
    struct airy_result_line axes[AIRY_RESULT_AXES];
    struct airy_result_dataset *planes; /* [info.planes] */
    int32_t *status;                    /* [rows]; NULL: all are good */
};

/*
 * Fill in info, axes, planes and status of an open file (src/io/result/describe.c). Lock held.
 * After a failure the caller releases what is there.
 */
airy_status airy_result_describe(airy_result *result);
/* Let what callers see point into the result; again after it was moved. */
void airy_result_point(airy_result *result);
/* Read a box of a dataset, all of it with start NULL, as elements of that type. Lock held. */
airy_status airy_result_read_box(void *values, hid_t type, hid_t dataset, const hsize_t *start,
                                 const hsize_t *count, hsize_t elements, const char *what);

#endif
