/* superarm run --clicks as people see it: the table, the report, and sentences about wrong input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "program.h"
#include "test_own_folder.h"

#define SMALL "run --environment h2 --algorithm best,random --rounds 30 --arms 8 --slate 3 --dim 4 "

static void has(const char *text, const char *words) {
    if (!strstr(text, words)) fail_msg("no \"%s\" in: %s", words, text);
}

static void test_tables(void **state) {
    (void)state;
    outcome *got =
        fine(run(folder, SMALL "--clicks position --examination 0.4,1,0.2 --runs 2 --out %s/out", folder));
    has(got->out, "95% interval");
    has(got->out, "    clicks     s/run");
    has(fine(run(folder, "report %s/out", folder))->out, "  clicks  ");
    has(fine(run(folder, SMALL "--clicks cascade --runs 1"))->out, "           -  -    ");
    assert_null(strstr(fine(run(folder, SMALL "--runs 2"))->out, "clicks"));
    assert_true(sa_file_exists(inside(folder, "out/best/clicks.npy")));
    has(fine(run(folder, "run %s/out/spec.yaml --out %s/again", folder, folder))->out, "clicks");
    assert_same_file(inside(folder, "out/random/clicks.npy"), inside(folder, "again/random/clicks.npy"));
}

static void test_wrong(void **state) {
    (void)state;
    refused(run(folder, SMALL "--clicks never"), "--clicks never is not one of none, position, cascade");
    refused(run(folder, SMALL "--clicks position"), "--clicks position needs --examination");
    refused(run(folder, SMALL "--clicks position --examination 1,1"),
            "--examination: 2 numbers, and there are 3 positions");
    refused(run(folder, SMALL "--examination 1,1,1"), "--examination is for --clicks position");
    refused(run(folder, SMALL "--clicks cascade --leave 2"), "--leave 2 is more than 1");
    refused(run(folder, SMALL "--clicks cascade --noise 1"), "--noise is not for clicks of 0 and 1");
    refused(run(folder, SMALL "--clicks cascade --oracle assortment --revenues 1,1,1,1,1,1,1,1"),
            "--oracle assortment has no positions");
    refused(run(folder, SMALL "--costs 1,2,3"), "--costs is not for the oracle of any agent");
    refused(run(folder, "draw --clicks cascade --out %s/draw", folder), "--clicks is for runs");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables), cmocka_unit_test(test_wrong)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
