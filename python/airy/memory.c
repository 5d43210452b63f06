/* Results as objects with the buffer protocol: NumPy makes arrays of them without a copy. */
#include <string.h>

#include "module.h"

typedef struct {
    PyObject_HEAD PyObject *owner; /* keeps the memory alive */
    void *data;
    const char *format;
    Py_ssize_t itemsize, bytes;
    int ndim;
    Py_ssize_t shape[4], strides[4];
} memory_object;

static const char *format_of(airy_dtype dtype)
{
    static const char *const formats[AIRY_DTYPE_COUNT] = {
        [AIRY_DTYPE_F32] = "f", [AIRY_DTYPE_U8] = "B",  [AIRY_DTYPE_I8] = "b",
        [AIRY_DTYPE_U16] = "H", [AIRY_DTYPE_I16] = "h", [AIRY_DTYPE_U32] = "I",
        [AIRY_DTYPE_I32] = "i", [AIRY_DTYPE_U64] = "Q", [AIRY_DTYPE_I64] = "q",
        [AIRY_DTYPE_F64] = "d"};
    return (unsigned)dtype < AIRY_DTYPE_COUNT ? formats[dtype] : "B";
}

static void set_shape(memory_object *memory, const airy_host_view *view)
{
    Py_ssize_t step = memory->itemsize;
    memory->bytes = memory->itemsize;
    for (int i = memory->ndim - 1; i >= 0; i--) {
        memory->shape[i] = (Py_ssize_t)view->shape[i];
        memory->strides[i] = view->strides[i] ? view->strides[i] : step;
        step *= memory->shape[i];
        memory->bytes *= memory->shape[i];
    }
}

PyObject *ext_memory_new(const module_state *state, PyObject *owner, const airy_host_view *view)
{
    PyTypeObject *type = (PyTypeObject *)state->memory_type;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    memory_object *memory = (memory_object *)allocate(type, 0);
    if (!memory)
        return NULL;
    memory->owner = Py_NewRef(owner);
    memory->data = (void *)view->data;
    memory->format = format_of(view->dtype);
    memory->itemsize = (Py_ssize_t)airy_dtype_size(view->dtype);
    memory->ndim = view->ndim;
    set_shape(memory, view);
    return (PyObject *)memory;
}

static int get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    memory_object *memory = (memory_object *)self;
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES) {
        PyErr_SetString(PyExc_BufferError, "results have strides");
        return -1;
    }
    *view = (Py_buffer){.buf = memory->data,
                        .obj = Py_NewRef(self),
                        .len = memory->bytes,
                        .itemsize = memory->itemsize,
                        .ndim = memory->ndim,
                        .format = flags & PyBUF_FORMAT ? (char *)memory->format : NULL,
                        .shape = memory->shape,
                        .strides = memory->strides};
    return 0;
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((memory_object *)self)->owner);
    return 0;
}

static void deallocate(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_CLEAR(((memory_object *)self)->owner);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyType_Slot slots[] = {{Py_tp_dealloc, deallocate},
                              {Py_tp_traverse, traverse},
                              {Py_bf_getbuffer, get_buffer},
                              {Py_tp_doc, "Memory of a result."},
                              {0, NULL}};

PyType_Spec ext_memory_spec = {.name = "airy._airy.Memory",
                               .basicsize = sizeof(memory_object),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                        Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                        Py_TPFLAGS_IMMUTABLETYPE,
                               .slots = slots};

static PyObject *describe_column(const module_state *state, PyObject *owner, const airy_column *c,
                                 size_t rows)
{
    const airy_host_view view = {.data = c->data,
                                 .dtype = c->dtype,
                                 .ndim = 1,
                                 .shape = {rows},
                                 .strides = {(ptrdiff_t)c->step}};
    return Py_BuildValue("(szzNN)", c->name, c->unit, c->description,
                         c->has_null ? PyLong_FromLongLong((long long)c->null) : Py_NewRef(Py_None),
                         ext_memory_new(state, owner, &view));
}

PyObject *ext_table_columns(const module_state *state, PyObject *owner, const airy_table *table)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < table->columns; i++) {
        PyObject *column = describe_column(state, owner, &table->column[i], table->rows);
        if (!column || PyList_Append(list, column))
            Py_CLEAR(list);
        Py_XDECREF(column);
    }
    return list;
}

PyObject *ext_bytes_copy(const void *data, size_t bytes)
{
    return data ? PyByteArray_FromStringAndSize(data, (Py_ssize_t)bytes) : Py_NewRef(Py_None);
}
