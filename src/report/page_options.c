/* The options in force: first those in which agents differ from each other and those that differ from the
 * preset, then, folded, all others. */
#include <string.h>

#include "report/report.h"

static const char *value_of(const sa_options *options, const char *name, char value[SA_REPORT_VALUE]) {
    if (sa_options_get(options, name, value, SA_REPORT_VALUE) != SA_OK) *value = 0;
    return *value ? value : "\u2013";
}

static bool same(const sa_options *one, const sa_options *other, const char *name) {
    char value[SA_REPORT_VALUE], other_value[SA_REPORT_VALUE];
    return !strcmp(value_of(one, name, value), value_of(other, name, other_value));
}

/* Agents have it, each a value of its own: the cells of a sweep have options of the environment, too. */
static bool is_of_agents(const sa_report_panel *panel, const sa_option_info *info) {
    return info->scope == SA_SCOPE_AGENT || sa_grid_has(&panel->results.spec->grid, info->name);
}

/* The options of agent 0 stand for all where they do not differ. */
static const sa_options *holder(const sa_report_panel *panel, const sa_option_info *info) {
    return is_of_agents(panel, info) ? panel->agents[0].of->options : panel->options;
}

static bool differs(const sa_report_panel *panel, const sa_option_info *info) {
    if (!is_of_agents(panel, info)) return false;
    for (size_t i = 1; i < panel->agent_count; i++)
        if (!same(panel->agents[0].of->options, panel->agents[i].of->options, info->name)) return true;
    return false;
}

static bool listed(const sa_option_info *info) { return info->scope != SA_SCOPE_OUTPUT; }

static void add_cell(sa_buffer *buffer, const char *tag, const char *text) {
    sa_buffer_format(buffer, "<%s>", tag);
    sa_html_text(buffer, text);
    sa_buffer_format(buffer, "</%s>", tag);
}

static void add_name(sa_buffer *buffer, const char *name) {
    sa_buffer_text(buffer, "<tr><th scope=\"row\">--");
    sa_html_text(buffer, name);
    sa_buffer_text(buffer, "</th>");
}

static void begin_table(sa_buffer *buffer) {
    sa_buffer_text(buffer, "<div class=\"box\"><table class=\"words\"><thead><tr>");
}
static void end_table(sa_buffer *buffer) { sa_buffer_text(buffer, "</tbody></table></div>\n"); }

static void add_between_agents(sa_buffer *buffer, const sa_report_panel *panel) {
    char value[SA_REPORT_VALUE];
    sa_option_info info;
    bool any = false;
    for (size_t i = 0; sa_option_at(i, &info); i++) any = any || differs(panel, &info);
    if (!any) return;
    sa_buffer_format(buffer, "<p>In which the %s differ:</p>\n",
                     sa_panel_is_sweep(panel) ? "cells" : "agents");
    begin_table(buffer);
    add_cell(buffer, "th", "option");
    for (size_t i = 0; i < panel->agent_count; i++) add_cell(buffer, "th", panel->agents[i].name);
    sa_buffer_text(buffer, "</tr></thead><tbody>\n");
    for (size_t i = 0; sa_option_at(i, &info); i++) {
        if (!differs(panel, &info)) continue;
        add_name(buffer, info.name);
        for (size_t agent = 0; agent < panel->agent_count; agent++)
            add_cell(buffer, "td", value_of(panel->agents[agent].of->options, info.name, value));
        sa_buffer_text(buffer, "</tr>\n");
    }
    end_table(buffer);
}

static void add_from_preset(sa_buffer *buffer, const sa_report_panel *panel, const sa_options *preset,
                            const char *name) {
    char value[SA_REPORT_VALUE];
    sa_option_info info;
    size_t count = 0;
    for (size_t i = 0; sa_option_at(i, &info); i++) {
        if (!listed(&info) || differs(panel, &info) || same(holder(panel, &info), preset, info.name))
            continue;
        if (count++ == 0) {
            sa_buffer_text(buffer, "<p>In which all differ from the preset ");
            sa_html_text(buffer, name);
            sa_buffer_text(buffer, ":</p>\n");
            begin_table(buffer);
            sa_buffer_text(buffer, "<th>option</th><th>here</th><th>preset</th></tr></thead><tbody>\n");
        }
        add_name(buffer, info.name);
        add_cell(buffer, "td", value_of(holder(panel, &info), info.name, value));
        add_cell(buffer, "td", value_of(preset, info.name, value));
        sa_buffer_text(buffer, "</tr>\n");
    }
    if (count > 0) end_table(buffer);
}

static void add_rest(sa_buffer *buffer, const sa_report_panel *panel, const sa_options *preset,
                     const char *name) {
    char value[SA_REPORT_VALUE];
    sa_option_info info;
    sa_buffer_text(buffer, "<details><summary>All other options, which are those of the preset ");
    sa_html_text(buffer, name);
    sa_buffer_text(buffer, "</summary>\n");
    begin_table(buffer);
    sa_buffer_text(buffer, "<th>option</th><th>value</th><th>what it is</th></tr></thead><tbody>\n");
    for (size_t i = 0; sa_option_at(i, &info); i++) {
        if (!listed(&info) || differs(panel, &info) || !same(holder(panel, &info), preset, info.name))
            continue;
        add_name(buffer, info.name);
        add_cell(buffer, "td", value_of(preset, info.name, value));
        add_cell(buffer, "td", info.help);
        sa_buffer_text(buffer, "</tr>\n");
    }
    end_table(buffer);
    sa_buffer_text(buffer, "</details>\n");
}

void sa_page_options(sa_buffer *buffer, const sa_report_panel *panel) {
    char name[64];
    if (sa_options_get(panel->options, "preset", name, sizeof name) != SA_OK) *name = 0;
    sa_options *preset = sa_options_new(name);
    if (!preset) {
        buffer->status = SA_OUT_OF_MEMORY;
        return;
    }
    add_between_agents(buffer, panel);
    add_from_preset(buffer, panel, preset, name);
    add_rest(buffer, panel, preset, name);
    sa_options_destroy(preset);
}
