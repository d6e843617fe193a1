/* A text file that is written line by line and appears whole or not at all. */
#ifndef SA_BASE_TEXT_FILE_H
#define SA_BASE_TEXT_FILE_H

#include "base/buffer.h"
#include "base/file.h"

typedef struct sa_text_file {
    sa_replacement file;
    sa_buffer buffer; /* lines are added here */
} sa_text_file;

#define SA_NO_TEXT_FILE                                                                                      \
    ((sa_text_file){.file = SA_NO_REPLACEMENT}) /* fine to abandon, as a zeroed one is not */

/* Fine to abandon also when it fails. */
sa_status sa_text_file_begin(sa_text_file *out, const char *path);
/* After a line: writes what is in the buffer once that is much. */
sa_status sa_text_file_line(sa_text_file *out);
/* Writes the rest and puts the file in its place; on failure the old one stays. It is to be abandoned either
 * way. */
sa_status sa_text_file_commit(sa_text_file *out);
/* Frees what there is; a file that was not committed is gone. */
void sa_text_file_abandon(sa_text_file *out);

#endif
