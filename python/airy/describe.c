/* Descriptions of jobs, and devices, as lists and dicts. */
#include <math.h>
#include <stdlib.h>

#include "module.h"

static const char *const types[AIRY_PARAMETER_TYPE_COUNT] = {
    "flag",  "whole", "seed",  "bytes", "real",  "text",  "word",
    "dtype", "path",  "tuple", "range", "shape", "record"};
static const char *const roles[AIRY_ROLE_COUNT] = {"value", "input", "read", "written"};
static const char *const kinds[AIRY_JOB_RESULT_KIND_COUNT] = {"array", "number", "numbers",
                                                              "text",  "table",  "json"};

static PyObject *words_of(const char *const *words)
{
    PyObject *list = words ? PyList_New(0) : Py_NewRef(Py_None);
    for (size_t i = 0; words && list && words[i]; i++) {
        PyObject *word = ext_text(words[i]);
        if (!word || PyList_Append(list, word))
            Py_CLEAR(list);
        Py_XDECREF(word);
    }
    return list;
}

static PyObject *describe_parameter(const airy_parameter *p)
{
    return Py_BuildValue(
        "{s:s,s:s,s:s,s:N,s:N,s:N,s:N,s:d,s:d,s:N,s:n,s:n,s:z,s:z,s:z,s:z,s:z,s:z,s:N,s:z}", "name",
        p->name, "type", types[p->type], "role", roles[p->role], "list", PyBool_FromLong(p->list),
        "array", PyBool_FromLong(p->array), "computed", PyBool_FromLong(p->computed), "open",
        PyBool_FromLong(p->open), "lo", p->lo, "hi", p->hi, "words", words_of(p->words), "least",
        (Py_ssize_t)p->least, "most", (Py_ssize_t)p->most, "unit", p->unit, "argument", p->argument,
        "fallback", p->fallback, "help", p->help, "section", p->section, "with",
        p->only_with.parameter, "with_words", words_of(p->only_with.words), "alias", p->alias);
}

static PyObject *describe_result(const airy_job_result *r)
{
    return Py_BuildValue("{s:s,s:s,s:z,s:z}", "name", r->name, "kind", kinds[r->kind], "parameter",
                         r->parameter, "help", r->help);
}

static int append(PyObject *list, PyObject *item)
{
    const int failed = item ? PyList_Append(list, item) : -1;
    Py_XDECREF(item);
    return failed;
}

static PyObject *describe_job(const airy_job_info *info)
{
    PyObject *parameters = PyList_New(0), *results = PyList_New(0);
    int failed = !parameters || !results;
    for (size_t i = 0; !failed && i < info->parameters; i++)
        failed = append(parameters, describe_parameter(airy_job_parameter_at(info->name, i)));
    for (size_t i = 0; !failed && i < info->results; i++)
        failed = append(results, describe_result(airy_job_result_at(info->name, i)));
    if (failed) {
        Py_XDECREF(parameters);
        Py_XDECREF(results);
        return NULL;
    }
    return Py_BuildValue("{s:s,s:s,s:z,s:N,s:N}", "name", info->name, "summary", info->summary,
                         "details", info->details, "parameters", parameters, "results", results);
}

PyObject *ext_describe_jobs(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    (void)module;
    (void)unused;
    for (size_t i = 0; list && i < airy_job_count(); i++) {
        airy_job_info info = {0};
        if (airy_job_at(&info, i) != AIRY_OK || append(list, describe_job(&info)))
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *describe_device(const airy_device_info *d)
{
    return Py_BuildValue(
        "{s:N,s:N,s:N,s:N,s:N,s:K,s:K,s:K,s:I,s:N,s:N,s:N,s:N}", "spec", ext_text(d->spec), "name",
        ext_text(d->name), "backend", ext_text(d->backend), "driver", ext_text(d->driver), "why",
        ext_text(d->why), "memory", (unsigned long long)d->memory, "free",
        (unsigned long long)d->memory_free, "max_alloc", (unsigned long long)d->max_alloc, "units",
        (unsigned int)d->units, "fp64", PyBool_FromLong(d->fp64), "gpu", PyBool_FromLong(d->gpu),
        "usable", PyBool_FromLong(d->usable), "is_default", PyBool_FromLong(d->is_default));
}

PyObject *ext_describe_devices(PyObject *module, PyObject *unused)
{
    airy_device_info *devices = NULL;
    size_t count = 0;
    airy_status status;
    (void)unused;
    Py_BEGIN_ALLOW_THREADS status = airy_device_list(&devices, &count);
    Py_END_ALLOW_THREADS if (status != AIRY_OK) return ext_raise(ext_module_state(module), status,
                                                                 NULL);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < count; i++)
        if (append(list, describe_device(&devices[i])))
            Py_CLEAR(list);
    airy_device_list_free(devices);
    return list;
}

const char **ext_hint_names(const char *job)
{
    static const char *const functions[] = {"convert()", "devices()", "integrate()"};
    enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };
    size_t count = 0;
    while (airy_job_parameter_at(job, count))
        count++;
    const char **names = calloc(count + FUNCTIONS + 1, sizeof(*names));
    for (size_t i = 0; names && i < count; i++)
        names[i] = airy_job_parameter_at(job, i)->name;
    for (size_t i = 0; names && i < FUNCTIONS; i++)
        names[count + i] = functions[i];
    return names;
}
