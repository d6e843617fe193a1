/* A table of decisions, and one of the items.
 *
 * A row is an arm that was shown; rows of one event, one after the other, are a slate. Columns that have no
 * meaning of their own are the context's fields (of a slate: those of its first row). Candidates are all
 * items: those of the table of items, with its other columns as their fields, or without one all that the
 * decisions name. A column NAME + id (--per-item NAME) is a field of the item id. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "convert/convert.h"
#include "convert/csv_table.h"

typedef enum role { ITEM, FEEDBACK, PROPENSITY, POSITION_PROPENSITY, EVENT, TIME, ROLES } role;
static const char *const ROLE_NAMES[ROLES] = {"item",  "feedback", "propensity", "position-propensity",
                                              "event", "time"};
static const char *const TRIED[ROLES][4] = {{"item", "item_id", "action"},
                                            {"feedback", "click", "reward"},
                                            {"propensity", "propensity_score", "pscore"},
                                            {"position_propensity"},
                                            {"event", "event_id"},
                                            {"time", "timestamp"}};

typedef struct csv_source {
    sa_source base;
    const sa_conversion *conversion;
    sa_csv_table table, items;
    size_t column[ROLES], item_column; /* SIZE_MAX: not there */
    bool *of_context;                  /* (columns) */
    sa_buffer *item;                   /* (item_count) `{"id":"3","price":2`, which is not closed yet */
    size_t item_count, item_room;
    size_t *per_item; /* (item_count) the column of the item's own field, or SIZE_MAX */
    sa_json json;
    sa_ids ids;
    char *field; /* the name of that field, in quotes and with its colon */
    sa_buffer context, list, event, time;
    size_t *arms;  /* (item_count + 1) */
    double *lists; /* (2, item_count + 1): feedback, probabilities */
    size_t next_row, decisions;
    sa_log_entry entry;
} csv_source;

static sa_status wrong(const csv_source *self, size_t row, size_t column, const char *wanted) {
    char name[SA_PRINTABLE], shown[SA_PRINTABLE];
    return sa_fail(SA_FORMAT, "%s:%zu: %s is %s, and %s", self->conversion->in, self->table.line[row + 1],
                   sa_span_printable(sa_csv_table_name(&self->table, column), name),
                   sa_span_printable(sa_csv_table_cell(&self->table, row, column), shown), wanted);
}

/* ---- columns ---- */

static sa_status find_column(csv_source *self, role which, const char *given) {
    self->column[which] = SIZE_MAX;
    if (given) {
        self->column[which] = sa_csv_table_find(&self->table, given);
        if (self->column[which] == SIZE_MAX)
            return sa_fail(SA_INVALID, "--%s %s is no column of %s", ROLE_NAMES[which], given,
                           self->conversion->in);
    }
    for (int i = 0; !given && i < 4 && TRIED[which][i] && self->column[which] == SIZE_MAX; i++)
        self->column[which] = sa_csv_table_find(&self->table, TRIED[which][i]);
    if (self->column[which] == SIZE_MAX && which == ITEM)
        return sa_fail(SA_INVALID, "%s has no column item, item_id or action: name it with --item",
                       self->conversion->in);
    if (self->column[which] == SIZE_MAX && which == FEEDBACK)
        return sa_fail(SA_INVALID, "%s has no column feedback, click or reward: name it with --feedback",
                       self->conversion->in);
    return SA_OK;
}

static sa_status find_columns(csv_source *self) {
    const sa_conversion *c = self->conversion;
    const char *const given[ROLES] = {c->item,  c->feedback, c->propensity, c->position_propensity,
                                      c->event, c->time};
    size_t columns = self->table.columns;
    for (int i = 0; i < ROLES; i++) SA_TRY(find_column(self, (role)i, given[i]));
    SA_TRY(sa_alloc_array(columns, sizeof *self->of_context, &self->of_context));
    size_t position = self->column[EVENT] < SIZE_MAX ? sa_csv_table_find(&self->table, "position") : SIZE_MAX;
    size_t prefix = c->per_item ? strlen(c->per_item) : 0;
    for (size_t i = 0; i < columns; i++) {
        sa_span name = sa_csv_table_name(&self->table, i);
        self->of_context[i] = name.size > 0 && i != position;
        for (int j = 0; j < ROLES; j++) self->of_context[i] = self->of_context[i] && i != self->column[j];
        if (prefix && name.size > prefix && !memcmp(name.start, c->per_item, prefix))
            self->of_context[i] = false;
    }
    return SA_OK;
}

/* ---- items ---- */

static sa_status begin_item(csv_source *self, sa_span id) {
    SA_TRY(sa_grow_array(&self->item, &self->item_room, self->item_count + 1, sizeof *self->item));
    sa_buffer *item = &self->item[self->item_count++];
    *item = (sa_buffer){0};
    sa_buffer_text(item, "{\"id\":");
    sa_csv_table_quote(id, item);
    return item->status;
}

static sa_status read_items(csv_source *self) {
    const sa_conversion *c = self->conversion;
    char shown[SA_PRINTABLE];
    SA_TRY(sa_csv_table_read(c->items, &self->items));
    sa_span name = sa_csv_table_name(&self->table, self->column[ITEM]);
    size_t id = SIZE_MAX;
    for (size_t i = 0; i < self->items.columns; i++) {
        sa_span other = sa_csv_table_name(&self->items, i);
        if (other.size == name.size && !memcmp(other.start, name.start, name.size)) id = i;
    }
    if (id == SIZE_MAX)
        return sa_fail(SA_INVALID, "--items %s has no column %s", c->items, sa_span_printable(name, shown));
    for (size_t row = 0; row < self->items.rows; row++) {
        SA_TRY(begin_item(self, sa_csv_table_cell(&self->items, row, id)));
        sa_buffer *item = &self->item[row];
        for (size_t column = 0; column < self->items.columns; column++) {
            sa_span field = sa_csv_table_name(&self->items, column);
            if (column == id || field.size == 0 || sa_csv_table_cell(&self->items, row, column).size == 0)
                continue;
            sa_buffer_text(item, ",");
            sa_csv_table_quote(field, item);
            sa_buffer_text(item, ":");
            sa_csv_table_add(&self->items, row, column, item);
        }
        SA_TRY(item->status);
    }
    return SA_OK;
}

/* The place of an id among those so far, by hash: that of the same one, or an empty one. `row` (item_count)
 * has where each came first. */
static uint32_t *place_of(const csv_source *self, sa_span id, uint32_t *table, size_t size,
                          const size_t *row) {
    size_t i = sa_hash_end(sa_hash_bytes(SA_HASH_BEGIN, id.start, id.size)) & (size - 1);
    for (; table[i]; i = (i + 1) & (size - 1)) {
        sa_span other = sa_csv_table_cell(&self->table, row[table[i] - 1], self->column[ITEM]);
        if (other.size == id.size && !memcmp(other.start, id.start, id.size)) break;
    }
    return &table[i];
}

/* All that the decisions name, in the order in which they come. */
static sa_status collect_items(csv_source *self) {
    size_t size = 8, rows = self->table.rows, *first = NULL;
    uint32_t *table = NULL;
    sa_status status;
    while (size < 2 * rows) size *= 2;
    SA_TRY_OR_FAIL(sa_alloc_array(size, sizeof *table, &table));
    SA_TRY_OR_FAIL(sa_alloc_array(rows, sizeof *first, &first));
    for (size_t row = 0; row < rows; row++) {
        sa_span id = sa_csv_table_cell(&self->table, row, self->column[ITEM]);
        uint32_t *place = place_of(self, id, table, size, first);
        if (*place) continue;
        first[self->item_count] = row;
        SA_TRY_OR_FAIL(begin_item(self, id));
        *place = (uint32_t)self->item_count;
    }
fail:
    sa_free(first);
    sa_free(table);
    return status;
}

/* The list of items, closed, and their ids; the columns that belong to each. */
static sa_status name_items(csv_source *self) {
    const char *prefix = self->conversion->per_item;
    sa_buffer *list = &self->list, name = {0};
    for (size_t i = 0; i < self->item_count; i++) {
        sa_buffer_text(list, i ? "," : "[");
        sa_buffer_bytes(list, self->item[i].text, self->item[i].size);
        sa_buffer_text(list, "}");
    }
    sa_buffer_text(list, "]");
    SA_TRY(list->status);
    SA_TRY(sa_json_parse(&self->json, list->text, list->size));
    SA_TRY(sa_ids_take(&self->ids, &self->json, 0));
    SA_TRY(sa_alloc_array(self->item_count, sizeof *self->per_item, &self->per_item));
    SA_TRY(sa_alloc_array(self->item_count + 1, sizeof *self->arms, &self->arms));
    SA_TRY(sa_alloc_matrix(2, self->item_count + 1, sizeof *self->lists, &self->lists));
    size_t found = 0;
    for (size_t i = 0; i < self->item_count; i++) {
        self->per_item[i] = SIZE_MAX;
        if (!prefix) continue;
        name.size = 0;
        sa_buffer_text(&name, prefix);
        sa_buffer_text(&name, self->ids.names[i]);
        if (name.status == SA_OK) self->per_item[i] = sa_csv_table_find(&self->table, name.text);
        found += self->per_item[i] < SIZE_MAX;
    }
    sa_status status = name.status;
    sa_buffer_clear(&name);
    if (status == SA_OK && prefix && !found)
        status = sa_fail(SA_INVALID, "--per-item %s: no column is that and the id of an item", prefix);
    return status;
}

static sa_status name_field(csv_source *self) {
    const char *prefix = self->conversion->per_item;
    sa_buffer name = {0};
    if (!prefix) return SA_OK;
    size_t size = strlen(prefix);
    while (size > 1 && strchr("_-. ", prefix[size - 1])) size--;
    sa_buffer_text(&name, ",");
    sa_csv_table_quote((sa_span){prefix, size}, &name);
    sa_buffer_text(&name, ":");
    self->field = name.text;
    return name.status;
}

/* ---- decisions ---- */

static void make_items(csv_source *self, size_t row) {
    sa_buffer *list = &self->list;
    if (!self->field) return; /* the same in all rows */
    list->size = 0;
    for (size_t i = 0; i < self->item_count; i++) {
        sa_buffer_text(list, i ? "," : "[");
        sa_buffer_bytes(list, self->item[i].text, self->item[i].size);
        size_t column = self->per_item[i];
        if (column < SIZE_MAX && sa_csv_table_cell(&self->table, row, column).size > 0) {
            sa_buffer_text(list, self->field);
            sa_csv_table_add(&self->table, row, column, list);
        }
        sa_buffer_text(list, "}");
    }
    sa_buffer_text(list, "]");
}

static void make_context(csv_source *self, size_t row) {
    self->context.size = 0;
    for (size_t i = 0; i < self->table.columns; i++) {
        if (!self->of_context[i] || sa_csv_table_cell(&self->table, row, i).size == 0) continue;
        sa_buffer_text(&self->context, self->context.size ? "," : "{");
        sa_csv_table_quote(sa_csv_table_name(&self->table, i), &self->context);
        sa_buffer_text(&self->context, ":");
        sa_csv_table_add(&self->table, row, i, &self->context);
    }
    if (self->context.size) sa_buffer_text(&self->context, "}");
}

/* A number, NaN where the cell is empty or there is no such column. */
static sa_status take_number(const csv_source *self, size_t row, role which, double *out) {
    *out = NAN;
    if (self->column[which] == SIZE_MAX) return SA_OK;
    sa_span cell = sa_csv_table_cell(&self->table, row, self->column[which]);
    if (cell.size == 0) return SA_OK;
    if (!sa_span_to_number(cell, out) || !isfinite(*out))
        return wrong(self, row, self->column[which], "a number is wanted");
    return SA_OK;
}

static sa_status take_row(csv_source *self, size_t row, size_t k) {
    sa_span id = sa_csv_table_cell(&self->table, row, self->column[ITEM]);
    self->arms[k] = sa_ids_find(&self->ids, id.start, id.size);
    if (self->arms[k] == SIZE_MAX) return wrong(self, row, self->column[ITEM], "no item has this id");
    for (size_t j = 0; j < k; j++)
        if (self->arms[j] == self->arms[k])
            return wrong(self, row, self->column[ITEM], "the slate has it twice");
    SA_TRY(take_number(self, row, FEEDBACK, &self->lists[k]));
    double propensity;
    SA_TRY(take_number(self, row, PROPENSITY, &propensity));
    if (k == 0) self->entry.propensity = propensity;
    if (!(propensity == self->entry.propensity) && !(isnan(propensity) && isnan(self->entry.propensity)))
        return wrong(self, row, self->column[PROPENSITY],
                     "the row before has another: a slate has one; for those of positions, name "
                     "--position-propensity");
    return take_number(self, row, POSITION_PROPENSITY, &self->lists[self->item_count + 1 + k]);
}

static bool same_event(const csv_source *self, size_t row) {
    if (self->column[EVENT] == SIZE_MAX || row == self->table.rows) return false;
    sa_span one = sa_csv_table_cell(&self->table, row - 1, self->column[EVENT]),
            other = sa_csv_table_cell(&self->table, row, self->column[EVENT]);
    return one.size > 0 && one.size == other.size && !memcmp(one.start, other.start, one.size);
}

static const char *text_of(const csv_source *self, size_t row, role which, sa_buffer *text) {
    if (self->column[which] == SIZE_MAX) return NULL;
    sa_span cell = sa_csv_table_cell(&self->table, row, self->column[which]);
    text->size = 0;
    sa_buffer_bytes(text, cell.start, cell.size);
    return cell.size ? text->text : NULL;
}

static sa_status next(sa_source *source, const sa_log_entry **entry) {
    csv_source *self = (csv_source *)source;
    sa_log_entry *out = &self->entry;
    size_t first = self->next_row, slate = 0;
    bool answered = false;
    *entry = NULL;
    if (first == self->table.rows) return SA_OK;
    sa_log_entry_clear(out);
    do {
        SA_TRY(take_row(self, first + slate, slate));
        answered = answered || !isnan(self->lists[slate]);
        slate++;
    } while (same_event(self, first + slate));
    self->next_row += slate;
    make_context(self, first);
    make_items(self, first);
    out->line = self->table.line[first + 1];
    out->event = text_of(self, first, EVENT, &self->event);
    out->time = text_of(self, first, TIME, &self->time);
    if (self->column[EVENT] == SIZE_MAX) {
        self->event.size = 0;
        sa_buffer_format(&self->event, "%zu", ++self->decisions);
        out->event = self->event.text;
    }
    SA_TRY(self->context.status);
    SA_TRY(self->list.status);
    SA_TRY(self->event.status);
    if (self->context.size) out->context = self->context.text, out->context_size = self->context.size;
    out->candidates = self->item_count;
    out->items = self->list.text;
    out->items_size = self->list.size;
    out->ids = self->ids.names;
    out->slate = slate;
    out->arms = self->arms;
    if (answered) out->feedback = self->lists;
    if (self->column[POSITION_PROPENSITY] < SIZE_MAX)
        out->position_propensities = self->lists + self->item_count + 1;
    *entry = out;
    return SA_OK;
}

/* ---- life ---- */

static const char *warning(sa_source *source) {
    (void)source;
    return "";
}

static void close_source(sa_source *source) {
    csv_source *self = (csv_source *)source;
    for (size_t i = 0; i < self->item_count; i++) sa_buffer_clear(&self->item[i]);
    sa_buffer *const buffers[] = {&self->context, &self->list, &self->event, &self->time};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) sa_buffer_clear(buffers[i]);
    sa_csv_table_clear(&self->table);
    sa_csv_table_clear(&self->items);
    sa_ids_clear(&self->ids);
    sa_json_clear(&self->json);
    sa_free(self->of_context);
    sa_free(self->item);
    sa_free(self->per_item);
    sa_free(self->field);
    sa_free(self->arms);
    sa_free(self->lists);
    sa_free(self);
}

sa_status sa_source_csv(const sa_conversion *conversion, sa_source **out) {
    csv_source *self;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base = (sa_source){next, warning, close_source};
    self->conversion = conversion;
    sa_status status = sa_csv_table_read(conversion->in, &self->table);
    if (status == SA_OK) status = find_columns(self);
    if (status == SA_OK) status = conversion->items ? read_items(self) : collect_items(self);
    if (status == SA_OK) status = name_items(self);
    if (status == SA_OK) status = name_field(self);
    if (status == SA_OK)
        *out = &self->base;
    else
        close_source(&self->base);
    return status;
}
