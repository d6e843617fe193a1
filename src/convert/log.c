/* The decision log itself, as a source and as a sink. */
#include "base/memory.h"
#include "convert/convert.h"

typedef struct log_source {
    sa_source base;
    sa_log_reader *reader;
} log_source;

static sa_status next(sa_source *source, const sa_log_entry **entry) {
    return sa_log_reader_next(((log_source *)source)->reader, entry);
}

static const char *warning(sa_source *source) {
    return sa_log_reader_warning(((log_source *)source)->reader);
}

static void close_source(sa_source *source) {
    sa_log_reader_close(((log_source *)source)->reader);
    sa_free(source);
}

sa_status sa_source_log(const sa_conversion *conversion, sa_source **out) {
    log_source *self;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base = (sa_source){next, warning, close_source};
    sa_status status = sa_log_reader_open(conversion->in, conversion->skip_bad, &self->reader);
    if (status == SA_OK)
        *out = &self->base;
    else
        close_source(&self->base);
    return status;
}

typedef struct log_sink {
    sa_sink base;
    sa_log_writer *writer;
} log_sink;

static sa_status write_entry(sa_sink *sink, const sa_log_entry *entry, bool *left_out) {
    (void)left_out;
    return sa_log_writer_write(((log_sink *)sink)->writer, entry);
}

static sa_status finish(sa_sink *sink) {
    sa_status status = sa_log_writer_finish(((log_sink *)sink)->writer);
    sa_free(sink);
    return status;
}

static void abandon(sa_sink *sink) {
    sa_log_writer_abandon(((log_sink *)sink)->writer);
    sa_free(sink);
}

sa_status sa_sink_log(const sa_conversion *conversion, sa_sink **out) {
    log_sink *self;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base = (sa_sink){NULL, write_entry, finish, abandon};
    sa_status status = sa_log_writer_open(conversion->out, 0, &self->writer);
    if (status == SA_OK)
        *out = &self->base;
    else
        abandon(&self->base);
    return status;
}
