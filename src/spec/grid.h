/* A sweep: options that take several values each. A cell is one value of each; cells that differ in their
 * environment are different experiments (groups), the others are agents beside each other. */
#ifndef SA_SPEC_GRID_H
#define SA_SPEC_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "options/options.h"

typedef struct sa_grid_axis {
    char *name;    /* of the option, not an alias */
    bool of_agent; /* else of the environment */
    char **values; /* (count) */
    size_t count, capacity;
} sa_grid_axis;

typedef struct sa_grid {
    sa_grid_axis *axes; /* (count) the last varies fastest */
    size_t count, capacity;
} sa_grid;

void sa_grid_clear(sa_grid *grid);
/* One more value of an option. */
sa_status sa_grid_add(sa_grid *grid, const char *name, const char *value);
/* Does it vary this option? */
bool sa_grid_has(const sa_grid *grid, const char *name);
bool sa_grid_equal(const sa_grid *one, const sa_grid *other);
/* Removes the axes from `kept` on. */
void sa_grid_drop(sa_grid *grid, size_t kept);
size_t sa_grid_cells(const sa_grid *grid);  /* 1 without axes */
size_t sa_grid_groups(const sa_grid *grid); /* of cells with one environment */
size_t sa_grid_group_of(const sa_grid *grid, size_t cell);
/* The index of the cell's value on an axis. */
size_t sa_grid_place(const sa_grid *grid, size_t cell, size_t axis);
/* Sets the cell's values of options of agents, or of the environment. */
sa_status sa_grid_set(const sa_grid *grid, size_t cell, bool of_agent, sa_options *options);
/* "cn-ucb,gamma=0.1,noise=1", without the agent's label where that is NULL. */
sa_status sa_grid_label(const sa_grid *grid, size_t cell, const char *agent, char **label);
/* A cell with this environment. */
size_t sa_grid_cell_of_group(const sa_grid *grid, size_t group);

#endif
