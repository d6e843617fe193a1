/* sv_serve_copy: all of a folder into a database, or back. One side is only read, and what is read is one
 * moment of it. The other is whole or not there: a database gets everything in one transaction, and a folder
 * its name when all of its files are on disk.
 *
 * Times of decisions, rows and items stay as they are. Waits that have not ended go on for as long as they
 * would have: the folder's clock of waits stands still in long stops, and a database's does not. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "copy_left.h"
#include "copy_policies.h"
#include "folder.h"
#include "serve.h"
#include "upkeep.h"

typedef struct copying {
    const sv_copy_calls *out, *in;
    sv_store *from, *to;
    const char *folder; /* where checkpoints are, or are to be */
    sv_copied_table table;
    int64_t shift; /* of waits */
    uint64_t rows[COPIED_COUNT];
    sa_buffer sentence; /* of what failed */
} copying;

static sv_store_status say(copying *self, sv_store *failed) {
    sa_buffer_format(&self->sentence, "%s", sv_store_sentence(failed));
    return STORE_FAILED;
}

/* ---- from one store into another ---- */

static sv_store_status take_row(void *user, sv_cell *cells) {
    copying *self = user;
    if (self->table == COPIED_DECISIONS && cells[COPIED_STATE].number == DECISION_WAITS &&
        cells[COPIED_DUE].number > 0) {
        int64_t due = cells[COPIED_DUE].number + self->shift;
        cells[COPIED_DUE].number = due > 0 ? due : 1;
    }
    self->rows[self->table]++;
    return self->in->copy_row(self->to, cells) == STORE_OK ? STORE_OK : say(self, self->to);
}

static sv_store_status copy_table(copying *self, sv_copied_table table) {
    self->table = table;
    if (self->in->copy_begin(self->to, table) != STORE_OK) return say(self, self->to);
    sv_store_status status = self->out->copy_rows(self->from, table, take_row, self);
    if (status != STORE_OK) return self->sentence.size ? status : say(self, self->from);
    return self->in->copy_end(self->to) == STORE_OK ? STORE_OK : say(self, self->to);
}

static sv_store_status take_policy(void *user, const sv_copied_policy *policy) {
    copying *self = user;
    return self->in == &sv_postgres_copying
               ? sv_copy_policy_in(self->to, self->folder, policy, &self->sentence)
               : sv_copy_policy_out(self->from, self->to, self->folder, policy, &self->sentence);
}

static sv_store_status take_catalogue(void *user, const sv_copied_catalogue *catalogue) {
    copying *self = user;
    return self->in->copy_catalogue(self->to, catalogue) == STORE_OK ? STORE_OK : say(self, self->to);
}

static bool copy_all(copying *self) {
    sv_copied_numbers numbers = {0}, there;
    sv_store_status status = STORE_OK;
    if (self->out->copy_numbers(self->from, &numbers) != STORE_OK) return say(self, self->from), false;
    if (self->in == &sv_postgres_copying) {
        if (self->in->copy_numbers(self->to, &there) != STORE_OK) return say(self, self->to), false;
        self->shift = there.now - numbers.now;
    }
    for (int i = 0; i < COPIED_COUNT && status == STORE_OK; i++)
        status = copy_table(self, (sv_copied_table)i);
    if (status == STORE_OK) status = self->out->copy_catalogues(self->from, take_catalogue, self);
    if (status == STORE_OK) status = self->out->copy_policies(self->from, take_policy, self);
    if (status != STORE_OK && !self->sentence.size) say(self, self->from);
    if (status != STORE_OK) return false;
    return self->in->copy_put_numbers(self->to, &numbers) == STORE_OK || (say(self, self->to), false);
}

/* ---- into a database ---- */

static int fail(char *message, int status, const char *sentence) {
    snprintf(message, 512, "%s", sentence && *sentence ? sentence : "memory could not be had");
    return status;
}

static sv_store *open_store(const char *place, bool write, char *message) {
    sa_buffer sentence = {0};
    sv_store *store = sv_store_open(place, write, &sentence);
    if (!store) fail(message, 2, sentence.text);
    sa_buffer_clear(&sentence);
    return store;
}

static bool has_file(const char *folder, const char *name) {
    sa_buffer path = {0};
    sa_buffer_format(&path, "%s/%s", folder, name);
    bool has = !path.status && access(path.text, F_OK) == 0;
    sa_buffer_clear(&path);
    return has;
}

static void tell(const copying *self, const char *from, const char *to) {
    bool url = sv_store_is_url(to);
    char names[2][256];
    sv_store_name(from, names[0]);
    sv_store_name(to, names[1]);
    printf(
        "%s is copied into %s: %llu agents, %llu decisions, %llu journal rows. superarm serve %s %s goes on "
        "from it; serve only one of the two.\n",
        names[0], names[1], (unsigned long long)self->rows[COPIED_AGENTS],
        (unsigned long long)self->rows[COPIED_DECISIONS], (unsigned long long)self->rows[COPIED_ROWS],
        url ? "--store" : "--dir", url ? "URL" : to);
}

static int fill_database(copying *self, char *message) {
    if (!sv_postgres_copy_alone(self->to, true)) return fail(message, 2, sv_store_sentence(self->to));
    if (!copy_all(self)) return fail(message, 1, self->sentence.text);
    sv_store_status status = sv_store_commit(self->to);
    return status == STORE_OK ? 0 : fail(message, 1, sv_store_sentence(self->to));
}

static int into_database(const char *folder, const char *url, char *message) {
    copying self = {.out = &sv_sqlite_copying, .in = &sv_postgres_copying, .folder = folder};
    sv_folder held = {.lock_file = -1};
    sv_refusal why = {0};
    int status = 2;
    if (!has_file(folder, "journal.db")) {
        snprintf(message, 512, "%s has no journal.db: it is no folder of superarm serve", folder);
        return 2;
    }
    if (!(self.from = open_store(folder, false, message))) return 2;
    if (!sv_folder_open(&held, folder, &why))
        status = fail(message, 2, why.message);
    else if ((self.to = open_store(url, true, message))) {
        status = sv_upkeep_look(folder, message);
        if (status == 1) snprintf(message, 512, "%s is damaged, and is not copied: see above", folder);
        if (!status) status = fill_database(&self, message);
        if (status) sv_store_rollback(self.to);
    }
    if (!status) tell(&self, folder, url);
    sv_store_close(self.to);
    sv_store_abandon(self.from);
    sv_folder_close(&held);
    sa_buffer_clear(&self.sentence);
    return status;
}

/* ---- into a folder ---- */

static bool is_empty(const char *path) {
    bool empty = true;
    DIR *folder = opendir(path);
    if (!folder) return false;
    for (struct dirent *file; empty && (file = readdir(folder));)
        empty = !strcmp(file->d_name, ".") || !strcmp(file->d_name, "..");
    closedir(folder);
    return empty;
}

static bool is_mounted(const char *path) {
    struct statx about = {0};
    return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, &about) == 0 &&
           (about.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

/* A copy takes the place of nothing, or of an empty folder, whose group and mode it gets. Why it cannot, or
 * NULL; `about` has no mode where nothing is there. */
static const char *what_hinders(const char *path, struct stat *about) {
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    *about = (struct stat){0};
    if (lstat(path, about)) return errno == ENOENT ? NULL : strerror(errno);
    if (S_ISLNK(about->st_mode)) return "it is a symbolic link, and a copy needs a new folder: name that";
    if (!S_ISDIR(about->st_mode) || !is_empty(path))
        return "it is there and not an empty folder: a copy needs a new one";
    if (!strcmp(name, ".") || !strcmp(name, ".."))
        return "a copy takes the place of an empty folder: give its own name, from elsewhere";
    if (is_mounted(path))
        return "it is a mount point, whose place a copy cannot take: name a new folder in it";
    if (about->st_uid != geteuid())
        return "it belongs to another user: copy as the one who is to serve it, or into a new folder";
    return NULL;
}

static bool sync_journal(const char *folder) {
    sa_buffer path = {0};
    sa_buffer_format(&path, "%s/journal.db", folder);
    int file = path.status ? -1 : open(path.text, O_RDWR | O_CLOEXEC);
    bool good = file >= 0 && fsync(file) == 0;
    if (file >= 0) close(file);
    sa_buffer_clear(&path);
    return good;
}

static int fill_folder(copying *self, sv_folder *made, const char *to, const struct stat *about,
                       char *message) {
    sa_buffer sentence = {0};
    sv_refusal why = {0};
    self->folder = made->path;
    self->to = sv_sqlite_make(made->path, &sentence);
    bool good = self->to && copy_all(self);
    sv_store_close(self->to);
    int status = good ? sv_upkeep_look(made->path, message) : 1;
    if (!good) fail(message, 1, self->to ? self->sentence.text : sentence.text);
    if (good && status) snprintf(message, 512, "the copy is damaged, and is not kept: see above");
    if (!status && !sync_journal(made->path)) status = fail(message, 1, "the copy cannot be synced");
    if (!status && about->st_mode && chmod(made->path, about->st_mode & 07777))
        status = fail(message, 1, "the copy cannot be given the mode of its folder");
    if (!status && !sv_folder_put_in_place(made, to, &why)) status = fail(message, 1, why.message);
    sa_buffer_clear(&sentence);
    return status;
}

/* Whose group and mode `about` has, if any. */
static bool make_beside(sv_folder *made, const char *folder, const struct stat *about, sv_refusal *why) {
    if (!sv_folder_make_beside(made, folder, why)) return false;
    return !about->st_mode || chown(made->path, (uid_t)-1, about->st_gid) == 0 ||
           sv_refuse(why, 400, "%s has a group that a copy cannot be given: %s", folder, strerror(errno));
}

static int into_new(const char *url, const char *folder, char *message) {
    copying self = {.out = &sv_postgres_copying, .in = &sv_sqlite_copying};
    sv_folder made = {.lock_file = -1};
    sv_refusal why = {0};
    struct stat about;
    const char *hindrance = what_hinders(folder, &about);
    if (hindrance) {
        snprintf(message, 512, "%s: %s", folder, hindrance);
        return 2;
    }
    int status = sv_upkeep_look(url, message);
    if (status == 1) snprintf(message, 512, "the database is damaged, and is not copied: see above");
    if (status) return status;
    if (!(self.from = open_store(url, true, message))) return 2;
    if (!sv_postgres_copy_alone(self.from, false))
        status = fail(message, 2, sv_store_sentence(self.from));
    else if (!sv_copy_take_left(self.from, &self.sentence))
        status = fail(message, 1, self.sentence.text);
    else if (!make_beside(&made, folder, &about, &why))
        status = fail(message, 2, why.message);
    else
        status = fill_folder(&self, &made, folder, &about, message);
    if (!status) tell(&self, url, folder);
    sv_store_rollback(self.from);
    sv_store_close(self.from);
    sv_folder_close(&made);
    sa_buffer_clear(&self.sentence);
    return status;
}

static int into_folder(const char *url, const char *folder, char *message) {
    char *plain = strdup(folder);
    size_t size = strlen(folder);
    if (!plain) return fail(message, 1, NULL);
    while (size > 1 && plain[size - 1] == '/') plain[--size] = 0;
    int status = into_new(url, plain, message);
    free(plain);
    return status;
}

int sv_serve_copy(const char *from, const char *to, char *message) {
    const char *places[] = {from, to};
    for (size_t i = 0; i < 2; i++)
        if (strstr(places[i], "://") && !sv_store_is_url(places[i])) {
            char name[256];
            sv_store_name(places[i], name);
            snprintf(message, 512, "--copy: %s is no URL like postgresql://user@host/database", name);
            return 2;
        }
    if (sv_store_is_url(from) == sv_store_is_url(to))
        return fail(
            message, 2,
            "--copy takes a folder and the URL of a database, postgresql://..., in either order: folders "
            "are copied by --backup, databases by pg_dump");
    return sv_store_is_url(to) ? into_database(from, to, message) : into_folder(from, to, message);
}
