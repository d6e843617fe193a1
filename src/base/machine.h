/* What of the machine this process may use. */
#ifndef SA_BASE_MACHINE_H
#define SA_BASE_MACHINE_H

#include <stddef.h>

/* Processors that it may run on (taskset, cpusets of containers), at least 1. */
size_t sa_processors(void);
/* Bytes of memory: the machine's, or what its control group may have where that is less. 0: nobody says. */
size_t sa_machine_memory(void);
/* The least limit of the control groups that this file (/proc/self/cgroup) names and of those above them,
 * versions 1 and 2, whose folders are under `root` (/sys/fs/cgroup); SIZE_MAX where there is none. */
size_t sa_cgroup_memory(const char *groups, const char *root);

#endif
