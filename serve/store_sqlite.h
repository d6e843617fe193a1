/* What the files of the SQLite store share. */
#ifndef SERVE_STORE_SQLITE_H
#define SERVE_STORE_SQLITE_H

#include <sqlite3.h>
#include <stdatomic.h>

#include "store.h"

/* Every statement that is run often, by name: prepared once a connection. */
#define STORE_STATEMENTS(X)                                                                                  \
    X(BEGIN, "BEGIN IMMEDIATE")                                                                              \
    X(COMMIT, "COMMIT")                                                                                      \
    X(ROLLBACK, "ROLLBACK")                                                                                  \
    X(AGENT_ADD, "INSERT OR IGNORE INTO agents (name, settings, created) VALUES (?1, ?2, ?3)")               \
    X(AGENT_CHANGE, "UPDATE agents SET settings = ?2 WHERE id = ?1")                                         \
    X(AGENT_DELETE, "UPDATE agents SET deleted = ?2 WHERE id = ?1")                                          \
    X(AGENT_REMOVE, "DELETE FROM agents WHERE id = ?1")                                                      \
    X(AGENTS_DELETED, "SELECT id FROM agents WHERE deleted IS NOT NULL LIMIT ?1")                            \
    X(AGENTS, "SELECT a.id, a.name, a.settings, (SELECT max(seq) FROM rows WHERE agent = a.id), "            \
              "c.seq, c.file, deleted, (SELECT count(*) FROM decisions WHERE agent = a.id), "                \
              "(SELECT count(*) FROM decisions WHERE agent = a.id AND state = 0), c.settings, "              \
              "(SELECT count(*) FROM decisions WHERE agent = a.id AND state <> 1), "                         \
              "o.seq, o.file, o.settings, c.time FROM agents a LEFT JOIN checkpoints c ON c.agent = a.id "   \
              "LEFT JOIN checkpoints o ON o.agent = -a.id ORDER BY a.id")                                    \
    X(DECISION_ADD,                                                                                          \
      "INSERT INTO decisions (agent, event, time, due, state, model, hash, arms, answer, body) "             \
      "VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (agent, event) DO NOTHING")                \
    X(DECISION_FIND, "SELECT " STORE_WITHOUT_BODY " FROM decisions d WHERE agent = ?1 AND event = ?2")       \
    X(DECISION_DUE, "SELECT " STORE_WITHOUT_BODY " FROM decisions d WHERE state = 0 AND due > 0 AND due <= " \
                    "?1 ORDER BY due, id LIMIT 1")                                                           \
    X(DECISION_LEARNT, "UPDATE decisions SET state = 1, seq = ?2 WHERE id = ?1")                             \
    X(DECISIONS_DROP, "UPDATE decisions SET state = 2 WHERE agent = ?1 AND state = 0")                       \
    X(DECISION_DELETE, "DELETE FROM decisions WHERE id = ?1")                                                \
    X(DECISION_FORGET,                                                                                       \
      "UPDATE rows SET decision = NULL, data = NULL WHERE decision = ?1 AND agent = "                        \
      "(SELECT agent FROM decisions WHERE id = ?1) AND seq = (SELECT seq FROM decisions WHERE id = ?1)")     \
    X(WAITING,                                                                                               \
      "SELECT " STORE_DECISION " FROM decisions d WHERE agent = ?1 AND state = 0 ORDER BY id LIMIT ?2")      \
    X(FEEDBACK_ADD, "INSERT INTO feedback (decision, key, time, late, value) VALUES (?1, ?2, ?3, ?4, ?5) "   \
                    "ON CONFLICT (decision, key) DO NOTHING")                                                \
    X(FEEDBACK_COUNT, "SELECT count(*) FROM feedback WHERE decision = ?1")                                   \
    X(FEEDBACKS, "SELECT value FROM feedback WHERE decision = ?1 AND late = ?2 ORDER BY id")                 \
    X(FEEDBACK_DELETE, "DELETE FROM feedback WHERE decision = ?1")                                           \
    X(ROW_LAST, "SELECT max(seq) FROM rows WHERE agent = ?1")                                                \
    X(ROW_ADD, "INSERT INTO rows (agent, seq, kind, decision, time, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")  \
    X(ROWS, "SELECT " STORE_DECISION ", r.seq, r.kind, r.time, r.data, r.decision FROM rows r "              \
            "LEFT JOIN decisions d ON d.id = r.decision WHERE r.agent = ?1 AND r.seq >= ?2 ORDER BY r.seq "  \
            "LIMIT ?3")                                                                                      \
    X(ROW_RESET, "SELECT seq FROM rows WHERE agent = ?1 AND seq >= ?2 AND kind = 1 ORDER BY seq DESC "       \
                 "LIMIT 1")                                                                                  \
    X(CHECKPOINT, "INSERT INTO checkpoints (agent, seq, file, settings, time) VALUES (?1, ?2, ?3, ?4, ?5) "  \
                  "ON CONFLICT (agent) DO UPDATE SET seq = ?2, file = ?3, settings = ?4, time = ?5")         \
    X(CHECKPOINT_OLDER, "INSERT OR REPLACE INTO checkpoints SELECT -agent, seq, file, settings, time "       \
                        "FROM checkpoints WHERE agent = ?1")                                                 \
    X(CHECKPOINT_DELETE, "DELETE FROM checkpoints WHERE agent IN (?1, -?1)")                                 \
    X(RETAIN_ROWS, "SELECT seq, decision FROM rows WHERE agent = ?1 AND time < ?2 AND seq < coalesce("       \
                   "(SELECT 1 << 62 FROM agents WHERE id = ?1 AND deleted), "                                \
                   "(SELECT min(seq) FROM checkpoints WHERE agent IN (?1, -?1)), 0) ORDER BY seq LIMIT ?3")  \
    X(RETAIN_OTHERS, "SELECT id, state FROM decisions WHERE agent = ?1 AND state <> 1 AND time < ?2 AND "    \
                     "(due = 0 OR state = 2 OR (SELECT deleted FROM agents WHERE id = ?1)) LIMIT ?3")        \
    X(ROW_DELETE, "DELETE FROM rows WHERE agent = ?1 AND seq = ?2")                                          \
    X(ANY_DECISION,                                                                                          \
      "SELECT 1 FROM decisions WHERE agent = ?1 UNION ALL SELECT 1 FROM rows WHERE agent = ?1 LIMIT 1")

#define STORE_FIRST_COLUMNS                                                                                  \
    "d.id, d.agent, d.event, d.time, d.due, d.state, d.model, d.seq, d.hash, d.arms, d.answer, "
#define STORE_DECISION STORE_FIRST_COLUMNS "d.body"
#define STORE_WITHOUT_BODY STORE_FIRST_COLUMNS "NULL"
enum { STORE_DECISION_COLUMNS = 12 };

enum {
#define STORE_ENUM(name, sql) SQL_##name,
    STORE_STATEMENTS(STORE_ENUM)
#undef STORE_ENUM
        SQL_COUNT
};

struct store {
    sqlite3 *database;
    sqlite3_stmt *statements[SQL_COUNT];
    atomic_uint log_pages; /* of the writer's: after its last commit */
    sv_text found;         /* the texts of the decision that was looked for last */
    char sentence[320];
    atomic_bool ruined; /* and why, for whoever sees it */
    char ruin[320];
};

/* The statement, ready for its parameters; NULL when it cannot be prepared. The one before it with the
 * same name ends. */
sqlite3_stmt *store_use(sv_store *self, int which);
/* Runs a statement that gives no rows. */
store_status store_run(sv_store *self, sqlite3_stmt *statement);
/* Steps: STORE_OK a row, STORE_NONE the end. */
store_status store_step(sv_store *self, sqlite3_stmt *statement);
/* What an SQLite result means; keeps its sentence. */
store_status store_result(sv_store *self, int result);
void store_read_decision(sqlite3_stmt *statement, store_decision *out);
/* Registers our layer under SQLite, once a process; the VFS's name. */
const char *store_vfs(void);

#endif
