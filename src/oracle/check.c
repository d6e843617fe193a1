/* What can be wrong with a problem, whichever oracle is asked; and what oracles share. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "oracle/oracle.h"

sa_status sa_data_fail(const sa_oracle_data *data, sa_datum datum, const char *format, ...) {
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (data->file[datum])
        return sa_fail(SA_INVALID, "--%s %s: %s", sa_datum_name(datum), data->file[datum], sentence);
    return sa_fail(SA_INVALID, "--%s: %s", sa_datum_name(datum), sentence);
}

static sa_status check_count(const sa_oracle_data *data, sa_datum datum, size_t wanted, const char *of) {
    if (data->count[datum] == wanted) return SA_OK;
    return sa_data_fail(data, datum, "%zu entries, and there are %zu %s", data->count[datum], wanted, of);
}

static sa_status check_columns(const sa_oracle_data *data, sa_datum datum, size_t wanted, const char *of) {
    if (data->columns[datum] == wanted) return SA_OK;
    return sa_data_fail(data, datum, "%zu columns, and %zu are wanted: %s", data->columns[datum], wanted, of);
}

static sa_status check_numbers(const sa_oracle_data *data, sa_datum datum, const double *numbers,
                               size_t count, double low, double high) {
    for (size_t i = 0; i < count; i++)
        if (!(numbers[i] >= low && numbers[i] <= high && isfinite(numbers[i]))) {
            if (isfinite(numbers[i]) && isfinite(high))
                return sa_data_fail(data, datum, "entry %zu is %g, and must be from %g to %g", i, numbers[i],
                                    low, high);
            if (isfinite(numbers[i]))
                return sa_data_fail(data, datum, "entry %zu is %g, and must be %g or more", i, numbers[i],
                                    low);
            return sa_data_fail(data, datum, "entry %zu is %g, and must be a finite number", i, numbers[i]);
        }
    return SA_OK;
}

/* Is it there, and does the oracle look at it? */
static bool looks_at(const sa_oracle *oracle, const sa_oracle_data *data, sa_datum datum) {
    return (oracle->needs | oracle->takes) & data->given & SA_BIT(datum);
}

static sa_status check_arms_data(const sa_oracle *oracle, const sa_oracle_problem *problem) {
    const sa_oracle_data *data = problem->data;
    size_t arms = problem->arms;
    if (looks_at(oracle, data, SA_COSTS)) {
        SA_TRY(check_count(data, SA_COSTS, arms, "arms"));
        SA_TRY(check_numbers(data, SA_COSTS, data->costs, arms, 0, INFINITY));
    }
    if (looks_at(oracle, data, SA_REVENUES)) {
        SA_TRY(check_count(data, SA_REVENUES, arms, "arms"));
        SA_TRY(check_numbers(data, SA_REVENUES, data->revenues, arms, -1e60, 1e60));
    }
    if (looks_at(oracle, data, SA_TOPICS)) {
        SA_TRY(check_count(data, SA_TOPICS, arms, "arms"));
        SA_TRY(check_numbers(data, SA_TOPICS, data->topics, arms * data->columns[SA_TOPICS], 0, INFINITY));
    }
    if (looks_at(oracle, data, SA_EDGES)) {
        SA_TRY(check_count(data, SA_EDGES, arms, "arms"));
        SA_TRY(check_columns(data, SA_EDGES, 2, "the two nodes that an arm joins"));
        for (size_t i = 0; i < 2 * arms; i++)
            if (data->edges[i] >= (size_t)1 << 31)
                return sa_data_fail(data, SA_EDGES, "arm %zu has node %zu, and nodes count from 0", i / 2,
                                    data->edges[i]);
    }
    return SA_OK;
}

/* Each arm's group must have a limit of this kind, where there are any. */
static sa_status check_limits(const sa_oracle_problem *problem, sa_datum limits) {
    const sa_oracle_data *data = problem->data;
    if (!sa_problem_has(problem, limits)) return SA_OK;
    for (size_t i = 0; i < problem->arms; i++)
        if (data->groups[i] >= data->count[limits])
            return sa_data_fail(data, SA_GROUPS, "arm %zu is of group %zu, and there are %zu %s", i,
                                data->groups[i], data->count[limits], sa_datum_name(limits));
    return SA_OK;
}

static sa_status check_groups(const sa_oracle_problem *problem) {
    SA_TRY(check_count(problem->data, SA_GROUPS, problem->arms, "arms"));
    SA_TRY(check_limits(problem, SA_CAPACITIES));
    return check_limits(problem, SA_MINIMUMS);
}

static sa_status check_exclusions(const sa_oracle_data *data, size_t arms) {
    SA_TRY(check_columns(data, SA_EXCLUSIONS, 2, "the two arms of a pair"));
    for (size_t i = 0; i < data->count[SA_EXCLUSIONS]; i++) {
        size_t one = data->exclusions[2 * i], other = data->exclusions[2 * i + 1];
        if (one >= arms || other >= arms)
            return sa_data_fail(data, SA_EXCLUSIONS, "pair %zu has arm %zu, and there are %zu", i,
                                one >= arms ? one : other, arms);
        if (one == other) return sa_data_fail(data, SA_EXCLUSIONS, "pair %zu is arm %zu and itself", i, one);
    }
    return SA_OK;
}

static sa_status check_data(const sa_oracle *oracle, const sa_oracle_problem *problem) {
    const sa_oracle_data *data = problem->data;
    SA_TRY(check_arms_data(oracle, problem));
    if (looks_at(oracle, data, SA_CAPACITY) && !(data->capacity >= 0 && isfinite(data->capacity)))
        return sa_data_fail(data, SA_CAPACITY, "%g, and must be 0 or more", data->capacity);
    if (looks_at(oracle, data, SA_SECONDS) && !(data->seconds > 0 && isfinite(data->seconds)))
        return sa_data_fail(data, SA_SECONDS, "%g, and must be more than 0", data->seconds);
    if (looks_at(oracle, data, SA_GROUPS)) SA_TRY(check_groups(problem));
    if (looks_at(oracle, data, SA_EXCLUSIONS)) SA_TRY(check_exclusions(data, problem->arms));
    if (looks_at(oracle, data, SA_ELIGIBLE)) {
        SA_TRY(check_count(data, SA_ELIGIBLE, sa_oracle_most(oracle, problem), "positions (--slate)"));
        SA_TRY(check_columns(data, SA_ELIGIBLE, problem->arms, "one an arm"));
    }
    if (looks_at(oracle, data, SA_MATRIX)) {
        SA_TRY(check_columns(data, SA_MATRIX, problem->arms, "one an arm"));
        SA_TRY(check_numbers(data, SA_MATRIX, data->matrix, data->count[SA_MATRIX] * problem->arms, -INFINITY,
                             INFINITY));
    }
    if (looks_at(oracle, data, SA_BOUNDS)) {
        SA_TRY(check_count(data, SA_BOUNDS, data->count[SA_MATRIX], "rows of --matrix"));
        SA_TRY(check_numbers(data, SA_BOUNDS, data->bounds, data->count[SA_BOUNDS], -INFINITY, INFINITY));
    }
    return looks_at(oracle, data, SA_DISCOUNTS) ? sa_discounts_check(data, problem) : SA_OK;
}

sa_status sa_discounts_check(const sa_oracle_data *data, const sa_oracle_problem *problem) {
    size_t positions = problem->slate ? problem->slate : problem->arms;
    SA_TRY(check_count(data, SA_DISCOUNTS, positions, "positions (--slate)"));
    return check_numbers(data, SA_DISCOUNTS, data->discounts, positions, 0, 1);
}

static sa_status check_size(const sa_oracle *oracle, const sa_oracle_problem *problem) {
    size_t left = problem->arms;
    bool exactly = sa_problem_wants_all(problem);
    if (problem->arms == 0) return sa_fail(SA_INVALID, "--scores: there are no arms");
    if (exactly && !(oracle->takes & SA_BIT(SA_EXACTLY)))
        return sa_fail(SA_INVALID, "--exactly is not for %s", oracle->name);
    if (oracle->size != SA_EXACTLY_K && !exactly) return SA_OK;
    for (size_t i = 0; problem->excluded && i < problem->arms; i++) left -= problem->excluded[i];
    if (problem->slate == 0)
        return sa_fail(SA_INVALID, "%s needs --slate, the number of arms to choose", oracle->name);
    if (problem->slate > left)
        return sa_fail(SA_INVALID, "--slate %zu is more than the %zu arms that can be chosen", problem->slate,
                       left);
    return SA_OK;
}

sa_status sa_oracle_check(const sa_oracle *oracle, const sa_oracle_problem *problem) {
    static const sa_oracle_data none = {0};
    sa_oracle_problem full = *problem;
    if (!full.data) full.data = &none;
    if (!full.scores) return sa_fail(SA_INVALID, "%s needs --scores", oracle->name);
    if (full.positions && !oracle->positions)
        return sa_fail(SA_INVALID, "--scores: %s takes one score an arm, not one for each position",
                       oracle->name);
    if (full.positions && full.positions != full.slate)
        return sa_fail(SA_INVALID, "--slate %zu, and --scores are for %zu positions", full.slate,
                       full.positions);
    SA_TRY(check_size(oracle, &full));
    for (sa_datum datum = 0; datum < SA_DATUM_COUNT; datum++)
        if (oracle->needs & SA_BIT(datum) && !(full.data->given & SA_BIT(datum)))
            return sa_fail(SA_INVALID, "%s needs --%s", oracle->name, sa_datum_name(datum));
    SA_TRY(check_data(oracle, &full));
    return oracle->check ? oracle->check(&full) : SA_OK;
}

/* ---- the domain ---- */

static bool has_domain(const sa_oracle *oracle, const sa_oracle_problem *problem) {
    return oracle->low < oracle->high && !(problem->data && problem->data->sum);
}

sa_status sa_oracle_check_domain(const sa_oracle *oracle, const sa_oracle_problem *problem,
                                 const char *file) {
    size_t columns = problem->positions ? problem->positions : 1;
    const char *gap = file ? " " : "", *name = file ? file : "";
    for (size_t i = 0; i < problem->arms * columns; i++) {
        double score = problem->scores[i];
        if (!isfinite(score))
            return sa_fail(SA_INVALID,
                           "--scores%s%s: the score of arm %zu is %g, and must be a finite number", gap, name,
                           i / columns, score);
        if (has_domain(oracle, problem) && (score < oracle->low || score > oracle->high))
            return sa_fail(SA_INVALID,
                           "--scores%s%s: the score of arm %zu is %g, and %s takes scores from %g to %g", gap,
                           name, i / columns, score, oracle->name, oracle->low, oracle->high);
    }
    return SA_OK;
}

void sa_oracle_clip(const sa_oracle *oracle, const sa_oracle_problem *problem, double *scores, size_t count) {
    if (!has_domain(oracle, problem)) return;
    for (size_t i = 0; i < count; i++) scores[i] = fmin(fmax(scores[i], oracle->low), oracle->high);
}

size_t sa_oracle_most(const sa_oracle *oracle, const sa_oracle_problem *problem) {
    bool groups = oracle->takes & SA_BIT(SA_GROUPS) && sa_problem_has(problem, SA_GROUPS);
    bool any = oracle->size == SA_ANY_SIZE && !groups;
    bool limited = !any && problem->slate > 0 && problem->slate < problem->arms;
    return limited ? problem->slate : problem->arms;
}

/* Summed with the rounding errors carried along (Neumaier), so that the order of the slate does not show: the
 * regret of the best slate in another order is 0, not 1e-17. */
double sa_reward_sum(const sa_oracle_problem *problem, const size_t *slate, size_t length) {
    double sum = 0, lost = 0;
    for (size_t i = 0; i < length; i++) {
        double score = problem->scores[slate[i]], next = sum + score, part = next - sum;
        lost += (sum - (next - part)) + (score - part);
        sum = next;
    }
    return sum + lost;
}
