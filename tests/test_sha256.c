/* SHA-256: FIPS 180-4's own examples, and every length around a block's end against itself in pieces (a file
 * is read in pieces). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/sha256.h"
#include "base/sha256_blocks.h"
#include "temporary.h"

static void test_examples(void **state) {
    (void)state;
    static const struct {
        const char *text, *hash;
    } cases[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    char hash[SA_SHA256_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sa_sha256_text(cases[i].text, strlen(cases[i].text), hash);
        assert_string_equal(hash, cases[i].hash);
    }
}

/* A million times "a", which no block holds, from a file. */
static void test_file(void **state) {
    (void)state;
    const char *folder = temporary_folder(), *path = inside(folder, "a");
    char *text = malloc(1000000), hash[SA_SHA256_TEXT];
    uint64_t bytes;
    memset(text, 'a', 1000000);
    assert_int_equal(sa_file_write(path, text, 1000000), SA_OK);
    free(text);
    assert_int_equal(sa_sha256_file(path, hash, &bytes), SA_OK);
    assert_int_equal(bytes, 1000000);
    assert_string_equal(hash, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    assert_int_equal(sa_sha256_file(inside(folder, "gone"), hash, &bytes), SA_FILE);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

static void digest_of(const void *bytes, size_t size, size_t step, uint8_t digest[SA_SHA256_BYTES]) {
    sa_sha256 hash;
    sa_sha256_begin(&hash);
    for (size_t at = 0; at < size; at += step)
        sa_sha256_add(&hash, (const char *)bytes + at, size - at < step ? size - at : step);
    sa_sha256_end(&hash, digest);
}

static void test_parts_do_not_matter(void **state) {
    (void)state;
    char text[200];
    uint8_t whole[SA_SHA256_BYTES], parts[SA_SHA256_BYTES];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)(i * 7);
    for (size_t size = 0; size <= sizeof text; size++)
        for (size_t step = 1; step < 70; step += 9) {
            digest_of(text, size, sizeof text, whole);
            digest_of(text, size, step, parts);
            assert_memory_equal(whole, parts, sizeof whole);
        }
}

/* The processor's rounds, where it has them, and those that are written out. */
static void test_rounds_agree(void **state) {
    (void)state;
    uint8_t blocks[64 * 9];
    uint32_t number = 1;
    for (size_t i = 0; i < sizeof blocks; i++)
        blocks[i] = (uint8_t)((number = number * 1664525 + 1013904223) >> 24);
    for (size_t count = 1; count <= 9; count++) {
        uint32_t native[8], plain[8];
        for (uint32_t i = 0; i < 8; i++) native[i] = plain[i] = 0x9e3779b9 * (i + (uint32_t)count);
        sa_sha256_blocks_plain(plain, blocks, count);
        if (!sa_sha256_blocks_native(native, blocks, count)) return;
        assert_memory_equal(native, plain, sizeof plain);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples), cmocka_unit_test(test_file),
                                       cmocka_unit_test(test_parts_do_not_matter),
                                       cmocka_unit_test(test_rounds_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
