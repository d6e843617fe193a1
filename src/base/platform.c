#define _GNU_SOURCE /* getentropy; posix_fallocate */
#include "base/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h> /* getentropy: macOS, glibc and musl alike */
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

bool sa_random_bytes(void *out, size_t bytes) { return getentropy(out, bytes) == 0; }

#ifdef __APPLE__
#include <sys/sysctl.h>

int sa_sync_file(int file) {
    return fcntl(file, F_FULLFSYNC) != -1 ? 0
                                          : fsync(file); /* a file system without it: some network drives */
}

/* Room is asked for past the end only; what lies before it the file has, or has as a hole. */
int sa_reserve_file(int file, off_t from, off_t bytes) {
    struct stat about;
    if (fstat(file, &about)) return errno;
    off_t more = from + bytes - about.st_size;
    if (more <= 0) return 0;
    fstore_t wish = {.fst_flags = F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE, .fst_length = more};
    if (fcntl(file, F_PREALLOCATE, &wish) == -1 && errno != ENOTSUP) return errno;
    return ftruncate(file, from + bytes) ? errno : 0;
}

void sa_condition_init(pthread_cond_t *condition) { pthread_cond_init(condition, NULL); }

static const clockid_t WAITS = CLOCK_REALTIME;

void sa_processor_name(char *out, size_t size) {
    if (sysctlbyname("machdep.cpu.brand_string", out, &size, NULL, 0)) snprintf(out, size, "unknown");
}
#else

int sa_sync_file(int file) { return fsync(file); }

int sa_reserve_file(int file, off_t from, off_t bytes) { return posix_fallocate(file, from, bytes); }

void sa_condition_init(pthread_cond_t *condition) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static const clockid_t WAITS = CLOCK_MONOTONIC;

/* "model name : ..." on x86; on arm64 the kernel gives numbers alone, and the device tree may have a name. */
void sa_processor_name(char *out, size_t size) {
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "re");
    snprintf(out, size, "unknown");
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if ((strncmp(line, "model name", 10) && strncmp(line, "Model\t", 6)) || !colon) continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(out, size, "%s", colon + 1 + strspn(colon + 1, " "));
        break;
    }
    if (file) fclose(file);
}
#endif

void sa_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, double seconds) {
    struct timespec until;
    clock_gettime(WAITS, &until);
    double whole = (double)(long)seconds;
    until.tv_sec += (time_t)whole;
    until.tv_nsec += (long)((seconds - whole) * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(condition, mutex, &until);
}
