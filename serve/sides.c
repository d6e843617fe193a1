#include "sides.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"
#include "words.h"

const char *sv_side_name(sv_decision_side side) {
    static const char *const names[] = {"agent", "control", "shadow", "shown"};
    return names[side < sizeof names / sizeof *names ? side : 0];
}

/* 48 bits of a hash of a purpose ("": draws), an agent and an id. */
static uint64_t hash_of(const char *purpose, const char *agent, const char *id) {
    sa_sha256 hash;
    uint8_t digest[SA_SHA256_BYTES];
    uint64_t bits = 0;
    sa_sha256_begin(&hash);
    if (*purpose) sa_sha256_add(&hash, purpose, strlen(purpose) + 1);
    sa_sha256_add(&hash, agent, strlen(agent) + 1);
    sa_sha256_add(&hash, id, strlen(id));
    sa_sha256_end(&hash, digest);
    for (int i = 0; i < 6; i++) bits = bits << 8 | digest[i];
    return bits;
}

uint64_t sv_draw_of(const char *agent, const char *event) { return hash_of("", agent, event); }

/* A visitor stays on one side, and one who is on the control side stays there when the share grows. */
static sv_decision_side side_of(const sv_settings *settings, const sv_ask *ask, const char *agent,
                                const char *event) {
    if (settings->mode != MODE_ONLINE) return SIDE_SHADOW;
    uint64_t bits =
        *ask->user ? hash_of("side of user", agent, ask->user) : hash_of("side of event", agent, event);
    return (double)bits < settings->control * 0x1p48 ? SIDE_CONTROL : SIDE_AGENT;
}

/* The shop's own order. How likely it was to come up is the shop's to know. */
static bool read_baseline(const sv_ask *ask, sv_choice *out, sv_refusal *why) {
    const sa_json *json = &ask->json;
    size_t count = sa_json_count(json, ask->baseline);
    *out = (sv_choice){.propensity = NAN};
    out->arms = calloc(count + 1, sizeof *out->arms);
    if (!out->arms) return sv_refuse(why, 503, "memory could not be had");
    for (size_t at = ask->baseline + 1; out->length < count; at = json->nodes[at].next, out->length++)
        if (!sv_ask_arm(ask, at, "baseline", out->length, &out->arms[out->length], why)) return false;
    return true;
}

static bool take_baseline(const sv_policy *policy, const sv_settings *settings, sv_ask *ask,
                          const char *oracle, sv_choice *out, sv_refusal *why) {
    if (!ask->baseline)
        return settings->mode == MODE_ONLINE ||
               sv_refuse(why, 400,
                         "baseline is missing, the slate to show: the agent's mode is %s, in which it "
                         "chooses nothing itself",
                         sv_mode_name(settings->mode));
    return read_baseline(ask, out, why) && (!ask->words || sv_words_keep(ask, out->arms, out->length, why)) &&
           sv_policy_verify(policy, ask, oracle, out->arms, out->length, why);
}

bool sv_slates_choose(const sv_policy *policy, const sv_settings *settings, sv_ask *ask, const char *agent,
                      const char *event, sv_slates *out, sv_refusal *why) {
    const char *oracle;
    uint64_t draw = sv_draw_of(agent, event);
    sv_choice baseline = {0};
    *out = (sv_slates){.side = side_of(settings, ask, agent, event),
                       .compare = settings->mode == MODE_APPRENTICE};
    bool good = sv_rules_oracle(settings, ask, &oracle, why) &&
                take_baseline(policy, settings, ask, oracle, &baseline, why);
    if (good && out->side == SIDE_CONTROL && !ask->baseline)
        good = sv_policy_choose_by_chance(policy, ask, oracle, draw, &out->shown, why);
    else if (good && out->side == SIDE_AGENT)
        good = sv_policy_choose(policy, ask, oracle, draw, &out->shown, why);
    else if (good && out->side == SIDE_SHADOW)
        good = sv_policy_choose(policy, ask, oracle, draw, &out->own, why);
    if (good && !out->shown.arms) {
        out->shown = baseline;
        baseline = (sv_choice){0};
    }
    sv_choice_free(&baseline);
    if (!good) sv_slates_free(out);
    return good;
}

bool sv_slates_shown(const sv_policy *policy, const sv_settings *settings, sv_ask *ask, double propensity,
                     sv_slates *out, sv_refusal *why) {
    const char *oracle;
    *out = (sv_slates){.side = SIDE_SHOWN};
    bool good = sv_rules_oracle(settings, ask, &oracle, why) &&
                take_baseline(policy, settings, ask, oracle, &out->shown, why);
    out->shown.propensity = propensity;
    if (!good) sv_slates_free(out);
    return good;
}

void sv_slates_free(sv_slates *self) {
    sv_choice_free(&self->shown);
    sv_choice_free(&self->own);
}

/* ---- the answer ---- */

static void write_numbers(sa_buffer *out, const char *name, const double *values, size_t count) {
    sa_buffer_format(out, ", \"%s\": ", name);
    if (values)
        sa_buffer_numbers(out, values, count, 0);
    else
        sa_buffer_format(out, "null");
}

static void write_slate(sa_buffer *out, const char *name, const sv_ask *ask, const sv_choice *choice) {
    sa_buffer_format(out, "\"%s\": [", name);
    for (size_t i = 0; i < choice->length; i++) {
        if (i) sa_buffer_bytes(out, ", ", 2);
        sv_ask_write_arm(ask, choice->arms[i], out);
    }
    sa_buffer_bytes(out, "]", 1);
}

/* [{"id": "p1", "probability": 0.9}, ...] */
static void write_ranking(sa_buffer *out, const sv_ask *ask, const sv_choice *choice) {
    sa_buffer_text(out, ", \"ranking\": [");
    for (size_t i = 0; i < choice->ranked; i++) {
        sa_buffer_text(out, i ? ", {\"id\": " : "{\"id\": ");
        sv_ask_write_arm(ask, choice->order[i], out);
        sa_buffer_text(out, ", \"probability\": ");
        sa_buffer_number(out, choice->chances[choice->order[i]], 0);
        sa_buffer_text(out, "}");
    }
    sa_buffer_text(out, "]");
}

void sv_slates_write(const sv_slates *self, const sv_ask *ask, uint64_t version, sa_buffer *out) {
    const sv_choice *shown = &self->shown, *own = &self->own;
    write_slate(out, "slate", ask, shown);
    sa_buffer_format(out, ", \"propensity\": ");
    sa_buffer_number(out, shown->propensity, 0);
    write_numbers(out, "prefix_propensities", shown->prefixes, shown->length);
    write_numbers(out, "position_propensities", shown->positions, shown->length);
    sa_buffer_format(out, ", \"model\": %llu, \"side\": \"%s\"", (unsigned long long)version,
                     sv_side_name(self->side));
    if (shown->explored) sa_buffer_text(out, ", \"explored\": true");
    if (own->arms) {
        sa_buffer_bytes(out, ", ", 2);
        write_slate(out, "agent_slate", ask, own);
        sa_buffer_format(out, ", \"agent_propensity\": ");
        sa_buffer_number(out, own->propensity, 0);
        if (self->compare) write_numbers(out, "agent_estimates", own->estimates, own->length);
    }
    if (shown->ranked) write_ranking(out, ask, shown);
    if (ask->places) {
        sa_buffer_text(out, ", \"places\": ");
        sa_buffer_value(out, &ask->json, ask->places);
    }
    if (!ask->explain) return;
    const sv_choice *explained = own->arms ? own : shown;
    write_numbers(out, "estimates", explained->estimates, explained->length);
    write_numbers(out, "widths", explained->widths, explained->length);
    if (explained->scores)
        sv_words_explain(ask, explained->arms, explained->length, explained->scores, explained->columns, out);
}
