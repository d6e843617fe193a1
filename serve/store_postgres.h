/* What the files of the PostgreSQL store share. Nothing else sees libpq. */
#ifndef SERVE_STORE_POSTGRES_H
#define SERVE_STORE_POSTGRES_H

#include <libpq-fe.h>

#include "bounds.h"
#include "postgres_statements.h"
#include "store_calls.h"
#include "store_shared.h"

enum { POSTGRES_PARAMETERS = 16, POSTGRES_AHEAD = 256 };

struct store {
    sv_store_head head; /* first */
    char *url;
    PGconn *connection; /* NULL: lost, and made again by the next call outside a transaction */
    bool prepared[SQL_COUNT];
    bool writes, transaction, listens;
    double tried;    /* when it was connected to last, or could not be */
    PGresult *hour;  /* the newest that was looked for */
    PGresult *found; /* the texts of the decision that was looked for last */
    uint64_t changes;
    struct {
        const sv_store_decision *decision;
        bool added;
    } ahead[POSTGRES_AHEAD]; /* decisions that were sent ahead */
    size_t ahead_count;
    bool pipeline; /* their answers have not come yet */
    int64_t *held; /* (held_count) agents whose lock this session has */
    size_t held_count, held_room;
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
/* Sends a statement whose answer is waited for later; the first of them begins a pipeline. */
sv_store_status sv_postgres_send(sv_store *self, int which, const sv_postgres_values *values);
/* The next of these answers, in order: how many rows it changed. */
sv_store_status sv_postgres_receive(sv_store *self, uint64_t *count);
/* Runs SQL without parameters. */
sv_store_status sv_postgres_run_sql(sv_store *self, const char *sql);
/* Is there a connection, or can one be had? Outside a transaction. */
sv_store_status sv_postgres_connect(sv_store *self);
/* Ours, of a format that this version can work with? false with the sentence. */
bool sv_postgres_check_format(sv_store *self);

/* Columns of a row: numbers, texts that end with 0, bytes. */
int64_t sv_postgres_get(const PGresult *result, int row, int column);
const char *sv_postgres_get_text(const PGresult *result, int row, int column); /* NULL for NULL */
/* From column `at` on; STORE_DECISION of the statements. */
void sv_postgres_read_decision(const PGresult *result, int row, sv_store_decision *out);
enum { POSTGRES_DECISION_COLUMNS = 13 };

#endif
