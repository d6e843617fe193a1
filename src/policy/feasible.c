#include "policy/feasible.h"

#include "base/memory.h"

bool sa_feasible_is_known(const sa_oracle *oracle) {
    return oracle == &sa_oracle_top_k || oracle == &sa_oracle_assignment;
}

sa_status sa_feasible_check(const sa_oracle *oracle) {
    if (sa_feasible_is_known(oracle)) return SA_OK;
    return sa_fail(
        SA_INVALID,
        "--floor is for oracles whose slates can be counted and drawn, top-k and assignment, and --oracle is %s",
        oracle->name);
}

void sa_eligible_clear(sa_eligible *eligible) {
    sa_free(eligible->arms);
    sa_free(eligible->place);
}

sa_status sa_eligible_of(const sa_choice *choice, sa_eligible *out) {
    const bool *excluded = choice->request->excluded;
    size_t arms = choice->request->arms;
    sa_eligible self = {.count = 0};
    SA_TRY(sa_alloc_array(arms, sizeof *self.arms, &self.arms));
    sa_status status = sa_alloc_array(arms, sizeof *self.place, &self.place);
    if (status != SA_OK) {
        sa_free(self.arms);
        return status;
    }
    for (size_t a = 0; a < arms; a++) {
        self.place[a] = excluded && excluded[a] ? SIZE_MAX : self.count;
        if (self.place[a] != SIZE_MAX) self.arms[self.count++] = a;
    }
    self.feasible = (sa_feasible){.arms = self.count, .slate = choice->request->slate};
    *out = self;
    return SA_OK;
}

sa_status sa_choice_draw(const sa_policy *policy, sa_choice *choice) {
    sa_eligible eligible;
    const sa_request *request = choice->request;
    uint64_t draw = request->draw == SA_NO_DRAW ? choice->round : request->draw;
    sa_stream stream = sa_stream_at(policy->seed, SA_PURPOSE_FLOOR, policy->run, draw);
    SA_TRY(sa_eligible_of(choice, &eligible));
    sa_status status = sa_feasible_draw(&eligible.feasible, &stream, 2, choice->arms); /* draw 0 was the coin */
    choice->slate = request->slate;
    for (size_t k = 0; status == SA_OK && k < choice->slate; k++) choice->arms[k] = eligible.arms[choice->arms[k]];
    sa_eligible_clear(&eligible);
    return status;
}
