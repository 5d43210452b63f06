#include "module.h"

static PyModuleDef definition;

module_state *ext_module_state(PyObject *module)
{
    return PyModule_GetState(module);
}

module_state *ext_state_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

static PyObject *set_errors(PyObject *module, PyObject *make_error)
{
    module_state *state = ext_module_state(module);
    PyObject *before = state->make_error;
    state->make_error = Py_NewRef(make_error);
    Py_XDECREF(before);
    Py_RETURN_NONE;
}

static PyObject *raise_last(const module_state *state, airy_status status)
{
    return ext_raise(state, status, NULL);
}

/* Devices of the parent are not of this process: their threads are not there. They are left alone. */
static PyObject *after_fork(PyObject *module, PyObject *unused)
{
    module_state *state = ext_module_state(module);
    (void)unused;
    ext_log_after_fork();
    const airy_status status = airy_context_create(&state->context);
    if (status != AIRY_OK)
        return raise_last(state, status);
    Py_RETURN_NONE;
}

static PyObject *build_info(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return ext_text(airy_build_info());
}

static PyMethodDef functions[] = {
    {"set_errors", set_errors, METH_O, "Set the function that makes exceptions."},
    {"jobs", ext_describe_jobs, METH_NOARGS, "Describe all jobs."},
    {"devices", ext_describe_devices, METH_NOARGS, "List all devices."},
    {"after_fork", after_fork, METH_NOARGS, "Begin anew in a child process."},
    {"build_info", build_info, METH_NOARGS, "Features of this build."},
    {"take_log", ext_log_take, METH_NOARGS, "Messages that belong to no job."},
    {"set_log_level", ext_log_level_set, METH_O, "Set the level of these messages."},
    {NULL, NULL, 0, NULL}};

static int add_type(PyObject *module, PyType_Spec *spec, PyObject **type)
{
    *type = PyType_FromModuleAndSpec(module, spec, NULL);
    return *type ? PyModule_AddType(module, (PyTypeObject *)*type) : -1;
}

static int execute(PyObject *module)
{
    module_state *state = ext_module_state(module);
    if (airy_context_create(&state->context) != AIRY_OK) {
        PyErr_NoMemory();
        return -1;
    }
    ext_log_collect();
    if (add_type(module, &ext_job_spec, &state->job_type) ||
        add_type(module, &ext_memory_spec, &state->memory_type) ||
        add_type(module, &ext_file_spec, &state->file_type))
        return -1;
    return PyModule_AddStringConstant(module, "version", airy_version());
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    module_state *state = ext_module_state(module);
    Py_VISIT(state->make_error);
    Py_VISIT(state->job_type);
    Py_VISIT(state->memory_type);
    Py_VISIT(state->file_type);
    return 0;
}

static int clear(PyObject *module)
{
    module_state *state = ext_module_state(module);
    Py_CLEAR(state->make_error);
    Py_CLEAR(state->job_type);
    Py_CLEAR(state->memory_type);
    Py_CLEAR(state->file_type);
    return 0;
}

/* Devices stay open at the end of a process: closing them takes time, and threads may still work. */
static void release(void *module)
{
    (void)clear(module);
    ext_log_stop();
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, execute}, {0, NULL}};

static PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                 .m_name = "airy._airy",
                                 .m_doc = "The C library, for the Python of the package airy.",
                                 .m_size = sizeof(module_state),
                                 .m_methods = functions,
                                 .m_slots = slots,
                                 .m_traverse = traverse,
                                 .m_clear = clear,
                                 .m_free = release};

PyMODINIT_FUNC PyInit__airy(void);

PyMODINIT_FUNC PyInit__airy(void)
{
    return PyModuleDef_Init(&definition);
}
