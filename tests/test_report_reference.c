/* Published curves: read, matched with agents, drawn dashed; wrong files are refused by file and line. */
#include "test_report_rig.h"

#define HEADER "figure,score,d,algorithm,round,mean_regret,sd_regret,runs\n"
#define OF_EXPECTED "figure,score,d,algorithm,round,mean_regret,sd_regret,runs,regret\n"

static void test_wrong(void **state) {
    (void)state;
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"", "curves.csv is empty"},
        {HEADER, "curves.csv has no curves"},
        {"figure,score,d,algorithm,round,mean,sd,runs\n", "curves.csv:1: the columns must be figure,score,d"},
        {"fig1,h1,80,first,1,2,3,4\n", "curves.csv:1: the columns must be "},
        {HEADER "fig1,h1,80,first,1,2,3\n", "curves.csv:2: this line does not have 8 fields"},
        {HEADER "fig1,h1,80,first,1,2,3,4,5\n", "curves.csv:2: this line does not have 8 fields"},
        {HEADER "\n", "curves.csv:2: this line does not have 8 fields"},
        {HEADER "fig1,h1,80,first,1,2,3,4\nfig1,h1,80,first,2,many,3,4\n",
         "curves.csv:3: mean_regret many is not a number"},
        {HEADER "fig1,h1,80,first,1,nan,3,4\n", "curves.csv:2: mean_regret nan is not a number"},
        {HEADER "fig1,h1,80,first,1,1e999,3,4\n", "curves.csv:2: mean_regret 1e999 is not a number"},
        {HEADER "fig1,h1,80,first,1,2,-3,4\n", "curves.csv:2: sd_regret -3 is negative"},
        {HEADER "fig1,h1,80,first,1.5,2,3,4\n", "curves.csv:2: round 1.5 is not a whole number"},
        {HEADER "fig1,h1,0,first,1,2,3,4\n", "curves.csv:2: d 0 is not a whole number"},
        {HEADER "fig1,h1,80,first,1,2,3,\n", "curves.csv:2: runs \"\" is not a whole number"},
        {HEADER "fig1,h1,80,,1,2,3,4\n", "curves.csv:2: figure, score and algorithm must not be empty"},
        {HEADER "fig1,h1,80,first,2,2,3,4\nfig1,h1,80,first,2,2,3,4\n",
         "curves.csv:3: round 2 does not come after round 2"},
        {HEADER "fig1,h1,80,first,1,2,3,4\nfig1,h1,80,first,2,2,3,5\n",
         "curves.csv:3: runs 5 of a curve that had 4"},
        {OF_EXPECTED "fig1,h1,80,first,1,2,3,4\n", "curves.csv:2: this line does not have 9 fields"},
        {OF_EXPECTED "fig1,h1,80,first,1,2,3,4,hoped\n",
         "curves.csv:2: regret hoped is neither realised nor expected"},
        {OF_EXPECTED "f,h1,80,a,1,2,3,4,expected\nf,h1,80,a,2,2,3,4,realised\n",
         "curves.csv:3: a curve is of one regret"},
        {HEADER "f,h1,80,a,1,2,3,4\nf,h1,80,b,2,2,3,4\nf,h1,80,a,2,2,3,4\n",
         "curves.csv:4: the curve of a in f is in two"},
    };
    const char *folder = temporary_folder(), *path = inside(folder, "curves.csv");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text(path, cases[i].text);
        assert_int_equal(sa_report_check_reference(path, NULL), SA_FORMAT);
        assert_has(sa_last_error(), cases[i].sentence);
    }
    assert_int_equal(sa_report_check_reference(inside(folder, "gone.csv"), NULL), SA_FILE);
}

/* Five rounds here: the published point at round 4 is the last that can be compared. Ours is there at 4/5 of
 * 3. */
static void test_matched(void **state) {
    (void)state;
    const char *folder = temporary_folder(), *path = inside(folder, "published.csv");
    rig_write(inside(folder, "x"), &RIG);
    write_text(path, OF_EXPECTED "fig1,h1,80,first,2,1,0.5,16,expected\r\nfig1,h1,80,first,4,4.8,2,16,"
                                 "expected\r\nfig1,h1,80,first,6,9,2,16,expected\r\n"
                                 "fig1,h1,40,second,4,1,1,20,expected\nfig1,h2,80,second,4,1,1,20,"
                                 "expected\nfig1,h1,80,third,4,1,1,20,expected\n"
                                 "fig1,h1,80,second,100,1,1,20,expected\n");
    sa_report *report = rig_open(inside(folder, "x"));
    assert_null(strstr(sa_report_table(report), "published"));
    assert_int_equal(sa_report_reference(report, path), SA_OK);
    assert_has(sa_report_table(report), "published / ours");
    assert_has(sa_report_table(report), "first, published, round 4    16       4.8000  2.0000");
    assert_has(sa_report_table(report), "2.000\n");
    assert_null(strstr(sa_report_table(report), "second, published"));
    assert_int_equal(sa_report_write(report, NULL), SA_OK);
    assert_has(slurp(inside(folder, "x/table.csv")), "\nx,first,random,published,expected,16,4,4.8,2,");
    assert_has(slurp(inside(folder, "x/report.html")), "first, published");
    sa_report_destroy(report);
}

/* Published curves are compared with ours of the same regret, or not at all. */
static void test_like_with_like(void **state) {
    (void)state;
    const char *folder = temporary_folder(), *path = inside(folder, "published.csv");
    rig_write(inside(folder, "x"), &RIG);
    sa_report *report = rig_open(inside(folder, "x"));
    write_text(path, HEADER "fig1,h1,80,first,5,60,1,16\n"); /* realised, since nothing else is said */
    assert_int_equal(sa_report_check_reference(path, "realised"), SA_OK);
    assert_int_equal(sa_report_check_reference(path, "expected"), SA_INVALID);
    assert_int_equal(sa_report_reference(report, path), SA_INVALID);
    assert_has(sa_last_error(), "the published curves are of realised regret, and expected regret is shown");
    assert_null(strstr(sa_report_table(report), "published"));
    assert_int_equal(sa_report_set(report, "regret", "rumoured"), SA_INVALID);
    assert_int_equal(sa_report_set(report, "regret", "realised"), SA_OK);
    assert_int_equal(sa_report_reference(report, path), SA_OK);
    assert_has(sa_report_table(report), "realised regret after 5 rounds");
    assert_has(sa_report_table(report), "first, published    16       60.000"); /* ours is 30, ten times 3 */
    assert_has(sa_report_table(report), "2.000\n");
    assert_int_equal(sa_report_set(report, "regret", "expected"), SA_OK);
    assert_int_equal(sa_report_write(report, NULL), SA_INVALID);
    sa_report_destroy(report);
}

/* A wrong file leaves the report as it was. */
static void test_kept(void **state) {
    (void)state;
    const char *folder = temporary_folder(), *path = inside(folder, "published.csv");
    rig_write(inside(folder, "x"), &RIG);
    sa_report *report = rig_open(inside(folder, "x"));
    write_text(path, OF_EXPECTED "fig1,h1,80,first,5,6,1,16,expected\n");
    assert_int_equal(sa_report_reference(report, path), SA_OK);
    write_text(path, OF_EXPECTED "fig1,h1,80,first,5,six,1,16,expected\n");
    assert_int_equal(sa_report_reference(report, path), SA_FORMAT);
    assert_has(sa_report_table(report), "first, published");
    sa_report_destroy(report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_matched),
        cmocka_unit_test(test_like_with_like),
        cmocka_unit_test(test_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
