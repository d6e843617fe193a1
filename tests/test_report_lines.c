/* Lines of a figure: the paper's agents have the paper's colours, no two agents are drawn alike, and the
 * colours of all others can be told apart also by those who see fewer. */
#include <math.h>

#include "report/report.h"
#include "test_file_scratch.h"
#include "test_parts.h"

enum { MOST = 45 };

typedef struct rig {
    sa_report_panel panel;
    sa_report_agent agents[MOST];
    sa_agent_runs runs[MOST];
    char labels[MOST][32];
} rig;

static void add(rig *self, const char *label, const char *algorithm) {
    sa_agent_runs *agent = &self->runs[self->panel.agent_count];
    self->agents[self->panel.agent_count].of = agent;
    snprintf(self->labels[self->panel.agent_count++], sizeof self->labels[0], "%s", label);
    agent->label = self->labels[self->panel.agent_count - 1];
    sa_options *options = sa_options_new(NULL);
    assert_non_null(options);
    assert_ok(sa_options_set_any(options, "algorithm", algorithm));
    agent->options = options;
    self->panel.agents = self->agents;
}

static void add_others(rig *self, size_t count) {
    char label[32];
    for (size_t i = 0; i < count; i++) {
        snprintf(label, sizeof label, "other-%zu", i);
        add(self, label, "cn-ucb");
    }
}

static void clear(rig *self) {
    for (size_t i = 0; i < self->panel.agent_count; i++) sa_options_destroy(self->runs[i].options);
}

/* Also what is drawn of them. */
static void assert_all_differ(const rig *self) {
    for (size_t i = 0; i < self->panel.agent_count; i++)
        for (size_t j = 0; j < i; j++) {
            sa_line one = sa_agent_line(&self->panel, i), other = sa_agent_line(&self->panel, j);
            sa_buffer drawn = {0}, beside = {0};
            if (!strcmp(one.colour, other.colour) && one.dashes == other.dashes)
                fail_msg("agents %zu and %zu are both %s with dashes %zu", j, i, one.colour, one.dashes);
            sa_figure_swatch(&drawn, &self->panel, i, false);
            sa_figure_swatch(&beside, &self->panel, j, false);
            assert_string_not_equal(drawn.text, beside.text);
            sa_buffer_clear(&drawn);
            sa_buffer_clear(&beside);
        }
}

static void no_two_agents_are_alike(void **state) {
    (void)state;
    rig alone = {0}, mixed = {0};
    add_others(&alone, MOST);
    assert_all_differ(&alone);
    add(&mixed, "cn-ucb", "cn-ucb");
    add_others(&mixed, 9);
    add(&mixed, "comblin-ts", "comblin-ts");
    add(&mixed, "cn-ts", "cn-ts");
    assert_all_differ(&mixed);
    clear(&alone);
    clear(&mixed);
}

/* Whatever stands beside them, and solid. */
static void the_papers_agents_keep_theirs(void **state) {
    (void)state;
    static const char *const kept[][2] = {{"cn-ucb", "#0072B2"},
                                          {"cn-ts", "#D55E00"},
                                          {"cn-ts1", "#E69F00"},
                                          {"comblin-ucb", "#009E73"},
                                          {"comblin-ts", "#CC79A7"}};
    rig self = {0};
    add_others(&self, 7);
    for (size_t i = 0; i < 5; i++) add(&self, kept[i][0], kept[i][0]);
    for (size_t i = 0; i < 5; i++) {
        sa_line line = sa_agent_line(&self.panel, 7 + i);
        assert_string_equal(line.colour, kept[i][1]);
        assert_int_equal(line.dashes, 0);
    }
    assert_all_differ(&self);
    clear(&self);
}

/* ---- colours as they are seen ---- */

/* Linear RGB as seen without red, green or blue cones: Machado, Oliveira and Fernandes 2009, severity 1. */
static const double SEEN[4][3][3] = {
    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
    {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}};

static double curve(double t) { return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116; }

/* CIE L*a*b* of an sRGB colour. */
static void see(const char *colour, const double seen[3][3], double lab[3]) {
    static const double xyz[3][3] = {
        {0.4124, 0.3576, 0.1805}, {0.2126, 0.7152, 0.0722}, {0.0193, 0.1192, 0.9505}};
    static const double white[3] = {0.9505, 1, 1.089};
    double rgb[3], shown[3] = {0}, f[3];
    unsigned long code = strtoul(colour + 1, NULL, 16);
    for (int i = 0; i < 3; i++) {
        double c = (double)(code >> (16 - 8 * i) & 255) / 255;
        rgb[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) shown[i] += seen[i][j] * rgb[j];
        shown[i] = fmin(1, fmax(0, shown[i]));
    }
    for (int i = 0; i < 3; i++)
        f[i] = curve((xyz[i][0] * shown[0] + xyz[i][1] * shown[1] + xyz[i][2] * shown[2]) / white[i]);
    lab[0] = 116 * f[1] - 16;
    lab[1] = 500 * (f[0] - f[1]);
    lab[2] = 200 * (f[1] - f[2]);
}

/* Ten colours before dashes come; two of a difference of 2 are just told apart side by side. All stand out
 * from white. */
static void colours_can_be_told_apart(void **state) {
    (void)state;
    rig self = {0};
    add_others(&self, 10);
    double least = INFINITY;
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(sa_agent_line(&self.panel, i).dashes, 0);
        for (int eye = 0; eye < 4; eye++) {
            double one[3], other[3];
            see(sa_agent_line(&self.panel, i).colour, SEEN[eye], one);
            assert_true(one[0] < 80);
            for (size_t j = 0; j < i; j++) {
                see(sa_agent_line(&self.panel, j).colour, SEEN[eye], other);
                double apart = hypot(hypot(one[0] - other[0], one[1] - other[1]), one[2] - other[2]);
                least = fmin(least, apart);
            }
        }
    }
    print_message("the two most alike are %.1f apart\n", least);
    assert_true(least > 15);
    clear(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_two_agents_are_alike),
                                       cmocka_unit_test(the_papers_agents_keep_theirs),
                                       cmocka_unit_test(colours_can_be_told_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
