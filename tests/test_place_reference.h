/* Rules and the own choice under them, by looking at all slates of 3 of 6 arms. */
#ifndef TEST_PLACE_REFERENCE_H
#define TEST_PLACE_REFERENCE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { ARMS = 6, SLATE = 3, CODES = ARMS * ARMS * ARMS };

static inline void slate_of(size_t code, size_t *slate) {
    slate[0] = code / ARMS / ARMS, slate[1] = code / ARMS % ARMS, slate[2] = code % ARMS;
}

static inline bool begins(const size_t *slate, const size_t *with, size_t count) {
    return !count || !memcmp(slate, with, count * sizeof *slate);
}

typedef struct rules {
    bool grouped, paired, placed, excludes;
    size_t groups[ARMS], least[3], most[3], pairs[6][2], pair_count;
    bool eligible[SLATE * ARMS], excluded[ARMS];
    bool positional;
    double scores[ARMS * SLATE];
} rules;

static inline bool keeps(const rules *self, const size_t *slate) {
    size_t count[3] = {0};
    for (size_t k = 0; k < SLATE; k++) {
        for (size_t j = 0; j < k; j++) {
            if (slate[j] == slate[k]) return false;
            for (size_t i = 0; i < self->pair_count; i++)
                if ((self->pairs[i][0] == slate[j] && self->pairs[i][1] == slate[k]) ||
                    (self->pairs[i][1] == slate[j] && self->pairs[i][0] == slate[k]))
                    return false;
        }
        if (self->excludes && self->excluded[slate[k]]) return false;
        if (self->placed && !self->eligible[k * ARMS + slate[k]]) return false;
        count[self->groups[slate[k]]]++;
    }
    for (size_t g = 0; self->grouped && g < 3; g++)
        if (count[g] < self->least[g] || count[g] > self->most[g]) return false;
    return true;
}

static inline double score_at(const rules *self, size_t arm, size_t place) {
    return self->positional ? self->scores[arm * SLATE + place] : self->scores[arm];
}

/* The own choice at place k after the first arms: of the best slate of all that begin so; where all places
 * are alike, the best arm of its rest. SIZE_MAX: there is none. */
static inline size_t own_of(const rules *self, const size_t *first, size_t k) {
    double most = -INFINITY;
    size_t own = SIZE_MAX;
    for (size_t code = 0, slate[SLATE]; code < CODES; code++) {
        slate_of(code, slate);
        if (!begins(slate, first, k) || !keeps(self, slate)) continue;
        double sum = 0;
        size_t best = slate[k];
        for (size_t p = 0; p < SLATE; p++) sum += score_at(self, slate[p], p);
        for (size_t p = k; p < SLATE && !self->positional && !self->placed; p++)
            if (score_at(self, slate[p], p) > score_at(self, best, k)) best = slate[p];
        if (sum > most + 1e-12) most = sum, own = best;
    }
    return own;
}

static inline bool can_take(const rules *self, const size_t *first, size_t k, size_t arm) {
    for (size_t code = 0, slate[SLATE]; code < CODES; code++) {
        slate_of(code, slate);
        if (begins(slate, first, k) && slate[k] == arm && keeps(self, slate)) return true;
    }
    return false;
}

#endif
