/* What is said of a place has no part of a password. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store.h"

static void a_name_has_no_password(void **state) {
    (void)state;
    static const char *const names[][2] = {
        {"shop", "shop"},
        {"me@home:1/shop", "me@home:1/shop"},
        {"postgresql://shop:secret@host:5433/db", "host:5433/db"},
        {"postgres://shop@host/db?sslmode=require", "host/db"},
        {"postgresql://shop:se?cr@host/db", "host/db"},
        {"postgresql://shop:se/cr@host/db", "host/db"},
        {"mysql://shop:se?cr/et@host/db", "mysql://shop"},
        {"postgresql://shop@/db?host=/tmp&password=secret", "/db"},
        {"postgresql:///db?host=/tmp", "/db"},
        {"postgresql://shop:12345/db", "shop/db"}, /* the host was forgotten */
        {"postgresql://shop:12345/db?options=a@b", "shop/db"},
        {"postgresql://shop:12345", "shop"},
        {"postgresql://shop:12345?sslmode=require", "shop"},
        {"postgresql://host/db", "host/db"},
        {"postgresql://[::1]:5433/db", "[::1]/db"},
        {"postgresql://shop:secret@[::1]:5433/db", "[::1]:5433/db"},
        {"postgresql://[::1", "[::1"},
        {"postgresql://[", "["},
        {"postgresql://", ""},
        {"mysql://shop:secret/db", "mysql://shop/db"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[256];
        sv_store_name(names[i][0], name);
        assert_string_equal(name, names[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_name_has_no_password)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
