#include "experiment/plan_histories.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "experiment/plan.h"
#include "past/history_head.h"

sa_status sa_plan_history(const sa_agent_runs *agent, uint64_t run, char **path) {
    return sa_format(path, "%s.%s.%llu", agent->options->history, agent->label, (unsigned long long)run);
}

static bool has_histories(const sa_agent_runs *agent) {
    return !agent->code.select && *agent->options->history;
}

static sa_status find_folder(const char *path, size_t length, struct stat *about, bool *found) {
    char *folder;
    SA_TRY(sa_format(&folder, "%.*s.", (int)length, path)); /* "" or "some/where/" */
    *found = stat(folder, about) == 0;
    sa_free(folder);
    return SA_OK;
}

/* Do two names lead to the same place, however they are written? */
static sa_status is_same(const char *one, const char *other, bool *same) {
    const char *slash = strrchr(one, '/'), *other_slash = strrchr(other, '/');
    const char *name = slash ? slash + 1 : one, *other_name = other_slash ? other_slash + 1 : other;
    struct stat folder, other_folder;
    bool found, other_found;
    *same = strcmp(one, other) == 0;
    if (*same || strcmp(name, other_name) != 0) return SA_OK;
    SA_TRY(find_folder(one, (size_t)(name - one), &folder, &found));
    SA_TRY(find_folder(other, (size_t)(other_name - other), &other_folder, &other_found));
    *same =
        found && other_found && folder.st_dev == other_folder.st_dev && folder.st_ino == other_folder.st_ino;
    return SA_OK;
}

/* Behind the last dot there is the run, so that agents share all of their files or none. */
static sa_status check_pair(const sa_plan *plan, const sa_agent_runs *one, const sa_agent_runs *other) {
    char *path = NULL, *other_path = NULL;
    bool same = false;
    sa_status status;
    SA_TRY_OR_FAIL(sa_plan_history(one, plan->first_run, &path));
    SA_TRY_OR_FAIL(sa_plan_history(other, plan->first_run, &other_path));
    SA_TRY_OR_FAIL(is_same(path, other_path, &same));
    if (same)
        status = sa_fail(SA_INVALID, "--history: agents %s and %s would both have their feedback in %s",
                         one->label, other->label, path);
fail:
    sa_free(path);
    sa_free(other_path);
    return status;
}

static sa_status check_run(const sa_plan *plan, const sa_agent_runs *agent, uint64_t run) {
    char *path;
    SA_TRY(sa_plan_history(agent, run, &path));
    sa_status status = sa_plan_check_place(path, plan->options->out);
    if (status == SA_OK) status = sa_history_file_make_way(path, false);
    sa_free(path);
    return status;
}

sa_status sa_plan_check_histories(const sa_plan *plan) {
    for (size_t i = 0; i < plan->agent_count; i++) {
        if (!has_histories(&plan->agents[i])) continue;
        for (size_t j = 0; j < i; j++)
            if (has_histories(&plan->agents[j])) SA_TRY(check_pair(plan, &plan->agents[j], &plan->agents[i]));
        for (size_t run = 0; run < plan->runs; run++)
            SA_TRY(check_run(plan, &plan->agents[i], plan->first_run + run));
    }
    return SA_OK;
}
