#include "base/numbers.h"

#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

/* How many numbers the text has, 0 when it is no list of numbers. Changes the text. */
static size_t parse(char *text, double *numbers) {
    size_t count = 0;
    for (char *next; text; text = next) {
        char *comma = strchr(text, ',');
        next = comma ? comma + 1 : NULL;
        if (comma) *comma = 0;
        text += strspn(text, " ");
        for (size_t size = strlen(text); size > 0 && text[size - 1] == ' '; size--) text[size - 1] = 0;
        if (!sa_text_to_number(text, &numbers[count++])) return 0;
    }
    return count;
}

/* The numbers of "0,1|1,2|2,0"; `columns` of each row. SA_INVALID where a row has more or fewer. */
static sa_status parse_rows(char *text, double *numbers, size_t *rows, size_t *columns) {
    *rows = *columns = 0;
    for (char *next; text; text = next) {
        char *bar = strchr(text, '|');
        next = bar ? bar + 1 : NULL;
        if (bar) *bar = 0;
        size_t count = parse(text, numbers + *rows * *columns);
        if (count == 0) return sa_fail(SA_INVALID, "row %zu is no list of numbers, as in 0,1|1,2", *rows);
        if (*rows > 0 && count != *columns)
            return sa_fail(SA_INVALID, "row %zu has %zu numbers, and row 0 has %zu", *rows, count, *columns);
        *columns = count;
        ++*rows;
    }
    return SA_OK;
}

sa_status sa_rows_read(const char *text, sa_array *out) {
    char *copy;
    double *numbers = NULL;
    size_t most = 1, rows, columns;
    if (!strchr(text, ',') || sa_file_exists(text)) return sa_npy_read(text, out);
    for (const char *c = text; *c; c++) most += *c == ',' || *c == '|';
    SA_TRY(sa_copy_text(text, &copy));
    sa_status status = sa_alloc_array(most, sizeof *numbers, &numbers);
    if (status == SA_OK) status = parse_rows(copy, numbers, &rows, &columns);
    sa_free(copy);
    if (status != SA_OK) {
        sa_free(numbers);
        return status;
    }
    *out = (sa_array){.type = SA_FLOAT64, .axes = 2, .shape = {rows, columns}, .data = numbers};
    return SA_OK;
}

sa_status sa_numbers_read(const char *text, sa_array *out) {
    char *copy, shown[SA_PRINTABLE];
    double *numbers;
    size_t most = 1;
    for (const char *c = text; *c; c++) most += *c == ',';
    SA_TRY(sa_copy_text(text, &copy));
    sa_status status = sa_alloc_array(most, sizeof *numbers, &numbers);
    size_t count = status == SA_OK ? parse(copy, numbers) : 0;
    sa_free(copy);
    SA_TRY(status);
    if (count > 0) {
        *out = (sa_array){.type = SA_FLOAT64, .axes = 1, .shape = {count}, .data = numbers};
        return SA_OK;
    }
    sa_free(numbers);
    if (most > 1 && !sa_file_exists(text))
        return sa_fail(SA_INVALID, "%s is neither a list of numbers, as in 0.5,1, nor a file",
                       sa_printable(text, shown));
    return sa_npy_read(text, out);
}
