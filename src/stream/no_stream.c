/* A build without libzmq and libcbor says so. */
#include "airy/stream.h"
#include "base/error.h"

static airy_status refuse(void)
{
    return airy_fail(AIRY_ERR_UNSUPPORTED,
                     "this build knows no streams, it lacks libzmq and libcbor");
}

airy_status airy_stream_parse(airy_stream_message *message, const void *bytes, size_t size)
{
    (void)message;
    (void)bytes;
    (void)size;
    return refuse();
}

airy_status airy_stream_receiver_create(airy_stream_receiver **receiver,
                                        const airy_stream_receiver_params *params)
{
    (void)receiver;
    (void)params;
    return refuse();
}

void airy_stream_receiver_destroy(airy_stream_receiver **receiver)
{
    *receiver = NULL;
}

airy_status airy_stream_serve(airy_stream_receiver *receiver, const airy_stream_handler *handler)
{
    (void)receiver;
    (void)handler;
    return refuse();
}

airy_status airy_publisher_create(airy_publisher **publisher, const char *endpoint, size_t queue)
{
    (void)publisher;
    (void)endpoint;
    (void)queue;
    return refuse();
}

airy_status airy_publisher_open(airy_publisher **publisher, const airy_publisher_params *params)
{
    (void)publisher;
    (void)params;
    return refuse();
}

void airy_publisher_destroy(airy_publisher **publisher)
{
    *publisher = NULL;
}

airy_status airy_publisher_start(airy_publisher *publisher, const airy_publisher_series *series)
{
    (void)publisher;
    (void)series;
    return refuse();
}

airy_status airy_publisher_send(airy_publisher *publisher, const airy_publisher_pattern *pattern)
{
    (void)publisher;
    (void)pattern;
    return refuse();
}

airy_status airy_publisher_end(airy_publisher *publisher, uint64_t *patterns)
{
    (void)publisher;
    (void)patterns;
    return refuse();
}

airy_status airy_publisher_fail(airy_publisher *publisher, uint64_t series_id,
                                const char *unique_id, const char *message, uint64_t *patterns)
{
    (void)publisher;
    (void)series_id;
    (void)unique_id;
    (void)message;
    (void)patterns;
    return refuse();
}
