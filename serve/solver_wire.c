#include "solver_wire.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "clock.h"

static bool wait_for(int socket, short what, double until) {
    struct pollfd waits = {.fd = socket, .events = what};
    double left = until - sv_clock_seconds();
    if (left <= 0) return false;
    int got = poll(&waits, 1, left > 60 ? 60000 : (int)(left * 1000) + 1);
    return got > 0 || (got < 0 && errno == EINTR) || (got == 0 && sv_clock_seconds() < until);
}

bool sv_wire_send(int socket, const void *bytes, size_t size, double until) {
    const char *at = bytes;
    while (size) {
        if (!wait_for(socket, POLLOUT, until)) return false;
        ssize_t went = send(socket, at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (went < 0 && errno != EAGAIN && errno != EINTR) return false;
        if (went > 0) at += went, size -= (size_t)went;
    }
    return true;
}

bool sv_wire_receive(int socket, void *bytes, size_t size, double until) {
    char *at = bytes;
    while (size) {
        if (!wait_for(socket, POLLIN, until)) return false;
        ssize_t came = recv(socket, at, size, MSG_DONTWAIT);
        if (came == 0 || (came < 0 && errno != EAGAIN && errno != EINTR)) return false;
        if (came > 0) at += came, size -= (size_t)came;
    }
    return true;
}

void sv_wire_parts(const sa_integer_program *of, sv_wire_part out[WIRE_ARRAYS]) {
    const sv_wire_part parts[WIRE_ARRAYS] = {{(void *)of->start, (of->columns + 1) * sizeof *of->start},
                                             {(void *)of->index, of->entries * sizeof *of->index},
                                             {(void *)of->value, of->entries * sizeof *of->value},
                                             {(void *)of->lower, of->columns * sizeof *of->lower},
                                             {(void *)of->upper, of->columns * sizeof *of->upper},
                                             {(void *)of->score, of->columns * sizeof *of->score},
                                             {(void *)of->least, of->rows * sizeof *of->least},
                                             {(void *)of->most, of->rows * sizeof *of->most}};
    for (int i = 0; i < WIRE_ARRAYS; i++) out[i] = parts[i];
}
