/* Connections to PostgreSQL. One that cannot be had is made by a later call, unless the database refuses
 * whoever asks so: the difference between a database that will be there and a URL that is wrong. */
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "store_postgres.h"

static const double AGAIN_SECONDS = 0.25; /* between two tries */
/* Eight connections of a server that starts do not each wait for a database that does not answer. */
static const double ABSENT_SECONDS = 5;
static _Atomic double absent; /* when one of them could not be had, by sv_clock_seconds; 0: it could */

bool sv_postgres_is_absent(void) {
    double since = atomic_load(&absent);
    return since > 0 && sv_clock_seconds() - since < ABSENT_SECONDS;
}

void sv_postgres_disconnect(sv_store *self) {
    PQclear(self->found);
    PQclear(self->taught);
    self->taught = NULL;
    PQclear(self->hour);
    PQclear(self->due);
    self->found = self->hour = self->due = NULL;
    self->due_at = 0;
    sv_postgres_strike(self);
    PQfinish(self->connection);
    self->connection = NULL;
    memset(self->prepared, 0, sizeof self->prepared);
    self->held_count = self->ahead_count = 0;
    self->listens = self->pipeline = false;
}

/* The first line of what PostgreSQL says. */
void sv_postgres_say(sv_store *self, const char *text) {
    size_t size = strcspn(text, "\n");
    snprintf(self->sentence, sizeof self->sentence, "the database cannot be used: %.*s", (int)size,
             size ? text : "it is not known why");
}

/* ---- why there is no connection ---- */

static const double CONNECT_SECONDS = 3;

/* Waits for what libpq waits for. */
static bool wait_for(PGconn *connection, PostgresPollingStatusType what, double until) {
    struct pollfd file = {.fd = PQsocket(connection),
                          .events = what == PGRES_POLLING_READING ? POLLIN : POLLOUT};
    double left = until - sv_clock_seconds();
    return left > 0 && poll(&file, 1, (int)(left * 1000) + 1) > 0;
}

/* Tries once more, a step at a time. The last one before the end: where it fails. */
static ConnStatusType take_steps(PGconn *connection) {
    ConnStatusType last = PQstatus(connection);
    double until = sv_clock_seconds() + CONNECT_SECONDS;
    PostgresPollingStatusType what = PGRES_POLLING_WRITING;
    if (last == CONNECTION_BAD) return last;
    PQsetErrorVerbosity(connection, PQERRORS_VERBOSE); /* with codes: texts are in the server's language */
    while (what != PGRES_POLLING_OK && what != PGRES_POLLING_FAILED && wait_for(connection, what, until)) {
        last = PQstatus(connection);
        what = PQconnectPoll(connection);
    }
    return what == PGRES_POLLING_OK ? CONNECTION_OK : last;
}

/* The code in "FATAL:  53300: sorry, too many clients"; "": the database has said nothing. */
static void find_code(const char *text, char code[6]) {
    *code = 0;
    for (const char *at = text; (at = strstr(at, ":  ")); at++)
        if (strspn(at + 3, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 5 && !strncmp(at + 8, ": ", 2)) {
            memcpy(code, at + 3, 5);
            code[5] = 0;
            return;
        }
}

/* libpq looks at a port when it connects, and does not tell that from a database that is not there. */
static bool is_port(const char *text) {
    while (*text) {
        size_t digits = strspn(text, "0123456789");
        if (digits > 5 || (digits && strtol(text, NULL, 10) > 65535) || !strchr(",", text[digits]))
            return false;
        text += digits + (text[digits] == ',');
    }
    return true;
}

static bool has_port(const char *url) {
    PQconninfoOption *options = PQconninfoParse(url, NULL);
    bool good = options;
    for (PQconninfoOption *each = options; each && each->keyword; each++)
        if (!strcmp(each->keyword, "port") && each->val) good = good && is_port(each->val);
    PQconninfoFree(options);
    return good;
}

/* libpq takes the first @ before a / as the end of a password: one behind it is a password's, too. */
static bool has_stray_at(const char *url) {
    const char *from = strstr(url, "://"), *at;
    from = from ? from + 3 : url;
    if ((at = memchr(from, '@', strcspn(from, "/")))) from = at + 1;
    return memchr(from, '@', strcspn(from, "?"));
}

/* What libpq says of a URL that it cannot read has parts of it, and they may be a password's. */
bool sv_postgres_is_readable(sv_store *self) {
    if (!has_stray_at(self->url) && has_port(self->url)) return true;
    self->unfit = true;
    sv_postgres_say(
        self, "its URL cannot be read; it is like postgresql://user:password@host:5432/database, with a "
              "port up to 65535, libpq's own parameters behind a ?, and special characters in a "
              "password written as %40 (@), %2F (/), %25 (%)");
    return false;
}

/* Not where resources are short (53: too many connections), or it starts or stops (57P). A handshake that
 * fails is one of certificates; all else is a network, or no URL. */
bool sv_postgres_is_refused(const sv_store *self) {
    char code[6];
    if (self->unfit) return true;
    PGconn *connection = PQconnectStart(self->url);
    ConnStatusType last = connection ? take_steps(connection) : CONNECTION_BAD;
    find_code(PQerrorMessage(connection), code);
    bool without_password = connection && PQconnectionNeedsPassword(connection);
    PQfinish(connection);
    if (last == CONNECTION_OK) return false;
    if (without_password) return true;
    if (*code) return strncmp(code, "53", 2) && strncmp(code, "57P", 3) && strncmp(code, "08", 2);
    return last == CONNECTION_SSL_STARTUP ||
           (last == CONNECTION_BAD && PQping(self->url) == PQPING_NO_ATTEMPT);
}

/* ---- a connection ---- */

static PGconn *connect_to(const char *url) {
    static const char *const names[] = {"dbname",           "application_name", "connect_timeout",
                                        "tcp_user_timeout", "keepalives_idle",  "keepalives_interval",
                                        "keepalives_count", "client_encoding",  NULL};
    const char *values[] = {url, "superarm serve", "3", "10000", "10", "2", "3", "UTF8", NULL};
    return PQconnectdbParams(names, values, 1);
}

static void ignore(void *user, const PGresult *result) { (void)user, (void)result; }

/* A server that hangs in a transaction must not hold up others; a commit means that it is on disk. A
 * migration that breaks older programs is waited for, so that the format that is looked up next is its. */
static const char SESSION[] =
    POSTGRES_NO_LIMITS "SET synchronous_commit = on; SET lock_timeout = '3s'; "
                       "SET idle_in_transaction_session_timeout = '5s'; "
                       "SET default_transaction_isolation = 'read committed'; "
                       "SET timezone = 'UTC'; SET jit = off; SET client_min_messages = error; "
                       "SELECT pg_advisory_xact_lock_shared(" LOCK_CLASS ", 0)";

/* Between transactions the database says nothing but news, and that it ends the session: by a sentence, and
 * then the end of the socket. Seen here, whoever asks next need not fail first. */
static bool is_alive(PGconn *connection) {
    struct pollfd file = {.fd = PQsocket(connection), .events = POLLIN};
    for (int i = 0; i < 3 && PQstatus(connection) == CONNECTION_OK && poll(&file, 1, 0) > 0; i++)
        if (!PQconsumeInput(connection)) return false;
    return PQstatus(connection) == CONNECTION_OK;
}

sv_store_status sv_postgres_connect(sv_store *self) {
    if (self->connection && is_alive(self->connection)) return STORE_OK;
    if (self->connection) sv_postgres_say(self, PQerrorMessage(self->connection));
    double now = sv_clock_seconds();
    if (sv_postgres_is_over() || (self->tried > 0 && now - self->tried < AGAIN_SECONDS)) return STORE_LATER;
    sv_postgres_disconnect(self);
    if (!sv_postgres_is_readable(self)) return STORE_LATER;
    self->connection = connect_to(self->url);
    self->tried = sv_clock_seconds();
    self->unfit = false;
    if (PQstatus(self->connection) != CONNECTION_OK) {
        sv_postgres_say(self, PQerrorMessage(self->connection));
        sv_postgres_disconnect(self);
        atomic_store(&absent, self->tried);
        return STORE_LATER;
    }
    atomic_store(&absent, 0);
    sv_postgres_enlist(self);
    PQsetNoticeReceiver(self->connection, ignore, NULL);
    if (sv_postgres_run_sql(self, SESSION) == STORE_OK) {
        if (sv_postgres_check_format(self)) return STORE_OK;
        self->unfit = PQstatus(self->connection) == CONNECTION_OK;
    }
    sv_postgres_disconnect(self);
    return STORE_LATER;
}
