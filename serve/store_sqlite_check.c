/* The check of a journal: damage of the database, rows without their checksums, and rows that do not fit
 * together. What belongs to agents that are being deleted is on its way out, and need not fit. */
#include "store_sqlite.h"

typedef struct question {
    const char *sql;      /* one line of text a finding */
    const char *sentence; /* before it */
} sv_question;

#define KEPT(agent) agent " IN (SELECT id FROM agents WHERE deleted IS NULL)"

static const sv_question QUESTIONS[] = {
    {"SELECT * FROM pragma_integrity_check WHERE integrity_check <> 'ok'", "the database is damaged: "},
    {"SELECT 'agent ' || id FROM agents WHERE sum IS NOT " SUM_AGENT(""), "it does not have its checksum: "},
    {"SELECT 'decision ' || id || ', event ' || event FROM decisions WHERE sum IS NOT "
     "moved_sum(" SUM_DECISION("") ", 0, " NO_SEQ ", state, seq)",
     "it does not have its checksum: "},
    {"SELECT 'feedback ' || id FROM feedback WHERE sum IS NOT " SUM_FEEDBACK(""),
     "it does not have its checksum: "},
    {"SELECT 'agent ' || agent || ', row ' || seq FROM rows WHERE sum IS NOT " SUM_ROW(""),
     "it does not have its checksum: "},
    {"SELECT 'checkpoint of agent ' || agent FROM checkpoints WHERE sum IS NOT " SUM_CHECKPOINT(""),
     "it does not have its checksum: "},
    {"SELECT 'agent ' || agent || ', item ' || number FROM items WHERE sum IS NOT " SUM_ITEM(
         "") " UNION ALL SELECT 'agent ' || agent || ', hour ' || hour FROM hours WHERE sum IS "
             "NOT " SUM_HOUR("") " UNION ALL SELECT 'agent ' || agent || ', evaluation ' || id FROM "
                                 "evaluations WHERE sum IS NOT " SUM_EVALUATION(""),
     "it does not have its checksum: "},
    {"SELECT 'fact ' || name FROM facts WHERE sum IS NOT row_sum(name, value) UNION ALL "
     "SELECT 'leftover ' || file FROM leftovers WHERE sum IS NOT row_sum(file, agent)",
     "it does not have its checksum: "},
    {"SELECT 'agent ' || agent || ' has ' || count(*) || ' rows from ' || min(seq) || ' to ' || max(seq) "
     "FROM rows WHERE " KEPT("agent") " GROUP BY agent HAVING count(*) <> max(seq) - min(seq) + 1",
     "rows are missing: "},
    {"SELECT 'agent ' || r.agent || ', row ' || r.seq FROM rows r LEFT JOIN decisions d ON d.id = "
     "r.decision "
     "WHERE r.kind = 3 AND r.decision IS NOT NULL AND (d.id IS NULL OR d.seq <> r.seq + " NO_SEQ
     " OR d.state <> 1 OR d.agent <> r.agent)",
     "a learnt row without its decision: "},
    {"SELECT 'event ' || d.event FROM decisions d LEFT JOIN rows r ON r.agent = d.agent AND "
     "r.seq = d.seq - " NO_SEQ " WHERE d.state = 1 AND (r.id IS NULL OR r.decision IS NOT d.id)",
     "a learnt decision without its row: "},
    {"SELECT 'feedback ' || f.id FROM feedback f LEFT JOIN decisions d ON d.id = f.decision WHERE d.id "
     "IS "
     "NULL",
     "feedback without its decision: "},
    {"SELECT 'agent ' || abs(c.agent) || ' at row ' || c.seq FROM checkpoints c WHERE " KEPT(
         "abs(c.agent)") " AND c.seq > coalesce((SELECT max(seq) FROM rows r WHERE r.agent = "
                         "abs(c.agent)), "
                         "0)",
     "a checkpoint of rows that are not there: "},
    {"SELECT 'agent ' || a.id FROM agents a LEFT JOIN checkpoints c ON c.agent = a.id WHERE a.deleted IS "
     "NULL AND (SELECT min(seq) FROM rows r WHERE r.agent = a.id) > coalesce(c.seq, 1)",
     "rows that no checkpoint has are missing: "},
};

enum { LINES = 5 };

/* What is damaged need not be text: bytes that are not plain become question marks. */
static void put_line(sa_buffer *findings, const char *sentence, const unsigned char *line) {
    sa_buffer_format(findings, "%s", sentence);
    for (size_t i = 0; line && line[i] && i < 300; i++) {
        char c = line[i] < 0x20 || line[i] > 0x7e ? '?' : (char)line[i];
        sa_buffer_bytes(findings, &c, 1);
    }
    sa_buffer_format(findings, "\n");
}

/* false: the question could not be put. What SQLite finds damaged while it looks is a finding, too. */
static bool ask(sv_store *self, const sv_question *question, sa_buffer *findings) {
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(self->database, question->sql, -1, &statement, NULL), lines = 0;
    while (result == SQLITE_OK && (result = sqlite3_step(statement)) == SQLITE_ROW) {
        if (lines++ < LINES) put_line(findings, question->sentence, sqlite3_column_text(statement, 0));
        result = SQLITE_OK;
    }
    if (lines > LINES) sa_buffer_format(findings, "%s%d more\n", question->sentence, lines - LINES);
    sqlite3_finalize(statement);
    if (result == SQLITE_DONE) return true;
    sv_sqlite_result(self, result);
    int kind = result & 0xff;
    bool damage = kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB || kind == SQLITE_ERROR;
    if (damage) put_line(findings, "", (const unsigned char *)self->sentence);
    return damage;
}

sv_store_status sv_sqlite_check(sv_store *self, sa_buffer *findings) {
    sv_sqlite_run_sql(self, "BEGIN"); /* one moment, while others write */
    sv_store_status status = sv_sqlite_check_tables(self, findings);
    for (size_t i = 0; status == STORE_OK && i < sizeof QUESTIONS / sizeof *QUESTIONS; i++)
        if (!ask(self, &QUESTIONS[i], findings)) status = STORE_FAILED;
    sv_sqlite_rollback(self); /* nothing was written */
    return status;
}
