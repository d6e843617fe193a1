/* The tables behind `superarm list environments|oracles|confidence|feedback|presets`. */
#include <string.h>

#include "confidence/confidence.h"
#include "env/environment.h"
#include "feedback/feedback.h"
#include "options/options.h"
#include "options/presets.h"
#include "oracle/oracle.h"
#include <superarm/agent.h>

typedef struct choice {
    const char *name, *summary;
} choice;

static bool find(const char *kind, size_t index, choice *out) {
    if (!strcmp(kind, "confidence")) {
        const sa_confidence_class *confidence = sa_confidence_class_at(index);
        if (confidence) *out = (choice){confidence->name, confidence->summary};
        return confidence;
    }
    if (!strcmp(kind, "feedback")) {
        const sa_feedback *feedback = sa_feedback_of((sa_feedback_kind)index);
        if (feedback) *out = (choice){feedback->name, feedback->summary};
        return feedback;
    }
    if (!strcmp(kind, "oracles")) {
        const sa_oracle *oracle = index < SA_ORACLE_OWN ? sa_oracle_of((sa_oracle_kind)index) : NULL;
        if (oracle) *out = (choice){oracle->name, oracle->summary};
        return oracle;
    }
    if (!strcmp(kind, "environments")) {
        const sa_environment_class *environment = sa_environment_class_at(index);
        if (environment) *out = (choice){environment->name, environment->summary};
        return environment;
    }
    if (!strcmp(kind, "presets")) {
        const char *name = sa_preset_name((int)index);
        if (name) *out = (choice){name, sa_preset_summary((int)index)};
        return name;
    }
    return false;
}

bool sa_choice_at(const char *kind, size_t index, const char **name, const char **summary) {
    choice found;
    if (!find(kind, index, &found)) return false;
    *name = found.name;
    *summary = found.summary;
    return true;
}
