/* One line a call of the store: what it returns, its name, its parameters behind the store, and the same as
 * arguments. From it come the struct of functions that a backend fills in, the functions of store.h, which
 * hand each call to the backend, and the backends' own names: sv_sqlite_agent_add behind
 * sv_store_agent_add. */
#ifndef SERVE_STORE_CALLS_H
#define SERVE_STORE_CALLS_H

#include "store.h"

#define STORE_CALLS(X)                                                                                       \
    X(void, close, (sv_store * self), (self))                                                                \
    X(void, abandon, (sv_store * self), (self))                                                              \
    X(int64_t, written, (const sv_store *self), (self))                                                      \
    X(void, mark, (sv_store * self, int file), (self, file))                                                 \
    X(const char *, sentence, (const sv_store *self), (self))                                                \
    X(sv_store_status, begin, (sv_store * self), (self))                                                     \
    X(sv_store_status, commit, (sv_store * self), (self))                                                    \
    X(void, rollback, (sv_store * self), (self))                                                             \
    X(uint64_t, changes, (const sv_store *self), (self))                                                     \
    X(size_t, log_pages, (const sv_store *self), (self))                                                     \
    X(sv_store_status, fold, (sv_store * self), (self))                                                      \
    X(sv_store_status, empty_log, (sv_store * self), (self))                                                 \
    X(void, ruin, (sv_store * self, const char *sentence), (self, sentence))                                 \
    X(bool, is_ruined, (sv_store * self), (self))                                                            \
    X(bool, is_deadlocked, (const sv_store *self), (self))                                                   \
    X(bool, is_undone, (const sv_store *self), (self))                                                       \
    X(bool, has_bad_data, (const sv_store *self), (self))                                                    \
    X(sv_store_status, probe, (sv_store * self), (self))                                                     \
    X(sv_store_status, agent_add,                                                                            \
      (sv_store * self, const char *name, const char *settings, int64_t now, int64_t *id),                   \
      (self, name, settings, now, id))                                                                       \
    X(sv_store_status, agent_change,                                                                         \
      (sv_store * self, int64_t agent, uint64_t version, const char *settings),                              \
      (self, agent, version, settings))                                                                      \
    X(sv_store_status, agent_delete, (sv_store * self, int64_t agent, int64_t now), (self, agent, now))      \
    X(sv_store_status, agents_deleted, (sv_store * self, int64_t * ids, size_t most, size_t * count),        \
      (self, ids, most, count))                                                                              \
    X(sv_store_status, agents,                                                                               \
      (sv_store * self, bool (*each)(void *user, const sv_store_agent *agent), void *user),                  \
      (self, each, user))                                                                                    \
    X(sv_store_status, agent_count, (sv_store * self, int64_t agent, sv_store_counts * out),                 \
      (self, agent, out))                                                                                    \
    X(sv_store_status, snapshot, (sv_store * self), (self))                                                  \
    X(sv_store_status, decision_add, (sv_store * self, const sv_store_decision *decision), (self, decision)) \
    X(void, decision_ahead, (sv_store * self, const sv_store_decision *decision), (self, decision))          \
    X(sv_store_status, settle, (sv_store * self), (self))                                                    \
    X(sv_store_status, decision_find,                                                                        \
      (sv_store * self, int64_t agent, const char *event, sv_store_decision *out),                           \
      (self, agent, event, out))                                                                             \
    X(sv_store_status, decision_due, (sv_store * self, sv_store_decision * out), (self, out))                \
    X(sv_store_status, decisions_drop, (sv_store * self, int64_t agent, uint64_t * waited, uint64_t * held), \
      (self, agent, waited, held))                                                                           \
    X(sv_store_status, decision_activate, (sv_store * self, int64_t decision, int64_t wait),                 \
      (self, decision, wait))                                                                                \
    X(sv_store_status, held_remove,                                                                          \
      (sv_store * self, int64_t agent, size_t keep, size_t most, uint64_t * count),                          \
      (self, agent, keep, most, count))                                                                      \
    X(sv_store_status, decision_erase, (sv_store * self, int64_t decision), (self, decision))                \
    X(sv_store_status, feedback_add,                                                                         \
      (sv_store * self, int64_t decision, const char *key, int64_t now, bool late, const char *value),       \
      (self, decision, key, now, late, value))                                                               \
    X(sv_store_status, feedback_count, (sv_store * self, int64_t decision, size_t * count),                  \
      (self, decision, count))                                                                               \
    X(sv_store_status, feedbacks,                                                                            \
      (sv_store * self, int64_t decision, bool late, bool (*each)(void *user, const char *value),            \
       void *user),                                                                                          \
      (self, decision, late, each, user))                                                                    \
    X(sv_store_status, feedback_last, (sv_store * self, int64_t * id), (self, id))                           \
    X(sv_store_status, feedback_tally,                                                                       \
      (sv_store * self, int64_t from, int64_t to,                                                            \
       void (*each)(void *user, int64_t agent, uint64_t count, uint64_t late), void *user),                  \
      (self, from, to, each, user))                                                                          \
    X(sv_store_status, row_add, (sv_store * self, int64_t agent, sv_store_row * row), (self, agent, row))    \
    X(sv_store_status, hold, (sv_store * self, int64_t agent), (self, agent))                                \
    X(void, let_go, (sv_store * self, int64_t agent), (self, agent))                                         \
    X(bool, holds, (const sv_store *self, int64_t agent), (self, agent))                                     \
    X(sv_store_status, inbox, (sv_store * self, sv_store_entry * out), (self, out))                          \
    X(sv_store_status, inbox_done, (sv_store * self, int64_t id, uint64_t seq), (self, id, seq))             \
    X(sv_store_status, rows,                                                                                 \
      (sv_store * self, int64_t agent, uint64_t from, size_t most,                                           \
       bool (*each)(void *user, const sv_store_row *row), void *user),                                       \
      (self, agent, from, most, each, user))                                                                 \
    X(sv_store_status, row_revised,                                                                          \
      (sv_store * self, int64_t agent, int64_t decision, uint64_t learnt, sv_store_row * out),               \
      (self, agent, decision, learnt, out))                                                                  \
    X(sv_store_status, row_at, (sv_store * self, int64_t agent, uint64_t seq, sv_store_row * out),           \
      (self, agent, seq, out))                                                                               \
    X(sv_store_status, row_reset,                                                                            \
      (sv_store * self, int64_t agent, uint64_t from, bool models, uint64_t *seq),                           \
      (self, agent, from, models, seq))                                                                      \
    X(sv_store_status, waiting,                                                                              \
      (sv_store * self, int64_t agent, size_t most,                                                          \
       bool (*each)(void *user, const sv_store_decision *decision), void *user),                             \
      (self, agent, most, each, user))                                                                       \
    X(sv_store_status, hour_newest, (sv_store * self, int64_t agent, sv_store_hour * out),                   \
      (self, agent, out))                                                                                    \
    X(sv_store_status, hour_put,                                                                             \
      (sv_store * self, int64_t agent, int64_t hour, const char *data, bool left),                           \
      (self, agent, hour, data, left))                                                                       \
    X(sv_store_status, hours,                                                                                \
      (sv_store * self, int64_t agent, int64_t from, int64_t to,                                             \
       bool (*each)(void *user, const sv_store_hour *hour), void *user),                                     \
      (self, agent, from, to, each, user))                                                                   \
    X(sv_store_status, hours_left,                                                                           \
      (sv_store * self, bool (*each)(void *user, int64_t agent, const char *data), void *user),              \
      (self, each, user))                                                                                    \
    X(sv_store_status, hours_delete, (sv_store * self, int64_t agent, int64_t from, int64_t to),             \
      (self, agent, from, to))                                                                               \
    X(sv_store_status, items_lock, (sv_store * self, int64_t agent, sv_store_catalogue * out),               \
      (self, agent, out))                                                                                    \
    X(sv_store_status, items_change,                                                                         \
      (sv_store * self, int64_t agent, const sv_store_change *change, uint64_t *version),                    \
      (self, agent, change, version))                                                                        \
    X(sv_store_status, items,                                                                                \
      (sv_store * self, int64_t agent, uint64_t after, sv_store_catalogue * out,                             \
       bool (*each)(void *user, const sv_store_item *item), void *user),                                     \
      (self, agent, after, out, each, user))                                                                 \
    X(sv_store_status, items_at,                                                                             \
      (sv_store * self, int64_t agent, uint64_t version, const uint32_t *numbers, size_t count,              \
       void (*each)(void *user, const sv_store_item *item), void *user),                                     \
      (self, agent, version, numbers, count, each, user))                                                    \
    X(sv_store_status, items_purge,                                                                          \
      (sv_store * self, int64_t agent, int64_t wait, uint64_t before, size_t most, uint64_t * count),        \
      (self, agent, wait, before, most, count))                                                              \
    X(sv_store_status, checkpoint,                                                                           \
      (sv_store * self, int64_t agent, uint64_t seq, const char *file, const char *settings, bool keep,      \
       bool spare, int64_t now),                                                                             \
      (self, agent, seq, file, settings, keep, spare, now))                                                  \
    X(sv_store_status, leftover, (sv_store * self, int64_t agent, const char *file), (self, agent, file))    \
    X(sv_store_status, leftovers, (sv_store * self, void (*each)(void *user, const char *file), void *user), \
      (self, each, user))                                                                                    \
    X(sv_store_status, scratch, (sv_store * self, char name[64]), (self, name))                              \
    X(sv_store_status, scratch_put, (sv_store * self, const char *name), (self, name))                       \
    X(sv_store_status, retain, (sv_store * self, sv_store_retention * what), (self, what))                   \
    X(sv_store_status, evaluation_add,                                                                       \
      (sv_store * self, int64_t agent, int64_t now, const char *request, const char *server, int64_t *id),   \
      (self, agent, now, request, server, id))                                                               \
    X(sv_store_status, evaluation_put, (sv_store * self, int64_t agent, int64_t id, const char *result),     \
      (self, agent, id, result))                                                                             \
    X(sv_store_status, evaluation_delete, (sv_store * self, int64_t agent, int64_t id), (self, agent, id))   \
    X(sv_store_status, evaluations,                                                                          \
      (sv_store * self, int64_t agent, int64_t id,                                                           \
       void (*each)(void *user, const sv_store_evaluation *evaluation), void *user),                         \
      (self, agent, id, each, user))                                                                         \
    X(sv_store_status, give_back, (sv_store * self, size_t most), (self, most))                              \
    X(sv_store_status, agent_remove, (sv_store * self, int64_t agent), (self, agent))                        \
    X(sv_store_status, check, (sv_store * self, sa_buffer * findings), (self, findings))                     \
    X(sv_store_status, copy, (sv_store * self, const char *path), (self, path))

typedef struct store_calls {
#define STORE_POINTER(returned, name, parameters, arguments) returned(*name) parameters;
    STORE_CALLS(STORE_POINTER)
#undef STORE_POINTER
} sv_store_calls;

/* What every store begins with; the rest of `struct store` is its backend's own. */
typedef struct store_head {
    const sv_store_calls *calls;
} sv_store_head;

#define STORE_SQLITE(returned, name, parameters, arguments) returned sv_sqlite_##name parameters;
STORE_CALLS(STORE_SQLITE)
#undef STORE_SQLITE

/* The same of PostgreSQL; `before` and `after`: the formats of --migrate. */
#define STORE_POSTGRES(returned, name, parameters, arguments) returned sv_postgres_##name parameters;
STORE_CALLS(STORE_POSTGRES)
#undef STORE_POSTGRES

sv_store *sv_postgres_open(const char *url, bool write, sa_buffer *sentence);
bool sv_postgres_migrate(const char *url, int *before, int *after, sa_buffer *sentence);
sv_store *sv_sqlite_open(const char *folder, bool write, sa_buffer *sentence);
sv_store *sv_sqlite_open_old(const char *folder, sa_buffer *sentence);
bool sv_sqlite_format(const char *folder, int *format, sa_buffer *sentence);
bool sv_sqlite_migrate(const char *folder, int format, sa_buffer *sentence);

#endif
