/* Hexadecimal digits are written and read back; digests are compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hex.h"

static void hex_is_read_back(void **state) {
    (void)state;
    uint8_t bytes[2];
    assert_true(sv_hex_read("00ff", bytes, 2));
    assert_int_equal(bytes[1], 255);
    assert_false(sv_hex_read("00f", bytes, 2));
    assert_false(sv_hex_read("00ff0", bytes, 2));
    assert_false(sv_hex_read("00fg", bytes, 2));
    assert_false(sv_hex_read("", bytes, 2));
}

static void digests_are_compared(void **state) {
    (void)state;
    uint8_t one[SA_SHA256_BYTES] = {1, 2}, other[SA_SHA256_BYTES] = {1, 2};
    char hex[2 * SA_SHA256_BYTES + 1];
    assert_true(sv_digest_same(one, other));
    other[SA_SHA256_BYTES - 1] = 128;
    assert_false(sv_digest_same(one, other));
    sv_hex_write(one, 2, hex);
    assert_string_equal(hex, "0102");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(hex_is_read_back),
                                       cmocka_unit_test(digests_are_compared)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
