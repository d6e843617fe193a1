#define _GNU_SOURCE
#include "http_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 4096 };

static bool read_address(const char *text, unsigned port, struct sockaddr_storage *out, socklen_t *size,
                         sv_refusal *why) {
    const char *address = !strcmp(text, "localhost") ? "127.0.0.1" : text;
    struct sockaddr_in *four = (struct sockaddr_in *)out;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;
    memset(out, 0, sizeof *out);
    if (strchr(address, ':')) {
        *size = sizeof *six;
        six->sin6_family = AF_INET6;
        six->sin6_port = htons((uint16_t)port);
        if (inet_pton(AF_INET6, address, &six->sin6_addr) == 1) return true;
    } else {
        *size = sizeof *four;
        four->sin_family = AF_INET;
        four->sin_port = htons((uint16_t)port);
        if (inet_pton(AF_INET, address, &four->sin_addr) == 1) return true;
    }
    return sv_refuse(why, 400, "--bind %s is not an address", text);
}

int sv_http_listen(const char *address, unsigned port, unsigned *got, sv_refusal *why) {
    struct sockaddr_storage at;
    socklen_t size;
    int one = 1;
    if (!read_address(address, port, &at, &size, why)) return -1;
    int made = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made >= 0) setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (made < 0 || bind(made, (struct sockaddr *)&at, size) || listen(made, BACKLOG) ||
        getsockname(made, (struct sockaddr *)&at, &size)) {
        sv_refuse(why, 400, "%s port %u cannot be served: %s", address, port, strerror(errno));
        if (made >= 0) close(made);
        return -1;
    }
    *got = ntohs(at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&at)->sin6_port
                                          : ((struct sockaddr_in *)&at)->sin_port);
    return made;
}
