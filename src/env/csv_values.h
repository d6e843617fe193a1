/* The different values of a csv column that is not of numbers. */
#ifndef SA_ENV_CSV_VALUES_H
#define SA_ENV_CSV_VALUES_H

#include <stdint.h>

#include "base/span.h"
#include "base/status.h"

typedef struct sa_csv_values {
    char **text;  /* (count) in the order of arrival */
    size_t *size; /* (count) of each */
    /* (slots) open addressing: 1 + the index of the value, 0 when free; slots is a power of two */
    uint32_t *slot;
    size_t count, text_room, size_room, slots;
} sa_csv_values;

/* The index of the value, which is added when it is new. */
sa_status sa_csv_values_add(sa_csv_values *values, sa_span value, size_t *index);
/* rank[i]: the place of the i-th value in the order of the bytes. */
sa_status sa_csv_values_rank(const sa_csv_values *values, size_t *rank);
void sa_csv_values_clear(sa_csv_values *values);

#endif
