/* What the process takes of the machine, and what its folder does. */
#ifndef SERVE_PROCESS_H
#define SERVE_PROCESS_H

/* Numbers that cannot be found out are NaN. */
typedef struct process_facts {
    double resident_bytes, descriptors, descriptors_most;
    double journal_bytes, log_bytes, folder_bytes; /* the log: what is written and not folded in yet */
    double free_bytes, disk_bytes;
} sv_process_facts;

void sv_process_look(const char *folder, sv_process_facts *out);

#endif
