/* Results in files, read in parts (airy/result.h). */
#include <stdlib.h>
#include <unistd.h>

#include "module.h"

typedef struct {
    PyObject_HEAD airy_result *result;
    bool busy;
    pid_t process; /* a child leaves the parent's alone */
} file_object;

static PyObject *raise_failure(file_object *self, airy_status status)
{
    return ext_raise(ext_state_of((PyObject *)self), status, NULL);
}

static bool enter(file_object *self)
{
    if (self->busy)
        PyErr_SetString(PyExc_RuntimeError, "the result is in use by another thread");
    else if (!self->result)
        PyErr_SetString(PyExc_ValueError, "the result is closed");
    else
        return self->busy = true;
    return false;
}

static PyObject *new_file(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"path", NULL};
    PyObject *path = NULL;
    airy_status status;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&", keywords, PyUnicode_FSConverter, &path))
        return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    file_object *self = (file_object *)allocate(type, 0);
    if (self) {
        const char *name = PyBytes_AsString(path);
        self->process = getpid();
        Py_BEGIN_ALLOW_THREADS status = airy_result_open(&self->result, name);
        Py_END_ALLOW_THREADS if (status != AIRY_OK)
        {
            raise_failure(self, status);
            Py_CLEAR(self);
        }
    }
    Py_DECREF(path);
    return (PyObject *)self;
}

static PyObject *make_axis(const airy_result_axis *a)
{
    return Py_BuildValue("{s:N,s:N,s:N,s:N,s:N}", "name", ext_text(a->name), "label",
                         ext_text(a->label), "units", ext_text(a->units), "unit",
                         ext_text(a->unit_name), "values",
                         ext_bytes_copy(a->values, a->count * sizeof(double)));
}

static PyObject *make_plane(const airy_result_plane *p)
{
    PyObject *shape = PyList_New(0);
    for (int i = 0; shape && i < p->ndim; i++) {
        PyObject *length = PyLong_FromSize_t(p->shape[i]);
        if (!length || PyList_Append(shape, length))
            Py_CLEAR(shape);
        Py_XDECREF(length);
    }
    return Py_BuildValue("{s:N,s:N,s:N,s:N,s:s,s:n,s:N,s:N,s:n,s:N,s:n}", "name", ext_text(p->name),
                         "path", ext_text(p->path), "label", ext_text(p->label), "units",
                         ext_text(p->units), "dtype", airy_dtype_name(p->dtype), "text",
                         (Py_ssize_t)p->text, "complex", PyBool_FromLong(p->is_complex), "has_rows",
                         PyBool_FromLong(p->has_rows), "rows", (Py_ssize_t)p->rows, "shape", shape,
                         "cells", (Py_ssize_t)p->cells);
}

static int append(PyObject *list, PyObject *item)
{
    const int failed = item ? PyList_Append(list, item) : -1;
    Py_XDECREF(item);
    return failed;
}

static PyObject *make_info(file_object *self, const airy_result_info *info)
{
    PyObject *axes = PyList_New(0), *planes = PyList_New(0);
    airy_result_axis axis;
    airy_result_plane plane;
    int failed = !axes || !planes;
    for (size_t i = 0; !failed && i < info->axes; i++)
        failed = airy_result_get_axis(self->result, i, &axis) || append(axes, make_axis(&axis));
    for (size_t i = 0; !failed && i < info->planes; i++)
        failed = airy_result_get_plane(self->result, i, &plane) ||
                 append(planes, make_plane(&plane));
    if (failed) {
        Py_XDECREF(axes);
        Py_XDECREF(planes);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    return Py_BuildValue(
        "{s:s,s:N,s:N,s:n,s:n,s:n,s:N,s:N,s:N,s:N,s:N}", "kind", airy_result_kind_name(info->kind),
        "path", ext_text(info->path), "signal", ext_text(info->signal), "rows",
        (Py_ssize_t)info->rows, "good", (Py_ssize_t)info->good, "bad", (Py_ssize_t)info->bad,
        "grows", PyBool_FromLong(info->grows), "written", PyBool_FromLong(info->written),
        "complete", PyBool_FromLong(info->complete), "axes", axes, "planes", planes);
}

static PyObject *info_of(PyObject *object, PyObject *unused)
{
    file_object *self = (file_object *)object;
    airy_result_info info;
    (void)unused;
    if (!enter(self))
        return NULL;
    const airy_status status = airy_result_get_info(self->result, &info);
    PyObject *answer = status == AIRY_OK ? make_info(self, &info) : raise_failure(self, status);
    self->busy = false;
    return answer;
}

static PyObject *refresh(PyObject *object, PyObject *unused)
{
    file_object *self = (file_object *)object;
    airy_status status;
    (void)unused;
    if (!enter(self))
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = airy_result_refresh(self->result);
    Py_END_ALLOW_THREADS self->busy = false;
    if (status != AIRY_OK)
        return raise_failure(self, status);
    Py_RETURN_NONE;
}

/* read(plane, first, count, dtype, array): fill a writable array in C order. */
static PyObject *read_rows(PyObject *object, PyObject *args)
{
    file_object *self = (file_object *)object;
    const char *plane, *name;
    Py_ssize_t first, count;
    Py_buffer out;
    airy_dtype dtype;
    airy_status status;
    if (!PyArg_ParseTuple(args, "snnsw*", &plane, &first, &count, &name, &out))
        return NULL;
    if (!enter(self)) {
        PyBuffer_Release(&out);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS status = airy_dtype_parse(&dtype, name);
    if (status == AIRY_OK)
        status = airy_result_read(self->result, plane, (size_t)first, (size_t)count, dtype, out.buf,
                                  (size_t)out.len);
    Py_END_ALLOW_THREADS self->busy = false;
    PyBuffer_Release(&out);
    if (status != AIRY_OK)
        return raise_failure(self, status);
    Py_RETURN_NONE;
}

/* The states of all rows: -1 pending, 0 good, 1 bad. */
static PyObject *row_states(PyObject *object, PyObject *unused)
{
    file_object *self = (file_object *)object;
    airy_result_info info = {0};
    (void)unused;
    if (!enter(self))
        return NULL;
    const airy_status status = airy_result_get_info(self->result, &info);
    PyObject *bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)info.rows);
    signed char *states = bytes ? (signed char *)PyByteArray_AsString(bytes) : NULL;
    for (size_t i = 0; states && i < info.rows; i++)
        states[i] = (signed char)airy_result_get_row(self->result, i);
    self->busy = false;
    if (status != AIRY_OK) {
        Py_XDECREF(bytes);
        return raise_failure(self, status);
    }
    return bytes;
}

static PyObject *message_of(PyObject *object, PyObject *row)
{
    file_object *self = (file_object *)object;
    char text[AIRY_ERROR_TEXT];
    const size_t at = PyLong_AsSize_t(row);
    if (PyErr_Occurred() || !enter(self))
        return NULL;
    const airy_status status = airy_result_get_message(self->result, at, text, sizeof(text));
    self->busy = false;
    return status == AIRY_OK ? ext_text(text) : raise_failure(self, status);
}

/* None where the result has no such text. */
static PyObject *text_of(PyObject *object, PyObject *name)
{
    file_object *self = (file_object *)object;
    const char *wanted = PyUnicode_AsUTF8AndSize(name, NULL);
    char *text = NULL;
    if (!wanted || !enter(self))
        return NULL;
    const airy_status status = airy_result_get_text(self->result, wanted, &text);
    self->busy = false;
    if (status == AIRY_ERR_NOT_FOUND)
        Py_RETURN_NONE;
    if (status != AIRY_OK)
        return raise_failure(self, status);
    PyObject *answer = ext_text(text);
    free(text);
    return answer;
}

static PyObject *close_file(PyObject *object, PyObject *unused)
{
    file_object *self = (file_object *)object;
    (void)unused;
    if (self->busy) {
        PyErr_SetString(PyExc_RuntimeError, "the result is in use by another thread");
        return NULL;
    }
    if (self->process == getpid())
        airy_result_close(&self->result);
    self->result = NULL;
    Py_RETURN_NONE;
}

static int traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    return 0;
}

static void deallocate(PyObject *object)
{
    file_object *self = (file_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (self->process == getpid())
        airy_result_close(&self->result);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"info", info_of, METH_NOARGS, "What the result has."},
    {"refresh", refresh, METH_NOARGS, "Look at newer rows."},
    {"read", read_rows, METH_VARARGS, "Read rows of a plane into an array."},
    {"rows", row_states, METH_NOARGS, "The state of each row."},
    {"message", message_of, METH_O, "Why a row is bad."},
    {"text", text_of, METH_O, "A text of the result, or None."},
    {"close", close_file, METH_NOARGS, "Close the file."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_new, new_file},    {Py_tp_dealloc, deallocate},        {Py_tp_traverse, traverse},
    {Py_tp_methods, methods}, {Py_tp_doc, "A result in a file."}, {0, NULL}};

PyType_Spec ext_file_spec = {.name = "airy._airy.File",
                             .basicsize = sizeof(file_object),
                             .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                      Py_TPFLAGS_IMMUTABLETYPE,
                             .slots = slots};
