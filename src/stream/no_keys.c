/* A build without libzmq says so. */
#include "airy/stream_keys.h"
#include "base/error.h"

airy_status airy_stream_keys_make(char public_key[AIRY_STREAM_KEY_BYTES],
                                  char secret_key[AIRY_STREAM_KEY_BYTES])
{
    (void)public_key;
    (void)secret_key;
    return airy_fail(AIRY_ERR_UNSUPPORTED, "this build makes no keys, it lacks libzmq");
}

airy_status airy_stream_key_public(char public_key[AIRY_STREAM_KEY_BYTES], const char *secret_key)
{
    (void)public_key;
    (void)secret_key;
    return airy_fail(AIRY_ERR_UNSUPPORTED, "this build knows no keys, it lacks libzmq");
}
