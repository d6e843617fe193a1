/* What the files of the PostgreSQL store share. Nothing else sees libpq. */
#ifndef SERVE_STORE_POSTGRES_H
#define SERVE_STORE_POSTGRES_H

#include <libpq-fe.h>

#include "bounds.h"
#include "expand.h"
#include "postgres_statements.h"
#include "store_calls.h"
#include "store_shared.h"

extern const int sv_postgres_format; /* of the tables (store_postgres_format.c) */
enum { POSTGRES_PARAMETERS = 16, POSTGRES_AHEAD = 256 };

struct held {
    int64_t agent;
    bool leaves; /* its lock is released once the transaction is committed */
};

struct store {
    sv_store_head head; /* first */
    char *url;
    PGconn *connection; /* NULL: lost, and made again by the next call outside a transaction */
    bool prepared[SQL_COUNT];
    int socket; /* of the connection, a copy; next and since: in the list of sessions */
    double since;
    sv_store *next;
    bool writes, transaction, listens;
    bool deadlocked; /* the transaction was undone, for one that it waited for and that waited for it */
    bool undone;     /* or waited for another session in vain, or made what that one had made; or for: */
    bool bad_data;   /* something in it that the database does not take */
    double tried;    /* when it was connected to last, or could not be */
    bool unfit;      /* then, for what the database has */
    PGresult *hour;  /* the newest that was looked for */
    PGresult *found; /* the texts of the decision that was looked for last */
    PGresult *due;   /* decisions whose wait has ended, which this transaction has locked; from due_at on */
    int due_at;
    PGresult *taught;       /* the data of the row that was looked for last */
    sa_buffer body, answer; /* of the decision that was put together last */
    uint64_t changes;
    struct {
        const sv_store_decision *decision;
        bool added;
    } ahead[POSTGRES_AHEAD]; /* decisions that were sent ahead */
    size_t ahead_count;
    bool pipeline;     /* their answers have not come yet */
    struct held *held; /* (held_count) agents whose lock this session has */
    size_t held_count, held_room;
    int64_t entered; /* the agent of the last entry of the inbox: the next one's turn is next */
    int copied;      /* the table that --copy fills, and a row of it */
    sa_buffer row;
    char sentence[320];
};

/* The parameters of a statement, in order. */
typedef struct postgres_values {
    const char *values[POSTGRES_PARAMETERS];
    int sizes[POSTGRES_PARAMETERS], formats[POSTGRES_PARAMETERS], count;
    char numbers[POSTGRES_PARAMETERS][24];
} sv_postgres_values;

void sv_postgres_number(sv_postgres_values *self, int64_t number);
void sv_postgres_text(sv_postgres_values *self, const char *text); /* NULL is fine; borrowed */
void sv_postgres_bytes(sv_postgres_values *self, const void *bytes, size_t size);
/* "{1,2,3}" into `out`, borrowed as a parameter; agents that this session holds. */
void sv_postgres_held(const sv_store *self, sa_buffer *out);

/* Runs a statement of the list; NULL: it failed, and *status says how. The caller PQclears. */
PGresult *sv_postgres_run(sv_store *self, int which, const sv_postgres_values *values,
                          sv_store_status *status);
/* The same where no rows are wanted; `count` (NULL: not wanted) of rows that it changed. */
sv_store_status sv_postgres_do(sv_store *self, int which, const sv_postgres_values *values, uint64_t *count);
/* The same, a row at a time as they come; `each` false ends it. */
sv_store_status sv_postgres_each(sv_store *self, int which, const sv_postgres_values *values,
                                 bool (*each)(void *user, const PGresult *row), void *user);
/* Sends a statement whose answer is waited for later; the first of them begins a pipeline. STORE_LATER: it
 * was not sent, and can be run after the pipeline. */
sv_store_status sv_postgres_send(sv_store *self, int which, const sv_postgres_values *values);
/* The next of these answers, in order: how many rows it changed. */
sv_store_status sv_postgres_receive(sv_store *self, uint64_t *count);
/* COPY ... FROM STDIN: then PQputCopyData; `whole` false: it is undone. */
sv_store_status sv_postgres_copy_begin(sv_store *self, const char *sql);
sv_store_status sv_postgres_copy_end(sv_store *self, bool whole);
/* The rows of a statement, one a result, at most `most` and the one with which they come to `bytes`; others
 * are left out. The caller PQclears them. */
sv_store_status sv_postgres_gather(sv_store *self, int which, const sv_postgres_values *values, size_t most,
                                   size_t bytes, PGresult **out, size_t *count);
/* After a transaction: agents that it has let go are free, if it was kept. */
void sv_postgres_end_leaving(sv_store *self, bool kept);
/* Runs SQL without parameters. */
sv_store_status sv_postgres_run_sql(sv_store *self, const char *sql);
/* What a role or a database may limit for the sake of others would cut off what takes long: a copy, a check,
 * a migration. Not all versions have all of them; the first is a statement of its own, since it cuts the
 * next. */
#define POSTGRES_NO_LIMITS                                                                                   \
    "SET statement_timeout = 0; SELECT set_config(name, '0', false) FROM pg_settings WHERE name IN "         \
    "('idle_session_timeout', 'transaction_timeout'); "
/* Is there a connection, or can one be had? Outside a transaction. */
sv_store_status sv_postgres_connect(sv_store *self);
/* Keeps what failed as the sentence: STORE_LATER. */
sv_store_status sv_postgres_fail(sv_store *self, const char *text);
void sv_postgres_disconnect(sv_store *self);
/* The list of sessions, which other threads can end (sv_shared_cut). */
void sv_postgres_enlist(sv_store *self);
void sv_postgres_strike(sv_store *self); /* before the connection goes; one that is not in it is fine */
bool sv_postgres_is_over(void);          /* no connection is made any more */
bool sv_postgres_is_absent(void);        /* a connection of this process could not be had, a moment ago */
/* Can the URL be read? false with a sentence that has nothing of it. */
bool sv_postgres_is_readable(sv_store *self);
/* After a connection could not be had: would it be refused in a minute, too? */
bool sv_postgres_is_refused(const sv_store *self);
void sv_postgres_say(sv_store *self, const char *text); /* becomes the sentence: its first line */
/* Ours, of a format that this version can work with? false with the sentence. */
bool sv_postgres_check_format(sv_store *self);
/* Of this version's own format, where nothing is that it does not know? Likewise. */
bool sv_postgres_is_format(sv_store *self);

/* Columns of a row: numbers, texts that end with 0, bytes. */
int64_t sv_postgres_get(const PGresult *result, int row, int column);
const char *sv_postgres_get_text(const PGresult *result, int row, int column); /* NULL for NULL */
/* From column `at` on; STORE_DECISION of the statements. */
void sv_postgres_read_decision(const PGresult *result, int row, sv_store_decision *out);
enum { POSTGRES_DECISION_COLUMNS = 13 };
/* A decision by its id, which nobody else changes before the end of the transaction. STORE_NONE: it is gone,
 * and `out->id` is 0, or somebody else has it now. */
sv_store_status sv_postgres_decision_take(sv_store *self, int64_t id, sv_store_decision *out);
/* Is it there still? STORE_NONE: it is gone. */
sv_store_status sv_postgres_decision_there(sv_store *self, int64_t id);
/* Puts a decision with stored items together (expand.h); its texts are valid until the next one. `body`:
 * that, too. STORE_NONE: the decision was removed since it was read, and its items may have gone with it;
 * STORE_FAILED: an item is missing. */
sv_store_status sv_postgres_expand(sv_store *self, sv_store_decision *of, bool body);

#endif
