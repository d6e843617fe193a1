/* What an agent keeps as feedback comes by the million: memory and checkpoint, with keep-rows, of a small
 * and fast agent.
 *
 *   bench_keep [EVENTS [KEEP-ROWS [ALGORITHM]]]      3,000,000, 200,000, comblin-ucb of preset paper */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "superarm/superarm.h"

enum { ARMS = 4, DIM = 4, SLATE = 1 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double resident_mb(void) {
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    if (file) fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static sa_agent *make(const char *keep, const char *algorithm) {
    sa_agent *agent = NULL;
    sa_options *options = sa_options_new(NULL);
    const char *const given[][2] = {{"preset", "paper"}, {"algorithm", algorithm}, {"dim", "4"},
                                    {"slate", "1"},      {"hidden", "8"},          {"confidence", "auto"},
                                    {"keep-rows", keep}, {"train-every", "1000"}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        sa_options_set(options, given[i][0], given[i][1]);
    if (sa_agent_create(options, &agent) != SA_OK) fprintf(stderr, "%s\n", sa_last_error());
    sa_options_destroy(options);
    return agent;
}

static void report(const sa_agent *agent, size_t events, double begin) {
    char path[] = "/tmp/superarm-keep-XXXXXX";
    struct stat file = {0};
    sa_agent_counts counts;
    int descriptor = mkstemp(path);
    double before = now();
    sa_agent_save(agent, path);
    double seconds = now() - before;
    stat(path, &file);
    close(descriptor);
    remove(path);
    sa_agent_count(agent, &counts);
    printf("%12zu %10.1f %10.1f %12.1f %10.2f %12.1f\n", events, (double)counts.bytes / 1e6, resident_mb(),
           (double)file.st_size / 1e6, seconds, (before - begin) * 1e6 / (double)events);
    fflush(stdout);
}

int main(int count, char **arguments) {
    size_t events = count > 1 ? strtoull(arguments[1], NULL, 10) : 3000000, next = 50000;
    sa_agent *agent = make(count > 2 ? arguments[2] : "200000", count > 3 ? arguments[3] : "comblin-ucb");
    sa_request *request = sa_request_new();
    unsigned long long state = 1;
    double begin = now();
    if (!agent || !request) return 1;
    printf("%12s %10s %10s %12s %10s %12s\n", "events", "agent MB", "RSS MB", "checkpoint MB", "seconds",
           "us an event");
    for (size_t i = 1; i <= events; i++) {
        double contexts[ARMS * DIM], score;
        bool observed = true;
        for (size_t j = 0; j < ARMS * DIM; j++) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            contexts[j] = (double)(state >> 11) * 0x1p-53 - 0.5;
        }
        size_t arm = i % ARMS;
        score = contexts[arm * DIM] + 0.1 * contexts[(arm + 1) % ARMS * DIM];
        sa_request_contexts(request, contexts, ARMS);
        sa_request_slate(request, SLATE);
        if (sa_agent_learn(agent, request, &arm, &score, &observed, SLATE) != SA_OK) {
            fprintf(stderr, "%s\n", sa_last_error());
            return 1;
        }
        if (i == next || i == events) {
            report(agent, i, begin);
            next = next < 1000000 ? 2 * next : next + 1000000;
        }
    }
    sa_request_destroy(request);
    sa_agent_destroy(agent);
    return 0;
}
