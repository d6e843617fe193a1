/* Superarm: slates chosen online, with neural networks and honest confidence widths. The one header to
 * include. */
#ifndef SUPERARM_H
#define SUPERARM_H

#include <superarm/agent.h>
#include <superarm/convert.h>
#include <superarm/evaluate.h>
#include <superarm/experiment.h>
#include <superarm/kernels.h>
#include <superarm/learn.h>
#include <superarm/log.h>
#include <superarm/options.h>
#include <superarm/oracle.h>
#include <superarm/own.h>
#include <superarm/report.h>
#include <superarm/schema.h>
#include <superarm/sha256.h>
#include <superarm/sides.h>
#include <superarm/status.h>
#include <superarm/theory.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "0.2.0" */
SA_API const char *sa_version(void);
/* The day that it is of: "2026-11-16". */
SA_API const char *sa_version_date(void);
/* What it was built from: git's name of the commit, with "-dirty" where files had changed; "unknown" outside
 * of git. */
SA_API const char *sa_commit(void);

#ifdef __cplusplus
}
#endif

#endif
