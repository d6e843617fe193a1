/* What evaluating a log costs, against reading it: N 20, K 4, a million decisions unless told otherwise
 * (bench_evaluate COUNT). */
#include "machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <superarm/superarm.h>

enum { ARMS = 20, SLATE = 4, DIM = 2 };

static void must(sa_status status) {
    if (status == SA_OK) return;
    fprintf(stderr, "bench_evaluate: %s\n", sa_last_error());
    exit(1);
}

static unsigned state = 1;
static double uniform(void) {
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / (1 << 24);
}

static void write_log(const char *path, uint64_t count) {
    sa_log_writer *writer;
    sa_log_entry entry;
    double contexts[ARMS * DIM], prefix[SLATE], position[SLATE], feedback[SLATE];
    size_t arms[SLATE];
    must(sa_log_writer_open(path, 6, &writer));
    for (uint64_t i = 0; i < count; i++) {
        sa_log_entry_clear(&entry);
        for (size_t j = 0; j < ARMS * DIM; j++) contexts[j] = uniform();
        for (size_t k = 0; k < SLATE; k++) {
            arms[k] = (i + 3 * k) % ARMS;
            position[k] = 0.02 + 0.9 * uniform();
            prefix[k] = (k ? prefix[k - 1] : 1) * (0.1 + 0.8 * uniform());
            feedback[k] = uniform() < 0.1;
        }
        entry.candidates = ARMS;
        entry.dim = DIM;
        entry.contexts = contexts;
        entry.slate = SLATE;
        entry.arms = arms;
        entry.propensity = prefix[SLATE - 1];
        entry.prefix_propensities = prefix;
        entry.position_propensities = position;
        entry.feedback = feedback;
        must(sa_log_writer_write(writer, &entry));
    }
    must(sa_log_writer_finish(writer));
}

static double read_seconds(const char *path) {
    sa_log_reader *reader;
    const sa_log_entry *entry;
    double start = machine_seconds();
    must(sa_log_reader_open(path, false, &reader));
    do must(sa_log_reader_next(reader, &entry));
    while (entry);
    sa_log_reader_close(reader);
    return machine_seconds() - start;
}

static double evaluate_seconds(const char *path, const char *estimators, const char *model) {
    sa_evaluation *evaluation;
    double start = machine_seconds();
    must(sa_evaluate(path,
                     &(sa_evaluate_settings){.policies = "uniform", .estimators = estimators, .model = model},
                     &evaluation));
    sa_evaluation_destroy(evaluation);
    return machine_seconds() - start;
}

int main(int count, char **arguments) {
    uint64_t decisions = count > 1 ? strtoull(arguments[1], NULL, 10) : 1000000;
    const char *path = "/tmp/bench_evaluate.jsonl";
    write_log(path, decisions);
    read_seconds(path); /* warm */
    double reading = read_seconds(path);
    printf("%" PRIu64 " decisions, N %d, K %d: reading %.2f s\n", decisions, ARMS, SLATE, reading);
    static const char *const lists[][2] = {{"ips,iips,rips", "zero"},
                                           {"ips,snips,iips,sniips,rips,snrips", "zero"},
                                           {"cascade-dr,dr,dm", "ridge"},
                                           {"cascade-dr,dr,dm", "network"}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        double seconds = evaluate_seconds(path, lists[i][0], lists[i][1]);
        printf("%-36s model %-8s %.2f s, %.2f times reading\n", lists[i][0], lists[i][1], seconds,
               seconds / reading);
    }
    unlink(path);
    return 0;
}
