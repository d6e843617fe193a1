/* A CSV file with a header, whole in memory: cells, and which columns hold numbers alone. */
#ifndef SA_CONVERT_CSV_TABLE_H
#define SA_CONVERT_CSV_TABLE_H

#include "base/buffer.h"
#include "base/span.h"

typedef struct sa_csv_table {
    char *text;     /* the file */
    char *unquoted; /* cells that had doubled quotes */
    size_t unquoted_size, unquoted_room;
    sa_span *cells; /* (1 + rows, columns), the header first */
    size_t cells_room, columns, rows;
    size_t *line; /* (1 + rows) where each begins */
    size_t line_room;
    bool *is_number; /* (columns) all cells that are not empty are numbers */
} sa_csv_table;

/* Caller clears it, also after a failure. */
sa_status sa_csv_table_read(const char *path, sa_csv_table *table);
void sa_csv_table_clear(sa_csv_table *table);
/* Row from 0, below the header. */
sa_span sa_csv_table_cell(const sa_csv_table *table, size_t row, size_t column);
sa_span sa_csv_table_name(const sa_csv_table *table, size_t column);
/* The column of this name, or SIZE_MAX. */
size_t sa_csv_table_find(const sa_csv_table *table, const char *name);
/* Adds the cell as JSON: a number in a column of numbers, else a text. False, and nothing added, when it is
 * empty. */
bool sa_csv_table_add(const sa_csv_table *table, size_t row, size_t column, sa_buffer *json);
/* Adds a text of these bytes, in quotes. */
void sa_csv_table_quote(sa_span text, sa_buffer *json);

#endif
