#include "duration.h"

#include <math.h>
#include <string.h>

static const struct unit {
    char letter;
    bool of_day; /* behind the T */
    double seconds;
} UNITS[] = {{'W', false, 604800}, {'D', false, 86400}, {'H', true, 3600}, {'M', true, 60}, {'S', true, 1}};

enum { UNIT_COUNT = sizeof UNITS / sizeof *UNITS };

/* Digits, and for seconds a fraction; goes behind them. */
static bool read_number(const char **at, double *out) {
    const char *from = *at;
    double number = 0, scale = 1;
    for (; **at >= '0' && **at <= '9'; (*at)++) number = 10 * number + (**at - '0');
    if (*at == from || *at - from > 12) return false;
    if (**at == '.' || **at == ',') {
        from = ++*at;
        for (; **at >= '0' && **at <= '9'; (*at)++) number += (**at - '0') * (scale /= 10);
        if (*at == from || *at - from > 12) return false;
    }
    *out = number;
    return true;
}

bool sv_duration_read(const char *text, double *seconds) {
    bool of_day = false;
    size_t next = 0; /* units come in order, each once */
    double number, sum = 0;
    if (*text++ != 'P' || !*text) return false;
    while (*text) {
        if (*text == 'T') {
            if (of_day || !*++text) return false;
            of_day = true;
        }
        if (!read_number(&text, &number)) return false;
        while (next < UNIT_COUNT && (UNITS[next].letter != *text || UNITS[next].of_day != of_day)) next++;
        if (next == UNIT_COUNT) return false;
        sum += number * UNITS[next++].seconds;
        text++;
    }
    *seconds = sum;
    return true;
}

void sv_duration_write(double seconds, sa_buffer *out) {
    double left = seconds;
    bool of_day = false;
    sa_buffer_text(out, "P");
    for (size_t i = 1; i < UNIT_COUNT; i++) {
        bool last = i + 1 == UNIT_COUNT;
        double whole = last ? left : floor(left / UNITS[i].seconds);
        if (whole == 0 && !(last && seconds == 0)) continue;
        if (UNITS[i].of_day && !of_day) sa_buffer_text(out, "T");
        of_day = UNITS[i].of_day;
        sa_buffer_number(out, whole, 0);
        sa_buffer_bytes(out, &UNITS[i].letter, 1);
        left -= whole * UNITS[i].seconds;
    }
}
