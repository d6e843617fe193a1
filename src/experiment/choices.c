/* The tables behind `superarm list environments|oracles|confidence|feedback`. */
#include <string.h>

#include "base/options.h"
#include "env/environment.h"
#include "oracle/oracle.h"
#include <superarm/agent.h>

typedef struct choice {
    const char *name, *summary;
} choice;

/* Names come from the options list; a choice without a line here shows an empty one. */
static const choice SUMMARIES[] = {
    {"exact", "sqrt(g' Z^-1 g / m) from a Cholesky factor, of the n x n or the p x p side, whichever is cheaper"},
    {"semi-bandit", "the score of every arm of the slate is seen"},
    {"document", "another name for semi-bandit"},
};

#define NAME_OF(enumerator, name) name,
static const char *const CONFIDENCES[] = {SA_CONFIDENCES(NAME_OF)};
static const char *const FEEDBACKS[] = {SA_FEEDBACKS(NAME_OF)};

static bool named(const char *const *names, size_t count, size_t index, choice *out) {
    if (index >= count) return false;
    *out = (choice){names[index], ""};
    for (size_t i = 0; i < sizeof SUMMARIES / sizeof *SUMMARIES; i++)
        if (!strcmp(SUMMARIES[i].name, names[index])) out->summary = SUMMARIES[i].summary;
    return true;
}

static bool find(const char *kind, size_t index, choice *out) {
    if (!strcmp(kind, "confidence")) return named(CONFIDENCES, sa_confidence_kind_count, index, out);
    if (!strcmp(kind, "feedback")) return named(FEEDBACKS, sa_feedback_kind_count, index, out);
    if (!strcmp(kind, "oracles")) {
        const sa_oracle *oracle = index < sa_oracle_kind_count ? sa_oracle_of((sa_oracle_kind)index) : NULL;
        if (oracle) *out = (choice){oracle->name, oracle->summary};
        return oracle;
    }
    if (!strcmp(kind, "environments")) {
        const sa_environment_class *environment = sa_environment_class_at(index);
        if (environment) *out = (choice){environment->name, environment->summary};
        return environment;
    }
    return false;
}

bool sa_choice_at(const char *kind, size_t index, const char **name, const char **summary) {
    choice found;
    if (!find(kind, index, &found)) return false;
    *name = found.name;
    *summary = found.summary;
    return true;
}
