/* Any bytes as a csv file: rows come out whose features are finite, or a sentence. The first byte chooses how
 * it is read. */
#include <math.h>

#include "base/memory.h"
#include "env/csv_pool.h"
#include "fuzz_memory_file.h"

static void use(const sa_csv_pool *pool) {
    double *features;
    if (pool->rows == 0 || pool->dim == 0) abort();
    if (pool->dim > 100000 || sa_alloc_array(pool->dim, sizeof *features, &features) != SA_OK) return;
    for (size_t row = 0; row < pool->rows; row += 1 + pool->rows / 50) {
        if (pool->label[row] >= pool->labels.count) abort();
        sa_csv_pool_row(pool, row, features);
        for (size_t i = 0; i < pool->dim; i++)
            if (!isfinite(features[i])) abort();
    }
    sa_free(features);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const labels[] = {"last", "1", "-1", "name"};
    if (size == 0) return 0;
    uint8_t how = data[0];
    sa_csv_format format = {
        .separator = how & 1 ? '\t' : ',', .header = how & 2, .label = labels[how >> 2 & 3]};
    sa_csv_pool pool;
    if (sa_csv_pool_parse((const char *)data + 1, size - 1, "fuzz.csv", &format, &pool) == SA_OK)
        use(&pool);
    else if (!strstr(sa_last_error(), "fuzz.csv") || pool.cells)
        abort();
    sa_csv_pool_clear(&pool);
    return 0;
}
