#include "convert/csv_table.h"

#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/memory.h"

void sa_csv_table_clear(sa_csv_table *table) {
    sa_free(table->text);
    sa_free(table->unquoted);
    sa_free(table->cells);
    sa_free(table->line);
    sa_free(table->is_number);
    *table = (sa_csv_table){0};
}

/* A field that was unquoted elsewhere lives only until the next one: it is copied, into room that never
 * moves. */
static sa_span keep(sa_csv_table *table, const sa_csv *csv, sa_span field) {
    if (field.start != csv->unquoted) return field;
    char *copy = table->unquoted + table->unquoted_size;
    memcpy(copy, field.start, field.size);
    table->unquoted_size += field.size;
    return (sa_span){copy, field.size};
}

static sa_status read_row(sa_csv_table *table, sa_csv *csv, size_t row) {
    bool ends = false;
    size_t column = 0, line = csv->line;
    SA_TRY(sa_grow_array(&table->line, &table->line_room, row + 1, sizeof *table->line));
    table->line[row] = line;
    for (; !ends; column++) {
        sa_span field;
        SA_TRY(sa_csv_field(csv, &field, &ends));
        if (row > 0 && column == table->columns)
            return sa_fail(SA_FORMAT, "%s:%zu: the row has more fields than the %zu columns of the header",
                           csv->path, line, column);
        size_t at = row * table->columns + column;
        SA_TRY(sa_grow_array(&table->cells, &table->cells_room, at + 1, sizeof *table->cells));
        table->cells[at] = keep(table, csv, field);
    }
    if (row == 0) table->columns = column;
    if (column != table->columns)
        return sa_fail(SA_FORMAT, "%s:%zu: the row has fewer fields than the %zu columns of the header",
                       csv->path, line, table->columns);
    return SA_OK;
}

static sa_status find_numbers(sa_csv_table *table) {
    SA_TRY(sa_alloc_array(table->columns, sizeof *table->is_number, &table->is_number));
    for (size_t column = 0; column < table->columns; column++) {
        bool all = true;
        for (size_t row = 0; all && row < table->rows; row++) {
            double number;
            sa_span cell = sa_csv_table_cell(table, row, column);
            all = cell.size == 0 || (sa_span_to_number(cell, &number) && isfinite(number));
        }
        table->is_number[column] = all;
    }
    return SA_OK;
}

sa_status sa_csv_table_read(const char *path, sa_csv_table *table) {
    size_t size, rows = 0;
    sa_csv csv;
    *table = (sa_csv_table){0};
    SA_TRY(sa_file_read(path, &table->text, &size));
    SA_TRY(sa_grow_array(&table->unquoted, &table->unquoted_room, size + 1, 1));
    sa_status status = sa_csv_begin(&csv, table->text, size, path, ',');
    while (status == SA_OK && sa_csv_row(&csv)) status = read_row(table, &csv, rows++);
    sa_csv_clear(&csv);
    SA_TRY(status);
    if (rows < 2) return sa_fail(SA_FORMAT, "%s has %s", path, rows ? "a header and no rows" : "no header");
    table->rows = rows - 1;
    return find_numbers(table);
}

sa_span sa_csv_table_cell(const sa_csv_table *table, size_t row, size_t column) {
    return table->cells[(row + 1) * table->columns + column];
}

sa_span sa_csv_table_name(const sa_csv_table *table, size_t column) { return table->cells[column]; }

size_t sa_csv_table_find(const sa_csv_table *table, const char *name) {
    for (size_t i = 0; i < table->columns; i++)
        if (sa_span_equals(table->cells[i], name)) return i;
    return SIZE_MAX;
}

void sa_csv_table_quote(sa_span text, sa_buffer *json) {
    sa_buffer plain = {0};
    sa_buffer_bytes(&plain, text.start, text.size);
    if (plain.status == SA_OK)
        sa_buffer_quote(json, plain.text);
    else
        json->status = plain.status;
    sa_buffer_clear(&plain);
}

bool sa_csv_table_add(const sa_csv_table *table, size_t row, size_t column, sa_buffer *json) {
    sa_span cell = sa_csv_table_cell(table, row, column);
    double number;
    if (cell.size == 0) return false;
    if (table->is_number[column] && sa_span_to_number(cell, &number))
        sa_buffer_number(json, number, 0);
    else
        sa_csv_table_quote(cell, json);
    return true;
}
