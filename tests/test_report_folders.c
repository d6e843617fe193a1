/* Result folders that are absent, unfinished, damaged or of a newer version are refused, and nothing is
 * written. */
#include <unistd.h>

#include "test_report_rig.h"

static const char *fresh(void) {
    const char *folder = temporary_folder();
    rig_write(folder, &RIG);
    return folder;
}

static void refuses(const char *folder, sa_status status, const char *sentence) {
    assert_has(rig_refused(&folder, 1, status), sentence);
    assert_false(sa_file_exists(inside(folder, "report.html")));
    assert_false(sa_file_exists(inside(folder, "table.csv")));
}

static void test_absent(void **state) {
    (void)state;
    const char *folder = temporary_folder();
    refuses(folder, SA_INVALID, "is empty");
    refuses(inside(folder, "gone"), SA_FILE, "/gone cannot be read");
    write_text(inside(folder, "file"), "text");
    refuses(inside(folder, "file"), SA_INVALID, "/file is not a folder");
    refuses(folder, SA_INVALID, "has no spec.yaml");
    sa_report *report = NULL;
    assert_int_equal(sa_report_open(NULL, 0, &report), SA_INVALID);
}

static void test_unfinished(void **state) {
    (void)state;
    const char *folder = fresh();
    unlink(inside(folder, "summary.json"));
    refuses(folder, SA_INVALID, "has no finished run so far");
}

static void test_summary(void **state) {
    (void)state;
    static const struct {
        const char *text, *sentence;
        sa_status status;
    } cases[] = {
        {"{\"format\": 1, \"agents\": {\"first\": {\"runs\"", "summary.json:1: ", SA_FORMAT},
        {"", "summary.json:", SA_FORMAT},
        {"[1]", "has no \"agents\"", SA_FORMAT},
        {"{\"format\": 2, \"agents\": {}}", "is of format 2, written by a newer version", SA_NEWER},
        {"{\"format\": \"1\", \"agents\": {}}", "\"format\" is not an integer", SA_FORMAT},
        {"{\"format\": 1, \"agents\": {}}", "has no agent first", SA_FORMAT},
        {"{\"format\": 1, \"agents\": {\"first\": {\"runs\": 3}}}", "has no runs, rounds, times and counts",
         SA_FORMAT},
        {"{\"format\": 1, \"agents\": {\"first\": {\"runs\": 4, \"rounds\": 5, \"seconds_per_run\": 1, "
         "\"peak_bytes\": 1, "
         "\"diverged_trainings\": 0}}}",
         "has 4 runs of agent first, and spec.yaml 3", SA_FORMAT},
    };
    const char *folder = fresh();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text(inside(folder, "summary.json"), cases[i].text);
        refuses(folder, cases[i].status, cases[i].sentence);
    }
}

static void test_spec(void **state) {
    (void)state;
    const char *folder = fresh();
    write_text(inside(folder, "spec.yaml"), "runs: 3\nrunds: 5\n");
    refuses(folder, SA_INVALID, "spec.yaml:2: ");
}

static void test_curves(void **state) {
    (void)state;
    const char *folder = fresh(), *path = inside(folder, "second/realised_regret.npy");
    poke_npy(path, 7, strtod("nan", NULL));
    refuses(folder, SA_FORMAT, "second/realised_regret.npy: row 1, round 3 is not finite");
    size_t shape[] = {3, 4};
    write_npy(path, SA_FLOAT64, 2, shape);
    refuses(folder, SA_FORMAT, "second/realised_regret.npy is not of shape (3, 5)");
    shape[1] = 5;
    write_npy(path, SA_FLOAT32, 2, shape);
    refuses(folder, SA_FORMAT, "is not of shape (3, 5) and float64");
    write_npy(path, SA_FLOAT64, 2, shape);
    assert_int_equal(truncate(path, 200), 0);
    refuses(folder, SA_FORMAT, "second/realised_regret.npy");
    unlink(path);
    refuses(folder, SA_FILE, "second/realised_regret.npy");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_absent), cmocka_unit_test(test_unfinished), cmocka_unit_test(test_summary),
        cmocka_unit_test(test_spec),   cmocka_unit_test(test_curves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
