#include "options/commit.h" /* made by CMake */
#include <superarm/superarm.h>

const char *sa_version(void) { return SA_VERSION; }
const char *sa_version_date(void) { return SA_VERSION_DATE; }
const char *sa_commit(void) { return SA_COMMIT; }
