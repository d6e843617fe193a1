/* sv_serve_check and sv_serve_backup: what an operator does beside the running service. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "model.h"
#include "serve.h"
#include "store.h"
#include "upkeep.h"

typedef struct tour {
    const char *folder, *to; /* to NULL: checking */
    sv_store *store;
    sa_buffer findings;
    size_t agents, damaged, missing;
    uint64_t rows, waiting;
} sv_tour;

static sv_store *open_folder(const char *folder, bool old, char *message) {
    sa_buffer sentence = {0};
    sv_store *store = old ? sv_store_open_old(folder, &sentence) : sv_store_open(folder, false, &sentence);
    if (!store) snprintf(message, 512, "%s", sentence.status ? "memory could not be had" : sentence.text);
    sa_buffer_clear(&sentence);
    return store;
}

static void check_file(sv_tour *self, const sv_store_agent *agent, const char *file, const char *which) {
    sa_buffer path = {0};
    sv_refusal why = {0};
    sv_model *model = NULL;
    if (!file) return;
    sa_buffer_format(&path, "%s/%s", self->folder, file);
    if (path.status || !sv_model_load(path.text, &model, &why))
        sa_buffer_format(&self->findings, "agent %s: its %s cannot be read: %s\n", agent->name, which,
                         why.message);
    sv_model_destroy(model);
    sa_buffer_clear(&path);
}

static bool check_agent(void *user, const sv_store_agent *agent) {
    sv_tour *self = user;
    sv_refusal why = {0};
    if (agent->deleted) return true;
    self->agents++;
    self->rows += agent->last_seq;
    sv_store_counts counts = {0};
    if (sv_store_agent_count(self->store, agent->id, &counts) == STORE_OK) self->waiting += counts.waiting;
    sv_settings *settings = sv_settings_read_text(agent->settings, strlen(agent->settings), &why);
    if (!settings)
        sa_buffer_format(&self->findings, "agent %s: its settings cannot be read: %s\n", agent->name,
                         why.message);
    sv_settings_release(settings);
    check_file(self, agent, agent->checkpoint, "checkpoint");
    check_file(self, agent, agent->older, "older checkpoint");
    return true;
}

/* The journal may end before what its process wrote last: a log that is lost or damaged is not missed by
 * SQLite. */
static void check_end(sv_tour *self, const sv_store *store, int64_t mark) {
    if (sv_store_written(store) < mark)
        sa_buffer_format(&self->findings,
                         "the journal ends before what was written last: journal.db-wal is missing or "
                         "damaged, or journal.db is an older copy\n");
}

/* A database that cannot be reached is not a damaged one. */
static bool is_there(const sv_tour *self) {
    if (!sv_store_is_url(self->folder)) return true;
    bool there = sv_store_begin(self->store) == STORE_OK;
    sv_store_rollback(self->store);
    return there;
}

/* 0: sound; 1: damaged, and `findings` says how; else it could not be looked at. */
static int look(sv_tour *self, char *message) {
    int64_t mark = sv_folder_mark(self->folder); /* first: the journal may go on meanwhile */
    sv_store *store = open_folder(self->folder, false, message);
    if (!store) return 2;
    self->store = store;
    bool there = is_there(self);
    sv_store_status status = there ? sv_store_check(store, &self->findings) : STORE_LATER;
    if (status == STORE_OK) check_end(self, store, mark);
    if (status == STORE_OK) status = sv_store_agents(store, check_agent, self);
    if (status != STORE_OK) snprintf(message, 512, "%s", sv_store_sentence(store));
    there = there && (status == STORE_OK || is_there(self)); /* it may have gone meanwhile */
    sv_store_abandon(store);
    if (!there) return 2;
    if (status != STORE_OK) sa_buffer_format(&self->findings, "%s\n", message);
    return status != STORE_OK || self->findings.size ? 1 : 0;
}

int sv_upkeep_look(const char *place, char *message) {
    sv_tour tour = {.folder = place};
    int status = look(&tour, message);
    if (status == 1 && !tour.findings.status) fputs(tour.findings.text, stdout);
    sa_buffer_clear(&tour.findings);
    return status;
}

bool sv_serve_is_url(const char *place) { return sv_store_is_url(place); }

/* What is no URL at all may be 'host=... password=...', as libpq takes it. */
bool sv_serve_is_store(const char *place, char *message) {
    char name[256] = "what --store has";
    if (sv_store_is_url(place)) return true;
    if (strstr(place, "://")) sv_store_name(place, name);
    snprintf(message, 512, "%s is no URL like postgresql://user@host/database", name);
    return false;
}

int sv_serve_check(const char *folder, char *message) {
    sv_tour tour = {.folder = folder};
    int status = look(&tour, message);
    char name[256];
    sv_store_name(folder, name);
    if (status == 1) {
        if (!tour.findings.status) fputs(tour.findings.text, stdout);
        snprintf(message, 512, "%s is damaged: see above", name);
    } else if (status == 0)
        printf("%s is sound: %zu agent%s, %llu journal rows, %llu events that wait\n", name, tour.agents,
               tour.agents == 1 ? "" : "s", (unsigned long long)tour.rows, (unsigned long long)tour.waiting);
    sa_buffer_clear(&tour.findings);
    return status;
}

/* ---- backup ---- */

static bool copy_file(const char *from, const char *to) {
    char buffer[65536];
    ssize_t got = -1;
    int in = open(from, O_RDONLY | O_CLOEXEC),
        out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool good = out >= 0;
    while (good && (got = read(in, buffer, sizeof buffer)) > 0) good = write(out, buffer, (size_t)got) == got;
    good = good && got == 0 && fsync(out) == 0;
    if (in >= 0) close(in);
    if (out >= 0 && close(out)) good = false;
    return good;
}

static bool copy_named(sv_tour *self, const char *file) {
    sa_buffer from = {0}, to = {0};
    if (!file) return true;
    sa_buffer_format(&from, "%s/%s", self->folder, file);
    sa_buffer_format(&to, "%s/%s", self->to, file);
    bool good = !from.status && !to.status && copy_file(from.text, to.text);
    self->missing += !good;
    sa_buffer_clear(&from);
    sa_buffer_clear(&to);
    return good;
}

static bool copy_checkpoints(void *user, const sv_store_agent *agent) {
    return agent->deleted || (copy_named(user, agent->older) && copy_named(user, agent->checkpoint));
}

/* The database, then the checkpoints that the copy names. */
static bool copy_once(sv_tour *self, sv_store *store, char *message) {
    sa_buffer path = {0};
    bool good = false;
    self->missing = 0;
    sa_buffer_format(&path, "%s/journal.db", self->to);
    if (path.status || sv_store_copy(store, path.text) != STORE_OK)
        snprintf(message, 512, "the journal could not be copied: %s", sv_store_sentence(store));
    else {
        struct store *copy = open_folder(self->to, true, message);
        good = copy && sv_store_agents(copy, copy_checkpoints, self) == STORE_OK && self->missing == 0;
        sv_store_abandon(copy);
        if (self->missing) snprintf(message, 512, "a checkpoint in %s could not be copied", self->folder);
    }
    sa_buffer_clear(&path);
    return good;
}

static bool copy_all(sv_tour *self, sv_store *store, char *message) {
    bool good = false;
    for (int tries = 0; tries < 5 && !good; tries++)
        good = copy_once(self, store, message); /* a newer checkpoint may replace one */
    int into = open(self->to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    good = good && into >= 0 && fsync(into) == 0;
    if (into >= 0) close(into);
    return good;
}

/* The copy is looked at as --check does, which does not hold up those who write to the folder. */
static int check_copy(const char *folder, const char *to, char *message) {
    sa_buffer none = {0};
    int format = 0, status = 0;
    if (sv_store_format(to, &format, &none) && format == STORE_FORMAT) status = sv_upkeep_look(to, message);
    if (status)
        snprintf(message, 512, "%s is a copy of %s, and --check finds it damaged: see above", to, folder);
    sa_buffer_clear(&none);
    return status;
}

int sv_serve_backup(const char *folder, const char *to, char *message) {
    sv_tour tour = {.folder = folder, .to = to};
    if (sv_store_is_url(folder)) {
        snprintf(message, 512, "a database is backed up by pg_dump: docs/SERVERS.md says how");
        return 2;
    }
    sv_store *store = open_folder(folder, true, message);
    if (!store) return 2;
    if (mkdir(to, 0700)) {
        snprintf(message, 512, "%s cannot be made: %s", to, strerror(errno));
        sv_store_abandon(store);
        return 2;
    }
    bool good = copy_all(&tour, store, message);
    sv_store_abandon(store);
    int status = good ? check_copy(folder, to, message) : 1;
    if (!status) printf("%s is a copy of %s: superarm serve --dir %s goes on from it\n", to, folder, to);
    return status;
}
