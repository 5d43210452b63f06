/* Addresses of sockets as texts; no network is asked. */
#include "stream/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { IPV4_AT = 12 };

airy_status airy_stream_check_address(const char *url, bool connects)
{
    AIRY_FAIL_ON_IF(!url, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s = NULL", "url");
    AIRY_FAIL_IF(strlen(url) > AIRY_STREAM_ADDRESS_MAX, AIRY_ERR_PARAM,
                 "URL has %zu bytes, expected at most %d", strlen(url), AIRY_STREAM_ADDRESS_MAX);
    AIRY_FAIL_ON_IF((strncmp(url, "tcp://", 6) != 0 && strncmp(url, "ipc://", 6) != 0) || !url[6],
                    AIRY_ERR_PARAM, AIRY_SUBJECT_ADDRESS,
                    "URL '%s': expected tcp://HOST:PORT or ipc://PATH", url);
    /* ZeroMQ takes a larger port's lower bits. */
    const char *port = url[0] == 't' ? strrchr(url, ':') + 1 : "*";
    const size_t digits = strspn(port, "0123456789");
    AIRY_FAIL_ON_IF(strcmp(port, "*") != 0 &&
                        (digits == 0 || digits > 5 || port[digits] || atoi(port) > UINT16_MAX),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_ADDRESS,
                    "URL '%s': expected tcp://HOST:PORT, a port of at most %d%s", url, UINT16_MAX,
                    connects ? "" : ", or *");
    AIRY_FAIL_ON_IF(connects && url[0] == 't' && (url[6] == '*' || strcmp(port, "*") == 0),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_ADDRESS,
                    "URL '%s': to connect takes a host and a port; * is for who binds", url);
    const char *source = strchr(url, ';'), *host = source ? source + 1 : url + 6;
    AIRY_FAIL_ON_IF(connects && url[0] == 't' && port - 1 <= host, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_ADDRESS, "URL '%s': expected tcp://HOST:PORT", url);
    return AIRY_OK;
}

bool airy_stream_parse_ip(uint8_t address[AIRY_STREAM_IP_BYTES], bool *v4, const char *text)
{
    memset(address, 0, AIRY_STREAM_IP_BYTES);
    address[10] = address[11] = 0xff;
    *v4 = inet_pton(AF_INET, text, address + IPV4_AT) == 1;
    return *v4 || inet_pton(AF_INET6, text, address) == 1;
}

airy_status airy_stream_parse_network(struct airy_stream_network *network, const char *text)
{
    char address[64];
    bool v4 = false;
    const char *slash = strchr(text, '/');
    const size_t length = slash ? (size_t)(slash - text) : strlen(text);
    const size_t digits = slash ? strspn(slash + 1, "0123456789") : 0;
    bool good = length < sizeof(address) &&
                (!slash || (digits > 0 && digits < 4 && !slash[1 + digits]));
    snprintf(address, sizeof(address), "%.*s", (int)(good ? length : 0), text);
    good = good && airy_stream_parse_ip(network->address, &v4, address);
    const int most = v4 ? 32 : 128, bits = good && slash ? atoi(slash + 1) : most;
    AIRY_FAIL_ON_IF(
        !good || bits > most, AIRY_ERR_PARAM, AIRY_SUBJECT_ADDRESS,
        "'%s' is no address that may connect, expected such as 192.168.1.5, 192.168.1.0/24 "
        "or fe80::/10",
        text);
    network->bits = (unsigned)(v4 ? bits + 8 * IPV4_AT : bits);
    return AIRY_OK;
}
