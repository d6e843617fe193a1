#include "agent/load_options.h"

#include <string.h>

#include "agent/algorithms.h"

/* What is looked at while the agent goes on, and left no trace in what was saved. All else gives the agent
 * its shape: the size of its arrays (--hidden), or what the numbers in them mean (--lambda, --normalize). */
static const char *const FREE[] = {
    "seed",          "first-run", /* random numbers to come */
    "gamma",         "nu",        "ts-samples",    "floor",
    "floor-by",      "delta",     "norm-bound", /* exploration */
    "approximation", "train",     "train-every",   "train-steps",
    "train-batch",   "rate",      "train-from",                     /* trainings to come */
    "widths",        "oracle",    "agent-threads", "pending-limit", /* choosing, keeping */
    "keep-rows",     "history",                                     /* where the file is by now */
};

static bool is_free(const char *name) {
    for (size_t i = 0; i < sizeof FREE / sizeof *FREE; i++)
        if (!strcmp(FREE[i], name)) return true;
    return false;
}

static sa_status set(sa_options *saved, const char *name, const char *value) {
    sa_option_info info;
    if (!name || !sa_option_find(name, &info))
        return sa_options_set(saved, name, value); /* for its sentence */
    bool agents = info.scope == SA_SCOPE_AGENT || !strcmp(info.name, "dim") || !strcmp(info.name, "slate");
    bool has_file = *saved->history, gamma = saved->gamma == SA_BY_THEORY, nu = saved->nu == SA_BY_THEORY;
    if (!is_free(info.name) && agents)
        return sa_fail(SA_INVALID,
                       "--%s gives an agent its shape, and cannot be changed when a saved one is loaded",
                       name);
    if (!is_free(info.name)) return sa_fail(SA_INVALID, "--%s is not an option of an agent", name);
    SA_TRY(sa_options_set(saved, name, value));
    if (gamma != (saved->gamma == SA_BY_THEORY) ||
        nu != (saved->nu == SA_BY_THEORY)) /* there is a companion with a number alone */
        return sa_fail(SA_INVALID,
                       "--%s cannot change between theory and a number when a saved agent is loaded", name);
    if (has_file == (*saved->history != '\0')) return SA_OK;
    return sa_fail(SA_INVALID,
                   has_file ? "--history must name the file that the saved agent's feedback is in"
                            : "--history: the saved agent has its feedback with it, and not in a file");
}

sa_status sa_load_options_set(sa_options *saved, const char *const *names, const char *const *values,
                              size_t count) {
    for (size_t i = 0; i < count; i++) SA_TRY(set(saved, names[i], values[i]));
    return SA_OK;
}
