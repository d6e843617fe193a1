/* --resume: what an experiment takes over from the folder that it goes on with. Its runs and those asked for
 * are done together, and so are its agents; what both have must be the same. */
#ifndef SA_EXPERIMENT_RESUME_H
#define SA_EXPERIMENT_RESUME_H

#include "experiment/work_type.h"

/* From the folder's spec.yaml: more runs and agents than are asked for here are taken over, and options that
 * differ are SA_INVALID with a sentence. */
sa_status sa_resume_adopt(sa_work *work);
/* --replace: is the label one of those in the list? They are separated by commas, which labels may have,
 * too. */
bool sa_replaces(const char *list, const char *label);
/* SA_INVALID where a word of the list is no agent of the work. */
sa_status sa_replace_check(const sa_work *work);

#endif
