/* What is visible outside the shared library: functions marked SA_API, and nothing else. */
#ifndef SUPERARM_EXPORT_H
#define SUPERARM_EXPORT_H

#if defined(__GNUC__)
#define SA_API __attribute__((visibility("default")))
#else
#define SA_API
#endif

#endif
