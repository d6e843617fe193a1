/* Numbers as JSON. */
#include <math.h>
#include <stdlib.h>

#include "cli.h"

void cli_print_number(double number) {
    char text[40];
    if (!isfinite(number)) {
        fputs("null", stdout);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number) break;
    }
    fputs(text, stdout);
}
