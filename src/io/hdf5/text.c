/* Text in a file: string attributes and scalar string datasets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airy/stack.h"
#include "base/memory.h"
#include "io/hdf5/inflate.h"
#include "io/hdf5/probe.h"
#include "io/hdf5/sources.h"
#include "io/hdf5/util.h"

enum { MAX_TEXT = 64 << 20 }; /* bytes: longer is not text that anybody reads */

/* A scalar string of object, which is a dataset or an attribute; the caller's memory. */
static airy_status read_string(char **text, hid_t object, bool attribute, const char *what)
{
    airy_status status = AIRY_OK;
    const hid_t type = attribute ? H5Aget_type(object) : H5Dget_type(object);
    const hid_t space = attribute ? H5Aget_space(object) : H5Dget_space(object);
    char *copy = NULL, *variable = NULL;
    hid_t memory = -1;
    const size_t size = type >= 0 ? H5Tget_size(type) : 0;
    if (type < 0 || space < 0 || H5Tget_class(type) != H5T_STRING ||
        H5Sget_simple_extent_npoints(space) != 1) {
        status = airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET, "%s is not one string", what);
    } else if (H5Tis_variable_str(type) > 0) {
        memory = H5Tcopy(H5T_C_S1);
        H5Tset_size(memory, H5T_VARIABLE);
        H5Tset_cset(memory, H5Tget_cset(type));
        if ((attribute ? H5Aread(object, memory, &variable)
                       : airy_hdf5_read_as(object, memory, H5S_ALL, H5S_ALL, &variable)) < 0 ||
            !variable)
            status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_DATASET, "%s cannot be read", what);
        else if (!(copy = strdup(variable)))
            status = airy_fail_on(AIRY_ERR_MEMORY, AIRY_SUBJECT_DATASET,
                                  "%s: out of memory for %zu bytes", what, strlen(variable));
        H5free_memory(variable);
    } else if (size > MAX_TEXT) {
        status = airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET,
                              "%s has %zu bytes, expected at most %d", what, size, (int)MAX_TEXT);
    } else if (!(copy = calloc(size + 1, 1))) {
        status = airy_fail_on(AIRY_ERR_MEMORY, AIRY_SUBJECT_DATASET,
                              "%s: out of memory for %zu bytes", what, size);
    } else if ((attribute ? H5Aread(object, type, copy)
                          : airy_hdf5_read_as(object, type, H5S_ALL, H5S_ALL, copy)) < 0) {
        status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_DATASET, "%s cannot be read", what);
    }
    if (memory >= 0)
        H5Tclose(memory);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (status != AIRY_OK)
        free(copy);
    else
        *text = copy;
    return status;
}

/* A text of variable length; libhdf5 writes behind it. */
struct text_block {
    struct text_block *next;
    char text[];
};

static void *add_text(size_t size, void *into)
{
    airy_hdf5_texts *texts = into;
    struct text_block *block = size > texts->left ? NULL : malloc(sizeof(*block) + size);
    if (!block)
        return NULL;
    texts->left -= size;
    block->next = texts->blocks;
    texts->blocks = block;
    return block->text;
}

static void keep_text(void *text, void *from)
{
    (void)text;
    (void)from; /* all go at once, also where libhdf5 fails half way and forgets them */
}

airy_status airy_hdf5_texts_open(airy_hdf5_texts *texts, hid_t dataset, size_t count, size_t bytes)
{
    airy_hdf5_texts read = {.left = bytes};
    AIRY_TRY(airy_hdf5_inflate_check(dataset, NULL, NULL));
    AIRY_TRY(airy_memory_calloc((void **)&read.text, count, sizeof(read.text[0]), "texts"));
    const hid_t type = H5Dget_type(dataset), memory = H5Tcopy(H5T_C_S1),
                transfer = H5Pcreate(H5P_DATASET_XFER);
    airy_status status = AIRY_OK;
    if (type < 0 || memory < 0 || transfer < 0 || H5Tset_size(memory, H5T_VARIABLE) < 0 ||
        H5Tset_cset(memory, H5Tget_cset(type)) < 0 ||
        H5Pset_vlen_mem_manager(transfer, add_text, &read, keep_text, NULL) < 0 ||
        H5Dread(dataset, memory, H5S_ALL, H5S_ALL, transfer, read.text) < 0)
        status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_NONE,
                                "its texts cannot be read (at most %zu bytes)", bytes);
    if (transfer >= 0)
        H5Pclose(transfer);
    if (memory >= 0)
        H5Tclose(memory);
    if (type >= 0)
        H5Tclose(type);
    if (status == AIRY_OK)
        *texts = read;
    else
        airy_hdf5_texts_close(&read);
    return status;
}

void airy_hdf5_texts_close(airy_hdf5_texts *texts)
{
    while (texts->blocks) {
        struct text_block *next = texts->blocks->next;
        free(texts->blocks);
        texts->blocks = next;
    }
    free(texts->text);
    *texts = (airy_hdf5_texts){0};
}

static airy_status find_string(char **text, hid_t file, const char *object, const char *attribute,
                               const char *what)
{
    if (!airy_hdf5_exists(file, object) ||
        (attribute && H5Aexists_by_name(file, object, attribute, H5P_DEFAULT) <= 0))
        return airy_fail_on(AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_DATASET, "%s is not there", what);
    const hid_t id = attribute ? H5Aopen_by_name(file, object, attribute, H5P_DEFAULT, H5P_DEFAULT)
                               : airy_hdf5_dataset(file, object);
    if (id < 0)
        return airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET, "%s cannot be opened", what);
    const airy_status status = read_string(text, id, attribute != NULL, what);
    if (attribute)
        H5Aclose(id);
    else
        H5Dclose(id);
    return status;
}

airy_status airy_hdf5_text_open(char **text, hid_t file, const char *path)
{
    return find_string(text, file, path, NULL, path);
}

airy_status airy_hdf5_attribute_open(char **text, hid_t object, const char *name)
{
    AIRY_FAIL_IF(H5Aexists(object, name) <= 0, AIRY_ERR_NOT_FOUND, "attribute '%s' is not there",
                 name);
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0)
        return airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_NONE, "attribute '%s' cannot be opened",
                              name);
    const airy_status status = read_string(text, attribute, true, name);
    H5Aclose(attribute);
    return status;
}

airy_status airy_hdf5_text(char **text, const char *path, const char *object)
{
    AIRY_FAIL_IF(!text || !path || !object, AIRY_ERR_PARAM, "text, path or object = NULL");
    char name[1024], what[1500];
    const char *at = strrchr(object, '@');
    const size_t n = at ? (size_t)(at - object) : strlen(object);
    AIRY_FAIL_IF(n == 0 || n >= sizeof(name), AIRY_ERR_PARAM,
                 "object has %zu bytes, expected 1 to %zu", n, sizeof(name) - 1);
    memcpy(name, object, n);
    name[n] = 0;
    snprintf(what, sizeof(what), "%s::%s", path, object);
    AIRY_TRY(airy_hdf5_lock());
    hid_t file = -1;
    airy_status status = airy_hdf5_open(&file, path);
    if (status == AIRY_OK) {
        status = find_string(text, file, name, at ? at + 1 : NULL, what);
        if (status == AIRY_ERR_NOT_FOUND && airy_probe_result(file) != AIRY_OK)
            status = AIRY_ERR_IO;
        H5Fclose(file);
    }
    airy_hdf5_unlock();
    return status;
}
