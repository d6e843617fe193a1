/* A start of the service with rows that no checkpoint has: from exec to the first decision of each agent that
 * is on disk, and until all rows are learnt.
 *
 *   bench_serve_restart [AGENTS [ROWS [OPTIONS]]]      10 agents, 200,000 rows in all, of a linear model
 *
 * The journal is written through the service's own store. The machine's cache is warm. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "store.h"

enum { ARMS = 10, DIM = 8, SLATE = 2, ROWS_A_COMMIT = 2000 };

static char program[4096], folder[200];

static double uniform(void) { return rand() / (double)RAND_MAX * 2 - 1; }

static void need(bool good, const char *what) {
    if (good) return;
    fprintf(stderr, "bench_serve_restart: %s\n", what);
    exit(1);
}

static size_t write_body(char *body, const char *event) {
    size_t size = (size_t)sprintf(body, "{\"event\": \"%s\", \"contexts\": [", event);
    for (int i = 0; i < ARMS; i++) {
        size += (size_t)sprintf(body + size, "%s[", i ? ", " : "");
        for (int j = 0; j < DIM; j++)
            size += (size_t)sprintf(body + size, "%s%.4f", j ? ", " : "", uniform());
        size += (size_t)sprintf(body + size, "]");
    }
    return size + (size_t)sprintf(body + size, "]}");
}

static void add_event(sv_store *store, int64_t agent, int number) {
    char body[4096], event[40], scores[64];
    uint32_t arms[SLATE] = {0, 1};
    sprintf(event, "row-%d", number);
    sv_store_decision decision = {.agent = agent,
                                  .time = sv_clock_milliseconds(),
                                  .event = event,
                                  .model = 1,
                                  .arms = arms,
                                  .arm_count = SLATE,
                                  .answer = "{}",
                                  .body = body,
                                  .body_size = write_body(body, event)};
    need(sv_store_decision_add(store, &decision) == STORE_OK, "a decision cannot be written");
    need(sv_store_decision_find(store, agent, event, &decision) == STORE_OK, "a decision cannot be read");
    sprintf(scores, "[%.4f, %.4f]", uniform(), uniform());
    sv_store_row row = {.kind = ROW_LEARN,
                        .time = sv_clock_milliseconds(),
                        .decision = decision.id,
                        .data = scores,
                        .size = strlen(scores)};
    need(sv_store_row_add(store, agent, &row) == STORE_OK, "a row cannot be written");
}

static void make_journal(int agents, int rows, const char *options) {
    sa_buffer sentence = {0};
    char settings[2000], name[32];
    sv_store *store = sv_store_open(folder, true, &sentence);
    need(store, sentence.text);
    snprintf(settings, sizeof settings,
             "{\"options\": {\"dim\": %d, %s}, \"slate\": %d, \"default_feedback\": 0, \"wait_seconds\": 0}",
             DIM, options, SLATE);
    need(sv_store_begin(store) == STORE_OK, "the journal cannot be written");
    for (int i = 0; i < agents; i++) {
        int64_t id;
        sv_store_row row = {
            .kind = ROW_NEW, .time = sv_clock_milliseconds(), .data = settings, .size = strlen(settings)};
        sprintf(name, "a%d", i);
        need(sv_store_agent_add(store, name, settings, sv_clock_milliseconds(), &id) == STORE_OK, "no agent");
        need(sv_store_row_add(store, id, &row) == STORE_OK, "no row");
    }
    for (int i = 0; i < rows; i++) {
        if (i % ROWS_A_COMMIT == ROWS_A_COMMIT - 1)
            need(sv_store_commit(store) == STORE_OK && sv_store_begin(store) == STORE_OK,
                 "the journal is not written");
        add_event(store, 1 + i % agents, i);
    }
    need(sv_store_commit(store) == STORE_OK, "the journal is not written");
    sv_store_close(store);
}

static pid_t start(void) {
    char port_file[300];
    snprintf(port_file, sizeof port_file, "%s.port", folder);
    remove(port_file);
    pid_t process = fork();
    if (process) return process;
    freopen("/dev/null", "w", stdout);
    execl(program, program, "serve", "--dir", folder, "--port", "0", "--port-file", port_file, "--quiet",
          (char *)NULL);
    _exit(1);
}

static unsigned wait_for_port(void) {
    char port_file[300];
    unsigned port = 0;
    snprintf(port_file, sizeof port_file, "%s.port", folder);
    for (int i = 0; i < 60000 && !port; i++) {
        FILE *file = fopen(port_file, "r");
        if (file && fscanf(file, "%u", &port) != 1) port = 0;
        if (file) fclose(file);
        if (!port) usleep(1000);
    }
    return port;
}

/* Of all its threads, so far. */
static double processor_seconds(pid_t process) {
    char path[64];
    unsigned long user = 0, kernel = 0;
    sprintf(path, "/proc/%d/stat", process);
    FILE *file = fopen(path, "r");
    if (!file ||
        fscanf(file, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &kernel) != 2)
        user = 0;
    if (file) fclose(file);
    return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

/* Does what it answers have the text? */
static bool answers(const char *arguments, const char *path, unsigned port, const char *text) {
    char command[6000], answer[4096];
    snprintf(command, sizeof command, "curl -sS %s -w ' %%{http_code}' http://127.0.0.1:%u%s", arguments,
             port, path);
    FILE *from = popen(command, "r");
    size_t got = from ? fread(answer, 1, sizeof answer - 1, from) : 0;
    answer[got] = 0;
    if (from) pclose(from);
    return strstr(answer, text);
}

static void decide_all(unsigned port, int agents, int round) {
    for (int i = 0; i < agents; i++) {
        char arguments[5000] = "-H 'Content-Type: application/json' -d '", path[64], event[32];
        size_t size = strlen(arguments);
        sprintf(event, "first-%d", round);
        size += write_body(arguments + size, event);
        strcpy(arguments + size, "'");
        sprintf(path, "/v1/agents/a%d/decide", i);
        for (int tries = 0; tries < 100000 && !answers(arguments, path, port, " 201"); tries++) usleep(1000);
    }
}

int main(int count, char **arguments) {
    int agents = count > 1 ? atoi(arguments[1]) : 10, rows = count > 2 ? atoi(arguments[2]) : 200000;
    const char *options = count > 3 ? arguments[3] : "\"algorithm\": \"comblin-ucb\"";
    ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    need(size > 0 && agents > 0, "no program, or no agents");
    program[size] = 0;
    strcpy(strrchr(program, '/'), "/superarm");
    strcpy(folder, "/tmp/superarm-restart-XXXXXX");
    need(mkdtemp(folder), "no folder");
    make_journal(agents, rows, options);
    printf("%d agents, %d rows, %s\n", agents, rows, options);
    for (int round = 0; round < 2; round++) {
        double begin = sv_clock_seconds();
        pid_t process = start();
        unsigned port = wait_for_port();
        double listening = sv_clock_seconds() - begin;
        decide_all(port, 1, 2 * round);
        double first = sv_clock_seconds() - begin;
        decide_all(port, agents, 2 * round + 1);
        double all = sv_clock_seconds() - begin;
        while (!answers("", "/readyz", port, "\"ready\"} ") &&
               !answers("", "/readyz", port, "\"ready\"}\n 200"))
            usleep(10000);
        double recovered = sv_clock_seconds() - begin, processor = processor_seconds(process);
        printf("  %s: listens %.3f s, first decision %.3f s, each agent's first %.3f s, recovered %.2f s "
               "(%.2f s of "
               "processor time)\n",
               round ? "from checkpoints" : "without checkpoints", listening, first, all, recovered,
               processor);
        fflush(stdout);
        kill(process, SIGTERM);
        waitpid(process, NULL, 0);
    }
    char command[300];
    snprintf(command, sizeof command, "du -sh %s; rm -rf %s %s.port", folder, folder, folder);
    return system(command) ? 1 : 0;
}
