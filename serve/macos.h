/* What the service takes from Linux and macOS has under other names or not at all; CMake puts this header
 * before every file of the service there. By reading: nobody has run it. */
#ifndef SERVE_MACOS_H
#define SERVE_MACOS_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- random bytes, at most 256 at a time ---- */

static inline ssize_t macos_getrandom(void *out, size_t bytes, unsigned flags) {
    (void)flags;
    return getentropy(out, bytes) ? -1 : (ssize_t)bytes;
}
#define getrandom macos_getrandom

/* ---- to the disk itself: fsync alone leaves data in its cache ---- */

static inline int macos_fsync(int file) { return fcntl(file, F_FULLFSYNC) != -1 ? 0 : fsync(file); }
#define fsync macos_fsync

/* ---- conditions: no choice of the clock, but waits of a length ---- */

static inline int macos_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until) {
    struct timespec now, left;
    clock_gettime(CLOCK_MONOTONIC, &now); /* which the service computes its deadlines with */
    left.tv_sec = until->tv_sec - now.tv_sec;
    left.tv_nsec = until->tv_nsec - now.tv_nsec;
    if (left.tv_nsec < 0) {
        left.tv_nsec += 1000000000;
        left.tv_sec--;
    }
    if (left.tv_sec < 0) return ETIMEDOUT;
    return pthread_cond_timedwait_relative_np(condition, mutex, &left);
}
#define pthread_cond_timedwait macos_timedwait
#define pthread_condattr_setclock(attributes, clock) ((void)(attributes), 0)

/* ---- sockets and pipes: flags are set afterwards, and a broken connection must not end the process ---- */

#define SOCK_CLOEXEC 0x10000000
#define SOCK_NONBLOCK 0x20000000
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* SO_NOSIGPIPE below does it */
#endif

static inline int macos_flags(int file, int flags) {
    int on = 1;
    if (file < 0) return file;
    if (flags & SOCK_CLOEXEC) fcntl(file, F_SETFD, FD_CLOEXEC);
    if (flags & SOCK_NONBLOCK) fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK);
    setsockopt(file, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
    return file;
}

static inline int macos_socket(int family, int type, int protocol) {
    const int flags = SOCK_CLOEXEC | SOCK_NONBLOCK;
    return macos_flags(socket(family, type & ~flags, protocol), type & flags);
}
#define socket(family, type, protocol) macos_socket(family, type, protocol)

static inline int accept4(int listener, struct sockaddr *address, socklen_t *size, int flags) {
    return macos_flags(accept(listener, address, size), flags);
}

static inline int pipe2(int ends[2], int flags) {
    if (pipe(ends)) return -1;
    for (int i = 0; i < 2; i++) {
        if (flags & O_CLOEXEC) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        if (flags & O_NONBLOCK) fcntl(ends[i], F_SETFL, O_NONBLOCK);
    }
    return 0;
}

#endif
