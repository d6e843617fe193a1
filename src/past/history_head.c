#include "past/history_head.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "base/platform.h"
#include "base/reals.h"
#include <superarm/agent.h>

static const char MAGIC[16] = "superarm history";
static const uint64_t VERSION = 2, BYTE_ORDER_MARK = 0x0102030405060708;

sa_status sa_history_head_fill(sa_history_head *head, const sa_history *history, const char *path) {
    *head = (sa_history_head){.version = VERSION,
                              .byte_order = BYTE_ORDER_MARK,
                              .dim = history->dim,
                              .real_bytes = sa_precision_bytes(history->precision),
                              .positions = history->positions > 0,
                              .discounted = history->discounted};
    memcpy(head->magic, MAGIC, sizeof head->magic);
    if (!sa_random_bytes(head->id, sizeof head->id)) return sa_fail_errno("named", path);
    return SA_OK;
}

static sa_status check_kind(const sa_history_head *head, const char *path) {
    if (memcmp(head->magic, MAGIC, sizeof MAGIC) != 0)
        return sa_fail(SA_FORMAT, "%s is not a history of an agent", path);
    if (head->byte_order != BYTE_ORDER_MARK || head->version == 0)
        return sa_fail(SA_FORMAT, "the history %s is damaged, or of a machine with another order of bytes",
                       path);
    if (head->version != VERSION)
        return sa_fail(head->version > VERSION ? SA_NEWER : SA_FORMAT,
                       "the history %s is of format %llu, %s than %llu, the one that this version reads",
                       path, (unsigned long long)head->version, head->version > VERSION ? "newer" : "older",
                       (unsigned long long)VERSION);
    return SA_OK;
}

sa_status sa_history_head_check(const sa_history_head *head, const sa_history *history,
                                const sa_history_mark *mark, const char *path) {
    SA_TRY(check_kind(head, path));
    if (memcmp(head->id, mark->id, sizeof head->id) != 0)
        return sa_fail(SA_FORMAT, "the history %s belongs to another agent", path);
    if (head->dim != history->dim || head->real_bytes != sa_precision_bytes(history->precision) ||
        head->positions != (history->positions > 0) || head->discounted != history->discounted)
        return sa_fail(SA_FORMAT,
                       "the history %s is damaged: its observations are of another shape than the agent's",
                       path);
    if (mark->number != head->mark && mark->number != head->issued)
        return sa_fail(SA_FORMAT,
                       "the history %s went on after this agent was saved: only the agent that was saved "
                       "last can be loaded",
                       path);
    if (mark->count > head->count || mark->answered > head->answered)
        return sa_fail(
            SA_FORMAT,
            "the history %s has %llu observations of this saved agent's %llu: it has lost what came last",
            path, (unsigned long long)head->count, (unsigned long long)mark->count);
    return SA_OK;
}

sa_status sa_history_check_name(const char *path) {
    return strchr(path, '\n') ? sa_fail(SA_INVALID, "--history: a name must not have a line break") : SA_OK;
}

bool sa_leads_to(const char *path, const struct stat *file) {
    struct stat found;
    return stat(path, &found) == 0 && found.st_dev == file->st_dev && found.st_ino == file->st_ino;
}

bool sa_is_history(const char *path) {
    char magic[sizeof MAGIC];
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return false;
    bool is_one =
        read(file, magic, sizeof magic) == (ssize_t)sizeof magic && !memcmp(magic, MAGIC, sizeof magic);
    close(file);
    return is_one;
}

/* ---- a history that no saved agent needs ---- */

/* One that is in use is locked, or has just made way for another. */
static sa_status check_unsaved(int file, const char *path, bool alone) {
    sa_history_head head;
    struct stat ours;
    if (pread(file, &head, sizeof head, 0) != (ssize_t)sizeof head || check_kind(&head, path) != SA_OK)
        return sa_fail(SA_FILE, "--history %s exists, and is no history of this version: give another name",
                       path);
    bool locked = flock(file, (alone ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0;
    if (!locked && errno != EWOULDBLOCK) return sa_fail_errno("locked", path);
    if (!locked || fstat(file, &ours) != 0 || !sa_leads_to(path, &ours))
        return sa_fail(
            SA_FILE, "--history %s is in use by another agent: wait for its end, or give another name", path);
    if (pread(file, &head, sizeof head, 0) != (ssize_t)sizeof head || head.issued != 0)
        return sa_fail(SA_FILE, "--history %s belongs to a saved agent: load that, or give another name",
                       path);
    return SA_OK;
}

sa_status sa_history_file_make_way(const char *path, bool remove) {
    struct stat about;
    SA_TRY(sa_history_check_name(path));
    if (lstat(path, &about) != 0) return errno == ENOENT ? SA_OK : sa_fail_errno("written", path);
    if (!S_ISREG(about.st_mode))
        return sa_fail(SA_FILE, "--history %s exists, and is no history of this version: give another name",
                       path);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return sa_fail_errno("read", path);
    sa_status status = check_unsaved(file, path, remove);
    if (status == SA_OK && remove && unlink(path) != 0) status = sa_fail_errno("removed", path);
    close(file); /* and the lock with it */
    return status;
}
