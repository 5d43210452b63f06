/* Parameters that several jobs share: tables of rows with the structs that they fill, and what is made of them. */
#ifndef AIRY_JOBS_GROUPS_H
#define AIRY_JOBS_GROUPS_H

#include "airy/image.h"
#include "airy/stack_write.h"
#include "jobs/job.h"

/* Files as one stack. */
struct airy_stack_values {
    struct airy_job_list paths;
    airy_raw_frames raw;
    char *channel;
    bool growing; /* the files are still being written */
};
extern const struct airy_job_row airy_stack_rows[];
/* Open them. */
airy_status airy_job_open_stack(const airy_job *job, airy_stack **stack,
                                const struct airy_stack_values *values);

/* Read frames first, first + step, ... into an image of three dimensions. */
airy_status airy_job_read_frames(airy_image *image, const airy_stack *stack, size_t first,
                                 size_t count, size_t step);
/* What sentences call them: the first file. */
const char *airy_job_stack_name(const struct airy_stack_values *values);

/* Which frames, and what becomes of those that cannot be read. */
struct airy_frames_values {
    size_t frames[3];
    int on_error; /* 1: skip */
};
extern const struct airy_job_row airy_frames_rows[];
/* How many of so many frames are chosen, which must be there. path: for the sentence. */
airy_status airy_job_choose_frames(size_t *count, const struct airy_frames_values *values,
                                   size_t there, const char *path);

/*
 * Warn where frames were left out, AIRY_PARTLY; none: AIRY_OK. also: what else this means, such as
 * ", which makes 2 results NaN".
 */
airy_status airy_job_warn_left_out(const airy_job *job, size_t bad, size_t frames, const char *also,
                                   const char *first_error);

/* Add the stack and what is chosen of it to the plan; the frames are computed where nobody has set them. */
airy_status airy_job_plan_stack(airy_job *job, const airy_stack_info *info,
                                const struct airy_frames_values *values);

/* Where a job computes; one without a device has the rows of the host alone. */
struct airy_compute_values {
    char *device;
    size_t threads;
    uint64_t memory_limit;
    bool profile;
};
extern const struct airy_job_row airy_device_rows[], airy_host_rows[];
/* The number of threads of a job without a pool of its own, which is a size_t. */
extern const struct airy_job_row airy_threads_rows[];
/* Open the device, which is job->device from then on. */
airy_status airy_job_open_device(airy_job *job, airy_device **device,
                                 const struct airy_compute_values *values);

/* Open several where the parameter names them. */
airy_status airy_job_open_devices(airy_job *job, const struct airy_compute_values *values);
/* "gpu:0, gpu:1" as the result "device". */
airy_status airy_job_put_devices(airy_job *job);

/* A stack that is written. */
struct airy_output_values {
    char *output;
    size_t frames_per_file;
    bool force;
};
extern const struct airy_job_row airy_stack_output_rows[];
extern const airy_job_result airy_stack_output_results[];
/* Its rows, for jobs that have further results. */
#define AIRY_STACK_OUTPUT_RESULTS                                                                  \
    {"output", AIRY_JOB_TEXT, NULL, "the file that was written"},                                  \
        {"files", AIRY_JOB_NUMBER, NULL,                                                           \
         "data files, where the file is a master that links to them"},                             \
        {"frames", AIRY_JOB_NUMBER, NULL, "frames of the stack"},                                  \
        {"bad", AIRY_JOB_NUMBER, NULL, "frames that were left out"},                               \
        {"shape", AIRY_JOB_NUMBERS, NULL, "frames, height and width"},                             \
        {"dtype", AIRY_JOB_TEXT, NULL, "of the pixels"},                                           \
        {"codec", AIRY_JOB_TEXT, NULL, "of the chunks"},                                           \
        {"stored_bytes", AIRY_JOB_NUMBER, NULL, "bytes of the chunks"},                            \
        {"decoded_bytes", AIRY_JOB_NUMBER, NULL, "bytes of the pixels of these frames"},           \
        {"bytes_per_frame", AIRY_JOB_NUMBER, NULL, "stored_bytes of a frame on average"},          \
        {"ratio", AIRY_JOB_NUMBER, NULL, "decoded_bytes / stored_bytes"},                          \
    {                                                                                              \
        "seconds", AIRY_JOB_NUMBER, NULL, "the time that writing took"                             \
    }
/* The name of a file that jobs write as HDF5. */
bool airy_job_is_hdf5_name(const char *path);
/* There is an output, and its name is one of HDF5. */
airy_status airy_job_check_output(const struct airy_output_values *values);
/* The values of a job that writes a stack. */
struct airy_output_group {
    const struct airy_output_values *output;
    const struct airy_frames_values *frames; /* NULL: all that the source makes */
    const struct airy_compute_values *compute;
};
/* Write it as these say, and hand over its results; params has the format and the source. */
airy_status airy_job_write_stack(airy_job *job, airy_stack_write_params *params,
                                 const struct airy_output_group *group);

/*
 * Write it as these say, and report the frames that were left out, AIRY_PARTLY; params has the
 * format and the source.
 */
airy_status airy_job_fill_stack(airy_job *job, airy_stack_write_params *params,
                                const struct airy_output_group *group, airy_stack_write_info *info);

/* airy_image_check_format of an output, NULL: none, with the parameter as the failure's subject. */
airy_status airy_job_check_format(const char *parameter, const char *output, airy_dtype dtype,
                                  int ndim);
/* Warn where an output (NULL: none) in FITS is written without the header that its input, a file or NULL, has. */
void airy_job_warn_header(const airy_job *job, const char *output, const char *input);

/*
 * The image of a source, which must be set: read from its file, or the array's own memory. Unload it
 * in any case.
 */
airy_status airy_job_load_image(airy_image *image, const struct airy_job_source *source);
void airy_job_unload_image(airy_image *image, const struct airy_job_source *source);

/* An output must be none of the files that frames are read from. */
airy_status airy_job_keep_stack(const airy_stack *stack, const char *output);

#endif
