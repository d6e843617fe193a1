/* The whole agent in one npz file. Arrays are named after what they are, so that numpy.load shows the
 * weights, the history and the factor; `options` is text, a line an option. A loaded agent goes on bit for
 * bit. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/load_options.h"
#include "agent/older_options.h"
#include "agent/schema.h"
#include "base/memory.h"
#include "learn/bonus.h"
#include "past/history_file.h"
#include "past/pending_file.h"

/* One more whenever what is in the file changes; from OLDEST on they are read. 5: the units of the
 * companion's sums, the gradient that was counted last, and how many were counted in all. 6: what the newer
 * half of contexts and scores is like; fewer settings. 7: the factor of the companion's
 * regression, and its noise; the bonus of a beginning. */
static const int64_t FORMAT = 7, OLDEST = 4;
static const int64_t MOST_EPOCHS = 64; /* each doubles the rounds */

/* ---- options as text ---- */

/* The agent's own options and settings, and the five of the experiment that its random numbers, inputs and
 * horizon depend on. First weights are in the file themselves. */
static bool is_kept(const sa_option_row *row) {
    if (!strcmp(row->name, "init-weights")) return false;
    return row->scope == SA_SCOPE_AGENT || !strcmp(row->name, "dim") || !strcmp(row->name, "slate") ||
           !strcmp(row->name, "seed") || !strcmp(row->name, "first-run") || !strcmp(row->name, "rounds");
}

static sa_status options_to_text(const sa_options *options, char **out) {
    enum { LINE = 2 * 4096 }; /* a path may be long */
    char *text, value[LINE / 2];
    size_t used = 0, size = (size_t)SA_SETTING_TOTAL * LINE;
    SA_TRY(sa_alloc_array(size, 1, &text));
    for (size_t i = 0; i < SA_SETTING_TOTAL; i++) {
        const sa_option_row *row = &sa_option_rows[i];
        if (!is_kept(row)) continue;
        sa_status status = sa_option_print(row, sa_option_field(options, row), value, sizeof value);
        if (status != SA_OK) {
            sa_free(text);
            return status;
        }
        used += (size_t)snprintf(text + used, size - used, "%s %s\n", row->name, value);
    }
    *out = text;
    return SA_OK;
}

/* Sets each "name value" line, and wants all of them; `text` is cut up. */
static sa_status options_from_text(char *text, sa_options *options) {
    sa_older_options older = {0};
    for (char *line = text; *line;) {
        char *end = strchr(line, '\n'), *space = strchr(line, ' ');
        if (!end || !space || space > end)
            return sa_fail(SA_FORMAT, "the options are not lines of a name and a value");
        *end = *space = '\0';
        const sa_option_row *row = sa_option_row_find(line);
        bool known = row && is_kept(row);
        sa_status status = known ? sa_options_set_any(options, line, space + 1)
                                 : sa_older_options_take(&older, line, space + 1);
        if (status != SA_OK) return status == SA_INVALID ? SA_FORMAT : status;
        line = end + 1;
    }
    SA_TRY(sa_older_options_finish(&older, options));
    for (size_t i = 0; i < SA_SETTING_TOTAL; i++)
        if (is_kept(&sa_option_rows[i]) && !options->given[i])
            return sa_fail(SA_FORMAT, "the option '%s' is missing", sa_option_rows[i].name);
    return SA_OK;
}

/* ---- saving ---- */

static sa_status add_parts(const sa_agent *agent, sa_npz_writer *writer, const char *options,
                           const sa_pending_file *pending) {
    static const int64_t yes = 1, no = 0;
    size_t length = strlen(options);
    SA_TRY(sa_npz_add(writer, "format", SA_INT64, 0, NULL, &FORMAT));
    SA_TRY(sa_npz_add(writer, "options", SA_UINT8, 1, &length, options));
    const sa_learner *learner = agent->learner;
    bool own = learner->policy->oracle == &sa_oracle_own;
    SA_TRY(sa_npz_add(writer, "own_oracle", SA_INT64, 0, NULL, own ? &yes : &no));
    SA_TRY(sa_npz_add(writer, "epoch", SA_INT64, 0, NULL, &learner->epoch));
    SA_TRY(sa_agent_save_schema(agent, writer));
    SA_TRY(sa_history_save(&agent->past.history, writer));
    SA_TRY(sa_pending_file_save(pending, &agent->past.pending, writer));
    SA_TRY(sa_rewards_save(&agent->rewards, writer));
    return sa_learner_save(learner, writer);
}

sa_status sa_agent_save(const sa_agent *agent, const char *path) {
    if (!agent || !path) return sa_fail(SA_INVALID, "sa_agent_save needs an agent and a path");
    if (agent->closed)
        return sa_fail(SA_CLOSED, "this agent is closed: what was saved before is what can be loaded");
    if (agent->past.history.file) SA_TRY(sa_history_file_check_save(agent->past.history.file, path));
    const sa_policy *policy = agent->learner->policy;
    char *options = NULL;
    sa_pending_file pending = {0};
    sa_npz_writer *writer = NULL;
    sa_status status;
    SA_TRY_OR_FAIL(options_to_text(agent->given, &options));
    SA_TRY_OR_FAIL(
        sa_pending_file_from(&pending, &agent->past.pending, &policy->none, &policy->estimator.inputs));
    SA_TRY_OR_FAIL(sa_npz_begin(&writer));
    SA_TRY_OR_FAIL(add_parts(agent, writer, options, &pending));
    status = sa_npz_finish(writer, path);
    writer = NULL; /* finish has freed it */
    if (status == SA_OK && agent->past.history.file) sa_history_file_saved(&agent->past.history);
fail:
    sa_npz_abandon(writer);
    sa_pending_file_clear(&pending);
    sa_free(options);
    return status;
}

/* ---- loading ---- */

static sa_status read_options(sa_npz *archive, sa_options **out) {
    sa_array array = {0};
    char *text = NULL;
    sa_options *options = NULL;
    sa_status status;
    SA_TRY_OR_FAIL(sa_npz_get_exactly(archive, "options", SA_UINT8, 0, NULL, &array));
    size_t length = sa_array_count(&array);
    SA_TRY_OR_FAIL(sa_alloc_array(length + 1, 1, &text));
    memcpy(text, array.data, length);
    options = sa_options_new(NULL);
    if (!options) {
        status = SA_OUT_OF_MEMORY;
        goto fail;
    }
    SA_TRY_OR_FAIL(options_from_text(text, options));
    *out = options;
    options = NULL;
fail:
    sa_options_destroy(options);
    sa_free(text);
    sa_array_clear(&array);
    return status;
}

static sa_status read_parts(sa_agent *agent, sa_npz *archive) {
    sa_policy *policy = agent->learner->policy;
    sa_past *past = &agent->past;
    int64_t format;
    SA_TRY(sa_agent_load_schema(agent, archive));
    SA_TRY(sa_history_load(&past->history, agent->given->history, archive));
    SA_TRY(sa_pending_file_load(&past->pending, &policy->none, &policy->estimator.inputs, past->history.count,
                                archive));
    SA_TRY(sa_rewards_load(&agent->rewards, archive));
    policy->next = past->pending.next;
    SA_TRY(sa_npz_format(archive, &format));
    SA_TRY(sa_learner_load(agent->learner, archive));
    return format < 7 ? sa_bonus_follow(agent->learner) : SA_OK; /* the bonus had another formula */
}

static sa_status check_format(sa_npz *archive) {
    int64_t format;
    if (!sa_npz_has(archive, "format") || !sa_npz_has(archive, "options"))
        return sa_fail(SA_FORMAT, "this is not a saved agent");
    SA_TRY(sa_npz_get_integer(archive, "format", 1, INT64_MAX, &format));
    if (format > FORMAT)
        return sa_fail(SA_NEWER, "format %lld is newer than %lld, the newest that this version reads",
                       (long long)format, (long long)FORMAT);
    if (format < OLDEST)
        return sa_fail(SA_FORMAT, "format %lld is older than %lld, the oldest that this version reads",
                       (long long)format, (long long)OLDEST);
    if (!sa_npz_is_ours(archive))
        return sa_fail(SA_FORMAT, "its checksum is missing: the file is damaged or was rewritten");
    return SA_OK;
}

/* What the caller gives at load. */
typedef struct given {
    const char *const *names, *const *values; /* (count) */
    size_t count;
} given;

static bool names_oracle(const given *self) {
    for (size_t i = 0; i < self->count; i++)
        if (!strcmp(self->names[i], "oracle")) return true;
    return false;
}

/* From the file's options, and the caller's. */
static sa_status make_agent(sa_npz *archive, const given *self, sa_agent **out) {
    int64_t epoch, own;
    sa_options *options;
    SA_TRY(read_options(archive, &options));
    sa_status status = sa_load_options_set(options, self->names, self->values, self->count);
    if (status == SA_OK) status = sa_npz_get_integer(archive, "epoch", 0, MOST_EPOCHS, &epoch);
    if (status == SA_OK) status = sa_npz_get_integer(archive, "own_oracle", 0, 1, &own);
    if (status != SA_OK) {
        sa_options_destroy(options);
        return status;
    }
    status = sa_agent_assemble(options, (uint64_t)epoch, out);
    if (status == SA_INVALID && self->count == 0)
        return SA_FORMAT; /* the options are the file's, not the caller's */
    if (status == SA_OK && own && !names_oracle(self))
        (*out)->learner->policy->oracle = &sa_oracle_own; /* to be given again */
    return status;
}

static sa_status read_agent(sa_npz *archive, const given *self, sa_agent **out) {
    sa_agent *agent;
    SA_TRY(check_format(archive));
    SA_TRY(make_agent(archive, self, &agent));
    sa_status status = read_parts(agent, archive);
    if (status != SA_OK) {
        sa_agent_destroy(agent);
        return status;
    }
    *out = agent;
    return SA_OK;
}

sa_status sa_agent_load_with(const char *path, const char *const *names, const char *const *values,
                             size_t count, sa_agent **out) {
    if (!path || !out || (count > 0 && (!names || !values)))
        return sa_fail(SA_INVALID,
                       "sa_agent_load needs a path, a place for the agent, and a value for each option");
    sa_npz *archive;
    SA_TRY(sa_npz_open(path, &archive));
    sa_status status = read_agent(archive, &(given){names, values, count}, out);
    sa_npz_close(archive);
    return status == SA_OK ? SA_OK : sa_fail_prefix(status, "%s: ", path);
}

sa_status sa_agent_load(const char *path, sa_agent **out) {
    return sa_agent_load_with(path, NULL, NULL, 0, out);
}
