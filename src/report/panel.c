/* From result folders to a panel, and back: what was merged is an ordinary result. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/lock.h"
#include "base/memory.h"
#include "report/report.h"
#include "results/folder.h"
#include "results/merge.h"
#include "results/spec_file.h"
#include "results/statistics.h"

static void clear_agents(sa_report_agent *agents, size_t count) {
    for (size_t i = 0; i < count; i++) {
        for (int kind = 0; kind < SA_CURVE_COUNT; kind++) sa_curve_clear(&agents[i].curve[kind]);
        sa_free(agents[i].name);
    }
    sa_free(agents);
}

void sa_panel_clear(sa_report_panel *panel) {
    clear_agents(panel->waiting, panel->waiting_count);
    clear_agents(panel->agents, panel->agent_count);
    sa_results_clear(&panel->results);
    for (size_t i = 0; i < panel->folder_count; i++) sa_free(panel->folders[i]);
    sa_free(panel->folders);
    sa_free(panel->range);
    sa_free(panel->missing);
    sa_free(panel->note);
    sa_free(panel->title);
    sa_free(panel->name);
    *panel = (sa_report_panel){0};
}

/* ---- reading ---- */

static sa_status check_there(const char *folder) {
    struct stat about;
    char *spec;
    if (stat(folder, &about)) return sa_fail_errno("read", folder);
    if (!S_ISDIR(about.st_mode)) return sa_fail(SA_INVALID, "%s is not a folder", folder);
    if (sa_folder_is_empty(folder)) return sa_fail(SA_INVALID, "%s is empty", folder);
    SA_TRY(sa_format(&spec, "%s/spec.yaml", folder));
    bool there = sa_file_exists(spec);
    sa_free(spec);
    return there
               ? SA_OK
               : sa_fail(SA_INVALID, "%s has no spec.yaml, so it is not the folder of an experiment", folder);
}

/* "results/h1/" is called h1, and "." or "/" what it is called from outside is not known: experiment. */
static sa_status name_folder(const char *folder, char **name) {
    size_t end = strlen(folder), start;
    while (end > 0 && folder[end - 1] == '/') end--;
    for (start = end; start > 0 && folder[start - 1] != '/';) start--;
    if (end == start || folder[end - 1] == '.') return sa_copy_text("experiment", name);
    return sa_format(name, "%.*s", (int)(end - start), folder + start);
}

static sa_status read_folders(const char *const *folders, size_t count, sa_report_panel *panel) {
    sa_results *parts;
    sa_status status = SA_OK;
    SA_TRY(sa_alloc_array(count, sizeof *parts, &parts));
    for (size_t i = 0; status == SA_OK && i < count; i++) {
        status = check_there(folders[i]);
        if (status == SA_OK) status = sa_folder_read(folders[i], &parts[i]);
        if (status == SA_OK) status = sa_copy_text(folders[i], &panel->folders[i]);
        if (status != SA_OK) break;
        panel->folder_count++;
        panel->range[i] = (sa_run_range){parts[i].first_run, parts[i].wanted};
    }
    if (status == SA_OK && count == 1) {
        panel->results = parts[0];
        parts[0] = (sa_results){0};
    } else if (status == SA_OK) {
        status = sa_results_merge(parts, folders, count, &panel->results);
    }
    for (size_t i = 0; i < count; i++) sa_results_clear(&parts[i]);
    sa_free(parts);
    return status;
}

static sa_status take_agents(sa_report_panel *panel) {
    const sa_results *results = &panel->results;
    SA_TRY(sa_alloc_array(results->agent_count, sizeof *panel->agents, &panel->agents));
    for (size_t i = 0; i < results->agent_count; i++) {
        if (results->agents[i].runs == 0) continue;
        panel->agents[panel->agent_count++] =
            (sa_report_agent){.of = &results->agents[i], .totals = sa_agent_totals(&results->agents[i])};
        if (results->agents[i].rounds > panel->rounds) panel->rounds = results->agents[i].rounds;
    }
    if (panel->agent_count > 0) return SA_OK;
    return sa_fail(SA_INVALID, "%s has no finished run so far", panel->folders[0]);
}

sa_status sa_panel_read(const char *const *folders, size_t count, sa_report_panel *out) {
    sa_report_panel panel = {0};
    sa_status status;
    SA_TRY_OR_FAIL(sa_alloc_array(count, sizeof *panel.folders, &panel.folders));
    SA_TRY_OR_FAIL(sa_alloc_array(count, sizeof *panel.range, &panel.range));
    SA_TRY_OR_FAIL(name_folder(folders[0], &panel.name));
    SA_TRY_OR_FAIL(read_folders(folders, count, &panel));
    panel.options = panel.results.options;
    panel.shown = panel.options->show_regret;
    SA_TRY_OR_FAIL(sa_results_missing_text(&panel.results, &panel.missing));
    SA_TRY_OR_FAIL(take_agents(&panel));
    *out = panel;
    return SA_OK;
fail:
    sa_panel_clear(&panel);
    return status;
}

/* ---- keeping ---- */

static sa_status is_merged(const char *folder, bool *merged, bool *used) {
    char *path;
    SA_TRY(sa_format(&path, "%s/merged.txt", folder));
    *merged = sa_file_exists(path);
    sa_free(path);
    SA_TRY(sa_format(&path, "%s/spec.yaml", folder));
    *used = sa_file_exists(path);
    sa_free(path);
    return SA_OK;
}

/* merged.txt says where it is from, and that it may be written again. */
static sa_status write_merged(const sa_report_panel *panel, const char *folder) {
    sa_buffer list = {0};
    char *path = NULL, *spec = NULL;
    sa_status status;
    sa_buffer_text(&list, "`superarm report` merged these folders:\n");
    for (size_t i = 0; i < panel->folder_count; i++) {
        sa_buffer_text(&list, panel->folders[i]);
        sa_buffer_text(&list, "\n");
    }
    SA_TRY_OR_FAIL(list.status);
    SA_TRY_OR_FAIL(sa_folder_make(folder));
    SA_TRY_OR_FAIL(sa_format(&path, "%s/merged.txt", folder));
    SA_TRY_OR_FAIL(sa_file_write(path, list.text, list.size));
    SA_TRY_OR_FAIL(sa_format(&spec, "%s/spec.yaml", folder));
    SA_TRY_OR_FAIL(sa_spec_write(&panel->results, spec));
    status = sa_folder_write(folder, &panel->results);
fail:
    sa_free(spec);
    sa_free(path);
    sa_buffer_clear(&list);
    return status;
}

/* A folder's own parts, once no process works in it. */
static sa_status write_own(const sa_report_panel *panel, char **note) {
    sa_lock lock;
    const char *folder = panel->folders[0];
    if (!panel->results.has_parts) return SA_OK;
    if (sa_lock_take(folder, "", false, &lock) != SA_OK)
        return sa_format(note, "%s, so its summary.json is left as it is.", sa_last_error());
    sa_status status = sa_folder_write(folder, &panel->results);
    sa_lock_release(&lock, true);
    return status;
}

sa_status sa_panel_keep(const sa_report_panel *panel, const char *folder, char **note) {
    bool merged, used;
    if (panel->folder_count == 1) return write_own(panel, note);
    for (size_t i = 0; i < panel->folder_count; i++)
        if (!strcmp(folder, panel->folders[i])) return SA_OK; /* the report alone */
    SA_TRY(is_merged(folder, &merged, &used));
    if (used && !merged)
        return sa_fail(SA_INVALID,
                       "--out %s holds an experiment of its own: name another folder for what is merged",
                       folder);
    return write_merged(panel, folder);
}
