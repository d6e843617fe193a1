/* report.html: well-formed, self-contained, escaped; and there without gnuplot, too. */
#include <ctype.h>

#include "test_report_rig.h"

/* ---- a tiny checker: every tag is closed, in order ---- */

static bool is_void(const char *name) { return !strcmp(name, "meta") || !strcmp(name, "!DOCTYPE"); }

static void check_tags(const char *page) {
    char open[64][32];
    size_t depth = 0;
    for (const char *c = strchr(page, '<'); c; c = strchr(c, '<')) {
        char name[32] = "";
        bool closes = *++c == '/';
        c += closes;
        for (size_t i = 0; *c && !isspace((unsigned char)*c) && *c != '>' && *c != '/' && i < 31; i++)
            name[i] = *c++;
        for (char quote = 0; *c && (quote || *c != '>'); c++) { /* to the end of the tag */
            if (quote ? *c == quote : *c == '"' || *c == '\'') quote = quote ? 0 : *c;
            if (!quote) assert_int_not_equal(*c, '<');
        }
        assert_int_equal(*c, '>');
        bool alone = c[-1] == '/' || is_void(name);
        if (closes) {
            if (depth == 0 || strcmp(open[--depth], name)) fail_msg("</%s> closes <%s>", name, open[depth]);
        } else if (!alone) {
            assert_true(depth < 64);
            strcpy(open[depth++], name);
        }
    }
    assert_int_equal(depth, 0);
}

static void check_alone(const char *page) {
    static const char *const links[] = {"http:", "https:",  " src=",   "@import",
                                        "<link", "<script", "<iframe", "url(h"};
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (strstr(page, links[i])) fail_msg("the page has %s: %.80s", links[i], strstr(page, links[i]));
    for (const char *c = page; (c = strstr(c, "href=")); c += 5) assert_int_equal(c[6], '#');
}

/* ---- pages ---- */

static const rig_agent ODD[] = {{"<b>&\"bold\"", RIG_FIRST}, {"it's `touch x` $(y) @z \\ %d", RIG_SECOND}};

static void write_page(const char *folder, sa_report *report) {
    if (sa_report_write(report, folder) != SA_OK) fail_msg("%s", sa_last_error());
    sa_report_destroy(report);
}

static bool have_gnuplot(void) { return !system("command -v gnuplot >/dev/null 2>&1"); }

static void test_well_formed(void **state) {
    (void)state;
    rig made = RIG;
    made.agents = ODD;
    const char *folder = temporary_folder();
    rig_write(folder, &made);
    write_page(folder, rig_open(folder));
    const char *page = slurp(inside(folder, "report.html"));
    check_tags(page);
    check_alone(page);
    assert_has(page, "&lt;b&gt;&amp;&quot;bold&quot;");
    assert_null(strstr(page, "<b>"));
    assert_has(page, "name=\"viewport\"");
    assert_has(page, "@media print");
    assert_has(page, "<details>");
    assert_has(page, "<pre>superarm run ");
    assert_has(page, "/spec.yaml --out NEW");
    if (!have_gnuplot()) skip();
    assert_has(page, "<figure");
    assert_has(page, "id='p1-gp");
    assert_has(slurp(inside(folder, "regret.svg")), "Cumulative expected regret");
    assert_int_equal(memcmp(slurp(inside(folder, "regret.png")), "\x89PNG", 4), 0);
    assert_false(sa_file_exists("x"));
}

/* What agents differ in comes first, then what differs from the preset; all else is folded. */
static void test_options(void **state) {
    (void)state;
    rig made = RIG;
    made.options = "preset: icml23\nnoise: 0.25\ngamma: 5\n";
    const char *folder = temporary_folder();
    rig_write(folder, &made);
    char spec[1024];
    snprintf(spec, sizeof spec, "%s    gamma: 7\n",
             slurp(inside(folder, "spec.yaml"))); /* of the last agent */
    write_text(inside(folder, "spec.yaml"), spec);
    write_page(folder, rig_open(folder));
    const char *page = slurp(inside(folder, "report.html")),
               *agents = strstr(page, "In which the agents differ");
    const char *preset = strstr(page, "In which all differ from the preset icml23"),
               *rest = strstr(page, "<details>");
    assert_non_null(agents);
    assert_true(agents < preset && preset < rest);
    assert_has(agents, "<th scope=\"row\">--gamma</th><td>5</td><td>7</td>");
    assert_has(preset, "<th scope=\"row\">--noise</th><td>0.25</td><td>0.01</td>");
    assert_null(strstr(preset, "--gamma"));
    assert_true(strstr(page, "--regularization") > rest);
}

/* A page of a sweep over `grid`, whose cells end like RIG_FIRST, all of them. */
static const char *sweep_page(const char *grid, const char *const *cells, size_t count, const char *columns) {
    rig_agent agents[16];
    rig made = RIG;
    char spec[1024];
    assert_true(count <= sizeof agents / sizeof *agents);
    for (size_t i = 0; i < count; i++) agents[i] = (rig_agent){cells[i], RIG_FIRST};
    made.agents = agents;
    made.count = count;
    const char *folder = temporary_folder();
    rig_write(folder, &made);
    snprintf(spec, sizeof spec, "environment: h2\nruns: 3\nrounds: 5\nalgorithm: random\ngrid:\n%s", grid);
    write_text(inside(folder, "spec.yaml"), spec);
    sa_report *report = rig_open(folder);
    if (columns && sa_report_set(report, "columns", columns) != SA_OK) fail_msg("%s", sa_last_error());
    write_page(folder, report);
    return slurp(inside(folder, "report.html"));
}

/* What cells differ in may be of their environment: nothing is said of all cells that is not true of all. */
static void test_sweep_of_environments(void **state) {
    (void)state;
    static const char *const cells[] = {"noise=0,dim=5,slate=2", "noise=0,dim=10,slate=2",
                                        "noise=0.3,dim=5,slate=2", "noise=0.3,dim=10,slate=2"};
    const char *page = sweep_page("  noise: [0, 0.3]\n  dim: [5, 10]\n  slate: [2]\n", cells, 4, NULL),
               *differ = strstr(page, "In which the cells differ"),
               *all = strstr(page, "In which all differ");
    assert_non_null(differ);
    assert_non_null(all);
    assert_true(differ < all);
    assert_has(differ, "--noise</th><td>0</td><td>0</td><td>0.3</td><td>0.3</td>");
    assert_has(differ, "--dim</th><td>5</td><td>10</td><td>5</td><td>10</td>");
    assert_null(strstr(all, "--noise<"));
    assert_null(strstr(all, "--dim<"));
    assert_has(all, "--slate</th><td>2</td><td>4</td>");
    assert_has(page, "cells that share the environment see the same contexts and scores");
    assert_null(strstr(page, "all agents of a run see"));
    assert_has(page, "Expected regret after 5 rounds, slates out of 20 arms.");
}

static void test_sweep_of_agents(void **state) {
    (void)state;
    static const char *const cells[] = {"gamma=1", "gamma=2"};
    const char *page = sweep_page("  gamma: [1, 2]\n", cells, 2, NULL);
    assert_has(page, "In which the cells differ");
    assert_has(page, "--gamma</th><td>1</td><td>2</td>");
    assert_has(page, "all agents of a run see the same contexts and scores");
    assert_has(page, "<pre>superarm sweep ");
    assert_has(page, "Expected regret after 5 rounds, slates of 4 out of 20 arms.");
}

/* A figure has the curves of twelve cells: of how many, is said beside it. */
static void test_cells_left_out(void **state) {
    (void)state;
    static const char *const cells[] = {"gamma=1",  "gamma=2",  "gamma=3", "gamma=4", "gamma=5",
                                        "gamma=6",  "gamma=7",  "gamma=8", "gamma=9", "gamma=10",
                                        "gamma=11", "gamma=12", "gamma=13"};
    const char *twelve = "  gamma: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]\n",
               *more = "  gamma: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]\n";
    if (!have_gnuplot()) skip();
    assert_null(strstr(sweep_page(twelve, cells, 12, NULL), "The figure shows"));
    assert_has(
        sweep_page(more, cells, 13, NULL),
        "<p>The figure shows 12 of 13 cells, those with the least mean regret; the table has all.</p>");
    assert_has(strstr(sweep_page(more, cells, 13, NULL), "<svg"), "Round (12 of 13 cells are drawn)");
}

/* A word is explained where it stands: in a column, or in the heat map of two options. */
static void test_not_worse(void **state) {
    (void)state;
    static const char *const cells[] = {"gamma=1", "gamma=2"}, *const pairs[] = {"gamma=1,nu=1",
                                                                                 "gamma=2,nu=1"};
    const char *one = "  gamma: [1, 2]\n", *two = "  gamma: [1, 2]\n  nu: [1]\n";
    assert_has(sweep_page(one, cells, 2, NULL), "<em>not worse</em> says");
    assert_has(sweep_page(one, cells, 2, "mean,standing"), "<em>not worse</em> says");
    assert_has(sweep_page(two, pairs, 2, "mean,sd"), "<em>not worse</em> says");
    assert_null(strstr(sweep_page(one, cells, 2, "mean,sd"), "Cells are compared"));
    assert_has(sweep_page(one, cells, 2, "mean,p"), "the best that sees the same draws, run by run.</p>");
}

static void test_without_gnuplot(void **state) {
    (void)state;
    const char *folder = temporary_folder(), *path = getenv("PATH");
    char *kept = path ? strdup(path) : NULL;
    rig_write(folder, &RIG);
    sa_report *report = rig_open(folder);
    setenv("PATH", "", 1);
    sa_status status = sa_report_write(report, NULL);
    if (kept) setenv("PATH", kept, 1);
    free(kept);
    assert_int_equal(status, SA_OK);
    assert_string_equal(sa_report_note(report),
                        "There are no figures: gnuplot is not installed (Debian package gnuplot-nox).");
    assert_true(sa_file_exists(inside(folder, "table.csv")));
    assert_false(sa_file_exists(inside(folder, "regret.svg")));
    const char *page = slurp(inside(folder, "report.html"));
    assert_has(page, "There are no figures");
    assert_null(strstr(page, "<figure"));
    check_tags(page);
    sa_report_destroy(report);
}

/* What gnuplot says when it fails is in the sentence. */
static void test_gnuplot_fails(void **state) {
    (void)state;
    sa_buffer script = {0}, out = {0};
    if (!have_gnuplot()) skip();
    sa_buffer_text(&script, "plot nothing_of_this_name\n");
    assert_int_equal(sa_gnuplot(&script, &out), SA_UNSUPPORTED);
    assert_has(sa_last_error(), "gnuplot failed: ");
    assert_has(sa_last_error(), "nothing_of_this_name");
    sa_buffer_clear(&out);
    sa_buffer_clear(&script);
}

static void test_unwritable(void **state) {
    (void)state;
    const char *folder = temporary_folder();
    rig_write(folder, &RIG);
    sa_report *report = rig_open(folder);
    assert_int_equal(sa_report_write(report, inside(folder, "spec.yaml")), SA_FILE);
    assert_string_equal(sa_report_page(report), "");
    sa_report_destroy(report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_well_formed),     cmocka_unit_test(test_options),
        cmocka_unit_test(test_without_gnuplot), cmocka_unit_test(test_gnuplot_fails),
        cmocka_unit_test(test_unwritable),      cmocka_unit_test(test_sweep_of_environments),
        cmocka_unit_test(test_sweep_of_agents), cmocka_unit_test(test_cells_left_out),
        cmocka_unit_test(test_not_worse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
