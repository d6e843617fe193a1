/* What an estimate is made of, c + a regression + b network, and the unit of its bonus: in traces, in
 * summaries and in what is kept of a run. */
#include "experiment/experiment.h"

static const struct {
    const char *name;
    size_t place;
} fields[SA_MIXTURE_COUNT] = {{"a", offsetof(sa_mixture, a)},
                              {"b", offsetof(sa_mixture, b)},
                              {"c", offsetof(sa_mixture, c)},
                              {"unit", offsetof(sa_mixture, unit)}};

const char *sa_mixture_name(int index) { return fields[index].name; }

double *sa_mixture_at(sa_mixture *mixture, int index) {
    return (double *)(void *)((char *)mixture + fields[index].place);
}

bool sa_mixture_is_there(const sa_mixture *mixture) { return !isnan(mixture->b); }

void sa_mixture_write(const sa_mixture *mixture, int digits, sa_buffer *buffer) {
    sa_mixture copy = *mixture;
    for (int i = 0; i < SA_MIXTURE_COUNT; i++) {
        sa_buffer_format(buffer, "%s\"%s\":", i ? "," : "", fields[i].name);
        sa_buffer_number(buffer, *sa_mixture_at(&copy, i), digits);
    }
}
