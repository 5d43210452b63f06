/*
 * How much memory the connections of a receiver take. ZeroMQ bounds the number of complete messages
 * of a connection, and the size of each part of one, but neither the parts of a message that is not
 * finished nor the connections. So the bytes that the kernel received are counted for each TCP
 * connection, less those that were read from ZeroMQ; where that is too much, the connection that
 * holds most is ended. Peers of an ipc:// address are processes that may write to its file: they are
 * not counted.
 */
#ifndef AIRY_STREAM_BUFFERED_H
#define AIRY_STREAM_BUFFERED_H

#include "airy/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct airy_stream_buffered;

enum { AIRY_STREAM_BUFFERED_PEER = 64 };

/**
 * Half of `limit` bytes is for connections that sent messages of a series that was at work, half for
 * all others.
 * @param sealed  messages are encrypted, which takes some bytes
 * Errors: AIRY_ERR_MEMORY.
 */
airy_status airy_stream_buffered_begin(struct airy_stream_buffered **buffered, size_t sockets,
                                       uint64_t limit, bool sealed);
/* Count the connections of a socket, which is not bound or connected yet. Errors: AIRY_ERR_IO. */
airy_status airy_stream_buffered_add(struct airy_stream_buffered *b, void *context, void *socket);
/* A part of a message from the socket of this index, with ZeroMQ's number of its connection. */
void airy_stream_buffered_read(struct airy_stream_buffered *b, size_t socket, int fd, size_t bytes,
                               bool ours);
/* No complete message waits in the socket. */
void airy_stream_buffered_empty(struct airy_stream_buffered *b, size_t socket);
/* Messages of so many bytes that may wait in each connection, at least 1. */
size_t airy_stream_buffered_queue(struct airy_stream_buffered *b, uint64_t message_bytes);
/* Connections that were ended so far, for one reason, and the last one's address. */
struct airy_stream_ended {
    uint64_t count;
    int error; /* of the system, for the last one */
    char peer[AIRY_STREAM_BUFFERED_PEER];
};
/*
 * overfull: for the memory that they take; uncounted: since the process has no descriptor or no
 * memory left to count what they hold.
 */
void airy_stream_buffered_ended(struct airy_stream_buffered *b, struct airy_stream_ended *overfull,
                                struct airy_stream_ended *uncounted);
uint64_t airy_stream_buffered_limit(const struct airy_stream_buffered *b);
/* Before the sockets are closed, by the thread that uses them. */
void airy_stream_buffered_end(struct airy_stream_buffered **buffered);

#endif
