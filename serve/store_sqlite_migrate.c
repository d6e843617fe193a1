/* From an older format to the present one: a new database beside the old one, which takes its place when
 * it is whole and on disk. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "store_sqlite.h"

/* Format 1, of version 0.1.0, attached as `old`: no checksums; times by the day's clock; seq NULL before a
 * decision is learnt; agents' numbers by AUTOINCREMENT. Its last moment is the new journal's first. */
static const char FROM_1[] = "INSERT INTO agents SELECT id, name, settings, created, deleted, " SUM_AGENT(
    "") " FROM old.agents;"
        "INSERT INTO decisions SELECT id, agent, event, time, time, due, 0, state, model, coalesce(seq, 0) "
        "+ " NO_SEQ ", hash, arms, answer, body, moved_sum(row_sum(agent, event, time, time, due, 0, model, "
        "hash, arms, answer, "
        "body), 0, " NO_SEQ ", state, coalesce(seq, 0) + " NO_SEQ ") FROM old.decisions;"
        "INSERT INTO feedback SELECT id, decision, key, time, late, value, " SUM_FEEDBACK(
            "") " FROM old.feedback;"
                "INSERT INTO rows SELECT id, agent, seq, kind, decision, time, data, " SUM_ROW(
                    "") " FROM old.rows;"
                        "INSERT INTO checkpoints SELECT agent, seq, file, settings, time, " SUM_CHECKPOINT(
                            "") " FROM old.checkpoints;"
                                "INSERT INTO facts SELECT 'last_agent', n, row_sum('last_agent', n) FROM "
                                "(SELECT max("
                                "coalesce((SELECT max(seq) FROM old.sqlite_sequence), 0), coalesce((SELECT "
                                "max(id) FROM agents), 0)) n);"
                                "CREATE TEMP TABLE last AS SELECT max(coalesce((SELECT max(time) FROM "
                                "decisions), 1), "
                                "coalesce((SELECT max(time) FROM rows), 1), coalesce((SELECT max(time) FROM "
                                "feedback), 1), "
                                "coalesce((SELECT max(created) FROM agents), 1)) t;"
                                "INSERT INTO facts SELECT name, t, row_sum(name, t) FROM last, "
                                "(SELECT 'waits' name UNION ALL SELECT 'kept' UNION ALL SELECT 'day');"
                                "DROP TABLE temp.last;";

/* Format 2, of version 0.2.0: decisions without a side. What does not have its checksum is not to get one. */
#define MOVED ", 0, " NO_SEQ ", state, seq)"
static const char FROM_2[] =
    "INSERT INTO agents SELECT * FROM old.agents;"
    "INSERT INTO decisions SELECT id, agent, event, time, kept, due, 0, state, model, seq, hash, arms, "
    "answer, body, CASE WHEN sum IS moved_sum(row_sum(agent, event, time, kept, due, model, hash, arms, "
    "answer, body)" MOVED " THEN moved_sum(row_sum(agent, event, time, kept, due, 0, model, hash, arms, "
    "answer, body)" MOVED " ELSE sum END FROM old.decisions;"
    "INSERT INTO feedback SELECT * FROM old.feedback;"
    "INSERT INTO rows SELECT * FROM old.rows;"
    "INSERT INTO checkpoints SELECT * FROM old.checkpoints;"
    "INSERT INTO leftovers SELECT * FROM old.leftovers;"
    "INSERT INTO facts SELECT * FROM old.facts;";
#undef MOVED

static const char *const FROM[] = {NULL, FROM_1, FROM_2};

static bool attach(sv_store *self, const char *path) {
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(self->database, "ATTACH ?1 AS old", -1, &statement, NULL);
    if (result == SQLITE_OK) sqlite3_bind_text(statement, 1, path, -1, SQLITE_STATIC);
    if (result == SQLITE_OK && (result = sqlite3_step(statement)) == SQLITE_DONE) result = SQLITE_OK;
    sqlite3_finalize(statement);
    return sv_sqlite_result(self, result) == STORE_OK;
}

static bool fill(sv_store *self, const char *old, int format) {
    /* its log is folded in, and goes: what takes its place is one file */
    return attach(self, old) && sv_sqlite_run_sql(self, "PRAGMA old.journal_mode = DELETE; BEGIN") &&
           sv_sqlite_run_sql(self, FROM[format]) && sv_sqlite_run_sql(self, "COMMIT; DETACH old");
}

static bool replace(const char *from, const char *to, const char *folder) {
    int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = directory >= 0 && rename(from, to) == 0 && fsync(directory) == 0;
    if (directory >= 0) close(directory);
    return good;
}

bool sv_sqlite_migrate(const char *folder, int format, sa_buffer *sentence) {
    sa_buffer path = {0}, made = {0};
    sv_store self = {.writes = true, .mark = -1};
    sa_buffer_format(&path, "%s/journal.db", folder);
    sa_buffer_format(&made, "%s/journal.db.migrating", folder);
    bool good = !path.status && !made.status && format >= 1 && format < (int)(sizeof FROM / sizeof *FROM);
    if (good) {
        unlink(made.text); /* of a migration that was cut off: its name is ours */
        int result = sqlite3_open_v2(made.text, &self.database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                                     sv_sqlite_vfs());
        if (result == SQLITE_OK) result = sv_sqlite_add_sums(self.database);
        good = sv_sqlite_result(&self, result) == STORE_OK && sv_sqlite_prepare_tables(&self) &&
               fill(&self, path.text, format);
    }
    if (sqlite3_close(self.database) != SQLITE_OK) good = false;
    if (good && !replace(made.text, path.text, folder)) {
        snprintf(self.sentence, sizeof self.sentence, "the new journal could not be put in its place");
        good = false;
    }
    if (!good) sa_buffer_format(sentence, "%s: %s", path.status ? folder : path.text, self.sentence);
    sa_buffer_clear(&path);
    sa_buffer_clear(&made);
    return good;
}
