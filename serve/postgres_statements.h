/* Every statement of the PostgreSQL store that is run often, by name: prepared once a connection. Times are
 * milliseconds of the database's clock, which all servers share. */
#ifndef SERVE_POSTGRES_STATEMENTS_H
#define SERVE_POSTGRES_STATEMENTS_H

#define NOW "(extract(epoch from clock_timestamp()) * 1000)::bigint"
#define LOCK_CLASS "1396789809" /* "SAR1": of our advisory locks */
#define STORE_COLUMNS                                                                                        \
    "d.id, d.agent, d.event, d.time, d.due, d.state, d.model, d.seq, d.hash, d.arms, d.answer, d.side, "
#define STORE_DECISION STORE_COLUMNS "d.body"
#define STORE_WITHOUT_BODY STORE_COLUMNS "NULL::bytea"

#define POSTGRES_STATEMENTS(X)                                                                               \
    X(AGENT_ADD, "INSERT INTO agents (name, settings, created) VALUES ($1, $2, $3) "                         \
                 "ON CONFLICT (name) WHERE deleted IS NULL DO NOTHING RETURNING id")                         \
    X(AGENT_CHANGE, "UPDATE agents SET settings = $2, version = version + 1 WHERE id = $1 AND "              \
                    "version = $3 AND deleted IS NULL")                                                      \
    X(AGENT_DELETE, "UPDATE agents SET deleted = $2, version = version + 1 WHERE id = $1")                   \
    X(AGENT_REMOVE, "DELETE FROM agents WHERE id = $1")                                                      \
    X(AGENTS_DELETED, "SELECT id FROM agents WHERE deleted IS NOT NULL ORDER BY id LIMIT $1")                \
    X(AGENTS, "SELECT a.id, a.name, a.settings, coalesce((SELECT max(seq) FROM journal WHERE agent = a.id)," \
              " 0), a.deleted IS NOT NULL, a.version, a.broken, "                                            \
              "coalesce((SELECT max(version) FROM policies WHERE agent = a.id), 0) "                         \
              "FROM agents a ORDER BY a.id")                                                                 \
    X(AGENT_COUNT, "SELECT (SELECT count(*) FROM decisions WHERE agent = $1), "                              \
                   "(SELECT count(*) FROM decisions WHERE agent = $1 AND state = 0), "                       \
                   "(SELECT count(*) FROM decisions WHERE agent = $1 AND state = 3), "                       \
                   "(SELECT count(*) FROM decisions WHERE agent = $1 AND state <> 1)")                       \
    X(DECISION_ADD,                                                                                          \
      "INSERT INTO decisions (agent, event, time, kept, due, state, model, seq, hash, arms, answer, body, "  \
      "side) SELECT $1::bigint, $2, $3, " NOW ", CASE WHEN $4::bigint > 0 AND $10 <> 3 THEN " NOW            \
      " + $4::bigint ELSE 0 END, $10, $5, 0, $6, $7, $8, $9, $11 WHERE EXISTS (SELECT 1 FROM "               \
      "agents WHERE id = $1::bigint AND deleted IS NULL) ON CONFLICT (agent, event) DO NOTHING")             \
    X(DECISION_FIND, "SELECT " STORE_WITHOUT_BODY " FROM decisions d WHERE agent = $1 AND event = $2")       \
    X(DECISION_LOCK,                                                                                         \
      "SELECT " STORE_WITHOUT_BODY " FROM decisions d WHERE agent = $1 AND event = $2 FOR UPDATE")           \
    X(DECISION_DUE, "SELECT " STORE_WITHOUT_BODY " FROM decisions d WHERE agent = ANY($1::bigint[]) AND "    \
                    "state = 0 AND due > 0 AND due <= " NOW " ORDER BY due, id LIMIT 1 FOR UPDATE SKIP "     \
                    "LOCKED")                                                                                \
    X(DECISION_READY, "UPDATE decisions SET due = " NOW " WHERE id = $1 AND state = 0 AND due = 0")          \
    X(DECISION_LEARNT, "UPDATE decisions SET state = 1, seq = $2 WHERE id = $1")                             \
    X(DECISIONS_DROP, "UPDATE decisions SET state = 2 WHERE agent = $1 AND state = $2")                      \
    X(DECISION_ACTIVATE, "UPDATE decisions SET state = 0, due = CASE WHEN $2::bigint > 0 THEN " NOW          \
                         " + $2::bigint ELSE 0 END WHERE id = $1 AND state = 3")                             \
    X(HELD_OLDEST, "SELECT id FROM decisions WHERE agent = $1 AND state = 3 ORDER BY kept LIMIT $2")         \
    X(DECISION_DELETE, "DELETE FROM decisions WHERE id = $1")                                                \
    X(DECISION_FORGET, "UPDATE journal SET decision = NULL, data = NULL WHERE (agent, seq) = "               \
                       "(SELECT agent, seq FROM decisions WHERE id = $1) AND decision = $1")                 \
    X(WAITING, "SELECT " STORE_DECISION " FROM decisions d WHERE agent = $1 AND state = 0 ORDER BY id "      \
               "LIMIT $2")                                                                                   \
    X(FEEDBACK_ADD, "INSERT INTO feedback (decision, key, time, late, value) VALUES ($1, $2, $3, $4::int, "  \
                    "$5) ON CONFLICT (decision, key) DO NOTHING")                                            \
    X(FEEDBACK_COUNT, "SELECT count(*) FROM feedback WHERE decision = $1")                                   \
    X(FEEDBACKS, "SELECT value FROM feedback WHERE decision = $1 AND late = $2::int ORDER BY id")            \
    X(FEEDBACK_LAST, "SELECT coalesce(max(id), 0) FROM feedback")                                            \
    X(FEEDBACK_TALLY, "SELECT d.agent, count(*), sum(f.late)::bigint FROM feedback f JOIN decisions d ON "   \
                      "d.id = f.decision WHERE f.id > $1 AND f.id <= $2 GROUP BY d.agent")                   \
    X(FEEDBACK_DELETE, "DELETE FROM feedback WHERE decision = $1")                                           \
    X(ROW_ADD, "INSERT INTO journal (agent, seq, kind, decision, time, data) SELECT $1::bigint, "            \
               "coalesce((SELECT max(seq) FROM journal WHERE agent = $1::bigint), 0) + 1, $2, $3, " NOW      \
               ", $4 RETURNING seq, time")                                                                   \
    X(ROWS, "SELECT " STORE_DECISION ", r.seq, r.kind, r.time, r.data, r.decision FROM journal r "           \
            "LEFT JOIN decisions d ON d.id = r.decision WHERE r.agent = $1 AND r.seq >= $2 ORDER BY r.seq "  \
            "LIMIT $3")                                                                                      \
    X(ROW_RESET,                                                                                             \
      "SELECT seq FROM journal WHERE agent = $1 AND seq >= $2 AND kind IN (1, $3) ORDER BY seq DESC "        \
      "LIMIT 1")                                                                                             \
    X(INBOX_ADD, "INSERT INTO inbox (agent, kind, data) VALUES ($1, $2, $3) RETURNING id")                   \
    X(OLDEST_ROWS, "SELECT seq, time, decision FROM journal WHERE agent = $1 AND seq < coalesce("            \
                   "(SELECT 1::bigint << 62 FROM agents WHERE id = $1 AND deleted IS NOT NULL), "            \
                   "(SELECT min(version) FROM policies WHERE agent = $1), 0) ORDER BY seq LIMIT $2")         \
    X(OLDEST_OPEN, "SELECT id, kept, due FROM decisions WHERE agent = $1 AND state = $2 AND state <> 1 "     \
                   "ORDER BY kept LIMIT $3")                                                                 \
    X(ROW_DELETE, "DELETE FROM journal WHERE agent = $1 AND seq = $2")                                       \
    X(PARTS_DELETE, "WITH a AS (DELETE FROM items WHERE agent = $1), b AS (DELETE FROM hours WHERE agent = " \
                    "$1), c AS (DELETE FROM evaluations WHERE agent = $1), f AS (DELETE FROM hours_left "    \
                    "WHERE agent = $1), d AS (DELETE FROM inbox WHERE "                                      \
                    "agent = $1), e AS (DELETE FROM policies WHERE agent = $1) "                             \
                    "DELETE FROM chunks WHERE agent = $1")                                                   \
    X(ANY_DECISION, "SELECT 1 FROM decisions WHERE agent = $1 UNION ALL SELECT 1 FROM journal WHERE "        \
                    "agent = $1 LIMIT 1")                                                                    \
    X(EVALUATION_ADD, "INSERT INTO evaluations (agent, id, time, request) VALUES ($1, "                      \
                      "nextval('evaluation_ids'), $2, $3) RETURNING id")                                     \
    X(EVALUATION_PUT, "UPDATE evaluations SET result = $3 WHERE agent = $1 AND id = $2")                     \
    X(EVALUATION_DELETE, "DELETE FROM evaluations WHERE agent = $1 AND id = $2")                             \
    X(EVALUATIONS_TRIM, "DELETE FROM evaluations WHERE agent = $1 AND id <= (SELECT id FROM evaluations "    \
                        "WHERE agent = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)")                              \
    X(EVALUATIONS, "SELECT id, time, request, result FROM evaluations WHERE agent = $1 AND "                 \
                   "($2::bigint = 0 OR id = $2::bigint) ORDER BY id DESC")                                   \
    X(HOUR_NEWEST, "SELECT hour, data FROM hours WHERE agent = $1 ORDER BY hour DESC LIMIT 1")               \
    X(HOUR_PUT, "INSERT INTO hours (agent, hour, data) VALUES ($1, $2, $3) ON CONFLICT (agent, hour) DO "    \
                "UPDATE SET data = excluded.data")                                                           \
    X(HOUR_LEAVE, "INSERT INTO hours_left (agent, data) VALUES ($1, $2)")                                    \
    X(HOURS_LEFT, "DELETE FROM hours_left WHERE id IN (SELECT id FROM hours_left WHERE agent = "             \
                  "ANY($1::bigint[]) ORDER BY id LIMIT $2) RETURNING agent, data")                           \
    X(HOURS, "SELECT hour, data FROM hours WHERE agent = $1 AND hour >= $2 AND hour < $3 ORDER BY hour")     \
    X(HOURS_REMOVE, "DELETE FROM hours WHERE agent = $1 AND hour >= $2 AND hour < $3")                       \
    X(NOTIFY, "SELECT pg_notify('superarm', $1)")                                                            \
    X(CLOCK, "SELECT " NOW)                                                                                  \
    X(HOLD, "SELECT pg_try_advisory_lock(" LOCK_CLASS ", $1::int)")                                          \
    X(LET_GO, "SELECT pg_advisory_unlock(" LOCK_CLASS ", $1::int)")                                          \
    X(UNSEAT, "SELECT pg_terminate_backend(l.pid) FROM pg_locks l WHERE l.locktype = 'advisory' AND "        \
              "l.classid = " LOCK_CLASS "::oid AND l.objid = $1::int::oid AND l.objsubid = 2 AND l.granted " \
              "AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND "       \
              "l.pid NOT IN (SELECT backend FROM servers WHERE beat > now() - interval '5 s')")              \
    X(BEAT, "INSERT INTO servers (id, name, version, keys, learns, backend, beat) VALUES ($1, $2, $3, $4, "  \
            "$5::int::boolean, $6::int, clock_timestamp()) ON CONFLICT (id) DO UPDATE SET beat = "           \
            "excluded.beat, backend = excluded.backend, keys = excluded.keys")                               \
    X(SERVERS_TIDY, "DELETE FROM servers WHERE beat < now() - interval '1 min'")                             \
    X(LEAVE, "DELETE FROM servers WHERE id = $1")                                                            \
    X(SERVERS, "SELECT id, name, version, keys, learns, backend FROM servers WHERE beat > now() - "          \
               "interval '5 s' AND (backend = 0 OR EXISTS (SELECT 1 FROM pg_stat_activity a WHERE a.pid = "  \
               "backend)) ORDER BY id")                                                                      \
    X(INBOX, "SELECT id, agent, kind, data FROM inbox WHERE agent = ANY($1::bigint[]) AND seq = 0 ORDER BY " \
             "id LIMIT 1")                                                                                   \
    X(INBOX_DONE, "UPDATE inbox SET seq = $2, data = NULL WHERE id = $1")                                    \
    X(INBOX_TIDY, "DELETE FROM inbox WHERE agent = $1 AND seq > 0 AND time < now() - interval '1 min'")      \
    X(INBOX_ROW, "SELECT seq FROM inbox WHERE id = $1")                                                      \
    X(CHUNK_PUT, "INSERT INTO chunks (agent, hash, data) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING")        \
    X(CHUNKS, "SELECT hash, data FROM chunks WHERE agent = $1 AND hash = ANY($2::bytea[])")                  \
    X(CHUNKS_TIDY, "DELETE FROM chunks WHERE agent = $1 AND hash NOT IN (SELECT substring(p.chunks FROM "    \
                   "i * 32 + 1 FOR 32) FROM policies p, generate_series(0, length(p.chunks) / 32 - 1) i "    \
                   "WHERE p.agent = $1)")                                                                    \
    X(POLICY_PUT, "INSERT INTO policies (agent, version, settings, time, size, chunks) VALUES ($1, $2, $3, " \
                  "" NOW ", $4, $5) ON CONFLICT (agent, version) DO UPDATE SET settings = "                  \
                  "excluded.settings, time = excluded.time, size = excluded.size, chunks = excluded.chunks") \
    X(POLICIES_TIDY, "DELETE FROM policies WHERE agent = $1 AND version NOT IN (SELECT version FROM "        \
                     "policies WHERE agent = $1 ORDER BY version DESC LIMIT $2)")                            \
    X(POLICY_GET, "SELECT version, settings, size, chunks FROM policies WHERE agent = $1 ORDER BY version "  \
                  "DESC LIMIT 1 OFFSET $2")                                                                  \
    X(POLICY_NEWEST, "SELECT coalesce(max(version), 0) FROM policies WHERE agent = $1")                      \
    X(POLICY_COVERS, "SELECT count(*) FROM policies WHERE agent = $1 AND version >= $2")                     \
    X(POLICIES_BEFORE, "DELETE FROM policies WHERE agent = $1 AND version < $2")                             \
    X(BREAK, "UPDATE agents SET broken = $2 WHERE id = $1 AND broken IS DISTINCT FROM $2")

enum {
#define STORE_ENUM(name, sql) SQL_##name,
    POSTGRES_STATEMENTS(STORE_ENUM)
#undef STORE_ENUM
        SQL_COUNT
};

#endif
