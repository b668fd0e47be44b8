"""What the benches have in common: rows of measurements, each with the noise of its own runs, a budget and a goal.

A row's values are one number for each run (or interleaved pair of runs): the median is the row's value; its noise is the half
width of the 95 % interval of that median, from the spread of the values (none for one value). The budget is what `make
bench-check` holds: a row is `over` only if it is worse by more than its noise. The goal is what lwp set out to reach, where
that is more than it does today: goals missed are shown and never fail a check.

Each bench leaves its rows in bench-results/NAME.json in the build folder; bench/results makes bench/RESULTS.md of them."""
import json
import os
import statistics

FOLDER = "bench-results"
STUDENT = {3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31}  # 97.5 % of Student's t, by the number of values


def noise(values):
    """Half width of the 95 % interval of the median of `values`; of normal errors, with their deviation from the median's own
    (MAD), which one stray run does not move. Zero for fewer than three."""
    if len(values) < 3:
        return 0.0
    middle = statistics.median(values)
    deviation = 1.4826 * statistics.median(abs(value - middle) for value in values)
    return STUDENT.get(len(values), 1.96) * 1.2533 * deviation / len(values) ** 0.5


class Rows:
    def __init__(self, name, title, columns=52):
        self.name, self.title, self.columns, self.rows = name, title, columns, []
        print("%-*s %10s %8s %10s %10s  verdict" % (columns, title, "median", "+-", "budget", "goal"), flush=True)

    def add(self, what, values, unit="", budget=None, goal=None, most=True, error=None):
        """One row, printed at once. values: a number or one for each run. most: budget and goal are upper bounds, else lower
        ones. error: the half width of the interval, if it is known better than from the values' spread. Returns the median."""
        values = list(values) if isinstance(values, (list, tuple)) else [values]
        middle = statistics.median(values)
        margin = noise(values) if error is None else error
        worse = (lambda bound, slack: middle - slack > bound) if most else (lambda bound, slack: middle + slack < bound)
        if budget is not None and worse(budget, margin):
            verdict = "over"
        elif budget is not None and worse(budget, 0):
            verdict = "within noise"
        else:
            verdict = "ok" if budget is not None else "-"
        missed = goal is not None and worse(goal, 0)
        row = {"what": what, "value": middle, "noise": margin, "runs": len(values), "unit": unit, "budget": budget, "goal": goal,
               "most": most, "verdict": verdict, "goal_missed": missed}
        self.rows.append(row)
        print("%-*s %10s %8s %10s %10s  %s" % (self.columns, what + (", " + unit if unit else ""), figure(middle),
                                              figure(margin) if margin else "-", bound(budget, most), bound(goal, most),
                                              verdict + (", goal missed" if missed else "")), flush=True)
        return middle

    def finish(self, note=""):
        """Writes the rows down. Returns the exit status: 1 if one is over its budget."""
        os.makedirs(FOLDER, exist_ok=True)
        with open("%s/%s.json" % (FOLDER, self.name), "w") as out:
            json.dump({"name": self.name, "title": self.title, "note": note, "rows": self.rows}, out, indent=1)
        if note:
            print(note)
        return 1 if any(row["verdict"] == "over" for row in self.rows) else 0


def figure(value):
    """Three digits that count."""
    return "%.0f" % value if abs(value) >= 100 else "%.1f" % value if abs(value) >= 20 else "%.2f" % value if abs(value) >= 1 else "%.3f" % value


def bound(value, most):
    return "-" if value is None else ("<= " if most else ">= ") + ("%g" % value if value < 20 else figure(value))
