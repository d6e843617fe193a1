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
    sa_json list = {0};
    bool good = sa_json_parse(&list, value, strlen(value)) == SA_OK && list.nodes[0].kind == SA_JSON_ARRAY;
    size_t i = 0;
    for (size_t at = 1; good && i < self->count && at < list.nodes[0].next; at = list.nodes[at].next, i++) {
        if (list.nodes[at].kind != SA_JSON_NUMBER) continue;
        double *sum = &self->values[i], number = sa_json_number(&list, at);
        if (isnan(*sum) || self->by == AGGREGATE_LAST || (self->by == AGGREGATE_MAX && number > *sum))
            *sum = number;
        else if (self->by == AGGREGATE_SUM)
            *sum += number;
    }
    sa_json_clear(&list);
    return true;
}

double sv_closing_fill(const sv_settings *settings, double *values, size_t count, sa_buffer *data) {
    const sv_option *feedback = sv_options_find(&settings->options, "feedback");
    bool cascade = feedback && !strcmp(feedback->value, "cascade");
    double reward = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(values[i])) values[i] = settings->default_feedback;
        if (cascade && values[i] > 0) break;
    }
    sa_buffer_numbers(data, values, count, 0);
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) reward += values[i];
    return reward;
}

sv_store_status sv_closing_add(sv_store *store, sv_sums *sums, const sv_settings *settings,
                               const sv_store_decision *decision, const sa_buffer *data, double reward,
                               uint64_t *seq) {
    sv_store_row row = {.kind = ROW_LEARN, .decision = decision->id, .data = data->text, .size = data->size};
    sv_store_status status = data->status ? STORE_LATER : sv_store_row_add(store, decision->agent, &row);
    *seq = row.seq;
    return status == STORE_OK ? sv_sums_learnt(sums, store, settings, decision, reward, data) : status;
}

sv_store_status sv_closing_write(sv_store *store, sv_sums *sums, const sv_settings *settings,
                                 const sv_store_decision *decision, uint64_t *seq, double *reward) {
    sa_buffer data = {0};
    sv_combination all = {.by = settings->aggregate, .count = decision->arm_count};
    all.values = calloc(all.count + 1, sizeof *all.values);
    sv_store_status status = all.values ? STORE_OK : STORE_LATER;
    for (size_t i = 0; all.values && i < all.count; i++) all.values[i] = NAN;
    if (status == STORE_OK) status = sv_store_feedbacks(store, decision->id, false, take, &all);
    if (status == STORE_OK) {
        *reward = sv_closing_fill(settings, all.values, all.count, &data);
        status = sv_closing_add(store, sums, settings, decision, &data, *reward, seq);
    }
    sa_buffer_clear(&data);
    free(all.values);
    return status;
}

bool sv_closing_read(const char *json, size_t size, double *scores, bool *observed, size_t count, bool *any) {
    sa_json list = {0};
    bool good = sa_json_parse(&list, json, size) == SA_OK && list.nodes[0].kind == SA_JSON_ARRAY &&
                sa_json_count(&list, 0) == count;
    *any = false;
    for (size_t i = 0, at = 1; good && i < count; i++, at = list.nodes[at].next) {
        observed[i] = list.nodes[at].kind == SA_JSON_NUMBER;
        good = observed[i] || list.nodes[at].kind == SA_JSON_NULL;
        scores[i] = observed[i] ? sa_json_number(&list, at) : 0;
        *any = *any || observed[i];
    }
    sa_json_clear(&list);
    return good;
}
