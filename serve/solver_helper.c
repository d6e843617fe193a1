/* The helper's side of solver.h: bounded in memory for good, and in processor time for each question. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "clock.h"
#include "solver.h"
#include "solver_wire.h"

enum { MEMORY = 512 << 20 }; /* beyond what the program itself has */
static const double FOREVER = 1e9;

static void bound_memory(void) {
    unsigned long pages = 0;
    struct rlimit none = {0, 0}, memory;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%lu", &pages) != 1) pages = 0;
    if (file) fclose(file);
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
    if (getrlimit(RLIMIT_AS, &memory)) return;
    rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + MEMORY;
    if (memory.rlim_cur > most) memory.rlim_cur = most;
    setrlimit(RLIMIT_AS, &memory);
}

/* SIGPROF ends the process: a solver that does not look at its clock cannot be asked to. */
static void bound_time(double seconds) {
    struct itimerval timer = {
        .it_value = {(time_t)seconds, (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)}};
    setitimer(ITIMER_PROF, &timer, NULL);
}

static bool receive(const sv_wire_question *question, sa_integer_program *out) {
    *out = (sa_integer_program){.columns = (size_t)question->columns,
                                .rows = (size_t)question->rows,
                                .entries = (size_t)question->entries,
                                .seconds = question->seconds};
    sv_wire_part parts[WIRE_ARRAYS];
    size_t all = 0, at = 0;
    sv_wire_parts(out, parts);
    for (int i = 0; i < WIRE_ARRAYS; i++) all += (parts[i].size + 15) / 16 * 16;
    char *block = calloc(all + 1, 1);
    if (!block) return false;
    char *starts[WIRE_ARRAYS];
    bool good = true;
    for (int i = 0; i < WIRE_ARRAYS && good; i++) {
        starts[i] = block + at;
        good = sv_wire_receive(STDIN_FILENO, starts[i], parts[i].size, sv_clock_seconds() + FOREVER);
        at += (parts[i].size + 15) / 16 * 16;
    }
    if (!good) {
        free(block);
        return false;
    }
    out->start = (const int *)(void *)starts[0];
    out->index = (const int *)(void *)starts[1];
    out->value = (const double *)(void *)starts[2];
    out->lower = (const double *)(void *)starts[3];
    out->upper = (const double *)(void *)starts[4];
    out->score = (const double *)(void *)starts[5];
    out->least = (const double *)(void *)starts[6];
    out->most = (const double *)(void *)starts[7];
    return true;
}

/* false: there is no more to do. */
static bool answer_one(void) {
    sv_wire_question question;
    sa_integer_program program;
    sv_wire_answer head = {0};
    if (!sv_wire_receive(STDIN_FILENO, &question, sizeof question, sv_clock_seconds() + FOREVER))
        return false;
    if (question.columns > WIRE_MOST || question.rows > WIRE_MOST || question.entries > WIRE_MOST)
        return false;
    sa_integer_answer answer = {.chosen = calloc((size_t)question.columns + 1, sizeof *answer.chosen)};
    if (!answer.chosen || !receive(&question, &program)) return false;
    bound_time(3 * question.seconds + 0.5);
    head.status = (int32_t)sa_integer_solve(&program, &answer);
    bound_time(0);
    head.found = answer.found;
    head.count = head.status == SA_OK ? answer.count : 0;
    head.gap = answer.gap;
    memcpy(head.message, answer.message, sizeof head.message);
    bool good = sv_wire_send(STDIN_FILENO, &head, sizeof head, sv_clock_seconds() + FOREVER) &&
                sv_wire_send(STDIN_FILENO, answer.chosen, (size_t)head.count * sizeof *answer.chosen,
                             sv_clock_seconds() + FOREVER);
    free((void *)program.start);
    free(answer.chosen);
    return good;
}

int sv_solver_help(void) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* in the middle of a solve nobody reads that the service is gone */
    bound_memory();
    while (answer_one()) continue;
    return 0;
}
