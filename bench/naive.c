/* With V = Z^-1 and Z = I at first, one round is
 *
 *   for every arm:         width^2 = g' V g
 *   for every chosen arm:  V <- V - (V g)(V g)' / (1 + g' V g)        (Sherman-Morrison) */
#include "naive.h"

#include "machine.h"

#include <cblas.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const naive_size naive_paper_size = {8100, 20, 4};

static float *square(size_t p) { return malloc(p * p * sizeof(float)); }

/* Gradients of about unit length, (count), the same in every program. */
static void draw(float *gradients, size_t count, size_t p, uint64_t *state) {
    float scale = sqrtf(12 / (float)p);
    for (size_t i = 0; i < count; i++) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        gradients[i] = scale * ((float)(*state >> 40) * 0x1p-24f - 0.5f);
    }
}

/* ---- as the authors' code does it ---- */

static float authors_width(const float *inverse, const float *g, float *product, size_t p) {
    int n = (int)p;
    cblas_sgemv(CblasRowMajor, CblasNoTrans, n, n, 1, inverse, n, g, 1, 0, product, 1);
    return cblas_sdot(n, g, 1, product, 1);
}

/* inverse - (inverse g)(g' inverse) / (1 + g' inverse g), each operation into a matrix of its own, as Python
 * does it. */
static bool authors_update(float **inverse, const float *g, float *right, float *left, size_t p) {
    int n = (int)p;
    float divisor = 1 + authors_width(*inverse, g, right, p);
    cblas_sgemv(CblasRowMajor, CblasTrans, n, n, 1, *inverse, n, g, 1, 0, left, 1);
    float *outer = square(p), *scaled = square(p), *fresh = NULL;
    if (!outer || !scaled) goto fail;
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++) outer[i * p + j] = right[i] * left[j];
    for (size_t i = 0; i < p * p; i++) scaled[i] = outer[i] / divisor;
    free(outer);
    outer = NULL;
    if (!(fresh = square(p))) goto fail;
    for (size_t i = 0; i < p * p; i++) fresh[i] = (*inverse)[i] - scaled[i];
    free(scaled);
    free(*inverse);
    *inverse = fresh;
    return true;
fail:
    free(scaled);
    free(outer);
    return false;
}

/* ---- in place ---- */

static float in_place_width(const float *inverse, const float *g, float *product, size_t p) {
    int n = (int)p;
    cblas_ssymv(CblasColMajor, CblasLower, n, 1, inverse, n, g, 1, 0, product, 1);
    return cblas_sdot(n, g, 1, product, 1);
}

static void in_place_update(float *inverse, const float *g, float *product, size_t p) {
    float divisor = 1 + in_place_width(inverse, g, product, p);
    cblas_ssyr(CblasColMajor, CblasLower, (int)p, -1 / divisor, product, 1, inverse, (int)p);
}

/* ---- a round: the first K arms are chosen, for which arms they are does not change the cost ---- */

static bool play(naive_form form, const naive_size *size, float **inverse, const float *gradients,
                 float *work, float *widths) {
    size_t p = size->parameters;
    for (size_t arm = 0; arm < size->arms; arm++) {
        const float *g = gradients + arm * p;
        widths[arm] = form == NAIVE_AUTHORS ? authors_width(*inverse, g, work, p)
                                            : in_place_width(*inverse, g, work, p);
    }
    for (size_t arm = 0; arm < size->slate; arm++) {
        const float *g = gradients + arm * p;
        if (form == NAIVE_IN_PLACE)
            in_place_update(*inverse, g, work, p);
        else if (!authors_update(inverse, g, work, work + p, p))
            return false;
    }
    return true;
}

double naive_seconds(naive_form form, const naive_size *size, size_t warm_up, size_t rounds, float *widths) {
    size_t p = size->parameters, arms = size->arms;
    uint64_t state = 1;
    double seconds = 0;
    bool fine = false;
    float *inverse = calloc(p * p, sizeof *inverse);
    float *gradients = malloc(arms * p * sizeof *gradients);
    float *work = malloc(2 * p * sizeof *work);
    float *found = malloc(arms * sizeof *found);
    if (!inverse || !gradients || !work || !found) goto done;
    for (size_t i = 0; i < p; i++) inverse[i * p + i] = 1;

    for (size_t round = 0; round < warm_up + rounds; round++) {
        draw(gradients, arms * p, p, &state);
        double start = machine_seconds();
        if (!play(form, size, &inverse, gradients, work, found)) goto done;
        if (round < warm_up) continue;
        seconds += machine_seconds() - start;
        if (widths) memcpy(widths + (round - warm_up) * arms, found, arms * sizeof *found);
    }
    fine = true;
done:
    free(found);
    free(work);
    free(gradients);
    free(inverse);
    return fine ? seconds / (double)rounds : -1;
}
