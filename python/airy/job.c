#include "job.h"

#include <stdlib.h>
#include <unistd.h>

PyObject *ext_job_raise(job_object *self, airy_status status)
{
    airy_error error;
    airy_error_get(&error);
    const char **names = ext_hint_names(self->name);
    (void)airy_error_restore(&error); /* a look at a description may be one, too */
    ext_raise(ext_state_of((PyObject *)self), status, names);
    free(names);
    return NULL;
}

bool ext_job_enter(job_object *self)
{
    if (self->busy)
        PyErr_SetString(PyExc_RuntimeError,
                        "the job is in use by another thread, or by its own callback");
    else if (self->process != getpid())
        PyErr_SetString(PyExc_RuntimeError,
                        "the job belongs to the parent process; make one in this process");
    else
        return self->busy = true;
    return false;
}

void ext_job_leave(job_object *self)
{
    self->busy = false;
}

void ext_job_release_arrays(job_object *self)
{
    struct ext_held *held = self->held;
    for (const struct ext_held *one = held; one && self->job; one = one->next)
        (void)airy_job_reset(self->job, one->name);
    self->held = NULL;
    ext_held_release(held);
}

static const airy_job_hooks *choose_hooks(airy_job_hooks *hooks, job_object *self, int events)
{
    *hooks = (airy_job_hooks){.progress = self->progress ? ext_job_on_progress : NULL,
                              .message = ext_job_on_message,
                              .events = events ? 0 : 1u << AIRY_JOB_EVENT_SERIES_ENDS,
                              .user = self};
    return hooks;
}

static bool create(job_object *self, const char *name, int events)
{
    airy_job_hooks hooks;
    module_state *state = ext_state_of((PyObject *)self);
    const airy_status status =
        airy_job_create(&self->job, name, state->context, choose_hooks(&hooks, self, events));
    if (status != AIRY_OK)
        ext_raise(state, status, NULL);
    PyOS_snprintf(self->name, sizeof(self->name), "%s", name);
    return status == AIRY_OK;
}

static PyObject *new_job(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"name", "progress", "message", "events", NULL};
    const char *name;
    PyObject *progress = Py_None, *message = Py_None;
    int events = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|OOp", keywords, &name, &progress, &message,
                                     &events))
        return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    job_object *self = (job_object *)allocate(type, 0);
    if (!self)
        return NULL;
    self->process = getpid();
    self->progress = progress == Py_None ? NULL : Py_NewRef(progress);
    self->message = message == Py_None ? NULL : Py_NewRef(message);
    if (!create(self, name, events)) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static bool set_array(job_object *self, const char *name, PyObject *value, airy_status *status)
{
    airy_host_view view;
    struct ext_held *held = ext_hold(ext_state_of((PyObject *)self), name, value, &view);
    if (!held)
        return false;
    *status = airy_job_set_array(self->job, name, &view);
    if (*status != AIRY_OK) {
        ext_held_release(held);
        return true;
    }
    PyOS_snprintf(held->name, sizeof(held->name), "%s", name);
    held->next = self->held;
    self->held = held;
    return true;
}

static bool set_numbers(job_object *self, const char *name, PyObject *value, airy_status *status)
{
    enum { MOST = 64 };
    double numbers[MOST];
    const Py_ssize_t count = PyTuple_Size(value);
    if (count > MOST) {
        PyErr_Format(PyExc_ValueError, "%s: %zd numbers, expected at most %d", name, count, MOST);
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        numbers[i] = PyFloat_AsDouble(PyTuple_GetItem(value, i));
    if (PyErr_Occurred())
        return false;
    *status = airy_job_set_numbers(self->job, name, numbers, (size_t)count);
    return true;
}

static bool set_text(job_object *self, const char *name, PyObject *value, airy_status *status)
{
    PyObject *bytes = PyUnicode_EncodeFSDefault(value);
    char *text;
    if (!bytes || PyBytes_AsStringAndSize(bytes, &text, NULL)) {
        Py_XDECREF(bytes);
        return false;
    }
    *status = airy_job_set(self->job, name, text);
    Py_DECREF(bytes);
    return true;
}

static bool set_value(job_object *self, const char *name, PyObject *value, airy_status *status)
{
    if (PyBool_Check(value))
        *status = airy_job_set_flag(self->job, name, value == Py_True);
    else if (PyFloat_Check(value))
        *status = airy_job_set_number(self->job, name, PyFloat_AsDouble(value));
    else if (PyUnicode_Check(value))
        return set_text(self, name, value, status);
    else if (PyTuple_Check(value))
        return set_numbers(self, name, value, status);
    else
        return set_array(self, name, value, status);
    return true;
}

/* set(name, value): a bool, a float, a text, a tuple of numbers, or an array. */
static PyObject *set(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    job_object *self = (job_object *)object;
    airy_status status = AIRY_OK;
    const char *name = count == 2 ? PyUnicode_AsUTF8AndSize(args[0], NULL) : NULL;
    if (!name) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "set() takes a name and a value");
        return NULL;
    }
    if (!ext_job_enter(self))
        return NULL;
    const bool is_set = set_value(self, name, args[1], &status);
    ext_job_leave(self);
    if (!is_set)
        return NULL;
    if (status != AIRY_OK)
        return ext_job_raise(self, status);
    Py_RETURN_NONE;
}

static PyObject *want(PyObject *object, PyObject *name)
{
    job_object *self = (job_object *)object;
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!text || !ext_job_enter(self))
        return NULL;
    const airy_status status = airy_job_want(self->job, text);
    ext_job_leave(self);
    if (status != AIRY_OK)
        return ext_job_raise(self, status);
    Py_RETURN_NONE;
}

/* Any thread, at any time. */
static PyObject *cancel(PyObject *object, PyObject *unused)
{
    (void)unused;
    airy_job_cancel(((job_object *)object)->job);
    Py_RETURN_NONE;
}

static PyObject *array_of(PyObject *object, PyObject *name)
{
    job_object *self = (job_object *)object;
    airy_host_view view = {0};
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!text)
        return NULL;
    if (!self->finished || airy_job_get_array(self->job, text, &view) != AIRY_OK)
        Py_RETURN_NONE;
    return ext_memory_new(ext_state_of(object), object, &view);
}

static PyObject *table_of(PyObject *object, PyObject *name)
{
    job_object *self = (job_object *)object;
    const airy_table *table = NULL;
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!text)
        return NULL;
    if (!self->finished || airy_job_get_table(self->job, text, &table) != AIRY_OK)
        Py_RETURN_NONE;
    return ext_table_columns(ext_state_of(object), object, table);
}

static PyObject *text_of(PyObject *object, PyObject *name)
{
    job_object *self = (job_object *)object;
    const char *found = NULL, *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!text)
        return NULL;
    if (!self->finished || airy_job_get_text(self->job, text, &found) != AIRY_OK)
        Py_RETURN_NONE;
    return ext_text(found);
}

static PyObject *own_text(job_object *self, airy_status (*get)(const airy_job *, char **))
{
    char *json = NULL;
    if (!ext_job_enter(self))
        return NULL;
    const airy_status status = get(self->job, &json);
    ext_job_leave(self);
    if (status != AIRY_OK)
        return ext_job_raise(self, status);
    PyObject *text = ext_text(json);
    airy_job_text_free(json);
    return text;
}

static PyObject *results(PyObject *object, PyObject *unused)
{
    (void)unused;
    return own_text((job_object *)object, airy_job_results_json);
}

static PyObject *parameters(PyObject *object, PyObject *unused)
{
    (void)unused;
    return own_text((job_object *)object, airy_job_get_json);
}

static PyObject *summary(PyObject *object, PyObject *unused)
{
    (void)unused;
    return ext_text(airy_job_summary(((job_object *)object)->job));
}

static PyObject *progress_of(PyObject *object, PyObject *unused)
{
    size_t done, total;
    (void)unused;
    airy_job_progress(((job_object *)object)->job, &done, &total);
    return Py_BuildValue("nn", (Py_ssize_t)done, (Py_ssize_t)total);
}

static int traverse(PyObject *object, visitproc visit, void *arg)
{
    job_object *self = (job_object *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->progress);
    Py_VISIT(self->message);
    for (int i = 0; i < 3; i++)
        Py_VISIT(self->raised[i]);
    return 0;
}

static int clear(PyObject *object)
{
    job_object *self = (job_object *)object;
    Py_CLEAR(self->progress);
    Py_CLEAR(self->message);
    for (int i = 0; i < 3; i++)
        Py_CLEAR(self->raised[i]);
    return 0;
}

/* A run that goes on is cancelled, and waited for. The threads of a parent's are not in this process:
 * its job is left as it is. */
static void deallocate(PyObject *object)
{
    job_object *self = (job_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (self->process == getpid()) {
        Py_BEGIN_ALLOW_THREADS airy_job_destroy(&self->job);
        Py_END_ALLOW_THREADS ext_job_release_arrays(self);
    }
    (void)clear(object);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"set", (PyCFunction)(void (*)(void))set, METH_FASTCALL, "Set a parameter."},
    {"want", want, METH_O, "Keep a result in memory."},
    {"run", ext_job_run, METH_NOARGS, "Run to the end; return 0, or 1: frames were left out."},
    {"start", ext_job_start, METH_NOARGS, "Start the run."},
    {"next", ext_job_next, METH_NOARGS, "Wait for the next event; None: the run has ended."},
    {"finish", ext_job_finish, METH_NOARGS, "Wait for the end."},
    {"cancel", cancel, METH_NOARGS, "Cancel the run. Any thread."},
    {"progress", progress_of, METH_NOARGS, "Steps that are done, and all of them."},
    {"array", array_of, METH_O, "A result in memory, or None."},
    {"table", table_of, METH_O, "Columns of a result, or None."},
    {"text", text_of, METH_O, "A text of the result, or None."},
    {"results", results, METH_NOARGS, "JSON of all results but arrays and tables."},
    {"parameters", parameters, METH_NOARGS, "JSON of the parameters that were set."},
    {"summary", summary, METH_NOARGS, "A sentence about the result."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_new, new_job},
                              {Py_tp_dealloc, deallocate},
                              {Py_tp_traverse, traverse},
                              {Py_tp_clear, clear},
                              {Py_tp_methods, methods},
                              {Py_tp_doc, "A job, which runs once."},
                              {0, NULL}};

PyType_Spec ext_job_spec = {.name = "airy._airy.Job",
                            .basicsize = sizeof(job_object),
                            .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                     Py_TPFLAGS_IMMUTABLETYPE,
                            .slots = slots};
