/* All that a store has, row by row, for --copy from one kind of store into the other.
 *
 * Tables of both kinds that are rows of agents are in COPIED_TABLES. Checkpoints of a folder are policies of
 * a database, and files there are chunks here (copy_policies.c). Numbers that are given once, and the clock
 * of waits, are sv_copied_numbers. Catalogues are two facts of each agent in a folder, and a row in a
 * database, where decisions.items follow from the rest. What is left is a place's own: leftovers, scratch
 * files and the lock of a folder; the format, the roll of servers, versions of settings, why an agent is
 * broken and where an evaluation runs in a database. What its servers left for each other (inbox, hours_left)
 * is taken in before its rows are read (copy_left.c). */
#ifndef SERVE_STORE_COPY_H
#define SERVE_STORE_COPY_H

#include "store.h"

/* The name with SQLite and with PostgreSQL; columns as both have them, with PostgreSQL's types (8, 4 and 2: a
 * whole number of so many bytes; t: text; b: bytes); the columns that order it. */
#define COPIED_TABLES(X)                                                                                     \
    X(AGENTS, "agents", "agents", "id, name, settings, created, deleted", "8tt88", "id")                     \
    X(DECISIONS, "decisions", "decisions",                                                                   \
      "id, agent, event, time, kept, due, side, state, model, seq, hash, arms, answer, body",                \
      "88t8882288bbtb", "id")                                                                                \
    X(FEEDBACK, "feedback", "feedback", "id, decision, key, time, late, value", "88t84t", "id")              \
    X(ROWS, "rows", "journal", "agent, seq, kind, decision, time, data", "88288b", "agent, seq")             \
    X(ITEMS, "items", "items", "agent, number, since, until, id, expires, fields", "8888t8t",                \
      "agent, number, since")                                                                                \
    X(HOURS, "hours", "hours", "agent, hour, data", "88t", "agent, hour")                                    \
    X(EVALUATIONS, "evaluations", "evaluations", "agent, id, time, request, result", "888tt", "agent, id")

typedef enum copied_table {
#define COPIED_ENUM(name, sqlite, postgres, columns, types, order) COPIED_##name,
    COPIED_TABLES(COPIED_ENUM)
#undef COPIED_ENUM
        COPIED_COUNT
} sv_copied_table;

enum {
    COPIED_COLUMNS = 14,
    COPIED_DUE = 5,
    COPIED_STATE = 7,
    COPIED_SEQ = 9,
    COPIED_BODY = 13
}; /* of decisions */

/* A value; of which type, the table says. Bytes are valid during the call. */
typedef struct cell {
    bool null;
    int64_t number;
    const char *bytes; /* (size) */
    size_t size;
} sv_cell;

/* (COPIED_COLUMNS) or fewer, of one row; they may be changed. Anything but STORE_OK ends the walk, which then
 * returns it. */
typedef sv_store_status sv_take_row(void *user, sv_cell *cells);

typedef struct copied_numbers {
    int64_t now; /* of the clock by which decisions wait, milliseconds */
    int64_t last_agent, last_evaluation;
} sv_copied_numbers;

/* A saved agent: a checkpoint's file, or a policy's chunks. */
typedef struct copied_policy {
    int64_t agent, version, time;
    const char *settings;  /* JSON, as of that row */
    const char *file;      /* of a checkpoint */
    const uint8_t *hashes; /* (count, SA_SHA256_BYTES) of a policy's chunks */
    size_t count;
    uint64_t size;
    bool newest; /* of the agent's two */
} sv_copied_policy;
typedef sv_store_status sv_take_policy(void *user, const sv_copied_policy *policy);

/* Of an agent's stored items, also where none is left: the version and the largest number go on from it. */
typedef struct copied_catalogue {
    int64_t agent;
    sv_store_catalogue last;
} sv_copied_catalogue;
typedef sv_store_status sv_take_catalogue(void *user, const sv_copied_catalogue *catalogue);

/* One row after the other goes into the table that was begun last, until its end. What fails has a sentence
 * (sv_store_sentence). Policies are the newest and the one before it of each agent that is not deleted. */
#define COPY_CALLS(X)                                                                                        \
    X(copy_numbers, (sv_store * self, sv_copied_numbers * out))                                              \
    X(copy_rows, (sv_store * self, sv_copied_table table, sv_take_row * each, void *user))                   \
    X(copy_policies, (sv_store * self, sv_take_policy * each, void *user))                                   \
    X(copy_catalogues, (sv_store * self, sv_take_catalogue * each, void *user))                              \
    X(copy_begin, (sv_store * self, sv_copied_table table))                                                  \
    X(copy_row, (sv_store * self, const sv_cell *cells))                                                     \
    X(copy_end, (sv_store * self))                                                                           \
    X(copy_policy, (sv_store * self, const sv_copied_policy *policy))                                        \
    X(copy_catalogue, (sv_store * self, const sv_copied_catalogue *catalogue))                               \
    X(copy_put_numbers, (sv_store * self, const sv_copied_numbers *numbers))

typedef struct copy_calls {
#define COPY_POINTER(name, parameters) sv_store_status(*name) parameters;
    COPY_CALLS(COPY_POINTER)
#undef COPY_POINTER
} sv_copy_calls;
extern const sv_copy_calls sv_sqlite_copying, sv_postgres_copying;

/* A new journal in a folder without one, which is on no disk before it is closed and synced by the caller. */
sv_store *sv_sqlite_make(const char *folder, sa_buffer *sentence);
/* Begins the one transaction of the copy. No server has the database, and none can begin to serve it. `into`:
 * it has tables without rows. false with a sentence. */
bool sv_postgres_copy_alone(sv_store *self, bool into);

#endif
