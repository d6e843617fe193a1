/* bench_cluster PORT [PORT ...]: durable decisions a second of servers that share a journal, N 20, d 20, K
 * 4, 64 connections in all, closed loop, four seconds. One number; tools/serve-cluster-bench compares
 * them. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load.h"

enum { ARMS = 20, DIM = 20, CONNECTIONS = 64, MOST = 8 };

static const char *make_body(void) {
    static char body[ARMS * DIM * 8 + 100];
    size_t at = (size_t)sprintf(body, "{\"event\": \"%%s\", \"contexts\": [");
    for (int i = 0; i < ARMS; i++) {
        at += (size_t)sprintf(body + at, "%s[", i ? "," : "");
        for (int k = 0; k < DIM; k++)
            at += (size_t)sprintf(body + at, "%s0.%03d", k ? "," : "", (i * 37 + k * 101) % 1000);
        at += (size_t)sprintf(body + at, "]");
    }
    sprintf(body + at, "]}");
    return body;
}

/* One process a port: the load's events are random. */
static void ask(unsigned port, size_t connections, int report) {
    load_plan plan = {.port = port,
                      .path = "/v1/agents/home/decide",
                      .body = make_body(),
                      .connections = connections,
                      .seconds = 4};
    load_result result = {0};
    double rate = load_run(&plan, &result) && !result.errors ? (double)result.answers / result.seconds : -1;
    if (write(report, &rate, sizeof rate) != sizeof rate) _exit(1);
    _exit(0);
}

int main(int count, char **arguments) {
    int ends[2], ports = count - 1;
    double sum = 0, rate;
    if (ports < 1 || ports > MOST || pipe(ends)) return 2;
    for (int i = 0; i < ports; i++)
        if (fork() == 0) ask((unsigned)atoi(arguments[i + 1]), (size_t)(CONNECTIONS / ports), ends[1]);
    for (int i = 0; i < ports; i++) {
        if (read(ends[0], &rate, sizeof rate) != sizeof rate || rate < 0) return 1;
        sum += rate;
    }
    while (wait(NULL) > 0) continue;
    printf("%.0f\n", sum);
    return 0;
}
