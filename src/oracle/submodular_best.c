/* The slate that covers topics best, for measuring how far others are from it: greedy (submodular.c) is
 * sure of 1 - 1/e of its reward only. Where the slates are few, all of them are looked at. Else it is an
 * integer program for CBC: with w(i, t) = score_i c(i, t), x(i) is 1 where arm i is chosen and y(i, t)
 * where it is the one that counts for topic t,
 *
 *   maximise sum w(i, t) y(i, t),   sum_i x(i) = K,   sum_i y(i, t) <= 1,   y(i, t) <= x(i)
 *
 * where only w(i, t) > 0 has a y. */
#include "oracle/oracle.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum {
    MOST_SLATES = 50000, /* that are looked through: a few milliseconds */
    MOST_WORTHS = 2000,  /* w(i, t) > 0 that CBC is asked about: it needs a second or so */
};

static double worth(const sa_oracle_problem *problem, size_t arm, size_t topic) {
    return problem->scores[arm] * problem->data->topics[arm * problem->data->columns[SA_TOPICS] + topic];
}

/* ---- all slates ---- */

/* allowed over K, or MOST_SLATES + 1 where it is more */
static size_t count_slates(size_t allowed, size_t slate) {
    double slates = 1;
    for (size_t i = 0; i < slate; i++) {
        slates *= (double)(allowed - i) / (double)(i + 1);
        if (slates > 1e12) break;
    }
    return slates <= MOST_SLATES ? (size_t)(slates + 0.5) : MOST_SLATES + 1;
}

/* The next K of the numbers below `count` in the order of dictionaries; false after the last. */
static bool next_slate(size_t *place, size_t slate, size_t count) {
    size_t i = slate;
    while (i > 0 && place[i - 1] == count - slate + i - 1) i--;
    if (i == 0) return false;
    place[i - 1]++;
    for (; i < slate; i++) place[i] = place[i - 1] + 1;
    return true;
}

static sa_status look_through(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *best) {
    size_t count = 0, slate = problem->slate, *arms, *place, *tried;
    double most = -INFINITY;
    SA_TRY(SA_LAY(workspace, {&arms, problem->arms, sizeof *arms}, {&place, slate, sizeof *place},
                  {&tried, slate, sizeof *tried}));
    for (size_t arm = 0; arm < problem->arms; arm++)
        if (sa_problem_allows(problem, arm)) arms[count++] = arm;
    for (size_t i = 0; i < slate; i++) place[i] = i;
    do {
        for (size_t i = 0; i < slate; i++) tried[i] = arms[place[i]];
        double reward = sa_oracle_submodular.reward(problem, tried, slate);
        if (!(reward > most)) continue;
        most = reward;
        memcpy(best, tried, slate * sizeof *best);
    } while (next_slate(place, slate, count));
    return SA_OK;
}

/* ---- the program ---- */

/* Rows: the count of arms, the topics, and one for each y. */
static void fill(const sa_oracle_problem *problem, sa_program *program) {
    size_t arms = problem->arms, topics = problem->data->columns[SA_TOPICS], row = 1 + topics, y = arms;
    int count = 0;
    for (size_t arm = 0; arm < arms; arm++) {
        program->start[arm] = count;
        program->lower[arm] = program->score[arm] = 0;
        program->upper[arm] = sa_problem_allows(problem, arm);
        program->index[count] = 0;
        program->value[count++] = 1;
        for (size_t topic = 0; topic < topics; topic++) {
            if (!(worth(problem, arm, topic) > 0)) continue;
            program->index[count] = (int)row++;
            program->value[count++] = -1;
        }
    }
    row = 1 + topics;
    for (size_t arm = 0; arm < arms; arm++)
        for (size_t topic = 0; topic < topics; topic++) {
            if (!(worth(problem, arm, topic) > 0)) continue;
            program->start[y] = count;
            program->lower[y] = 0;
            program->upper[y] = 1;
            program->score[y++] = worth(problem, arm, topic);
            program->index[count] = (int)(1 + topic);
            program->value[count++] = 1;
            program->index[count] = (int)row++;
            program->value[count++] = 1;
        }
    program->start[y] = count;
    for (size_t i = 0; i < program->rows; i++) {
        program->least[i] = i == 0 ? (double)problem->slate : -INFINITY;
        program->most[i] = i == 0 ? (double)problem->slate : i <= topics ? 1 : 0;
    }
}

static sa_status ask_cbc(const sa_oracle_problem *problem, size_t worths, sa_workspace *workspace,
                         size_t *slate, bool *proven) {
    sa_program program = {.columns = problem->arms + worths,
                          .rows = 1 + problem->data->columns[SA_TOPICS] + worths,
                          .seconds = 10 * sa_problem_patience(problem)};
    sa_program_result answer;
    size_t count = 0;
    SA_TRY(sa_program_lay(&program, workspace, problem->arms + 3 * worths, &answer));
    fill(problem, &program);
    sa_status status = sa_program_solve(problem, &program, &answer);
    *proven = false;
    if (status == SA_INVALID || status == SA_UNSUPPORTED) return SA_OK; /* in time, or without CBC */
    SA_TRY(status);
    if (!answer.found || answer.gap > 0) return SA_OK;
    for (size_t i = 0; i < answer.count && count <= problem->slate; i++)
        if (answer.chosen[i] < problem->arms && count++ < problem->slate) slate[count - 1] = answer.chosen[i];
    *proven = count == problem->slate;
    return SA_OK;
}

sa_status sa_submodular_best(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate,
                             size_t *length, bool *proven) {
    size_t worths = 0, allowed = 0;
    for (size_t arm = 0; arm < problem->arms; arm++) {
        allowed += sa_problem_allows(problem, arm);
        for (size_t topic = 0; topic < problem->data->columns[SA_TOPICS]; topic++)
            worths += worth(problem, arm, topic) > 0;
    }
    *proven = true;
    *length = problem->slate;
    if (count_slates(allowed, problem->slate) <= MOST_SLATES)
        SA_TRY(look_through(problem, workspace, slate));
    else if (worths <= MOST_WORTHS)
        SA_TRY(ask_cbc(problem, worths, workspace, slate, proven));
    else
        *proven = false;
    if (!*proven) return sa_oracle_submodular.solve(problem, workspace, slate, length);
    sa_arms_sort(problem->scores, slate, *length);
    return SA_OK;
}
