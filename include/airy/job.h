/**
 * Jobs: what a user comes for, each under a name and with named parameters.
 *
 *     airy_job *job = NULL;
 *     airy_host_view image = {0};
 *     if (airy_job_create(&job, "reduce", NULL, NULL) ||
 *         airy_job_set(job, "stack", "dark_master.h5") || airy_job_set(job, "by", "median") ||
 *         airy_job_run(job) || airy_job_get_array(job, "image", &image))
 *         fprintf(stderr, "%s\n", airy_last_error()); // status.h
 *     else
 *         ... image.data is [image.shape[0], image.shape[1]] of image.dtype
 *     airy_job_destroy(&job);
 *
 * Use a job for a task over files or whole arrays, such as integrate, peaks, reduce, label, sources, oct
 * or convert: airy_job_at lists all, and `airy NAME --help` describes the parameters of each. Use the
 * functions of the other headers to work with arrays on a device step by step.
 *
 * A job is described once, by a table of parameters and one of results. The options of the command,
 * its help text and the functions of other languages are made of these tables
 * (airy_job_parameter_at, airy_job_result_at). A job prints nothing: it reports progress and
 * messages to hooks. Results are files where an output is named, else they stay in memory.
 *
 * A job goes through four stages. Setting checks one value. airy_job_check looks at the values
 * together and opens no file; what it refuses is wrong use. airy_job_resolve checks, opens the
 * inputs and finds the values that nobody has set. airy_job_run resolves, works and commits the
 * outputs.
 *
 * Threads: one thread at a time uses a job, but airy_job_cancel and airy_job_progress may be called
 * by any thread. During a run, hooks of the job may call these two and airy_job_get and its like;
 * functions that change the job are refused then (AIRY_ERR_PARAM).
 *
 * The structs of this header that a program fills, and those into which the library writes, have
 * reserved room at their end, which later versions use. Zero such a struct first.
 */
#ifndef AIRY_JOB_H
#define AIRY_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "airy/device.h"
#include "airy/dtype.h"
#include "airy/log.h"
#include "airy/progress.h"
#include "airy/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- description ---- */

/** The kind of a parameter's value, and its text. Values in JSON are the same text as a string, or a
 * number or a boolean where the table has one. */
typedef enum airy_parameter_type {
    AIRY_PARAMETER_FLAG = 0, /**< "on" or "off"; JSON true or false */
    AIRY_PARAMETER_WHOLE,    /**< "12"; a JSON number */
    AIRY_PARAMETER_SEED,     /**< a whole number of 64 bits; a JSON number or string */
    AIRY_PARAMETER_BYTES,    /**< "800M", with K, M, G or T of 1024; a JSON number or string */
    AIRY_PARAMETER_REAL,     /**< "0.5"; a JSON number */
    AIRY_PARAMETER_TEXT,     /**< any text that is not empty */
    AIRY_PARAMETER_WORD,     /**< one of the words of the parameter */
    AIRY_PARAMETER_DTYPE,    /**< one of the words, by any name that airy_dtype_parse knows */
    AIRY_PARAMETER_PATH,     /**< a file: FILE, FILE::DATASET or FILE[EXT] */
    AIRY_PARAMETER_TUPLE,    /**< "1,2.5": `least` to `most` numbers, 64 at most; a JSON array of
                                  numbers */
    AIRY_PARAMETER_RANGE,    /**< "A:B:S": whole numbers from A up to, not including, B in steps of
                                  S; A, B and S may be left out; "N": that number alone, which may
                                  be a JSON number */
    AIRY_PARAMETER_SHAPE,    /**< "1024x2048": height and width */
    AIRY_PARAMETER_RECORD, /**< several values between commas, which `argument` names; a whole number
                                  may be a JSON number */
    AIRY_PARAMETER_TYPE_COUNT
} airy_parameter_type;

/** What a parameter is for. */
typedef enum airy_parameter_role {
    AIRY_ROLE_VALUE = 0,
    AIRY_ROLE_INPUT,   /**< the files that the job is about: arguments of the command */
    AIRY_ROLE_READ,    /**< another file that is read */
    AIRY_ROLE_WRITTEN, /**< an output; an image where the result is an array */
    AIRY_ROLE_COUNT
} airy_parameter_role;

/** What changes with a parameter. */
typedef enum airy_parameter_affects {
    AIRY_AFFECTS_VALUE = 0, /**< the numbers of a result */
    AIRY_AFFECTS_ROWS,      /**< which rows a result has */
    AIRY_AFFECTS_BESIDE,    /**< what stands beside the numbers */
    AIRY_AFFECTS_HOW,       /**< how the job is done, not what comes out */
    AIRY_AFFECTS_WHERE,     /**< where results go */
    AIRY_AFFECTS_COUNT
} airy_parameter_affects;

/** When a parameter may be set: another one was set, or has one of these words. */
typedef struct airy_parameter_condition {
    const char *parameter;    /**< NULL: always */
    const char *const *words; /**< NULL behind the last; NULL: the other one was set */
} airy_parameter_condition;

/** A parameter of a job. The library owns these structs; members are appended only. */
typedef struct airy_parameter {
    const char *name; /**< lower case with '-': "on-error" */
    airy_parameter_type type;
    char letter; /**< short option of the command; 0: none */
    bool list;   /**< takes several values; each is set by a call of its own */
    airy_parameter_role role;
    airy_parameter_affects affects;
    double lo, hi;            /**< limits of numbers, which may be infinite; both 0: none */
    const char *const *words; /**< of WORD and DTYPE: NULL behind the last; of WHOLE a word that may
                                   stand for the number, such as "all", or NULL */
    size_t least, most;       /**< numbers of a TUPLE */
    const char *unit;         /**< of numbers: "m", "deg"; NULL: none */
    const char *argument;     /**< placeholder of the help text: "A:B[:S]"; NULL: of the type */
    const char *fallback;     /**< the default as text, or a description of how it is found; NULL:
                                   the parameter is not used unless it is set */
    bool computed;            /**< `fallback` is a description */
    const char *help;         /**< what it does, without unit and default value; {name} and
                                   {name=value} are other parameters */
    const char *section; /**< heading of the section that begins here; NULL: the section goes on */
    airy_parameter_condition only_with;
    bool open;       /**< the numbers lo and hi themselves are refused */
    bool array;      /**< of PATH: an array in memory may stand for the file (airy_job_set_array) */
    bool any;        /**< of REAL: "nan" and "inf" are values, which are strings in JSON */
    uint32_t dtypes; /**< of an image that is written: bit 1 << AIRY_DTYPE_U8 and so on; 0: any */
    const char *alias; /**< an older name, which is still taken; NULL: none */
} airy_parameter;

/** The kind of a result. */
typedef enum airy_job_result_kind {
    AIRY_JOB_ARRAY = 0,
    AIRY_JOB_NUMBER,  /**< a finite number, or NaN */
    AIRY_JOB_NUMBERS, /**< several of these */
    AIRY_JOB_TEXT,
    AIRY_JOB_TABLE, /**< rows with named columns (table.h) */
    AIRY_JOB_JSON,  /**< a value of several parts, such as a list of objects, as JSON */
    AIRY_JOB_RESULT_KIND_COUNT
} airy_job_result_kind;

/** A result of a job. The library owns these structs; members are appended only. */
typedef struct airy_job_result {
    const char *name;
    airy_job_result_kind kind;
    const char *parameter; /**< of an array or a table: the parameter that names its file; NULL:
                                none */
    const char *help;
} airy_job_result;

/** What a job is. Texts belong to the library. */
typedef struct airy_job_info {
    const char *name, *summary; /**< "reduce"; one line */
    const char *details;        /**< a paragraph */
    size_t parameters, results;
    size_t reserved[4];
} airy_job_info;

/** Return the number of jobs of this build. */
AIRY_API size_t airy_job_count(void);
/** Describe the job of this index. AIRY_ERR_PARAM behind the last one. Any thread. */
AIRY_API airy_status airy_job_at(airy_job_info *info, size_t index);
/** Describe a job by its name. AIRY_ERR_NOT_FOUND. Any thread. */
AIRY_API airy_status airy_job_describe(airy_job_info *info, const char *job);
/** Return a parameter or a result of a job; NULL: there is no such job, or index is too large. */
AIRY_API const airy_parameter *airy_job_parameter_at(const char *job, size_t index);
AIRY_API const airy_job_result *airy_job_result_at(const char *job, size_t index);

/* ---- context ---- */

/**
 * What jobs share: the devices that they have opened. A job of context NULL uses one of the process,
 * which is made when the first job needs it.
 * Threads: any number of them, each with a job of its own.
 */
typedef struct airy_context airy_context;

AIRY_API airy_status airy_context_create(airy_context **context);
/** Release the context. Jobs that use it keep it until the last of them is destroyed; then its
 * devices are closed. Set *context to NULL. */
AIRY_API void airy_context_destroy(airy_context **context);
/** Close the devices of the process's own context that no job uses. */
AIRY_API void airy_context_release(void);

/* ---- a job ---- */

typedef struct airy_job airy_job;

/** What an event reports. */
typedef enum airy_job_event_kind {
    AIRY_JOB_EVENT_SERIES_BEGINS = 0, /**< frames begin: once a run, or once for each series of a
                                           stream */
    AIRY_JOB_EVENT_ROW,               /**< a row is finished; also a bad one, with its status */
    AIRY_JOB_EVENT_LOST,              /**< a frame will not come; text is the reason */
    AIRY_JOB_EVENT_SERIES_ENDS,       /**< text: a sentence about it; json: its results */
    AIRY_JOB_EVENT_COUNT
} airy_job_event_kind;

/** An event of a run. What it points at is valid during the call of the hook, or until the next call
 * of airy_job_next. */
typedef struct airy_job_event {
    airy_job_event_kind kind;
    airy_status status; /**< of ROW: AIRY_OK, or why it is bad; of SERIES_ENDS: AIRY_OK, AIRY_PARTLY
                               or a failure */
    uint64_t series;    /**< the number of the series; 0 where there is one alone */
    size_t row,
        frame;     /**< of ROW and LOST: the row of the result, the frame of the stack or series */
    size_t frames; /**< of SERIES_BEGINS: how many will come; 0: not known */
    const char *unit;                   /**< of `radial`; "" else */
    const double *radial;               /**< of SERIES_BEGINS and ROW: [radial_bins] */
    size_t radial_bins, azimuth_bins;   /**< azimuth_bins 0: one dimension */
    const float *intensity, *std, *sem; /**< of ROW: [azimuth_bins x radial_bins], NULL: none */
    const char *text;                   /**< "": none */
    const char *json;                   /**< of SERIES_ENDS: an object; else NULL */
    size_t reserved[4];
} airy_job_event;

/** Take an event; false cancels the run. */
typedef bool (*airy_job_event_fn)(void *user, const airy_job_event *event);

enum { AIRY_JOB_RANKS_COUNTERS = 4 /**< counters that ranks need at least */ };

/** Processes that do one job together (MPI). Each runs the job with the same parameters, and all call
 * these functions in the same order. */
typedef struct airy_job_ranks {
    int rank, size;             /**< of all */
    int local_rank, local_size; /**< of those on this machine */
    int node;                   /**< number of this machine */
    const char *host;           /**< its name */
    /** Add to a counter that all share, which is 0 at the beginning; return the value before. */
    int64_t (*add)(void *user, size_t counter, int64_t amount);
    size_t counters; /**< how many there are: AIRY_JOB_RANKS_COUNTERS and more; one more for each
                          further file of per-rank */
    /** Write `bytes` of each rank to `all`, in the order of the ranks; `wait` (may be NULL) is called
     * from time to time meanwhile. Not 0: failed. */
    int (*gather)(void *user, const void *mine, size_t bytes, void *all, void (*wait)(void *),
                  void *wait_user);
    void *user;
    size_t reserved[4];
} airy_job_ranks;

/** Hooks of a job. Zeroed: none. */
typedef struct airy_job_hooks {
    /** Called on a thread of the job, never on two at once; false cancels the job. Of a run that
     * was started, see airy_job_next. */
    airy_progress_fn progress;
    /** Called on the thread inside airy_job_run, with a stream as input on a thread of the job, never
     * on two at once. NULL: messages go to the log (log.h). A word "NAME=VALUE" in a message is a
     * parameter and a value that it may have. */
    airy_log_fn message;
    /** Called on a thread of the job, never on two at once. Jobs without rows have no events. */
    airy_job_event_fn event;
    /** Which events it takes: bits 1 << AIRY_JOB_EVENT_ROW and so on; 0: all. A run whose rows nobody
     * takes is not slower for them. Where `event` is NULL, these are the events that airy_job_next
     * gives of a run that was started. */
    unsigned events;
    void *user;                  /**< of these */
    const airy_job_ranks *ranks; /**< used until the job is destroyed; NULL, or of size 0 or 1: one
                                      process. Of several the first one alone gives messages */
    void *reserved[4];           /**< NULL */
} airy_job_hooks;

/**
 * Create a job with default values.
 *
 * @param context  NULL: the process's own
 * @param hooks    NULL: none
 * Errors: AIRY_ERR_NOT_FOUND (suggests a name that is near), AIRY_ERR_MEMORY, AIRY_ERR_PARAM (an
 *         argument is NULL; several ranks whose numbers, functions or counters are none).
 */
AIRY_API airy_status airy_job_create(airy_job **job, const char *name, airy_context *context,
                                     const airy_job_hooks *hooks);
/** Release the job with its results in memory. Set *job to NULL. A job that runs (this is one of its
 * hooks, or another thread) is cancelled, and released when its run ends. */
AIRY_API void airy_job_destroy(airy_job **job);

/**
 * Set a parameter by its text, as on the command line; of a list add a value.
 *
 * Errors, with the subject AIRY_SUBJECT_PARAMETER: AIRY_ERR_NOT_FOUND (no such parameter),
 * AIRY_ERR_PARAM (not a value of its type; set already), AIRY_ERR_MEMORY. The sentence begins with
 * the parameter's name and the value.
 */
AIRY_API airy_status airy_job_set(airy_job *job, const char *name, const char *text);
/** Set a number: of WHOLE, SEED, BYTES and REAL. AIRY_ERR_DTYPE where the parameter takes another
 * kind of value; else as airy_job_set. */
AIRY_API airy_status airy_job_set_number(airy_job *job, const char *name, double value);
/** Set the numbers of a TUPLE. */
AIRY_API airy_status airy_job_set_numbers(airy_job *job, const char *name, const double *values,
                                          size_t count);
/** Set a FLAG. */
AIRY_API airy_status airy_job_set_flag(airy_job *job, const char *name, bool value);
/**
 * Set parameters from the text of a JSON object {"name": value}; a list is an array. What
 * airy_job_set and the like have set stays: a given value counts more than a configuration. Names
 * that the job does not have, names that occur twice and values of another kind are refused, and
 * then no value of the object is set. AIRY_ERR_FORMAT (not a JSON object), else as airy_job_set.
 */
AIRY_API airy_status airy_job_set_json(airy_job *job, const char *json);
/** An array in the memory of the host. Zeroed but for data, dtype, ndim and shape: in C order. */
typedef struct airy_host_view {
    const void *data;
    airy_dtype dtype;
    int ndim;
    size_t shape[4];
    ptrdiff_t strides[4]; /**< bytes from an element to the next along each axis; all 0: C order */
    /** Called once when the job does not need the array any more, with `user`; NULL: not called. */
    void (*release)(void *user);
    void *user;
    size_t reserved[4];
} airy_host_view;

/**
 * Set an array in place of a file (airy_parameter.array). It is not copied and not written; it must
 * stay as it is until the job is destroyed, the parameter is reset, or `release` is called.
 * Errors: AIRY_ERR_DTYPE (the parameter takes no array), AIRY_ERR_SHAPE (a length that is 0, more
 *         than four axes), AIRY_ERR_UNSUPPORTED (not in C order, not aligned to its elements), else as
 *         airy_job_set.
 */
AIRY_API airy_status airy_job_set_array(airy_job *job, const char *name,
                                        const airy_host_view *view);
/**
 * Set the parameters that a result was made with, from its configuration (airy_result_get_text(result,
 * "configuration", ...)): those that decide its rows and values, and its geometry, but neither inputs
 * nor outputs. Values that airy_job_set and the like have set stay; each given value of the geometry
 * counts more than all of the result's geometry.
 * Errors: AIRY_ERR_FORMAT (not a configuration, one of another job, or with a parameter that no result
 *         stores), else as airy_job_set_json; then no value is set.
 */
AIRY_API airy_status airy_job_set_configuration(airy_job *job, const char *configuration);
/** Reset to the default value of a parameter; of `poni` also from the geometry of a result
 * (airy_job_set_configuration). AIRY_ERR_NOT_FOUND. */
AIRY_API airy_status airy_job_reset(airy_job *job, const char *name);

/** Where a value comes from. */
typedef enum airy_job_origin {
    AIRY_ORIGIN_DEFAULT = 0, /**< nobody has set it */
    AIRY_ORIGIN_GIVEN,       /**< airy_job_set and the like */
    AIRY_ORIGIN_JSON,        /**< airy_job_set_json */
    AIRY_ORIGIN_COMPUTED,    /**< nobody has set it, and airy_job_resolve has found it */
    AIRY_ORIGIN_COUNT
} airy_job_origin;

/** Return where the value of a parameter comes from. AIRY_ERR_NOT_FOUND. */
AIRY_API airy_status airy_job_get_origin(const airy_job *job, const char *name,
                                         airy_job_origin *origin);
/**
 * Write the value of a parameter as text, as airy_job_set takes it: of a list the values with line
 * feeds between. *text is NULL where it has none, or is an array; release it with
 * airy_job_text_free.
 */
AIRY_API airy_status airy_job_get(const airy_job *job, const char *name, char **text);
/** Write all parameters that were set as a JSON object, as airy_job_set_json takes it. An array is
 * null there, which airy_job_set_json passes over. */
AIRY_API airy_status airy_job_get_json(const airy_job *job, char **json);
AIRY_API void airy_job_text_free(char *text);

/**
 * Look at the values together, without opening a file.
 * Errors: AIRY_ERR_PARAM (a parameter that is missing, or does not go with another one; the job
 *         runs), AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_job_check(airy_job *job);

/**
 * Check, open the inputs, and find the values that depend on them: airy_job_get gives these from
 * then on, and airy_job_get_plan what the run would do. Nothing is written. The next run goes on
 * from here. Setting a parameter closes the inputs again. A job that has no such stage is checked.
 * Errors: those of airy_job_check, of the files and of the devices.
 */
AIRY_API airy_status airy_job_resolve(airy_job *job);
/** Write what the run would do as a JSON object: sizes, device, memory, batches, as far as the job
 * knows them. "{}" before airy_job_resolve. */
AIRY_API airy_status airy_job_get_plan(const airy_job *job, char **json);

/**
 * Resolve, and do the job. Results of an earlier run are released first; a run that fails has none,
 * but that of the job stream, whose results count what was sent.
 *
 * Errors: AIRY_ERR_CANCELLED (by airy_job_cancel or the progress hook; nothing is left), those of
 *         airy_job_check, of the files and of the operations; also AIRY_PARTLY, which is no
 *         failure: the results are there, and frames were left out.
 */
AIRY_API airy_status airy_job_run(airy_job *job);
/** Cancel the run, or the next one where none runs. Any thread, also a signal handler. */
AIRY_API void airy_job_cancel(airy_job *job);
/**
 * Start the run on a thread of the job, and return. Then fetch its events, and finish it:
 *
 *     const airy_job_event *event = NULL;
 *     if (airy_job_start(job) == AIRY_OK) {
 *         while (airy_job_next(job, &event, INFINITY) == AIRY_OK && event)
 *             if (event->kind == AIRY_JOB_EVENT_ROW)
 *                 ... event->intensity is [event->radial_bins] of event->frame
 *         status = airy_job_finish(job);
 *     }
 *
 * Events and messages wait in a queue with room for 64 of them, or for 64 MiB. Where it is full, a run
 * over files waits, so that its memory does not grow. A stream cannot wait: its oldest row is dropped,
 * and the text of the next event that is fetched begins with the number of those that were dropped.
 *
 * Between airy_job_start and airy_job_finish call nothing but airy_job_next, airy_job_cancel,
 * airy_job_progress and airy_job_destroy; when airy_job_next has given NULL, also the functions that
 * get results and values. Destroying the job cancels the run and waits for its end.
 *
 * Errors: those of airy_job_check; AIRY_ERR_PARAM (it runs, or was started and not finished),
 *         AIRY_ERR_MEMORY. What the run finds wrong is an error of airy_job_finish.
 */
AIRY_API airy_status airy_job_start(airy_job *job);
/**
 * Wait for the next event of a run that was started. Hooks are called by this function and by
 * airy_job_finish, on the thread of their caller: `message` and `progress` with what has come, `event`
 * with each event that is fetched. The functions of `ranks` are called on the thread of the job.
 *
 * @param event    out; NULL when the run has ended. It is valid until the next call.
 * @param timeout  seconds; 0: do not wait; infinite: without end
 * Errors: AIRY_ERR_TIMED_OUT; AIRY_ERR_PARAM (the job was not started; a hook calls this function);
 *         AIRY_ERR_CANCELLED (a hook, or another thread, has destroyed the job). The events of a run
 *         that has failed end here as well, and airy_job_finish returns the reason.
 */
AIRY_API airy_status airy_job_next(airy_job *job, const airy_job_event **event, double timeout);
/** Wait for the end of a run that was started, and return what airy_job_run would return. Events that
 * nobody has fetched go to the hook `event`, if there is one. Cancel the run before to end it early.
 * Errors: those of airy_job_run; AIRY_ERR_PARAM (the job was not started; a hook calls this
 *         function). */
AIRY_API airy_status airy_job_finish(airy_job *job);
/** Get how far the run is, in steps of the job. Any thread. */
AIRY_API void airy_job_progress(const airy_job *job, size_t *done, size_t *total);
/** Keep this result in memory, although a file is named for it. AIRY_ERR_NOT_FOUND; during a run
 * AIRY_ERR_PARAM. */
AIRY_API airy_status airy_job_want(airy_job *job, const char *result);

/**
 * Get an array of the last run. Results belong to the job, and stay until the next run or the job's
 * end. AIRY_ERR_NOT_FOUND: the job has no such result, or the run has not made it.
 */
AIRY_API airy_status airy_job_get_array(const airy_job *job, const char *result,
                                        airy_host_view *view);
/** Get a number, or JSON that is one. */
AIRY_API airy_status airy_job_get_number(const airy_job *job, const char *result, double *value);
AIRY_API airy_status airy_job_get_numbers(const airy_job *job, const char *result,
                                          const double **values, size_t *count);
/** Get a text, or the text of JSON. */
AIRY_API airy_status airy_job_get_text(const airy_job *job, const char *result, const char **text);
AIRY_API airy_status airy_job_get_table(const airy_job *job, const char *result,
                                        const airy_table **table);
/** Write all results but arrays and tables as a JSON object, in the order of the description. */
AIRY_API airy_status airy_job_results_json(const airy_job *job, char **json);
/** Return a sentence about the result, for people; "" before a run. It belongs to the job. */
AIRY_API const char *airy_job_summary(const airy_job *job);
/** Return the device that the run has used, which belongs to the context; NULL: none. */
AIRY_API const airy_device *airy_job_device(const airy_job *job);
/** Return one of the devices that the run has used, from 0; NULL behind the last one. */
AIRY_API const airy_device *airy_job_device_at(const airy_job *job, size_t index);
/** Return the seconds that the last run took, without reading inputs and writing outputs where the
 * job separates them. */
AIRY_API double airy_job_seconds(const airy_job *job);

#ifdef __cplusplus
}
#endif
#endif
