#include <string.h>

#include "base/memory.h"
#include "model/model.h"

static const struct {
    const char *name;
    const sa_model_class *kind[2]; /* single, double */
} models[] = {
    {"mlp", {&sa_mlp_f32, &sa_mlp_f64}},
    {"linear", {&sa_linear, &sa_linear}},
    {"neural-linear", {&sa_neural_linear, &sa_neural_linear}},
    {"partition", {&sa_partition, &sa_partition}},
    {"partition-tree", {&sa_partition_tree, &sa_partition_tree}},
};

sa_status sa_model_create(const char *name, const sa_model_settings *settings, sa_model **out) {
    if (!strcmp(name, "linear") && settings->linear_form == SA_LINEAR_FITTED)
        return sa_ridge.create(settings, out);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strcmp(models[i].name, name) == 0)
            return models[i].kind[settings->precision]->create(settings, out);
    return sa_fail(SA_INVALID, "'%s' is not a model", name);
}

void sa_model_destroy(sa_model *model) {
    if (model && sa_is_last(model)) model->kind->destroy(model);
}

sa_status sa_model_unshare(sa_model **model) {
    sa_model *fork;
    if (!*model || !sa_is_shared(*model)) return SA_OK;
    SA_TRY((*model)->kind->fork(*model, &fork));
    sa_model_destroy(*model);
    *model = fork;
    return SA_OK;
}

void sa_model_work_clear(sa_model_work *work) {
    sa_workspace_clear(&work->outer);
    sa_workspace_clear(&work->inner);
}
