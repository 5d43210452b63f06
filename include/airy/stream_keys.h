/**
 * Keys that encrypt a stream and define who may take part in it: ZeroMQ's CURVE (RFC 25 and 26).
 *
 * Each side has a pair of keys. Its secret key stays where it was made; its public key is given to the
 * other side. Keys are texts of 40 characters (Z85, RFC 32). The side that binds its address lists
 * the public keys that may connect; the side that connects names the public key of the one it
 * connects to. So both know who the other is, and nobody between them reads or changes a message.
 *
 *     char public_key[AIRY_STREAM_KEY_BYTES], secret_key[AIRY_STREAM_KEY_BYTES];
 *     airy_stream_keys_make(public_key, secret_key);
 *     const char *peers[] = {the sender's public key};
 *     const airy_stream_keys keys = {.secret = secret_key, .peers = peers, .peer_count = 1};
 *     airy_stream_receiver_create(&receiver, &(airy_stream_receiver_params){
 *         .endpoints = &endpoint, .count = 1, .bind = true, .keys = &keys});
 *
 * Detectors do not speak CURVE: it is for Airy's own receiver, sender and publisher, and for other
 * programs that use ZeroMQ.
 */
#ifndef AIRY_STREAM_KEYS_H
#define AIRY_STREAM_KEYS_H

#include "airy/status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { AIRY_STREAM_KEY_BYTES = 41 }; /**< of a key's text, with the 0 at its end */

/** Zeroed members are not given. */
typedef struct airy_stream_keys {
    const char *secret;       /**< own secret key; always needed */
    const char *server;       /**< where we connect: the other side's public key */
    const char *const *peers; /**< where we bind: [peer_count] public keys that may connect */
    size_t peer_count;
} airy_stream_keys;

/**
 * Make a new pair of keys.
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_UNSUPPORTED (a build without libzmq, or a libzmq without CURVE).
 */
AIRY_API airy_status airy_stream_keys_make(char public_key[AIRY_STREAM_KEY_BYTES],
                                           char secret_key[AIRY_STREAM_KEY_BYTES]);
/**
 * Compute the public key of a secret key. Errors: AIRY_ERR_PARAM (no key), AIRY_ERR_UNSUPPORTED.
 */
AIRY_API airy_status airy_stream_key_public(char public_key[AIRY_STREAM_KEY_BYTES],
                                            const char *secret_key);

/**
 * Make a new pair of keys and write NAME.key, the secret key, which only its owner may read, and
 * NAME.pub, the public key. Files that are there already stay.
 *
 * @param public_key  out; may be NULL
 * Errors: AIRY_ERR_EXISTS (one of the files is there), AIRY_ERR_IO, AIRY_ERR_PARAM (a name that is too
 *         long), those of airy_stream_keys_make.
 */
AIRY_API airy_status airy_stream_keys_write(const char *name,
                                            char public_key[AIRY_STREAM_KEY_BYTES]);

/** Files of keys, as `airy keys` writes them: a key a line; lines that begin with "# " are comments.
 * Zeroed members are not given. */
typedef struct airy_stream_key_files {
    const char *secret; /**< the own secret key; others must not be able to read the file */
    const char *server; /**< where we connect: the other side's public key */
    const char *peers;  /**< where we bind: public keys that may connect, 1000 at most */
    void *reserved[4];  /**< NULL */
} airy_stream_key_files;
/**
 * Read keys from files. Release them with airy_stream_keys_free.
 * Errors: AIRY_ERR_PARAM (others may read the secret key), AIRY_ERR_FORMAT (no key, too many of them),
 *         those of airy_text_next, AIRY_ERR_MEMORY.
 */
AIRY_API airy_status airy_stream_keys_read(airy_stream_keys **keys,
                                           const airy_stream_key_files *files);
/** Overwrite the keys in memory and release them. Set *keys to NULL. */
AIRY_API void airy_stream_keys_free(airy_stream_keys **keys);

#ifdef __cplusplus
}
#endif
#endif
