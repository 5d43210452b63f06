/*
 * Runs of jobs. The interpreter is released while the library works, and taken again for hooks, for
 * events, and every 50 ms to look for signals: on the main thread Ctrl-C cancels the run.
 */
#include "job.h"

static const double look_seconds = 0.05;

/* An exception of Python ends the run, and is raised again when it has ended; the first one counts. */
static void keep_exception(job_object *self)
{
    PyObject *later[3];
    PyObject **at = self->raised[0] ? later : self->raised;
    PyErr_Fetch(&at[0], &at[1], &at[2]);
    if (at == later) {
        Py_XDECREF(later[0]);
        Py_XDECREF(later[1]);
        Py_XDECREF(later[2]);
    }
    airy_job_cancel(self->job);
}

static PyObject *raise_kept(job_object *self)
{
    PyErr_Restore(self->raised[0], self->raised[1], self->raised[2]);
    self->raised[0] = self->raised[1] = self->raised[2] = NULL;
    return NULL;
}

bool ext_job_on_progress(void *user, size_t done, size_t total)
{
    job_object *self = user;
    if (!self->progress || !self->thread)
        return true;
    PyEval_RestoreThread(self->thread);
    if (!self->raised[0]) {
        PyObject *answer =
            PyObject_CallFunction(self->progress, "nn", (Py_ssize_t)done, (Py_ssize_t)total);
        if (answer == Py_False)
            airy_job_cancel(self->job);
        if (!answer)
            keep_exception(self);
        Py_XDECREF(answer);
    }
    self->thread = PyEval_SaveThread();
    return true;
}

void ext_job_on_message(void *user, airy_log_level level, const char *text)
{
    job_object *self = user;
    if (!self->message || !self->thread)
        return;
    PyEval_RestoreThread(self->thread);
    if (!self->raised[0]) {
        PyObject *answer = PyObject_CallFunction(self->message, "iN", (int)level, ext_text(text));
        if (!answer)
            keep_exception(self);
        Py_XDECREF(answer);
    }
    self->thread = PyEval_SaveThread();
}

PyObject *ext_job_start(PyObject *object, PyObject *unused)
{
    job_object *self = (job_object *)object;
    airy_status status;
    (void)unused;
    if (!ext_job_enter(self))
        return NULL;
    self->thread = PyEval_SaveThread();
    status = airy_job_start(self->job);
    PyEval_RestoreThread(self->thread);
    self->thread = NULL;
    self->started = status == AIRY_OK;
    ext_job_leave(self);
    if (status != AIRY_OK)
        return ext_job_raise(self, status);
    Py_RETURN_NONE;
}

static airy_status look(job_object *self, const airy_job_event **event, double seconds)
{
    airy_status status;
    self->thread = PyEval_SaveThread();
    status = airy_job_next(self->job, event, seconds);
    PyEval_RestoreThread(self->thread);
    self->thread = NULL;
    if (PyErr_CheckSignals() < 0)
        keep_exception(self);
    return status;
}

static airy_status finish(job_object *self)
{
    self->thread = PyEval_SaveThread();
    self->status = airy_job_finish(self->job);
    PyEval_RestoreThread(self->thread);
    self->thread = NULL;
    self->finished = true;
    return self->status;
}

/* End the run, and raise what ended it, or return the status as a number. */
static PyObject *end(job_object *self)
{
    const airy_status status = finish(self);
    PyObject *answer = NULL;
    if (self->raised[0])
        answer = raise_kept(self);
    else if (status < AIRY_OK)
        answer = ext_job_raise(self, status);
    else
        answer = PyLong_FromLong((long)status);
    if (!answer) {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        ext_job_release_arrays(self);
        PyErr_Restore(type, value, traceback);
        return NULL;
    }
    ext_job_release_arrays(self);
    return answer;
}

static PyObject *check_runs(job_object *self)
{
    PyErr_SetString(PyExc_RuntimeError,
                    self->finished ? "the run has ended" : "the job was not started");
    return NULL;
}

PyObject *ext_job_finish(PyObject *object, PyObject *unused)
{
    job_object *self = (job_object *)object;
    (void)unused;
    if (!ext_job_enter(self))
        return NULL;
    PyObject *answer = self->started && !self->finished ? end(self) : check_runs(self);
    ext_job_leave(self);
    return answer;
}

/* Run to the end; events that nobody takes are not made. */
PyObject *ext_job_run(PyObject *object, PyObject *unused)
{
    job_object *self = (job_object *)object;
    const airy_job_event *event = NULL;
    airy_status status;
    PyObject *started = ext_job_start(object, unused);
    if (!started)
        return NULL;
    Py_DECREF(started);
    if (!ext_job_enter(self))
        return NULL;
    do
        status = look(self, &event, look_seconds);
    while (status == AIRY_ERR_TIMED_OUT || (status == AIRY_OK && event));
    PyObject *answer = end(self);
    ext_job_leave(self);
    return answer;
}

static PyObject *make_event(const airy_job_event *e)
{
    const size_t bins = e->radial_bins * (e->azimuth_bins ? e->azimuth_bins : 1);
    return Py_BuildValue(
        "(iiKnnnNNnnNNNNN)", (int)e->kind, (int)e->status, (unsigned long long)e->series,
        (Py_ssize_t)e->row, (Py_ssize_t)e->frame, (Py_ssize_t)e->frames, ext_text(e->unit),
        ext_bytes_copy(e->radial, e->radial_bins * sizeof(double)), (Py_ssize_t)e->radial_bins,
        (Py_ssize_t)e->azimuth_bins, ext_bytes_copy(e->intensity, bins * sizeof(float)),
        ext_bytes_copy(e->std, bins * sizeof(float)), ext_bytes_copy(e->sem, bins * sizeof(float)),
        ext_text(e->text), e->json ? ext_text(e->json) : Py_NewRef(Py_None));
}

/* The next event as a tuple; None: the run has ended, and finish() says how. */
PyObject *ext_job_next(PyObject *object, PyObject *unused)
{
    job_object *self = (job_object *)object;
    const airy_job_event *event = NULL;
    airy_status status;
    PyObject *answer = NULL;
    (void)unused;
    if (!ext_job_enter(self))
        return NULL;
    if (!self->started || self->finished) {
        ext_job_leave(self);
        return check_runs(self);
    }
    do
        status = look(self, &event, look_seconds);
    while (status == AIRY_ERR_TIMED_OUT && !self->raised[0]);
    if (self->raised[0])
        answer = end(self);
    else if (status != AIRY_OK)
        answer = ext_job_raise(self, status);
    else
        answer = event ? make_event(event) : Py_NewRef(Py_None);
    ext_job_leave(self);
    return answer;
}
