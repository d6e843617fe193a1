/* Which features the model uses: permutation. With y the feedback of arms that were shown and f the model's
 * estimates, the mean of (y - f(x))^2 is compared with that after one field's columns of x have changed
 * places among the arms: what the model loses without knowing it. The model has learnt from these arms, so
 * this is what it uses, and not what would help on others. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "insights_type.h"

enum { FEWEST = 50 };
static const double SECONDS = 1.5;

typedef struct trial {
    const sv_insights *of;
    double *changed, *estimates;
    double until;
} sv_trial;

static bool error_of(sv_trial *self, const double *contexts, double *out) {
    const sv_insights *of = self->of;
    double sum = 0;
    if (!sv_policy_estimate(of->policy, contexts, of->sample_count, self->estimates)) return false;
    for (size_t i = 0; i < of->sample_count; i++) {
        double miss = of->answers[i] - self->estimates[i];
        sum += miss * miss;
    }
    *out = sum / (double)of->sample_count;
    return isfinite(*out);
}

/* The columns change places by a third of all, and by two thirds: the mean of both. No arm keeps its own. */
static bool error_without(sv_trial *self, size_t start, size_t size, double *out) {
    const sv_insights *of = self->of;
    size_t dim = of->settings->dim, n = of->sample_count;
    double sum = 0, error;
    for (size_t turn = 1; turn <= 2; turn++) {
        memcpy(self->changed, of->samples, n * dim * sizeof *self->changed);
        for (size_t i = 0; i < n; i++)
            memcpy(self->changed + i * dim + start, of->samples + (i + turn * n / 3) % n * dim + start,
                   size * sizeof *self->changed);
        if (!error_of(self, self->changed, &error)) return false;
        sum += error / 2;
    }
    *out = sum;
    return true;
}

static double share_of_ones(const sv_insights *self, size_t column) {
    double sum = 0;
    for (size_t i = 0; i < self->sample_count; i++)
        sum += self->samples[i * self->settings->dim + column] != 0;
    return sum / (double)self->sample_count;
}

/* The index-th field of the schema, or feature without one. */
static bool field_at(const sv_insights *self, size_t index, sa_schema_column *column, char name[300]) {
    if (self->settings->schema) {
        if (!sa_schema_column_at(self->settings->schema, index, column)) return false;
        bool cross = !strcmp(column->part, "cross");
        snprintf(name, 300, "%s%s%s", cross ? "" : column->part, cross ? "" : ".", column->field);
        return true;
    }
    *column = (sa_schema_column){.part = "cross", .start = index, .size = 1};
    snprintf(name, 300, "feature %zu", index);
    return index < self->settings->dim;
}

static void write_fields(sv_trial *self, double before, sa_buffer *out) {
    const sv_insights *of = self->of;
    sa_schema_column column;
    char name[300];
    size_t index = 0;
    sa_buffer_text(out, ", \"fields\": [");
    for (; index < INSIGHT_FIELDS && field_at(of, index, &column, name); index++) {
        double after = NAN;
        if (!index || sv_clock_seconds() < self->until)
            if (!error_without(self, column.start, column.size, &after)) after = NAN;
        sa_buffer_text(out, index ? ", {\"name\": " : "{\"name\": ");
        sa_buffer_quote(out, name);
        sa_buffer_text(out, ", \"increase\": ");
        sa_buffer_number(out, after - before, 6);
        if (strcmp(column.part, "cross")) {
            sa_buffer_text(out, ", \"missing\": ");
            sa_buffer_number(out, share_of_ones(of, column.start + column.size - 1), 6);
        }
        sa_buffer_text(out, "}");
    }
    sa_buffer_format(out, "], \"all\": %s", field_at(of, index, &column, name) ? "false" : "true");
}

static void write_known(sv_trial *self, sa_buffer *out) {
    const sv_insights *of = self->of;
    double mean = 0, variance = 0, before, n = (double)of->sample_count;
    for (size_t i = 0; i < of->sample_count; i++) mean += of->answers[i] / n;
    for (size_t i = 0; i < of->sample_count; i++)
        variance += (of->answers[i] - mean) * (of->answers[i] - mean) / n;
    if (!error_of(self, of->samples, &before)) before = NAN;
    sa_buffer_format(out, "{\"arms\": %zu, \"variance\": ", of->sample_count);
    sa_buffer_number(out, variance, 6);
    sa_buffer_text(out, ", \"error\": ");
    sa_buffer_number(out, before, 6);
    write_fields(self, before, out);
    sa_buffer_text(out, "}");
}

void sv_insights_features(const sv_insights *self, sa_buffer *out) {
    size_t numbers = self->sample_count * self->settings->dim;
    sv_trial trial = {.of = self, .until = sv_clock_seconds() + SECONDS};
    trial.changed = self->sample_count >= FEWEST ? calloc(numbers, sizeof *trial.changed) : NULL;
    trial.estimates = calloc(INSIGHT_SAMPLES, sizeof *trial.estimates);
    if (trial.changed && trial.estimates)
        write_known(&trial, out);
    else
        sa_buffer_text(out, "null");
    free(trial.changed);
    free(trial.estimates);
}
