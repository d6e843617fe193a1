/* What a stored catalogue saves: decisions with items in the body, by ids of stored items, by where, and
 * of all of them, in one run. N 200, K 5, d 44; the last row is N 10,000.
 *
 *   decide   microseconds of processor time of the service's process over its answers
 *   rate     decisions a second, each on disk, 8 connections
 *   bytes    of the journal a decision, all tables and indices, once the service has stopped */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <superarm/superarm.h>

#include "load.h"

enum { SLATE = 5, REPEATS = 3, FEW = 200, MANY = 10000 };
static const double SECONDS = 3;

static const char SCHEMA[] =
    "{\"context\": {\"country\": \"hashed 8\", \"device\": \"category [phone, desktop, tablet]\", "
    "\"hour\": \"cyclic 24\"}, "
    "\"item\": {\"category\": \"hashed 13\", \"brand\": \"hashed 6\", \"price\": \"log\", \"stock\": "
    "\"flag\", \"rating\": \"number\"}}";

static char program[4096], folder[200];

static void need(bool good, const char *what) {
    if (good) return;
    fprintf(stderr, "bench_catalogue: %s\n", what);
    exit(1);
}

/* ---- what is sent ---- */

static void put_items(sa_buffer *out, int count, const char *between) {
    static const char *const categories[] = {"shoes", "coats", "lamps", "books", "games", "tools"};
    srand(1);
    for (int i = 0; i < count; i++)
        sa_buffer_format(out,
                         "%s{\"id\": \"p%d\", \"category\": \"%s\", \"brand\": \"brand-%d\", "
                         "\"price\": %d.%02d, \"stock\": %s, \"rating\": %.1f}",
                         i ? between : "", 1000 + i, categories[rand() % 6], rand() % 40, rand() % 200,
                         rand() % 100, rand() % 4 ? "true" : "false", rand() % 50 / 10.0);
}

typedef enum way { IN_BODY, BY_IDS, BY_WHERE, ALL } way;

/* Of a catalogue of 1000 ids every fifth is named. */
static void make_body(sa_buffer *out, way how) {
    sa_buffer_text(out, "{\"event\": \"%s\", \"context\": {\"country\": \"NL\", \"device\": \"phone\", "
                        "\"hour\": 17}");
    if (how == IN_BODY) {
        sa_buffer_text(out, ", \"items\": [");
        put_items(out, FEW, ", ");
        sa_buffer_text(out, "]");
    } else if (how == BY_IDS) {
        sa_buffer_text(out, ", \"items\": [");
        for (int i = 0; i < FEW; i++) sa_buffer_format(out, "%s\"p%d\"", i ? ", " : "", 1000 + 5 * i);
        sa_buffer_text(out, "]");
    } else if (how == BY_WHERE)
        sa_buffer_text(out, ", \"where\": {\"price\": {\"min\": 0}}");
    sa_buffer_text(out, "}");
}

/* ---- the service ---- */

static void run_command(const char *command) { need(system(command) == 0, command); }

static pid_t start(unsigned *port, int stored) {
    char port_file[256], shop[256], text[64] = "", command[4096];
    sa_buffer items = {0};
    snprintf(port_file, sizeof port_file, "%s/port", folder);
    snprintf(shop, sizeof shop, "%s/shop", folder);
    unlink(port_file);
    pid_t process = fork();
    if (!process) {
        freopen("/dev/null", "w", stdout);
        execl(program, program, "serve", "--dir", shop, "--port", "0", "--port-file", port_file, "--quiet",
              "--threads", "2", (char *)NULL);
        _exit(1);
    }
    *port = 0;
    for (int i = 0; i < 500 && !*port; i++) {
        usleep(10000);
        FILE *file = fopen(port_file, "r");
        if (file && fgets(text, sizeof text, file)) *port = (unsigned)atoi(text);
        if (file) fclose(file);
    }
    snprintf(command, sizeof command,
             "curl -sS -f -o /dev/null -X PUT http://127.0.0.1:%u/v1/agents/home -H 'Content-Type: "
             "application/json' -d '{\"options\": {\"algorithm\": \"cn-ucb\", \"confidence\": \"sketch\"}, "
             "\"schema\": %s, \"slate\": %d, \"default_feedback\": 0}'",
             *port, SCHEMA, SLATE);
    run_command(command);
    put_items(&items, stored, "\n");
    snprintf(command, sizeof command,
             "curl -sS -f -o /dev/null -X PUT http://127.0.0.1:%u/v1/agents/home/items -H 'Content-Type: "
             "application/x-ndjson' --data-binary @-",
             *port);
    FILE *pipe = stored ? popen(command, "w") : NULL;
    if (pipe) need(fwrite(items.text, 1, items.size, pipe) == items.size && pclose(pipe) == 0, "the items");
    sa_buffer_clear(&items);
    return process;
}

/* Seconds of processor time of all threads of the process. */
static double seconds_of(pid_t process) {
    char path[64], line[1024] = "";
    unsigned long user = 0, system_time = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    FILE *file = fopen(path, "r");
    size_t got = file ? fread(line, 1, sizeof line - 1, file) : 0;
    if (file) fclose(file);
    line[got] = 0;
    const char *at = strrchr(line, ')');
    if (at) sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system_time);
    return (double)(user + system_time) / (double)sysconf(_SC_CLK_TCK);
}

/* A stop folds the log into the journal. */
static double journal_bytes(void) {
    char path[256];
    struct stat about;
    snprintf(path, sizeof path, "%s/shop/journal.db", folder);
    return stat(path, &about) ? 0 : (double)about.st_size;
}

static void stop(pid_t process) {
    kill(process, SIGTERM);
    waitpid(process, NULL, 0);
}

typedef struct figures {
    double decide, rate, bytes;
} figures;

static figures measure(way how, int stored) {
    unsigned port;
    figures out;
    sa_buffer body = {0};
    load_result result;
    char command[512];
    make_body(&body, how);
    stop(start(&port, stored));
    double empty = journal_bytes();
    pid_t process = start(&port, stored); /* the same again, which changes nothing */
    load_plan plan = {.port = port,
                      .path = "/v1/agents/home/decide",
                      .body = body.text,
                      .connections = 8,
                      .seconds = SECONDS};
    double before = seconds_of(process);
    need(load_run(&plan, &result) && result.answers && !result.errors, "the load");
    out.decide = (seconds_of(process) - before) / (double)result.answers;
    out.rate = (double)result.answers / result.seconds;
    stop(process);
    out.bytes = (journal_bytes() - empty) / (double)result.answers;
    snprintf(command, sizeof command, "rm -rf %s/shop %s/port", folder, folder);
    run_command(command);
    sa_buffer_clear(&body);
    return out;
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        way how;
        int stored;
    } rows[] = {{"items in the body", IN_BODY, 0},
                {"200 ids of 1,000", BY_IDS, 1000},
                {"where, 200 of 200", BY_WHERE, FEW},
                {"all of 200", ALL, FEW},
                {"all of 10,000", ALL, MANY}};
    snprintf(program, sizeof program, "%s", arguments[0]);
    char *slash = strrchr(program, '/');
    snprintf(slash ? slash + 1 : program, 64, "superarm");
    if (count > 1) snprintf(program, sizeof program, "%s", arguments[1]);
    const char *place = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.150s/superarm-bench-XXXXXX", place ? place : "/tmp");
    if (!mkdtemp(folder)) return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("decisions, K %d, d 44: microseconds of processor time, a second, bytes of the journal\n", SLATE);
    printf("  %-20s %10s %10s %10s %14s\n", "", "decide", "rate", "bytes", "rate / body's");
    for (int i = 0; i < REPEATS; i++) {
        double first = 0;
        for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
            figures got = measure(rows[row].how, rows[row].stored);
            if (!row) first = got.rate;
            printf("  %-20s %10.0f %10.0f %10.0f %14.2f\n", rows[row].name, got.decide * 1e6, got.rate,
                   got.bytes, got.rate / first);
        }
    }
    rmdir(folder);
    return 0;
}
