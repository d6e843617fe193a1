/* The n-th allocation fails, for n = 1, 2, ... until all succeed: logs, schemas and conversions give what was
 * asked for or SA_OUT_OF_MEMORY, and leak nothing. Linked with --wrap for the allocators that the library
 * calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <superarm/superarm.h>

#include "temporary.h"

void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *block);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *block);

static size_t allocations, fail_at; /* fail_at 0: none fails */
static long live;

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    if (++allocations == fail_at) return NULL;
    void *block = __real_aligned_alloc(alignment, size);
    live += block != NULL;
    return block;
}

void __wrap_free(void *block) {
    live -= block != NULL;
    __real_free(block);
}

static const char *folder;

/* `work` cleans up after itself. */
static void sweep(sa_status (*work)(void)) {
    bool reached = true;
    size_t n = 0, failed = 0;
    while (reached) {
        long before = live;
        allocations = 0;
        fail_at = ++n;
        sa_status status = work();
        reached = allocations >= fail_at;
        fail_at = 0;
        /* fine where it can do without: the folder's own entry need not be on the disk */
        if (status != SA_OK && status != SA_OUT_OF_MEMORY) fail_msg("allocation %zu: %s", n, sa_last_error());
        failed += status != SA_OK;
        if (!reached && status != SA_OK) fail_msg("%s", sa_last_error());
        if (live > before) fail_msg("allocation %zu: %ld blocks leak", n, live - before);
    }
    assert_true(failed > 6 && failed + 4 > n);
}

static const char LOG[] = "{\"event\":\"e-17\",\"context\":{\"hour\":3,\"city\":\"b\\u0065\"},\"items\":[{"
                          "\"id\":\"p1\",\"price\":3,\"tags\":["
                          "\"a\"]},"
                          "{\"id\":\"p9\",\"price\":4,\"kind\":\"y\"}],\"slate\":[\"p9\"],\"propensity\":0.5,"
                          "\"feedback\":[1],\"seq\":7}\n"
                          "{\"context\":{\"city\":\"c\"},\"items\":[{\"price\":3},{\"price\":1}],\"slate\":["
                          "0],\"propensity\":0.5,\"feedback\":["
                          "1]}\n";

static sa_status read_and_write(void) {
    sa_log_reader *reader = NULL;
    sa_log_writer *writer = NULL;
    const sa_log_entry *entry;
    sa_status status = sa_log_reader_open(inside(folder, "log.jsonl"), false, &reader);
    if (status == SA_OK) status = sa_log_writer_open(inside(folder, "copy.jsonl"), 17, &writer);
    while (status == SA_OK) {
        status = sa_log_reader_next(reader, &entry);
        if (status != SA_OK || !entry) break;
        status = sa_log_writer_write(writer, entry);
    }
    sa_log_reader_close(reader);
    if (status == SA_OK) return sa_log_writer_finish(writer);
    sa_log_writer_abandon(writer);
    return status;
}

static sa_status encode(void) {
    static const char text[] = "context: {hour: cyclic 24, city: hashed 16}\nitem: {price: log, kind: "
                               "category [x, \"y\"], tags: tags 8}\n"
                               "cross: [[city, tags]]\n";
    sa_schema *schema = NULL;
    sa_encoding *encoding = sa_encoding_new();
    sa_status status = encoding ? sa_schema_parse(text, strlen(text), "s", &schema) : SA_OUT_OF_MEMORY;
    if (status == SA_OK) status = sa_schema_encode(schema, LOG, strchr(LOG, '\n') - LOG, encoding);
    sa_encoding_destroy(encoding);
    sa_schema_release(schema);
    return status;
}

static sa_status propose(void) {
    char *text = NULL;
    sa_status status = sa_schema_propose(inside(folder, "log.jsonl"), false, &text);
    sa_schema_text_free(text);
    return status;
}

static sa_status convert_to(const char *from, const char *in, const char *to, const char *out) {
    char in_path[256], out_path[256];
    snprintf(in_path, sizeof in_path, "%s", inside(folder, in));
    snprintf(out_path, sizeof out_path, "%s", inside(folder, out));
    return sa_convert(&(sa_conversion){.from = from, .to = to, .in = in_path, .out = out_path}, NULL);
}

static sa_status to_vw(void) { return convert_to("log", "log.jsonl", "vw", "out.dsjson"); }
static sa_status from_vw(void) { return convert_to("vw", "out.dsjson", "log", "back.jsonl"); }
static sa_status to_csv(void) { return convert_to("log", "log.jsonl", "csv", "out.csv"); }
static sa_status from_csv(void) { return convert_to("csv", "out.csv", "log", "back.jsonl"); }

static void test_all(void **state) {
    (void)state;
    folder = temporary_folder();
    write_text(inside(folder, "log.jsonl"), LOG);
    sweep(read_and_write);
    sweep(encode);
    sweep(propose);
    sweep(to_vw);
    sweep(from_vw);
    sweep(to_csv);
    sweep(from_csv);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
