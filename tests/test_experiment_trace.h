/* A simulation on contexts and scores that the test knows, without noise, and its trace read back. */
#ifndef TEST_EXPERIMENT_TRACE_H
#define TEST_EXPERIMENT_TRACE_H

#include <jansson.h>
#include <math.h>

#include "base/npy.h"
#include "test_agent_rig.h"
#include "test_parts.h"
#include <superarm/superarm.h>

enum { GAME_ROUNDS = 40, GAME_ARMS = 8, GAME_SLATE = 3 };

static double game_contexts[GAME_ROUNDS][GAME_ARMS][RIG_DIM], game_scores[GAME_ROUNDS][GAME_ARMS];

/* One round of a trace. */
typedef struct game_round {
    double mean[GAME_ARMS], width[GAME_ARMS], score[GAME_ARMS], feedback[GAME_SLATE], expected_regret,
        realised_regret;
    size_t slate[GAME_SLATE];
} game_round;

static inline void game_write(void) {
    for (size_t t = 0; t < GAME_ROUNDS; t++)
        for (size_t i = 0; i < GAME_ARMS; i++) {
            for (size_t j = 0; j < RIG_DIM; j++)
                game_contexts[t][i][j] = rig_number(t, 100 + i * RIG_DIM + j) / 3;
            game_scores[t][i] = rig_number(t, 900 + i);
        }
    assert_ok(sa_npy_write(scratch("x.npy"), SA_FLOAT64, 3, (size_t[]){GAME_ROUNDS, GAME_ARMS, RIG_DIM},
                           game_contexts));
    assert_ok(sa_npy_write(scratch("v.npy"), SA_FLOAT64, 2, (size_t[]){GAME_ROUNDS, GAME_ARMS}, game_scores));
}

/* "name=value name=value" over one run of the game. */
static inline sa_experiment *game_experiment(const char *text) {
    char copy[1024], *rest = copy;
    sa_experiment *experiment = sa_experiment_new();
    assert_non_null(experiment);
    snprintf(copy, sizeof copy,
             "environment=npy slate=3 runs=1 noise=0 threads=1 quiet=true contexts=%s scores=%s %s",
             scratch("x.npy"), scratch("v.npy"), text);
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        char *equals = strchr(word, '=');
        assert_non_null(equals);
        *equals = 0;
        assert_ok(test_experiment_set(experiment, word, equals + 1));
    }
    test_experiment_share(experiment);
    return experiment;
}

static inline void game_run(const char *text, const char *trace) {
    sa_experiment *experiment = game_experiment(text);
    assert_ok(sa_experiment_set(experiment, "trace", trace));
    assert_ok(sa_experiment_run(experiment, NULL, NULL));
    sa_experiment_destroy(experiment);
}

static inline void game_numbers(json_t *line, const char *name, size_t count, double *out) {
    json_t *list = json_object_get(line, name);
    assert_int_equal(json_array_size(list), count);
    for (size_t i = 0; i < count; i++) {
        json_t *item = json_array_get(list, i);
        out[i] = json_is_null(item) ? NAN : json_number_value(item);
    }
}

static inline void game_read(const char *trace, game_round rounds[GAME_ROUNDS]) {
    char *text, *rest;
    size_t size;
    assert_ok(sa_file_read(trace, &text, &size));
    rest = text;
    for (size_t t = 0; t < GAME_ROUNDS; t++) {
        char *word = strtok_r(rest, "\n", &rest);
        assert_non_null(word);
        json_t *line = json_loads(word, 0, NULL);
        assert_non_null(line);
        assert_int_equal(json_integer_value(json_object_get(line, "round")), t + 1);
        game_numbers(line, "mean", GAME_ARMS, rounds[t].mean);
        game_numbers(line, "width", GAME_ARMS, rounds[t].width);
        game_numbers(line, "score", GAME_ARMS, rounds[t].score);
        game_numbers(line, "feedback", GAME_SLATE, rounds[t].feedback);
        rounds[t].expected_regret = json_number_value(json_object_get(line, "expected_regret"));
        rounds[t].realised_regret = json_number_value(json_object_get(line, "realised_regret"));
        json_t *slate = json_object_get(line, "slate");
        assert_int_equal(json_array_size(slate), GAME_SLATE);
        for (size_t k = 0; k < GAME_SLATE; k++)
            rounds[t].slate[k] = (size_t)json_integer_value(json_array_get(slate, k));
        json_decref(line);
    }
    assert_null(strtok_r(rest, "\n", &rest));
    sa_free(text);
}

#endif
