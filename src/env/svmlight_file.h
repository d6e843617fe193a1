/* The documents of an svmlight file with queries, as LETOR has them, one a line:
 *
 *   grade qid:7 1:0.5 3:2 # comment
 *
 * Features that are not named are 0; their indices count from 1 and ascend. The documents of a query stand
 * together. */
#ifndef SA_ENV_SVMLIGHT_FILE_H
#define SA_ENV_SVMLIGHT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "env/data_file.h"

enum { SA_LARGEST_FEATURE = 10000000 };

typedef struct sa_svmlight {
    size_t queries, documents, features; /* how many; features: pairs of all documents */
    size_t dim;                          /* the largest index */
    size_t most;                         /* documents of the largest query */
    size_t least;                        /* and of the smallest */
    int largest_grade;
    size_t *query;    /* (queries + 1) the first document of each, and their end */
    uint8_t *grade;   /* (documents) */
    size_t *document; /* (documents + 1) the first feature of each, and their end */
    uint32_t *index;  /* (features) counted from 0 */
    double *value;    /* (features) */
} sa_svmlight;

/* `path` is for sentences. On failure the file is empty. */
sa_status sa_svmlight_parse(const char *text, size_t size, const char *path, sa_svmlight *out);
void sa_svmlight_clear(sa_svmlight *file);
/* The features of a document, (dim). */
void sa_svmlight_row(const sa_svmlight *file, size_t document, double *out);

#endif
