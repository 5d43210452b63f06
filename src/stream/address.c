#include "stream/address.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

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
    return AIRY_OK;
}
