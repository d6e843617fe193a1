#include "spec/grid.h"

#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "spec/problem_option.h"

enum { CELLS_MOST = 1000000 };

static void axis_clear(sa_grid_axis *axis) {
    for (size_t i = 0; i < axis->count; i++) sa_free(axis->values[i]);
    sa_free(axis->values);
    sa_free(axis->name);
    *axis = (sa_grid_axis){0};
}

void sa_grid_drop(sa_grid *grid, size_t kept) {
    while (grid->count > kept) axis_clear(&grid->axes[--grid->count]);
}

void sa_grid_clear(sa_grid *grid) {
    sa_grid_drop(grid, 0);
    sa_free(grid->axes);
    *grid = (sa_grid){0};
}

bool sa_grid_has(const sa_grid *grid, const char *name) {
    for (size_t i = 0; i < grid->count; i++)
        if (!strcmp(grid->axes[i].name, name)) return true;
    return false;
}

bool sa_grid_equal(const sa_grid *one, const sa_grid *other) {
    bool same = one->count == other->count;
    for (size_t i = 0; same && i < one->count; i++) {
        const sa_grid_axis *a = &one->axes[i], *b = &other->axes[i];
        same = !strcmp(a->name, b->name) && a->count == b->count;
        for (size_t k = 0; same && k < a->count; k++) same = !strcmp(a->values[k], b->values[k]);
    }
    return same;
}

/* ---- asking for it ---- */

static sa_status add_axis(sa_grid *grid, const char *name, bool of_agent) {
    SA_TRY(sa_grow_array(&grid->axes, &grid->capacity, grid->count + 1, sizeof *grid->axes));
    sa_grid_axis *axis = &grid->axes[grid->count];
    *axis = (sa_grid_axis){.of_agent = of_agent};
    SA_TRY(sa_copy_text(name, &axis->name));
    grid->count++;
    return SA_OK;
}

static sa_status check_option(const char *name, const char *value, sa_option_info *info) {
    sa_options *trial = sa_options_new(NULL);
    if (!trial) return SA_OUT_OF_MEMORY;
    sa_status status = sa_spec_set(trial, name, value); /* what is wrong with it, in its own words */
    sa_options_destroy(trial);
    SA_TRY(status);
    if (!sa_option_find(name, info)) sa_option_find("problem", info); /* oracle data */
    bool varies =
        info->scope == SA_SCOPE_AGENT || info->scope == SA_SCOPE_ENVIRONMENT || !strcmp(info->name, "seed");
    if (!varies) return sa_fail(SA_INVALID, "grid: --%s is one for all cells", info->name);
    if (!strcmp(info->name, "algorithm") && strchr(value, ','))
        return sa_fail(SA_INVALID, "grid: a cell has one algorithm, not %s", value);
    return SA_OK;
}

sa_status sa_grid_add(sa_grid *grid, const char *name, const char *value) {
    sa_option_info info;
    SA_TRY(check_option(name, value, &info));
    sa_grid_axis *axis = NULL;
    for (size_t i = 0; i < grid->count; i++)
        if (!strcmp(grid->axes[i].name, info.name)) axis = &grid->axes[i];
    if (!axis) {
        SA_TRY(add_axis(grid, info.name, info.scope == SA_SCOPE_AGENT));
        axis = &grid->axes[grid->count - 1];
    }
    char shown[SA_PRINTABLE];
    for (size_t i = 0; i < axis->count; i++)
        if (!strcmp(axis->values[i], value))
            return sa_fail(SA_INVALID, "grid: --%s has the value %s twice", info.name,
                           sa_printable(value, shown));
    if (sa_grid_cells(grid) / (axis->count ? axis->count : 1) > CELLS_MOST / (axis->count + 1))
        return sa_fail(SA_INVALID, "grid: there are more than %d cells", CELLS_MOST);
    SA_TRY(sa_grow_array(&axis->values, &axis->capacity, axis->count + 1, sizeof *axis->values));
    SA_TRY(sa_copy_text(value, &axis->values[axis->count]));
    axis->count++;
    return SA_OK;
}

/* ---- cells ---- */

size_t sa_grid_cells(const sa_grid *grid) {
    size_t cells = 1;
    for (size_t i = 0; i < grid->count; i++) cells *= grid->axes[i].count ? grid->axes[i].count : 1;
    return cells;
}

size_t sa_grid_groups(const sa_grid *grid) {
    size_t groups = 1;
    for (size_t i = 0; i < grid->count; i++)
        if (!grid->axes[i].of_agent) groups *= grid->axes[i].count;
    return groups;
}

size_t sa_grid_place(const sa_grid *grid, size_t cell, size_t axis) {
    for (size_t i = grid->count; i-- > axis + 1;) cell /= grid->axes[i].count;
    return cell % grid->axes[axis].count;
}

size_t sa_grid_group_of(const sa_grid *grid, size_t cell) {
    size_t group = 0;
    for (size_t i = 0; i < grid->count; i++)
        if (!grid->axes[i].of_agent) group = group * grid->axes[i].count + sa_grid_place(grid, cell, i);
    return group;
}

size_t sa_grid_cell_of_group(const sa_grid *grid, size_t group) {
    size_t cell = 0;
    while (sa_grid_group_of(grid, cell) != group) cell++;
    return cell;
}

sa_status sa_grid_set(const sa_grid *grid, size_t cell, bool of_agent, sa_options *options) {
    for (size_t i = 0; i < grid->count; i++)
        if (grid->axes[i].of_agent == of_agent)
            SA_TRY(
                sa_spec_set(options, grid->axes[i].name, grid->axes[i].values[sa_grid_place(grid, cell, i)]));
    return SA_OK;
}

/* A label names a folder, so of a path it has the last part. */
sa_status sa_grid_label(const sa_grid *grid, size_t cell, const char *agent, char **label) {
    sa_buffer text = {0};
    if (agent) sa_buffer_text(&text, agent);
    for (size_t i = 0; i < grid->count; i++) {
        const char *value = grid->axes[i].values[sa_grid_place(grid, cell, i)], *slash = strrchr(value, '/');
        sa_buffer_text(&text, text.size ? "," : "");
        sa_buffer_text(&text, grid->axes[i].name);
        sa_buffer_text(&text, "=");
        sa_buffer_text(&text, slash ? slash + 1 : value);
    }
    *label = text.text; /* NULL where memory was short */
    return text.status;
}
