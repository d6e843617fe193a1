/* The journal and all else that outlives the process, behind one interface: a folder with SQLite behind it
 * (store_sqlite*.c), or PostgreSQL (store_postgres*.c). Nothing else of the service sees either.
 *
 * A new call: its declaration here, a line in store_calls.h, and its function in each backend,
 * sv_sqlite_NAME in store_sqlite*.c and sv_postgres_NAME in store_postgres*.c, whose statements are in
 * postgres_statements.h and tables in store_postgres_format.c. A backend that lacks one does not link.
 *
 * A store is one connection, for one thread at a time. One of them writes, the writer's (writer.h); others
 * read. What is written between begin and commit is on disk when commit returns STORE_OK, and else not
 * there. */
#ifndef SERVE_STORE_H
#define SERVE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hex.h"
#include <superarm/json.h>

typedef enum store_status {
    STORE_OK,
    STORE_NONE,   /* no such thing; or: it is there already */
    STORE_LATER,  /* the disk is full, memory short, or the database gone: nothing was written, and a later
                     try may succeed */
    STORE_LOST,   /* the same, but that it is not known whether the last transaction was kept */
    STORE_UNFIT,  /* of the writer: the store does not take what this job has, now or later: nothing was
                     written */
    STORE_FAILED, /* what is on the disk is not known any longer, and will not be */
} sv_store_status;

typedef struct store sv_store;

/* ---- opening ---- */

/* The database of the folder, made where it is missing if `write`; or that of a URL, postgresql://..., which
 * several servers may share (store_shared.h). NULL, with a sentence. */
sv_store *sv_store_open(const char *place, bool write, sa_buffer *sentence);
bool sv_store_is_url(const char *place);
/* A folder as it is; of a URL the host and the database, without what may be a password (a port, too, where
 * no user is named), and the scheme where it is not PostgreSQL's. */
void sv_store_name(const char *place, char out[256]);
/* The same to read, of any format up to the present one: for copies. */
sv_store *sv_store_open_old(const char *folder, sa_buffer *sentence);
void sv_store_close(sv_store *self);   /* NULL is fine */
void sv_store_abandon(sv_store *self); /* the same, and no file is changed by it */
/* The journal's time when it was written last; and from here on that number goes into a file, too, once it
 * is on disk. */
int64_t sv_store_written(const sv_store *self);
void sv_store_mark(sv_store *self, int file);
/* The number of the format that this version writes; that of a folder's journal, which is not newer; and a
 * journal of an older one changed into the present one. false with a sentence. */
enum { STORE_FORMAT = 3 };
bool sv_store_format(const char *folder, int *format, sa_buffer *sentence);
bool sv_store_migrate(const char *folder, int format, sa_buffer *sentence);
/* The sentence of the last failure. */
const char *sv_store_sentence(const sv_store *self);
/* Calls of fsync of this process, and their seconds, counted by power of two of microseconds, (24). */
typedef struct store_syncs {
    uint64_t count, by_power[24];
    double seconds;
} sv_store_syncs;
void sv_store_syncs_read(sv_store_syncs *out);

/* ---- transactions of the writer ---- */

sv_store_status sv_store_begin(sv_store *self);
sv_store_status sv_store_commit(sv_store *self);
void sv_store_rollback(sv_store *self);
/* Rows changed by this connection so far. */
uint64_t sv_store_changes(const sv_store *self);
/* Pages of the log that commits have added since it was folded in. */
size_t sv_store_log_pages(const sv_store *self);
/* Folds the log into the database, as far as others let. Any connection may do it while another writes. */
sv_store_status sv_store_fold(sv_store *self);
/* The same to the end, and the log is emptied: what was erased is in no file then. STORE_LATER: somebody
 * reads, and it has to be tried again. */
sv_store_status sv_store_empty_log(sv_store *self);
/* Another connection has seen the database fail: this one, the writer's, ends as if it had seen it itself. */
void sv_store_ruin(sv_store *self, const char *sentence);
/* Has it failed for good? Then sv_store_sentence says how. */
bool sv_store_is_ruined(sv_store *self);
/* Was the last transaction undone for the sake of another? Then it may succeed if it is tried again. */
bool sv_store_is_deadlocked(const sv_store *self);
/* That, or did it wait for another one's lock in vain, or make what that one had made, or have bad data? Then
 * nothing is wrong with the store. */
bool sv_store_is_undone(const sv_store *self);
/* Was the last transaction undone for what it was to write? A later try would be, too. */
bool sv_store_has_bad_data(const sv_store *self);
/* A write that changes nothing: does the disk take one? Outside transactions. */
sv_store_status sv_store_probe(sv_store *self);

/* ---- agents ---- */

typedef struct store_agent {
    int64_t id;
    const char *name, *settings; /* JSON; valid during the call */
    uint64_t last_seq, checkpoint_seq, older_seq;
    const char *checkpoint, *checkpoint_settings; /* file's name, NULL: none; settings at its row, JSON */
    int64_t checkpoint_time;                      /* milliseconds */
    const char *older, *older_settings;           /* of the checkpoint before it */
    bool deleted;                                 /* its rows are being removed */
    uint64_t version, policy; /* where it is shared: of its settings; of its newest policy, 0 for none */
    const char *broken;       /* likewise: why it cannot go on; NULL: it can */
    uint64_t items, past;     /* likewise: its catalogue's version; items of the past */
} sv_store_agent;

/* STORE_NONE: the name is taken. */
sv_store_status sv_store_agent_add(sv_store *self, const char *name, const char *settings, int64_t now,
                                   int64_t *id);
/* `version`: of the settings that it changes, where servers share the store. STORE_NONE: another server has
 * changed or deleted it meanwhile. */
sv_store_status sv_store_agent_change(sv_store *self, int64_t agent, uint64_t version, const char *settings);
sv_store_status sv_store_agent_delete(sv_store *self, int64_t agent, int64_t now);
/* Deleted agents whose rows are not all removed; at most `most`. */
sv_store_status sv_store_agents_deleted(sv_store *self, int64_t *ids, size_t most, size_t *count);
/* Each agent; `each` false ends it. */
sv_store_status sv_store_agents(sv_store *self, bool (*each)(void *user, const sv_store_agent *agent),
                                void *user);

/* Of its decisions: takes the longer the more there are. */
typedef struct store_counts {
    uint64_t decisions, waiting, held, learnt;
} sv_store_counts;
sv_store_status sv_store_agent_count(sv_store *self, int64_t agent, sv_store_counts *out);
/* From here on, until the rollback, it reads the journal as it is now. */
sv_store_status sv_store_snapshot(sv_store *self);

/* ---- decisions and feedback ---- */

/* Held: it waits for its activation, and is learnt only after that. */
typedef enum decision_state {
    DECISION_WAITS,
    DECISION_LEARNT,
    DECISION_DROPPED,
    DECISION_HELD
} sv_decision_state;
/* What was shown: the agent's slate; on the control side, the baseline or a uniform one; the baseline
 * while the agent only looks on (shadow, apprentice); a slate that nobody asked for (POST .../shown). */
typedef enum decision_side { SIDE_AGENT, SIDE_CONTROL, SIDE_SHADOW, SIDE_SHOWN, SIDES } sv_decision_side;

typedef struct store_decision {
    sv_store *store;         /* that has read it */
    int64_t id, agent, time; /* milliseconds of the day's clock */
    int64_t wait,
        due; /* of the journal's: given how long it waits, and then until when; 0: for its feedback */
    const char *event;
    sv_decision_state state;
    bool ended; /* it waits, but its wait is over: found by a writer, where the learner is another server */
    sv_decision_side side;
    uint64_t model, seq; /* seq of the row that learnt it; 0: none */
    uint8_t hash[SA_SHA256_BYTES];
    const uint32_t *arms; /* (arm_count) */
    size_t arm_count;
    const char *answer; /* JSON */
    const char *body;   /* (body_size) JSON as it came */
    size_t body_size;
} sv_store_decision;

/* STORE_NONE: the event is there already, or its agent is not. */
sv_store_status sv_store_decision_add(sv_store *self, const sv_store_decision *decision);
/* That this decision will be added in the same transaction: a store that is far away sends it on at once,
 * and waits for all answers in sv_store_settle. The decision stays as it is until it is added. */
void sv_store_decision_ahead(sv_store *self, const sv_store_decision *decision);
sv_store_status sv_store_settle(sv_store *self);
/* Without its body, which nobody needs, unless it has the answer, too. Texts are valid until the next
 * decision is looked for. */
sv_store_status sv_store_decision_find(sv_store *self, int64_t agent, const char *event,
                                       sv_store_decision *out);
/* The first decision whose wait has ended, likewise; STORE_NONE: there is none. */
sv_store_status sv_store_decision_due(sv_store *self, sv_store_decision *out);
/* All of the agent's that wait or are held are dropped: they will not be learnt. How many of each. */
sv_store_status sv_store_decisions_drop(sv_store *self, int64_t agent, uint64_t *waited, uint64_t *held);
/* One that is held waits from now on, for so many milliseconds; 0: for its feedback. */
sv_store_status sv_store_decision_activate(sv_store *self, int64_t decision, int64_t wait);
/* Removes the agent's oldest that are held, at most `most`. The newest `keep` stay; SQLite leaves it to its
 * caller to count them, who is alone. */
sv_store_status sv_store_held_remove(sv_store *self, int64_t agent, size_t keep, size_t most,
                                     uint64_t *count);
/* Removes a decision with its feedback; its row stays, without them. Their bytes are overwritten in the
 * database; they are in the log until it is emptied. */
sv_store_status sv_store_decision_erase(sv_store *self, int64_t decision);

/* `key` tells retries: STORE_NONE, it is there already. `value` is JSON: K values or nulls. */
sv_store_status sv_store_feedback_add(sv_store *self, int64_t decision, const char *key, int64_t now,
                                      bool late, const char *value);
sv_store_status sv_store_feedback_count(sv_store *self, int64_t decision, size_t *count);
/* Values in the order in which they came; late ones are left out. */
sv_store_status sv_store_feedbacks(sv_store *self, int64_t decision, bool late,
                                   bool (*each)(void *user, const char *value), void *user);

/* The id of the last one, 0 without any; and how many there are of each agent, with ids above `from` up to
 * `to`, and how many of these came late. */
sv_store_status sv_store_feedback_last(sv_store *self, int64_t *id);
sv_store_status sv_store_feedback_tally(sv_store *self, int64_t from, int64_t to,
                                        void (*each)(void *user, int64_t agent, uint64_t count,
                                                     uint64_t late),
                                        void *user);

/* ---- the journal ---- */

typedef enum row_kind { ROW_NEW = 1, ROW_CHANGE, ROW_LEARN, ROW_MODEL, ROW_REVISE } sv_row_kind;

typedef struct store_row {
    uint64_t seq; /* from 1, without gaps */
    sv_row_kind kind;
    int64_t time, decision; /* time: the journal's, which the store gives; decision 0: none */
    const char *data;       /* (size): settings as JSON, K values or nulls as JSON, or an npz file */
    size_t size;
    sv_store_decision of; /* with sv_store_rows: the decision, if it is there: id 0 where not */
    int64_t inbox;        /* with sv_store_row_add, where another server numbers rows: what it waits as */
    bool restarts;        /* with sv_store_row_add and entries: sums begin again with it (sv_sums_row) */
} sv_store_row;

/* Gives it the agent's next seq. A learnt decision is marked as such. Where the agent is not held, it is left
 * for who holds it, and its seq is 0: a decision is ready to be learnt, other rows are entries of the
 * inbox. */
sv_store_status sv_store_row_add(sv_store *self, int64_t agent, sv_store_row *row);
/* Agents whose rows this connection numbers: with SQLite the writer's all of them. STORE_NONE: another
 * session holds it. */
sv_store_status sv_store_hold(sv_store *self, int64_t agent);
/* In a transaction: with its commit, until which it is held. */
void sv_store_let_go(sv_store *self, int64_t agent);
bool sv_store_holds(const sv_store *self, int64_t agent);
/* What another server has left to become a row of an agent that is held: the first, STORE_NONE for none; and
 * that it has (seq 0: nobody waits to know which). Agents take turns. In a transaction. */
typedef struct store_entry {
    int64_t id, agent;
    sv_store_row row; /* kind and data, or the decision that is to be revised: id 0 where that is gone; valid
                         until the next call */
} sv_store_entry;
sv_store_status sv_store_inbox(sv_store *self, sv_store_entry *out);
sv_store_status sv_store_inbox_done(sv_store *self, int64_t id, uint64_t seq);
/* Rows from seq `from` on, at most `most`; `each` false ends it. */
sv_store_status sv_store_rows(sv_store *self, int64_t agent, uint64_t from, size_t most,
                              bool (*each)(void *user, const sv_store_row *row), void *user);
/* The last row that revised a decision, which row `learnt` had learnt: its seq and data, which are valid
 * until it is asked for again; STORE_NONE: none did. */
sv_store_status sv_store_row_revised(sv_store *self, int64_t agent, int64_t decision, uint64_t learnt,
                                     sv_store_row *out);
/* The seq and data of one row, likewise. */
sv_store_status sv_store_row_at(sv_store *self, int64_t agent, uint64_t seq, sv_store_row *out);
/* The last row that makes the agent, a reset of it or the first, with `models` also a warm start, from seq
 * `from` on; STORE_NONE: there is none. */
sv_store_status sv_store_row_reset(sv_store *self, int64_t agent, uint64_t from, bool models, uint64_t *seq);
/* Decisions that wait, oldest first. */
sv_store_status sv_store_waiting(sv_store *self, int64_t agent, size_t most,
                                 bool (*each)(void *user, const sv_store_decision *decision), void *user);

/* ---- evaluations ---- */

typedef struct store_evaluation {
    int64_t id, time;
    const char *request, *result; /* JSON; result NULL: there is none yet, or it was cut off */
    const char *server;           /* where servers share the store: the name of the one that has it */
    bool runs;                    /* likewise; else it waits */
} sv_store_evaluation;

/* A new one, with an id that no other has had; the oldest of more than 100 of the agent's goes. `server`: the
 * id of this one, where servers share the store. STORE_NONE: the agent is gone. */
sv_store_status sv_store_evaluation_add(sv_store *self, int64_t agent, int64_t now, const char *request,
                                        const char *server, int64_t *id);
/* STORE_NONE: it is not there any longer. */
sv_store_status sv_store_evaluation_put(sv_store *self, int64_t agent, int64_t id, const char *result);
sv_store_status sv_store_evaluation_delete(sv_store *self, int64_t agent, int64_t id);
/* All of the agent's, or with an `id` that one, newest first. */
sv_store_status sv_store_evaluations(sv_store *self, int64_t agent, int64_t id,
                                     void (*each)(void *user, const sv_store_evaluation *evaluation),
                                     void *user);

/* ---- sums by hour ---- */

/* An hour since 1970 of an agent, or from it on a day; data is JSON (hours.h). */
typedef struct store_hour {
    int64_t hour;
    const char *data; /* valid until the next newest one is looked for, or during the call */
    int64_t now;      /* of the newest: the journal's time, milliseconds, also where there is none */
    bool left;        /* likewise: another server has it, and what is put is left for that one */
} sv_store_hour;

/* The agent's last one; STORE_NONE: it has none. Where several write, it is theirs who ask until they
 * commit. */
sv_store_status sv_store_hour_newest(sv_store *self, int64_t agent, sv_store_hour *out);
/* Takes the place of one that is there; `left`, as the newest was: is added to the one that is there, by who
 * holds the agent. */
sv_store_status sv_store_hour_put(sv_store *self, int64_t agent, int64_t hour, const char *data, bool left);
/* From one to before another, in order; `each` false ends it. */
sv_store_status sv_store_hours(sv_store *self, int64_t agent, int64_t from, int64_t to,
                               bool (*each)(void *user, const sv_store_hour *hour), void *user);
/* Takes up to STORE_HOURS_LEFT of those that were left, of the agents that are held. In a transaction. */
enum { STORE_HOURS_LEFT = 64 };
sv_store_status sv_store_hours_left(sv_store *self, bool (*each)(void *user, int64_t agent, const char *data),
                                    void *user);
sv_store_status sv_store_hours_delete(sv_store *self, int64_t agent, int64_t from, int64_t to);
/* ---- items of a catalogue ---- */

/* Fields as they were from catalogue version `since` until before `until`; 0: they still are. */
typedef struct store_item {
    uint64_t number, since, until;
    int64_t expires;         /* milliseconds; 0: never */
    const char *id, *fields; /* JSON; valid during the call */
    size_t size;
} sv_store_item;

/* A catalogue: its last version, 0 for none, the largest number that was given, how many items of the past
 * there are. */
typedef struct store_catalogue {
    uint64_t version, number, past;
} sv_store_catalogue;
/* What becomes of one: items that end, by number and since, and items that begin. */
typedef struct store_change {
    const sv_store_item *gone, *fresh; /* (gone_count), (fresh_count) */
    size_t gone_count, fresh_count;
    uint64_t number; /* the largest after it */
} sv_store_change;

/* In a transaction: the catalogue as it is, which nobody else changes before the transaction's end.
 * STORE_NONE: its agent is gone. */
sv_store_status sv_store_items_lock(sv_store *self, int64_t agent, sv_store_catalogue *out);
/* In the same one. It gets a version: the journal's time, or one more than the last. */
sv_store_status sv_store_items_change(sv_store *self, int64_t agent, const sv_store_change *change,
                                      uint64_t *version);
/* Those that are there now, by number; or what came and ended after version `after`, where that is not 0,
 * ended ones without fields. STORE_NONE: what ended after it is not known any longer. `each` false ends it.
 * `*out` is of the same moment. */
sv_store_status sv_store_items(sv_store *self, int64_t agent, uint64_t after, sv_store_catalogue *out,
                               bool (*each)(void *user, const sv_store_item *item), void *user);
/* Items as they were at a version, by their numbers (count), which increase. STORE_NONE: one was
 * not there. */
sv_store_status sv_store_items_at(sv_store *self, int64_t agent, uint64_t version, const uint32_t *numbers,
                                  size_t count, void (*each)(void *user, const sv_store_item *item),
                                  void *user);
/* Removes items of the past that no decision names: those that ended before `before`, and before any decision
 * that is there was made; a decision is learnt `wait` milliseconds after it was made at most. At most
 * `most`. `count`: how many. */
sv_store_status sv_store_items_purge(sv_store *self, int64_t agent, int64_t wait, uint64_t before,
                                     size_t most, uint64_t *count);

/* ---- checkpoints, retention, checks ---- */

/* `keep`: the agent's newest checkpoint becomes its older one; else the older one stays, and the newest,
 * which cannot be read, is not named any longer. `spare`: the file of the one that goes stays; it could
 * not be read, and is not ours to remove. */
sv_store_status sv_store_checkpoint(sv_store *self, int64_t agent, uint64_t seq, const char *file,
                                    const char *settings, bool keep, bool spare, int64_t now);
/* A file that is going to be written, named after an agent: should the row that names it never come, it
 * may be removed. It takes the place of what was said of that agent before. */
sv_store_status sv_store_leftover(sv_store *self, int64_t agent, const char *file);
/* Files that nobody needs: of checkpoints that were replaced or cut off, of deleted agents. */
sv_store_status sv_store_leftovers(sv_store *self, void (*each)(void *user, const char *file), void *user);
/* How the names of scratch files begin, which a start removes; STORE_NONE: they have none yet. */
sv_store_status sv_store_scratch(sv_store *self, char name[64]);
sv_store_status sv_store_scratch_put(sv_store *self, const char *name);

/* Removes decisions that are older than `age` milliseconds, with their rows: of a deleted agent any, of
 * others those that both checkpoints have. At most `most`, and none after the moment `until`
 * (sv_clock_seconds); a database takes a batch a call, whatever the moment. `count`: how many, `waited` of
 * them without having been learnt, `held` without having been activated. `more`: there may be more. */
typedef struct store_retention {
    int64_t agent, age;
    bool deleted; /* the agent is: all of it goes */
    size_t most;
    double until;
    uint64_t count, waited, held;
    bool more;
} sv_store_retention;
sv_store_status sv_store_retain(sv_store *self, sv_store_retention *what);
/* Gives free pages back to the disk, where they are many: at most `most` of them. */
sv_store_status sv_store_give_back(sv_store *self, size_t most);
/* The last of a deleted agent. STORE_NONE: there are decisions left. */
sv_store_status sv_store_agent_remove(sv_store *self, int64_t agent);
/* Looks for damage and for rows that do not fit together: a line each. */
sv_store_status sv_store_check(sv_store *self, sa_buffer *findings);
/* A copy of the database as it is now, while others write. */
sv_store_status sv_store_copy(sv_store *self, const char *path);

#endif
