#!/usr/bin/python3
"""The page of a run that goes on, in headless Chromium: its numbers grow, it becomes the report by itself and stays where the
reader was when its result changes; the index marks the run. Nothing is logged, nothing is asked of others."""
# Waits: for the browser
import json, os, re, signal, subprocess, sys, time
sys.dont_write_bytecode = True
sys.path.insert(0, os.environ["SRC"] + "/tests/web")
from chromium import LWP, TMP, Browser, By, axe, check, problems, served

PROGRAM = r"""
#include <unistd.h>
enum { COUNT = 1000000 };
static struct { double x, y, z, w, rest[4]; } all[COUNT];
int main(void)
{
    double sum = 0;
    for (int i = 0; i < COUNT; i++) all[i].x = i;
    while (access("stop", F_OK))
        for (int i = 0; i < COUNT; i++) sum += all[i].x;
    return sum < 0;
}
"""


def until(what, holds, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if holds():
                return
        except Exception:  # the page is just being loaded
            pass
        time.sleep(0.1)
    check(False, f"{what}: not within {seconds} s")


def start(folder):
    errors = open(TMP / "err", "w+")
    process = subprocess.Popen([LWP, "collect", "--serve", "-o", str(folder / "run"), "--", str(TMP / "turns")], stderr=errors)
    url = lambda: re.search(r"shown at (http\S+)\n", (TMP / "err").read_text())
    until("a URL", url)
    return process, url()[1]


def main():
    os.chdir(TMP)
    (TMP / "turns.c").write_text(PROGRAM)
    subprocess.run([*os.environ.get("CC", "gcc").split(), "-O1", "-g", "-o", "turns", "turns.c"], check=True)
    folder = TMP / "several"
    folder.mkdir()
    process, url = start(folder)
    index, index_url = served(folder)
    script = axe()
    browser = Browser()
    try:
        browser.size(1280)
        browser.open(index_url)
        check("running" in browser.text("tbody"), f"the index does not mark the run: {browser.text()}")
        browser.open(url + "#objects")
        until("samples", lambda: re.search(r"Samples so far\s+[1-9]", browser.text()))
        numbers = browser.text()
        until("newer numbers", lambda: browser.text() != numbers)
        text = browser.text()
        for word in ("Progress of turns", "The program is running", "Running for", "Processes", "Threads", "KiB"):
            check(word in text, f"while it runs: '{word}' is not there: {text}")
        until("findings so far", lambda: "Findings so far" in browser.text())
        for word in ("from the first", "memory stall", "Memory stall by data object so far"):
            check(word in browser.text(), f"findings so far: '{word}' is not there: {browser.text()}")
        check(browser.driver.find_elements(By.CSS_SELECTOR, ".interim li"), f"no finding so far: {browser.text()}")
        check(not (folder / "run/analysis.json").exists(), "the running result was analysed for good")
        for scheme in ("light", "dark"):
            browser.scheme(scheme)
            browser.accessible(script, f"running, {scheme}")
            browser.shot(f"running-{scheme}")
        browser.scheme("light")
        browser.size(400, 800)
        check(browser.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"), "the progress is wider than a phone")
        browser.size(1280)
        (TMP / "stop").touch()
        until("the report", lambda: browser.driver.execute_script("return page.view") == "result")
        until("the view", lambda: browser.text("nav a[aria-current]").startswith("Data"))
        check(browser.driver.current_url.endswith("#objects"), "the place is lost")
        # a result that changes later
        file = folder / "run/analysis.json"
        analysis = json.loads(file.read_text())
        analysis["objects"][0]["name"] = "changed by hand"
        (TMP / "new").write_text(json.dumps(analysis))
        os.rename(TMP / "new", file)
        until("the change", lambda: "changed by hand" in browser.text())
        browser.is_quiet("running", url, index_url)
        browser.open(index_url)
        check("● running" not in browser.text() and "running" not in browser.text("tbody"), "the index marks a run that has ended")
        process.send_signal(signal.SIGTERM)
        check(process.wait(10) == 0, f"lwp collect ends with {process.returncode}")
        browser.is_quiet("index", index_url, url)
    finally:
        browser.driver.quit()
        for server in (process, index):
            if server.poll() is None:
                server.send_signal(signal.SIGTERM)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
