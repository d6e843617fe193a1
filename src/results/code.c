#define _GNU_SOURCE /* dladdr */
#include "results/code.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"

/* ---- what it is ---- */

typedef void any_function(void);

/* The file that the function is in: a shared library, or the program itself. "": nobody knows. */
static const char *file_of(any_function *function) {
    Dl_info info;
    void *address;
    memcpy(&address, &function, sizeof address); /* ISO C has no cast for it */
    return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
}

/* `said`: what the caller says that the code is; NULL: the file that has it says so. */
static sa_status add_code(json_t *code, const char *of, const char *said, any_function *function) {
    char hash[SA_SHA256_TEXT] = "";
    uint64_t bytes;
    const char *what = said ? said : file_of(function);
    if (said)
        sa_sha256_text(said, strlen(said), hash);
    else if (!*what || sa_sha256_file(what, hash, &bytes) != SA_OK)
        return SA_OK; /* a program that was started by a name alone, or is gone */
    if (json_object_set_new(code, of, json_pack("{s:s, s:s}", "what", what, "sha256", hash)))
        return sa_fail(SA_INVALID, "the name of %s, or of its code, is not UTF-8", of);
    return SA_OK;
}

sa_status sa_session_add_code(json_t *session, const sa_results *results,
                              const sa_own_environment *environment, const sa_oracle_callbacks *oracle) {
    json_t *code = json_object();
    if (json_object_set_new(session, "code", code)) return SA_OUT_OF_MEMORY;
    if (environment->contexts)
        SA_TRY(add_code(code, "environment", environment->code, (any_function *)environment->contexts));
    if (oracle->solve || oracle->solve_problem)
        SA_TRY(
            add_code(code, "oracle", oracle->code,
                     oracle->solve ? (any_function *)oracle->solve : (any_function *)oracle->solve_problem));
    for (size_t i = 0; i < results->agent_count; i++) {
        const sa_agent_runs *agent = &results->agents[i];
        char *of;
        if (!agent->code.select) continue;
        SA_TRY(sa_format(&of, "agent %s", agent->label));
        sa_status status = add_code(code, of, agent->code.code, (any_function *)agent->code.select);
        sa_free(of);
        SA_TRY(status);
    }
    if (json_object_size(code) == 0) json_object_del(session, "code");
    return SA_OK;
}

/* ---- is it the same? ---- */

static const char *text_of(const json_t *session, const char *of, const char *key) {
    const char *text =
        json_string_value(json_object_get(json_object_get(json_object_get(session, "code"), of), key));
    return text ? text : "";
}

static bool is_same(const json_t *one, const json_t *other, const char *of) {
    const char *hash = text_of(one, of, "sha256"), *other_hash = text_of(other, of, "sha256");
    return !*hash || !*other_hash || !strcmp(hash, other_hash);
}

/* What has changed of all that this agent's runs are made of; NULL: nothing. */
static sa_status changed(const json_t *one, const json_t *other, const char *label, char **what) {
    SA_TRY(sa_format(what, "agent %s", label));
    if (!is_same(one, other, *what)) return SA_OK;
    sa_free(*what);
    *what = NULL;
    if (!is_same(one, other, "environment")) return sa_copy_text("environment", what);
    if (!is_same(one, other, "oracle")) return sa_copy_text("oracle", what);
    return SA_OK;
}

sa_status sa_session_check_code(const json_t *now, const json_t *then, const char *label,
                                const char *folder) {
    const char *version = json_string_value(json_object_get(now, "version"));
    const char *had = json_string_value(json_object_get(then, "version"));
    char *what = NULL;
    if (version && had && strcmp(version, had))
        return sa_fail(SA_INVALID,
                       "--resume: runs of agent %s in %.300s were made by Superarm %.40s, and this is %.40s: "
                       "--replace %s makes them again, or name another folder",
                       label, folder, had, version, label);
    SA_TRY(changed(now, then, label, &what));
    if (!what) return SA_OK;
    sa_status status = sa_fail(
        SA_INVALID,
        "--resume: the code of %s (%.200s) has changed since runs of agent %s in %.300s were made (sha256 "
        "%.12s... then, %.12s... now): --replace %s makes them again, or name another folder",
        what, text_of(now, what, "what"), label, folder, text_of(then, what, "sha256"),
        text_of(now, what, "sha256"), label);
    sa_free(what);
    return status;
}

sa_status sa_session_join_code(const json_t *one, const json_t *other, const char *label, const char *folder,
                               const char *other_folder) {
    char *what = NULL;
    SA_TRY(changed(one, other, label, &what));
    if (!what) return SA_OK;
    sa_status status = sa_fail(
        SA_INVALID,
        "%.200s and %.200s are different experiments: the code of %s is not the same in "
        "runs of agent %s (sha256 %.12s... here, %.12s... there)",
        folder, other_folder, what, label, text_of(one, what, "sha256"), text_of(other, what, "sha256"));
    sa_free(what);
    return status;
}
