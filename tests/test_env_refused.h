/* Environments that must not be made. Included after cmocka. */
#ifndef TESTS_ENV_REFUSED_H
#define TESTS_ENV_REFUSED_H

#include <string.h>

#include "env/environment.h"

/* Expects the status, and the words in the sentence; frees the options. */
static inline void refused(sa_options *options, sa_status status, const char *words) {
    sa_environment *environment = NULL;
    assert_int_equal(sa_environment_create(options, &environment), status);
    assert_null(environment);
    if (!strstr(sa_last_error(), words)) fail_msg("\"%s\" lacks \"%s\"", sa_last_error(), words);
    sa_options_destroy(options);
}

#endif
