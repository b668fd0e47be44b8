/* One of the results that `lwp serve` shows: its page, its JSON, how far it is, its row of the index. */
#ifndef LWP_WEB_ENTRY_H
#define LWP_WEB_ENTRY_H

#include "web/assets.h"
#include "web/text.h"

#include <jansson.h>
#include <stdbool.h>
#include <sys/stat.h>

struct lwp_entry;

/* `name` as in its address below a folder of results, NULL: it is shown alone, at the root. `root`: as for
 * lwp_source_roots. */
struct lwp_entry *lwp_entry_new(const char *dir, const char *name, const char *root);
void lwp_entry_free(struct lwp_entry *entry); /* NULL is fine */

const char *lwp_entry_name(const struct lwp_entry *entry);

/* Has its analysis brought up to date and waits for it, unless it is being written. */
int lwp_entry_prepare(struct lwp_entry *entry, struct lwp_error *err);

/* The report; while the result is being written or analysed a page that tells how far it is. Kept, and made anew when its
 * analysis.json has changed or `anew`. A result that was never analysed is analysed when it is first asked for. */
struct lwp_answer lwp_entry_page(struct lwp_entry *entry, const struct lwp_assets *assets, bool anew);

/* Two results on one page, as 'lwp export --diff' writes it; while one of them is not there yet, that one's progress. `root`: from the
 * page to the index. */
struct lwp_answer lwp_entry_compare(struct lwp_entry *before, struct lwp_entry *after, const struct lwp_assets *assets, const char *root);

/* Whether one of their analyses is another one than at the last call with the same `seen`. */
struct lwp_entry_pair {
    struct stat seen[2];
};
bool lwp_entry_pair_changed(const struct lwp_entry *before, const struct lwp_entry *after, struct lwp_entry_pair *pair);

struct lwp_answer lwp_entry_json(struct lwp_entry *entry, const struct lwp_assets *assets);
struct lwp_answer lwp_entry_progress(struct lwp_entry *entry);

/* What the index says of it, without analysing it; borrowed. *changed is set where it says something new. */
json_t *lwp_entry_summary(struct lwp_entry *entry, bool *changed);

#endif
