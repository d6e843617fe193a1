/* Arms in decreasing score, ties to the lower index: all of them, or the first few.
 *
 * Selection in O(N) by quickselect, which turns to heap sort when partitions stay lopsided (introselect), so
 * the worst case is O(N log N). "Before" is a strict order, so the answer does not depend on pivots.
 */
#include "oracle/oracle.h"

enum { SMALL = 24 };

static bool before(const double *scores, size_t arm, size_t other) {
    return scores[arm] > scores[other] || (scores[arm] == scores[other] && arm < other);
}

static void swap(size_t *arm, size_t *other) {
    size_t kept = *arm;
    *arm = *other;
    *other = kept;
}

static void insertion_sort(const double *scores, size_t *arms, size_t count) {
    for (size_t i = 1; i < count; i++) {
        size_t arm = arms[i], j = i;
        for (; j > 0 && before(scores, arm, arms[j - 1]); j--) arms[j] = arms[j - 1];
        arms[j] = arm;
    }
}

/* Moves arms[root] down until both its children come before it: the last of all is at the top. */
static void sift(const double *scores, size_t *arms, size_t root, size_t count) {
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && before(scores, arms[child], arms[child + 1])) child++;
        if (!before(scores, arms[root], arms[child])) return;
        swap(&arms[root], &arms[child]);
    }
}

void sa_arms_sort(const double *scores, size_t *arms, size_t count) {
    if (count <= SMALL) {
        insertion_sort(scores, arms, count);
        return;
    }
    for (size_t root = count / 2; root-- > 0;) sift(scores, arms, root, count);
    for (size_t end = count; end-- > 1;) {
        swap(&arms[0], &arms[end]);
        sift(scores, arms, 0, end);
    }
}

/* Puts the median of three of the arms at the front, splits by it, and returns the place where it belongs. */
static size_t split(const double *scores, size_t *arms, size_t count) {
    size_t *low = &arms[0], *middle = &arms[count / 2], *high = &arms[count - 1];
    if (before(scores, *middle, *low)) swap(middle, low);
    if (before(scores, *high, *middle)) swap(high, middle);
    if (before(scores, *middle, *low)) swap(middle, low);
    swap(low, middle);
    size_t pivot = arms[0], place = 0;
    for (size_t i = 1; i < count; i++)
        if (before(scores, arms[i], pivot)) swap(&arms[++place], &arms[i]);
    swap(&arms[0], &arms[place]);
    return place;
}

void sa_arms_select(const double *scores, size_t *arms, size_t count, size_t wanted) {
    int patience = 8; /* lopsided splits; a random order hardly ever has so many */
    while (count > SMALL && patience > 0) {
        size_t place = split(scores, arms, count), before_it = place, larger;
        if (place == wanted || place + 1 == wanted) return;
        if (place > wanted) {
            larger = before_it;
        } else {
            arms += place + 1;
            wanted -= place + 1;
            larger = count - place - 1;
        }
        if (larger > count - count / 8) patience--;
        count = larger;
    }
    sa_arms_sort(scores, arms, count);
}
