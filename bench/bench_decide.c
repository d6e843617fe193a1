/* What a decision costs beside the choice: N 200, K 5, items with named fields (d 44, a body of 20 KB), in
 * microseconds of processor time.
 *
 *   choice     sa_policy_select with the contexts ready: what nobody can spare
 *   request    parsed, hashed for retries, encoded: sa_json_parse, sa_json_digest, sa_request_parsed
 *   decide     all of POST .../decide in the service (its process's time over its answers): HTTP, the
 *              request, the choice, the answer, and the journal's row on the disk of TMPDIR
 *
 * The ratio decide / choice is of one machine and one moment, and can be repeated elsewhere. With the program
 * of another version as an argument, `decide` is that version's. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <superarm/superarm.h>

#include "load.h"

enum { ARMS = 200, SLATE = 5, TIMES = 2000, REPEATS = 3 };
static const double SECONDS = 3;

static const char SCHEMA[] =
    "{\"context\": {\"country\": \"hashed 8\", \"device\": \"category [phone, desktop, tablet]\", "
    "\"hour\": \"cyclic 24\"}, "
    "\"item\": {\"category\": \"hashed 13\", \"brand\": \"hashed 6\", \"price\": \"log\", \"stock\": "
    "\"flag\", \"rating\": \"number\"}}";

static char program[4096], folder[200];

static void need(bool good, const char *what) {
    if (good) return;
    fprintf(stderr, "bench_decide: %s: %s\n", what, sa_last_error());
    exit(1);
}

/* ---- what is sent ---- */

static char *make_body(void) {
    static const char *const categories[] = {"shoes", "coats", "lamps", "books", "games", "tools"};
    static char body[1 << 16];
    size_t size = (size_t)sprintf(body, "{\"event\": \"%%s\", \"context\": {\"country\": \"NL\", \"device\": "
                                        "\"phone\", \"hour\": 17}, \"items\": [");
    srand(1);
    for (int i = 0; i < ARMS; i++)
        size += (size_t)sprintf(body + size,
                                "%s{\"id\": \"p%d\", \"category\": \"%s\", \"brand\": \"brand-%d\", "
                                "\"price\": %d.%02d, \"stock\": %s, \"rating\": %.1f}",
                                i ? ", " : "", 1000 + i, categories[rand() % 6], rand() % 40, rand() % 200,
                                rand() % 100, rand() % 4 ? "true" : "false", rand() % 50 / 10.0);
    sprintf(body + size, "]}");
    return body;
}

/* ---- in this process ---- */

static double processor(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static sa_options *make_options(void) {
    sa_options *options = sa_options_new(NULL);
    need(options && sa_options_set(options, "algorithm", "cn-ucb") == SA_OK &&
             sa_options_set(options, "confidence", "sketch") == SA_OK &&
             sa_options_set(options, "dim", "44") == SA_OK,
         "options");
    return options;
}

static double time_choice(sa_policy *policy, const sa_request *request) {
    sa_chooser *chooser = sa_chooser_new();
    sa_decision *decision = NULL;
    double begin = 0;
    for (int i = -TIMES / 10; i < TIMES; i++) {
        if (i == 0) begin = processor();
        need(sa_policy_select(policy, chooser, request, &decision) == SA_OK, "a choice");
    }
    double seconds = (processor() - begin) / TIMES;
    sa_decision_destroy(decision);
    sa_chooser_destroy(chooser);
    return seconds;
}

static double time_request(const sa_schema *schema, const char *body, sa_request *request) {
    sa_json json = {0};
    uint8_t digest[SA_SHA256_BYTES];
    double begin = 0;
    for (int i = -TIMES / 10; i < TIMES; i++) {
        if (i == 0) begin = processor();
        need(sa_json_parse(&json, body, strlen(body)) == SA_OK && sa_json_digest(&json, digest) == SA_OK &&
                 sa_request_parsed(request, schema, &json, 0) == SA_OK,
             "a request");
    }
    double seconds = (processor() - begin) / TIMES;
    sa_json_clear(&json);
    return seconds;
}

static void time_library(const char *body, double *choice, double *read) {
    sa_schema *schema = NULL;
    sa_agent *agent = NULL;
    sa_policy *policy = NULL;
    sa_options *options = make_options();
    sa_request *request = sa_request_new();
    need(sa_schema_parse(SCHEMA, strlen(SCHEMA), "schema", &schema) == SA_OK, "the schema");
    need(sa_schema_dim(schema) == 44, "dim");
    need(sa_agent_create(options, &agent) == SA_OK && sa_agent_policy(agent, &policy) == SA_OK, "an agent");
    *read = time_request(schema, body, request);
    sa_request_slate(request, SLATE);
    sa_request_propensities(request, true);
    *choice = time_choice(policy, request);
    sa_request_destroy(request);
    sa_policy_release(policy);
    sa_agent_destroy(agent);
    sa_schema_release(schema);
    sa_options_destroy(options);
}

/* ---- the service ---- */

static pid_t start(unsigned *port) {
    char port_file[256], shop[256], text[64] = "", put[4096];
    snprintf(port_file, sizeof port_file, "%s/port", folder);
    snprintf(shop, sizeof shop, "%s/shop", folder);
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
    snprintf(put, sizeof put,
             "curl -sS -o /dev/null -X PUT http://127.0.0.1:%u/v1/agents/home -H 'Content-Type: "
             "application/json' -d '{\"options\": {\"algorithm\": \"cn-ucb\", \"confidence\": \"sketch\"}, "
             "\"schema\": %s, \"slate\": %d, \"default_feedback\": 0}'",
             *port, SCHEMA, SLATE);
    need(*port && system(put) == 0, "the service");
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

static double time_service(const char *body, double *rate) {
    unsigned port;
    pid_t process = start(&port);
    load_plan plan = {
        .port = port, .path = "/v1/agents/home/decide", .body = body, .connections = 8, .seconds = SECONDS};
    load_result result;
    double before = seconds_of(process);
    need(load_run(&plan, &result) && result.answers && !result.errors, "the load");
    double used = seconds_of(process) - before;
    kill(process, SIGTERM);
    waitpid(process, NULL, 0);
    *rate = (double)result.answers / result.seconds;
    char command[512];
    snprintf(command, sizeof command, "rm -rf %s/shop %s/port", folder, folder);
    need(system(command) == 0, command);
    return used / (double)result.answers;
}

int main(int count, char **arguments) {
    snprintf(program, sizeof program, "%s", arguments[0]);
    char *slash = strrchr(program, '/');
    snprintf(slash ? slash + 1 : program, 64, "superarm");
    if (count > 1) snprintf(program, sizeof program, "%s", arguments[1]);
    const char *place = getenv("TMPDIR"), *body = make_body();
    snprintf(folder, sizeof folder, "%.150s/superarm-bench-XXXXXX", place ? place : "/tmp");
    if (!mkdtemp(folder)) return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("a decide of %zu bytes, N %d, K %d, d 44: microseconds of processor time\n", strlen(body), ARMS,
           SLATE);
    printf("  %8s %8s %8s %16s %10s\n", "choice", "request", "decide", "decide / choice", "decides/s");
    for (int i = 0; i < REPEATS; i++) {
        double choice, read, rate;
        time_library(body, &choice, &read);
        double decide = time_service(body, &rate);
        printf("  %8.0f %8.0f %8.0f %16.2f %10.0f\n", choice * 1e6, read * 1e6, decide * 1e6, decide / choice,
               rate);
    }
    rmdir(folder);
    return 0;
}
