/* Looking at a folder or a database for damage, as --check does. */
#ifndef SERVE_UPKEEP_H
#define SERVE_UPKEEP_H

/* 0: sound; 1: damaged, and what was found is printed; 2: it cannot be looked at, and `message` (512) says
 * why. */
int sv_upkeep_look(const char *place, char *message);

#endif
