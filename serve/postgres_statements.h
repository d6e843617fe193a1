/* Every statement of the PostgreSQL store that is run often, by name: prepared once a connection. Times are
 * milliseconds of the database's clock, which all servers share.
 *
 * A statement is planned when its table may still be empty, and that plan stays for a while: where a backlog
 * can be long, only one index must suit. DECISION_DUE takes the first of each agent out of decisions_due, in
 * its order; `+ 0` keeps the planner from another index, and the row is looked at again once it is locked. */
#ifndef SERVE_POSTGRES_STATEMENTS_H
#define SERVE_POSTGRES_STATEMENTS_H

#define NOW "(extract(epoch from clock_timestamp()) * 1000)::bigint"
#define LOCK_CLASS "1396789809" /* "SAR1": of our advisory locks */
#define HEARD_OF "beat > now() - interval '" SHARED_SILENCE " s'"
/* Rows are added to an agent that is there, and stays there until they are kept (AGENT_LOCK). */
#define AGENT_THERE "FROM agents WHERE id = $1::bigint AND deleted IS NULL"
#define OF_AGENT AGENT_THERE " FOR KEY SHARE"
/* Two statements, with stored items and without, as each has one plan for all its parameters: PostgreSQL
 * would plan one that serves both again for every decision, and that takes as long as to insert it. */
#define ADD_DECISION                                                                                         \
    "INSERT INTO decisions (agent, event, time, kept, due, state, model, seq, hash, arms, answer, body, "    \
    "side, items) SELECT id, $2, $3, " NOW ", CASE WHEN $4::bigint > 0 AND $10 <> 3 THEN " NOW               \
    " + $4::bigint ELSE 0 END, $10, $5, 0, $6, $7, $8, $9, $11"
#define ADD_ONCE " ON CONFLICT (agent, event) DO NOTHING"
#define STORE_COLUMNS                                                                                        \
    "d.id, d.agent, d.event, d.time, d.due, d.state, d.model, d.seq, d.hash, d.arms, d.answer, d.side, "
#define STORE_DECISION STORE_COLUMNS "d.body"
#define STORE_WITHOUT_BODY STORE_COLUMNS "CASE WHEN d.answer = '' THEN d.body END"
#define ITEMS_GRACE_SECONDS "30" /* for which a version that was replaced may be chosen from */
#define ITEMS_GRACE ITEMS_GRACE_SECONDS "000"
#define ITEMS_COLUMNS "number, since, until, id, expires, fields"

#define POSTGRES_STATEMENTS(X)                                                                               \
    X(AGENT_ADD, "INSERT INTO agents (name, settings, created) VALUES ($1, $2, $3) "                         \
                 "ON CONFLICT (name) WHERE deleted IS NULL DO NOTHING RETURNING id")                         \
    X(AGENT_CHANGE, "UPDATE agents SET settings = $2, version = version + 1 WHERE id = $1 AND "              \
                    "version = $3 AND deleted IS NULL")                                                      \
    X(AGENT_DELETE, "UPDATE agents SET deleted = $2, version = version + 1 WHERE id = $1")                   \
    X(AGENT_LOCK, "SELECT 1 FROM agents WHERE id = $1 FOR UPDATE SKIP LOCKED")                               \
    X(AGENT_REMOVE, "DELETE FROM agents WHERE id = $1")                                                      \
    X(AGENT_NAMED, "SELECT id, version FROM agents WHERE name = $1 AND deleted IS NULL")                     \
    X(AGENTS_DELETED, "SELECT id FROM agents WHERE deleted IS NOT NULL ORDER BY id LIMIT $1")                \
    X(AGENTS, "SELECT a.id, a.name, a.settings, coalesce((SELECT max(seq) FROM journal WHERE agent = a.id)," \
              " 0), a.deleted IS NOT NULL, a.version, a.broken, "                                            \
              "coalesce((SELECT max(version) FROM policies WHERE agent = a.id), 0), coalesce(c.version, "    \
              "0), coalesce(c.past, 0) "                                                                     \
              "FROM agents a LEFT JOIN catalogues c ON c.agent = a.id ORDER BY a.id")                        \
    X(AGENT_COUNT, "SELECT (SELECT count(*) FROM decisions WHERE agent = $1), "                              \
                   "(SELECT count(*) FROM decisions WHERE agent = $1 AND state = 0), "                       \
                   "(SELECT count(*) FROM decisions WHERE agent = $1 AND state = 3), "                       \
                   "(SELECT count(*) FROM decisions WHERE agent = $1 AND state <> 1)")                       \
    X(DECISION_ADD, ADD_DECISION ", $12::bigint " OF_AGENT ADD_ONCE)                                         \
    X(DECISION_ADD_STORED, ADD_DECISION                                                                      \
      ", $12::bigint " AGENT_THERE                                                                           \
      " AND EXISTS (SELECT 1 FROM catalogues WHERE agent = $1::bigint AND purged <= $12::bigint) AND NOT "   \
      "EXISTS (SELECT 1 FROM items WHERE agent = $1::bigint AND until > $12::bigint AND until <= " NOW       \
      " - " ITEMS_GRACE ") FOR KEY SHARE" ADD_ONCE)                                                          \
    X(DECISION_FIND, "SELECT " STORE_WITHOUT_BODY " FROM decisions d WHERE agent = $1 AND event = $2")       \
    X(DECISION_LOCK, "SELECT " STORE_WITHOUT_BODY ", d.state = 0 AND d.due > 0 AND d.due <= " NOW            \
                     " FROM decisions d WHERE agent = $1 AND event = $2 FOR UPDATE")                         \
    X(DECISION_TAKE, "SELECT " STORE_WITHOUT_BODY " FROM decisions d WHERE id = $1 FOR UPDATE SKIP LOCKED")  \
    X(DECISION_THERE, "SELECT 1 FROM decisions WHERE id = $1")                                               \
    X(DECISION_DUE,                                                                                          \
      "SELECT " STORE_WITHOUT_BODY " FROM (SELECT f.id FROM unnest($1::bigint[]) a, LATERAL (SELECT id, "    \
      "due FROM decisions WHERE agent = a AND state = 0 AND due > 0 AND due <= " NOW " ORDER BY due LIMIT "  \
      "$2::bigint) f ORDER BY f.due, f.id LIMIT $2::bigint) f JOIN decisions d ON d.id = f.id WHERE "        \
      "d.state + 0 = 0 ORDER BY d.due, d.id LIMIT $3::bigint FOR UPDATE OF d SKIP LOCKED")                   \
    X(DECISION_READY, "UPDATE decisions SET due = " NOW " WHERE id = $1 AND state = 0 AND due = 0")          \
    X(DECISION_LEARNT, "UPDATE decisions SET state = 1, seq = $2 WHERE id = $1")                             \
    X(DECISIONS_DROP, "UPDATE decisions SET state = 2 WHERE agent = $1 AND state = $2")                      \
    X(DECISION_ACTIVATE, "UPDATE decisions SET state = 0, due = CASE WHEN $2::bigint > 0 THEN " NOW          \
                         " + $2::bigint ELSE 0 END WHERE id = $1 AND state = 3")                             \
    X(HELD_BEYOND, "SELECT id FROM decisions WHERE id = ANY (ARRAY(SELECT id FROM decisions WHERE agent = "  \
                   "$1 AND state = 3 AND kept <= (SELECT kept FROM decisions WHERE agent = $1 AND state = "  \
                   "3 ORDER BY kept DESC OFFSET $2 LIMIT 1) ORDER BY kept LIMIT $3)) AND state + 0 = 3 FOR " \
                   "UPDATE SKIP LOCKED")                                                                     \
    X(DECISION_DELETE, "DELETE FROM decisions WHERE id = $1")                                                \
    X(DECISION_FORGET, "UPDATE journal SET decision = NULL, data = NULL WHERE (agent, seq) = "               \
                       "(SELECT agent, seq FROM decisions WHERE id = $1) AND decision = $1")                 \
    X(REVISIONS_FORGET, "UPDATE journal SET decision = NULL, data = NULL WHERE decision = $1 AND kind = 5")  \
    X(WAITING, "SELECT " STORE_DECISION                                                                      \
               " FROM decisions d WHERE agent = $1 AND state = 0 AND id > $2 ORDER BY id LIMIT $3")          \
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
    X(ROW_REVISED, "SELECT seq, data FROM journal WHERE decision = $2 AND kind = 5 AND agent = $1 AND seq "  \
                   "> $3 ORDER BY seq DESC LIMIT 1")                                                         \
    X(ROW_AT, "SELECT seq, data FROM journal WHERE agent = $1 AND seq = $2")                                 \
    X(ROW_RESET,                                                                                             \
      "SELECT seq FROM journal WHERE agent = $1 AND seq >= $2 AND kind IN (1, $3) ORDER BY seq DESC "        \
      "LIMIT 1")                                                                                             \
    X(INBOX_ADD, "INSERT INTO inbox (agent, kind, data, decision, restarts) SELECT id, $2, $3, $4::bigint, " \
                 "$5::int::boolean " OF_AGENT " RETURNING id")                                               \
    X(OLDEST_ROWS, "SELECT seq, time, decision FROM journal WHERE agent = $1 AND seq < coalesce("            \
                   "(SELECT 1::bigint << 62 FROM agents WHERE id = $1 AND deleted IS NOT NULL), "            \
                   "(SELECT min(version) FROM policies WHERE agent = $1), 0) ORDER BY seq LIMIT $2")         \
    X(OLDEST_OPEN,                                                                                           \
      "WITH oldest AS MATERIALIZED (SELECT id FROM decisions WHERE agent = $1 AND state = $2 AND state <> "  \
      "1 AND kept < $3 AND due <= $4 ORDER BY kept LIMIT $5), free AS MATERIALIZED (SELECT id FROM "         \
      "decisions WHERE id = ANY (ARRAY(SELECT id FROM oldest)) AND state + 0 = $2 AND due <= $4 FOR UPDATE " \
      "SKIP LOCKED) SELECT coalesce(f.id, 0), o.count FROM (SELECT count(*) FROM oldest) o LEFT JOIN free "  \
      "f ON true")                                                                                           \
    X(ROWS_DELETE, "DELETE FROM journal WHERE agent = $1 AND seq <= $2")                                     \
    X(DECISIONS_DELETE, "DELETE FROM decisions WHERE id = ANY($1::bigint[])")                                \
    X(FEEDBACKS_DELETE, "DELETE FROM feedback WHERE decision = ANY($1::bigint[])")                           \
    X(PARTS_DELETE, "WITH a AS (DELETE FROM items WHERE agent = $1), g AS (DELETE FROM catalogues WHERE "    \
                    "agent = $1), b AS (DELETE FROM hours WHERE agent = "                                    \
                    "$1), c AS (DELETE FROM evaluations WHERE agent = $1), f AS (DELETE FROM hours_left "    \
                    "WHERE agent = $1), d AS (DELETE FROM inbox WHERE "                                      \
                    "agent = $1), e AS (DELETE FROM policies WHERE agent = $1) "                             \
                    "DELETE FROM chunks WHERE agent = $1")                                                   \
    X(ANY_DECISION, "SELECT 1 FROM decisions WHERE agent = $1 UNION ALL SELECT 1 FROM journal WHERE "        \
                    "agent = $1 LIMIT 1")                                                                    \
    X(EVALUATION_ADD, "INSERT INTO evaluations (agent, id, time, request, server) SELECT id, "               \
                      "nextval('evaluation_ids'), $2, $3, $4 " OF_AGENT " RETURNING id")                     \
    X(EVALUATION_AGENT, "SELECT 1 FROM agents WHERE id = $1 AND deleted IS NULL FOR SHARE")                  \
    X(EVALUATION_BEGIN, "UPDATE evaluations SET runs = true WHERE agent = $1 AND id = $2")                   \
    X(EVALUATIONS_AGENT, "SELECT 1 FROM agents WHERE id = $1 FOR NO KEY UPDATE")                             \
    X(EVALUATIONS_STOP, "UPDATE evaluations SET stop = $2 WHERE agent = $1 AND runs AND result IS NULL")     \
    X(EVALUATIONS_ENDING,                                                                                    \
      "SELECT count(*) FROM evaluations e JOIN servers s ON s.id = e.server AND " HEARD_OF                   \
      " WHERE e.agent = $1 AND e.runs AND e.stop IS NOT NULL AND e.result IS NULL")                          \
    X(EVALUATIONS_OF, "SELECT id, stop, result IS NULL FROM evaluations WHERE server = $1")                  \
    X(EVALUATION_LOST, "UPDATE evaluations SET server = NULL WHERE id = $1 AND server = $2 AND result IS "   \
                       "NULL")                                                                               \
    X(EVALUATION_PUT, "UPDATE evaluations SET result = $3 WHERE agent = $1 AND id = $2")                     \
    X(EVALUATION_DELETE, "DELETE FROM evaluations WHERE agent = $1 AND id = $2")                             \
    X(EVALUATIONS_TRIM, "DELETE FROM evaluations WHERE agent = $1 AND id <= (SELECT id FROM evaluations "    \
                        "WHERE agent = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)")                              \
    X(EVALUATIONS,                                                                                           \
      "SELECT e.id, e.time, e.request, e.result, e.runs, s.name FROM evaluations e LEFT JOIN "               \
      "servers s ON s.id = e.server AND " HEARD_OF " WHERE e.agent = $1 AND ($2::bigint = 0 OR "             \
      "e.id = $2::bigint) ORDER BY e.id DESC")                                                               \
    X(ITEMS_AGENT, "SELECT id, 0::bigint, 0::bigint " OF_AGENT)                                              \
    X(ITEMS_BEGIN,                                                                                           \
      "INSERT INTO catalogues (agent, version, number, past, purged) VALUES ($1, 0, 0, 0, 0) ON "            \
      "CONFLICT (agent) DO NOTHING")                                                                         \
    X(ITEMS_LOCK, "SELECT version, number, past FROM catalogues WHERE agent = $1 FOR UPDATE")                \
    X(ITEMS_FREE,                                                                                            \
      "SELECT version, number, past FROM catalogues WHERE agent = $1 AND past > 0 FOR UPDATE SKIP LOCKED")   \
    X(ITEMS_VERSION, "UPDATE catalogues SET version = greatest(version + 1, " NOW                            \
                     "), number = $2, past = past + $3 WHERE agent = $1 RETURNING version")                  \
    X(ITEMS_END, "UPDATE items i SET until = $2 FROM unnest($3::bigint[], $4::bigint[]) g (number, since) "  \
                 "WHERE i.agent = $1 AND i.number = g.number AND i.since = g.since AND i.until IS NULL")     \
    X(ITEMS_LATE, "SELECT (" NOW " - $1::bigint > " ITEMS_GRACE " / 2)::int::bigint")                        \
    X(ITEMS, "SELECT c.version, c.number, c.past, c.purged, i.number, i.since, i.until, i.id, i.expires, "   \
             "i.fields FROM catalogues c LEFT JOIN items i ON i.agent = c.agent AND i.until IS NULL WHERE "  \
             "c.agent = $1 ORDER BY i.number")                                                               \
    X(ITEMS_SINCE,                                                                                           \
      "SELECT c.version, c.number, c.past, c.purged, i.* FROM catalogues c LEFT JOIN (SELECT " ITEMS_COLUMNS \
      " FROM items WHERE agent = $1 AND since > $2 AND until IS NULL UNION ALL SELECT number, since, "       \
      "until, '', NULL, '' FROM items WHERE agent = $1 AND until > $2) i ON true WHERE c.agent = $1 ORDER "  \
      "BY i.number")                                                                                         \
    X(ITEMS_AT, "SELECT " ITEMS_COLUMNS " FROM items WHERE agent = $1 AND number = ANY($3::bigint[]) AND "   \
                "since <= $2 AND (until IS NULL OR until > $2) ORDER BY number")                             \
    X(ITEMS_PURGE,                                                                                           \
      "WITH gone AS (DELETE FROM items WHERE (agent, number, since) IN (SELECT agent, number, since FROM "   \
      "items WHERE agent = $1 AND until < $2 AND until <= (SELECT coalesce(min(items), 1::bigint << 62) "    \
      "FROM decisions WHERE agent = $1 AND items IS NOT NULL) AND until < (SELECT least(" NOW                \
      ", (extract(epoch from min(xact_start)) * 1000)::bigint) - " ITEMS_GRACE                               \
      " FROM pg_stat_activity WHERE datname = current_database()) ORDER BY until LIMIT $3) RETURNING "       \
      "until) UPDATE catalogues SET past = past - (SELECT count(*) FROM gone), purged = greatest(purged, "   \
      "(SELECT max(until) FROM gone)) WHERE agent = $1 AND EXISTS (SELECT 1 FROM gone) RETURNING (SELECT "   \
      "count(*) FROM gone)")                                                                                 \
    X(HOUR_NEWEST, "SELECT hour, data FROM hours WHERE agent = $1 ORDER BY hour DESC LIMIT 1")               \
    X(HOUR_PUT, "INSERT INTO hours (agent, hour, data) SELECT id, $2, $3 " OF_AGENT                          \
                " ON CONFLICT (agent, hour) DO UPDATE SET data = excluded.data")                             \
    X(HOUR_LEAVE, "INSERT INTO hours_left (agent, data) SELECT id, $2 " OF_AGENT)                            \
    X(HOURS_LEFT, "DELETE FROM hours_left WHERE id IN (SELECT id FROM hours_left WHERE agent = "             \
                  "ANY($1::bigint[]) ORDER BY id LIMIT $2) RETURNING agent, data")                           \
    X(HOURS, "SELECT hour, data FROM hours WHERE agent = $1 AND hour >= $2 AND hour < $3 ORDER BY hour")     \
    X(HOURS_REMOVE, "DELETE FROM hours WHERE agent = $1 AND hour >= $2 AND hour < $3")                       \
    X(NOTIFY, "SELECT pg_notify('superarm', $1)")                                                            \
    X(CLOCK, "SELECT " NOW)                                                                                  \
    X(HOLD, "SELECT CASE WHEN EXISTS (SELECT 1 FROM agents WHERE id = $1::int) THEN "                        \
            "pg_try_advisory_lock(" LOCK_CLASS ", $1::int) ELSE false END")                                  \
    X(LET_GO, "SELECT pg_advisory_unlock(" LOCK_CLASS ", $1::int)")                                          \
    X(UNSEAT, "SELECT pg_terminate_backend(l.pid) FROM pg_locks l WHERE l.locktype = 'advisory' AND "        \
              "l.classid = " LOCK_CLASS "::oid AND l.objid = $1::int::oid AND l.objsubid = 2 AND l.granted " \
              "AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND "       \
              "l.pid NOT IN (SELECT backend FROM servers WHERE " HEARD_OF ")")                               \
    X(BEAT,                                                                                                  \
      "WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)), gone AS "          \
      "(DELETE FROM servers WHERE beat < now() - interval '1 min' AND id <> $1) "                            \
      "INSERT INTO servers (id, name, version, keys, learns, backend, format, beat) SELECT $1, $2, $3, "     \
      "$4, $5::int::boolean, $6::int, $7::int, clock_timestamp() FROM quick ON CONFLICT (id) DO UPDATE SET " \
      "beat = "                                                                                              \
      "excluded.beat, backend = excluded.backend, keys = excluded.keys, learns = excluded.learns")           \
    X(JOIN, "SELECT pg_advisory_xact_lock(" LOCK_CLASS ", 0)")                                               \
    X(LEAVE, "DELETE FROM servers WHERE id = $1")                                                            \
    X(SERVERS, "SELECT id, name, version, keys, learns, backend FROM servers WHERE " HEARD_OF " AND "        \
               "(backend = 0 OR EXISTS (SELECT 1 FROM pg_stat_activity a WHERE a.pid = backend)) "           \
               "ORDER BY id")                                                                                \
    X(REQUIRED, "SELECT (SELECT value::int >= $1::int FROM facts WHERE name = 'readers')::int::bigint, "     \
                "EXISTS (SELECT 1 FROM servers WHERE format < $1::int AND " HEARD_OF ")::int::bigint")       \
    X(REQUIRE, "UPDATE facts SET value = $1::int WHERE name = 'readers' AND value::int < $1::int")           \
    X(INBOX, "SELECT i.* FROM (SELECT a FROM unnest($1::bigint[]) a ORDER BY a <= $2::bigint, a) a, "        \
             "LATERAL (SELECT id, agent, kind, data, decision, restarts FROM inbox WHERE agent = a AND seq " \
             "= 0 ORDER BY id LIMIT 1) i LIMIT 1")                                                           \
    X(INBOX_DONE, "UPDATE inbox SET seq = $2, data = NULL WHERE id = $1")                                    \
    X(INBOX_DROP, "DELETE FROM inbox WHERE id = $1")                                                         \
    X(INBOX_TIDY, "DELETE FROM inbox WHERE agent = $1 AND seq > 0 AND time < now() - interval '1 min'")      \
    X(INBOX_ROW, "SELECT seq FROM inbox WHERE id = $1")                                                      \
    X(CHUNK_PUT, "INSERT INTO chunks (agent, hash, data) SELECT id, $2, $3 " OF_AGENT                        \
                 " ON CONFLICT (agent, hash) DO UPDATE SET data = excluded.data")                            \
    X(CHUNKS, "SELECT hash, data FROM chunks WHERE agent = $1 AND hash = ANY($2::bytea[])")                  \
    X(CHUNKS_TIDY, "DELETE FROM chunks WHERE agent = $1 AND hash NOT IN (SELECT substring(p.chunks FROM "    \
                   "i * 32 + 1 FOR 32) FROM policies p, generate_series(0, length(p.chunks) / 32 - 1) i "    \
                   "WHERE p.agent = $1)")                                                                    \
    X(POLICY_PUT,                                                                                            \
      "INSERT INTO policies (agent, version, settings, time, size, chunks) SELECT id, $2, $3, " NOW          \
      ", $4, $5 " OF_AGENT " ON CONFLICT (agent, version) DO UPDATE SET settings = "                         \
      "excluded.settings, time = excluded.time, size = excluded.size, chunks = excluded.chunks")             \
    X(POLICY_COPY,                                                                                           \
      "INSERT INTO policies (agent, version, settings, time, size, chunks) VALUES ($1, $2, $3, "             \
      "$4, $5, $6) ON CONFLICT DO NOTHING")                                                                  \
    X(CATALOGUE_COPY,                                                                                        \
      "INSERT INTO catalogues (agent, version, number, past, purged) VALUES ($1, $2, $3, $4, 0)")            \
    X(POLICIES_TIDY,                                                                                         \
      "DELETE FROM policies WHERE agent = $1 AND version <= $3 AND version NOT IN (SELECT version FROM "     \
      "policies WHERE agent = $1 AND version <= $3 ORDER BY version DESC LIMIT $2)")                         \
    X(POLICY_GET, "SELECT version, settings, size, chunks, time FROM policies WHERE agent = $1 ORDER BY "    \
                  "version DESC LIMIT 1 OFFSET $2")                                                          \
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
