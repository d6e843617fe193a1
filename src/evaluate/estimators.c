/* The estimators. Decision i has the slate a_1..a_K, feedback r_k, R = sum_k r_k; w, w_k, w_1:k are the
 * weights of the slate, of arm k at its position, of the first k arms.
 *
 *   ips         (1/n) sum_i w R                             snips           sum_i w R / sum_i w
 *   iips, rips  (1/n) sum_i sum_k w_k r_k, w_1:k r_k        sniips, snrips  sum_k (n_k / n) sum_i w r_k /
 *       sum_i w
 *   cascade-dr  (1/n) sum_i sum_k [ w_1:k (r_k - Q_k(a_1:k)) + w_1:k-1 sum_a pi(a given a_1:k-1) Q_k(a_1:k-1,
 *       a) ],  w_1:0 = 1
 *   dm, dr      E_pi Q;  (1/n) sum_i [ w (R - Q(slate)) + E_pi Q ]
 *   pi          (1/n) sum_i W R
 *   replay      the mean of R over the decisions whose slate an agent chooses, too, which learns from these
 *               as it goes
 *
 * References: Swaminathan et al. 2017 (pi); Li et al. 2018 (iips); McInerney et al. 2020 (rips); Kiyohara et
 * al. 2022 (cascade-dr). */
#include "evaluate/evaluate.h"

static double reward(const sa_feedback_table *table, size_t i) {
    double sum = 0;
    for (size_t at = table->first[i]; at < table->first[i + 1]; at++) sum += table->feedback[at];
    return sum;
}

static double ips(const sa_sample *sample, size_t i) {
    return sample->weights[SA_WEIGHT_JOINT][i] * reward(sample->table, i);
}

static double pi(const sa_sample *sample, size_t i) {
    return sample->weights[SA_WEIGHT_PI][i] * reward(sample->table, i);
}

static double by_position(const sa_sample *sample, size_t i, sa_weight_kind kind) {
    const sa_feedback_table *table = sample->table;
    double sum = 0;
    for (size_t at = table->first[i]; at < table->first[i + 1]; at++)
        sum += sample->weights[kind][at] * table->feedback[at];
    return sum;
}

static double iips(const sa_sample *sample, size_t i) { return by_position(sample, i, SA_WEIGHT_POSITION); }
static double rips(const sa_sample *sample, size_t i) { return by_position(sample, i, SA_WEIGHT_PREFIX); }

static double cascade_dr(const sa_sample *sample, size_t i) {
    const sa_feedback_table *table = sample->table;
    const sa_predictions *q = &sample->predictions;
    double sum = 0, before = 1;
    for (size_t at = table->first[i]; at < table->first[i + 1]; at++) {
        double weight = sample->weights[SA_WEIGHT_PREFIX][at];
        sum += q->taken ? weight * (table->feedback[at] - q->taken[at]) + before * q->expected[at]
                        : weight * table->feedback[at];
        before = weight;
    }
    return sum;
}

static double dm(const sa_sample *sample, size_t i) {
    return sample->predictions.policy ? sample->predictions.policy[i] : 0;
}

static double dr(const sa_sample *sample, size_t i) {
    const sa_predictions *q = &sample->predictions;
    if (!q->slate) return ips(sample, i);
    return sample->weights[SA_WEIGHT_JOINT][i] * (reward(sample->table, i) - q->slate[i]) + q->policy[i];
}

const sa_estimator sa_estimators[] = {
    {.name = "ips", .weights = SA_WEIGHT_JOINT, .by_default = true, .term = ips},
    {.name = "snips", .weights = SA_WEIGHT_JOINT, .by_default = true, .self_normalised = true},
    {.name = "iips", .weights = SA_WEIGHT_POSITION, .by_default = true, .by_position = true, .term = iips},
    {.name = "sniips",
     .weights = SA_WEIGHT_POSITION,
     .by_default = true,
     .by_position = true,
     .self_normalised = true},
    {.name = "rips", .weights = SA_WEIGHT_PREFIX, .by_default = true, .by_position = true, .term = rips},
    {.name = "snrips",
     .weights = SA_WEIGHT_PREFIX,
     .by_default = true,
     .by_position = true,
     .self_normalised = true},
    {.name = "cascade-dr",
     .weights = SA_WEIGHT_PREFIX,
     .by_position = true,
     .model = true,
     .term = cascade_dr},
    {.name = "dm", .weights = SA_WEIGHT_NONE, .by_position = true, .model = true, .term = dm},
    {.name = "dr", .weights = SA_WEIGHT_JOINT, .by_position = true, .model = true, .term = dr},
    {.name = "replay", .weights = SA_WEIGHT_NONE, .replay = true},
    {.name = "pi", .weights = SA_WEIGHT_PI, .by_position = true, .term = pi},
};
const size_t sa_estimator_count = sizeof sa_estimators / sizeof *sa_estimators;
