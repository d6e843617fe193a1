/* Folders of one experiment are merged; others are refused with the reason. */
#include "test_report_rig.h"

#include "results/folder.h"

static const char *part_options = "show-regret: expected\n";

static rig part(size_t first, size_t runs, rig_agent agents[2]) {
    rig made = RIG;
    made.options = part_options;
    for (size_t i = 0; i < 2; i++) agents[i] = (rig_agent){RIG_AGENTS[i].label, RIG_AGENTS[i].final + first};
    made.first = first;
    made.runs = runs;
    made.agents = agents;
    return made;
}

static const char *write_part(const char *folder, size_t first, size_t runs) {
    rig_agent agents[2];
    rig made = part(first, runs, agents);
    rig_write(folder, &made);
    return folder;
}

static void report_to(const char *const *folders, size_t count, const char *out) {
    sa_report *report = NULL;
    if (sa_report_open(folders, count, &report) != SA_OK || sa_report_write(report, out) != SA_OK)
        fail_msg("%s", sa_last_error());
    assert_has(sa_report_page(report), "/report.html");
    sa_report_destroy(report);
}

/* In whatever order they are given. The sums of diverged trainings differ, as each part has three. */
static void test_halves(void **state) {
    (void)state;
    const char *root = temporary_folder();
    const char *halves[] = {write_part(inside(root, "b/x"), 2, 1), write_part(inside(root, "a/x"), 0, 2)};
    const char *whole = write_part(inside(root, "x"), 0, 3);
    report_to(halves, 2, inside(root, "merged"));
    report_to(&whole, 1, inside(root, "unmerged"));
    assert_same_file(inside(root, "merged/curves.csv"), inside(root, "unmerged/curves.csv"));
    char *merged = slurp(inside(root, "merged/table.csv"));
    for (char *six; (six = strstr(merged, ",2500000,6,"));) six[9] = '3';
    assert_string_equal(merged, slurp(inside(root, "unmerged/table.csv")));
    assert_has(slurp(inside(root, "merged/report.html")), "Runs 2 to 2 from <code>");
    assert_false(sa_file_exists(inside(root, "b/x/report.html")));
}

static void test_clicks(void **state) {
    (void)state;
    part_options = "show-regret: expected\nclicks: cascade\n";
    const char *root = temporary_folder();
    const char *halves[] = {write_part(inside(root, "b/x"), 2, 1), write_part(inside(root, "a/x"), 0, 2)};
    const char *whole = write_part(inside(root, "x"), 0, 3);
    report_to(halves, 2, inside(root, "merged"));
    report_to(&whole, 1, inside(root, "unmerged"));
    assert_same_file(inside(root, "merged/curves.csv"), inside(root, "unmerged/curves.csv"));
    assert_has(slurp(inside(root, "merged/curves.csv")), ",clicks,");
    assert_int_equal(sa_path_remove(inside(root, "a/x/first/clicks.npy")), SA_OK);
    assert_has(rig_refused(halves, 2, SA_FILE), "clicks.npy");
    part_options = "show-regret: expected\n";
}

static void test_overlap(void **state) {
    (void)state;
    const char *root = temporary_folder();
    const char *folders[] = {write_part(inside(root, "a"), 0, 2), write_part(inside(root, "b"), 1, 2)};
    const char *whole = write_part(inside(root, "x/a"), 0, 3);
    report_to(folders, 2, inside(root, "merged")); /* run 1 is the same in both */
    report_to(&whole, 1, inside(root, "unmerged"));
    assert_same_file(inside(root, "merged/curves.csv"), inside(root, "unmerged/curves.csv"));
    poke_npy(inside(root, "b/second/reward.npy"), 0, 77);
    assert_has(rig_refused(folders, 2, SA_INVALID), "run 1 of agent second is in both ");
}

static void test_options(void **state) {
    (void)state;
    const char *root = temporary_folder(), *folders[] = {inside(root, "a"), inside(root, "b")};
    rig_agent agents[2];
    write_part(folders[0], 0, 2);
    rig other = part(2, 1, agents);
    other.options = "show-regret: expected\nenvironment: h3\n";
    rig_write(folders[1], &other);
    assert_has(rig_refused(folders, 2, SA_INVALID),
               "are different experiments: --environment is h1 here and h3 there");
    other.options = "show-regret: expected\ngamma: 2\n";
    rig_write(folders[1], &other);
    assert_has(rig_refused(folders, 2, SA_INVALID), "agent first: --gamma is ");
    other = part(2, 1, agents);
}

/* By agent as well as by run: what is not there is said. The merged folder is a result as others are. */
static void test_agents(void **state) {
    (void)state;
    const char *root = temporary_folder(), *folders[] = {inside(root, "a"), inside(root, "b")};
    rig_agent agents[2];
    write_part(folders[0], 0, 2);
    rig other = part(1, 2, agents);
    agents[1].label = "third";
    rig_write(folders[1], &other);
    report_to(folders, 2, inside(root, "merged"));
    const char *merged = inside(root, "merged");
    sa_report *report = rig_open(merged);
    assert_has(sa_report_table(report), "missing: second run 2; third run 0\n");
    assert_has(sa_report_table(report), "\nfirst      3 ");
    assert_has(sa_report_table(report), "\nthird      2 ");
    sa_report_destroy(report);
    sa_results stored;
    assert_int_equal(sa_folder_read(merged, &stored), SA_OK);
    assert_int_equal(stored.agent_count, 3);
    assert_int_equal(stored.agents[2].run[0].run, 1);
    assert_true(stored.agents[2].curve[SA_CURVE_EXPECTED][4] == RIG_SECOND[1]);
    assert_int_equal(sa_results_missing(&stored), 2);
    sa_results_clear(&stored);
    report_to(folders, 2, merged); /* once more */
    sa_report *refused = NULL;
    assert_int_equal(sa_report_open(folders, 2, &refused), SA_OK);
    write_part(inside(root, "c"), 0, 1);
    assert_int_equal(sa_report_write(refused, inside(root, "c")), SA_INVALID);
    assert_has(sa_last_error(), "holds an experiment of its own");
    sa_report_destroy(refused);
}

static const char *const PANELS[] = {"h1", "h2"};

static const char *write_figure(const char *folder, const char *name, size_t first, size_t runs) {
    char path[256];
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, PANELS[i]);
        write_part(path, first, runs);
    }
    assert_int_equal(sa_figure_write(folder, name, "A <title>", "superarm reproduce 'x'", PANELS, 2), SA_OK);
    return folder;
}

static void test_figures(void **state) {
    (void)state;
    const char *root = temporary_folder();
    const char *folders[] = {write_figure(inside(root, "a"), "fig1", 0, 2),
                             write_figure(inside(root, "b"), "fig1", 2, 1)};
    report_to(folders, 2, NULL);
    assert_has(slurp(inside(root, "a/table.csv")), "\nh2,second,random,ours,expected,3,5,5,");
    assert_has(slurp(inside(root, "a/report.html")), "<h1>A &lt;title&gt;</h1>");
    const char *mixed[] = {folders[0], inside(root, "b/h1")};
    assert_has(rig_refused(mixed, 2, SA_INVALID), "is the folder of a figure and");
    write_figure(inside(root, "c"), "fig2", 2, 1);
    const char *others[] = {folders[0], inside(root, "c")};
    assert_has(rig_refused(others, 2, SA_INVALID), "is fig1 with 2 panels and");
}

static void test_bad_figures(void **state) {
    (void)state;
    static const struct {
        const char *text, *sentence;
        sa_status status;
    } cases[] = {
        {"{\"format\": 1, \"fig", "figure.json:1: ", SA_FORMAT},
        {"{\"format\": 2}", "written by a newer version", SA_NEWER},
        {"{\"format\": 1, \"figure\": \"fig1\", \"title\": \"\", \"command\": \"\", \"panels\": []}",
         "no figure", SA_FORMAT},
        {"{\"format\": 1, \"figure\": \"../x\", \"title\": \"\", \"command\": \"\", \"panels\": [\"h1\"]}",
         "no figure", SA_FORMAT},
        {"{\"format\": 1, \"figure\": \"fig1\", \"title\": \"\", \"command\": \"\", \"panels\": [\"../h1\"]}",
         "panel 1", SA_FORMAT},
        {"{\"format\": 1, \"figure\": \"fig1\", \"title\": \"\", \"command\": \"\", \"panels\": [7]}",
         "panel 1", SA_FORMAT},
        {"{\"format\": 1, \"figure\": \"fig1\", \"title\": \"\", \"command\": \"\", \"panels\": [\"gone\"]}",
         "/gone", SA_FILE},
    };
    const char *root = temporary_folder();
    write_figure(root, "fig1", 0, 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text(inside(root, "figure.json"), cases[i].text);
        assert_has(rig_refused(&root, 1, cases[i].status), cases[i].sentence);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_halves),  cmocka_unit_test(test_overlap),     cmocka_unit_test(test_options),
        cmocka_unit_test(test_figures), cmocka_unit_test(test_bad_figures), cmocka_unit_test(test_clicks),
        cmocka_unit_test(test_agents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
