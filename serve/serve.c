#define _GNU_SOURCE
#include "serve.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http.h"
#include "routes.h"
#include "service.h"
#include "signals.h"

static int fail(const sv_refusal *why, char *message) {
    snprintf(message, 512, "%s", why->message);
    return why->status == 400 ? 2 : 1;
}

static bool write_port(const char *path, unsigned port) {
    sa_buffer part = {0};
    bool good = false;
    sa_buffer_format(&part, "%s.part", path);
    FILE *file = part.status ? NULL : fopen(part.text, "w");
    if (file) {
        good = fchmod(fileno(file), 0644) == 0 && fprintf(file, "%u\n", port) > 0;
        good = fclose(file) == 0 && good &&
               rename(part.text, path) == 0; /* who reads it sees all of it or nothing */
    }
    sa_buffer_clear(&part);
    return good;
}

static void end_exchange(sv_exchange *exchange, double seconds) {
    size_t index = METRICS_ROUTES - 1;
    for (size_t i = 0; exchange->route && i < sv_route_count(); i++)
        if (sv_route_at(i) == exchange->route) index = i;
    sv_metrics_count(&exchange->service->metrics, index, exchange->status, seconds);
    sv_routes_end(exchange);
}

static void say_hello(const sv_serve_options *options, unsigned port, size_t agents) {
    bool six = strchr(options->address, ':');
    char name[256];
    sv_store_name(options->store ? options->store : options->folder, name);
    printf("superarm serve: http://%s%s%s:%u/ serves %s (%zu agent%s). The page there has a first request to "
           "paste.\n",
           six ? "[" : "", options->address, six ? "]" : "", port, name, agents, agents == 1 ? "" : "s");
    fflush(stdout);
}

/* What was no request has no route, and no agent. */
static void count_refused(sv_service *service, const sv_refusal *why, const char *from) {
    (void)from;
    int status = why->status == 505 ? 400 : why->status; /* the client's fault, whatever its number */
    sv_metrics_count(&service->metrics, METRICS_ROUTES - 1, status, 0);
}

typedef struct reloading {
    sv_service *service;
    const char *keys;
} sv_reloading;

/* SIGHUP. Requests are answered meanwhile, with the keys as they were or as they are. */
static void reload(void *user) {
    const sv_reloading *self = user;
    sv_refusal why = {0};
    if (!self->keys) return;
    if (sv_service_read_keys(self->service, self->keys, &why))
        fprintf(stderr, "superarm serve: the keys were read again\n");
    else
        fprintf(stderr, "superarm serve: the keys stay as they were: %s\n", why.message);
}

/* Serves until a signal comes. */
static bool serve(const sv_serve_options *options, sv_service *service, sv_refusal *why) {
    sv_http_options about = {.address = options->address,
                             .port = options->port,
                             .threads = options->threads,
                             .request_seconds = options->request_seconds,
                             .connections = options->connections,
                             .of_address = options->connections_per_address,
                             .body_memory = options->body_memory,
                             .log = (sv_log_level)options->log,
                             .admit = sv_routes_admit,
                             .answer = sv_routes_answer,
                             .end = end_exchange,
                             .refused = count_refused,
                             .service = service,
                             .open = &service->connections,
                             .active = &service->active,
                             .turned_away = &service->turned_away,
                             .held = &service->body_bytes};
    sv_http *http = sv_http_start(&about, why);
    if (!http) return false;
    bool good = !options->port_file || write_port(options->port_file, sv_http_port(http)) ||
                sv_refuse(why, 400, "%s cannot be written", options->port_file);
    if (good) {
        sv_reloading about_keys = {service, options->keys};
        sv_signals_serving(reload, &about_keys);
        say_hello(options, sv_http_port(http), sv_agents_count(&service->agents));
        sv_signals_wait();
        sv_signals_end();
        atomic_store(&service->stopping, true);
        size_t cut = sv_http_drain(http, 0.6 * options->stop_seconds);
        if (cut) { /* threads still work at them: they cannot be stopped, and all that counts is on disk */
            fprintf(stderr, "superarm serve: %zu requests were not answered in time\n", cut);
            _exit(0);
        }
    }
    sv_http_stop(http);
    return good;
}

/* Where addresses are limited, what threads only reserve (stacks, arenas of malloc) must not take most of
 * them. */
static void save_addresses(void) {
    struct rlimit limit;
    pthread_attr_t small;
    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY) return;
    mallopt(M_ARENA_MAX, 1);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 2 << 20);
    pthread_setattr_default_np(&small);
    pthread_attr_destroy(&small);
}

int sv_serve_run(const sv_serve_options *options, char *message) {
    sv_refusal why = {0};
    if (!options->keys && !sv_http_is_loopback(options->address)) {
        sv_refuse(
            &why, 400,
            "--bind %s can be reached from elsewhere, which needs --keys FILE; --new-keys FILE makes one",
            options->address);
        return fail(&why, message);
    }
    save_addresses();
    if (!sv_signals_begin(options->stop_seconds)) {
        sv_refuse(&why, 503, "no thread could be had");
        return fail(&why, message);
    }
    sv_service_options about = {.folder = options->folder,
                                .store = options->store,
                                .learning = (sv_learning)options->learn,
                                .keys = options->keys,
                                .checkpoint_seconds = options->checkpoint_seconds,
                                .recovery_seconds = options->recovery_seconds,
                                .solver = "/proc/self/exe",
                                .solver_seconds = options->solver_seconds,
                                .memory = options->memory};
    sv_service *service = sv_service_start(&about, &why);
    if (!service) return fail(&why, message);
    bool good = serve(options, service, &why);
    sv_service_stop(service);
    return good ? 0 : fail(&why, message);
}

int sv_serve_solver(void) { return sv_solver_help(); }
int sv_serve_evaluator(int count, char **words) { return sv_evaluation_help(count, words); }

int sv_serve_add_key(const char *path, const char *role_and_name, char *message) {
    char key[65];
    sv_refusal why = {0};
    if (!sv_keys_add(path, role_and_name, key, &why)) return fail(&why, message);
    printf("%s %s\nIt is shown this once. A service that runs reads %s again at SIGHUP.\n", role_and_name,
           key, path);
    return 0;
}

int sv_serve_make_keys(const char *path, char *message) {
    char admin[65], client[65];
    sv_refusal why = {0};
    if (!sv_keys_make(path, admin, client, &why)) return fail(&why, message);
    printf("admin  %s\nclient %s\nThey are shown this once: %s has their hashes only.\n", admin, client,
           path);
    return 0;
}
