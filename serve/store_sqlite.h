/* What the files of the SQLite store share. */
#ifndef SERVE_STORE_SQLITE_H
#define SERVE_STORE_SQLITE_H

#include <sqlite3.h>
#include <stdatomic.h>

#include "journal_clock.h"
#include "store_calls.h"

/* Columns in the order in which checksums take them. A decision's state and seq are apart (moved_sum). */
#define SUM_AGENT(t) "row_sum(" t "id, " t "name, " t "settings, " t "created, " t "deleted)"
#define SUM_DECISION(t)                                                                                      \
    "row_sum(" t "agent, " t "event, " t "time, " t "kept, " t "due, " t "side, " t "model, " t "hash, " t   \
    "arms, " t "answer, " t "body)"
#define SUM_FEEDBACK(t) "row_sum(" t "decision, " t "key, " t "time, " t "late, " t "value)"
#define SUM_ROW(t) "row_sum(" t "agent, " t "seq, " t "kind, " t "decision, " t "time, " t "data)"
#define SUM_CHECKPOINT(t) "row_sum(" t "agent, " t "seq, " t "file, " t "settings, " t "time)"
#define SUM_ITEM(t)                                                                                          \
    "row_sum(" t "agent, " t "number, " t "since, " t "until, " t "id, " t "expires, " t "fields)"
#define SUM_HOUR(t) "row_sum(" t "agent, " t "hour, " t "data)"
#define SUM_EVALUATION(t) "row_sum(" t "agent, " t "id, " t "time, " t "request, " t "result)"

/* decisions.seq is stored with this added, and is this before the decision is learnt: so it always takes 6
 * bytes, and learning a decision overwrites them in place instead of writing the whole row once more. */
#define NO_SEQ "1099511627776" /* 2^40 */
enum { SEQ_SHIFT = 40 };

/* Every statement that is run often, by name: prepared once a connection. */
#define STORE_STATEMENTS(X)                                                                                  \
    X(BEGIN, "BEGIN IMMEDIATE")                                                                              \
    X(COMMIT, "COMMIT")                                                                                      \
    X(ROLLBACK, "ROLLBACK")                                                                                  \
    X(FACT, "SELECT value FROM facts WHERE name = ?1")                                                       \
    X(FACT_PUT, "INSERT OR REPLACE INTO facts (name, value, sum) VALUES (?1, ?2, row_sum(?1, ?2))")          \
    X(AGENT_ADD, "INSERT OR IGNORE INTO agents (id, name, settings, created, sum) "                          \
                 "VALUES (?4, ?1, ?2, ?3, row_sum(?4, ?1, ?2, ?3, NULL))")                                   \
    X(AGENT_CHANGE, "UPDATE agents SET settings = ?2, sum = row_sum(id, name, ?2, created, deleted) "        \
                    "WHERE id = ?1")                                                                         \
    X(AGENT_DELETE, "UPDATE agents SET deleted = ?2, sum = row_sum(id, name, settings, created, ?2) "        \
                    "WHERE id = ?1")                                                                         \
    X(AGENT_REMOVE, "DELETE FROM agents WHERE id = ?1")                                                      \
    X(AGENTS_DELETED, "SELECT id FROM agents WHERE deleted IS NOT NULL LIMIT ?1")                            \
    X(AGENTS, "SELECT a.id, a.name, a.settings, (SELECT max(seq) FROM rows WHERE agent = a.id), "            \
              "c.seq, c.file, deleted, c.settings, o.seq, o.file, o.settings, c.time FROM agents a "         \
              "LEFT JOIN checkpoints c ON c.agent = a.id LEFT JOIN checkpoints o ON o.agent = -a.id "        \
              "ORDER BY a.id")                                                                               \
    X(AGENT_COUNT, "SELECT (SELECT count(*) FROM decisions WHERE agent = ?1), "                              \
                   "(SELECT count(*) FROM decisions WHERE agent = ?1 AND state = 0), "                       \
                   "(SELECT count(*) FROM decisions WHERE agent = ?1 AND state = 3), "                       \
                   "(SELECT count(*) FROM decisions WHERE agent = ?1 AND state <> 1)")                       \
    X(SNAPSHOT, "BEGIN")                                                                                     \
    X(DECISION_ADD,                                                                                          \
      "INSERT INTO decisions (agent, event, time, kept, due, side, state, model, seq, hash, arms, answer, "  \
      "body, sum) SELECT ?1, ?2, ?3, ?10, ?4, ?11, ?12, ?5, " NO_SEQ ", ?6, ?7, ?8, ?9, "                    \
      "moved_sum(row_sum(?1, ?2, ?3, ?10, ?4, ?11, ?5, ?6, ?7, ?8, ?9), 0, " NO_SEQ ", ?12, " NO_SEQ         \
      ") WHERE EXISTS (SELECT 1 FROM agents WHERE id = ?1 AND deleted IS NULL) ON CONFLICT (agent, event) "  \
      "DO NOTHING")                                                                                          \
    X(DECISION_FIND, "SELECT " STORE_WITHOUT_BODY " FROM decisions d WHERE agent = ?1 AND event = ?2")       \
    X(DECISION_DUE, "SELECT " STORE_WITHOUT_BODY " FROM decisions d WHERE state = 0 AND due > 0 AND due <= " \
                    "?1 ORDER BY due, id LIMIT 1")                                                           \
    X(DECISION_LEARNT,                                                                                       \
      "UPDATE decisions SET state = 1, seq = ?2, sum = moved_sum(sum, state, seq, 1, ?2) WHERE id = ?1")     \
    X(DECISIONS_DROP, "UPDATE decisions SET state = 2, sum = moved_sum(sum, state, seq, 2, seq) "            \
                      "WHERE agent = ?1 AND state = ?2")                                                     \
    X(DECISION_ACTIVATE,                                                                                     \
      "UPDATE decisions SET state = 0, due = ?2, sum = CASE WHEN sum IS moved_sum(" SUM_DECISION(            \
          "") ", 0, " NO_SEQ ", state, seq) THEN row_sum(agent, event, time, kept, ?2, side, model, hash, "  \
              "arms, answer, body) ELSE sum END WHERE id = ?1 AND state = 3")                                \
    X(DECISION_DELETE, "DELETE FROM decisions WHERE id = ?1")                                                \
    X(DECISION_FORGET,                                                                                       \
      "UPDATE rows SET decision = NULL, data = NULL, sum = row_sum(agent, seq, kind, NULL, time, NULL) "     \
      "WHERE decision = ?1 AND agent = (SELECT agent FROM decisions WHERE id = ?1) AND "                     \
      "seq = (SELECT seq - " NO_SEQ " FROM decisions WHERE id = ?1)")                                        \
    X(WAITING,                                                                                               \
      "SELECT " STORE_DECISION " FROM decisions d WHERE agent = ?1 AND state = 0 ORDER BY id LIMIT ?2")      \
    X(FEEDBACK_ADD, "INSERT INTO feedback (decision, key, time, late, value, sum) "                          \
                    "VALUES (?1, ?2, ?3, ?4, ?5, row_sum(?1, ?2, ?3, ?4, ?5)) "                              \
                    "ON CONFLICT (decision, key) DO NOTHING")                                                \
    X(FEEDBACK_COUNT, "SELECT count(*) FROM feedback WHERE decision = ?1")                                   \
    X(FEEDBACKS, "SELECT value FROM feedback WHERE decision = ?1 AND late = ?2 ORDER BY id")                 \
    X(FEEDBACK_LAST, "SELECT max(id) FROM feedback")                                                         \
    X(FEEDBACK_TALLY, "SELECT d.agent, count(*), sum(f.late) FROM feedback f JOIN decisions d ON d.id = "    \
                      "f.decision WHERE f.id > ?1 AND f.id <= ?2 GROUP BY d.agent")                          \
    X(FEEDBACK_DELETE, "DELETE FROM feedback WHERE decision = ?1")                                           \
    X(ROW_LAST, "SELECT max(seq) FROM rows WHERE agent = ?1")                                                \
    X(ROW_ADD, "INSERT INTO rows (agent, seq, kind, decision, time, data, sum) "                             \
               "VALUES (?1, ?2, ?3, ?4, ?5, ?6, row_sum(?1, ?2, ?3, ?4, ?5, ?6))")                           \
    X(ROWS,                                                                                                  \
      "SELECT " STORE_DECISION ", r.seq, r.kind, r.time, r.data, r.decision, r.sum = " SUM_ROW(              \
          "r.") " AND (d.id IS NULL OR d.sum = moved_sum(" SUM_DECISION("d.") ", 0, " NO_SEQ                 \
                                                                              ", d.state, d.seq)) FROM "     \
                                                                              "rows r LEFT JOIN decisions "  \
                                                                              "d ON d.id = r.decision "      \
                                                                              "WHERE r.agent = ?1 AND "      \
                                                                              "r.seq >= ?2 ORDER BY r.seq "  \
                                                                              "LIMIT ?3")                    \
    X(ROW_REVISED, "SELECT seq, data FROM rows WHERE decision = ?2 AND kind = 5 AND agent = ?1 AND seq > "   \
                   "?3 ORDER BY seq DESC LIMIT 1")                                                           \
    X(ROW_AT, "SELECT seq, data FROM rows WHERE agent = ?1 AND seq = ?2")                                    \
    X(REVISIONS_FORGET,                                                                                      \
      "UPDATE rows SET decision = NULL, data = NULL, sum = row_sum(agent, seq, kind, NULL, time, NULL) "     \
      "WHERE decision = ?1 AND kind = 5 AND agent = (SELECT agent FROM decisions WHERE id = ?1)")            \
    X(ROW_RESET,                                                                                             \
      "SELECT seq FROM rows WHERE agent = ?1 AND seq >= ?2 AND kind IN (1, ?3) ORDER BY seq DESC "           \
      "LIMIT 1")                                                                                             \
    X(CHECKPOINT, "INSERT OR REPLACE INTO checkpoints (agent, seq, file, settings, time, sum) "              \
                  "VALUES (?1, ?2, ?3, ?4, ?5, row_sum(?1, ?2, ?3, ?4, ?5))")                                \
    X(CHECKPOINT_OLDER, "INSERT OR REPLACE INTO checkpoints SELECT -agent, seq, file, settings, time, "      \
                        "row_sum(-agent, seq, file, settings, time) FROM checkpoints WHERE agent = ?1")      \
    X(CHECKPOINT_DELETE, "DELETE FROM checkpoints WHERE agent IN (?1, -?1)")                                 \
    X(ITEM_PUT, "INSERT INTO items (agent, number, since, until, id, expires, fields, sum) VALUES "          \
                "(?1, ?2, ?3, NULL, ?4, ?5, ?6, row_sum(?1, ?2, ?3, NULL, ?4, ?5, ?6))")                     \
    X(ITEM_END, "UPDATE items SET until = ?4, sum = row_sum(agent, number, since, ?4, id, expires, fields) " \
                "WHERE agent = ?1 AND number = ?2 AND since = ?3")                                           \
    X(ITEMS, "SELECT number, since, until, id, expires, fields FROM items WHERE agent = ?1 AND until IS "    \
             "NULL ORDER BY number")                                                                         \
    X(ITEM_AT, "SELECT number, since, until, id, expires, fields FROM items WHERE agent = ?1 AND number = "  \
               "?2 AND since <= ?3 AND (until IS NULL OR until > ?3)")                                       \
    X(ITEMS_LAST, "SELECT max(coalesce((SELECT max(since) FROM items WHERE agent = ?1), 0), "                \
                  "coalesce((SELECT max(until) FROM items WHERE agent = ?1 AND until IS NOT NULL), 0)), "    \
                  "(SELECT max(number) FROM items WHERE agent = ?1)")                                        \
    X(ITEMS_COUNT, "SELECT count(*) FROM items WHERE agent = ?1 AND until IS NOT NULL")                      \
    X(ITEMS_OLDEST, "SELECT min((SELECT coalesce(min(kept), ?3) FROM decisions WHERE agent = ?1 AND state "  \
                    "= 0), (SELECT coalesce(min(kept), ?3) FROM decisions WHERE agent = ?1 AND state = 2), " \
                    "(SELECT coalesce(min(kept), ?3) FROM decisions WHERE agent = ?1 AND state = 3), "       \
                    "coalesce((SELECT time - ?2 FROM rows WHERE agent = ?1 AND kind = 3 ORDER BY seq LIMIT " \
                    "1), ?3))")                                                                              \
    X(ITEMS_CHANGED, "SELECT min(until) FROM items WHERE agent = ?1 AND until IS NOT NULL AND until > ?2")   \
    X(ITEMS_PURGE, "DELETE FROM items WHERE (agent, number, since) IN (SELECT agent, number, since FROM "    \
                   "items WHERE agent = ?1 AND until IS NOT NULL AND until < ?2 LIMIT ?3)")                  \
    X(ITEMS_DELETE, "DELETE FROM items WHERE agent = ?1")                                                    \
    X(ITEMS_FORGET, "DELETE FROM facts WHERE name IN ('items_version_' || ?1, 'items_number_' || ?1)")       \
    X(HOUR_NEWEST, "SELECT hour, data FROM hours WHERE agent = ?1 ORDER BY hour DESC LIMIT 1")               \
    X(HOUR_PUT,                                                                                              \
      "INSERT OR REPLACE INTO hours (agent, hour, data, sum) VALUES (?1, ?2, ?3, row_sum(?1, ?2, ?3))")      \
    X(HOURS, "SELECT hour, data FROM hours WHERE agent = ?1 AND hour >= ?2 AND hour < ?3 ORDER BY hour")     \
    X(HOURS_REMOVE, "DELETE FROM hours WHERE agent = ?1 AND hour >= ?2 AND hour < ?3")                       \
    X(HOURS_DELETE, "DELETE FROM hours WHERE agent = ?1")                                                    \
    X(EVALUATION_ADD, "INSERT INTO evaluations (agent, id, time, request, result, sum) VALUES "              \
                      "(?1, ?2, ?3, ?4, NULL, row_sum(?1, ?2, ?3, ?4, NULL))")                               \
    X(EVALUATION_PUT, "UPDATE evaluations SET result = ?3, sum = row_sum(agent, id, time, request, ?3) "     \
                      "WHERE agent = ?1 AND id = ?2")                                                        \
    X(EVALUATION_DELETE, "DELETE FROM evaluations WHERE agent = ?1 AND id = ?2")                             \
    X(EVALUATIONS_TRIM, "DELETE FROM evaluations WHERE agent = ?1 AND id <= (SELECT id FROM evaluations "    \
                        "WHERE agent = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)")                              \
    X(EVALUATIONS, "SELECT id, time, request, result FROM evaluations WHERE agent = ?1 AND "                 \
                   "(?2 = 0 OR id = ?2) ORDER BY id DESC")                                                   \
    X(EVALUATIONS_DELETE, "DELETE FROM evaluations WHERE agent = ?1")                                        \
    X(LEFTOVERS_DELETE, "DELETE FROM leftovers WHERE agent = ?1")                                            \
    X(LEFTOVER_ADD, "INSERT OR REPLACE INTO leftovers (file, agent, sum) VALUES (?2, ?1, row_sum(?2, ?1))")  \
    X(LEFTOVER_OLDER, "INSERT OR REPLACE INTO leftovers (file, agent, sum) SELECT file, ?1, "                \
                      "row_sum(file, ?1) FROM checkpoints WHERE agent = -?1 AND file <> ?2")                 \
    X(LEFTOVERS, "SELECT file FROM leftovers WHERE file NOT IN (SELECT c.file FROM checkpoints c "           \
                 "JOIN agents a ON a.id = abs(c.agent) WHERE a.deleted IS NULL) UNION "                      \
                 "SELECT c.file FROM checkpoints c JOIN agents a ON a.id = abs(c.agent) "                    \
                 "WHERE a.deleted IS NOT NULL")                                                              \
    X(OLDEST_ROWS, "SELECT id, time, CASE kind WHEN 3 THEN decision END, seq FROM rows WHERE agent = ?1 "    \
                   "AND seq < coalesce("                                                                     \
                   "(SELECT 1 << 62 FROM agents WHERE id = ?1 AND deleted IS NOT NULL), "                    \
                   "(SELECT min(seq) FROM checkpoints WHERE agent IN (?1, -?1)), 0) ORDER BY seq LIMIT ?2")  \
    X(OLDEST_OPEN, "SELECT id, kept, due, state FROM decisions WHERE agent = ?1 AND state = ?2 "             \
                   "AND state <> 1 ORDER BY kept LIMIT ?3")                                                  \
    X(ROW_DELETE, "DELETE FROM rows WHERE id = ?1")                                                          \
    X(ANY_DECISION,                                                                                          \
      "SELECT 1 FROM decisions WHERE agent = ?1 UNION ALL SELECT 1 FROM rows WHERE agent = ?1 LIMIT 1")

#define STORE_FIRST_COLUMNS                                                                                  \
    "d.id, d.agent, d.event, d.time, d.due, d.state, d.model, d.seq - " NO_SEQ ", d.hash, d.arms, "          \
    "d.answer, d.side, "
#define STORE_DECISION STORE_FIRST_COLUMNS "d.body"
#define STORE_WITHOUT_BODY STORE_FIRST_COLUMNS "CASE WHEN d.answer = '' THEN d.body END"
enum { STORE_DECISION_COLUMNS = 13 };

enum {
#define STORE_ENUM(name, sql) SQL_##name,
    STORE_STATEMENTS(STORE_ENUM)
#undef STORE_ENUM
        SQL_COUNT
};

struct store {
    sv_store_head head; /* first */
    sqlite3 *database;
    sqlite3_stmt *statements[SQL_COUNT];
    atomic_uint log_pages;     /* of the writer's: after its last commit */
    sa_buffer body, answer;    /* of the decision that was put together last */
    sa_buffer found;           /* the texts of the decision that was looked for last */
    sa_buffer revised;         /* the data of the row that was looked for last */
    sa_buffer hour;            /* the text of the hour that was looked for last */
    bool writes, old, had_log; /* old: older formats are taken, too; had_log: one that was not folded in */
    sv_journal_clock clock;    /* the writer's */
    int64_t clock_kept;        /* its `waits` when it was stored last */
    int64_t marked;            /* the one that is known to be on disk */
    int mark;                  /* file that is told so; -1: none */
    int changes;               /* of the connection, when the transaction began */
    sqlite3_stmt *copying;     /* adds a row to a table, with --copy; to which */
    int copied;
    char sentence[320];
    atomic_bool ruined; /* and why, for whoever sees it */
    char ruin[320];
};

extern const sv_store_calls sv_sqlite_calls;

/* The statement, ready for its parameters; NULL when it cannot be prepared. The one before it with the
 * same name ends. */
sqlite3_stmt *sv_sqlite_use(sv_store *self, int which);
/* Runs a statement that gives no rows. */
sv_store_status sv_sqlite_run(sv_store *self, sqlite3_stmt *statement);
/* Steps: STORE_OK a row, STORE_NONE the end. */
sv_store_status sv_sqlite_step(sv_store *self, sqlite3_stmt *statement);
/* What an SQLite result means; keeps its sentence. */
sv_store_status sv_sqlite_result(sv_store *self, int result);
void sv_sqlite_read_decision(sqlite3_stmt *statement, sv_store_decision *out);
/* Puts a decision with stored items together (expand.h); its texts are valid until the next one. `body`:
 * that, too. */
sv_store_status sv_sqlite_expand(sv_store *self, sv_store_decision *of, bool body);
/* Runs SQL that gives no rows. */
bool sv_sqlite_run_sql(sv_store *self, const char *sql);
/* The journal's tables: made, or of the format that this version knows. false with a sentence. */
bool sv_sqlite_prepare_tables(sv_store *self);
/* A line for each that is not as it was made. */
sv_store_status sv_sqlite_check_tables(sv_store *self, sa_buffer *findings);
/* Adds the functions row_sum and moved_sum; an SQLite result. */
int sv_sqlite_add_sums(sqlite3 *database);
/* The journal's clock: from its facts; to the present; back into them, where that is due. */
sv_store_status sv_sqlite_clock_open(sv_store *self);
void sv_sqlite_clock_advance(sv_store *self);
sv_store_status sv_sqlite_clock_keep(sv_store *self, bool now);
/* A fact that is a number; STORE_NONE: it is not there. */
sv_store_status sv_sqlite_get_number(sv_store *self, const char *name, int64_t *out);
sv_store_status sv_sqlite_put_number(sv_store *self, const char *name, int64_t value);
/* What is known of an agent's catalogue. */
sv_store_status sv_sqlite_items_keep(sv_store *self, int64_t agent, uint64_t version, uint64_t number);
sv_store_status sv_sqlite_next_number(sv_store *self, const char *name, int64_t *out);
/* The file of the checkpoint that `file` takes the place of may be removed. */
sv_store_status sv_sqlite_leftover_older(sv_store *self, int64_t agent, const char *file);
/* Registers our layer under SQLite, once a process; the VFS's name. */
const char *sv_sqlite_vfs(void);

#endif
