#include "apprentice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "values.h"

static size_t list_of(const sa_json *json, const char *name) {
    size_t at = sa_json_find(json, 0, name);
    return at && sv_value_is(json, at, SA_JSON_ARRAY) ? at : 0;
}

static bool same_text(const sa_json *json, size_t one, size_t other) {
    const sa_json_node *a = &json->nodes[one], *b = &json->nodes[other];
    return a->kind == b->kind && a->size == b->size &&
           !memcmp(json->text + a->start, json->text + b->start, a->size);
}

/* What its own slate would earn by the model: places add up, or stop at a click. */
static double by_model(const sa_json *json, size_t estimates, bool cascade) {
    double sum = 0, none = 1;
    for (size_t at = estimates + 1; at < json->nodes[estimates].next; at = json->nodes[at].next) {
        double value = sv_value_is(json, at, SA_JSON_NUMBER) ? sa_json_number(json, at) : 0;
        sum += value;
        none *= 1 - fmin(fmax(value, 0), 1);
    }
    return cascade ? 1 - none : sum;
}

static void compare(const sa_json *json, const char *feedback, double reward, const double *values,
                    size_t count, sv_comparison *out) {
    size_t shown = list_of(json, "slate"), own = list_of(json, "agent_slate"),
           estimates = list_of(json, "agent_estimates");
    bool cascade = !strcmp(feedback, "cascade"), page = cascade || !strcmp(feedback, "total"), whole = true;
    if (!shown || !own || !estimates || sa_json_count(json, own) != sa_json_count(json, estimates)) return;
    size_t places = sa_json_count(json, own), k = 0, a = shown + 1, b = own + 1, e = estimates + 1;
    double seen = 0; /* instead of the model's, where they agree */
    for (; k < places; k++, b = json->nodes[b].next, e = json->nodes[e].next) {
        bool same = a < json->nodes[shown].next && same_text(json, a, b);
        if (a < json->nodes[shown].next) a = json->nodes[a].next;
        whole = whole && same;
        if (k < HOUR_PLACES) out->same[k] = same;
        if (same && k < count && !isnan(values[k]) && sv_value_is(json, e, SA_JSON_NUMBER))
            seen += values[k] - sa_json_number(json, e);
    }
    out->places = places < HOUR_PLACES ? places : HOUR_PLACES;
    out->estimate = by_model(json, estimates, cascade) + (page ? 0 : seen);
    if (page && whole) out->estimate = reward;
}

void sv_apprentice_compare(const sv_settings *settings, const char *answer, double reward,
                           const double *values, size_t count, sv_comparison *out) {
    sa_json json = {0};
    const sv_option *feedback = sv_options_find(&settings->options, "feedback");
    if (sa_json_parse(&json, answer, strlen(answer)) == SA_OK)
        compare(&json, feedback ? feedback->value : "", reward, values, count, out);
    sa_json_clear(&json);
}

void sv_answer_names(const char *answer, sa_buffer *names, bool *explored) {
    sa_json json = {0};
    bool good = sa_json_parse(&json, answer, strlen(answer)) == SA_OK;
    size_t list = good ? list_of(&json, "slate") : 0, at = list + 1;
    for (size_t k = 0; list && k < HOUR_PLACES && at < json.nodes[list].next; k++, at = json.nodes[at].next) {
        char name[LIMIT_ID + 1] = "";
        sv_refusal unused;
        if (!sv_value_is(&json, at, SA_JSON_STRING))
            snprintf(name, sizeof name, "%.0f", sa_json_number(&json, at));
        else if (!sv_value_id(&json, at, "an arm", name, &unused))
            continue;
        sa_buffer_bytes(names, name, strlen(name) + 1);
    }
    *explored = good && sa_json_find(&json, 0, "explored");
    sa_json_clear(&json);
}
