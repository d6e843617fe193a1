/* Why a request is not answered as asked: an HTTP status and one sentence. */
#ifndef SERVE_REFUSAL_H
#define SERVE_REFUSAL_H

#include <stdbool.h>

#include <superarm/superarm.h>

#include <superarm/json.h>

typedef struct refusal {
    int status; /* 0: none */
    char message[480];
} sv_refusal;

/* Returns false, so that a function can end with it. What is cut is cut between characters. */
__attribute__((format(printf, 3, 4))) bool sv_refuse(sv_refusal *self, int status, const char *format, ...);
/* The library's last sentence: 400 where the input was wrong, else 503. */
bool sv_refuse_library(sv_refusal *self, sa_status status);
/* {"error": {"code", "message"}} */
void sv_refusal_write(const sv_refusal *self, const char *code, sa_buffer *out);

#endif
