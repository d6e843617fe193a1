/* For tests with a folder of their own while they run: cmocka_run_group_tests(tests, set_up, tear_down). */
#ifndef TESTS_OWN_FOLDER_H
#define TESTS_OWN_FOLDER_H

#include "temporary.h"

static const char *folder;

static int set_up(void **state) {
    (void)state;
    folder = temporary_folder();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    return sa_path_remove(folder) != SA_OK;
}

#endif
