/* superarm theory: what it prints, and what it says about wrong input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>

#include "program.h"

static const char *folder;

static void doubles(const char *name, size_t axes, const size_t *shape, const double *numbers) {
    assert_int_equal(sa_npy_write(inside(folder, name), SA_FLOAT64, axes, shape, numbers), SA_OK);
}

static int set_up(void **state) {
    (void)state;
    folder = temporary_folder();
    const double x[8] = {1, 0, 0, 1, 0.6, 0.8, 0.8, 0.6}, repeated[8] = {1, 0, 0, 1, 1, 0, 0, 2},
                 h[4] = {1, 0.5, 1, 1};
    const double bad[4] = {1, 0, NAN, 1};
    doubles("x.npy", 3, (size_t[]){2, 2, 2}, x);
    doubles("flat.npy", 2, (size_t[]){4, 2}, x);
    doubles("runs.npy", 4, (size_t[]){2, 1, 2, 2}, x);
    doubles("repeated.npy", 2, (size_t[]){4, 2}, repeated);
    doubles("h.npy", 1, (size_t[]){4}, h);
    doubles("clash.npy", 1, (size_t[]){4}, (double[]){1, 0.5, 2, 1});
    doubles("grid.npy", 2, (size_t[]){2, 2}, h);
    doubles("short.npy", 1, (size_t[]){3}, h);
    doubles("bad.npy", 2, (size_t[]){2, 2}, bad);
    doubles("empty.npy", 3, (size_t[]){0, 2, 2}, x);
    doubles("line.npy", 1, (size_t[]){4}, x);
    assert_int_equal(
        sa_npy_write(inside(folder, "whole.npy"), SA_INT64, 2, (size_t[]){2, 2}, (int64_t[]){1, 0, 0, 1}),
        SA_OK);
    static double many[60000];
    doubles("many.npy", 2, (size_t[]){60000, 1}, many);
    return 0;
}

/* @name in the words is the file in the folder */
static outcome *theory(const char *words) {
    char full[4096] = "theory ", *to = full + 7;
    for (; *words; words++) {
        if (*words == '@')
            to += sprintf(to, "%s/", folder);
        else
            *to++ = *words;
    }
    *to = 0;
    return run(folder, "%s", full);
}

static json_t *answer(const char *words) {
    json_error_t error;
    json_t *object = json_loads(fine(theory(words))->out, JSON_REJECT_DUPLICATES, &error);
    if (!object) fail_msg("%s: not JSON: %s", words, error.text);
    return object;
}

static double number(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    if (!json_is_number(value)) fail_msg("%s is not a number", name);
    return json_number_value(value);
}

/* Four contexts in the plane, L = 2: H has 3/2 on its diagonal and k1 + rho k0 / 2 beside it. */
static void prints_the_numbers(void **state) {
    (void)state;
    json_t *object = answer("--contexts @x.npy --depth 2 --lambda 1 --slate 2");
    static const char *const names[] = {"effective_dimension",
                                        "log_det",
                                        "samples",
                                        "nu",
                                        "eta",
                                        "steps",
                                        "steps_ts",
                                        "smallest_width",
                                        "gamma",
                                        "e",
                                        "epsilon",
                                        "lambda",
                                        "smallest_eigenvalue"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) number(object, names[i]);
    const double log_det = number(object, "log_det"), pi = acos(-1.0);
    assert_true(fabs(number(object, "effective_dimension") - log_det / log(5)) < 1e-12);
    assert_true(number(object, "rounds") == 2 && number(object, "contexts") == 4 &&
                number(object, "samples") == 15);
    assert_true(fabs(number(object, "eta") - 1 / (2 * 2 * 100 * 2 + 100.0)) < 1e-15);
    assert_true(fabs(number(object, "nu") - 1 - sqrt(log_det + 2 + 2 * log(2))) < 1e-12);
    assert_true(json_is_null(json_object_get(object, "norm")) &&
                json_is_false(json_object_get(object, "singular")));
    assert_int_equal(json_array_size(json_object_get(object, "notes")), 0);
    json_decref(object);
    object =
        answer("--contexts @runs.npy --first-run 0 --depth 2 --lambda 1 --slate 2"); /* the first two alone */
    assert_true(fabs(number(object, "log_det") - log(2.5 * 2.5 - 1 / pi / pi)) < 1e-12);
    assert_true(number(object, "rounds") == 1);
    json_decref(object);
}

static void shapes_and_rounds(void **state) {
    (void)state;
    json_t *rounds = answer("--contexts @x.npy --slate 2"), *flat = answer("--contexts @flat.npy --slate 2");
    assert_true(number(rounds, "log_det") == number(flat, "log_det") && number(flat, "rounds") == 4);
    json_decref(flat);
    flat = answer("--contexts @flat.npy --slate 2 --rounds 2");
    assert_true(json_equal(rounds, flat));
    json_decref(flat);
    flat = answer("--contexts @flat.npy --slate 2 --rounds 1000");
    assert_true(number(rounds, "effective_dimension") == number(flat, "effective_dimension"));
    assert_true(number(flat, "steps") > number(rounds, "steps"));
    json_decref(flat);
    json_decref(rounds);
}

static void scores_give_the_norm(void **state) {
    (void)state;
    json_t *line = answer("--contexts @x.npy --slate 2 --scores @h.npy"),
           *grid = answer("--contexts @x.npy --slate 2 --scores @grid.npy");
    assert_true(json_equal(line, grid));
    assert_true(number(line, "norm") > 0 && number(line, "norm") == number(line, "norm_bound"));
    json_decref(grid);
    grid = answer("--contexts @x.npy --slate 2 --scores @grid.npy --norm-bound 7");
    assert_true(number(grid, "norm") == number(line, "norm") && number(grid, "norm_bound") == 7);
    json_decref(grid);
    json_decref(line);
}

static bool notes_say(const json_t *object, const char *words) {
    size_t i;
    json_t *note;
    json_array_foreach(json_object_get(object, "notes"), i,
                       note) if (strstr(json_string_value(note), words)) return true;
    return false;
}

static void repeated_contexts_and_lengths_are_noted(void **state) {
    (void)state;
    json_t *object = answer("--contexts @repeated.npy --slate 2 --scores @h.npy");
    assert_true(json_is_true(json_object_get(object, "singular")) && number(object, "rank") == 2);
    assert_true(notes_say(object, "2 of 4 contexts repeat others") &&
                notes_say(object, "lengths from 1 to 2"));
    assert_true(number(object, "smallest_eigenvalue") > 0 && number(object, "smallest_width") > 0);
    assert_true(number(object, "norm") >
                0); /* what the kernel can say is twice as long scores twice as high */
    json_decref(object);
    object = answer("--contexts @repeated.npy --slate 2 --scores @clash.npy");
    assert_true(json_is_null(json_object_get(object, "norm")) && notes_say(object, "no function has them"));
    json_decref(object);
    object = answer("--contexts @x.npy --slate 2 --depth 1000 --lambda 1e-60 --rounds 100000000");
    assert_true(json_is_null(json_object_get(object, "smallest_width")) &&
                notes_say(object, "more than a double"));
    assert_true(number(object, "log10_smallest_width") > 308);
    json_decref(object);
}

static void wrong_input_gets_a_sentence(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"", "theory needs --contexts"},
        {"--contexts @none.npy", "none.npy"},
        {"--contexts @x.npy --slate 2 --rounds 0", "--rounds 0 is less than 1"},
        {"--contexts @x.npy --slate 2 --delta 0", "--delta 0 must be above 0"},
        {"--contexts @x.npy --slate 2 --delta 1.5", "--delta 1.5 is more than 0.999999"},
        {"--contexts @x.npy --slate 3", "--slate 3 is more than the 2 arms"},
        {"--contexts @flat.npy --slate 5", "--slate 5 is more than the 4 contexts"},
        {"--contexts @x.npy --slate 2 --depth 1", "--depth 1 is less than 2"},
        {"--contexts @x.npy --slate 2 --lambda 0", "--lambda 0 must be above 0"},
        {"--contexts @repeated.npy --slate 2 --lambda 1e-18", "--lambda 1e-18 is lost to rounding"},
        {"--contexts @x.npy --slate 2 --scores @short.npy", "one score for each of the 4 contexts"},
        {"--contexts @bad.npy --slate 1", "has nan at position 2"},
        {"--contexts @empty.npy", "has shape (0, 2, 2) where"},
        {"--contexts @line.npy", "has shape (4,) where"},
        {"--contexts @whole.npy", "whole numbers"},
        {"--contexts @runs.npy --slate 2 --first-run 2", "has 2 runs"},
        {"--contexts @x.npy --algorithm cn-ucb", "--algorithm is not an option here"},
        {"--contexts @x.npy --gamm 2", "is not an option"},
        {"spec.yaml", "one word too many"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) refused(theory(cases[i][0]), cases[i][1]);
}

/* 60000 contexts need 28.8 GB, which a machine may have. */
static void too_many_contexts_are_said(void **state) {
    (void)state;
    if (sa_memory_available() > (size_t)28 << 30) skip();
    refused(theory("--contexts @many.npy --slate 1"), "contexts would fit");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_the_numbers),
        cmocka_unit_test(shapes_and_rounds),
        cmocka_unit_test(scores_give_the_norm),
        cmocka_unit_test(repeated_contexts_and_lengths_are_noted),
        cmocka_unit_test(wrong_input_gets_a_sentence),
        cmocka_unit_test(too_many_contexts_are_said),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
