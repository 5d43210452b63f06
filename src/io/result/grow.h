/*
 * The integrated file (NeXus) of a number of frames that nobody knows: its datasets grow, and other
 * programs may read it while they do, by the rules of libhdf5 for one writer and several readers
 * (SWMR). The names are those of result/file.h's; sum_normalization, sum_normalization2 and count
 * are [rows, bins]. Rows are kept in memory and written five times a second by a thread of their
 * own: all datasets first, frame/status, which says that they are there, last. A killed program
 * leaves PATH.partial with all rows that were written so. Thread-safety: airy_pattern_growing_write
 * from any thread for different rows; the rest one thread.
 */
#ifndef AIRY_IO_RESULT_GROW_H
#define AIRY_IO_RESULT_GROW_H

#include "io/result/file.h"

typedef struct airy_pattern_growing airy_pattern_growing;

/*
 * spec->grows is set; of frames, index, columns, monitor, grid and nxazint there is none. Row r is
 * frame first + r * step. resume: the good rows of PATH.partial are taken over. Errors as of
 * airy_pattern_file_create.
 */
struct airy_pattern_numbers {
    uint64_t first, step;
};
airy_status airy_pattern_growing_create(airy_pattern_growing **file, const char *path,
                                        const struct airy_pattern_spec *spec,
                                        struct airy_pattern_numbers numbers, bool force,
                                        bool resume);
/* Rows of the file as it was resumed, and which of them are done. */
size_t airy_pattern_growing_rows(const airy_pattern_growing *file);
bool airy_pattern_growing_done(const airy_pattern_growing *file, size_t row);
/* Rows row to row + count - 1. Waits while the thread that writes has more than it can take. */
airy_status airy_pattern_growing_write(airy_pattern_growing *file, size_t row,
                                       const struct airy_pattern_row *data, size_t count);
/* All that was written, to the disk; the file gets its name. */
airy_status airy_pattern_growing_finish(airy_pattern_growing *file);
/* Close without finishing: what was written is there if keep, else the file is removed. */
void airy_pattern_growing_destroy(airy_pattern_growing **file, bool keep);

#endif
