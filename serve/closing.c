#include "closing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct combination {
    sv_aggregate by;
    size_t count;
    double *values; /* (count); NaN: nothing so far */
} sv_combination;

static bool take(void *user, const char *value) {
    sv_combination *self = user;
    json_t *list = json_loads(value, 0, NULL);
    for (size_t i = 0; i < self->count && i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        double *sum = &self->values[i], number = json_number_value(one);
        if (!json_is_number(one)) continue;
        if (isnan(*sum) || self->by == AGGREGATE_LAST || (self->by == AGGREGATE_MAX && number > *sum))
            *sum = number;
        else if (self->by == AGGREGATE_SUM)
            *sum += number;
    }
    json_decref(list);
    return true;
}

double sv_closing_fill(const sv_settings *settings, double *values, size_t count, sv_text *data) {
    const char *feedback = json_string_value(json_object_get(settings->options, "feedback"));
    bool cascade = feedback && !strcmp(feedback, "cascade");
    double reward = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(values[i])) values[i] = settings->default_feedback;
        if (cascade && values[i] > 0) break;
    }
    text_numbers(data, values, count);
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) reward += values[i];
    return reward;
}

sv_store_status sv_closing_add(sv_store *store, int64_t agent, int64_t decision, const sv_text *data,
                               uint64_t *seq) {
    sv_store_row row = {.kind = ROW_LEARN, .decision = decision, .data = data->data, .size = data->size};
    sv_store_status status = data->failed ? STORE_LATER : sv_store_row_add(store, agent, &row);
    *seq = row.seq;
    return status;
}

sv_store_status sv_closing_write(sv_store *store, const sv_settings *settings,
                                 const sv_store_decision *decision, uint64_t *seq, double *reward) {
    sv_text data = {0};
    int64_t id = decision->id, agent = decision->agent; /* the decision's texts end with the next call */
    sv_combination all = {.by = settings->aggregate, .count = decision->arm_count};
    all.values = calloc(all.count + 1, sizeof *all.values);
    sv_store_status status = all.values ? STORE_OK : STORE_LATER;
    for (size_t i = 0; all.values && i < all.count; i++) all.values[i] = NAN;
    if (status == STORE_OK) status = sv_store_feedbacks(store, id, false, take, &all);
    if (status == STORE_OK) {
        *reward = sv_closing_fill(settings, all.values, all.count, &data);
        status = sv_closing_add(store, agent, id, &data, seq);
    }
    text_free(&data);
    free(all.values);
    return status;
}

bool sv_closing_read(const char *json, size_t size, double *scores, bool *observed, size_t count, bool *any) {
    json_t *list = json_loadb(json, size, 0, NULL);
    bool good = json_array_size(list) == count;
    *any = false;
    for (size_t i = 0; good && i < count; i++) {
        const json_t *one = json_array_get(list, i);
        good = json_is_number(one) || json_is_null(one);
        observed[i] = json_is_number(one);
        scores[i] = observed[i] ? json_number_value(one) : 0;
        *any = *any || observed[i];
    }
    json_decref(list);
    return good;
}
