#include <superarm/superarm.h>

const char *sa_version(void) { return SA_VERSION; }
