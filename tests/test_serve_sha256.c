/* SHA-256 against the examples of FIPS 180-4 and sha256sum(1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sha256.h"

static void digest_of(const void *bytes, size_t size, size_t step, char hex[65]) {
    sha256 hash;
    uint8_t digest[SHA256_BYTES];
    sha256_begin(&hash);
    for (size_t at = 0; at < size; at += step)
        sha256_add(&hash, (const char *)bytes + at, size - at < step ? size - at : step);
    sha256_end(&hash, digest);
    hex_write(digest, sizeof digest, hex);
}

static void published_examples(void **state) {
    (void)state;
    char hex[65];
    digest_of("", 0, 1, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    digest_of("abc", 3, 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    digest_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, 5, hex);
    assert_string_equal(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    char *million = malloc(1000000);
    assert_non_null(million);
    memset(million, 'a', 1000000);
    digest_of(million, 1000000, 1000000, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(million);
}

static void parts_do_not_matter(void **state) {
    (void)state;
    char text[200], whole[65], parts[65];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)(i * 7);
    for (size_t size = 0; size <= sizeof text; size++)
        for (size_t step = 1; step < 70; step += 9) {
            digest_of(text, size, sizeof text, whole);
            digest_of(text, size, step, parts);
            assert_string_equal(whole, parts);
        }
}

static void hex_is_read_back(void **state) {
    (void)state;
    uint8_t bytes[2];
    assert_true(hex_read("00ff", bytes, 2));
    assert_int_equal(bytes[1], 255);
    assert_false(hex_read("00f", bytes, 2));
    assert_false(hex_read("00ff0", bytes, 2));
    assert_false(hex_read("00fg", bytes, 2));
    assert_false(hex_read("", bytes, 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_examples),
        cmocka_unit_test(parts_do_not_matter),
        cmocka_unit_test(hex_is_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
