/* A restart is no outage: decide is answered from the newest checkpoint that can be read, or by the first
 * policy there was, while the rows behind it are learnt; what is there in the end is what would be there
 * without the restart. Checkpoints come by what learning again would take, two of an agent. */
#include <dirent.h>
#include <jansson.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "serve_rig.h"
#include "temporary.h"

/* Each event trains, and takes some milliseconds: recovering ROWS of them can be seen. */
enum { FEW = 5, ROWS = 60 };
static const char SLOW[] = "{\"options\": {\"algorithm\": \"cn-ucb\", \"dim\": 2, \"hidden\": 64, "
                           "\"train-every\": 1, \"train-steps\": 1500, \"train-batch\": 32, \"seed\": 5}, "
                           "\"slate\": 2, \"default_feedback\": 0, \"wait_seconds\": 0}";
static const double NEVER = 1e6;

static int decide(sv_service *service, const char *event, unsigned long long *model, char **slate) {
    char body[300], *answer = NULL;
    snprintf(body, sizeof body,
             "{\"event\": \"%s\", \"contexts\": [[0.1, 0.7], [0.5, -0.25], [0.9, 0.3]], \"explain\": true}",
             event);
    int status = rig_ask(service, "POST", "/v1/agents/home/decide", body, &answer);
    json_t *root = json_loads(answer, 0, NULL);
    if (model) *model = (unsigned long long)json_integer_value(json_object_get(root, "model"));
    if (slate) *slate = json_dumps(json_object_get(root, "estimates"), 0);
    json_decref(root);
    free(answer);
    return status;
}

static int give_feedback(sv_service *service, const char *event, int number) {
    char body[200];
    snprintf(body, sizeof body, "{\"event\": \"%s\", \"feedback\": [%g, %d]}", event, 0.1 * (number % 7),
             number % 2);
    return rig_ask(service, "POST", "/v1/agents/home/feedback", body, NULL);
}

static void visit(sv_service *service, int life, int count) {
    char event[40];
    for (int i = 0; i < count; i++) {
        snprintf(event, sizeof event, "l%d-%d", life, i);
        assert_int_equal(decide(service, event, NULL, NULL), 201);
        assert_int_equal(give_feedback(service, event, i), 204);
    }
}

/* Until the policy has learnt every row. */
static void settle(sv_service *service, unsigned long long rows) {
    static int number;
    unsigned long long model = 0;
    char event[40];
    for (int i = 0; i < 6000 && model < rows; i++) {
        snprintf(event, sizeof event, "settle-%d", number++);
        assert_int_equal(decide(service, event, &model, NULL), 201);
        usleep(10000);
    }
    assert_int_equal(model, rows);
}

/* A first life of FEW events, a second of ROWS: checkpoints at rows 1 + FEW and 1 + FEW + ROWS. */
static const char *two_lives(void) {
    const char *folder = temporary_folder();
    sv_service *service = rig_start(folder, NEVER);
    assert_int_equal(rig_ask(service, "PUT", "/v1/agents/home", SLOW, NULL), 201);
    visit(service, 0, FEW);
    settle(service, 1 + FEW);
    sv_service_stop(service);
    service = rig_start(folder, NEVER);
    visit(service, 1, ROWS);
    settle(service, 1 + FEW + ROWS);
    sv_service_stop(service);
    return folder;
}

static void run_sql(const char *folder, const char *sql) {
    sqlite3 *database = NULL;
    assert_int_equal(sqlite3_open(inside(folder, "journal.db"), &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

static const char *checkpoint_of(const char *folder, unsigned long long row) {
    char name[64];
    snprintf(name, sizeof name, "agent-1-%llu.npz", row);
    return inside(folder, name);
}

static bool is_there(const char *path) { return access(path, F_OK) == 0; }

static size_t count_checkpoints(const char *folder) {
    size_t count = 0;
    DIR *all = opendir(folder);
    for (struct dirent *file; (file = readdir(all));) count += !strncmp(file->d_name, "agent-", 6);
    closedir(all);
    return count;
}

/* What goes to stderr while it starts. */
static sv_service *start_and_listen(const char *folder, char said[2000]) {
    sv_service_options options = {.folder = folder, .recovery_seconds = NEVER};
    const char *path = inside(folder, "said.txt");
    fflush(stderr);
    int before = dup(2);
    assert_non_null(freopen(path, "w", stderr));
    sv_service *service = rig_start_with(&options, false);
    fflush(stderr);
    dup2(before, 2);
    close(before);
    FILE *file = fopen(path, "r");
    said[fread(said, 1, 1999, file)] = 0;
    fclose(file);
    return service;
}

/* Serves with the policy of row `from` while it recovers; takes feedback; ends as the witness has it. */
static void recovers(const char *folder, unsigned long long from, const char *made, const char *witness,
                     char said[2000]) {
    unsigned long long model = 0;
    char *answer = NULL;
    sv_service *service = start_and_listen(folder, said);
    assert_non_null(service);
    assert_int_equal(decide(service, "meanwhile", &model, NULL), 201);
    assert_int_equal(rig_ask(service, "GET", "/readyz", NULL, &answer), 200);
    if (!strstr(answer, "\"recovering\": 1")) fail_msg("%s", answer);
    free(answer);
    assert_int_equal(rig_ask(service, "GET", "/metrics", NULL, &answer), 200);
    assert_non_null(strstr(answer, "\nsuperarm_recovering 1\n"));
    free(answer);
    assert_true(model >= from && model < 1 + FEW + ROWS);
    for (int i = 0; i < 6000 && !rig_is_ready(service, true); i++) usleep(10000);
    assert_true(rig_is_ready(service, true));
    settle(service, 1 + FEW + ROWS);
    sv_service_stop(service);
    assert_same_file(inside(folder, made), witness);
    assert_true(is_there(checkpoint_of(folder, 1 + FEW + ROWS))); /* a damaged one is not deleted */
    /* feedback is taken meanwhile: of this event it is in the journal before the rows are learnt */
    service = rig_start_with(&(sv_service_options){.folder = folder, .recovery_seconds = NEVER}, false);
    assert_int_equal(give_feedback(service, "meanwhile", 3), 204);
    settle(service, 2 + FEW + ROWS);
    sv_service_stop(service);
}

static char *keep_witness(const char *folder) {
    static char path[300];
    char command[700];
    snprintf(path, sizeof path, "%s.witness", folder);
    snprintf(command, sizeof command, "cp %s %s", checkpoint_of(folder, 1 + FEW + ROWS), path);
    assert_int_equal(system(command), 0);
    return path;
}

static void the_first_policy_serves(void **state) {
    (void)state;
    char said[2000];
    const char *folder = two_lives(), *witness = keep_witness(folder);
    run_sql(folder, "DELETE FROM checkpoints");
    recovers(folder, 1, "agent-1-66.npz", witness, said);
    assert_int_equal(remove(witness), 0);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

static void the_older_checkpoint_serves(void **state) {
    (void)state;
    char said[2000];
    const char *folder = two_lives(), *witness = keep_witness(folder);
    assert_true(is_there(checkpoint_of(folder, 1 + FEW)));
    assert_int_equal(truncate(checkpoint_of(folder, 1 + FEW + ROWS), 1000), 0);
    run_sql(folder, "DELETE FROM rows WHERE seq <= 3"); /* it does not begin with row 1 */
    recovers(folder, 1 + FEW, "agent-1-66-b.npz", witness, said);
    if (!strstr(said, "agent home: its checkpoint agent-1-66.npz is not used, and the one before it is:"))
        fail_msg("%s", said);
    assert_int_equal(remove(witness), 0);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

static void checkpoints_come_by_replay(void **state) {
    (void)state;
    const char *folder = temporary_folder();
    sv_service_options seldom = {.folder = folder, .recovery_seconds = NEVER},
                       often = {.folder = folder, .recovery_seconds = 0.01};
    sv_learner_counts counts;
    sv_service *service = rig_start_with(&seldom, true);
    assert_int_equal(rig_ask(service, "PUT", "/v1/agents/home", SLOW, NULL), 201);
    visit(service, 0, ROWS / 2);
    settle(service, 1 + ROWS / 2);
    sv_learner_count(service->learner, &counts);
    assert_int_equal(counts.checkpoints, 0);
    assert_int_equal(count_checkpoints(folder), 0);
    sv_service_stop(service);
    service = rig_start_with(&often, true);
    visit(service, 1, ROWS / 2);
    settle(service, 1 + ROWS);
    sv_learner_count(service->learner, &counts);
    assert_true(counts.checkpoints >= 1 && counts.checkpoints <= ROWS); /* a slow disk gets fewer */
    sv_service_stop(service);
    assert_int_equal(count_checkpoints(folder), 2);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

/* Both checkpoints have what is erased, so that either can be gone on from. */
static void either_checkpoint_has_what_is_erased(void **state) {
    (void)state;
    char said[2000], *before = NULL, *after = NULL;
    const char *folder = two_lives();
    sv_service *service = rig_start(folder, NEVER);
    assert_int_equal(rig_ask(service, "DELETE", "/v1/agents/home/events/l1-7", NULL, NULL), 204);
    assert_int_equal(decide(service, "compare", NULL, &before), 201);
    sv_service_stop(service);
    assert_int_equal(truncate(checkpoint_of(folder, 1 + FEW + ROWS), 1000), 0);
    service = start_and_listen(folder, said);
    assert_null(strstr(said, "erased"));
    assert_int_equal(decide(service, "compare-again", NULL, &after), 201);
    assert_string_equal(before, after);
    free(before);
    free(after);
    sv_service_stop(service);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

/* A policy of another shape than what is asked for now never chooses. */
static void a_reset_is_waited_for(void **state) {
    (void)state;
    static const char other[] = "{\"options\": {\"algorithm\": \"comblin-ucb\", \"dim\": 3}, \"slate\": 1, "
                                "\"default_feedback\": 0, \"wait_seconds\": 0, \"reset\": true}",
                      ask[] = "{\"event\": \"three\", \"contexts\": [[1, 2, 3], [3, 1, 2]]}";
    const char *folder = two_lives();
    sv_service *service = rig_start(folder, NEVER);
    assert_int_equal(rig_ask(service, "PUT", "/v1/agents/home", other, NULL), 200);
    sv_service_stop(service);
    run_sql(folder, "DELETE FROM checkpoints");
    service = rig_start_with(&(sv_service_options){.folder = folder, .recovery_seconds = NEVER}, false);
    int status = rig_ask(service, "POST", "/v1/agents/home/decide", ask, NULL);
    assert_true(status == 201 || status == 503);
    for (int i = 0; i < 6000 && !rig_is_ready(service, true); i++) usleep(10000);
    status = rig_ask(service, "POST", "/v1/agents/home/decide", ask, NULL);
    assert_true(status == 201 || status == 200);
    sv_service_stop(service);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_policy_serves), cmocka_unit_test(the_older_checkpoint_serves),
        cmocka_unit_test(checkpoints_come_by_replay), cmocka_unit_test(either_checkpoint_has_what_is_erased),
        cmocka_unit_test(a_reset_is_waited_for)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
