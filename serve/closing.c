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

/* Arms without feedback get the default. Where users scan from the top and stop at their click, what is
 * behind it was not seen. */
static void fill_in(sv_combination *self, const sv_settings *settings) {
    const char *feedback = json_string_value(json_object_get(settings->options, "feedback"));
    bool cascade = feedback && !strcmp(feedback, "cascade");
    for (size_t i = 0; i < self->count; i++) {
        if (isnan(self->values[i])) self->values[i] = settings->default_feedback;
        if (cascade && self->values[i] > 0) break;
    }
}

sv_store_status sv_closing_write(sv_store *store, const sv_settings *settings,
                                 const sv_store_decision *decision, sv_store_row *row, double *reward) {
    sv_text data = {0};
    int64_t id = decision->id, agent = decision->agent; /* the decision's texts end with the next call */
    sv_combination all = {.by = settings->aggregate, .count = decision->arm_count};
    all.values = calloc(all.count + 1, sizeof *all.values);
    sv_store_status status = all.values ? STORE_OK : STORE_LATER;
    for (size_t i = 0; all.values && i < all.count; i++) all.values[i] = NAN;
    if (status == STORE_OK) status = sv_store_feedbacks(store, id, false, take, &all);
    if (status == STORE_OK) {
        fill_in(&all, settings);
        text_numbers(&data, all.values, all.count);
        *reward = 0;
        for (size_t i = 0; i < all.count; i++)
            if (isfinite(all.values[i])) *reward += all.values[i];
        *row = (sv_store_row){.kind = ROW_LEARN, .decision = id, .data = data.data, .size = data.size};
        status = data.failed ? STORE_LATER : sv_store_row_add(store, agent, row);
        row->data = NULL;
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
