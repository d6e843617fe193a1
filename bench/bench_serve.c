/* The decision service under load, N 20, d 20, K 4, a sketch, client and server on the same processors.
 * Ratios within one run:
 *
 *   decisions: durable ones a second over what the same HTTP server does when it parses the same body and
 *       answers a
 *              constant; fsyncs a decision, at 64 connections
 *   trainings: 99th percentile of decide, open loop at half the peak, while trainings run over that without
 *
 * bench_serve retention: what removing old events costs. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "http.h"
#include "load.h"
#include "routes.h"

enum { ARMS = 20, DIM = 20, CONNECTIONS = 64, REPEATS = 3, RETENTIONS = 7 };
static const double SECONDS = 4;

static char program[4096], folder[200];

typedef struct child {
    pid_t process;
    unsigned port;
} child;

/* ---- the yardstick: the same HTTP server, which parses the body and answers a constant ---- */

static bool admit_all(sv_exchange *self) {
    self->route = sv_route_at(11);
    return true;
}

static void answer_constant(sv_exchange *self) {
    sa_json body = {0};
    bool good =
        sa_json_parse(&body, self->body.text, self->body.size) == SA_OK && sa_json_check_keys(&body) == SA_OK;
    sa_json_clear(&body);
    sa_buffer_format(
        &self->answer,
        "{\"event\": \"0123456789abcdef0123456789abcdef\", \"slate\": [1, 5, 7, 2], \"propensity\": null, "
        "\"prefix_propensities\": null, \"position_propensities\": null, \"model\": 1}\n");
    self->answer_type = "application/json";
    self->status = good ? 201 : 400;
}

static void end_constant(sv_exchange *self, double seconds) {
    (void)seconds;
    sa_buffer_clear(&self->body);
    sa_buffer_clear(&self->answer);
}

static void serve_constant(int report) {
    sv_refusal why = {0};
    sv_http_options about = {.address = "127.0.0.1",
                             .threads = 2,
                             .request_seconds = 30,
                             .log = LOG_NONE,
                             .admit = admit_all,
                             .answer = answer_constant,
                             .end = end_constant};
    sv_http *http = sv_http_start(&about, &why);
    unsigned port = http ? sv_http_port(http) : 0;
    if (write(report, &port, sizeof port) != sizeof port) _exit(1);
    pause();
    _exit(0);
}

static child start_constant(void) {
    int ends[2];
    child made = {0};
    if (pipe(ends)) return made;
    made.process = fork();
    if (!made.process) serve_constant(ends[1]);
    if (read(ends[0], &made.port, sizeof made.port) != sizeof made.port) made.port = 0;
    close(ends[0]);
    close(ends[1]);
    return made;
}

/* ---- the service ---- */

static int shell(const char *format, const char *one, unsigned port, char *out, size_t size) {
    char command[8192];
    snprintf(command, sizeof command, format, one, port);
    FILE *from = popen(command, "r");
    size_t got = from && out ? fread(out, 1, size - 1, from) : 0;
    if (out) out[got] = 0;
    return from ? pclose(from) : 1;
}

static child start_service(const char *options, const char *settings) {
    char port_file[256], text[64] = "", put[2048];
    child made = {0};
    snprintf(port_file, sizeof port_file, "%s/port", folder);
    shell("rm -rf %s/shop %1$s/port", folder, 0, NULL, 0);
    made.process = fork();
    if (!made.process) {
        char shop[256];
        snprintf(shop, sizeof shop, "%s/shop", folder);
        freopen("/dev/null", "w", stdout);
        execl(program, program, "serve", "--dir", shop, "--port", "0", "--port-file", port_file, "--quiet",
              "--threads", "2", (char *)NULL);
        _exit(1);
    }
    for (int i = 0; i < 500 && !made.port; i++) {
        usleep(10000);
        FILE *file = fopen(port_file, "r");
        if (file && fgets(text, sizeof text, file)) made.port = (unsigned)atoi(text);
        if (file) fclose(file);
    }
    snprintf(put, sizeof put,
             "curl -sS -o /dev/null -X PUT http://127.0.0.1:%%2$u/v1/agents/home -H 'Content-Type: "
             "application/json' -d "
             "'{\"options\": {%s\"algorithm\": \"cn-ucb\", \"dim\": %d, \"confidence\": \"sketch\"}, "
             "\"slate\": 4, "
             "\"default_feedback\": 0, %s"
             "\"wait_seconds\": 0}' # %%1$s",
             options, DIM, settings);
    if (shell(put, "", made.port, NULL, 0)) made.port = 0;
    return made;
}

static void stop(child server) {
    kill(server.process, SIGTERM);
    waitpid(server.process, NULL, 0);
}

/* A number of /metrics. */
static double metric(child server, const char *name) {
    static char page[1 << 20];
    char line[256];
    shell("curl -sS http://127.0.0.1:%2$u/metrics # %1$s", "", server.port, page, sizeof page);
    snprintf(line, sizeof line, "\nsuperarm_%s ", name);
    const char *at = strstr(page, line);
    return at ? strtod(at + strlen(line), NULL) : 0;
}

/* ---- what is sent ---- */

static const char *make_body(void) {
    static char body[16384];
    size_t size = (size_t)sprintf(body, "{\"event\": \"%%s\", \"contexts\": [");
    srand(1);
    for (int i = 0; i < ARMS; i++) {
        size += (size_t)sprintf(body + size, "%s[", i ? ", " : "");
        for (int j = 0; j < DIM; j++)
            size += (size_t)sprintf(body + size, "%s%.4f", j ? ", " : "", rand() / (double)RAND_MAX * 2 - 1);
        size += (size_t)sprintf(body + size, "]");
    }
    sprintf(body + size, "]}");
    return body;
}

static load_plan about(child server, size_t connections, double seconds, double rate) {
    return (load_plan){.port = server.port,
                       .path = "/v1/agents/home/decide",
                       .body = make_body(),
                       .connections = connections,
                       .seconds = seconds,
                       .rate = rate,
                       .feedback_path = "/v1/agents/home/feedback",
                       .feedback = "{\"event\": \"%s\", \"feedback\": [1, 0, 0, 1]}"};
}

static load_result run(const load_plan *load) {
    load_result result;
    if (!load_run(load, &result)) {
        fprintf(stderr, "no connection\n");
        exit(1);
    }
    if (result.errors) printf("  %zu errors\n", result.errors);
    return result;
}

/* ---- the tables ---- */

static void decisions(void) {
    printf("decisions, %d connections, closed loop\n  %12s %12s %8s %18s %10s\n", CONNECTIONS, "constant/s",
           "durable/s", "ratio", "fsyncs/decision", "p99 ms");
    for (int i = 0; i < REPEATS; i++) {
        child constant = start_constant();
        load_plan first = about(constant, CONNECTIONS, SECONDS, 0);
        load_result one = run(&first);
        stop(constant);
        child service = start_service("", "");
        load_plan second = about(service, CONNECTIONS, SECONDS, 0);
        double before = metric(service, "fsync_seconds_count");
        load_result two = run(&second);
        double syncs = metric(service, "fsync_seconds_count") - before;
        stop(service);
        double yardstick = (double)one.answers / one.seconds, durable = (double)two.answers / two.seconds;
        printf("  %12.0f %12.0f %8.2f %8.4f (1/%.0f) %12.1f\n", yardstick, durable, durable / yardstick,
               syncs / (double)two.answers, (double)two.answers / syncs, two.p99 * 1e3);
    }
}

/* A trained agent's widths cost more than a new one's: it is taught first, and half of its own peak is asked
 * of it. */
static void trainings(void) {
    printf(
        "trainings, a trained agent, open loop at half its peak, %d connections\n  %8s %14s %14s %8s %14s\n",
        CONNECTIONS, "peak/s", "p99 without ms", "p99 with ms", "ratio", "trained s/s");
    for (int i = 0; i < REPEATS; i++) {
        child service = start_service("\"train-every\": 1, \"window\": 1000, ", "");
        load_plan teach = about(service, 8, 1.5, 200), top = about(service, CONNECTIONS, SECONDS / 2, 0);
        teach.share = 1;
        run(&teach);
        for (int k = 0; k < 600 && metric(service, "rows_behind{agent=\"home\"}") > 0; k++) usleep(100000);
        load_result best = run(&top);
        double peak = (double)best.answers / best.seconds;
        load_plan without = about(service, CONNECTIONS, SECONDS, peak / 2), with = without;
        load_result one = run(&without);
        with.share = 20;
        double before = metric(service, "training_seconds_total{agent=\"home\"}");
        load_result two = run(&with);
        double trained = metric(service, "training_seconds_total{agent=\"home\"}") - before;
        stop(service);
        printf("  %8.0f %14.2f %14.2f %8.2f %14.2f\n", peak, one.p99 * 1e3, two.p99 * 1e3, two.p99 / one.p99,
               trained / two.seconds);
    }
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What retention costs: the same load where all is kept, and where as much is removed as comes. */
static void retention(void) {
    printf("retention of 2 seconds, open loop at a quarter of the peak, each fourth with feedback, %d "
           "connections\n"
           "  %8s %14s %14s %8s %10s %10s\n",
           CONNECTIONS, "peak/s", "p99 kept ms", "p99 removed ms", "ratio", "made", "left");
    double kept[RETENTIONS], removed[RETENTIONS];
    for (int i = 0; i < RETENTIONS; i++) {
        double p99[2] = {0}, peak = 0, left = 0;
        size_t made = 0;
        for (int k = 0; k < 2; k++) {
            child service =
                start_service("\"train-every\": 1000000, ",
                              k ? "\"retention_days\": 0.000023148, " : "\"retention_days\": 0, ");
            load_plan top = about(service, CONNECTIONS, SECONDS / 2, 0);
            top.share = 4;
            if (!peak) {
                load_result best = run(&top);
                peak = (double)best.answers / best.seconds;
            }
            load_plan steady = about(service, CONNECTIONS, SECONDS, peak / 4);
            steady.share = 4;
            run(&steady); /* the first period */
            load_result measured = run(&steady);
            p99[k] = measured.p99;
            made = measured.answers;
            left = metric(service, "events_waiting{agent=\"home\"}");
            stop(service);
        }
        printf("  %8.0f %14.2f %14.2f %8.2f %10zu %10.0f\n", peak, p99[0] * 1e3, p99[1] * 1e3,
               p99[1] / p99[0], made, left);
        kept[i] = p99[0], removed[i] = p99[1];
    }
    qsort(kept, RETENTIONS, sizeof *kept, by_value);
    qsort(removed, RETENTIONS, sizeof *removed, by_value);
    printf("  ratio of the medians %.2f\n", removed[RETENTIONS / 2] / kept[RETENTIONS / 2]);
}

int main(int count, char **arguments) {
    snprintf(program, sizeof program, "%s", arguments[0]);
    char *slash = strrchr(program, '/');
    snprintf(slash ? slash + 1 : program, 64, "superarm");
    const char *place = getenv("TMPDIR"); /* the disk that is measured */
    snprintf(folder, sizeof folder, "%.150s/superarm-bench-XXXXXX", place ? place : "/tmp");
    if (!mkdtemp(folder)) return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (count == 2 && !strcmp(arguments[1], "retention"))
        retention();
    else
        decisions(), trainings();
    shell("rm -rf %s", folder, 0, NULL, 0);
    return 0;
}
