#include "policy/feasible.h"

#include "base/memory.h"
#include "policy/coins.h"
#include "policy/place.h"

sa_status sa_feasible_check(const sa_oracle *oracle) {
    if (oracle == &sa_oracle_top_k || oracle == &sa_oracle_assignment || oracle == &sa_oracle_matroid)
        return SA_OK;
    return sa_fail(SA_INVALID,
                   "--floor is for oracles whose slates can be counted and drawn, top-k, assignment and "
                   "matroid with exactly K, and --oracle is %s",
                   oracle->name);
}

/* Rules that a uniformly random slate would have to keep. */
static bool has_rules(const sa_policy *policy, const sa_selection *selection) {
    unsigned rules = SA_BIT(SA_MINIMUMS) | SA_BIT(SA_EXCLUSIONS) | SA_BIT(SA_ELIGIBLE) | SA_BIT(SA_MATRIX);
    if (policy->oracle != &sa_oracle_matroid) rules |= SA_BIT(SA_GROUPS) | SA_BIT(SA_CAPACITIES);
    return selection->data.given & rules & policy->oracle->takes;
}

sa_status sa_selection_check_floor(const sa_policy *policy, const sa_selection *selection) {
    bool partition =
        (selection->data.given & SA_BIT(SA_GROUPS)) && (selection->data.given & SA_BIT(SA_EXACTLY));
    if (policy->floor_by_place)
        SA_TRY(sa_place_check(policy, selection));
    else if (has_rules(policy, selection))
        return sa_fail(SA_INVALID,
                       "--floor-by page draws slates at random, and cannot keep the rules of this request; "
                       "--floor-by place can");
    if (policy->oracle == &sa_oracle_matroid && (!partition || selection->request->slate == 0))
        return sa_fail(SA_INVALID, "--floor with --oracle matroid needs groups, and exactly K arms");
    return SA_OK;
}

void sa_eligible_clear(sa_eligible *eligible) {
    sa_free(eligible->arms);
    sa_free(eligible->place);
    sa_free(eligible->group);
    sa_free(eligible->capacity);
}

/* The groups of the eligible arms, as the matroid has them. */
static sa_status take_groups(const sa_oracle_data *data, size_t arms, sa_eligible *self) {
    size_t groups = 0;
    for (size_t a = 0; a < arms; a++)
        if (data->groups[a] >= groups) groups = data->groups[a] + 1;
    SA_TRY(sa_alloc_array(self->count, sizeof *self->group, &self->group));
    SA_TRY(sa_alloc_array(groups, sizeof *self->capacity, &self->capacity));
    for (size_t i = 0; i < self->count; i++) self->group[i] = data->groups[self->arms[i]];
    for (size_t g = 0; g < groups; g++)
        self->capacity[g] = data->given & SA_BIT(SA_CAPACITIES) ? data->capacities[g] : 1;
    self->feasible.groups = groups;
    self->feasible.group = self->group;
    self->feasible.capacity = self->capacity;
    return SA_OK;
}

sa_status sa_eligible_of(const sa_policy *policy, const sa_selection *selection, sa_eligible *out) {
    const bool *excluded = selection->request->excluded;
    size_t arms = selection->request->arms;
    sa_eligible self = {.count = 0};
    sa_status status;
    SA_TRY_OR_FAIL(sa_alloc_array(arms, sizeof *self.arms, &self.arms));
    SA_TRY_OR_FAIL(sa_alloc_array(arms, sizeof *self.place, &self.place));
    for (size_t a = 0; a < arms; a++) {
        self.place[a] = excluded && excluded[a] ? SIZE_MAX : self.count;
        if (self.place[a] != SIZE_MAX) self.arms[self.count++] = a;
    }
    self.feasible = (sa_feasible){.arms = self.count, .slate = selection->request->slate};
    if (policy->oracle == &sa_oracle_matroid && selection->data.given & SA_BIT(SA_GROUPS))
        SA_TRY_OR_FAIL(take_groups(&selection->data, arms, &self));
    *out = self;
    return SA_OK;
fail:
    sa_eligible_clear(&self);
    return status;
}

sa_status sa_selection_draw(const sa_policy *policy, sa_selection *selection) {
    sa_eligible eligible;
    const sa_request *request = selection->request;
    const sa_stream stream = sa_coins(policy, request, selection->round);
    if (policy->floor_by_place) return sa_place_draw(policy, selection);
    SA_TRY(sa_eligible_of(policy, selection, &eligible));
    sa_status status =
        sa_feasible_draw(&eligible.feasible, &stream, 2, selection->arms); /* draw 0 was the coin */
    selection->slate = request->slate;
    for (size_t k = 0; status == SA_OK && k < selection->slate; k++)
        selection->arms[k] = eligible.arms[selection->arms[k]];
    sa_eligible_clear(&eligible);
    return status;
}
