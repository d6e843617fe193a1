#include "personalizer_path.h"

#include <string.h>

const char SV_PERSONALIZER_OWN[] = "personalizer";

bool sv_personalizer_prefix(const char **pattern, const char **path, char name[LIMIT_NAME + 1]) {
    const char *at = *path;
    size_t length = strcspn(at + (*at == '/'), "/");
    if (*at++ != '/' || length == 0 || length > LIMIT_NAME) return false;
    if (strncmp(at, "personalizer/v", 14)) {
        memcpy(name, at, length);
        name[length] = 0;
        at += length + (at[length] == '/');
    } else
        strcpy(name, SV_PERSONALIZER_OWN);
    if (strncmp(at, "personalizer/v1.", 16)) return false;
    at += 16;
    at += strspn(at, "0123456789.-abcdefghijklmnopqrstuvwxyz"); /* v1.0, v1.1-preview.3 */
    *path = at;
    *pattern += strlen("/personalizer/{version}");
    return true;
}

const char *sv_personalizer_code(const char *pattern, const char *route, int status) {
    static const struct {
        const char *route, *code;
    } bad[] = {{"rank", "InvalidRankRequest"},
               {"reward", "InvalidRewardRequest"},
               {"personalizer_activate", "InvalidEventIdToActivate"},
               {"put_configuration", "InvalidServiceConfiguration"},
               {"import_model", "InvalidModelImportFormat"}};
    if (strncmp(pattern, "/personalizer/", 14)) return NULL;
    for (size_t i = 0; status == 400 && i < sizeof bad / sizeof *bad; i++)
        if (strstr(route, bad[i].route)) return bad[i].code;
    return status == 401   ? "401"
           : status == 404 ? "ResourceNotFound"
           : status == 413 ? "PayloadSizeExceeded"
           : status == 403 ? "InvalidApiAccess"
           : status == 409 ? "OperationNotAllowed"
           : status < 500  ? "BadRequest"
                           : "InternalServerError";
}
