#!/usr/bin/python3
"""Budgets of the benches: a row is over only where it is worse by more than the noise of its own runs, a goal that is missed fails
nothing, and the page of results has each row."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
bench = os.environ["SRC"] + "/bench"
sys.path.insert(0, bench)
import rows  # noqa: E402

os.chdir(os.environ["TMP"])
table = rows.Rows("growth", "Made up")
table.add("sure", [1.10, 1.11, 1.09, 1.10, 1.10], "x CPU", budget=1.05)
table.add("noisy", [1.10, 0.80, 1.40, 1.06, 1.20], "x CPU", budget=1.05)
table.add("a stray run", [1.0, 1.01, 9.0, 1.02, 1.0], "x CPU", budget=1.05)
table.add("too slow", [3.0, 3.1, 3.05], "million a second", budget=5, most=False)
table.add("far from the goal", 0.7, "of another", budget=0.72, goal=0.5)
table.add("margin known", 1.06, "x CPU", budget=1.03, error=0.02)
found = [(row["verdict"], row["goal_missed"]) for row in table.rows]
expected = [("over", False), ("within noise", False), ("ok", False), ("over", False), ("ok", True), ("over", False)]
assert found == expected, found
assert table.finish() == 1
# Of normal errors of deviation 1, the median of 25 lies within 1.96 * 1.2533 / 5 in 95 of 100 cases.
assert abs(rows.noise([i / 12 - 1 for i in range(25)]) - 1.4826 * 0.5 * 1.96 * 1.2533 / 5) < 1e-9
page = subprocess.run([sys.executable, "-B", bench + "/results"], stdout=subprocess.PIPE, text=True, check=True).stdout
for row in table.rows:
    assert "| %s |" % row["what"] in page, page
assert "goal missed" in page and "## Made up" in page
good = rows.Rows("scale", "Good")
good.add("fine", [1.0, 1.0, 1.0], "x", budget=1.03)
assert good.finish() == 0
