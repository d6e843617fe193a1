#include "service.h"

#include <stdlib.h>
#include <string.h>

#include "checkpoints.h"

typedef struct loading {
    sv_service *service;
    sv_refusal *why;
} sv_loading;

static bool load_agent(void *user, const store_agent *from) {
    sv_loading *self = user;
    if (from->deleted) return true;
    sv_refusal unread = {0};
    sv_settings *settings = settings_read_text(from->settings, strlen(from->settings), &unread);
    bool readable = settings;
    if (!readable) settings = settings_guess(from->settings, strlen(from->settings));
    sv_agent *agent = settings ? agent_new(from->id, from->name, settings) : NULL;
    settings_release(settings);
    if (!agent) return refuse(self->why, 503, "memory could not be had");
    if (!readable) {
        fprintf(stderr, "superarm serve: agent %s is broken: its settings cannot be read: %s\n", from->name,
                unread.message);
        atomic_store(&agent->unreadable, true);
        agent_break(agent, unread.message);
    }
    agent_wrote(agent, from->last_seq);
    bool noted = checkpoints_note(agent, from) || refuse(self->why, 503, "memory could not be had");
    if (noted && !agents_add(&self->service->agents, agent))
        fprintf(stderr, "superarm serve: agent %s is not served: there are %d others, which is the most\n",
                from->name, LIMIT_AGENTS);
    agent_release(agent);
    return noted;
}

static sv_store *open_store(sv_service *self, bool write, sv_refusal *why) {
    sv_text sentence = {0};
    sv_store *store = store_open(self->folder.path, write, &sentence);
    if (!store) refuse(why, 503, "%s", sentence.failed ? "memory could not be had" : sentence.data);
    text_free(&sentence);
    return store;
}

static bool load_all(sv_service *self, sv_store *store, sv_refusal *why) {
    sv_loading loading = {self, why};
    store_status status = store_agents(store, load_agent, &loading);
    if (!why->status && status != STORE_OK) return refuse(why, 503, "%s", store_sentence(store));
    return !why->status;
}

/* Takes over the store, which writes. */
static bool start_threads(sv_service *self, const service_options *options, sv_store *store,
                          sv_refusal *why) {
    sv_chore *chores[] = {&self->closing, &self->retention};
    service_add_chores(self);
    self->reader = open_store(self, false, why);
    sv_store *of_learner = self->reader ? open_store(self, false, why) : NULL;
    sv_store *of_folding = of_learner ? open_store(self, false, why) : NULL;
    if (of_learner &&
        store_snapshot(of_learner) != STORE_OK) /* what was there before the writer changes it */
        refuse(why, 503, "%s", store_sentence(of_learner));
    self->writer = of_folding && !why->status ? writer_start(store, chores, 2, &self->active) : NULL;
    self->folding = self->writer ? folding_start(of_folding, store) : NULL;
    learner_options about = {.folder = self->folder.path,
                             .scratch = self->folder.scratch,
                             .checkpoint_seconds = options->checkpoint_seconds,
                             .recovery_seconds =
                                 options->recovery_seconds > 0 ? options->recovery_seconds : 10,
                             .writer = self->writer,
                             .agents = &self->agents};
    self->learner = self->folding ? learner_start(&about, of_learner) : NULL;
    sv_store *of_counting = self->learner ? open_store(self, false, why) : NULL;
    self->counting = of_counting ? counting_start(of_counting, &self->agents) : NULL;
    if (self->learner) {
        writer_do_chores(self->writer); /* which wake the learner */
        return true;
    }
    store_close(of_learner);
    if (!self->folding) store_close(of_folding);
    if (!self->writer) store_close(store);
    return why->status ? false : refuse(why, 503, "no thread could be had");
}

sv_service *service_start(const service_options *options, sv_refusal *why) {
    sv_service *self = calloc(1, sizeof *self);
    if (!self) {
        refuse(why, 503, "memory could not be had");
        return NULL;
    }
    self->folder.lock_file = -1;
    agents_begin(&self->agents);
    pthread_mutex_init(&self->reading, NULL);
    readers_begin(&self->readers);
    memory_begin(&self->memory, options->memory);
    self->solver_seconds = options->solver_seconds;
    if (options->solver && !(self->solver = solver_start(options->solver))) goto fail;
    if (options->keys && !service_read_keys(self, options->keys, why)) goto fail;
    if (!folder_open(&self->folder, options->folder, why)) goto fail;
    self->readers.folder = self->folder.path;
    sv_store *store = open_store(self, true, why);
    if (!store) goto fail;
    if (!folder_check_journal(&self->folder, store, why)) {
        store_abandon(store);
        goto fail;
    }
    if (!folder_tidy(&self->folder, store, why) || !load_all(self, store, why)) {
        store_close(store);
        goto fail;
    }
    if (!start_threads(self, options, store, why)) goto fail;
    return self;
fail:
    service_stop(self);
    return NULL;
}

bool service_read_keys(sv_service *self, const char *path, sv_refusal *why) {
    char warning[200];
    if (!keys_read(&self->keys, path, warning, why)) return false;
    if (*warning) fprintf(stderr, "superarm serve: %s\n", warning);
    return true;
}

unsigned long long service_number(void) {
    static atomic_ullong last;
    return atomic_fetch_add(&last, 1) + 1;
}

void service_stop(sv_service *self) {
    if (!self) return;
    counting_stop(self->counting);
    learner_stop(self->learner);
    folding_stop(self->folding);
    writer_stop(self->writer);
    folding_destroy(self->folding);
    learner_destroy(self->learner);
    store_close(self->reader);
    readers_end(&self->readers);
    solver_stop(self->solver);
    memory_end(&self->memory);
    keys_free(&self->keys);
    agents_end(&self->agents);
    pthread_mutex_destroy(&self->reading);
    folder_close(&self->folder);
    free(self);
}
