/**
 * Threads that share the work of a call of C code.
 *
 * The caller works itself, and threads of the process help where they are free: none waits for
 * another that has not begun.  So a brief call takes no longer than on one thread where other work
 * has the cores, which a team that meets at barriers does.
 */
#ifndef BASE_TEAM_H
#define BASE_TEAM_H

#include <stddef.h>

/** Threads that a call may use, the caller among them: one a processor, or as OMP_NUM_THREADS and
 *  omp_set_num_threads have it; 1 in a child of a process that used them, and in OpenMP's loops. */
size_t team_threads(void);

/**
 * Do items 0 to count - 1, each once, in any order, on so many threads at most.  Returns when all
 * are done.  Items may call it in turn.
 *
 * @param work  Gets the context, an item, and who does it: 0 is the caller, others are below
 *              `threads`.  No two threads have one number at a time.
 */
void team_run(size_t threads, size_t count, void (*work)(void *context, size_t item, size_t who),
              void *context);

/**
 * Until team_spin_briefly(), let helpers look for the next call of team_run for a millisecond
 * before they sleep, not for a fifth of one: between calls that follow one another as soon as a
 * device is done.  Calls nest.
 */
void team_spin_longer(void);
void team_spin_briefly(void);

#endif
