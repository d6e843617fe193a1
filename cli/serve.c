/* superarm serve: the decision service. Its parts are in serve/; this reads the flags. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static const char NAME[] = "serve";

#ifndef SA_HAVE_SERVE

int cli_serve(int count, char **arguments) {
    (void)count, (void)arguments;
    return cli_say(NAME, EXIT_OTHER, "this build has no service: libsqlite3-dev was missing");
}

#else

#include "serve.h"

static void print_help(void) {
    puts("superarm serve --dir DIR [options]\n\n"
         "Serves decisions over HTTP, and keeps what it acknowledges: answers 201 and 204 mean that it is on "
         "disk. DIR "
         "holds\n"
         "everything (the journal and checkpoints of agents) and is made where it is missing. "
         "docs/SERVICE.md has the "
         "routes.\n\n"
         "Options:\n"
         "  --dir DIR               the folder\n"
         "  --store URL             instead of --dir: postgresql://user@host/database, which any number of\n"
         "                          servers share; docs/SERVERS.md\n"
         "  --learn WHICH           with --store: yes, no or only; a server that only learns answers no\n"
         "                          decide and no feedback [yes]\n"
         "  --port PORT             [8080]; 0: any that is free\n"
         "  --port-file FILE        the port is written there once it is served\n"
         "  --bind ADDRESS          [127.0.0.1]; addresses that others can reach need --keys\n"
         "  --keys FILE             hashes of keys of admins and clients; requests then need one of them. "
         "Read\n"
         "                          again at SIGHUP\n"
         "  --new-keys FILE         makes such a file, prints the keys, and ends\n"
         "  --add-key ROLE:NAME     adds a key, as client:web, to --keys FILE, prints it, and ends\n"
         "  --threads N             threads that read requests and choose [one a processor, at least 2]\n"
         "  --recovery-seconds S    that learning again may take after a start: when agents get\n"
         "                          their checkpoints [10]\n"
         "  --checkpoint-seconds S  between two checkpoints of an agent, at the latest [none]\n"
         "  --request-seconds S     for a whole request to arrive [30]\n"
         "  --solver-seconds S      of processor time for the rules (problem) of a request [0.2]\n"
         "  --stop-seconds S        after SIGTERM, until the process ends all the same [20]\n"
         "  --connections N         open at a time [16384, or as many as the system allows]; beyond, the one "
         "that is\n"
         "                          missed least is closed for a new one\n"
         "  --connections-per-address N  from one address (IPv6: its first half) [half of --connections]\n"
         "  --memory MB             for agents: a PUT that needs more is refused [half of what there is]\n"
         "  --body-memory MB        for the bodies of all requests that are read or answered [256]\n"
         "  --log WHICH             JSON lines on stderr: requests, errors or none [requests]\n"
         "  --quiet                 --log none\n"
         "  --check DIR|URL         looks for damage in a folder or a database, and ends\n"
         "  --backup TO             copies --dir into a new folder, while it is served or not, and ends\n"
         "  --copy FROM TO          copies a folder into a database (postgresql://...) with its tables made, "
         "or\n"
         "                          a database into a new folder, while nobody serves them, and ends\n"
         "  --migrate               with --store: makes the tables, or changes them to this version's, and "
         "ends\n"
         "  --migrate               makes a backup beside --dir, changes its format to this version's, and "
         "ends\n\n"
         "Example:\n"
         "  superarm serve --dir shop\n"
         "  curl -X PUT http://127.0.0.1:8080/v1/agents/home -H 'Content-Type: application/json' \\\n"
         "       -d '{\"options\": {\"algorithm\": \"cn-ucb\", \"dim\": 2}, \"slate\": 2, "
         "\"default_feedback\": 0}'\n"
         "  curl http://127.0.0.1:8080/v1/agents/home/decide -H 'Content-Type: application/json' \\\n"
         "       -d '{\"event\": \"e1\", \"contexts\": [[0, 1], [1, 0], [0.5, 0.5]]}'");
}

typedef struct inputs {
    sv_serve_options serve;
    const char *check, *backup, *new_keys, *add_key, *copy_from, *copy_to;
    bool migrate;
} inputs;

typedef struct option {
    const char *name;
    const char **text; /* where its value goes, of one kind */
    unsigned *whole;   /* 0 to `most` */
    double *seconds;   /* more than 0 */
    double *megabytes; /* more than 0; kept in bytes */
    int *log, *learn;
    unsigned most;
} option;

static const char *const LOGS[] = {"requests", "errors", "none"}, *const LEARNS[] = {"yes", "no", "only"};

static int take_word(const option *flag, int *into, const char *value, const char *const words[3]) {
    for (int i = 0; i < 3; i++)
        if (!strcmp(value, words[i])) {
            *into = i;
            return EXIT_FINE;
        }
    return cli_say(NAME, EXIT_INPUT, "--%s %s is not %s, %s or %s", flag->name, value, words[0], words[1],
                   words[2]);
}

static int take_value(const option *flag, const char *value) {
    char *end;
    if (flag->text) {
        if (!*value) return cli_say(NAME, EXIT_INPUT, "--%s is empty", flag->name);
        *flag->text = value;
        return EXIT_FINE;
    }
    if (flag->log) return take_word(flag, flag->log, value, LOGS);
    if (flag->learn) return take_word(flag, flag->learn, value, LEARNS);
    double number = strtod(value, &end);
    if (*end || end == value || !(number == number))
        return cli_say(NAME, EXIT_INPUT, "--%s %s is no number", flag->name, value);
    if (flag->whole) {
        if (number < 0 || number > flag->most || number != (double)(unsigned)number)
            return cli_say(NAME, EXIT_INPUT, "--%s %s is not a whole number from 0 to %u", flag->name, value,
                           flag->most);
        *flag->whole = (unsigned)number;
        return EXIT_FINE;
    }
    if (!(number > 0 && number <= 1e6))
        return cli_say(NAME, EXIT_INPUT, "--%s %s is not between 0 and 1000000", flag->name, value);
    if (flag->megabytes)
        *flag->megabytes = number * 1048576;
    else
        *flag->seconds = number;
    return EXIT_FINE;
}

static int unknown(const char *argument, const option *known, size_t count) {
    const char *names[32];
    for (size_t i = 0; i < count && i < 32; i++) names[i] = known[i].name;
    const char *nearest = strncmp(argument, "--", 2) ? NULL : cli_nearest(argument + 2, names, count);
    if (nearest)
        return cli_say(NAME, EXIT_INPUT, "%s is not an option; did you mean --%s?", argument, nearest);
    return cli_say(NAME, EXIT_INPUT, "%s is not an option; --help lists them", argument);
}

static int take(inputs *into, int count, char **arguments) {
    sv_serve_options *serve = &into->serve;
    const option known[] = {
        {.name = "dir", .text = &serve->folder},
        {.name = "store", .text = &serve->store},
        {.name = "learn", .learn = &serve->learn},
        {.name = "port", .whole = &serve->port, .most = 65535},
        {.name = "port-file", .text = &serve->port_file},
        {.name = "bind", .text = &serve->address},
        {.name = "keys", .text = &serve->keys},
        {.name = "new-keys", .text = &into->new_keys},
        {.name = "add-key", .text = &into->add_key},
        {.name = "threads", .whole = &serve->threads, .most = 256},
        {.name = "checkpoint-seconds", .seconds = &serve->checkpoint_seconds},
        {.name = "recovery-seconds", .seconds = &serve->recovery_seconds},
        {.name = "request-seconds", .seconds = &serve->request_seconds},
        {.name = "stop-seconds", .seconds = &serve->stop_seconds},
        {.name = "solver-seconds", .seconds = &serve->solver_seconds},
        {.name = "connections", .whole = &serve->connections, .most = 1000000},
        {.name = "connections-per-address", .whole = &serve->connections_per_address, .most = 1000000},
        {.name = "memory", .megabytes = &serve->memory},
        {.name = "body-memory", .megabytes = &serve->body_memory},
        {.name = "log", .log = &serve->log},
        {.name = "check", .text = &into->check},
        {.name = "backup", .text = &into->backup}};
    size_t known_count = sizeof known / sizeof *known;
    for (int i = 0; i < count; i++) {
        const char *argument = arguments[i], *equals = strchr(argument, '=');
        size_t size = equals ? (size_t)(equals - argument) : strlen(argument), at = 0;
        if (!strcmp(argument, "--quiet")) {
            serve->log = 2;
            continue;
        }
        if (!strcmp(argument, "--migrate")) { /* its folder may stand behind it, as behind --check */
            into->migrate = true;
            if (i + 1 < count && strncmp(arguments[i + 1], "--", 2)) serve->folder = arguments[++i];
            continue;
        }
        if (!strcmp(argument, "--copy")) {
            if (i + 2 >= count || !*arguments[i + 1] || !*arguments[i + 2])
                return cli_say(NAME, EXIT_INPUT, "--copy needs two values: from where, and to where");
            into->copy_from = arguments[++i];
            into->copy_to = arguments[++i];
            continue;
        }
        while (at < known_count &&
               (size < 3 || strncmp(argument, "--", 2) || strlen(known[at].name) != size - 2 ||
                strncmp(known[at].name, argument + 2, size - 2)))
            at++;
        if (at == known_count) return unknown(argument, known, known_count);
        const char *value = equals ? equals + 1 : i + 1 < count ? arguments[++i] : NULL;
        if (!value) return cli_say(NAME, EXIT_INPUT, "--%s needs a value", known[at].name);
        int status = take_value(&known[at], value);
        if (status != EXIT_FINE) return status;
    }
    return EXIT_FINE;
}

/* Not as libpq takes it, too: 'host=... password=...', nor a URL that lacks a letter: postgresql:/..., which
 * no sentence is to repeat. */
static bool is_place(const char *place) {
    if (!place || sv_serve_is_url(place)) return true;
    const char *colon = strncasecmp(place, "postgres", 8) ? NULL : strchr(place, ':');
    return !strstr(place, "password=") && (!colon || !strncmp(colon, "://", 3));
}

int cli_serve(int count, char **arguments) {
    char message[512] = "";
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    inputs flags = {.serve = {.address = "127.0.0.1",
                              .port = 8080,
                              .recovery_seconds = 10,
                              .request_seconds = 30,
                              .solver_seconds = 0.2,
                              .stop_seconds = 20}};
    for (int i = 0; i < count; i++)
        if (!strcmp(arguments[i], "--help") || !strcmp(arguments[i], "-h")) {
            print_help();
            return EXIT_FINE;
        }
    if (count == 1 && !strcmp(arguments[0], "--solver")) return sv_serve_solver(); /* the service starts it */
    if (count == 3 && !strcmp(arguments[0], "--evaluator"))
        return sv_serve_evaluator(count - 1, arguments + 1); /* likewise */
    int status = take(&flags, count, arguments);
    if (status != EXIT_FINE) return status;
    if (!flags.serve.threads) flags.serve.threads = processors > 2 ? (unsigned)processors : 2;
    if (flags.serve.store && !sv_serve_is_store(flags.serve.store, message))
        return cli_say(NAME, EXIT_INPUT, "%s", message);
    if (!is_place(flags.check) || !is_place(flags.copy_from) || !is_place(flags.copy_to) ||
        !is_place(flags.serve.folder))
        return cli_say(NAME, EXIT_INPUT,
                       "a database is given by a URL like postgresql://user:password@host/database");
    umask(077); /* what it writes tells what people did */
    if (flags.check)
        status = sv_serve_check(flags.check, message);
    else if (flags.copy_from)
        status = sv_serve_copy(flags.copy_from, flags.copy_to, message);
    else if (flags.add_key && !flags.serve.keys)
        return cli_say(NAME, EXIT_INPUT, "--add-key needs --keys FILE, which --new-keys FILE makes");
    else if (flags.add_key)
        status = sv_serve_add_key(flags.serve.keys, flags.add_key, message);
    else if (flags.new_keys)
        status = sv_serve_make_keys(flags.new_keys, message);
    else if (flags.serve.folder && flags.serve.store)
        return cli_say(NAME, EXIT_INPUT,
                       "--dir and --store are two places for one journal: give one of them");
    else if (!flags.serve.folder && !flags.serve.store)
        return cli_say(NAME, EXIT_INPUT,
                       "--dir is missing: the folder that holds the journal, made where it is missing; or "
                       "--store, a database that servers share");
    else if (flags.serve.folder && strstr(flags.serve.folder, "://"))
        return cli_say(NAME, EXIT_INPUT, "--dir is a folder, and this is a URL: give it to --store");
    else if (flags.serve.learn && !flags.serve.store)
        return cli_say(NAME, EXIT_INPUT, "--learn is for servers that share a --store");
    else if (flags.migrate)
        status = sv_serve_migrate(flags.serve.store ? flags.serve.store : flags.serve.folder, message);
    else if (flags.backup)
        status = sv_serve_backup(flags.serve.store ? flags.serve.store : flags.serve.folder, flags.backup,
                                 message);
    else
        status = sv_serve_run(&flags.serve, message);
    return status == EXIT_FINE ? EXIT_FINE : cli_say(NAME, status, "%s", message);
}

#endif
