#include "service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoints.h"
#include "cluster.h"

typedef struct loading {
    sv_service *service;
    sv_store *store;
    sv_refusal *why;
} sv_loading;

/* One whose items cannot be read is broken, and others go on. */
static void load_items(sv_loading *self, sv_agent *agent) {
    sv_refusal why = {0};
    sv_store_catalogue about = {0};
    if (atomic_load(&agent->unreadable)) return;
    if (!sv_catalogue_load(self->store, agent->id, NULL, agent->settings->schema, &agent->catalogue, &about,
                           &why)) {
        fprintf(stderr, "superarm serve: agent %s is broken: its items cannot be read: %s\n", agent->name,
                why.message);
        sv_agent_break(agent, why.message);
    }
    agent->items_number = about.number;
    atomic_store(&agent->items_past, about.past);
}

static bool load_agent(void *user, const sv_store_agent *from) {
    sv_loading *self = user;
    if (from->deleted) return true;
    sv_refusal unread = {0};
    sv_settings *settings = sv_settings_read_text(from->settings, strlen(from->settings), &unread);
    bool readable = settings;
    if (!readable) settings = sv_settings_guess(from->settings, strlen(from->settings));
    sv_agent *agent = settings ? sv_agent_new(from->id, from->name, settings) : NULL;
    sv_settings_release(settings);
    if (!agent) return sv_refuse(self->why, 503, "memory could not be had");
    if (!readable) {
        fprintf(stderr, "superarm serve: agent %s is broken: its settings cannot be read: %s\n", from->name,
                unread.message);
        atomic_store(&agent->unreadable, true);
        sv_agent_break(agent, unread.message);
    }
    load_items(self, agent);
    sv_agent_wrote(agent, from->last_seq);
    agent->settings_version = from->version;
    if (from->policy) atomic_store(&agent->checkpointed, from->policy);
    agent->start_seq = from->last_seq;
    agent->decisions_known = agent->feedbacks_known = self->service->cluster;
    bool noted = sv_checkpoints_note(agent, from) || sv_refuse(self->why, 503, "memory could not be had");
    if (noted && !sv_agents_add(&self->service->agents, agent))
        fprintf(stderr, "superarm serve: agent %s is not served: there are %d others, which is the most\n",
                from->name, LIMIT_AGENTS);
    sv_agent_release(agent);
    return noted;
}

static sv_store *open_store(sv_service *self, bool write, sv_refusal *why) {
    sa_buffer sentence = {0};
    sv_store *store = why->status ? NULL : sv_store_open(self->place, write, &sentence);
    if (!store && !why->status)
        sv_refuse(why, sv_store_is_url(self->place) ? 400 : 503, "%s",
                  sentence.size && !sentence.status ? sentence.text : "memory could not be had");
    sa_buffer_clear(&sentence);
    return store;
}

static bool load_all(sv_service *self, sv_store *store, sv_refusal *why) {
    sv_loading loading = {self, store, why};
    sv_store_status status = sv_store_agents(store, load_agent, &loading);
    if (!why->status && status != STORE_OK) return sv_refuse(why, 503, "%s", sv_store_sentence(store));
    if (!why->status && sv_sums_load(store, &self->agents) != STORE_OK)
        return sv_refuse(why, 503, "%s", sv_store_sentence(store));
    return !why->status;
}

/* The threads, one after the other. Each takes over its store; what is not taken is closed. */
static bool start_writers(sv_service *self, sv_store *store, sv_refusal *why) {
    sv_maintenance *rows[] = {&self->closing, &self->retention};
    sv_service_add_maintenance(self);
    sv_store *of_holder = self->cluster ? open_store(self, true, why) : NULL;
    if (self->cluster && of_holder) {
        self->writer = sv_writer_start(store, NULL, 0, &self->active);
        self->holder = self->writer ? sv_writer_start(of_holder, rows, 2, NULL) : NULL;
        if (self->holder) sv_writer_last(self->holder, &self->held_sums.last);
        if (!self->holder) sv_store_close(of_holder);
    } else if (!self->cluster)
        self->writer = self->holder = sv_writer_start(store, rows, 2, &self->active);
    if (self->writer) sv_writer_last(self->writer, &self->sums.last);
    if (!self->writer) sv_store_close(store);
    return self->holder;
}

static bool start_folding(sv_service *self, sv_store *of_writer, sv_refusal *why) {
    sv_store *store = open_store(self, false, why);
    self->folding = store ? sv_folding_start(store, of_writer) : NULL;
    if (!self->folding) sv_store_close(store);
    return self->folding;
}

static bool start_learner(sv_service *self, const sv_service_options *options, sv_store *store) {
    sv_learner_options about = {.folder = self->folder.path,
                                .scratch = self->folder.scratch,
                                .checkpoint_seconds = options->checkpoint_seconds,
                                .recovery_seconds =
                                    options->recovery_seconds > 0 ? options->recovery_seconds : 10,
                                .writer = self->writer,
                                .agents = &self->agents};
    self->shared = (sv_learner_shared){self->cluster, sv_cluster_open, sv_cluster_publish,
                                       sv_cluster_keep_newest, sv_cluster_break};
    if (self->cluster) about.shared = &self->shared;
    self->learner = sv_learner_start(&about, store);
    if (!self->learner) sv_store_close(store);
    return self->learner;
}

/* Takes over the store, which writes. */
static bool start_threads(sv_service *self, const sv_service_options *options, sv_store *store,
                          sv_refusal *why) {
    self->reader = open_store(self, false, why);
    sv_store *of_learner = self->reader ? open_store(self, false, why) : NULL;
    if (of_learner && sv_store_snapshot(of_learner) != STORE_OK &&
        !self->cluster) /* before the writer changes it */
        sv_refuse(why, 503, "%s", sv_store_sentence(of_learner));
    if (!of_learner || why->status) {
        sv_store_close(of_learner);
        sv_store_close(store);
        return false;
    }
    if (!start_writers(self, store, why) || (!self->cluster && !start_folding(self, store, why))) {
        sv_store_close(of_learner);
        return why->status ? false : sv_refuse(why, 503, "no thread could be had");
    }
    if (!start_learner(self, options, of_learner)) return sv_refuse(why, 503, "no thread could be had");
    sv_store *of_counting = self->cluster ? NULL : open_store(self, false, why);
    self->counting = of_counting ? sv_counting_start(of_counting, &self->agents) : NULL;
    sv_store *of_evaluations = options->solver ? open_store(self, false, why) : NULL;
    sv_evaluations_options asked = {.program = options->solver,
                                    .folder = &self->folder,
                                    .memory = &self->memory,
                                    .agents = &self->agents,
                                    .writer = self->writer,
                                    .cluster = self->cluster};
    self->evaluations = of_evaluations ? sv_evaluations_start(&asked, of_evaluations) : NULL;
    why->status = 0; /* without them the rates stay unknown, and there are no evaluations */
    sv_writer_do_maintenance(self->writer); /* which wakes the learner */
    if (self->holder != self->writer) sv_writer_do_maintenance(self->holder);
    return !self->cluster || sv_cluster_start(self->cluster) || sv_refuse(why, 503, "no thread could be had");
}

/* A folder is this process's alone, and made whole first. */
static sv_store *open_folder(sv_service *self, const char *folder, sv_refusal *why) {
    if (!sv_folder_open(&self->folder, folder, why)) return NULL;
    self->place = self->folder.path;
    sv_store *store = open_store(self, true, why);
    if (store && !sv_folder_check_journal(&self->folder, store, why)) {
        sv_store_abandon(store);
        return NULL;
    }
    if (store && sv_folder_tidy(&self->folder, store, why) && load_all(self, store, why)) return store;
    sv_store_close(store);
    return NULL;
}

/* A database that is not there yet has agents later. */
static sv_store *open_shared(sv_service *self, const sv_service_options *options, sv_refusal *why) {
    sv_refusal later = {0};
    if (!sv_store_is_url(options->store)) {
        sv_refuse(why, 400, "what --store has is no URL like postgresql://user@host/database");
        return NULL;
    }
    if (!sv_folder_make_temporary(&self->folder, why)) return NULL;
    self->place = options->store;
    self->learning = options->learning;
    sv_store *store = open_store(self, true, why), *of_cluster = store ? open_store(self, true, why) : NULL;
    if (of_cluster) self->cluster = sv_cluster_new(self, of_cluster, options->learning, why);
    if (self->cluster) {
        if (load_all(self, store, &later)) sv_cluster_opened(self->cluster);
        return store;
    }
    sv_store_close(store);
    return NULL;
}

sv_service *sv_service_start(const sv_service_options *options, sv_refusal *why) {
    sv_service *self = calloc(1, sizeof *self);
    if (!self) {
        sv_refuse(why, 503, "memory could not be had");
        return NULL;
    }
    self->folder.lock_file = -1;
    sv_agents_begin(&self->agents);
    pthread_mutex_init(&self->reading, NULL);
    sv_readers_begin(&self->readers);
    sv_sums_begin(&self->sums, &self->agents, options->store);
    sv_sums_begin(&self->held_sums, &self->agents, false);
    sv_memory_begin(&self->memory, options->memory);
    self->solver_seconds = options->solver_seconds;
    if (options->solver && !(self->solver = sv_solver_start(options->solver))) goto fail;
    if (options->keys && !sv_service_read_keys(self, options->keys, why)) goto fail;
    sv_store *store =
        options->store ? open_shared(self, options, why) : open_folder(self, options->folder, why);
    if (!store) goto fail;
    self->readers.place = self->place;
    if (!start_threads(self, options, store, why)) goto fail;
    return self;
fail:
    sv_service_stop(self);
    return NULL;
}

bool sv_service_read_keys(sv_service *self, const char *path, sv_refusal *why) {
    char warning[200];
    if (!sv_keys_read(&self->keys, path, warning, why)) return false;
    if (*warning) fprintf(stderr, "superarm serve: %s\n", warning);
    if (self->cluster) sv_cluster_set_keys(self->cluster);
    return true;
}

unsigned long long sv_service_number(void) {
    static atomic_ullong last;
    return atomic_fetch_add(&last, 1) + 1;
}

void sv_service_stop(sv_service *self) {
    if (!self) return;
    sv_evaluations_stop(self->evaluations);
    sv_counting_stop(self->counting);
    sv_cluster_stop(self->cluster);
    sv_learner_stop(self->learner);
    sv_folding_stop(self->folding);
    if (self->holder != self->writer) sv_writer_stop(self->holder);
    sv_cluster_leave(self->cluster);
    sv_writer_stop(self->writer);
    sv_evaluations_destroy(self->evaluations);
    sv_cluster_destroy(self->cluster);
    sv_folding_destroy(self->folding);
    sv_learner_destroy(self->learner);
    sv_store_close(self->reader);
    sv_readers_end(&self->readers);
    sv_sums_end(&self->sums);
    sv_sums_end(&self->held_sums);
    sv_solver_stop(self->solver);
    sv_memory_end(&self->memory);
    sv_keys_free(&self->keys);
    sv_agents_end(&self->agents);
    pthread_mutex_destroy(&self->reading);
    sv_folder_close(&self->folder);
    free(self);
}
