/* Keys of ZeroMQ's CURVE, put to sockets. */
#ifndef AIRY_STREAM_KEYS_INTERNAL_H
#define AIRY_STREAM_KEYS_INTERNAL_H

#include "airy/stream_keys.h"

#include <stdbool.h>
#include <stdint.h>

enum { AIRY_STREAM_KEY_RAW = 32 }; /* bytes of a key */

/*
 * Errors: AIRY_ERR_PARAM (a key is none, or the one that is needed is missing), AIRY_ERR_UNSUPPORTED
 * (a libzmq without CURVE).
 */
airy_status airy_stream_keys_check(const airy_stream_keys *keys, bool binds);
/* A key that was checked. */
void airy_stream_key_decode(uint8_t raw[AIRY_STREAM_KEY_RAW], const char *key);
/* Of keys that were checked, before the socket is bound or connected. Errors: AIRY_ERR_IO. */
airy_status airy_stream_keys_use(void *socket, const airy_stream_keys *keys, bool binds);

#endif
