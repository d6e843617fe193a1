/* What the service and its helper say to each other: a head, then the arrays that it announces. Both are the
 * same program, so numbers are sent as they lie in memory. */
#ifndef SERVE_SOLVER_WIRE_H
#define SERVE_SOLVER_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include <superarm/superarm.h>

enum { WIRE_ARRAYS = 8, WIRE_MOST = 20000000 }; /* WIRE_MOST: of columns, rows, entries */

typedef struct wire_question {
    uint64_t columns, rows, entries;
    double seconds;
} sv_wire_question;

typedef struct wire_answer {
    int32_t status;
    uint32_t found;
    uint64_t count; /* of chosen columns, size_t each, which follow */
    double gap;
    char message[200];
} sv_wire_answer;

/* All of it, or false: the other side is gone, or `until` (sv_clock_seconds) has come. */
bool sv_wire_send(int socket, const void *bytes, size_t size, double until);
bool sv_wire_receive(int socket, void *bytes, size_t size, double until);

typedef struct wire_part {
    void *at;
    size_t size;
} sv_wire_part;
/* Where the arrays are, and their bytes. */
void sv_wire_parts(const sa_integer_program *program, sv_wire_part out[WIRE_ARRAYS]);

#endif
