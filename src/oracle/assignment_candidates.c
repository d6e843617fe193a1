/* Which arms can matter to an assignment under rules?
 *
 * Others hold K - 1 arms when position k chooses. Each of these blocks at most one entry of a list of k's
 * best arms that has at most one arm of a unit and most[g] of a group: itself, or its unit's, or a share of
 * its full group's. So of the K best entries one is free, and no worse than any other arm; and where a group
 * must not lose its arm, one of the most[g] best of that group. */
#include "oracle/assignment.h"

#include <math.h>

static void insert(sa_entry_list *self, const sa_rules *rules, size_t slate, sa_entry added) {
    size_t group = rules->group[added.arm], unit = rules->unit[added.arm], same = 0, last = SA_NONE,
           out = SA_NONE;
    bool limited = rules->most[group]<slate, shared = rules->members[unit]> 1;
    for (size_t i = 0; (limited || shared) && i < self->count; i++) {
        size_t arm = self->entries[i].arm;
        if (shared && rules->unit[arm] == unit) {
            out = i;
            break;
        }
        if (!limited || rules->group[arm] != group) continue;
        last = i;
        same++;
    }
    if (out == SA_NONE && limited && same == rules->most[group]) out = last;
    if (out == SA_NONE && self->count == self->size) out = self->count - 1;
    if (out != SA_NONE && !(added.score > self->entries[out].score))
        return; /* the earlier arm stays on a tie */
    size_t i = out == SA_NONE ? self->count++ : out;
    for (; i > 0 && added.score > self->entries[i - 1].score; i--) self->entries[i] = self->entries[i - 1];
    self->entries[i] = added;
}

void sa_candidates_size(sa_candidates *self, const sa_rules *rules, size_t positions) {
    self->list_count = positions;
    self->entry_count = positions * positions;
    for (size_t g = 1; g < rules->groups; g++) {
        if (rules->least[g] == 0) continue;
        self->list_count += positions;
        self->entry_count += positions * rules->most[g];
    }
}

/* Group 0 is the first, and has the lists for any group. */
static void begin(sa_candidates *self, const sa_rules *rules, size_t positions) {
    sa_entry *entries = self->entries;
    size_t next = 0;
    for (size_t g = 0; g < rules->groups; g++) {
        self->of_group[g] = 0;
        if (g > 0 && rules->least[g] == 0) continue;
        self->of_group[g] = next;
        for (size_t k = 0; k < positions; k++, next++) {
            self->lists[next] =
                (sa_entry_list){.size = rules->most[g], .entries = entries, .least = -INFINITY};
            entries += rules->most[g];
        }
    }
}

static void offer(sa_entry_list *self, const sa_rules *rules, size_t slate, sa_entry added) {
    if (self->count < self->size) {
        insert(self, rules, slate, added);
        if (self->count == self->size) self->least = self->entries[self->size - 1].score;
    } else if (added.score > self->least) {
        insert(self, rules, slate, added);
        self->least = self->entries[self->size - 1].score;
    }
}

void sa_candidates_mark(sa_candidates *self, const sa_oracle_problem *problem, const sa_rules *rules,
                        bool *marked) {
    size_t positions = problem->slate;
    bool choosy = sa_problem_has(problem, SA_ELIGIBLE);
    begin(self, rules, positions);
    for (size_t arm = 0; arm < problem->arms; arm++) {
        size_t group = rules->group[arm], own = self->of_group[group];
        const double *row = problem->scores + arm * positions;
        if (!sa_problem_allows(problem, arm) || rules->most[group] == 0) continue;
        for (size_t k = 0; k < positions; k++) {
            double score = problem->positions ? row[k] : sa_position_score(problem, arm, k);
            bool listed = score > self->lists[k].least; /* few are */
            if ((!listed && own == 0) || (choosy && !sa_position_takes(problem, arm, k))) continue;
            if (listed) offer(&self->lists[k], rules, positions, (sa_entry){score, arm});
            if (own > 0) offer(&self->lists[own + k], rules, positions, (sa_entry){score, arm});
        }
    }
    for (size_t i = 0; i < self->list_count; i++)
        for (size_t j = 0; j < self->lists[i].count; j++) marked[self->lists[i].entries[j].arm] = true;
}
