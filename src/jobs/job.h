/*
 * How a job is described and run. A job is a file of this folder: a struct of values, tables of rows
 * that describe its members, and functions of its stages. Tables that several jobs share are in
 * groups.h.
 */
#ifndef AIRY_JOBS_JOB_H
#define AIRY_JOBS_JOB_H

#include <jansson.h>
#include <stdatomic.h>

#include "airy/job.h"
#include "base/error.h"
#include "base/log.h"

/*
 * Members of a struct of values by the type of their parameter: FLAG bool, WHOLE size_t, SEED and
 * BYTES uint64_t, REAL double, TEXT and PATH char *, WORD int, DTYPE airy_dtype, TUPLE struct
 * airy_job_tuple, RANGE and SHAPE size_t[3] and [2], RECORD what its functions take; a list struct
 * airy_job_list; PATH with `array` struct airy_job_source. A RANGE without an end has the end 0; a
 * WHOLE with a word is SIZE_MAX for it.
 */
enum { AIRY_JOB_TUPLE = 64 };
struct airy_job_tuple {
    double values[AIRY_JOB_TUPLE];
    size_t count;
};

/* The texts of the items, for airy_value_parse; of PATH with `array` also an array in place of the files. */
struct airy_job_list {
    char **items;
    size_t count;
    airy_host_view view;
    bool is_array;
};

/* A file, or an array in memory. */
struct airy_job_source {
    char *path; /* NULL: not set, or an array */
    airy_host_view view;
    bool is_array;
};

/* A value of several parts. */
struct airy_job_record {
    size_t size;
    /* Return NULL, or what was expected. */
    const char *(*parse)(void *field, const char *text);
    void (*print)(char *text, size_t size, const void *field);
};

struct airy_job_row {
    airy_parameter p;
    size_t offset;
    const struct airy_job_record *record; /* of RECORD */
};

/*
 * The row of a member, which is a record in the second form. What follows are members of
 * airy_parameter. Tables name their struct once: #define ROW(member, ...) AIRY_JOB_ROW(struct values,
 * member, __VA_ARGS__).
 */
#define AIRY_JOB_ROW(values, member, ...)                                                          \
    {                                                                                              \
        {__VA_ARGS__}, offsetof(values, member), NULL                                              \
    }
#define AIRY_JOB_RECORD_ROW(values, member, record, ...)                                           \
    {                                                                                              \
        {__VA_ARGS__}, offsetof(values, member), record                                            \
    }

/* A table of rows, NULL behind the last name, and where its struct lies among the values. */
struct airy_job_group {
    const struct airy_job_row *rows;
    size_t offset;
};

enum {
    AIRY_JOB_GROUPS = 16,
    AIRY_JOB_ROWS = 128,
    AIRY_JOB_RESULTS = 64,
    AIRY_JOB_NUMBERS_MOST = 8
};

struct airy_job_kind {
    const char *name, *summary, *details;
    struct airy_job_group groups[AIRY_JOB_GROUPS]; /* rows NULL behind the last */
    const char *without;                           /* a row of these that it lacks; NULL: none */
    const airy_job_result *results;                /* name NULL behind the last */
    size_t values_size, state_size;
    bool
        keeps; /* the results of a run that failed or was cancelled stay: what was done stays done */
    airy_status (*check)(airy_job *job); /* NULL: nothing but what the rows say */
    /* Take over the geometry of a result, or of none (NULL). The member NULL: its results have none. */
    airy_status (*replay)(airy_job *job, const char *geometry);
    const struct airy_job_row *replayed; /* which stands for these rows, which no result stores */
    /*
     * state: what is open, zeroed before the first of these. `open` opens the inputs, computes what
     * nobody has set and fills the plan; NULL: the job has no such stage. `close` comes after the
     * run, after a failure of either, and where a parameter is set between them.
     */
    airy_status (*open)(airy_job *job, void *state);
    airy_status (*run)(airy_job *job, void *state);
    void (*close)(void *state);
    bool together; /* its outputs get their names when all of them are written */
};

/* The row at a place of a kind, and its group; NULL: there are no more. */
const struct airy_job_row *airy_job_row_at(const struct airy_job_kind *kind, size_t index,
                                           const struct airy_job_group **group);
/* airy_job_create of a description. */
airy_status airy_job_make(airy_job **job, const struct airy_job_kind *kind, airy_context *context,
                          const airy_job_hooks *hooks);

/* A result that was made; lists of more numbers are JSON. */
struct airy_job_made {
    bool is_there;
    airy_host_view view; /* of an array */
    airy_table table;
    void *data; /* of the view or the table, malloc'ed */
    double numbers[AIRY_JOB_NUMBERS_MOST];
    size_t count;
    char *text; /* of TEXT and JSON; of a number its JSON, or NULL */
};

/*
 * A job that was started is attended while a thread is inside airy_job_next or airy_job_finish. A job
 * that runs or is attended is released by the one who ends that, if it was destroyed meanwhile.
 */
enum { AIRY_JOB_IDLE, AIRY_JOB_RUNS, AIRY_JOB_STARTED, AIRY_JOB_ATTENDED, AIRY_JOB_ORPHANED };

struct airy_job {
    const struct airy_job_kind *kind;
    airy_context *context;
    airy_job_hooks hooks;
    void *values;
    void *state; /* of the kind; NULL: nothing is open */
    json_t *plan;
    bool only_plans; /* airy_job_resolve: an output that is there is in nobody's way */
    size_t row_count;
    const struct airy_job_row *rows[AIRY_JOB_ROWS];
    void *fields[AIRY_JOB_ROWS]; /* of values */
    uint8_t origins[AIRY_JOB_ROWS];
    struct airy_job_made made[AIRY_JOB_RESULTS];
    bool wanted[AIRY_JOB_RESULTS];
    airy_device *device; /* the context's, and the first of `devices` where there are several */
    airy_device *const *devices;
    size_t device_count; /* 0: `device` alone, if any */
    char summary[1024];
    uint64_t begun, ended; /* of the work, in ns */
    atomic_int stage;      /* AIRY_JOB_IDLE ... */
    atomic_bool cancelled;
    atomic_size_t done, total;
    struct airy_job_events *events; /* of a run that was started, until it is finished; else NULL */
    bool is_lossy;
};

/* ---- values (value.c) ---- */

/* Fill a field from text. AIRY_ERR_PARAM "NAME TEXT: expected ...", of the subject NAME. */
airy_status airy_value_parse(const struct airy_job_row *row, void *field, const char *text);
/* The text of a field, malloc'ed; NULL: it has none. */
airy_status airy_value_text(const struct airy_job_row *row, const void *field, char **text);
/* The text of a JSON value for airy_value_parse, malloc'ed; AIRY_ERR_DTYPE where the kind is another. */
airy_status airy_value_from_json(const struct airy_job_row *row, const json_t *json, char **text);
/* A new reference; NULL: out of memory, or a text is not UTF-8. */
json_t *airy_value_to_json(const struct airy_job_row *row, const void *field);
/* An array stands in place of files. */
bool airy_value_is_array(const struct airy_job_row *row, const void *field);
enum { AIRY_RANGE_TEXT = 80 };
/* The text of a RANGE in the shortest form: "5", "0:3", "2::3". Returns text. */
const char *airy_range_text(char text[AIRY_RANGE_TEXT], const size_t range[3]);
/* "1,2.5". Returns text. */
const char *airy_tuple_text(char text[96], const struct airy_job_tuple *numbers);
/* Put "NAME 1,2.5: " before the sentence of a failure, with the parameter as its subject; returns status. */
airy_status airy_tuple_refuse(const char *name, const struct airy_job_tuple *numbers,
                              airy_status status);
/* Bytes of a field. */
size_t airy_value_size(const struct airy_job_row *row);
/* Release what the field refers to, and set it to zeros. */
void airy_value_clear(const struct airy_job_row *row, void *field);

/* A whole number as an integer. NULL: not finite. */
json_t *airy_number_json(double value);
/* The text of an object, malloc'ed, whose reference is released; NULL: memory was short. */
airy_status airy_job_print_json(json_t *object, char **text);

/* ---- the life of a job: values (job_values.c), runs (job.c), and above them threads (events.c) ---- */

/* Make room for the values of a new job, and set them to the defaults. */
airy_status airy_job_open_values(airy_job *job);
/* airy_job_check of a job whose stage is the caller's. */
airy_status airy_job_check_values(airy_job *job);
/* Close what is open; what was computed is unset again. */
void airy_job_close_state(airy_job *job);
/* The run of a job whose stage is AIRY_JOB_RUNS. */
airy_status airy_job_run_once(airy_job *job);
/* Release a job that does not run. */
void airy_job_release(airy_job *job);

/* ---- for jobs (job_values.c, job_results.c, events.c) ---- */

/* Whether the job has a parameter of this name. */
bool airy_job_has(const airy_job *job, const char *name);
/* Whether a parameter was set. The name must be one of the job's. */
bool airy_job_is_set(const airy_job *job, const char *name);
/* Set a parameter that nobody has set to what was found, by its text, until the job is closed. */
airy_status airy_job_compute(airy_job *job, const char *name, const char *text);
/* Whether several processes do the job together. */
bool airy_job_has_ranks(const airy_job *job);
/* Add to the plan; the reference is the job's from then on. */
void airy_job_put_plan(airy_job *job, const char *key, json_t *json);
/* Whether anybody takes events of this kind. */
bool airy_job_takes(const airy_job *job, airy_job_event_kind kind);
/* Report an event to the job's hook, or to airy_job_next; false: end the run. Not from two threads at once. */
bool airy_job_emit(airy_job *job, const airy_job_event *event);
/* This run cannot wait for whoever takes events: the oldest row is dropped where too many wait. */
void airy_job_set_lossy(airy_job *job, bool is_lossy);
/* Report a message to the job's hook. On the thread inside the run. */
void airy_job_message(const airy_job *job, airy_log_level level, const char *format, ...)
    AIRY_PRINTF(3, 4);
/* An airy_progress_fn with the job as user: counts, asks the hook, and ends the run once cancelled. */
bool airy_job_step(void *job, size_t done, size_t total);
/* An airy_log_fn with the job as user. */
void airy_job_pass_message(void *job, airy_log_level level, const char *text);
/* An airy_log_fn with the job as user, for messages about single frames: their level becomes INFO. */
void airy_job_frame_message(void *job, airy_log_level level, const char *text);
/* Hand over results. The data of an array, malloc'ed, are the job's from then on. */
void airy_job_put_array(airy_job *job, const char *result, const airy_host_view *view, void *data);
void airy_job_put_numbers(airy_job *job, const char *result, const double *values, size_t count);
void airy_job_put_number(airy_job *job, const char *result, double value);
/* The lengths of AIRY_MAX_DIMS axes at most. */
void airy_job_put_shape(airy_job *job, const char *result, const size_t *shape, int ndim);
/* text NULL: there is none, which is null in JSON. */
airy_status airy_job_put_text(airy_job *job, const char *result, const char *text);
/* Hand over JSON, whose reference is the job's from then on; NULL: memory was short. */
airy_status airy_job_put_json(airy_job *job, const char *result, json_t *json);
/*
 * Hand over the values of an object, whose reference is the job's, as the results of these names, which
 * are numbers and JSON. A number is null, or digits of 64 bits as a string, where the object has that.
 */
airy_status airy_job_put_object(airy_job *job, json_t *object);
/* Hand over a table. What it points to lies in `data`, malloc'ed, which is the job's from then on. */
void airy_job_put_table(airy_job *job, const char *result, const airy_table *table, void *data);
/* A column of a table whose rows are structs: a member at this offset. */
struct airy_job_column {
    const char *name, *unit; /* NULL: none */
    airy_dtype dtype;
    size_t offset;
};
/* Hand over a table of `count` columns whose rows are structs of `size` bytes, which are copied. */
airy_status airy_job_put_structs(airy_job *job, const char *result,
                                 const struct airy_job_column *columns, size_t count,
                                 const void *structs, size_t rows, size_t size);
/* Whether the job has a result of this name. */
bool airy_job_gives(const airy_job *job, const char *result);
/* Whether a result is to be kept in memory: no file is named for it, or it is wanted. */
bool airy_job_keeps(const airy_job *job, const char *result);
/* Whether airy_job_want was called for it. */
bool airy_job_is_wanted(const airy_job *job, const char *result);
/* The inputs are read; the results are there, and not written yet. For airy_job_seconds. */
void airy_job_work_begins(airy_job *job);
void airy_job_work_ends(airy_job *job);
/* The sentence about the result. */
void airy_job_sum_up(airy_job *job, const char *format, ...) AIRY_PRINTF(2, 3);

/* ---- inputs are kept (keep.c) ---- */

/* An output must be none of the files that parameters name as inputs. */
airy_status airy_job_keep_inputs(const airy_job *job, const char *output);
/* No output that a parameter names is such a file. */
airy_status airy_job_keep_outputs(const airy_job *job);

/* ---- context (context.c) ---- */

/* The device of these parameters, opened when it is first asked for. It is the context's. */
airy_status airy_context_device(airy_context *context, airy_device **device, const char *spec,
                                const airy_device_params *params);
/* The same where the spec may name several ("gpu:all"). */
airy_status airy_context_devices(airy_context *context, airy_device *const **devices, size_t *count,
                                 const char *spec, const airy_device_params *params);
/* Open it anew when it is next asked for: it has failed. */
void airy_context_drop_device(airy_context *context, const airy_device *device);
/* A job begins or ends to use a context, which stays as long. */
void airy_context_hold(airy_context *context);
void airy_context_let_go(airy_context *context);

#endif
