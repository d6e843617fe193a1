/* JSON is many small blocks, made and freed with each request. Each thread keeps those it frees for its
 * next request: going through malloc, they were joined and split again, which took a quarter of the time
 * of a decision. */
#ifndef SERVE_POOL_H
#define SERVE_POOL_H

/* jansson's blocks come from the pool from here on. They are malloc's own, so free takes them, too. Once
 * is enough. */
void sv_pool_install(void);

#endif
