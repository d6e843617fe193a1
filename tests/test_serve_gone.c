/* What is gone: a decision that is ready after its agent was deleted is not kept, whether the agent's rows
 * have been removed yet or not; and a decision whose item is gone has no answer, which is no failure to
 * read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "compact.h"
#include "store.h"
#include "temporary.h"

static sv_store_status add(sv_store *store, int64_t agent, const char *event) {
    static const uint32_t arms[] = {1};
    sv_store_decision decision = {.agent = agent,
                                  .time = 1,
                                  .event = event,
                                  .arms = arms,
                                  .arm_count = 1,
                                  .answer = "{}",
                                  .body = "{}",
                                  .body_size = 2};
    assert_int_equal(sv_store_begin(store), STORE_OK);
    sv_store_status status = sv_store_decision_add(store, &decision);
    assert_int_equal(sv_store_commit(store), STORE_OK);
    return status;
}

static uint64_t count(sv_store *store, int64_t agent) {
    sv_store_counts counts;
    assert_int_equal(sv_store_agent_count(store, agent, &counts), STORE_OK);
    return counts.decisions;
}

static void no_decision_of_no_agent(void **state) {
    (void)state;
    const char *folder = temporary_folder();
    sa_buffer sentence = {0};
    int64_t agent = 0;
    sv_store *store = sv_store_open(folder, true, &sentence);
    assert_non_null(store);
    assert_int_equal(sv_store_begin(store), STORE_OK);
    assert_int_equal(sv_store_agent_add(store, "home", "{}", 1, &agent), STORE_OK);
    assert_int_equal(sv_store_commit(store), STORE_OK);
    assert_int_equal(add(store, agent, "before"), STORE_OK);
    assert_int_equal(add(store, agent, "before"), STORE_NONE); /* a retry */
    assert_int_equal(count(store, agent), 1);

    assert_int_equal(sv_store_begin(store), STORE_OK);
    assert_int_equal(sv_store_agent_delete(store, agent, 2), STORE_OK);
    assert_int_equal(sv_store_commit(store), STORE_OK);
    assert_int_equal(add(store, agent, "after"), STORE_NONE);
    assert_int_equal(count(store, agent), 1);

    sv_store_retention all = {.agent = agent, .deleted = true, .most = 10, .until = 1e18};
    assert_int_equal(sv_store_begin(store), STORE_OK);
    assert_int_equal(sv_store_retain(store, &all), STORE_OK);
    assert_int_equal(sv_store_agent_remove(store, agent), STORE_OK);
    assert_int_equal(sv_store_commit(store), STORE_OK);
    assert_int_equal(add(store, agent, "late"), STORE_NONE);
    assert_int_equal(count(store, agent), 0);
    sv_store_close(store);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

/* A decision of stored items, in few bytes. */
static void add_compact(sv_store *store, int64_t agent) {
    static const uint32_t arms[] = {0};
    uint32_t numbers[] = {1};
    sv_compact of = {.version = 5,
                     .numbers = numbers,
                     .count = 1,
                     .length = 1,
                     .propensity = 1,
                     .tail = "",
                     .rest = "{}",
                     .rest_size = 2};
    sa_buffer body = {0};
    sv_compact_write(&of, &body);
    sv_store_decision decision = {.agent = agent,
                                  .time = 1,
                                  .event = "stored",
                                  .arms = arms,
                                  .arm_count = 1,
                                  .answer = "",
                                  .body = body.text,
                                  .body_size = body.size};
    assert_int_equal(body.status, SA_OK);
    assert_int_equal(sv_store_begin(store), STORE_OK);
    assert_int_equal(sv_store_decision_add(store, &decision), STORE_OK);
    assert_int_equal(sv_store_commit(store), STORE_OK);
    sa_buffer_clear(&body);
}

static void an_item_that_is_missing_is_no_failure_to_read(void **state) {
    (void)state;
    const char *folder = temporary_folder();
    char path[600];
    sa_buffer sentence = {0};
    sv_store_decision found;
    sqlite3 *other = NULL;
    int64_t agent = 0;
    sv_store *store = sv_store_open(folder, true, &sentence);
    assert_non_null(store);
    assert_int_equal(sv_store_begin(store), STORE_OK);
    assert_int_equal(sv_store_agent_add(store, "home", "{}", 1, &agent), STORE_OK);
    assert_int_equal(sv_store_commit(store), STORE_OK);
    add_compact(store, agent);
    assert_int_equal(sv_store_decision_find(store, agent, "stored", &found), STORE_OK);
    assert_string_equal(found.answer, ""); /* its item is not there */
    snprintf(path, sizeof path, "%.500s/journal.db", folder);
    assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "ALTER TABLE items RENAME TO elsewhere", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    assert_int_equal(sv_store_decision_find(store, agent, "stored", &found), STORE_FAILED);
    sv_store_abandon(store);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_decision_of_no_agent),
                                       cmocka_unit_test(an_item_that_is_missing_is_no_failure_to_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
