/* What is open of estimates beside the network's part (companion.h): some rows abreast, each as it would be
 * alone. With y = C^-1 (x - x^), s_r^2 = s^2 |y|^2. */
#include "base/reals.h"
#include "model/companion.h"
#include "model/companion_root.h"

/* off (dim, columns), a column a row of inputs, 0 past `rows`; and what the regression says of each. */
static void centre(const sa_companion *companion, sa_precision precision, const void *inputs, size_t rows,
                   size_t columns, double *off, double *regression) {
    size_t dim = companion->dim;
    for (size_t i = 0; i < columns; i++) regression[i] = companion->numbers.score_mean;
    for (size_t j = 0; j < dim; j++)
        for (size_t i = 0; i < columns; i++) {
            double *to = &off[j * columns + i];
            *to = i < rows ? sa_real_get(precision, inputs, i * dim + j) - companion->input_mean[j] : 0;
            regression[i] += companion->theta[j] * *to;
        }
}

static void spread_rows(const sa_companion *companion, sa_precision precision, const void *inputs,
                        size_t rows, const double *network, double *y, double *spread) {
    double w = sa_companion_share(companion), k = companion->numbers.linear + companion->numbers.network;
    double regression[SA_SPREAD_ROWS], square[SA_SPREAD_ROWS] = {0};
    size_t columns = sa_companion_root_columns(rows);
    centre(companion, precision, inputs, rows, columns, y, regression);
    sa_companion_root_solve(companion->root, y, columns);
    for (size_t j = 0; j < companion->dim; j++)
        for (size_t i = 0; i < columns; i++) square[i] += y[j * columns + i] * y[j * columns + i];
    for (size_t i = 0; i < rows; i++) {
        double apart = k * (network[i] - regression[i]);
        spread[i] = (1 - w) * (companion->noise * square[i] + w * apart * apart);
    }
}

void sa_companion_spread(const sa_companion *companion, sa_precision precision, const void *inputs,
                         size_t count, const double *network, double *scratch, double *spread) {
    size_t bytes = companion->dim * sa_precision_bytes(precision);
    for (size_t first = 0; first < count; first += SA_SPREAD_ROWS) {
        size_t rows = count - first < SA_SPREAD_ROWS ? count - first : SA_SPREAD_ROWS;
        const void *from = (const char *)inputs + first * bytes;
        spread_rows(companion, precision, from, rows, network + first, scratch, spread + first);
    }
}
