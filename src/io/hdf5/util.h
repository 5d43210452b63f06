/*
 * libhdf5 behind one lock: its calls, its errors as our sentences, its types, its filters.
 *
 * Between airy_hdf5_lock and airy_hdf5_unlock of a thread libhdf5 prints nothing, filters 32008
 * and 32004 (ours, unless the program has its own) and the read-only file driver of hdf5/probe.h
 * are registered. Every function below that takes an identifier wants the lock held.
 */
#ifndef AIRY_IO_HDF5_UTIL_H
#define AIRY_IO_HDF5_UTIL_H

#include "io/hdf5/probe.h" /* hdf5.h with the right API version */

#include "airy/codec.h"
#include "base/error.h"
#include "io/hdf5/error.h"
#include "io/hdf5/external.h"
#include "io/hdf5/type.h"

enum {
    AIRY_FILTER_BITSHUFFLE = 32008,
    AIRY_FILTER_LZ4 = 32004,
    AIRY_BITSHUFFLE_LZ4 = 2, /* its cd_values[4] */
    AIRY_BITSHUFFLE_ZSTD = 3
};

/*
 * Not recursive. AIRY_ERR_MEMORY, AIRY_ERR_IO when libhdf5 cannot be initialised; the lock is not
 * held then.
 */
airy_status airy_hdf5_lock(void);
void airy_hdf5_unlock(void);
/* The same; until it is given back, external files may lie in these folders, too (NULL: in none). */
airy_status airy_hdf5_lock_allowing(const struct airy_folder *folders);
/* Return the folders that whoever holds the lock allows. Lock held. */
const struct airy_folder *airy_hdf5_allowed(void);

/*
 * Open for reading through our driver. AIRY_ERR_NOT_FOUND, AIRY_ERR_IO, AIRY_ERR_FORMAT (not
 * HDF5, or cut); the path is named.
 */
airy_status airy_hdf5_open(hid_t *file, const char *path);
/* The same of a path that may be of any format: one of none is said to be that. */
airy_status airy_hdf5_open_any(hid_t *file, const char *path);
/* Access properties of files opened by our driver; owned by this module. */
hid_t airy_hdf5_read_access(void);
/*
 * Access properties of datasets whose values are read: raw data in other files lie beside the
 * dataset's file. Owned by this module.
 */
hid_t airy_hdf5_dataset_access(void);

/* Every step of an absolute path is there; the last one may be a link that leads nowhere. */
bool airy_hdf5_exists(hid_t file, const char *path);

/* One string, a scalar dataset; released with free(). The file is open (src/io/hdf5/text.c). */
airy_status airy_hdf5_text_open(char **text, hid_t file, const char *path);
/*
 * The same of an attribute of an open object: AIRY_ERR_NOT_FOUND, AIRY_ERR_FORMAT where it is not
 * exactly one string.
 */
airy_status airy_hdf5_attribute_open(char **text, hid_t object, const char *name);

/* Texts of variable length, NULL where one was never written. */
typedef struct airy_hdf5_texts {
    char **text;
    size_t left; /* bytes that may still be read */
    struct text_block *blocks;
} airy_hdf5_texts;
/*
 * Read all `count` texts of a dataset, at most `bytes` bytes of them: each may be a reference to
 * one long text in the file. AIRY_ERR_IO, AIRY_ERR_MEMORY.
 */
airy_status airy_hdf5_texts_open(airy_hdf5_texts *texts, hid_t dataset, size_t count, size_t bytes);
void airy_hdf5_texts_close(airy_hdf5_texts *texts);

/* "gzip", "bitshuffle"; "unknown" where the number is not in the table. */
const char *airy_filter_name(unsigned number);
/* The whole pipeline as text, "shuffle+gzip", "none". */
void airy_filter_text(char *text, size_t size, hid_t creation);
/*
 * All filters of a dataset can be undone here; else AIRY_ERR_UNSUPPORTED naming filter and number.
 */
airy_status airy_filter_check(hid_t creation, const char *what);
/*
 * The codec a pipeline amounts to: AIRY_OK and *exact = true when it is one of ours and nothing
 * else.
 */
void airy_filter_codec(airy_codec_params *codec, bool *exact, hid_t creation);
/*
 * Read as H5Dread does, native values, with libhdf5 protected from chunks that decode to other
 * bytes than they should have: it does not look itself (1.10 copies from behind the buffer of fewer,
 * and unpacks any number of more).
 */
herr_t airy_hdf5_read(hid_t dataset, airy_dtype dtype, hid_t memory, hid_t space, void *values);
/* The same of values of that type in memory. */
herr_t airy_hdf5_read_as(hid_t dataset, hid_t type, hid_t memory, hid_t space, void *values);
/*
 * The same with a status and its sentence; kept: chunks of reads before this one, or NULL
 * (hdf5/inflate.h). AIRY_ERR_IO, AIRY_ERR_CORRUPT, AIRY_ERR_MEMORY, AIRY_ERR_UNSUPPORTED.
 */
struct airy_inflated;
airy_status airy_hdf5_read_keeping(struct airy_inflated *kept, hid_t dataset, hid_t type,
                                   hid_t memory, hid_t space, void *values);
/*
 * Bytes that a stored chunk of `decoded` bytes has when the filters that mask does not skip keep
 * or fix the size; 0 when only undoing them can tell.
 */
uint64_t airy_filter_stored_bytes(hid_t creation, uint32_t mask, uint64_t decoded);
/*
 * A stored chunk begins with a header of bitshuffle-lz4 or lz4 that says the bytes of the decoded
 * chunk. libhdf5 trusts whoever undoes the filter, which may be the program's own.
 */
bool airy_filter_framed(hid_t creation, uint32_t mask);
/*
 * For airy_hdf5_lock: register our filters with libhdf5 where it has none of their numbers;
 * negative on failure.
 */
int airy_filter_register(void);

#endif
