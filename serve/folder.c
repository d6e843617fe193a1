#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <superarm/json.h>

static const double SPARE_BYTES = 8e6; /* for the journal */

static bool no_memory(sv_refusal *why) { return sv_refuse(why, 503, "memory could not be had"); }

static char *inside(const char *folder, const char *name) {
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s/%s", folder, name);
    return path;
}

/* Bytes of a file of the folder; -1: it is not there. */
static long long size_of(const char *folder, const char *name) {
    struct stat about;
    char *path = inside(folder, name);
    bool there = path && stat(path, &about) == 0;
    free(path);
    return there ? (long long)about.st_size : -1;
}

int64_t sv_folder_mark(const char *folder) {
    char *path = inside(folder, "lock"), text[32] = "";
    FILE *file = path ? fopen(path, "r") : NULL;
    free(path);
    if (!file) return 0;
    size_t size = fread(text, 1, sizeof text - 1, file);
    text[size] = 0;
    fclose(file);
    return strtoll(text, NULL, 10);
}

/* ---- opening ---- */

static bool take_lock(sv_folder *self, sv_refusal *why) {
    char *path = inside(self->path, "lock");
    if (!path) return no_memory(why);
    self->lock_file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int error = errno;
    free(path);
    if (self->lock_file < 0)
        return sv_refuse(why, 400, "%s cannot be written to: %s", self->path, strerror(error));
    if (flock(self->lock_file, LOCK_EX | LOCK_NB) == 0) return true;
    return sv_refuse(why, 400, "%s is in use by another process", self->path);
}

/* "agent-12-345.npz", or with a mark behind the number? */
static bool is_checkpoint(const char *name) {
    size_t size = strlen(name), id, seq;
    if (strncmp(name, "agent-", 6) || size < 10 || strcmp(name + size - 4, ".npz")) return false;
    id = strspn(name + 6, "0123456789");
    if (!id || name[6 + id] != '-') return false;
    seq = strspn(name + 7 + id, "0123456789");
    return seq > 0;
}

static bool has_checkpoints(const char *path) {
    bool found = false;
    DIR *folder = opendir(path);
    for (struct dirent *file; folder && !found && (file = readdir(folder));)
        found = is_checkpoint(file->d_name);
    if (folder) closedir(folder);
    return found;
}

/* A new journal is made only where none was: beside the rest of one it would be taken for a new service. */
static bool check_files(sv_folder *self, sv_refusal *why) {
    if (size_of(self->path, "journal.db") > 0) return true;
    const char *rest = size_of(self->path, "journal.db-wal") > 0 ? "its log journal.db-wal"
                       : has_checkpoints(self->path)             ? "checkpoints of its agents"
                       : sv_folder_mark(self->path) > 0          ? "its lock file"
                                                                 : NULL;
    if (!rest) return true;
    return sv_refuse(
        why, 400,
        "%s has no journal.db, and yet %s: put journal.db back, or serve a backup; for a new service "
        "take an empty folder",
        self->path, rest);
}

bool sv_folder_open(sv_folder *self, const char *path, sv_refusal *why) {
    *self = (sv_folder){.lock_file = -1};
    if (!(self->path = strdup(path))) return no_memory(why);
    if (mkdir(path, 0700) && errno != EEXIST)
        return sv_refuse(why, 400, "%s cannot be made: %s", path, strerror(errno));
    return take_lock(self, why) && check_files(self, why);
}

bool sv_folder_check_journal(sv_folder *self, sv_store *store, sv_refusal *why) {
    if (sv_store_written(store) < sv_folder_mark(self->path))
        return sv_refuse(
            why, 400,
            "%s/journal.db ends before what was written last: its log journal.db-wal is missing or "
            "damaged, or it is an older copy. Put the right one back, or serve a backup; to go on with "
            "what is there, remove %s/lock",
            self->path, self->path);
    sv_store_mark(store, self->lock_file);
    return true;
}

/* ---- files of our own ---- */

/* "FILE" or "FILE.123-0.tmp", as the library writes it before it is whole? */
static bool is_of(const char *name, const char *file) {
    size_t size = strlen(file);
    if (strncmp(name, file, size)) return false;
    if (!name[size]) return true;
    const char *at = name + size + 1;
    if (name[size] != '.' || !(size = strspn(at, "0123456789")) || at[size] != '-') return false;
    at += size + 1;
    return (size = strspn(at, "0123456789")) && !strcmp(at + size, ".tmp");
}

typedef struct names {
    char **list;
    size_t count;
    bool failed;
} sv_names;

static void take_name(void *user, const char *file) {
    sv_names *self = user;
    char **list = realloc(self->list, (self->count + 1) * sizeof *list);
    if (list) self->list = list;
    if (list && (list[self->count] = strdup(file)))
        self->count++;
    else
        self->failed = true;
}

static void remove_named(const char *path, const sv_names *names) {
    DIR *folder = opendir(path);
    for (struct dirent *file; folder && (file = readdir(folder));)
        for (size_t i = 0; i < names->count; i++)
            if (is_of(file->d_name, names->list[i])) unlinkat(dirfd(folder), file->d_name, 0);
    if (folder) closedir(folder);
}

static void remove_scratch(const char *path, const char *begin) {
    DIR *folder = opendir(path);
    for (struct dirent *file; folder && (file = readdir(folder));)
        if (!strncmp(file->d_name, begin, strlen(begin))) unlinkat(dirfd(folder), file->d_name, 0);
    if (folder) closedir(folder);
}

/* Names that nobody else gives, since they begin with 64 random bits. */
static bool name_scratch(sv_store *store, char name[64], sv_refusal *why) {
    uint8_t random[8];
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return sv_refuse(why, 503, "there are no random numbers");
    strcpy(name, "scratch-");
    sv_hex_write(random, sizeof random, name + 8);
    sv_store_status status = sv_store_begin(store);
    if (status == STORE_OK) status = sv_store_scratch_put(store, name);
    if (status == STORE_OK) status = sv_store_commit(store);
    if (status == STORE_OK) return true;
    sv_store_rollback(store);
    return sv_refuse(why, 503, "%s", sv_store_sentence(store));
}

static bool open_scratch(sv_folder *self, sv_store *store, sv_refusal *why) {
    char name[64] = "";
    sv_store_status status = sv_store_scratch(store, name);
    if (status != STORE_OK && status != STORE_NONE)
        return sv_refuse(why, 503, "%s", sv_store_sentence(store));
    if (status == STORE_OK && strlen(name) == 24)
        remove_scratch(self->path, name);
    else if (!name_scratch(store, name, why))
        return false;
    return (self->scratch = inside(self->path, name)) || no_memory(why);
}

bool sv_folder_tidy(sv_folder *self, sv_store *store, sv_refusal *why) {
    sv_names names = {0};
    sv_store_status status = sv_store_leftovers(store, take_name, &names);
    if (status == STORE_OK && !names.failed) remove_named(self->path, &names);
    for (size_t i = 0; i < names.count; i++) free(names.list[i]);
    free(names.list);
    if (status != STORE_OK) return sv_refuse(why, 503, "%s", sv_store_sentence(store));
    return open_scratch(self, store, why);
}

bool sv_folder_has_room(const sv_folder *self, double bytes, sv_refusal *why) {
    struct statvfs disk;
    double wanted = bytes + SPARE_BYTES;
    if (statvfs(self->path, &disk)) return true; /* then a write says so */
    double room = (double)disk.f_bavail * (double)disk.f_frsize;
    return room >= wanted ||
           sv_refuse(why, 503, "the disk has %.0f MB left, and this needs %.0f: nothing is changed",
                     room / 1e6, wanted / 1e6);
}

/* ---- temporary ones ---- */

#define TEMPORARY "superarm-serve-tmp-"

static void empty_folder(const char *path) {
    DIR *folder = opendir(path);
    for (struct dirent *file; folder && (file = readdir(folder));)
        if (file->d_name[0] != '.') unlinkat(dirfd(folder), file->d_name, 0);
    if (folder) closedir(folder);
    rmdir(path);
}

/* A file with the folder's own name. A folder that somebody has named or copied by hand has none. */
static char *mark_of(const char *path) {
    const char *name = strrchr(path, '/');
    return inside(path, name ? name + 1 : path);
}

static bool mark_as_ours(const char *path) {
    char *mark = mark_of(path);
    int file = mark ? open(mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    free(mark);
    return file >= 0 && close(file) == 0;
}

static bool is_ours(const char *path) {
    struct stat about;
    char *mark = mark_of(path);
    bool ours = mark && lstat(path, &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == getuid() &&
                lstat(mark, &about) == 0;
    free(mark);
    return ours;
}

/* Ours, and nobody has its lock any longer? */
static bool is_left(const char *path) {
    char *lock = inside(path, "lock");
    if (!lock || !is_ours(path)) return free(lock), false;
    int file = open(lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    free(lock);
    bool left = file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0;
    if (file >= 0) close(file);
    return left;
}

static void remove_left(const char *parent, const char *begin) {
    DIR *folder = opendir(parent);
    for (struct dirent *file; folder && (file = readdir(folder));) {
        bool named =
            !strncmp(file->d_name, begin, strlen(begin)) && strlen(file->d_name) == strlen(begin) + 6;
        char *path = named ? inside(parent, file->d_name) : NULL;
        if (path && is_left(path)) empty_folder(path);
        free(path);
    }
    if (folder) closedir(folder);
}

/* Its name begins with `begin`. */
static bool make_left(sv_folder *self, const char *parent, const char *begin, sv_refusal *why) {
    sa_buffer name = {0};
    *self = (sv_folder){.lock_file = -1};
    remove_left(parent, begin);
    sa_buffer_format(&name, "%sXXXXXX", begin);
    if (!name.status) self->path = inside(parent, name.text);
    sa_buffer_clear(&name);
    if (!self->path) return no_memory(why);
    if (!mkdtemp(self->path))
        return sv_refuse(why, 400, "%s cannot be written to: %s", parent, strerror(errno));
    self->temporary = true;
    if (!mark_as_ours(self->path))
        return sv_refuse(why, 400, "%s cannot be written to: %s", self->path, strerror(errno));
    return take_lock(self, why) && ((self->scratch = inside(self->path, "scratch")) || no_memory(why));
}

bool sv_folder_make_temporary(sv_folder *self, sv_refusal *why) {
    const char *parent = getenv("TMPDIR");
    return make_left(self, parent && *parent ? parent : "/tmp", TEMPORARY, why);
}

/* The folder that `path` is in, and its name there with ".copying-" behind it. */
static bool split(const char *path, sa_buffer *parent, sa_buffer *begin) {
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/') size--;
    size_t at = size;
    while (at && path[at - 1] != '/') at--;
    sa_buffer_format(begin, "%.*s.copying-", (int)(size - at), path + at);
    sa_buffer_format(parent, "%.*s", at ? (int)at : 1, at ? path : ".");
    return !parent->status && !begin->status;
}

bool sv_folder_make_beside(sv_folder *self, const char *path, sv_refusal *why) {
    sa_buffer parent = {0}, begin = {0};
    *self = (sv_folder){.lock_file = -1};
    bool good = split(path, &parent, &begin) ? make_left(self, parent.text, begin.text, why) : no_memory(why);
    sa_buffer_clear(&parent);
    sa_buffer_clear(&begin);
    return good;
}

static bool sync_folder(const char *path) {
    int file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = file >= 0 && fsync(file) == 0;
    if (file >= 0) close(file);
    return good;
}

bool sv_folder_put_in_place(sv_folder *self, const char *path, sv_refusal *why) {
    sa_buffer parent = {0}, begin = {0};
    char *mark = mark_of(self->path);
    if (mark) unlink(mark); /* it stays */
    free(mark);
    bool good = split(path, &parent, &begin) && sync_folder(self->path) && rename(self->path, path) == 0;
    if (!good) sv_refuse(why, 400, "%s cannot be made: %s", path, strerror(errno));
    if (good) self->temporary = false; /* its path is gone */
    if (good && !sync_folder(parent.text))
        good = sv_refuse(why, 503, "%s cannot be synced: %s", parent.text, strerror(errno));
    sa_buffer_clear(&parent);
    sa_buffer_clear(&begin);
    return good;
}

void sv_folder_close(sv_folder *self) {
    if (self->temporary && self->path) empty_folder(self->path);
    self->temporary = false;
    if (self->lock_file >= 0) close(self->lock_file);
    self->lock_file = -1;
    free(self->path);
    free(self->scratch);
    self->path = self->scratch = NULL;
}
