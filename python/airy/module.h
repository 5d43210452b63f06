/*
 * The extension module airy._airy: the public C API as Python objects, without NumPy.
 *
 * What a user sees is Python (__init__.py and beside it). Here are jobs with their buffers, results
 * as memory, files of results, devices, and the descriptions that the functions are made of.
 * It is built for the limited API of Python 3.11, so that one file serves all later versions.
 */
#ifndef AIRY_PYTHON_MODULE_H
#define AIRY_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "airy/airy.h"

typedef struct {
    PyObject
        *make_error; /* (status, code, text, subject, name, hint) -> exception; NULL: not set */
    PyObject *job_type, *memory_type, *file_type;
    airy_context *context; /* of this process: another one after a fork */
} module_state;

module_state *ext_module_state(PyObject *module);
/* Of an object of one of the types. */
module_state *ext_state_of(PyObject *self);

/* ---- error.c ---- */

/* Raise the last failure of this thread. names: those that a hint may refer to, as
 * airy_hint_keyword takes them; NULL: all. Return NULL. */
PyObject *ext_raise(const module_state *state, airy_status status, const char *const *names);
/* Raise a failure that the library does not know, with a parameter as the subject. Return NULL. */
PyObject *ext_raise_parameter(const module_state *state, airy_status status, const char *name,
                              const char *hint, const char *format, ...);
/* Text of the library: UTF-8, or the bytes of a file's name. NULL is "". */
PyObject *ext_text(const char *text);

/* ---- buffer.c ---- */

/* An array that a job reads: it is held until ext_held_release. */
struct ext_held {
    Py_buffer view;
    void *copy;    /* NULL: the memory is that of the view */
    char name[64]; /* of the parameter */
    struct ext_held *next;
};

/* Describe an object with the buffer protocol as an array in C order, which is copied only if it is
 * not. name: of the parameter, for what is raised. NULL: an exception was raised. */
struct ext_held *ext_hold(const module_state *state, const char *name, PyObject *object,
                          airy_host_view *view);
void ext_held_release(struct ext_held *held);

/* ---- memory.c ---- */

/* An object with the buffer protocol over memory of `owner`, which it keeps alive; writable. */
PyObject *ext_memory_new(const module_state *state, PyObject *owner, const airy_host_view *view);
/* Columns of a table: a list of (name, unit, description, null, memory). */
PyObject *ext_table_columns(const module_state *state, PyObject *owner, const airy_table *table);
/* A bytearray with a copy. bytes of NULL: None. */
PyObject *ext_bytes_copy(const void *data, size_t bytes);

/* ---- describe.c ---- */

PyObject *ext_describe_jobs(PyObject *module, PyObject *unused);
PyObject *ext_describe_devices(PyObject *module, PyObject *unused);
/* The names of a job's parameters, and of functions that the package has: malloc'ed, NULL behind the
 * last one. NULL: out of memory. */
const char **ext_hint_names(const char *job);

/* ---- log.c ---- */

/* Collect messages of the library that belong to no job, instead of having them printed. */
void ext_log_collect(void);
void ext_log_stop(void);
void ext_log_after_fork(void);
/* A list of (level, text) of those that were collected since the last call. */
PyObject *ext_log_take(PyObject *module, PyObject *unused);
PyObject *ext_log_level_set(PyObject *module, PyObject *level);

extern PyType_Spec ext_job_spec, ext_memory_spec, ext_file_spec;

#endif
