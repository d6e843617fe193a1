#include "closing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct combination {
    const sv_settings *settings;
    size_t count, columns; /* columns: plain numbers, and each kind of reward */
    double *values;        /* (count, columns); NaN: nothing so far */
} sv_combination;

static bool begin(sv_combination *self, const sv_settings *settings, size_t count) {
    *self = (sv_combination){.settings = settings, .count = count, .columns = 1 + settings->rewards.count};
    self->values = calloc((count + 1) * self->columns, sizeof *self->values);
    for (size_t i = 0; self->values && i < count * self->columns; i++) self->values[i] = NAN;
    return self->values;
}

static void add(const sv_combination *self, double *sum, double number) {
    sv_aggregate by = self->settings->aggregate;
    if (isnan(*sum) || by == AGGREGATE_LAST || (by == AGGREGATE_MAX && number > *sum))
        *sum = number;
    else if (by == AGGREGATE_SUM)
        *sum += number;
}

/* Kinds that the settings do not have any longer are worth nothing. */
static void take_kinds(sv_combination *self, double *row, const sa_json *json, size_t object) {
    const sv_rewards *rewards = &self->settings->rewards;
    for (size_t key = object + 1; key < json->nodes[object].next; key = json->nodes[key + 1].next) {
        size_t kind = sv_rewards_find(rewards, json, key);
        if (kind < rewards->count && json->nodes[key + 1].kind == SA_JSON_NUMBER)
            add(self, &row[1 + kind], sa_json_number(json, key + 1));
    }
}

static bool take(void *user, const char *value) {
    sv_combination *self = user;
    sa_json list = {0};
    bool good = sa_json_parse(&list, value, strlen(value)) == SA_OK && list.nodes[0].kind == SA_JSON_ARRAY;
    double *row = self->values;
    for (size_t at = 1, i = 0; good && i < self->count && at < list.nodes[0].next;
         at = list.nodes[at].next, i++, row += self->columns) {
        if (list.nodes[at].kind == SA_JSON_NUMBER)
            add(self, row, sa_json_number(&list, at));
        else if (list.nodes[at].kind == SA_JSON_OBJECT)
            take_kinds(self, row, &list, at);
    }
    sa_json_clear(&list);
    return true;
}

/* One number a place, in the first of `values`. */
static void weigh(sv_combination *self) {
    for (size_t i = 0; i < self->count; i++) {
        const double *row = self->values + i * self->columns;
        double sum = row[0];
        for (size_t k = 1; k < self->columns; k++)
            if (!isnan(row[k]))
                sum = (isnan(sum) ? 0 : sum) + self->settings->rewards.kinds[k - 1].weight * row[k];
        self->values[i] = sum;
    }
}

size_t sv_closing_count(const sv_settings *settings, const sv_store_decision *decision) {
    return sv_settings_total(settings) ? 1 : decision->arm_count;
}

bool sv_closing_single(const sv_settings *settings, const char *feedback, size_t count, sa_buffer *data,
                       double *reward) {
    sv_combination all;
    if (!begin(&all, settings, count)) return false;
    take(&all, feedback);
    weigh(&all);
    *reward = sv_closing_fill(settings, all.values, count, data);
    free(all.values);
    return !data->status;
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
    if (!row.seq) return status; /* it is left for the server that learns the agent */
    return status == STORE_OK ? sv_sums_learnt(sums, store, settings, decision, reward, data) : status;
}

sv_store_status sv_closing_write(sv_store *store, sv_sums *sums, const sv_settings *settings,
                                 const sv_store_decision *decision, uint64_t *seq, double *reward) {
    sa_buffer data = {0};
    sv_combination all;
    sv_store_status status =
        begin(&all, settings, sv_closing_count(settings, decision)) ? STORE_OK : STORE_LATER;
    if (status == STORE_OK) status = sv_store_feedbacks(store, decision->id, false, take, &all);
    if (status == STORE_OK) {
        weigh(&all);
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

/* ---- revisions ---- */

sv_store_status sv_closing_learnt(sv_store *store, const sv_store_decision *decision, sa_buffer *out) {
    sv_store_row row;
    sv_store_status status = sv_store_row_revised(store, decision->agent, decision->id, decision->seq, &row);
    if (status == STORE_NONE) {
        status = sv_store_row_at(store, decision->agent, decision->seq, &row);
        if (status == STORE_OK) sa_buffer_bytes(out, row.data, row.size);
    } else if (status == STORE_OK) {
        sa_json json = {0};
        size_t now = sa_json_parse(&json, row.data, row.size) == SA_OK ? sa_json_find(&json, 0, "now") : 0;
        if (now) sa_buffer_value(out, &json, now);
        sa_json_clear(&json);
    }
    sa_buffer_bytes(out, "", 1); /* a text */
    if (status == STORE_OK && !out->status) out->size--;
    return status == STORE_OK && out->status ? STORE_LATER : status;
}

static sv_store_status write_revision(sv_store *store, sv_sums *sums, const sv_store_decision *decision,
                                      const sa_buffer *before, const sa_buffer *now, uint64_t *seq) {
    sa_buffer data = {0};
    sa_buffer_format(&data, "{\"of\":%llu,\"before\":%s,\"now\":%s}", (unsigned long long)decision->seq,
                     before->text, now->text);
    sv_store_row row = {.kind = ROW_REVISE, .decision = decision->id, .data = data.text, .size = data.size};
    sv_store_status status = data.status ? STORE_LATER : sv_store_row_add(store, decision->agent, &row);
    if (status == STORE_OK) status = sv_sums_revised(sums, store, decision, before, now);
    *seq = row.seq;
    sa_buffer_clear(&data);
    return status;
}

sv_store_status sv_closing_revise(sv_store *store, sv_sums *sums, const sv_settings *settings,
                                  const sv_store_decision *decision, uint64_t *seq) {
    sa_buffer before = {0}, now = {0};
    sv_combination all;
    sv_store_row left = {.kind = ROW_REVISE, .decision = decision->id};
    *seq = 0;
    if (!sv_store_holds(store, decision->agent)) /* who learns the agent does it, in the order of its rows */
        return sv_store_row_add(store, decision->agent, &left);
    /* an agent that was reset, or came from elsewhere, has not learnt the decision */
    sv_store_status status = sv_store_row_reset(store, decision->agent, decision->seq + 1, true, seq);
    if (status != STORE_NONE) return *seq = 0, status;
    status = begin(&all, settings, sv_closing_count(settings, decision)) ? STORE_OK : STORE_LATER;
    if (status == STORE_OK) status = sv_store_feedbacks(store, decision->id, false, take, &all);
    if (status == STORE_OK) status = sv_store_feedbacks(store, decision->id, true, take, &all);
    if (status == STORE_OK) {
        weigh(&all);
        sv_closing_fill(settings, all.values, all.count, &now);
        status = now.status ? STORE_LATER : sv_closing_learnt(store, decision, &before);
    }
    *seq = 0;
    if (status == STORE_OK && before.size && strcmp(before.text, now.text))
        status = write_revision(store, sums, decision, &before, &now, seq);
    sa_buffer_clear(&before);
    sa_buffer_clear(&now);
    free(all.values);
    return status == STORE_NONE ? STORE_OK : status;
}

bool sv_closing_read_revision(const char *text, size_t size, size_t count, sv_revision *out) {
    sa_json json = {0};
    bool good = sa_json_parse(&json, text, size) == SA_OK && json.nodes[0].kind == SA_JSON_OBJECT;
    size_t of = good ? sa_json_find(&json, 0, "of") : 0, before = good ? sa_json_find(&json, 0, "before") : 0,
           now = good ? sa_json_find(&json, 0, "now") : 0;
    good = of && before && now && sa_json_count(&json, before) == count && sa_json_count(&json, now) == count;
    out->of = good ? (uint64_t)sa_json_number(&json, of) : 0;
    out->any_first = out->any_changed = false;
    for (size_t i = 0, a = before + 1, b = now + 1; good && i < count;
         i++, a = json.nodes[a].next, b = json.nodes[b].next) {
        bool had = json.nodes[a].kind == SA_JSON_NUMBER, has = json.nodes[b].kind == SA_JSON_NUMBER;
        out->scores[i] = has ? sa_json_number(&json, b) : 0;
        out->first[i] = has && !had;
        out->changed[i] = has && had && sa_json_number(&json, a) != out->scores[i];
        out->any_first = out->any_first || out->first[i];
        out->any_changed = out->any_changed || out->changed[i];
    }
    sa_json_clear(&json);
    return good;
}
