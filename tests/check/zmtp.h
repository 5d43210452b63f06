/*
 * A sender that speaks ZeroMQ's transport protocol (ZMTP 3.0, RFC 23) by itself, so that it can break
 * its rules and those of the library: parts without end, sizes that do not come.
 */
#ifndef AIRY_TESTS_ZMTP_H
#define AIRY_TESTS_ZMTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Connect to 127.0.0.1 from `source` (NULL: any address of this machine). Nothing waits longer than
 * `patience` s. -1: nobody is there.
 */
int zmtp_connect(const char *source, uint16_t port, int patience);
/* Greet as a PUSH socket, and read the receiver's greeting; false: it ended the connection. */
bool zmtp_greet(int fd);
/* Send bytes; false: the connection is ended, or nothing is taken. */
bool zmtp_send(int fd, const void *bytes, size_t size);
/* The head of a part of so many bytes; more: it is not the last one of its message. */
bool zmtp_head(int fd, uint64_t size, bool more);

#endif
