/** Other libraries at the same job: loading their modules (bench/peer.h), proving and timing them.
 */
#ifndef MEASURE_PEERS_H
#define MEASURE_PEERS_H

#include "measure/bench.h"

typedef struct peers peers;

/**
 * Load the modules of an operation.  One that is missing or broken is no
 * failure: peers_missing names it.
 *
 * @param folder  NULL: $TESSERA_PEER_DIR, else bench/ beside the executable (a build folder), else
 *                tessera/peers in the library folder that the executable was installed with.
 * @param out     Receives them, to be freed with peers_close.
 * @return TSR_OK or TSR_ENOMEM.
 */
tsr_status peers_load(const operation *op, const char *folder, peers **out, tsr_error *err);
void peers_close(peers *p);

/**
 * Message i about a library of the operation that has no module here: "CLBlast: no
 * peer_OP_clblast.so in FOLDER; it comes with libclblast-dev ..."; NULL beyond the last.  Valid
 * until the next call.
 */
const char *peers_missing(peers *p, bool nvidia, size_t i);

/** Sentence i about a library that is loaded otherwise than by itself; NULL beyond the last. */
const char *peers_note(const peers *p, size_t i);

/** How many peers are loaded. */
size_t peers_count(const peers *p);

/** What becomes of one candidate: its row, and our rate over its rate (0 where it was not timed).
 */
typedef void peers_row(const result_row *row, double ratio, void *context);

/** What is compared; all of it is borrowed. */
typedef struct peers_comparison {
    tsr_session *session;
    const problem *problem;
    const tsr_run *run; /* of our variant */
    const peers *list;
    const bench_options *options;
} peers_comparison;

/**
 * Our variant and every loaded peer of the operation, on one problem, each
 * verified and then timed by wall clock, interleaved.  row() gets our variant's
 * first, with ratio 1, then the peers'; one that cannot do the problem, does it
 * wrong, or fails while it is timed, says why in row.unsupported.  A peer with a precision of its
 * own has it in its row, and is judged by its bound: at the same precision it is not.  A peer that
 * takes longer than options->seconds a call is timed apart, in three samples, or in one where it
 * takes longer than 3 s.  Once options->deadline has passed none starts: its row says that the
 * budget is over.
 *
 * @return TSR_OK; as bench_candidate_open where our variant cannot run.
 */
tsr_status peers_compare(const peers_comparison *asked, peers_row *row, void *context,
                         tsr_error *err);

/** The rows of a comparison that does not start since the budget is over: ours as bench_late has
 *  it, and every loaded peer's, RESULT_LATE. */
tsr_status peers_late(const peers_comparison *asked, peers_row *row, void *context, tsr_error *err);

/**
 * Called with what a peer made of given operands.
 *
 * @param row     What it is: name, version, precision, place.
 * @param result  Its C or y; NULL where it cannot do the problem or failed: err says why.
 */
typedef void peers_result(const result_row *row, const void *result, const tsr_error *err,
                          void *context);

/** Whether the product of a peer is wanted; of one that is not, nothing is opened or called. */
typedef bool peers_wanted(const result_row *row, void *context);

/**
 * One call of every loaded peer of a product that is wanted, untimed and not judged, on these
 * operands, which are as operation.operands has them.
 *
 * @return TSR_OK, whatever becomes of the peers; TSR_ENOMEM; TSR_ECL.
 */
tsr_status peers_products(const peers_comparison *asked, void *const operands[],
                          peers_wanted *wanted, peers_result *result, void *context,
                          tsr_error *err);

#endif
