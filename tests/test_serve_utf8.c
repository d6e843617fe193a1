/* Texts of whole characters are told from others; sentences have no parts of one, wherever a name in them was
 * cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "refusal.h"
#include "utf8.h"

#define SNOWMAN "\xe2\x98\x83"
#define FOUR SNOWMAN SNOWMAN SNOWMAN SNOWMAN

static void whole_texts_are_told_from_others(void **state) {
    (void)state;
    static const char *const whole[] = {
        "", "a", "\xc3\xa9", SNOWMAN "b", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"};
    static const char *const others[] = {"\x80",
                                         "\xc3",
                                         "\xc1\xbf",
                                         "\xe2\x98",
                                         "a\xe2\x98"
                                         "b",
                                         "\xed\xa0\x80",
                                         "\xf4\x90\x80\x80",
                                         "\xff",
                                         "\xe0\x80\x80"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) assert_true(sv_utf8_is_whole(whole[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_false(sv_utf8_is_whole(others[i]));
}

static void what_is_no_character_is_left_out(void **state) {
    (void)state;
    char text[] = "a\xe2\x98 b\xff" SNOWMAN "\x83"
                  "c\xe2";
    sv_utf8_clean(text);
    assert_string_equal(text, "a b" SNOWMAN "c");
}

/* 64 bytes are 21 snowmen and the first byte of another. */
static void a_name_is_cut_between_characters(void **state) {
    (void)state;
    sv_refusal why;
    sv_refuse(&why, 503, "event %.64s names an item", FOUR FOUR FOUR FOUR FOUR FOUR);
    assert_string_equal(why.message, "event " FOUR FOUR FOUR FOUR FOUR SNOWMAN " names an item");
}

static void a_sentence_is_cut_between_characters(void **state) {
    (void)state;
    sv_refusal why;
    char text[1000] = "";
    while (strlen(text) + 3 < sizeof text) strcat(text, SNOWMAN);
    for (size_t i = 0; i < 3; i++) {
        sv_refuse(&why, 400, "%.*s%s", (int)i, "ab", text);
        assert_true(sv_utf8_is_whole(why.message));
        assert_true(strlen(why.message) > sizeof why.message - 4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole_texts_are_told_from_others),
                                       cmocka_unit_test(what_is_no_character_is_left_out),
                                       cmocka_unit_test(a_name_is_cut_between_characters),
                                       cmocka_unit_test(a_sentence_is_cut_between_characters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
