/* Which arms need their exact width? For a top-k slate only those whose score can reach it.
 *
 * Every width lies between 0 and sqrt(g'g / lambda), since Z >= lambda I; so every score has an upper bound
 * before Z is looked at. The arms with the highest bounds are scored exactly first: a slate of them, and as
 * many more as cost nothing. Whoever's bound is below the K-th of these scores is out, which mostly is
 * everybody. Of the others the engine tightens the bounds, and those that are still in are scored, group by
 * group, each of which may put others out. The slate is the same as with all widths, where scores differ by
 * more than rounding. */
#ifndef SA_POLICY_CONTEST_H
#define SA_POLICY_CONTEST_H

#include "policy/selection.h"

/* The candidates' widths, exact for those that matter and upper bounds for the rest, as they are before;
 * scores likewise, with a rest that is sure to stay below the slate. Several selections at once: what the
 * engine is asked for, it is asked for all of them, but each comes out as it would alone. */
sa_status sa_contest(const sa_policy *policy, sa_chooser *chooser, sa_selection *selections, size_t count);
/* Of one selection's candidates, which have all rows, the best stay, in the order of arms; the least of their
 * scores is the new bar. */
sa_status sa_contest_keep(sa_chooser *chooser, sa_selection *selection);

#endif
