/* Integer programs, solved in a process of their own. CBC ends the process where it cannot go on, takes what
 * memory it likes, and looks at its clock when it likes: so it runs where that can be survived. A helper is
 * this program, started again; it is kept for the next request, and replaced when it ended or had to be
 * ended. */
#ifndef SERVE_SOLVER_H
#define SERVE_SOLVER_H

#include <stdbool.h>

#include <superarm/superarm.h>

typedef struct solver sv_solver;

/* `program`: the path to start helpers from, with "serve --solver" as arguments. NULL: memory is short. */
sv_solver *sv_solver_start(const char *program);
/* An sa_integer_solver; `self` is the solver. Any number of threads may ask; each waits for its answer. */
sa_status sv_solver_solve(void *self, const sa_integer_program *program, sa_integer_answer *answer);
/* Helpers that ended, or were ended, before they had an answer. */
unsigned long long sv_solver_failures(sv_solver *self);
/* Nobody may be asking. */
void sv_solver_stop(sv_solver *self); /* NULL is fine */

/* The helper: answers what comes in through its standard input, a socket, until that is closed. */
int sv_solver_help(void);

#endif
