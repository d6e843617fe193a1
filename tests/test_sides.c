/* The interval that may be looked at every day: it leaves the true difference out in at most 5 of 100
 * simulated months, where the usual one does so in one of four, and it is not much wider. */
#include <math.h>
#include <stdlib.h>
#include <superarm/sides.h>

#include "rng/stream.h"
#include "test_file_scratch.h"

enum { MONTHS = 500, DAYS = 30 };

typedef double (*reward_of)(const sa_stream *stream, uint64_t index);

static double clicks(const sa_stream *stream, uint64_t i) { return sa_draw_uniform(stream, i) < 0.02; }
static double rare(const sa_stream *stream, uint64_t i) { return sa_draw_uniform(stream, i) < 0.005; }
/* one in 50 buys, for very different sums */
static double sales(const sa_stream *stream, uint64_t i) {
    double u = sa_draw_uniform(stream, i);
    return u < 0.02 ? pow(u / 0.02, -0.4) : 0;
}
static double page(const sa_stream *stream, uint64_t i) {
    double sum = 0;
    for (uint64_t k = 0; k < 4; k++) sum += sa_draw_uniform(stream, 4 * i + k) < 0.1;
    return sum;
}

typedef struct outcome {
    int missed, missed_at_one_look; /* months in which a look left 0 out */
    double wider;                   /* than the usual one on the last day, on average */
} outcome;

/* Both sides are the same: the difference is 0. */
static outcome simulate(reward_of reward, uint64_t control, uint64_t others, uint64_t purpose) {
    outcome out = {0};
    for (uint64_t month = 0; month < MONTHS; month++) {
        sa_side sides[2] = {0};
        uint64_t sizes[2] = {control, others}, at[2] = {0, 0};
        bool missed = false, usual = false;
        sa_difference last = {0};
        for (int day = 0; day < DAYS; day++) {
            for (int side = 0; side < 2; side++) {
                sa_stream stream = sa_stream_at(purpose, SA_PURPOSE_NOISE, month, (uint64_t)side);
                for (uint64_t i = 0; i < sizes[side]; i++)
                    sa_side_add(&sides[side], reward(&stream, at[side]++));
            }
            last = sa_side_difference(&sides[0], &sides[1]);
            missed = missed || last.low > 0 || last.high < 0;
            usual = usual || fabs(last.value) > 1.96 * last.standard_error;
        }
        out.missed += missed;
        out.missed_at_one_look += usual;
        out.wider += (last.high - last.low) / (2 * 1.96 * last.standard_error) / MONTHS;
    }
    return out;
}

static void it_covers_at_all_looks(void **state) {
    (void)state;
    static const struct {
        const char *name;
        reward_of reward;
        uint64_t control, others;
    } cases[] = {{"clicks, a tenth is control", clicks, 100, 900},
                 {"clicks, half and half", clicks, 300, 300},
                 {"rare clicks, a tenth is control", rare, 100, 900},
                 {"sums of money", sales, 200, 200},
                 {"clicks a page", page, 50, 450},
                 {"a small shop", page, 5, 45}};
    int usual = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        outcome out = simulate(cases[i].reward, cases[i].control, cases[i].others, 7 + i);
        print_message("%s: %d of %d months missed, %d by the usual interval; %.2f times as wide\n",
                      cases[i].name, out.missed, MONTHS, out.missed_at_one_look, out.wider);
        assert_true(out.missed <= MONTHS / 20);
        assert_true(out.wider < 2);
        usual += out.missed_at_one_look;
    }
    assert_true(usual > MONTHS / 2); /* the looks would matter */
}

static void it_finds_what_is_there(void **state) {
    (void)state;
    sa_side sides[2] = {0};
    sa_stream stream = sa_stream_at(3, SA_PURPOSE_NOISE, 0, 0);
    for (uint64_t i = 0; i < 20000; i++)
        sa_side_add(&sides[i % 2], sa_draw_uniform(&stream, i) < (i % 2 ? 0.10 : 0.13));
    sa_difference found = sa_side_difference(&sides[0], &sides[1]);
    assert_true(found.low > 0 && found.low < 0.03 && found.high > 0.03);
}

/* By two passes over the numbers, in long double. */
static void sums_are_those_of_two_passes(void **state) {
    (void)state;
    sa_side side = {0};
    double numbers[500];
    long double mean = 0, squares = 0;
    sa_stream stream = sa_stream_at(5, SA_PURPOSE_NOISE, 0, 0);
    for (uint64_t i = 0; i < 500; i++) {
        numbers[i] = 1e6 + 3 * sa_draw_uniform(&stream, i);
        mean += numbers[i] / 500.0L;
        sa_side_add(&side, numbers[i]);
    }
    for (size_t i = 0; i < 500; i++) squares += (numbers[i] - mean) * (numbers[i] - mean);
    assert_true(fabsl(side.mean - mean) < 1e-9L && fabsl(side.squares - squares) < 1e-6L * squares);
}

static void nothing_to_say_is_said(void **state) {
    (void)state;
    sa_side none = {0}, one = {0}, alike = {0};
    sa_side_add(&one, 1);
    for (int i = 0; i < 50; i++) sa_side_add(&alike, 0);
    sa_difference wide[] = {sa_side_difference(&none, &alike), sa_side_difference(&one, &alike),
                            sa_side_difference(&alike, &alike)};
    for (size_t i = 0; i < 3; i++) assert_true(isinf(wide[i].low) && isinf(wide[i].high));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_covers_at_all_looks), cmocka_unit_test(it_finds_what_is_there),
        cmocka_unit_test(sums_are_those_of_two_passes), cmocka_unit_test(nothing_to_say_is_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
