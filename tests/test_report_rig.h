/* Result folders of made-up numbers, as `superarm run` would have written them. */
#ifndef TESTS_TEST_REPORT_RIG_H
#define TESTS_TEST_REPORT_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "temporary.h"

#include "report/report.h"

typedef struct rig_agent {
    const char *label;
    /* (runs) expected regret at the end; the realised one is ten times as much, clicks a hundred times */
    const double *final;
} rig_agent;

typedef struct rig {
    const char *options; /* lines of YAML */
    size_t first, runs, rounds;
    const rig_agent *agents; /* (count) */
    size_t count;
} rig;

/* Regret grows along a line to its final value. */
static inline void rig_curves(const char *folder, const rig *self, const rig_agent *agent) {
    static const char *const kinds[] = {"expected_regret", "realised_regret", "reward", "clicks"};
    const size_t shape[2] = {self->runs, self->rounds};
    double *numbers = calloc(self->runs * self->rounds, sizeof *numbers);
    char name[256];
    snprintf(name, sizeof name, "%s/%s", folder, agent->label);
    assert_int_equal(sa_folder_make(name), SA_OK);
    for (int kind = 0; kind < 4; kind++) {
        for (size_t i = 0; i < self->runs * self->rounds; i++)
            numbers[i] = (kind == 1   ? 10
                          : kind == 3 ? 100
                                      : 1) *
                         agent->final[i / self->rounds] * (double)(i % self->rounds + 1) /
                         (double)self->rounds;
        snprintf(name, sizeof name, "%s/%s/%s.npy", folder, agent->label, kinds[kind]);
        assert_int_equal(sa_npy_write(name, SA_FLOAT64, 2, shape, numbers), SA_OK);
    }
    free(numbers);
}

static inline void rig_write(const char *folder, const rig *self) {
    sa_buffer spec = {0}, summary = {0};
    assert_int_equal(sa_folder_make(folder), SA_OK);
    sa_buffer_text(&spec, self->options);
    sa_buffer_format(&spec, "first-run: %zu\nruns: %zu\nrounds: %zu\nagents:\n", self->first, self->runs,
                     self->rounds);
    sa_buffer_text(&summary, "{\"version\": \"0\", \"format\": 1, \"agents\": {");
    for (size_t i = 0; i < self->count; i++) {
        sa_buffer_text(&spec, "  ");
        sa_buffer_quote(&spec, self->agents[i].label);
        sa_buffer_text(&spec, ":\n    algorithm: random\n");
        if (i > 0) sa_buffer_text(&summary, ", ");
        sa_buffer_quote(&summary, self->agents[i].label);
        sa_buffer_format(
            &summary,
            ": {\"runs\": %zu, \"rounds\": %zu, \"seconds_per_run\": 0.5, \"peak_bytes\": 2500000, "
            "\"diverged_trainings\": 3}",
            self->runs, self->rounds);
        rig_curves(folder, self, &self->agents[i]);
    }
    sa_buffer_text(&summary, "}}");
    write_text(inside(folder, "spec.yaml"), spec.text);
    write_text(inside(folder, "summary.json"), summary.text);
    sa_buffer_clear(&summary);
    sa_buffer_clear(&spec);
}

/* Two agents, three runs, expected regrets 1, 2, 6 and 2, 4, 9. */
static const double RIG_FIRST[] = {1, 2, 6}, RIG_SECOND[] = {2, 4, 9};
static const rig_agent RIG_AGENTS[] = {{"first", RIG_FIRST}, {"second", RIG_SECOND}};
static const rig RIG = {"show-regret: expected\n", 0, 3, 5, RIG_AGENTS, 2};

static inline sa_report *rig_open(const char *folder) {
    sa_report *report = NULL;
    if (sa_report_open(&folder, 1, &report) != SA_OK) fail_msg("%s", sa_last_error());
    return report;
}

/* The sentence with which folders are refused. */
static inline const char *rig_refused(const char *const *folders, size_t count, sa_status status) {
    sa_report *report = NULL;
    assert_int_equal(sa_report_open(folders, count, &report), status);
    assert_null(report);
    return sa_last_error();
}

static inline void assert_has(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("no \"%s\" in: %.2000s", part, text);
}

/* The whole file, valid until the second next call. */
static inline char *slurp(const char *path) {
    static char *kept[2];
    static int next;
    size_t size;
    sa_free(kept[next ^= 1]);
    kept[next] = NULL;
    if (sa_file_read(path, &kept[next], &size) != SA_OK) fail_msg("%s", sa_last_error());
    return kept[next];
}

#endif
