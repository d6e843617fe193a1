#include "results/provenance.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/sha256.h"
#include "oracle/oracle.h"
#include "spec/problem_option.h"
#include <superarm/superarm.h>

sa_status sa_json_text(const json_t *value, char **text) {
    size_t size = json_dumpb(value, NULL, 0, JSON_COMPACT);
    if (size == 0) return sa_fail(SA_OUT_OF_MEMORY, "no memory for a line of JSON");
    SA_TRY(sa_alloc_array(size + 1, 1, text));
    json_dumpb(value, *text, size, JSON_COMPACT);
    return SA_OK;
}

/* ---- this process ---- */

/* The words of the command, each as a shell would take it. */
static void find_command(sa_buffer *out) {
    char word[8192];
    size_t size = 0;
    FILE *file = fopen("/proc/self/cmdline", "re");
    for (int c; file && (c = fgetc(file)) != EOF;) {
        if (c && size + 1 < sizeof word) word[size++] = (char)c;
        if (c) continue;
        word[size] = 0;
        bool bare = size > 0 && !strpbrk(word, " \t\n'\"\\$`!*?[](){}<>|&;#~");
        sa_buffer_text(out, out->size ? " " : "");
        if (!bare) sa_buffer_text(out, "'");
        for (const char *at = word; *at; at++) {
            if (*at == '\'')
                sa_buffer_text(out, "'\\''");
            else
                sa_buffer_bytes(out, at, 1);
        }
        if (!bare) sa_buffer_text(out, "'");
        size = 0;
    }
    if (file) fclose(file);
}

sa_status sa_session_make(json_t **session) {
    char host[128] = "", processor[128], date[32];
    time_t now = time(NULL);
    struct tm utc;
    sa_buffer command = {0};
    gethostname(host, sizeof host - 1);
    sa_processor_name(processor, sizeof processor);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    find_command(&command);
    sa_status status = command.status;
    json_t *words = json_string(command.text ? command.text : "");
    if (!words) words = json_string("(not UTF-8)");
    sa_buffer_clear(&command);
    if (status == SA_OK)
        *session =
            json_pack("{s:s, s:s, s:s, s:s, s:s, s:O, s:[]}", "version", sa_version(), "commit", sa_commit(),
                      "date", date, "host", host, "cpu", processor, "command", words, "inputs");
    json_decref(words);
    return status == SA_OK && !*session ? SA_OUT_OF_MEMORY : status;
}

/* ---- its inputs ---- */

bool sa_option_is_input(const char *name) {
    sa_option_info info;
    return sa_option_find(name, &info) ? !strcmp(info.kind, "path") : sa_is_datum(name);
}

static const json_t *find(const json_t *inputs, const char *path) {
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        const json_t *input = json_array_get(inputs, i);
        const char *own = json_string_value(json_object_get(input, "path"));
        if (own && !strcmp(own, path)) return input;
    }
    return NULL;
}

/* A list of numbers in the place of a file is none. */
static sa_status add_input(json_t *inputs, const char *option, const char *path) {
    char hash[SA_SHA256_TEXT];
    uint64_t bytes;
    struct stat about;
    if (!*path || find(inputs, path) || stat(path, &about) || !S_ISREG(about.st_mode)) return SA_OK;
    SA_TRY(sa_sha256_file(path, hash, &bytes));
    if (json_array_append_new(inputs, json_pack("{s:s, s:s, s:I, s:s}", "option", option, "path", path,
                                                "bytes", (json_int_t)bytes, "sha256", hash)))
        return sa_fail(SA_INVALID, "--%s %s is not UTF-8", option, path);
    return SA_OK;
}

sa_status sa_session_add_inputs(json_t *session, const sa_options *options) {
    json_t *inputs = json_object_get(session, "inputs");
    for (size_t i = 0; i < SA_OPTION_TOTAL; i++)
        if (sa_option_rows[i].kind == SA_KIND_PATH)
            SA_TRY(add_input(inputs, sa_option_rows[i].name,
                             *(char **)sa_option_field(options, &sa_option_rows[i])));
    const char *problem = options->problem;
    for (sa_problem_entry entry; sa_problem_text_next(&problem, &entry);) {
        char *name = NULL, *path = NULL;
        sa_status status = sa_format(&name, "%.*s", (int)entry.name_size, entry.name);
        if (status == SA_OK) status = sa_format(&path, "%.*s", (int)entry.value_size, entry.value);
        if (status == SA_OK) status = add_input(inputs, name, path);
        sa_free(name);
        sa_free(path);
        SA_TRY(status);
    }
    return SA_OK;
}

static const char *hash_of(const json_t *input) {
    return json_string_value(json_object_get(input, "sha256"));
}

sa_status sa_session_compare(const json_t *now, const json_t *then, const char *folder) {
    const json_t *inputs = json_object_get(now, "inputs");
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        const json_t *input = json_array_get(inputs, i);
        const char *path = json_string_value(json_object_get(input, "path"));
        const json_t *other = path ? find(json_object_get(then, "inputs"), path) : NULL;
        if (!other || !hash_of(input) || !hash_of(other) || !strcmp(hash_of(input), hash_of(other))) continue;
        return sa_fail(SA_INVALID,
                       "--%s %.300s has changed since runs of %.300s were made of it (sha256 %.12s... then, "
                       "%.12s... now)",
                       json_string_value(json_object_get(input, "option")), path, folder, hash_of(other),
                       hash_of(input));
    }
    return SA_OK;
}

const char *sa_session_hash(const json_t *sessions, const char *path) {
    for (size_t i = 0; i < json_array_size(sessions); i++) {
        const json_t *input = find(json_object_get(json_array_get(sessions, i), "inputs"), path);
        if (input) return hash_of(input);
    }
    return NULL;
}
