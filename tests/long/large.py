#!/usr/bin/python3
"""A result of 5,000 objects, 2,000 redundant pairs and 64 x 64 matrices of 200 regions: how long its export takes and how
large it is, how long Chromium takes to draw the first view and each other one."""
import os, subprocess, sys
sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, os.environ["SRC"] + "/tests/web")
from chromium import LWP, SRC, TMP, Browser, check, problems

VIEWS = ["findings", "objects", "object/0", "object/4000", "loops", "loop/5", "redundancies", "redundancy/3", "threads", "region/1", "region/199", "locality", "locality/5", "run", "split/0"]
subprocess.run([sys.executable, SRC / "tests/web/large.py", TMP / "large"], check=True)
took = []
for _ in range(3):
    before = os.times()
    subprocess.run([LWP, "export", "-o", TMP / "large.html", TMP / "large"], check=True, stderr=subprocess.DEVNULL)
    after = os.times()
    took.append(after.children_user + after.children_system - before.children_user - before.children_system)
size = (TMP / "large.html").stat().st_size
# the bar is in bench/serve and bench/page, which are for quiet machines: here they must not be out of hand
print(f"export {min(took):.2f} s of CPU time, {size / 2**20:.2f} MiB")
check(min(took) < 10, f"the export takes {min(took):.2f} s")
check(size < 8 << 20, f"the export has {size} bytes")
browser = Browser()
try:
    browser.size(1280)
    browser.open(f"file://{TMP}/large.html")
    first = browser.driver.execute_script("return performance.getEntriesByType('paint').map(e => e.startTime).concat(performance.now())[0]")
    print(f"first view after {first:.0f} ms")
    check(first < 1000, f"the first view takes {first:.0f} ms")
    for view in VIEWS:
        # drawn and laid out, the least of three
        ms = browser.driver.execute_script("""let least = Infinity;
            for (let i = 0; i < 3; i++) {
                location.hash = '#run'; draw(); document.body.offsetHeight;
                const start = performance.now(); location.hash = '#' + arguments[0]; draw(); document.body.offsetHeight;
                least = Math.min(least, performance.now() - start);
            }
            return least""", view)
        print(f"#{view} {ms:.0f} ms")
        check(ms < 200, f"#{view} takes {ms:.0f} ms")
        check("cannot be drawn" not in browser.text(), f"#{view}: {browser.text()[:200]}")
    browser.open(f"file://{TMP}/large.html#threads")
    check("below" in browser.text() and "without their matrices" in browser.text(), "what was left out is not told")
    browser.shot("large-threads")
finally:
    browser.driver.quit()
print(f"{len(problems)} problems")
sys.exit(1 if problems else 0)
