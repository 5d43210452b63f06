/* Arrays of Python that a job reads. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"

static bool is_wide(const Py_buffer *view)
{
    return view->itemsize > 1;
}

/* Name what is wrong with a format of one character, and what to do. Raises. */
static void refuse_format(const module_state *state, const char *name, char code,
                          const char *format)
{
    static const char to_float[] = "convert it with .astype(numpy.float32)";
    if (code == '?')
        ext_raise_parameter(state, AIRY_ERR_DTYPE, name, "use .view(numpy.uint8)",
                            "%s: the array is of bool, which Airy does not have", name);
    else if (code == 'e')
        ext_raise_parameter(state, AIRY_ERR_DTYPE, name, to_float,
                            "%s: the array is of float16, which Airy does not have", name);
    else if (code == 'O')
        ext_raise_parameter(state, AIRY_ERR_DTYPE, name, "make it an array of numbers",
                            "%s: the array is of Python objects, expected numbers", name);
    else if (code == 'Z')
        ext_raise_parameter(state, AIRY_ERR_DTYPE, name, "use .real, .imag or abs()",
                            "%s: the array is complex, expected real numbers", name);
    else
        ext_raise_parameter(state, AIRY_ERR_DTYPE, name, to_float,
                            "%s: the array has elements of format '%s', expected integers or "
                            "floats of at most 64 bits",
                            name, format);
}

static int dtype_of(char code, Py_ssize_t size)
{
    static const char signed_codes[] = "bhilqn", unsigned_codes[] = "BHILQN";
    static const airy_dtype integers[2][4] = {
        {AIRY_DTYPE_U8, AIRY_DTYPE_U16, AIRY_DTYPE_U32, AIRY_DTYPE_U64},
        {AIRY_DTYPE_I8, AIRY_DTYPE_I16, AIRY_DTYPE_I32, AIRY_DTYPE_I64}};
    const int power = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : -1;
    if (code == 'f' && size == 4)
        return AIRY_DTYPE_F32;
    if (code == 'd' && size == 8)
        return AIRY_DTYPE_F64;
    if (!code || power < 0)
        return -1;
    if (strchr(signed_codes, code))
        return (int)integers[1][power];
    return strchr(unsigned_codes, code) ? (int)integers[0][power] : -1;
}

static bool find_dtype(const module_state *state, const char *name, const Py_buffer *view,
                       airy_dtype *dtype)
{
    const char *format = view->format ? view->format : "B";
    const char order = strchr("<>=@!|", *format) && *format ? *format : '=';
    const char *code = format + (strchr("<>=@!|", *format) && *format);
    if ((order == '>' || order == '!') && is_wide(view)) {
        ext_raise_parameter(
            state, AIRY_ERR_DTYPE, name, "convert it with .astype(array.dtype.newbyteorder(\"=\"))",
            "%s: the array is big-endian, expected this machine's byte order", name);
        return false;
    }
    const int found = *code && !code[1] ? dtype_of(*code, view->itemsize) : -1;
    if (found < 0) {
        refuse_format(state, name, *code, format);
        return false;
    }
    *dtype = (airy_dtype)found;
    return true;
}

static bool check_axes(const module_state *state, const char *name, const Py_buffer *view)
{
    if (view->ndim >= 1 && view->ndim <= 4)
        return true;
    ext_raise_parameter(state, AIRY_ERR_SHAPE, name, "",
                        "%s: the array has %d axes, expected 1 to 4", name, view->ndim);
    return false;
}

/* In C order and on a multiple of the size of an element. */
static bool make_plain(struct ext_held *held)
{
    const Py_buffer *view = &held->view;
    if (PyBuffer_IsContiguous(view, 'C') &&
        (uintptr_t)view->buf % (size_t)(view->itemsize ? view->itemsize : 1) == 0)
        return true;
    held->copy = malloc((size_t)view->len + 1);
    if (!held->copy) {
        PyErr_NoMemory();
        return false;
    }
    return PyBuffer_ToContiguous(held->copy, (Py_buffer *)view, view->len, 'C') == 0;
}

static bool fill(const module_state *state, const char *name, struct ext_held *held,
                 airy_host_view *view)
{
    airy_dtype dtype;
    if (!find_dtype(state, name, &held->view, &dtype) || !check_axes(state, name, &held->view) ||
        !make_plain(held))
        return false;
    *view = (airy_host_view){
        .data = held->copy ? held->copy : held->view.buf, .dtype = dtype, .ndim = held->view.ndim};
    for (int i = 0; i < view->ndim; i++)
        view->shape[i] = (size_t)held->view.shape[i];
    return true;
}

struct ext_held *ext_hold(const module_state *state, const char *name, PyObject *object,
                          airy_host_view *view)
{
    struct ext_held *held = calloc(1, sizeof(*held));
    if (!held) {
        PyErr_NoMemory();
        return NULL;
    }
    if (PyObject_GetBuffer(object, &held->view, PyBUF_FULL_RO) < 0) {
        free(held);
        PyErr_Clear();
        ext_raise_parameter(state, AIRY_ERR_DTYPE, name, "give a NumPy array of numbers",
                            "%s: the object gives no array of numbers", name);
        return NULL;
    }
    if (!fill(state, name, held, view)) {
        ext_held_release(held);
        return NULL;
    }
    return held;
}

void ext_held_release(struct ext_held *held)
{
    while (held) {
        struct ext_held *next = held->next;
        PyBuffer_Release(&held->view);
        free(held->copy);
        free(held);
        held = next;
    }
}
