#include "stream/keys.h"

#include <string.h>
#include <zmq.h>

#include "base/error.h"

static airy_status check_curve(void)
{
    AIRY_FAIL_IF(
        !zmq_has("curve"), AIRY_ERR_UNSUPPORTED,
        "keys: the libzmq of this machine was built without CURVE; use one that has it, or "
        "leave out the keys");
    return AIRY_OK;
}

/* No key is printed: it may be a secret one in the wrong place. */
static airy_status check_key(const char *key, const char *what)
{
    uint8_t raw[AIRY_STREAM_KEY_RAW];
    AIRY_FAIL_IF(!key, AIRY_ERR_PARAM, "keys: %s is missing", what);
    AIRY_FAIL_IF(strlen(key) != AIRY_STREAM_KEY_BYTES - 1, AIRY_ERR_PARAM,
                 "keys: %s has %zu characters, expected %d", what, strlen(key),
                 AIRY_STREAM_KEY_BYTES - 1);
    AIRY_FAIL_IF(!zmq_z85_decode(raw, key), AIRY_ERR_PARAM,
                 "keys: %s has a character that keys do not have", what);
    return AIRY_OK;
}

airy_status airy_stream_keys_check(const airy_stream_keys *keys, bool binds)
{
    AIRY_TRY(check_curve());
    AIRY_TRY(check_key(keys->secret, "the own secret key"));
    if (!binds)
        return check_key(keys->server, "the public key of the side that is connected to");
    AIRY_FAIL_IF(keys->peer_count == 0 || !keys->peers, AIRY_ERR_PARAM,
                 "keys: the public keys that may connect are missing");
    for (size_t i = 0; i < keys->peer_count; i++)
        AIRY_TRY(check_key(keys->peers[i], "a public key that may connect"));
    return AIRY_OK;
}

void airy_stream_key_decode(uint8_t raw[AIRY_STREAM_KEY_RAW], const char *key)
{
    (void)zmq_z85_decode(raw, key);
}

airy_status airy_stream_keys_use(void *socket, const airy_stream_keys *keys, bool binds)
{
    const int server = 1;
    char own[AIRY_STREAM_KEY_BYTES];
    bool good = zmq_curve_public(own, keys->secret) == 0;
    if (binds)
        good = good && zmq_setsockopt(socket, ZMQ_CURVE_SERVER, &server, sizeof(server)) == 0 &&
               zmq_setsockopt(socket, ZMQ_ZAP_DOMAIN, "airy", 4) == 0;
    else
        good = good && zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, keys->server,
                                      AIRY_STREAM_KEY_BYTES) == 0;
    good = good && zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, own, sizeof(own)) == 0 &&
           zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, keys->secret, AIRY_STREAM_KEY_BYTES) == 0;
    AIRY_FAIL_IF(!good, AIRY_ERR_IO, "keys of a ZeroMQ socket: %s", zmq_strerror(zmq_errno()));
    return AIRY_OK;
}

airy_status airy_stream_keys_make(char public_key[AIRY_STREAM_KEY_BYTES],
                                  char secret_key[AIRY_STREAM_KEY_BYTES])
{
    AIRY_FAIL_IF(!public_key || !secret_key, AIRY_ERR_PARAM,
                 "airy_stream_keys_make: an argument is NULL");
    AIRY_TRY(check_curve());
    AIRY_FAIL_IF(zmq_curve_keypair(public_key, secret_key) != 0, AIRY_ERR_UNSUPPORTED,
                 "no keys can be made: %s", zmq_strerror(zmq_errno()));
    return AIRY_OK;
}

airy_status airy_stream_key_public(char public_key[AIRY_STREAM_KEY_BYTES], const char *secret_key)
{
    AIRY_FAIL_IF(!public_key, AIRY_ERR_PARAM, "airy_stream_key_public: public_key is NULL");
    AIRY_TRY(check_curve());
    AIRY_TRY(check_key(secret_key, "the secret key"));
    AIRY_FAIL_IF(zmq_curve_public(public_key, secret_key) != 0, AIRY_ERR_PARAM,
                 "the secret key is none: %s", zmq_strerror(zmq_errno()));
    return AIRY_OK;
}
