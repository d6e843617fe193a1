/* serve_check and serve_backup: what an operator does beside the running service. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "brain.h"
#include "serve.h"
#include "store.h"

typedef struct tour {
    const char *folder, *to; /* to NULL: checking */
    sv_text findings;
    size_t agents, damaged, missing;
    uint64_t rows, waiting;
} sv_tour;

static sv_store *open_folder(const char *folder, char *message) {
    sv_text sentence = {0};
    sv_store *store = store_open(folder, false, &sentence);
    if (!store) snprintf(message, 512, "%s", sentence.failed ? "memory could not be had" : sentence.data);
    text_free(&sentence);
    return store;
}

static void check_file(sv_tour *self, const store_agent *agent, const char *file, const char *which) {
    sv_text path = {0};
    sv_refusal why = {0};
    sv_brain *brain = NULL;
    if (!file) return;
    text_put(&path, "%s/%s", self->folder, file);
    if (path.failed || !brain_load(path.data, &brain, &why))
        text_put(&self->findings, "agent %s: its %s cannot be read: %s\n", agent->name, which, why.message);
    brain_destroy(brain);
    text_free(&path);
}

static bool check_agent(void *user, const store_agent *agent) {
    sv_tour *self = user;
    sv_refusal why = {0};
    if (agent->deleted) return true;
    self->agents++;
    self->rows += agent->last_seq;
    self->waiting += agent->waiting;
    sv_settings *settings = settings_read_text(agent->settings, strlen(agent->settings), &why);
    if (!settings)
        text_put(&self->findings, "agent %s: its settings cannot be read: %s\n", agent->name, why.message);
    settings_release(settings);
    check_file(self, agent, agent->checkpoint, "checkpoint");
    check_file(self, agent, agent->older, "older checkpoint");
    return true;
}

/* Looks at the whole folder, and prints what is wrong with it. 0: nothing; else as the exit status. */
static int check_folder(sv_tour *self, char *message) {
    sv_store *store = open_folder(self->folder, message);
    if (!store) return 2;
    store_status status = store_check(store, &self->findings);
    if (status == STORE_OK) status = store_agents(store, check_agent, self);
    if (status != STORE_OK) snprintf(message, 512, "%s", store_sentence(store));
    store_close(store);
    bool sound = status == STORE_OK && !self->findings.size;
    if (status == STORE_OK && !sound) {
        fputs(self->findings.data, stdout);
        snprintf(message, 512, "%s is damaged: see above", self->folder);
    }
    text_free(&self->findings);
    return sound ? 0 : 1;
}

int serve_check(const char *folder, char *message) {
    sv_tour tour = {.folder = folder};
    int status = check_folder(&tour, message);
    if (status == 0)
        printf("%s is sound: %zu agent%s, %llu journal rows, %llu events that wait\n", folder, tour.agents,
               tour.agents == 1 ? "" : "s", (unsigned long long)tour.rows, (unsigned long long)tour.waiting);
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
    sv_text from = {0}, to = {0};
    if (!file) return true;
    text_put(&from, "%s/%s", self->folder, file);
    text_put(&to, "%s/%s", self->to, file);
    bool good = !from.failed && !to.failed && copy_file(from.data, to.data);
    self->missing += !good;
    text_free(&from);
    text_free(&to);
    return good;
}

static bool copy_checkpoints(void *user, const store_agent *agent) {
    return agent->deleted || (copy_named(user, agent->older) && copy_named(user, agent->checkpoint));
}

/* The database, then the checkpoints that the copy names. */
static bool copy_once(sv_tour *self, sv_store *store, char *message) {
    sv_text path = {0};
    bool good = false;
    self->missing = 0;
    text_put(&path, "%s/journal.db", self->to);
    if (path.failed || store_copy(store, path.data) != STORE_OK)
        snprintf(message, 512, "the journal could not be copied: %s", store_sentence(store));
    else {
        struct store *copy = open_folder(self->to, message);
        good = copy && store_agents(copy, copy_checkpoints, self) == STORE_OK && self->missing == 0;
        store_close(copy);
        if (self->missing) snprintf(message, 512, "a checkpoint in %s could not be copied", self->folder);
    }
    text_free(&path);
    return good;
}

int serve_backup(const char *folder, const char *to, char *message) {
    sv_tour tour = {.folder = folder, .to = to};
    sv_store *store = open_folder(folder, message);
    if (!store) return 2;
    if (mkdir(to, 0700)) {
        snprintf(message, 512, "%s cannot be made: %s", to, strerror(errno));
        store_close(store);
        return 2;
    }
    bool good = false;
    for (int tries = 0; tries < 5 && !good; tries++)
        good = copy_once(&tour, store, message); /* a newer checkpoint may replace one */
    store_close(store);
    int into = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (into >= 0) good = fsync(into) == 0 && good;
    if (into >= 0) close(into);
    if (!good) return 1;
    sv_tour copy = {.folder = to};
    if (check_folder(&copy, message)) {
        snprintf(message, 512, "%s is a copy of %s, and --check finds it damaged: see above", to, folder);
        return 1;
    }
    printf("%s is a copy of %s: superarm serve --dir %s goes on from it\n", to, folder, to);
    return 0;
}
