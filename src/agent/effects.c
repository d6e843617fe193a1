/* Which options an algorithm reads. One that it does not read is a mistake of whoever gave it. */
#include <string.h>

#include "agent/algorithms.h"
#include "base/text.h"
#include "options/parts.h"
#include <superarm/agent.h>

/* What is known of an algorithm, under options. */
typedef struct facts {
    const sa_algorithm *row;
    const sa_family *family;
    const sa_exploration_class *rule;
    const sa_options *options;
} facts;

static bool has_model(const facts *self) { return self->family->model != NULL; }
static bool has_network(const facts *self) { return self->family->network; }
static bool has_regression(const facts *self) { return self->family->regression; }
static bool learns(const facts *self) { return self->family->network || self->family->linear; }
static bool has_widths(const facts *self) { return self->row->confidence; }
static bool rebuilds(const facts *self) {
    return self->family->network && self->row->confidence && !self->row->doubling;
}
static bool trains(const facts *self) {
    return self->family->network || (self->family->linear && self->options->linear_form == SA_LINEAR_FITTED);
}
static bool sketches(const facts *self) {
    int kind = self->options->confidence;
    return self->row->confidence && (kind == SA_CONFIDENCE_SKETCH || kind == SA_CONFIDENCE_AUTO);
}
static bool has_gamma(const facts *self) { return self->rule->reads_gamma || self->family->cells; }
static bool has_nu(const facts *self) { return self->rule->reads_nu; }
static bool samples(const facts *self) { return self->rule->reads_samples && !self->row->ts_samples; }
static bool follows_theory(const facts *self) { return sa_options_by_theory(self->options, self->rule); }
static bool has_bonus(const facts *self) {
    return self->family->network && self->row->confidence && !self->family->regression &&
           !follows_theory(self);
}
static bool approximates(const facts *self) { return self->family->network && follows_theory(self); }
static bool cascades(const facts *self) { return self->options->feedback == SA_FEEDBACK_CASCADE; }
static bool has_epochs(const facts *self) { return self->row->doubling; }

/* Options of agents that are not in the table are read by every algorithm. */
static const struct {
    const char *option;
    bool (*is_read)(const facts *self);
} READERS[] = {
    {"hidden", has_network},
    {"depth", has_network},
    {"init-weights", has_network},
    {"normalize", has_model},
    {"regularization", learns},
    {"linear-form", has_regression},
    {"train", trains},
    {"train-every", trains},
    {"train-steps", has_network},
    {"train-batch", has_network},
    {"rate", has_network},
    {"train-from", has_network},
    {"companion", has_network},
    {"window", learns},
    {"discount", learns},
    {"rebuild", rebuilds},
    {"confidence", has_widths},
    {"sketch-size", sketches},
    {"widths", has_widths},
    {"bonus", has_bonus},
    {"gamma", has_gamma},
    {"nu", has_nu},
    {"ts-samples", samples},
    {"delta", follows_theory},
    {"norm-bound", follows_theory},
    {"sub-gaussian", follows_theory},
    {"approximation", approximates},
    {"cascade-form", cascades},
    {"count-pending", has_widths},
    {"history", has_model},
    {"epoch-length", has_epochs},
};

bool sa_option_is_read(const sa_options *options, const char *name) {
    facts known = {.options = options, .row = sa_algorithm_row(options->algorithm)};
    if (!known.row) return true; /* the caller's own code, or a name that is refused elsewhere */
    known.family = known.row->family;
    known.rule = sa_exploration_find(known.row->exploration);
    for (size_t i = 0; i < sizeof READERS / sizeof *READERS; i++)
        if (!strcmp(READERS[i].option, name)) return READERS[i].is_read(&known);
    return true;
}

sa_status sa_options_check_read(const sa_options *options) {
    sa_option_info info;
    if (!options) return sa_fail(SA_INVALID, "sa_options_check_read needs options");
    for (size_t i = 0; sa_option_at(i, &info); i++) {
        char value[64], shown[SA_PRINTABLE];
        if (info.scope != SA_SCOPE_AGENT || !sa_options_given(options, info.name) ||
            !sa_options_changed(options, info.name) || sa_option_is_read(options, info.name))
            continue;
        if (sa_options_get(options, info.name, value, sizeof value) != SA_OK) *value = 0;
        return sa_fail(SA_INVALID, "--%s %s has no effect on --algorithm %s", info.name,
                       sa_printable(value, shown), options->algorithm);
    }
    return SA_OK;
}
