#include "serve.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "http.h"
#include "routes.h"
#include "service.h"

static const double DRAIN_SECONDS = 20;

static int fail(const sv_refusal *why, char *message) {
    snprintf(message, 512, "%s", why->message);
    return why->status == 400 ? 2 : 1;
}

static bool write_port(const char *path, unsigned port) {
    sv_text part = {0};
    bool good = false;
    text_put(&part, "%s.part", path);
    FILE *file = part.failed ? NULL : fopen(part.data, "w");
    if (file) {
        good = fprintf(file, "%u\n", port) > 0;
        good = fclose(file) == 0 && good &&
               rename(part.data, path) == 0; /* who reads it sees all of it or nothing */
    }
    text_free(&part);
    return good;
}

static void end_exchange(sv_exchange *exchange, double seconds) {
    size_t index = METRICS_ROUTES - 1;
    for (size_t i = 0; exchange->route && i < route_count(); i++)
        if (route_at(i) == exchange->route) index = i;
    metrics_count(&exchange->service->metrics, index, exchange->status, seconds);
    routes_end(exchange);
}

static void say_hello(const serve_options *options, unsigned port, size_t agents) {
    bool six = strchr(options->address, ':');
    printf("superarm serve: http://%s%s%s:%u/ serves %s (%zu agent%s). The page there has a first request to "
           "paste.\n",
           six ? "[" : "", options->address, six ? "]" : "", port, options->folder, agents,
           agents == 1 ? "" : "s");
    fflush(stdout);
}

/* Serves until a signal comes. */
static bool serve(const serve_options *options, sv_service *service, const sigset_t *signals,
                  sv_refusal *why) {
    int signal_number;
    http_options about = {.address = options->address,
                          .port = options->port,
                          .threads = options->threads,
                          .request_seconds = options->request_seconds,
                          .quiet = options->quiet,
                          .admit = routes_admit,
                          .answer = routes_answer,
                          .end = end_exchange,
                          .service = service,
                          .connections = &service->connections};
    sv_http *http = http_start(&about, why);
    if (!http) return false;
    bool good = !options->port_file || write_port(options->port_file, http_port(http)) ||
                refuse(why, 400, "%s cannot be written", options->port_file);
    if (good) {
        say_hello(options, http_port(http), agents_count(&service->agents));
        sigwait(signals, &signal_number);
        pthread_sigmask(SIG_UNBLOCK, signals, NULL); /* a second one ends the process at once */
        atomic_store(&service->stopping, true);
        http_drain(http, DRAIN_SECONDS);
    }
    http_stop(http);
    return good;
}

int serve_run(const serve_options *options, char *message) {
    sv_refusal why = {0};
    sigset_t signals;
    if (!options->keys && !http_is_loopback(options->address)) {
        refuse(&why, 400,
               "--bind %s can be reached from elsewhere, which needs --keys FILE; --new-keys FILE makes one",
               options->address);
        return fail(&why, message);
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* also in the threads to come */
    service_options about = {.folder = options->folder,
                             .keys = options->keys,
                             .checkpoint_seconds = options->checkpoint_seconds,
                             .recovery_seconds = options->recovery_seconds};
    sv_service *service = service_start(&about, &why);
    if (!service) return fail(&why, message);
    bool good = serve(options, service, &signals, &why);
    service_stop(service);
    return good ? 0 : fail(&why, message);
}

int serve_make_keys(const char *path, char *message) {
    char admin[65], client[65];
    sv_refusal why = {0};
    if (!keys_make(path, admin, client, &why)) return fail(&why, message);
    printf("admin  %s\nclient %s\nThey are shown this once: %s has their hashes only.\n", admin, client,
           path);
    return 0;
}
