#include "learn/accumulators.h"

const sa_accumulator *sa_accumulator_at(size_t index) {
    static const sa_accumulator *const all[] = {&sa_accumulate_z, &sa_accumulate_model,
                                                &sa_accumulate_predictions};
    return index < sizeof all / sizeof *all ? all[index] : NULL;
}
