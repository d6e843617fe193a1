/* Settings from a client and from a journal: a floor is by place, but in journals that say nothing of it, and
 * for agents that have another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "settings.h"

static const char OLDER[] = "{\"options\": {\"dim\": 2, \"floor\": 0.1}, \"default_feedback\": 0}";

static sv_settings *put(const char *body, const sv_settings *before) {
    sv_refusal why = {0};
    bool reset;
    sa_json parsed = {0};
    assert_int_equal(sa_json_parse(&parsed, body, strlen(body)), SA_OK);
    sv_settings *made = sv_settings_read(&parsed, before, &reset, &why);
    sa_json_clear(&parsed);
    if (!made) fail_msg("%s", why.message);
    return made;
}

static const char *floor_of(const sv_settings *settings) {
    const sv_option *by = sv_options_find(&settings->options, "floor-by");
    return by ? by->value : "none";
}

static void test_floors(void **state) {
    (void)state;
    sv_refusal why = {0};
    sv_settings *older = sv_settings_read_text(OLDER, strlen(OLDER), &why), *fresh = put(OLDER, NULL),
                *again = put(OLDER, older), *none = put("{\"options\": {\"dim\": 2}}", older),
                *reset = put("{\"options\": {\"dim\": 2, \"floor\": 0.1}, \"reset\": true}", older);
    assert_non_null(older);
    assert_string_equal(floor_of(older), "page");
    assert_string_equal(floor_of(fresh), "place");
    assert_string_equal(floor_of(again), "page");
    assert_true(sv_settings_same(older, again));
    assert_string_equal(floor_of(none), "none");
    assert_string_equal(floor_of(reset), "place");
    sa_buffer written = {0};
    sv_settings_write(fresh, &written);
    sv_settings *kept = sv_settings_read_text(written.text, written.size, &why);
    assert_string_equal(floor_of(kept), "place");
    sa_buffer_clear(&written);
    sv_settings *all[] = {older, fresh, again, none, reset, kept};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sv_settings_release(all[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_floors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
