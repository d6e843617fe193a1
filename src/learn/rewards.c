#include "learn/rewards.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool take_number(const char **text, char end, double *number) {
    char *after;
    *number = strtod(*text, &after);
    if (after == *text || *after != end || !isfinite(*number)) return false;
    *text = after + (end != 0);
    return true;
}

sa_status sa_rewards_init(sa_rewards *rewards, const sa_options *options) {
    const char *text = options->reward_range;
    *rewards = (sa_rewards){.bounded = *text, .rejudges = options->normalize == SA_NORMALIZE_STANDARD};
    if (!rewards->bounded) return SA_OK;
    if (take_number(&text, ',', &rewards->low) && take_number(&text, 0, &rewards->high) &&
        rewards->low < rewards->high)
        return SA_OK;
    return sa_fail(SA_INVALID, "--reward-range %s: two numbers are wanted, the lower one first, as in 0,1",
                   options->reward_range);
}

sa_status sa_rewards_check(sa_rewards *rewards, size_t arm, uint64_t decision, double score) {
    char what[64] = "the total";
    unsigned long long id = decision;
    if (arm != SA_ALL_ARMS) snprintf(what, sizeof what, "feedback for arm %zu", arm);
    if (!isfinite(score)) return sa_fail(SA_INVALID, "%s of decision %llu is %g", what, id, score);
    if (!rewards->bounded || (score >= rewards->low && score <= rewards->high)) return SA_OK;
    rewards->refused++;
    return sa_fail(SA_INVALID, "%s of decision %llu is %g, and --reward-range is %g,%g", what, id, score,
                   rewards->low, rewards->high);
}

size_t sa_rewards_sift(const sa_rewards *rewards, sa_outliers *outliers, const double *scores, size_t *places,
                       size_t count) {
    size_t kept = 0;
    if (rewards->bounded) return count; /* what is inside is right */
    for (size_t i = 0; i < count; i++) {
        size_t place = places[i];
        if (!sa_outliers_take(outliers, scores[place])) continue;
        if (rewards->rejudges) sa_outliers_rejudge(outliers);
        for (size_t j = i; j > kept; j--) places[j] = places[j - 1];
        places[kept++] = place;
    }
    return kept;
}

enum { NUMBERS = sizeof(sa_outliers) / sizeof(double) };

sa_status sa_rewards_save(const sa_rewards *rewards, sa_npz_writer *writer) {
    size_t numbers = NUMBERS;
    SA_TRY(sa_npz_add(writer, "rewards_refused", SA_FLOAT64, 0, NULL, &rewards->refused));
    return sa_npz_add(writer, "rewards_outliers", SA_FLOAT64, 1, &numbers, &rewards->outliers);
}

/* Up to format 5 without the newer half, the last four. */
sa_status sa_rewards_load(sa_rewards *rewards, sa_npz *archive) {
    int64_t format;
    SA_TRY(sa_npz_format(archive, &format));
    size_t numbers = format > 5 ? NUMBERS : NUMBERS - 4;
    sa_outliers *outliers = &rewards->outliers;
    SA_TRY(sa_npz_get_number(archive, "rewards_refused", &rewards->refused));
    SA_TRY(sa_npz_read_into(archive, "rewards_outliers", SA_FLOAT64, 1, &numbers, outliers));
    bool sound = outliers->count >= 0 && isfinite(outliers->mean) && outliers->largest >= 0 &&
                 outliers->suspects >= 0 && outliers->wild >= 0 && rewards->refused >= 0 &&
                 outliers->newer_count >= 0 && isfinite(outliers->newer_mean) &&
                 outliers->newer_largest >= 0 && outliers->changes >= 0;
    return sound ? SA_OK : sa_fail(SA_FORMAT, "'rewards_outliers' has a value that it cannot have");
}
