/* A job as a Python object: job.c sets and reads it, run.c runs it. */
#ifndef AIRY_PYTHON_JOB_H
#define AIRY_PYTHON_JOB_H

#include <sys/types.h>

#include "module.h"

/* It runs once: results that are arrays of Python lie in its memory. */
typedef struct {
    PyObject_HEAD airy_job *job;
    PyObject *progress, *message; /* callables, or NULL */
    char name[64];                /* of the job */
    struct ext_held *held;        /* arrays that it reads */
    PyThreadState *thread;        /* of whoever is inside the library, for the hooks */
    PyObject *raised[3];          /* by a hook or a signal: type, value, traceback */
    pid_t process;                /* that has made it */
    bool busy, started, finished;
    airy_status status; /* of the run, when it is finished */
} job_object;

/* Enter a function that only one thread may be in, and leave it. false: an exception was raised. */
bool ext_job_enter(job_object *self);
void ext_job_leave(job_object *self);
PyObject *ext_job_raise(job_object *self, airy_status status);
/* The arrays are not needed any more. */
void ext_job_release_arrays(job_object *self);

/* Hooks of the job. */
bool ext_job_on_progress(void *user, size_t done, size_t total);
void ext_job_on_message(void *user, airy_log_level level, const char *text);

PyObject *ext_job_start(PyObject *object, PyObject *unused);
PyObject *ext_job_next(PyObject *object, PyObject *unused);
PyObject *ext_job_run(PyObject *object, PyObject *unused);
PyObject *ext_job_finish(PyObject *object, PyObject *unused);

#endif
