/* Text that grows, by its public name: JSON and YAML are built in it. */
#ifndef SA_BASE_BUFFER_H
#define SA_BASE_BUFFER_H

#include <superarm/json.h>

#include "base/status.h"

#endif
