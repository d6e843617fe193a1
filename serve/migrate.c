/* sv_serve_migrate: a folder of an older version becomes one of this version, and stays as it was beside
 * it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folder.h"
#include "serve.h"
#include "store_calls.h"
#include <superarm/json.h>

/* A name that is free: DIR-format-1, DIR-format-1-2... */
static bool name_backup(const char *folder, int format, sa_buffer *out) {
    size_t size = strlen(folder);
    while (size > 1 && folder[size - 1] == '/') size--;
    for (int i = 1; i < 100; i++) {
        sa_buffer_clear(out);
        sa_buffer_format(out, "%.*s-format-%d", (int)size, folder, format);
        if (i > 1) sa_buffer_format(out, "-%d", i);
        if (out->status || access(out->text, F_OK)) return !out->status;
    }
    return false;
}

static int migrate(const char *folder, int format, char *message) {
    sa_buffer backup = {0}, sentence = {0};
    int status = 1;
    if (!name_backup(folder, format, &backup))
        snprintf(message, 512, "there is no free name for a backup of %s", folder);
    else if (!(status = sv_serve_backup(folder, backup.text, message))) {
        if (sv_store_migrate(folder, format, &sentence))
            printf("%s has the format %d now; it had %d, and %s has it as it was\n", folder, STORE_FORMAT,
                   format, backup.text);
        else {
            snprintf(message, 512, "%s; nothing is changed", sentence.status ? folder : sentence.text);
            status = 1;
        }
    }
    sa_buffer_clear(&backup);
    sa_buffer_clear(&sentence);
    return status;
}

static int migrate_database(const char *url, char *message) {
    sa_buffer sentence = {0};
    int before = 0, after = 0;
    bool good = sv_postgres_migrate(url, &before, &after, &sentence);
    if (!good)
        snprintf(message, 512, "%s", sentence.status ? "memory could not be had" : sentence.text);
    else if (!before)
        printf("the database has its tables now, of format %d\n", after);
    else if (before >= after)
        printf("the database has the format %d already: nothing is to be done\n", before);
    else
        printf("the database has the format %d now; it had %d\n", after, before);
    sa_buffer_clear(&sentence);
    return good ? 0 : 2;
}

int sv_serve_migrate(const char *folder, char *message) {
    if (sv_store_is_url(folder)) return migrate_database(folder, message);
    sv_folder held;
    sv_refusal why = {0};
    int format = 0, status = 2;
    sa_buffer sentence = {0};
    if (access(folder, F_OK)) {
        snprintf(message, 512, "%s is not there", folder);
        return 2;
    }
    if (!sv_folder_open(&held, folder, &why))
        snprintf(message, 512, "%s", why.message);
    else if (!sv_store_format(folder, &format, &sentence))
        snprintf(message, 512, "%s", sentence.status ? "memory could not be had" : sentence.text);
    else if (format == STORE_FORMAT) {
        printf("%s has the format %d already: nothing is to be done\n", folder, format);
        status = 0;
    } else
        status = migrate(folder, format, message);
    sa_buffer_clear(&sentence);
    sv_folder_close(&held);
    return status;
}
