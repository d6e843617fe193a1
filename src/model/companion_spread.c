/* What is open of estimates beside the network's part (companion.h): some rows abreast, each as it would be
 * alone. */
#include "base/reals.h"
#include "model/companion.h"

/* y (dim, SA_SPREAD_ROWS) = C^-1 y */
static void solve(size_t dim, const double *root, double *y) {
    for (size_t j = 0; j < dim; j++) {
        double *to = y + j * SA_SPREAD_ROWS;
        for (size_t k = 0; k < j; k++)
            for (size_t i = 0; i < SA_SPREAD_ROWS; i++)
                to[i] -= root[j * dim + k] * y[k * SA_SPREAD_ROWS + i];
        for (size_t i = 0; i < SA_SPREAD_ROWS; i++) to[i] /= root[j * dim + j];
    }
}

/* Rows [first, first + rows), at most SA_SPREAD_ROWS. */
static void spread_rows(const sa_companion *companion, sa_precision precision, const void *inputs,
                        size_t first, size_t rows, const double *network, double *off, double *spread) {
    size_t dim = companion->dim;
    const sa_companion_numbers *numbers = &companion->numbers;
    double w = sa_companion_share(companion), k = numbers->linear + numbers->network;
    double r[SA_SPREAD_ROWS], square[SA_SPREAD_ROWS] = {0};
    for (size_t i = 0; i < SA_SPREAD_ROWS; i++) r[i] = numbers->score_mean;
    for (size_t j = 0; j < dim; j++)
        for (size_t i = 0; i < SA_SPREAD_ROWS; i++) {
            double x = i < rows ? sa_real_get(precision, inputs, (first + i) * dim + j) : 0;
            off[j * SA_SPREAD_ROWS + i] = x - companion->input_mean[j];
            r[i] += companion->theta[j] * off[j * SA_SPREAD_ROWS + i];
        }
    solve(dim, companion->root, off);
    for (size_t j = 0; j < dim; j++)
        for (size_t i = 0; i < SA_SPREAD_ROWS; i++)
            square[i] += off[j * SA_SPREAD_ROWS + i] * off[j * SA_SPREAD_ROWS + i];
    for (size_t i = 0; i < rows; i++) {
        double apart = k * (network[first + i] - r[i]);
        spread[first + i] = (1 - w) * (companion->noise * square[i] + w * apart * apart);
    }
}

void sa_companion_spread(const sa_companion *companion, sa_precision precision, const void *inputs,
                         size_t count, const double *network, double *scratch, double *spread) {
    for (size_t first = 0; first < count; first += SA_SPREAD_ROWS) {
        size_t rows = count - first < SA_SPREAD_ROWS ? count - first : SA_SPREAD_ROWS;
        spread_rows(companion, precision, inputs, first, rows, network, scratch, spread);
    }
}
