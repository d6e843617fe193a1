/* /openapi.json and the table of routes say the same: every route is described, and nothing else is. */
#include <ctype.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "assets.h"
#include "routes.h"

static json_t *read_description(void **state) {
    (void)state;
    json_error_t error;
    json_t *root = json_loadb((const char *)asset_openapi_json.bytes, asset_openapi_json.size,
                              JSON_REJECT_DUPLICATES, &error);
    if (!root) fail_msg("openapi.json: line %d: %s", error.line, error.text);
    return root;
}

static const json_t *operation(const json_t *root, const char *path, const char *method) {
    char lower[16] = "";
    for (size_t i = 0; method[i] && i < sizeof lower - 1; i++) lower[i] = (char)tolower(method[i]);
    return json_object_get(json_object_get(json_object_get(root, "paths"), path), lower);
}

static void every_route_is_described(void **state) {
    json_t *root = read_description(state);
    for (size_t i = 0; i < sv_route_count(); i++) {
        const sv_route *route = sv_route_at(i);
        const json_t *about = operation(root, route->path, route->method),
                     *answers = json_object_get(about, "responses");
        if (!about) fail_msg("%s %s is not described", route->method, route->path);
        if (!json_string_value(json_object_get(about, "summary"))) fail_msg("%s has no summary", route->path);
        /* what sv_routes_admit may answer */
        assert_true((route->body != BODY_NONE) == (json_object_get(about, "requestBody") != NULL));
        if (route->who != WHO_ANYONE && !json_object_get(answers, "401"))
            fail_msg("%s %s: 401", route->method, route->path);
        if (route->who == WHO_ADMIN && !json_object_get(answers, "403"))
            fail_msg("%s %s: 403", route->method, route->path);
        if (route->needs_agent && !json_object_get(answers, "404"))
            fail_msg("%s %s: 404", route->method, route->path);
        if (route->body != BODY_NONE && !json_object_get(answers, "415"))
            fail_msg("%s %s: 415", route->method, route->path);
        size_t holes = 0, named = json_array_size(json_object_get(about, "parameters")), in_path = 0;
        for (const char *c = route->path; *c; c++) holes += *c == '{';
        for (size_t k = 0; k < named; k++) {
            const json_t *where =
                json_object_get(json_array_get(json_object_get(about, "parameters"), k), "in");
            in_path += !strcmp(json_string_value(where), "path");
        }
        assert_int_equal(holes, in_path);
    }
    json_decref(root);
}

static void nothing_else_is(void **state) {
    json_t *root = read_description(state), *methods, *about;
    const char *path, *method;
    size_t count = 0;
    json_object_foreach(json_object_get(root, "paths"), path, methods)
        json_object_foreach(methods, method, about) count++;
    assert_int_equal(count, sv_route_count());
    json_decref(root);
}

/* "#/components/schemas/Agent" is there. */
static void look_for_references(const json_t *root, json_t *value) {
    const char *key;
    json_t *inner;
    size_t i;
    if (json_is_object(value)) json_object_foreach(value, key, inner) {
            if (!strcmp(key, "$ref")) {
                const char *name = strrchr(json_string_value(inner), '/') + 1;
                if (!json_object_get(json_object_get(json_object_get(root, "components"), "schemas"), name))
                    fail_msg("%s is missing", name);
            }
            look_for_references(root, inner);
        }
    json_array_foreach(value, i, inner) look_for_references(root, inner);
}

static void references_lead_somewhere(void **state) {
    json_t *root = read_description(state);
    look_for_references(root, root);
    json_decref(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_is_described),
        cmocka_unit_test(nothing_else_is),
        cmocka_unit_test(references_lead_somewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
