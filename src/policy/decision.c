#include "policy/decision.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

uint64_t sa_decision_id(const sa_decision *decision) { return decision->id; }
uint64_t sa_decision_event(const sa_decision *decision) { return decision->event; }
size_t sa_decision_slate(const sa_decision *decision) { return decision->slate; }
const size_t *sa_decision_arms(const sa_decision *decision) { return decision->arms; }
const double *sa_decision_estimates(const sa_decision *decision) { return decision->estimate; }
const double *sa_decision_widths(const sa_decision *decision) { return decision->width; }
const double *sa_decision_scores(const sa_decision *decision) { return decision->score; }
size_t sa_decision_candidates(const sa_decision *decision) { return decision->candidates; }
double sa_decision_certificate(const sa_decision *decision) { return decision->certificate; }
bool sa_decision_explored(const sa_decision *decision) { return decision->explored; }
double sa_decision_gap(const sa_decision *decision) { return decision->gap; }
size_t sa_decision_positions(const sa_decision *decision) { return decision->positions; }
double sa_decision_propensity(const sa_decision *decision) {
    return decision->slate ? decision->prefix[decision->slate - 1] : NAN;
}
const double *sa_decision_prefix_propensities(const sa_decision *decision) { return decision->prefix; }
const double *sa_decision_position_propensities(const sa_decision *decision) { return decision->position; }
const double *sa_decision_all_estimates(const sa_decision *decision) { return decision->all_estimate; }
const double *sa_decision_all_widths(const sa_decision *decision) { return decision->all_width; }
const double *sa_decision_all_scores(const sa_decision *decision) { return decision->all_score; }

void sa_decision_destroy(sa_decision *decision) {
    if (!decision) return;
    sa_free(decision->arms);
    sa_free(decision->estimate);
    sa_free(decision->width);
    sa_free(decision->score);
    sa_free(decision->prefix);
    sa_free(decision->position);
    sa_free(decision->all_estimate);
    sa_free(decision->all_width);
    sa_free(decision->all_score);
    sa_free(decision);
}

/* Each array has a capacity of its own while it grows; the shared one is set when all have. */
sa_status sa_decision_reserve(sa_decision *decision, size_t slate, size_t scores) {
    double **chosen[] = {&decision->estimate, &decision->width, &decision->score, &decision->prefix,
                         &decision->position};
    double **all[] = {&decision->all_estimate, &decision->all_width, &decision->all_score};
    size_t capacity = decision->slate_capacity;
    SA_TRY(sa_grow_array(&decision->arms, &capacity, slate, sizeof *decision->arms));
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        capacity = decision->slate_capacity;
        SA_TRY(sa_grow_array(chosen[i], &capacity, slate, sizeof(double)));
    }
    decision->slate_capacity = capacity;
    for (size_t i = 0; i < 3; i++) {
        capacity = decision->candidate_capacity;
        SA_TRY(sa_grow_array(all[i], &capacity, scores, sizeof(double)));
    }
    decision->candidate_capacity = capacity;
    return SA_OK;
}

void sa_decision_fill(sa_decision *decision, const sa_decision *from) {
    size_t slate = from->slate, positions = from->positions,
           scores = from->candidates * (positions ? positions : 1);
    decision->id = from->id;
    decision->event = from->event;
    decision->slate = slate;
    decision->candidates = from->candidates;
    decision->positions = positions;
    decision->certificate = from->certificate;
    decision->gap = from->gap;
    decision->explored = from->explored;
    decision->imprecise = from->imprecise;
    if (slate)
        memcpy(decision->arms, from->arms,
               slate * sizeof *from->arms); /* an empty one may have no array yet */
    memcpy(decision->all_estimate, from->all_estimate, scores * sizeof *from->all_estimate);
    memcpy(decision->all_width, from->all_width, scores * sizeof *from->all_width);
    memcpy(decision->all_score, from->all_score, scores * sizeof *from->all_score);
    for (size_t k = 0; k < slate; k++) {
        size_t row = positions ? from->arms[k] * positions + k : from->arms[k];
        decision->estimate[k] = from->all_estimate[row];
        decision->width[k] = from->all_width[row];
        decision->score[k] = from->all_score[row];
        decision->prefix[k] = from->prefix[k];
        decision->position[k] = from->position[k];
    }
}
