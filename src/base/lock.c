#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

enum { ATTEMPTS = 100 };

static sa_status busy(const char *folder, int file) {
    char who[160] = "";
    ssize_t size = pread(file, who, sizeof who - 1, 0);
    who[size > 0 ? (size_t)size : 0] = 0;
    return sa_fail(SA_INVALID, "%s is being worked in by %s", folder, *who ? who : "another process");
}

/* For the sentence of those who come later. */
static void sign(int file) {
    char host[64] = "", who[160];
    gethostname(host, sizeof host - 1);
    int size = snprintf(who, sizeof who, "process %ld on %s", (long)getpid(), host);
    if (ftruncate(file, 0) || pwrite(file, who, (size_t)size, 0) < 0) return; /* nobody then knows the name */
}

/* Whoever had it may have removed the file meanwhile: then it is not the one that others see. */
static bool is_there(int file, const char *path) {
    struct stat ours, theirs;
    return !fstat(file, &ours) && !stat(path, &theirs) && ours.st_dev == theirs.st_dev &&
           ours.st_ino == theirs.st_ino;
}

sa_status sa_lock_take(const char *folder, const char *which, bool shared, sa_lock *out) {
    char *path;
    *out = (sa_lock){.file = -1};
    SA_TRY(sa_format(&path, "%s/.lock%s", folder, which));
    sa_status status = SA_OK;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (file < 0) {
            status = sa_fail_errno("locked", path);
            break;
        }
        bool locked = !flock(file, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB);
        if (!locked && errno == EWOULDBLOCK) {
            status = busy(folder, file);
            close(file);
            break;
        }
        if (locked && !is_there(file, path)) {
            close(file);
            continue;
        }
        sign(file);
        *out = (sa_lock){.path = path, .file = file};
        return SA_OK;
    }
    sa_free(path);
    return status;
}

void sa_lock_release(sa_lock *lock, bool alone) {
    if (!lock->path) return;
    if (alone) unlink(lock->path);
    close(lock->file);
    sa_free(lock->path);
    *lock = (sa_lock){.file = -1};
}
