#include "options/gone.h"

#include <string.h>

#include "base/text.h"
#include "options/presets.h"

#define ALWAYS(value)                                                                                        \
    { value, value, value }

static const struct {
    const char *name, *value[SA_PRESET_COUNT];
} GONE[] = {
    /* options */
    {"shared-scores", ALWAYS("false")},
    {"epoch-hidden-growth", {"1.2", "1.2", "1"}}, /* a setting of the presets by now */
    /* settings that no preset and no user turned */
    {"error-decay", ALWAYS("0")},
    {"train-sample", ALWAYS("0")},
    {"offset", ALWAYS("0")},
    {"unit-rows", ALWAYS("true")},
    {"epoch-replay-steps", ALWAYS("1000")},
    {"exact-form", ALWAYS("auto")},
    {"rate-constant", ALWAYS("1")},
    {"history-new", ALWAYS("false")},
    {"cube-low", ALWAYS("-1")},
    {"cube-high", ALWAYS("1")},
    {"cc-cubes", ALWAYS("0")},
    {"cc-alpha", ALWAYS("1")},
    {"cc-exponent", ALWAYS("0")},
    {"acc-axes", ALWAYS("0")},
    {"acc-rho", ALWAYS("0")},
    {"acc-v1", ALWAYS("0")},
    {"acc-v2", ALWAYS("0")},
    {"c-1", ALWAYS("1")},
    {"c-gamma-1", ALWAYS("1")},
    {"c-gamma-2", ALWAYS("1")},
    {"c-gamma-3", ALWAYS("1")},
    {"c-3", ALWAYS("1")},
    {"c-4", ALWAYS("1")},
    {"c-epsilon-1", ALWAYS("1")},
    {"c-epsilon-2", ALWAYS("1")},
    {"c-epsilon-3", ALWAYS("1")},
    {"c-epsilon-4", ALWAYS("1")},
    {"c-bar-2", ALWAYS("1")},
    {"c-bar-3", ALWAYS("1")},
    {"c-width", ALWAYS("1")},
    /* what follows from the algorithm, --rounds and --gamma: agent/older_options.c knows how */
    {"bypass", ALWAYS("false")},
    {"horizon", ALWAYS("0")},
    {"cell-factor", ALWAYS("1")},
    {"acc-diameter", {"1", "1", "0"}},
    /* score-deviation in three parts */
    {"centre", {"false", "false", "true"}},
    {"scale", {"false", "false", "true"}},
    {"scale-to", {"1", "1", "0.04"}},
};

enum { COUNT = sizeof GONE / sizeof *GONE, OPTIONS = 2 /* the first of them */ };

const char *sa_gone_name(size_t index) { return index < COUNT ? GONE[index].name : NULL; }

const char *sa_gone_value(const char *name, int preset) {
    for (size_t i = 0; i < COUNT; i++)
        if (!strcmp(GONE[i].name, name)) return GONE[i].value[sa_preset_column(preset)];
    return NULL;
}

bool sa_gone_is_option(const char *name) {
    for (size_t i = 0; i < OPTIONS; i++)
        if (!strcmp(GONE[i].name, name)) return true;
    return false;
}

sa_status sa_gone_check(const char *name, const char *value, int preset) {
    const char *had = sa_gone_value(name, preset);
    char shown[SA_PRINTABLE];
    if (value && !strcmp(value, had)) return SA_OK;
    if (!value || !*value) return sa_fail(SA_INVALID, "%s is gone: it is always %s", name, had);
    return sa_fail(SA_INVALID, "%s is gone: it is always %s, and not %s", name, had,
                   sa_printable(value, shown));
}
