#include "base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SENTENCE_SIZE = 1024 };

static _Thread_local char sentence[SENTENCE_SIZE];

sa_status sa_fail(sa_status status, const char *format, ...) {
    char fresh[SENTENCE_SIZE]; /* an argument may point into the old sentence */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fresh, sizeof fresh, format, arguments);
    va_end(arguments);
    memcpy(sentence, fresh, sizeof sentence);
    return status;
}

sa_status sa_fail_prefix(sa_status status, const char *format, ...) {
    char prefix[SENTENCE_SIZE / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(prefix, sizeof prefix, format, arguments);
    va_end(arguments);
    return sa_fail(status, "%s%s", prefix, sentence);
}

const char *sa_last_error(void) { return sentence; }

const char *sa_status_name(sa_status status) {
    switch ((int)status) {
#define SA_STATUS_NAME(name, number, message)                                                                \
    case number: return "SA_" #name;
        SA_STATUS_LIST(SA_STATUS_NAME)
#undef SA_STATUS_NAME
    default: return "unknown status";
    }
}

const char *sa_status_message(sa_status status) {
    switch ((int)status) {
#define SA_STATUS_TEXT(name, number, message)                                                                \
    case number: return message;
        SA_STATUS_LIST(SA_STATUS_TEXT)
#undef SA_STATUS_TEXT
    default: return "unknown status";
    }
}

sa_status sa_status_of_errno(int code) {
    if (code == ENOMEM) return SA_OUT_OF_MEMORY;
    return code == ENOSPC || code == EDQUOT || code == EIO ? SA_DISK : SA_FILE;
}

sa_status sa_fail_errno(const char *verb, const char *path) {
    int code = errno;
    char reason[128];
    if (strerror_r(code, reason, sizeof reason)) snprintf(reason, sizeof reason, "error %d", code);
    return sa_fail(sa_status_of_errno(code), "%s cannot be %s: %s", path, verb, reason);
}
