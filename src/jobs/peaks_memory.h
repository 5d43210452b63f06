/* Sparse frames in memory, as results of a job. */
#ifndef AIRY_JOBS_PEAKS_MEMORY_H
#define AIRY_JOBS_PEAKS_MEMORY_H

#include "airy/sparse.h"
#include "jobs/job.h"

/* A list that grows; of so many bytes. */
struct airy_growing {
    void *data;
    size_t used, room;
};

struct airy_peaks_memory {
    airy_dtype dtype; /* of the frames */
    const airy_integrator *integrator;
    size_t bins;
    uint64_t limit, bytes; /* bytes that may be taken, 0: any; that are taken */
    struct airy_growing ptr, index, intensity, mean, std, peaks;
    size_t frames, peak_count;
};

void airy_peaks_memory_begin(struct airy_peaks_memory *memory, airy_dtype dtype,
                             const airy_integrator *integrator, uint64_t limit);
/* An airy_sparse_fn with the memory as user. */
airy_status airy_peaks_memory_take(void *memory, const airy_sparse_frame *frames, size_t count);
/* Hand over the arrays and the table of peaks. */
airy_status airy_peaks_memory_put(struct airy_peaks_memory *memory, airy_job *job);
void airy_peaks_memory_free(struct airy_peaks_memory *memory);

#endif
