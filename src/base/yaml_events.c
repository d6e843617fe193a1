#ifdef SA_HAVE_YAML

#include "base/yaml_events.h"

#include <stdbool.h>

static sa_status problem_of(const yaml_parser_t *parser, const char *name) {
    if (parser->error == YAML_MEMORY_ERROR)
        return sa_fail(SA_OUT_OF_MEMORY, "%s: no memory to read it", name);
    const char *problem = parser->problem ? parser->problem : "it is not YAML";
    return sa_fail(SA_INVALID, "%s:%zu: %s", name, parser->problem_mark.line + 1, problem);
}

sa_status sa_yaml_events(const char *text, size_t size, const char *name, sa_yaml_event_call *call,
                         void *user) {
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) return sa_fail(SA_OUT_OF_MEMORY, "%s: no memory to read it", name);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
    sa_status status = SA_OK;
    for (bool done = false; !done && status == SA_OK;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            status = problem_of(&parser, name);
            break;
        }
        done = event.type == YAML_STREAM_END_EVENT;
        status = call(user, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return status;
}

#else

typedef int sa_no_yaml; /* a file must not be empty */

#endif
