/* The file of --data as rows with a label each. */
#ifndef SA_ENV_CSV_READ_H
#define SA_ENV_CSV_READ_H

#include "env/csv_pool.h"
#include "options/options.h"

/* By --label, --header and --separator; caller clears the pool. */
sa_status sa_csv_read(const sa_options *options, sa_csv_pool *out);

#endif
