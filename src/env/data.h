/* What environments over files of data share. */
#ifndef SA_ENV_DATA_H
#define SA_ENV_DATA_H

#include "env/environment.h"

/* The file of --data; caller frees the text. */
sa_status sa_data_read(const sa_options *options, char **text, size_t *size);
/* SA_INVALID when an option was given another value than the file has. */
sa_status sa_data_check_size(const sa_options *options, const char *option, int64_t asked, size_t file_has);
/* Gaussian noise is added only where --noise was given: labels and grades are what they are, and clicks are noise enough. */
double sa_data_noise(const sa_options *options);
/* contexts (rows, dim): every row is divided by its length; a row of zeros stays. */
void sa_data_unit_rows(size_t rows, size_t dim, double *contexts);

#endif
