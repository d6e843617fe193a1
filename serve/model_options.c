/* An agent's options: those of an agent that came from elsewhere, and other options for the same agent. What
 * is compared are the options in effect of agents that were made, as some follow from others (a linear
 * model's precision from its algorithm). */
#include <stdlib.h>
#include <string.h>

#include "model.h"

bool sv_model_is_servable(const sv_model *self, const sv_settings *settings, sv_refusal *why) {
    char value[512] = "";
    const sa_options *options = sa_agent_options(sv_model_agent(self));
    sa_options_get(options, "dim", value, sizeof value);
    if (strtoull(value, NULL, 10) != settings->dim)
        return sv_refuse(why, 409, "its dim is %s, and this agent's %zu", value, settings->dim);
    if (!sa_agent_schema(sv_model_agent(self)) != !settings->schema)
        return sv_refuse(why, 409,
                         settings->schema ? "it has no schema, and this agent has"
                                          : "it has a schema, and this agent none");
    if (settings->schema && sa_agent_check_schema(sv_model_agent(self), settings->schema) != SA_OK)
        return sv_refuse(why, 409, "%.400s", sa_last_error());
    sa_options_get(options, "count-pending", value, sizeof value);
    if (!strcmp(value, "true"))
        return sv_refuse(why, 400, "its option count-pending is not taken by the service");
    if (sa_options_get(options, "history", value, sizeof value) != SA_OK || *value)
        return sv_refuse(why, 400, "its option history is not taken by the service");
    return true;
}

/* ---- the options in which two agents differ ---- */

enum { CHANGES = 64 };

typedef struct changes {
    const char *names[CHANGES], *values[CHANGES];
    char texts[CHANGES][128];
    size_t count;
} changes;

/* false: there are too many, or one is too long. */
static bool find_changes(const sa_options *before, const sa_options *after, changes *out) {
    sa_option_info info;
    char old[512], new[512];
    out->count = 0;
    for (size_t i = 0; sa_option_at(i, &info); i++) {
        bool slate = !strcmp(info.name, "slate"), taken = slate || sv_settings_takes(info.name);
        if (!taken || sa_options_get(before, info.name, old, sizeof old) != SA_OK ||
            sa_options_get(after, info.name, new, sizeof new) != SA_OK || !strcmp(old, new))
            continue;
        sa_options_get(after, "feedback", old, sizeof old);
        if (slate && strcmp(old, "position")) continue; /* elsewhere K is the request's */
        if (out->count == CHANGES || strlen(new) >= sizeof out->texts[0]) return false;
        strcpy(out->texts[out->count], new);
        out->names[out->count] = info.name;
        out->values[out->count] = out->texts[out->count];
        out->count++;
    }
    return true;
}

static bool find_changes_of(const sv_settings *before, const sv_settings *after, changes *out,
                            sv_refusal *why) {
    sv_model *old = NULL, *new = NULL;
    bool good = sv_model_create(before, &old, why) && sv_model_create(after, &new, why);
    if (good &&
        !find_changes(sa_agent_options(sv_model_agent(old)), sa_agent_options(sv_model_agent(new)), out))
        good = sv_refuse(why, 409, "so many options need a new agent: send \"reset\": true with them");
    sv_model_destroy(old);
    sv_model_destroy(new);
    return good;
}

bool sv_model_change(sv_model *self, const sv_settings *before, const sv_settings *after, const char *scratch,
                     sv_refusal *why) {
    sa_agent *agent = NULL;
    changes *found = calloc(1, sizeof *found);
    bool good =
        found ? find_changes_of(before, after, found, why) : sv_refuse(why, 503, "memory could not be had");
    sa_status status = good ? sa_agent_save(sv_model_agent(self), scratch) : SA_OK;
    if (good && status == SA_OK)
        status = sa_agent_load_with(scratch, found->names, found->values, found->count, &agent);
    const char *said = sa_last_error();
    size_t path = strlen(scratch); /* of a file that the client knows nothing of */
    if (said && !strncmp(said, scratch, path) && !strncmp(said + path, ": ", 2)) said += path + 2;
    if (good && status == SA_INVALID)
        good = sv_refuse(
            why, 409,
            "%.300s: send \"reset\": true for a new agent, which begins again without what this one "
            "has learnt",
            said);
    else if (good && status != SA_OK)
        good = sv_refuse_library(why, status);
    if (good) sv_model_replace(self, agent);
    free(found);
    return good;
}

/* ---- a warm start ---- */

/* A preset and an algorithm bring others with them: they come first, each alone. */
static const char *first_of(const changes *found) {
    static const char *const names[] = {"preset", "algorithm"};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < found->count; i++)
            if (!strcmp(found->names[i], names[k])) return names[k];
    return NULL;
}

/* The settings with those of `changes` among their options. NULL with a refusal. */
static sv_settings *with_changes(const sv_settings *settings, const changes *found, sv_refusal *why) {
    sv_options options;
    const char *alone = first_of(found);
    sa_option_info info;
    bool good = sv_options_copy(&settings->options, &options);
    if (!good) {
        sv_refuse(why, 503, "memory could not be had");
        return NULL;
    }
    for (size_t i = 0; good && i < found->count; i++)
        if (strcmp(found->names[i], "slate") && (!alone || !strcmp(found->names[i], alone)) &&
            sa_option_find(found->names[i], &info))
            good = sv_settings_put(&options, &info, found->values[i]);
    if (!good) sv_refuse(why, 503, "memory could not be had");
    sv_settings *made = good ? sv_settings_with(settings, &options, why) : NULL;
    sv_options_free(&options);
    return made;
}

sv_settings *sv_model_settings(const sv_model *self, const sv_settings *before, sv_refusal *why) {
    const sa_options *wanted = sa_agent_options(sv_model_agent(self));
    changes *found = calloc(1, sizeof *found);
    sv_settings *now = found ? sv_settings_with(before, &before->options, why) : NULL;
    if (!found) sv_refuse(why, 503, "memory could not be had");
    bool good = now, same = false;
    for (int rounds = 0; good && !same && rounds < 6; rounds++) {
        sv_model *made = NULL;
        good = sv_model_create(now, &made, why);
        if (good && !find_changes(sa_agent_options(sv_model_agent(made)), wanted, found))
            good =
                sv_refuse(why, 409, "its options and this agent's differ too much: make a new agent for it");
        sv_model_destroy(made);
        same = good && found->count == 0;
        if (!good || same) break;
        sv_settings *next = with_changes(now, found, why);
        sv_settings_release(now);
        now = next;
        good = now;
    }
    if (good && !same)
        good = sv_refuse(why, 409, "its option %s cannot be set to %s beside the others", found->names[0],
                         found->values[0]);
    free(found);
    if (good) return now;
    sv_settings_release(now);
    return NULL;
}
