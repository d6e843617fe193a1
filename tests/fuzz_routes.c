/* Requests to the service, without a network: a line "METHOD PATH?QUERY TYPE", then the body. Whatever is
 * asked, the answer is a status that the routes have, JSON where it is an error, and the service goes on. */
#include <sys/stat.h>

#include "fuzz_memory_file.h"
#include "serve_rig.h"

static sv_service *service;
static char folder[64];

static void expect(bool holds) {
    if (!holds) abort();
}

/* The service's threads end with the process: at exit, libraries that a checkpoint needs are gone already. */
static void end(void) {
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command)) return;
}

static void begin(void) {
    strcpy(folder, "/dev/shm/superarm-fuzz-XXXXXX"); /* memory: a disk would be synced with every request */
    if (!mkdtemp(folder)) {
        strcpy(folder, "/tmp/superarm-fuzz-XXXXXX");
        expect(mkdtemp(folder) != NULL);
    }
    service = rig_start(folder, 1000);
    expect(service != NULL);
    atexit(end);
}

/* An agent and an event that requests of the corpus can name. */
static void prepare(void) {
    static const char ask[] = "{\"event\": \"e1\", \"contexts\": [[0, 1], [1, 0], [0.5, 0.5]]}";
    int status = rig_ask(service, "PUT", "/v1/agents/home", RIG_AGENT, NULL);
    expect(status == 201 || status == 200 || status == 409);
    status = rig_ask(service, "POST", "/v1/agents/home/decide", ask, NULL);
    expect(status == 201 || status == 200 || status == 409 || status == 400);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char line[600], *answer = NULL;
    const uint8_t *body = memchr(data, '\n', size < sizeof line ? size : sizeof line - 1);
    if (!body) return 0;
    memcpy(line, data, (size_t)(body - data));
    line[body - data] = 0;
    body++;
    char *rest = NULL, *method = strtok_r(line, " ", &rest), *path = strtok_r(NULL, " ", &rest),
         *type = strtok_r(NULL, "", &rest);
    if (!path) return 0;
    char *query = strchr(path, '?');
    if (query) *query++ = 0;
    if (!service) begin();
    prepare();
    int status =
        rig_ask_bytes(service, method, path, query, type, body, size - (size_t)(body - data), &answer);
    static const int known[] = {200, 201, 204, 400, 403, 404, 405, 409, 413, 415, 429, 0};
    size_t i = 0;
    while (known[i] && known[i] != status) i++;
    expect(known[i]);
    expect(status < 400 || !strncmp(answer, "{\"error\": {\"code\": \"", 20));
    free(answer);
    expect(rig_ask(service, "GET", "/readyz", NULL, NULL) == 200);
    return 0;
}
