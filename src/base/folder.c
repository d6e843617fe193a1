/* Folders: making, looking into, removing. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

static bool is_folder(const char *path) {
    struct stat about;
    return !stat(path, &about) && S_ISDIR(about.st_mode);
}

sa_status sa_folder_make(const char *path) {
    if (!*path) return sa_fail(SA_FILE, "a folder's name must not be empty");
    char *part;
    SA_TRY(sa_copy_text(path, &part));
    sa_status status = SA_OK;
    for (char *end = part; status == SA_OK && *end;) {
        end += strspn(end, "/");
        end += strcspn(end, "/");
        char kept = *end;
        *end = 0;
        if (mkdir(part, 0777)) {
            int code = errno;
            if (!is_folder(part)) {
                errno = code == EEXIST ? ENOTDIR : code;
                status = sa_fail_errno("made", part);
            }
        }
        *end = kept;
    }
    sa_free(part);
    return status;
}

bool sa_folder_is_empty(const char *path) {
    DIR *folder = opendir(path);
    if (!folder) return errno == ENOENT;
    bool empty = true;
    for (struct dirent *entry; empty && (entry = readdir(folder));)
        empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
                !strncmp(entry->d_name, ".lock", 5);
    closedir(folder);
    return empty;
}

/* Depth first, one folder at a time on the heap; links are not followed. */
sa_status sa_path_remove(const char *path) {
    struct stat about;
    if (lstat(path, &about))
        return errno == ENOENT || errno == ENOTDIR ? SA_OK : sa_fail_errno("removed", path);
    if (!S_ISDIR(about.st_mode))
        return unlink(path) && errno != ENOENT ? sa_fail_errno("removed", path) : SA_OK;
    char *copy;
    SA_TRY(sa_copy_text(path, &copy));
    sa_status status = SA_OK;
    FTS *walk = fts_open((char *[]){copy, NULL}, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (!walk) status = sa_fail_errno("removed", path);
    for (FTSENT *entry; walk && (entry = fts_read(walk));) {
        if (entry->fts_info == FTS_D) continue;
        bool failed = entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR;
        if (failed) errno = entry->fts_errno;
        if (!failed)
            failed = (entry->fts_info == FTS_DP ? rmdir : unlink)(entry->fts_accpath) && errno != ENOENT;
        if (failed && status == SA_OK) status = sa_fail_errno("removed", entry->fts_accpath);
    }
    if (walk) fts_close(walk);
    sa_free(copy);
    return status;
}
