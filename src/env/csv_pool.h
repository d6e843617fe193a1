/* The rows of a csv file: a label each, and features.
 *
 *   a column of numbers                  -> the number
 *   of numbers, with some missing        -> the number (0 where it is missing), and 1 where it is missing
 *   anything else                        -> one input for each value, in the order of the bytes: 1 for the
 *                                        row's own, else 0
 *
 * A value is missing when it is "?" or nothing; in a column that is not of numbers that is a value like any
 * other. */
#ifndef SA_ENV_CSV_POOL_H
#define SA_ENV_CSV_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "env/csv_values.h"

/* What the user says of the file; texts are borrowed. */
typedef struct sa_csv_format {
    char separator;
    bool header;       /* the first row has the names of the columns */
    const char *label; /* a name, a number from 1, one from -1 for the last, or "last" */
} sa_csv_format;

typedef enum sa_csv_kind { SA_CSV_NUMBER, SA_CSV_NUMBER_OR_MISSING, SA_CSV_VALUES } sa_csv_kind;

typedef struct sa_csv_column {
    sa_csv_kind kind;
    size_t inputs;
} sa_csv_column;

typedef struct sa_csv_pool {
    size_t rows, columns; /* columns without the label */
    size_t dim;           /* inputs of all columns */
    sa_csv_column *column;
    /* (rows, columns) the number, NaN where it is missing, or the place of the value among the
     * column's */
    double *cells;
    size_t label_column;  /* of the file, from 0 */
    size_t *label;        /* (rows) the label's place among the labels */
    sa_csv_values labels; /* in the order of arrival */
} sa_csv_pool;

/* Columns that are not of numbers may have this many values. */
enum { SA_CSV_MOST_VALUES = 1000 };

/* `path` is for sentences. On failure the pool is empty. */
sa_status sa_csv_pool_parse(const char *text, size_t size, const char *path, const sa_csv_format *format,
                            sa_csv_pool *out);
void sa_csv_pool_clear(sa_csv_pool *pool);
/* The features of a row, (dim). */
void sa_csv_pool_row(const sa_csv_pool *pool, size_t row, double *out);
/* The first few labels, for a sentence. */
enum { SA_CSV_LABEL_LIST = 400 };
const char *sa_csv_pool_label_list(const sa_csv_pool *pool, char out[static SA_CSV_LABEL_LIST]);

#endif
