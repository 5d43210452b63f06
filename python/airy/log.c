/*
 * Messages of the library that belong to no job; the first MOST of them between two calls. The library calls from any thread and holds a lock
 * meanwhile, so they are kept here, and Python fetches them when it holds the interpreter.
 */
#include <pthread.h>
#include <stdio.h>

#include "module.h"

enum { MOST = 256, LINE = 512 };

static struct {
    pthread_mutex_t lock;
    size_t count;
    airy_log_level level[MOST];
    char text[MOST][LINE];
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void keep(void *user, airy_log_level level, const char *text)
{
    (void)user;
    pthread_mutex_lock(&kept.lock);
    if (kept.count < MOST) {
        kept.level[kept.count] = level;
        snprintf(kept.text[kept.count++], LINE, "%s", text);
    }
    pthread_mutex_unlock(&kept.lock);
}

void ext_log_collect(void)
{
    airy_log_set(keep, NULL);
}

void ext_log_stop(void)
{
    airy_log_set(NULL, NULL);
}

/* A thread of the parent may have held it. */
void ext_log_after_fork(void)
{
    pthread_mutex_init(&kept.lock, NULL);
    kept.count = 0;
}

PyObject *ext_log_take(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    pthread_mutex_lock(&kept.lock);
    for (size_t i = 0; list && i < kept.count; i++) {
        PyObject *text = ext_text(kept.text[i]);
        PyObject *pair = text ? Py_BuildValue("iN", (int)kept.level[i], text) : NULL;
        if (!pair || PyList_Append(list, pair))
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    kept.count = 0;
    pthread_mutex_unlock(&kept.lock);
    return list;
}

PyObject *ext_log_level_set(PyObject *module, PyObject *level)
{
    (void)module;
    const long value = PyLong_AsLong(level);
    if (value == -1 && PyErr_Occurred())
        return NULL;
    airy_log_set_level((airy_log_level)value);
    Py_RETURN_NONE;
}
