/* What logs cost: reading a log of 100 MB, reading and encoding one with named fields, the memory that takes,
 * and encoding 200 items of 10 fields against what a choice among them costs. */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <superarm/superarm.h>

enum { MEGABYTES = 100, ITEMS = 200, ROUNDS = 60, REPEATS = 15 };

static unsigned state = 1;
static double uniform(void) {
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / (1 << 24);
}

static void fine(sa_status status) {
    if (status == SA_OK) return;
    fprintf(stderr, "bench_logs: %s\n", sa_last_error());
    exit(1);
}

static const char SCHEMA[] =
    "context: {country: hashed 16, device: category [phone, desktop], hour: cyclic 24, member: flag}\n"
    "item: {category: hashed 16, brand: hashed 16, price: log, age: number, rating: number, stock: log, "
    "fresh: flag, "
    "colour: category [red, green, blue], kind: hashed 8, tags: tags 16}\n"
    "cross: [[country, category]]\n";

static int put_context(char *to) {
    return sprintf(to, "\"context\":{\"country\":\"c%d\",\"device\":\"%s\",\"hour\":%d,\"member\":%s}",
                   (int)(uniform() * 40), uniform() < 0.5 ? "phone" : "desktop", (int)(uniform() * 24),
                   uniform() < 0.5 ? "true" : "false");
}

static int put_item(char *to, int id) {
    static const char *const colours[] = {"red", "green", "blue", "black"};
    return sprintf(to,
                   "{\"id\":\"p%d\",\"category\":\"k%d\",\"brand\":\"b%d\",\"price\":%.2f,\"age\":%.17g,"
                   "\"rating\":%.1f,\"stock\":%d,"
                   "\"fresh\":%s,\"colour\":\"%s\",\"kind\":\"n%d\",\"tags\":[\"t%d\",\"t%d\"]}",
                   id, (int)(uniform() * 50), (int)(uniform() * 200), uniform() * 300, uniform(),
                   uniform() * 5, (int)(uniform() * 99), uniform() < 0.5 ? "true" : "false",
                   colours[(int)(uniform() * 4)], (int)(uniform() * 9), (int)(uniform() * 30),
                   (int)(uniform() * 30));
}

/* One line: 20 items with fields, or 20 x 20 numbers of 17 digits. */
static int put_line(char *to, bool named) {
    int size = sprintf(to, "{\"event\":\"e%u\",", state);
    if (named) {
        size += put_context(to + size);
        size += sprintf(to + size, ",\"items\":[");
        for (int i = 0; i < 20; i++) size += sprintf(to + size, i ? "," : ""), size += put_item(to + size, i);
        size += sprintf(to + size, "],\"slate\":[\"p3\",\"p7\",\"p1\"]");
    } else {
        for (int i = 0; i < 400; i++)
            size += sprintf(to + size, "%s%.17g",
                            i == 0   ? "\"contexts\":[["
                            : i % 20 ? ","
                                     : "],[",
                            uniform() - 0.5);
        size += sprintf(to + size, "]],\"slate\":[3,7,1]");
    }
    return size + sprintf(to + size, ",\"propensity\":null,\"feedback\":[1,0,null]}\n");
}

static void write_log(const char *path, bool named) {
    static char line[65536];
    FILE *file = fopen(path, "w");
    if (!file) exit(1);
    for (size_t bytes = 0; bytes < (size_t)MEGABYTES * 1000000;) {
        int size = put_line(line, named);
        bytes += (size_t)size;
        fwrite(line, 1, (size_t)size, file);
    }
    fclose(file);
}

/* Seconds to read the log, and to encode it where there is a schema. */
static double read_log(const char *path, const sa_schema *schema) {
    sa_log_reader *reader;
    const sa_log_entry *entry;
    sa_encoding *encoding = sa_encoding_new();
    double start = machine_seconds();
    fine(sa_log_reader_open(path, false, &reader));
    for (;;) {
        fine(sa_log_reader_next(reader, &entry));
        if (!entry) break;
        if (schema) fine(sa_schema_encode(schema, entry->json, entry->json_size, encoding));
    }
    double seconds = machine_seconds() - start;
    sa_log_reader_close(reader);
    sa_encoding_destroy(encoding);
    return seconds;
}

static double memory(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

static void measure_reading(const sa_schema *schema) {
    static const char *const rows[] = {"contexts of 17 digits, read", "named fields, read",
                                       "named fields, read and encoded"};
    char path[] = "/tmp/superarm-bench-XXXXXX";
    int file = mkstemp(path);
    if (file < 0) exit(1);
    close(file);
    for (int row = 0; row < 3; row++) {
        double best = 1e9, before = memory();
        if (row < 2) write_log(path, row > 0);
        for (int i = 0; i < 3; i++) {
            double seconds = read_log(path, row == 2 ? schema : NULL);
            best = seconds < best ? seconds : best;
        }
        printf("%-34s %4d MB in %5.2f s: %6.0f MB/s (wanted: 50), memory %+.1f MB\n", rows[row], MEGABYTES,
               best, MEGABYTES / best, memory() - before);
        fflush(stdout);
    }
    unlink(path);
}

/* An agent that has learnt for a while, and a request of 200 items. */
static void measure_request(const sa_schema *schema) {
    static char json[1 << 17];
    char dim[32];
    double encode = 1e9, choose = 1e9;
    sa_encoding *encoding = sa_encoding_new();
    sa_options *options = sa_options_new(NULL);
    sa_request *request = sa_request_new();
    sa_decision *decision = NULL;
    sa_agent *agent;
    snprintf(dim, sizeof dim, "%zu", sa_schema_dim(schema));
    fine(sa_options_set(options, "dim", dim));
    fine(sa_options_set(options, "widths", "all"));
    fine(sa_options_set(options, "train", "manual"));
    fine(sa_agent_create(options, &agent));
    for (int round = 0; round < ROUNDS + REPEATS; round++) {
        static const double scores[20] = {1};
        int size = sprintf(json, "{"), k = round < ROUNDS ? 20 : 4;
        size += put_context(json + size);
        size += sprintf(json + size, ",\"items\":[");
        for (int i = 0; i < ITEMS; i++)
            size += sprintf(json + size, i ? "," : ""), size += put_item(json + size, i);
        size += sprintf(json + size, "]}");
        double start = machine_seconds();
        fine(sa_schema_encode(schema, json, (size_t)size, encoding));
        double middle = machine_seconds();
        sa_request_contexts(request, sa_encoding_contexts(encoding), sa_encoding_arms(encoding));
        sa_request_slate(request, (size_t)k);
        fine(sa_agent_select(agent, request, &decision));
        double end = machine_seconds();
        if (round < ROUNDS) fine(sa_agent_update(agent, sa_decision_id(decision), scores, NULL, 20));
        if (round < ROUNDS) continue;
        encode = middle - start < encode ? middle - start : encode;
        choose = end - middle < choose ? end - middle : choose;
    }
    printf("%d items of 10 fields, %zu features: encoded in %.2f ms, chosen (n = %d) in %.2f ms: %.0f%%\n",
           ITEMS, sa_schema_dim(schema), 1e3 * encode, ROUNDS * 20, 1e3 * choose, 100 * encode / choose);
    sa_decision_destroy(decision);
    sa_request_destroy(request);
    sa_agent_destroy(agent);
    sa_options_destroy(options);
    sa_encoding_destroy(encoding);
}

int main(void) {
    sa_schema *schema;
    fine(sa_schema_parse(SCHEMA, strlen(SCHEMA), "schema", &schema));
    measure_reading(schema);
    measure_request(schema);
    sa_schema_release(schema);
    return 0;
}
