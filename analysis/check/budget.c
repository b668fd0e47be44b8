#include "analysis/check/check.h"

#include "base/json_file.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const double usual_gain = 1.05, usual_share = 0.25, usual_samples = 100;

struct lwp_budget lwp_budget_usual(void)
{
    struct lwp_budget budget = {.all = {usual_gain, usual_share}, .samples = usual_samples};
    for (size_t i = 0; i < LWP_WATCHPOINT_KINDS; i++)
        budget.totals[i] = -1;
    return budget;
}

struct lwp_budget_limits lwp_budget_of(const struct lwp_budget *budget, const char *rule)
{
    for (size_t i = 0; i < budget->rule_count; i++)
        if (strcmp(budget->rules[i].rule, rule) == 0)
            return budget->rules[i].limits;
    return budget->all;
}

static int budget_number(const char *path, const char *key, const json_t *value, double min, double max, double *to, struct lwp_error *err)
{
    if (!json_is_number(value) || json_number_value(value) < min || json_number_value(value) > max)
        return lwp_error_set(err, LWP_ERR_USAGE, "%s: '%.60s' wants a number from %g to %g", path, key, min, max);
    *to = json_number_value(value);
    return LWP_OK;
}

static int budget_limit(const char *path, const char *key, const json_t *value, struct lwp_budget_limits *limits, struct lwp_error *err)
{
    int status;
    if (strcmp(key, "max_gain") == 0)
        return budget_number(path, key, value, 1, 1000, &limits->gain, err);
    if (strcmp(key, "max_share_percent") != 0)
        return lwp_error_set(err, LWP_ERR_USAGE, "%s: '%.60s' is no limit; there are max_gain and max_share_percent", path, key);
    status = budget_number(path, key, value, 0, 100, &limits->share, err);
    limits->share /= 100;
    return status;
}

static int budget_rules(struct lwp_budget *budget, const char *path, json_t *rules, struct lwp_error *err)
{
    const char *name, *key;
    json_t *limits, *value;
    int status = LWP_OK;
    json_object_foreach(rules, name, limits) {
        const struct lwp_review_rule *rule = lwp_review_rule(name);
        if (strcmp(rule->id, name) != 0)
            return lwp_error_set(err, LWP_ERR_USAGE, "%s: there is no rule '%.60s'; 'lwp report --format sarif' lists them", path, name);
        if (budget->rule_count == LWP_BUDGET_RULES)
            return lwp_error_set(err, LWP_ERR_LIMIT, "%s: too many rules", path);
        struct lwp_budget_limits *to = &budget->rules[budget->rule_count].limits;
        budget->rules[budget->rule_count++].rule = rule->id;
        *to = budget->all;
        json_object_foreach(limits, key, value) {
            if ((status = budget_limit(path, key, value, to, err)))
                return status;
        }
    }
    return status;
}

static int budget_total(struct lwp_budget *budget, const char *path, const char *key, const json_t *value, struct lwp_error *err)
{
    for (size_t i = 0; i < LWP_WATCHPOINT_KINDS; i++)
        if (strcmp(lwp_redundancy_rows[i].key, key) == 0) {
            int status = budget_number(path, key, value, 0, 100, &budget->totals[i], err);
            budget->totals[i] /= 100;
            return status;
        }
    return lwp_error_set(
        err, LWP_ERR_USAGE,
        "%s: there is no total '%.60s'; there are dead_store, silent_store, silent_load, computation, register, spatial and overwritten",
        path, key);
}

/* Whatever has another name is a mistake: a limit that is not looked at protects nobody. */
static int budget_take(struct lwp_budget *budget, const char *path, json_t *root, struct lwp_error *err)
{
    const char *key, *inner;
    json_t *value, *total;
    int status = LWP_OK;
    json_object_foreach(root, key, value) {
        if (strcmp(key, "rules") == 0 || strcmp(key, "schema") == 0 || strcmp(key, "version") == 0)
            continue;
        if (strcmp(key, "min_samples") == 0) {
            if ((status = budget_number(path, key, value, 0, 1e12, &budget->samples, err)))
                return status;
        } else if (strcmp(key, "totals_percent") == 0) {
            json_object_foreach(value, inner, total) {
                if ((status = budget_total(budget, path, inner, total, err)))
                    return status;
            }
        } else if (strncmp(key, "max_", 4) == 0) {
            if ((status = budget_limit(path, key, value, &budget->all, err)))
                return status;
        } else {
            return lwp_error_set(
                err, LWP_ERR_USAGE,
                "%s: '%.60s' is not understood; a budget has max_gain, max_share_percent, min_samples, rules, totals_percent", path, key);
        }
    }
    return budget_rules(budget, path, json_object_get(root, "rules"), err); /* they start from what holds for all */
}

int lwp_budget_read(struct lwp_budget *budget, const char *path, struct lwp_error *err)
{
    FILE *file = fopen(path, "re");
    json_error_t problem;
    if (!file)
        return lwp_error_errno(err, "cannot read the budget '%s'", path);
    json_t *root = lwp_json_stream(file, JSON_REJECT_DUPLICATES, &problem);
    fclose(file);
    int status = json_is_object(root) ? budget_take(budget, path, root, err)
                                      : lwp_error_set(err, LWP_ERR_USAGE, "%s is no budget (line %d: %s)", path, problem.line,
                                                      root ? "no object" : problem.text);
    json_decref(root);
    return status;
}
