#include "base/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static size_t digits(const char *text) { return strspn(text, "0123456789"); }

/* "agent.npz.123-0.tmp" or "agent.npz.123-0.tmp.Ab12Cd" for "agent.npz"? */
static bool is_temporary(const char *name, const char *base) {
    const char *letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t length = strlen(base), count;
    if (strncmp(name, base, length) != 0 || name[length] != '.') return false;
    name += length + 1;
    if ((count = digits(name)) == 0 || name[count] != '-') return false;
    name += count + 1;
    if ((count = digits(name)) == 0 || strncmp(name + count, ".tmp", 4) != 0) return false;
    name += count + 4;
    return !*name || (*name == '.' && strlen(name) == 7 && strspn(name + 1, letters) == 6);
}

/* Only while nobody writes in the folder. */
static void remove_left(int folder, const char *base) {
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* which closedir closes */
    DIR *entries = again < 0 ? NULL : fdopendir(again);
    if (!entries && again >= 0) close(again);
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        if (is_temporary(entry->d_name, base)) unlinkat(folder, entry->d_name, 0);
    if (entries) closedir(entries);
}

/* Another holds the lock alone for as long as it takes to look; whoever holds it longer has other reasons,
 * and is not waited for. */
static void share(int folder) {
    const struct timespec moment = {.tv_nsec = 10000000};
    for (int attempt = 0; attempt < 100; attempt++) {
        if (flock(folder, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
        nanosleep(&moment, NULL);
    }
}

int sa_temporary_folder(const char *target) {
    char *path;
    const char *base = last_part(target);
    if (sa_format(&path, "%.*s.", (int)(base - target), target) != SA_OK)
        return -1; /* "." or "some/where/." */
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    sa_free(path);
    if (folder < 0) return -1;
    if (flock(folder, LOCK_EX | LOCK_NB) == 0) remove_left(folder, base);
    share(folder);
    return folder;
}

/* O_EXCL tells threads and processes apart. */
sa_status sa_temporary_open(const char *target, mode_t mode, char **temporary, int *file) {
    for (unsigned attempt = 0; attempt < 10000; attempt++) {
        SA_TRY(sa_format(temporary, "%s.%ld-%u.tmp", target, (long)getpid(), attempt));
        *file = open(*temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (*file >= 0) return SA_OK;
        int code = errno;
        sa_free(*temporary);
        *temporary = NULL;
        errno = code;
        if (code != EEXIST) break;
    }
    return sa_fail_errno("written", target);
}
