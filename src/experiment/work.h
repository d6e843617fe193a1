/* All that an experiment has to do. */
#ifndef SA_EXPERIMENT_WORK_H
#define SA_EXPERIMENT_WORK_H

#include "experiment/work_type.h"

/* Makes experiment->work, and changes nothing on the disk. */
sa_status sa_work_make(sa_experiment *experiment);
void sa_work_destroy(sa_work *work); /* NULL is fine */

#endif
