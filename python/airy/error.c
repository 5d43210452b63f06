#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "module.h"

PyObject *ext_text(const char *text)
{
    return PyUnicode_DecodeUTF8(text ? text : "", (Py_ssize_t)strlen(text ? text : ""),
                                "surrogateescape");
}

static PyObject *raise_made(const module_state *state, airy_status status, const char *text,
                            airy_subject subject, const char *name, const char *hint)
{
    PyObject *sentence = ext_text(text), *of = ext_text(name), *what = ext_text(hint);
    PyObject *made = NULL;
    if (sentence && of && what && state->make_error)
        made = PyObject_CallFunction(state->make_error, "siOsOO", airy_status_name(status),
                                     (int)status, sentence, airy_subject_name(subject), of, what);
    else if (sentence && of && what)
        PyErr_SetObject(PyExc_RuntimeError, sentence);
    if (made)
        PyErr_SetObject((PyObject *)Py_TYPE(made), made);
    Py_XDECREF(made);
    Py_XDECREF(sentence);
    Py_XDECREF(of);
    Py_XDECREF(what);
    return NULL;
}

PyObject *ext_raise(const module_state *state, airy_status status, const char *const *names)
{
    airy_error error;
    char hint[AIRY_HINT_TEXT] = "";
    airy_error_get(&error);
    airy_hint_render(hint, sizeof(hint), error.hint, airy_hint_keyword, (void *)names);
    return raise_made(state, status, error.text, error.subject, error.name, hint);
}

PyObject *ext_raise_parameter(const module_state *state, airy_status status, const char *name,
                              const char *hint, const char *format, ...)
{
    char text[AIRY_ERROR_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return raise_made(state, status, text, AIRY_SUBJECT_PARAMETER, name, hint);
}
