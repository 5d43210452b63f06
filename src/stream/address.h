/* Addresses of sockets as texts; also in a build without libzmq. */
#ifndef AIRY_STREAM_ADDRESS_H
#define AIRY_STREAM_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "airy/status.h"

enum { AIRY_STREAM_ADDRESS_MAX = 255, AIRY_STREAM_IP_BYTES = 16 };

/* What ZeroMQ would take and mean something else by, or refuse without saying why. */
airy_status airy_stream_check_address(const char *url, bool connects);

/* IPv4 as the IPv6 addresses that stand for it. */
struct airy_stream_network {
    uint8_t address[AIRY_STREAM_IP_BYTES];
    unsigned bits;
};
/* v4: it is one of IPv4. False: no address. */
bool airy_stream_parse_ip(uint8_t address[AIRY_STREAM_IP_BYTES], bool *v4, const char *text);
/* An address or a network, "10.1.0.0/16". AIRY_ERR_PARAM. */
airy_status airy_stream_parse_network(struct airy_stream_network *network, const char *text);

#endif
