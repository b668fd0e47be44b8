#!/usr/bin/python3
"""A result of 5,000 objects, 2,000 redundant pairs and 64 x 64 matrices of 200 regions: how long its export takes and how
large it is, how much CPU time Chromium's main thread takes to open it, and how long to draw each view."""
import os, subprocess, sys
sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, os.environ["SRC"] + "/tests/web")
from chromium import LWP, SRC, TMP, Browser, check, problems

def spent(browser, act):
    """Milliseconds of the main thread's CPU time, which neighbours hardly change."""
    def total():
        metrics = browser.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return 1000 * next(m["value"] for m in metrics if m["name"] == "TaskDuration")
    before = total()
    act()
    return total() - before


def opened(browser, file):
    """Until all of the first view is drawn."""
    browser.driver.get("about:blank")
    browser.driver.execute_cdp_cmd("Performance.disable", {})
    browser.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    return spent(browser, lambda: browser.open(f"file://{file}"))


def drawn(browser, view):
    """Drawn and laid out, from another view."""
    draw = lambda name: browser.driver.execute_script("location.hash = '#' + arguments[0]; draw(); document.body.offsetHeight", name)
    draw("run")
    return spent(browser, lambda: draw(view))


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
    (TMP / "word.html").write_text('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>word</title></head><body><h1>Hello</h1></body></html>')
    page, word = (min(opened(browser, TMP / name) for _ in range(5)) for name in ("large.html", "word.html"))
    print(f"opened in {page:.0f} ms of CPU time, a page with one word in {word:.0f} ms")
    check(page - word < 500, f"to open the page takes {page:.0f} ms of CPU time, a page with one word {word:.0f}")
    browser.open(f"file://{TMP}/large.html")
    browser.driver.execute_async_script("const done = arguments[0]; whole().then(done)")  # so that a view is drawn at once
    for view in VIEWS:
        ms = min(drawn(browser, view) for _ in range(3))
        print(f"#{view} {ms:.0f} ms")
        check(ms < 1000, f"#{view} takes {ms:.0f} ms of CPU time")
        check("cannot be drawn" not in browser.text(), f"#{view}: {browser.text()[:200]}")
    browser.open(f"file://{TMP}/large.html#threads")
    check("below" in browser.text() and "without their matrices" in browser.text(), "what was left out is not told")
    browser.shot("large-threads")
finally:
    browser.driver.quit()
print(f"{len(problems)} problems")
sys.exit(1 if problems else 0)
