#include "zmtp.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { GREETING = 64 };

int zmtp_connect(const char *source, uint16_t port, int patience)
{
    const struct timeval most = {.tv_sec = patience};
    struct sockaddr_in from = {.sin_family = AF_INET},
                       to = {.sin_family = AF_INET, .sin_port = htons(port)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    (void)inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    if (source)
        (void)inet_pton(AF_INET, source, &from.sin_addr);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
    if ((source && bind(fd, (struct sockaddr *)&from, sizeof(from)) != 0) ||
        connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

bool zmtp_send(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        const ssize_t n = send(fd, at, size, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static bool skip(int fd, size_t size)
{
    char bytes[GREETING];
    return recv(fd, bytes, size, MSG_WAITALL) == (ssize_t)size;
}

bool zmtp_greet(int fd)
{
    static const char ready[] = "\x04\x1a\x05READY\x0bSocket-Type\0\0\0\x04PUSH";
    unsigned char greeting[GREETING] = {0xff, [9] = 0x7f, 3, 0, 'N', 'U', 'L', 'L'}, head[2];
    return zmtp_send(fd, greeting, sizeof(greeting)) && skip(fd, GREETING) &&
           zmtp_send(fd, ready, sizeof(ready) - 1) &&
           recv(fd, head, sizeof(head), MSG_WAITALL) == sizeof(head) && head[1] <= GREETING &&
           skip(fd, head[1]);
}

bool zmtp_head(int fd, uint64_t size, bool more)
{
    unsigned char head[9] = {(unsigned char)(2 | more)};
    for (int i = 0; i < 8; i++)
        head[1 + i] = (unsigned char)(size >> (56 - 8 * i));
    return zmtp_send(fd, head, sizeof(head));
}
