/* The numbers of a report, against values worked out by hand. */
#include "test_report_rig.h"

/* The column-th field (from 0) of the first line that starts with `start`. */
static double field(const char *csv, const char *start, int column) {
    const char *line = strstr(csv, start);
    assert_non_null(line);
    for (; column > 0; column--) {
        line = strchr(line, ',');
        assert_non_null(line++);
    }
    return strtod(line, NULL);
}

static void assert_near(double value, double expected) {
    if (!(value > expected - 1e-9 && value < expected + 1e-9)) fail_msg("%.17g, not %.17g", value, expected);
}

static const char *written(const rig *made) {
    const char *folder = temporary_folder();
    rig_write(inside(folder, "results"), made);
    sa_report *report = rig_open(inside(folder, "results"));
    if (sa_report_write(report, NULL) != SA_OK) fail_msg("%s", sa_last_error());
    sa_report_destroy(report);
    return folder;
}

/* 1, 2, 6: mean 3, deviation sqrt((4 + 1 + 9) / 2); t with 2 degrees of freedom is 4.302652729749464. The
 * differences to 2, 4, 9 are 1, 2, 3: mean 2, deviation 1. */
static void test_statistics(void **state) {
    (void)state;
    const double t = 4.302652729749464, root3 = 1.7320508075688772, sd = 2.6457513110645907;
    const char *csv = slurp(inside(written(&RIG), "results/table.csv"));
    const char *first = "results,first,random,ours,expected", *second = "results,second,random,ours,expected";
    assert_near(field(csv, first, 5), 3);
    assert_near(field(csv, first, 6), 5);
    assert_near(field(csv, first, 7), 3);
    assert_near(field(csv, first, 8), sd);
    assert_near(field(csv, first, 9), 3 - t * sd / root3);
    assert_near(field(csv, first, 10), 3 + t * sd / root3);
    assert_near(field(csv, first, 11), 0);
    assert_near(field(csv, second, 7), 5);
    assert_near(field(csv, second, 11), 2);
    assert_near(field(csv, second, 12), 2 - t / root3);
    assert_near(field(csv, second, 13), 2 + t / root3);
    assert_near(field(csv, second, 14), 0.5);
    assert_near(field(csv, second, 15), 2500000);
    assert_near(field(csv, second, 16), 3);
    assert_near(field(csv, "results,second,random,ours,realised", 7), 50);
    assert_near(field(csv, "results,second,random,ours,realised", 13), 20 + 10 * t / root3);
}

static void test_text(void **state) {
    (void)state;
    const char *folder = temporary_folder();
    rig_write(folder, &RIG);
    sa_report *report = rig_open(folder);
    const char *table = sa_report_table(report);
    assert_has(table, "h1(x) = x'a, d = 80: expected regret after 5 rounds\n");
    assert_has(table, "agent   runs  mean regret      sd        95% interval   worst  minus first");
    assert_has(
        table,
        "second     3       5.0000  3.6056  -3.9567 to 13.9567  9.0000       2.0000  -0.4841 to 4.4841");
    assert_has(table, "2.5 MB");
    sa_report_destroy(report);
}

static void test_shown_regret(void **state) {
    (void)state;
    rig realised = RIG;
    realised.options = "show-regret: realised\nenvironment: h2\n";
    const char *folder = temporary_folder();
    rig_write(folder, &realised);
    sa_report *report = rig_open(folder);
    assert_has(sa_report_table(report), "(x'a)\u00b2, d = 80: realised regret after 5 rounds");
    assert_has(sa_report_table(report), "50.000");
    sa_report_destroy(report);
}

/* With one run there is neither a deviation nor an interval. */
static void test_one_run(void **state) {
    (void)state;
    rig one = RIG;
    one.runs = 1;
    const char *folder = temporary_folder();
    rig_write(folder, &one);
    sa_report *report = rig_open(folder);
    assert_has(sa_report_table(report), "second     1       2.0000");
    assert_null(strstr(sa_report_table(report), " to "));
    assert_has(sa_report_table(report), "2.0000   -             -      -       1.0000");
    sa_report_destroy(report);
}

/* Where users click, clicks are told beside the regret: 100, 200, 600 and 200, 400, 900 here. */
static void test_clicks(void **state) {
    (void)state;
    const double t = 4.302652729749464, root3 = 1.7320508075688772;
    rig clicked = RIG;
    clicked.options = "show-regret: expected\nclicks: cascade\n";
    const char *folder = written(&clicked), *csv = slurp(inside(folder, "results/table.csv"));
    assert_near(field(csv, "results,first,random,ours,clicks", 7), 300);
    assert_near(field(csv, "results,second,random,ours,clicks", 11), 200);
    assert_near(field(csv, "results,second,random,ours,clicks", 13), 200 + 100 * t / root3);
    assert_has(slurp(inside(folder, "results/curves.csv")), "\nresults,second,clicks,5,500,");
    assert_has(slurp(inside(folder, "results/report.html")), "<th scope=\"col\">clicks</th>");
    sa_report *report = rig_open(inside(folder, "results"));
    assert_has(sa_report_table(report), "95% interval  clicks      95% interval  s/run");
    assert_has(sa_report_table(report), " 500.0  ");
    sa_report_destroy(report);
    assert_null(strstr(slurp(inside(written(&RIG), "results/table.csv")), "clicks"));
}

/* Writes the rig's folder with a certificate of each agent in summary.json, as text. */
static const char *certified(const rig *made, const char *first, const char *second) {
    const char *folder = temporary_folder();
    rig_write(inside(folder, "results"), made);
    sa_buffer summary = {0};
    const char *kept[2] = {first, second};
    const char *text = slurp(inside(folder, "results/summary.json")), *end;
    for (size_t i = 0; (end = strstr(text, ": 3}")); text = end + 3, i++) {
        sa_buffer_bytes(&summary, text, (size_t)(end + 3 - text));
        sa_buffer_format(&summary, ", \"certificate\": %s", kept[i]);
    }
    sa_buffer_text(&summary, text);
    write_text(inside(folder, "results/summary.json"), summary.text);
    sa_buffer_clear(&summary);
    return folder;
}

/* A column of its own where widths are not exact; in table.csv always. */
static void test_certificate(void **state) {
    (void)state;
    const char *folder = certified(&RIG, "1", "1.25");
    sa_report *report = rig_open(inside(folder, "results"));
    assert_has(sa_report_table(report), "diverged  certificate\n");
    assert_has(sa_report_table(report), "       3        1.000\n");
    assert_has(sa_report_table(report), "       3        1.250\n");
    if (sa_report_write(report, NULL) != SA_OK) fail_msg("%s", sa_last_error());
    sa_report_destroy(report);
    const char *page = slurp(inside(folder, "results/report.html")),
               *csv = slurp(inside(folder, "results/table.csv"));
    assert_has(page, "<th scope=\"col\">certificate</th>");
    assert_has(page, "<td>1.250</td>");
    assert_has(page, "Certificate: by at most");
    assert_has(csv,
               "published_by_ours,certificate,worst,against,display,wall_seconds_per_run,select_seconds,");
    assert_near(field(csv, "results,first,random,ours,expected", 18), 1);
    assert_near(field(csv, "results,second,random,ours,realised", 18), 1.25);

    rig later = RIG; /* joined, the largest counts */
    later.first = 3;
    const char *halves[2] = {inside(folder, "results"), inside(certified(&later, "null", "1.75"), "results")};
    assert_int_equal(sa_report_open(halves, 2, &report), SA_OK);
    assert_has(sa_report_table(report), "       6        1.000\n");
    assert_has(sa_report_table(report), "       6        1.750\n");
    sa_report_destroy(report);

    report = rig_open(inside(certified(&RIG, "null", "1.25"), "results"));
    assert_has(sa_report_table(report), "       3            -\n");
    sa_report_destroy(report);
    report = rig_open(inside(certified(&RIG, "1", "null"), "results")); /* all that there are, are exact */
    assert_null(strstr(sa_report_table(report), "certificate"));
    sa_report_destroy(report);
}

/* What a folder of an older version does not have is not known, and not 0. */
static void test_column_by_name(void **state) {
    (void)state;
    sa_report *report = rig_open(inside(written(&RIG), "results"));
    assert_int_equal(sa_report_set(report, "columns", "diverged,switches"), SA_OK);
    assert_int_equal(sa_report_finish(report), SA_OK);
    assert_has(sa_report_table(report), "agent   diverged  switches\nfirst          3         -\n");
    assert_int_equal(sa_report_set(report, "columns", "swaps"), SA_INVALID);
    assert_has(sa_last_error(), "--columns swaps is not one of agent, runs, mean,");
    assert_has(sa_last_error(), ", diverged, certificate, switches, ratio");
    assert_int_equal(sa_report_set(report, "columns", ""), SA_INVALID);
    sa_report_destroy(report);
}

static void test_wrong_certificates(void **state) {
    (void)state;
    static const char *const wrong[] = {"0.5", "-1", "\"2\"", "[]", "true"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *folder = inside(certified(&RIG, "1", wrong[i]), "results");
        assert_has(rig_refused(&folder, 1, SA_FORMAT),
                   "the certificate of agent second is not a number of at least 1");
    }
}

static size_t lines(const char *text) {
    size_t count = 0;
    for (; *text; text++) count += *text == '\n';
    return count;
}

static void test_curves(void **state) {
    (void)state;
    const char *csv = slurp(inside(written(&RIG), "results/curves.csv"));
    assert_int_equal(strncmp(csv, "panel,label,regret,round,mean,sd\n", 33), 0);
    assert_int_equal(lines(csv), 1 + 2 * 2 * 5);
    assert_has(csv, "\nresults,first,expected,5,3,2.64575131106459");
    rig longer = RIG;
    longer.rounds = 401; /* every 5th and the last */
    csv = slurp(inside(written(&longer), "results/curves.csv"));
    assert_int_equal(lines(csv), 1 + 2 * 2 * 81);
    assert_has(csv, "\nresults,second,realised,400,");
    assert_has(csv, "\nresults,second,realised,401,50,");
}

static void test_csv_quotes(void **state) {
    (void)state;
    const rig_agent odd[] = {{"one, \"two\"", RIG_FIRST}};
    rig made = RIG;
    made.agents = odd;
    made.count = 1;
    assert_has(slurp(inside(written(&made), "results/table.csv")),
               "\nresults,\"one, \"\"two\"\"\",random,ours,expected,3,5,3,");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statistics),  cmocka_unit_test(test_column_by_name),
        cmocka_unit_test(test_text),        cmocka_unit_test(test_shown_regret),
        cmocka_unit_test(test_one_run),     cmocka_unit_test(test_curves),
        cmocka_unit_test(test_csv_quotes),  cmocka_unit_test(test_clicks),
        cmocka_unit_test(test_certificate), cmocka_unit_test(test_wrong_certificates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
