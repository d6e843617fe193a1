/* superarm convert */
#include <inttypes.h>

#include "cli.h"

static const char NAME[] = "convert";

static const char HELP[] =
    "superarm convert --from log|vw|obp|csv --to log|vw|obp|csv FILE --out FILE [options]\n\n"
    "Makes a decision log of another program's log, or the other way round: dsjson of Vowpal Wabbit (cb and "
    "ccb), arrays\n"
    "of the Open Bandit Pipeline (npz), tables (csv).\n\n"
    "  --skip-bad              skips lines that are wrong instead of stopping at the first\n"
    "  --schema SCHEMA.yaml    to obp: makes numbers of named fields\n"
    "Columns of a table, where they have other names than those in brackets; all others are the context's "
    "fields:\n"
    "  --item NAME             id of the item that was shown [item, item_id, action]\n"
    "  --feedback NAME         [feedback, click, reward]\n"
    "  --propensity NAME       of the slate [propensity, propensity_score, pscore]\n"
    "  --position-propensity NAME   of the item at its position [position_propensity]\n"
    "  --event NAME            rows of one event, one after the other, are a slate [event, event_id]\n"
    "  --time NAME             [time, timestamp]\n"
    "  --items ITEMS.csv       all items, by the column --item, and their fields\n"
    "  --per-item PREFIX       columns PREFIX + id are a field of the item id\n\n"
    "Examples:\n"
    "  superarm convert --from vw --to log decisions.dsjson --out log.jsonl\n"
    "  superarm convert --from csv --to log shown.csv --items items.csv --per-item user-item_affinity_ --out "
    "log.jsonl\n"
    "  superarm convert --from log --to obp log.jsonl --schema schema.yaml --out feedback.npz\n";

int cli_convert(int count, char **arguments) {
    sa_conversion c = {0};
    sa_converted converted;
    bool help = false;
    const cli_word words[] = {{"--from", &c.from, NULL},
                              {"--to", &c.to, NULL},
                              {"--out", &c.out, NULL},
                              {"--skip-bad", NULL, &c.skip_bad},
                              {"--schema", &c.schema, NULL},
                              {"--item", &c.item, NULL},
                              {"--feedback", &c.feedback, NULL},
                              {"--propensity", &c.propensity, NULL},
                              {"--position-propensity", &c.position_propensity, NULL},
                              {"--event", &c.event, NULL},
                              {"--time", &c.time, NULL},
                              {"--items", &c.items, NULL},
                              {"--per-item", &c.per_item, NULL},
                              {NULL, NULL, NULL}};
    int exit_status = cli_take_words(NAME, count, arguments, words, &c.in, 1, &help);
    if (exit_status != EXIT_FINE) return exit_status;
    if (help) {
        fputs(HELP, stdout);
        return EXIT_FINE;
    }
    sa_status status = sa_convert(&c, &converted);
    if (status != SA_OK) return cli_fail(NAME, status);
    if (*converted.note) cli_say(NAME, EXIT_FINE, "%s", converted.note);
    printf("%s: %" PRIu64 " decisions", c.out, converted.decisions);
    if (converted.left_out)
        printf(", %" PRIu64 " left out for want of feedback or propensities", converted.left_out);
    putchar('\n');
    return EXIT_FINE;
}
