#include "answer.h"

void sv_answer_numbers(sa_buffer *out, const char *name, const double *values, size_t count) {
    sa_buffer_format(out, ", \"%s\": ", name);
    if (values)
        sa_buffer_numbers(out, values, count, 0);
    else
        sa_buffer_format(out, "null");
}

void sv_answer_begin(const sv_answer *self, sa_buffer *out) {
    sa_buffer_format(out, "{\"event\": ");
    sa_buffer_quote(out, self->event);
    sa_buffer_format(out, ", \"slate\": [");
    for (size_t k = 0; k < self->length; k++) {
        if (k) sa_buffer_bytes(out, ", ", 2);
        self->arm(self->user, k, out);
    }
    sa_buffer_format(out, "], \"propensity\": ");
    sa_buffer_number(out, self->propensity, 0);
    sv_answer_numbers(out, "prefix_propensities", self->prefixes, self->length);
    sv_answer_numbers(out, "position_propensities", self->positions, self->length);
    sa_buffer_format(out, ", \"model\": %llu", (unsigned long long)self->model);
}
