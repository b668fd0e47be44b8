#!/usr/bin/python3
"""The report in headless Chromium: the exported file and the served page show the same in every view, by deep link, in light
and dark; nothing is logged, nothing is loaded from elsewhere, hostile text stays text, and copying copies."""
# Waits: for the browser
import json, os, re, signal, subprocess, sys
sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, os.environ["SRC"] + "/tests/web")
from chromium import SRC, TMP, Browser, By, axe, check, export, problems, result, served
from selenium.webdriver.support.ui import Select
from results import HOSTILE, group_arrays, make_hostile, watch_accesses

# view -> words that must be there
VIEWS = {
    "findings": ["2 things to change in particles", "Split struct particle", "1.35× to 1.72×", "26–42 % less time", "Tried", "1.27×", "1.25-1.29, 9 pairs of runs with the patch", "The patch", "95 % interval 49.8–54.2 %", "1,061 samples",
                 "Not measured in this run: arrays to regroup", "12 % of the CPU time was spent in the kernel", "2,040", "3 lost", "low confidence"],
    "split/0": ["struct particle", "1.25 → 0.20", "mass", "total_mass", "particles.c:14–15", "struct particle_xyz { double x; double y; double z; };", "sum += all[i].mass;",
                "8 in a cache line", "Stride 80 B", "main"],
    "split/1": ["struct node", "→ other groups", "No regular stride", "low", "unknown function"],
    "objects": ["all", "list", "table", "unknown", "52.0 %", "< 0.1 %", "make_all (particles.c:50)"],
    "object/0": ["76.3 MiB", "+32", "4,000 loads", "55.0 %", "Loops that use it"],
    "object/2": ["table", "No loop with samples uses it", "unknown"],
    "loops": ["total_mass", "find", "unknown function", "at 0x4011d0, no line information", "outside of loops"],
    "loop/1": ["all[i].z += step; /* <b>not bold</b> */", "Data it uses", "x, y, z"],
    "loop/3": ["Inside of", "compile with -g"],
    "loop/4": ["gone.c: not found on this machine"],
    "loop/5": ["passwd: not called like a source file"],
    "redundancies": ["Not measured in this run"],
    "threads": ["Not measured in this run"],
    "run": ["./particles --count 1000000 'it'\\''s one'", "timer", "2,040, of them 1,987 with an address", "1.4 %", "L3: 32.0 MiB", "/srv/app/particles", "00ff00ff", "status 0", os.uname().nodename],
    "split/99": ["There is no such structure"],
    "loop/x": ["There is no such loop"],
    "nonsense/<b>": ["2 things to change"],
}


LONG = "LONG" in os.environ  # the served page is looked at as closely as the exported one


def visit(browser, what, base, own, names=VIEWS):
    texts = {}
    for view in names:
        words = VIEWS[view]
        browser.open(f"{base}#{view}")
        texts[view] = text = browser.text()
        for word in words:
            check(word in text, f"{what} #{view}: '{word}' is not there")
        check("root:" not in text, f"{what} #{view}: shows /etc/passwd")
        check("cannot be drawn" not in text, f"{what} #{view}: {text[:200]}")
        if re.match(r"(findings|split/0|object/0|run)$", view):
            browser.shot(f"{what}-{view.replace('/', '-')}")
    browser.is_quiet(what, own)
    return texts


def interaction(browser, base, analysis):
    driver = browser.driver
    browser.open(f"{base}#split/0")
    driver.find_element(By.CSS_SELECTOR, "button.copy").click()
    driver.set_script_timeout(10)
    copied = driver.execute_async_script("const done = arguments[0]; navigator.clipboard.readText().then(done, e => done('refused: ' + e));")
    check(copied == analysis["splits"][0]["declaration"], f"the copy button copied {copied!r}")
    check("Copied" in browser.text("button.copy"), "the copy button does not say that it copied")
    driver.find_elements(By.CSS_SELECTOR, "details.loop summary")[1].click()
    check("all[i].x += step;" in browser.text(), "the second loop does not open")
    boxes = driver.execute_script("""return [...document.querySelectorAll('.panel .drawing')[0].querySelectorAll('.box')].map(b =>
        [b.querySelector('.box-name').textContent, b.getBoundingClientRect().width / b.parentNode.clientWidth * 64])""")
    drawn = [(name, round(width)) for name, width in boxes]
    check(drawn == [("x", 8), ("y", 8), ("z", 8), ("padding", 8), ("mass", 8), ("name", 24), ("name", 16)], f"the strip is not to scale: {drawn}")
    browser.follow(driver.find_element(By.CSS_SELECTOR, "nav a[href='#loops']").click)
    check("CPU time by source line" in browser.text(), "the menu does not lead to the loops")
    first = lambda: driver.find_element(By.CSS_SELECTOR, "tbody tr td").text
    check(first().startswith("total_mass"), "loops do not begin with the hottest")
    driver.find_elements(By.CSS_SELECTOR, "th button")[1].click()
    driver.find_elements(By.CSS_SELECTOR, "th button")[1].click()
    check(first().startswith("unknown function"), f"sorting upwards begins with {first()}")
    browser.follow(driver.back)
    check("struct particle" in browser.text("h1"), "the back button does not lead back")


def schemes(browser, base):
    backs = {}
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        browser.open(f"{base}#split/0")
        backs[scheme] = browser.driver.execute_script("return getComputedStyle(document.body).backgroundColor")
        browser.shot(f"scheme-{scheme}")
    check(backs["light"] != backs["dark"], f"light and dark look the same: {backs}")
    browser.scheme("light")
    browser.size(400, 800)
    for view in VIEWS:  # nothing is wider than a phone
        browser.turn(f"{base}#{view}")
        width = browser.driver.execute_script("return document.documentElement.scrollWidth")
        check(width <= 400, f"#{view} is {width} wide on a screen of 400")
    browser.open(f"{base}#split/0")
    browser.shot("phone")
    browser.size(1280)


def regrouped(browser):
    file = export(result("grouped", group_arrays)[0])
    browser.open(f"file://{file}")
    text = browser.text()
    for word in ("Make one array of north, south and west", "1.21× to 1.48×", "high confidence"):
        check(word in text, f"findings: '{word}' is not there")
    browser.follow(browser.driver.find_element(By.CSS_SELECTOR, "a[href='#regroup/0']").click)
    text = browser.text()
    for word in ("north, south, west", "3.00 → 1.00", "struct compass", "west_back", "traversed in another order", "0.93", "particles.c:14–15"):
        check(word in text, f"regroup: '{word}' is not there")
    check("cannot be drawn" not in text, f"regroup: {text[:200]}")
    browser.shot("regroup")
    browser.open(f"file://{file}#regroup/7")
    check("There is no such group" in browser.text(), "a group that is not there")
    browser.size(400, 800)
    browser.open(f"file://{file}#regroup/0")
    check(browser.driver.execute_script("return document.documentElement.scrollWidth") <= 400, "#regroup is wider than a phone")
    browser.size(1280)
    browser.is_quiet("regrouped", f"file://{file}")


def reordered(browser):
    def other_order(analysis):
        split = analysis["splits"][0]
        names = [f["name"] for f in analysis["objects"][0]["fields"]]
        offsets = [f["offset"] for f in analysis["objects"][0]["fields"]]
        split.update(kind="reorder", caution="struct particle is declared in /usr/include/particle.h: not yours to change.",
                     groups=[{"fields": names, "offsets": offsets, "new_offsets": [8 * i for i in range(len(names))], "bytes": 80, "share": 0.5}],
                     cold={"fields": [], "offsets": [], "new_offsets": [], "bytes": 0})
        analysis["kept_apart"] = [{"object": 1, "name": "list", "with": "all", "reason": "lifetime", "detail": "with all: one is gone"}]
        analysis["types"] = {"weight_share": 0.9, "share": 0.97, "share_with_field": 0.96}
        analysis["run"]["runs"] = [{"dir": "monday", "cpu_s": 1.5, "wall_s": 2.0}, {"dir": "tuesday", "cpu_s": None, "wall_s": 2.5}]
    file = export(result("reordered", other_order)[0])
    for view, words in {"split/0": ["the same structure, its fields in another order", "not yours to change"], "objects": ["Not regrouped", "is not allocated while the others are used", "one is gone"],
                        "run": ["97.0 %", "Merged results", "monday", "2.50 s"]}.items():
        browser.turn(f"file://{file}#{view}")
        text = browser.text()
        for word in words:
            check(word in text, f"reordered #{view}: '{word}' is not there")
        check("cannot be drawn" not in text, f"reordered #{view}: {text[:200]}")
        browser.shot("reordered-" + view.replace("/", "-"))
    browser.is_quiet("reordered", f"file://{file}")


def hostile(browser):
    folder, analysis = result("hostile", make_hostile)
    file = export(folder, "--source=all")
    page = file.read_text()
    check(page.lower().count("</script") == 4, "the data ends its script element")
    for view in ("findings", "split/0", "regroup/0", "objects", "object/0", "loops", "loop/0", "loop/3", "redundancies", "redundancy/0", "threads", "sharing/0", "run"):
        browser.shows_as_text(file, view)
        if view in ("findings", "split/0"):
            browser.shot("hostile-" + view.replace("/", "-"))
    browser.open(f"file://{file}#loops")
    check("</script><script>window.bad = 1</script>" in browser.text(), "the hostile name is not shown as it is")
    check("\\u{202e}" in browser.text(), "a turned reading direction is not spelled out")
    browser.is_quiet("hostile", f"file://{file}")


def accesses(browser):
    def watched(analysis):
        watch_accesses(analysis, "a plain word")
        analysis["findings"].append({"id": "dead-store-0001", "kind": "redundancy", "title": "25 % of all stores are dead", "severity": "low", "share": 0.3, "expected_speedup": None,
                                     "refs": {"redundancy": 0}, "next_step": "Store once."})
    file = export(result("accesses", watched)[0])
    browser.size(1280)
    for view, words in {"findings": ["25 % of all stores are dead", "unknown", "See the evidence"],
                        "redundancies": ["Dead stores", "40.0 %", "95 % interval 30.0–50.0 %", "120 of 900 watchpoints", "25.0 %", "37", "no watchpoint was decided"],
                        "redundancy/0": ["a plain word", "Stored in", "Overwritten in", "25.0 %", "overwritten whole", "many", "1 of 36", "Other calling contexts of this pair", "5.0 %",
                                         "sum += all[i].mass;", "all[i].z += step;", "Grey frames", "particles+0x6e8c"],
                        "redundancy/9": ["There is no such pair"],
                        "threads": ["75.0 %", "25.0 %", "false sharing", "a plain word", "12"], "sharing/0": ["stores 8–15", "Padded"]}.items():
        browser.turn(f"file://{file}#{view}")
        text = browser.text()
        for word in words:
            check(word in text, f"accesses #{view}: '{word}' is not there: {text[:600]}")
        check("cannot be drawn" not in text, f"accesses #{view}: {text[:200]}")
        if view != "redundancy/9":
            browser.shot("accesses-" + view.replace("/", "-"))
        browser.size(400)
        check(browser.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"), f"accesses #{view} is wider than a phone")
        browser.size(1280)
    browser.is_quiet("accesses", f"file://{file}")


def counted(browser):
    """What the exact engine alone knows: registers, computations, neighbours."""
    def values(analysis):
        watch_accesses(analysis, "a plain word")
        classes = [{"loaded": False, "floating_point": True, "bytes": 2048, "same": 512, "close": 256, "share": 0.375, "instructions": 0.125},
                   {"loaded": True, "floating_point": False, "bytes": 1024, "same": 512, "close": 0, "share": 0.5, "instructions": 0.25}]
        stored = [{"floating_point": is_float, "bytes": 4096, "same": 1024, "close": 128 * is_float, "share": 0.25, "approximate": 0.03125 * is_float} for is_float in (False, True)]
        total = {"exact": True, "share": 0.4, "share_ci": [0.4, 0.4], "wasted": 4.0, "total": 10.0, "unit": "bytes", "approximate": 0.5, "candidates": 10, "decided": 10, "undecided": 0}
        analysis["redundancy_totals"] = {"dead_store": None, "silent_store": dict(total, classes=stored), "silent_load": None, "computation": dict(total, unit="computations"),
                                         "generated": {"bytes": 10000, "redundant": 4321, "close": 384, "share": 0.4321, "approximate": 0.0384},
                                         "register": dict(total, classes=classes), "spatial": total}
        pair = analysis["redundancies"][0]
        analysis["redundancies"] = [dict(pair, kind="register", cause="same_arguments", share_ci=[0.25, 0.25]), dict(pair, kind="spatial", first=pair["second"], cause="uniform_fill", own_share=0.75)]
    file = export(result("counted", values)[0])
    for view, words in {"redundancies": ["Registers", "Equal elements", "4 computations of 10 computations", "Values that did not change", "37.5 %", "12.5 %", "computed in registers", "stored to memory", "3.1 %", "all of these", "43.2 %", "not asked", "same arguments", "uniform fill"],
                        "redundancy/0": ["The two writes", "Written in", "Written again in", "same arguments"],
                        "redundancy/1": ["The store", "75.0 %", "uniform fill"]}.items():
        browser.turn(f"file://{file}#{view}")
        text = browser.text()
        for word in words:
            check(word in text, f"counted #{view}: '{word}' is not there: {text[:900]}")
        browser.shot("counted-" + view.replace("/", "-"))
    browser.is_quiet("counted", f"file://{file}")


def other_results(browser):
    def empty(analysis):
        analysis.update(findings=[], splits=[], objects=[], loops=[], contexts=[])
        analysis["run"].update(samples=12, samples_with_address=0, overhead_percent=None, wall_s=None, cpu_s=None, cwd=None, host=None)
    file = export(result("empty", empty)[0])
    for view, word in {"findings": "Only 12 samples were taken", "objects": "No sample could be attributed", "loops": "No sample could be attributed", "run": "unknown"}.items():
        browser.turn(f"file://{file}#{view}")
        check(word in browser.text(), f"empty #{view}: '{word}' is not there")

    def calm(analysis):
        analysis.update(findings=[], splits=[])
    file = export(result("calm", calm)[0])
    browser.open(f"file://{file}")
    check("No advice for particles" in browser.text() and "Not measured in this run" in browser.text(), "no advice and not measured look the same")

    def brief(analysis):
        """A run shorter than lwp's start, and a loop that was sampled, not traced."""
        analysis["run"].update(cpu_s=0.004, overhead_percent=753.7)
        analysis["communication"] = {"threads": [{"tid": 1, "name": "a"}, {"tid": 2, "name": "b"}], "others": 0, "unit": "share", "watched": 20, "decided": 12, "regions": []}
        analysis["locality"] = [{"object": 0, "loop": 0, "share": 0.3, "seen": 77, "stride_lines": {"dominant": 1.25, "share": 0.9}, "streams": None, "pages": None}]
        analysis["findings"] = [{"id": "interchange-1", "kind": "locality", "title": "The loop a.c:3-5 (loop 2 of the nest) goes down the columns of f(std::vector<int, std::allocator<int> > const&)", "severity": "low", "share": 0.3,
                                 "share_ci": [0.2, 0.4], "expected_speedup": None, "refs": {"locality": 0}, "next_step": "Interchange."}]
    file = export(result("brief", brief)[0])
    browser.open(f"file://{file}")
    text = browser.text()
    for words in ("7.5 times the run", "whole start of lwp", "(loop 2 of the nest)", "f(…)", "77 samples", "95 % interval 20.0–40.0 %"):
        check(words in text, f"a brief run: '{words}' is not there: {text[:900]}")
    browser.open(f"file://{file}#threads")
    check("Too little was measured to say. No thread was seen to load what another one had stored: 12 of 20 watchpoints on stores decided." in browser.text(), f"12 watchpoints: {browser.text()[:500]}")
    check("counted, not sampled" not in text and "largest predicted gain" not in text, "a brief run: samples are called counts, or no gain is called the largest")

    def ran(analysis):
        """Where samples predict what another order of loops gains, both orders were run."""
        brief(analysis)
        analysis["findings"][0].update(speedup=1.3, expected_speedup=[1.2, 1.4])
    browser.open(f"file://{export(result('ran', ran)[0])}")
    text = browser.text()
    check("were run on this machine as they are and as advised" in text and "estimated, not measured" not in text, f"loops that were run: {text[:900]}")

    def broken(analysis):
        analysis["loops"] = [7, None]
        analysis["objects"][0]["loops"] = "none"
        analysis["splits"][1]["groups"] = None
    file = export(result("broken", broken)[0])
    for view in list(VIEWS)[:: 1 if LONG else 3]:
        browser.turn(f"file://{file}#{view}")
        check(len(browser.text()) > 20, f"broken #{view}: nothing is shown")

    def large(analysis):
        analysis["objects"] = [dict(analysis["objects"][0], name=f"object {i}") for i in range(5000)]
    file = export(result("large", large)[0])
    browser.open(f"file://{file}#objects")
    took = browser.driver.execute_script("const start = performance.now(); location.hash = ''; draw(); location.hash = 'objects'; draw(); return performance.now() - start")
    check(took < 2000, f"5,000 objects take {took:.0f} ms")
    rows = lambda: len(browser.driver.find_element(By.CSS_SELECTOR, "main table").find_elements(By.CSS_SELECTOR, "tbody tr"))
    check(rows() == 50, f"{rows()} rows of 5,000 are drawn at first")
    browser.driver.find_element(By.CSS_SELECTOR, "main input[type=search]").send_keys("object 4321")
    check(rows() == 1, f"the filter leaves {rows()} rows")
    browser.is_quiet("other results", f"file://{TMP}/")


PAGE_BYTES, FIRST_BYTES, FIRST_NODES, SCREEN_NODES = 2 << 20, 100 << 10, 1500, 400


def silences(browser):
    """Why there is no advice: each kind in words of its own, with what would help, and each reason beside its object."""
    kinds = {"not_measured": "Could not be measured: ", "nothing_to_gain": "Measured, and nothing to gain: ", "left_alone": "Measured, and left alone: "}
    for kind, words in kinds.items():
        def silent(analysis):
            analysis["findings"] = []
            analysis["silence"] = {"kind": kind, "code": "left_alone", "sentence": f"this is said of {kind} <b>", "help": f"Try {kind}." if kind == "not_measured" else None}
            analysis["coverage"] = {"of": "time", "share": 0.5, "loader": 0, "sentence": "Half of it was seen."}
            analysis["left_alone"] = [{"object": i, "code": "sequential", "sentence": "its loops traverse it sequentially"} for i in (1, 0)] if kind == "left_alone" else []
        file = export(result("silent-" + kind, silent)[0])
        browser.open(f"file://{file}#findings")
        text = " ".join(browser.text().split())
        check(f"{words}this is said of {kind} <b>." in text, f"{kind}: not said: {text[:400]}")
        check("Half of it was seen." in text and (f"Try {kind}." in text) == (kind == "not_measured"), f"{kind}: without what was seen, or what would help: {text[:400]}")
        check(not any(other in text for other in kinds.values() if other != words) and "No advice for" in text, f"{kind} is mixed with another one: {text[:400]}")
        check(("Left as it is, and why" in text) == (kind == "left_alone"), f"{kind}: reasons")
        check(kind != "left_alone" or re.search(r"list [\d.]+ %: its loops traverse it sequentially\. .* %: the same as for list\.", text), f"no reason beside its object, or twice: {text[:900]}")
        browser.is_quiet(kind, f"file://{file}")


def first_view(browser):
    """What a page of 5,000 objects does until its first view is there: it reads little, draws little, and shows what the whole result would."""
    subprocess.run([sys.executable, SRC / "tests/web/large.py", TMP / "huge"], check=True)
    file = export(TMP / "huge")
    page, url = file.read_text(), f"file://{file}"
    check(len(page) < PAGE_BYTES, f"a page of 5,000 objects has {len(page)} bytes")
    check(page.index('id="lwp-data"') < page.index("'use strict'") < page.index('class="lwp-rest"') < page.index('class="lwp-later"'), "what the first view does not show stands before the scripts")
    count = browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """window.parsed = 0; const parse = JSON.parse; JSON.parse = text => { window.parsed += text.length; return parse(text); };
        const frame = requestAnimationFrame; requestAnimationFrame = call => frame(time => { window.screen_nodes ??= document.querySelectorAll('main *').length; call(time); });"""})
    browser.open(url)
    parsed, nodes, screen = browser.driver.execute_script("return [window.parsed, document.querySelectorAll('main *').length, window.screen_nodes]")
    check(0 < parsed < FIRST_BYTES, f"the first view parses {parsed} bytes")
    check(screen < nodes < FIRST_NODES and screen < SCREEN_NODES, f"the first view has {nodes} elements, its first frame {screen}")
    first = browser.text()
    check("data of make_9" in first and "function_" not in first, f"the first view lacks its table: {first[-600:]}")
    browser.driver.execute_async_script("const done = arguments[0]; whole().then(() => { redraw(); done(); })")
    check(browser.driver.execute_script("return window.parsed") > 1 << 20, "the whole result is not there")
    check(browser.text() == first, "the first view shows something else than the whole result")
    browser.open(url)
    browser.follow(browser.driver.find_element(By.CSS_SELECTOR, "a[href='#split/0']").click)
    check("Stride 80 B" in browser.text(), "a link of the first view leads nowhere")
    browser.open(url)
    browser.driver.find_element(By.ID, "search").send_keys("data of make_4321")
    browser.await_text("#found", "data of make_4321")
    check("data of make_4321" in browser.text("#found"), "the search does not find what the first view does not show")
    browser.open(url + "#object/4321")
    check("data of make_4321" in browser.text("h1"), "a deep link into a large page")
    browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", count)
    older = browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": "delete window.DecompressionStream"})
    browser.open(url + "#objects")
    check("This browser cannot unpack" in browser.text(), f"an older browser shows {browser.text()[:300]}")
    browser.open(url)
    check(browser.text() == first, "an older browser does not show the first view")
    browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", older)
    browser.is_quiet("first view", url)


def history(browser, own):
    """Several results: the newest first, any two on one page, and back."""
    def later(analysis):
        analysis["run"].update(cpu_s=2.1, started=analysis["run"]["started"].replace("2026", "2027"))
        analysis["findings"][0]["title"] = "Another headline"
    result("later", later)
    index, url = served(TMP)
    try:
        browser.open(url)
        rows = [row.text for row in browser.driver.find_elements(By.CSS_SELECTOR, "tbody tr")]
        check(len(rows) == 2 and "later" in rows[0] and "Another headline" in rows[0] and "sample" in rows[1] and "Split struct particle" in rows[1], f"history: {rows}")
        check("with previous" in rows[0] and "with previous" not in rows[1], f"what is compared with what: {rows}")
        browser.accessible(axe(), "index")
        browser.shot("index")
        browser.follow(lambda: browser.driver.find_elements(By.CSS_SELECTOR, "tbody tr a")[2].click())
        check("2 things to change" in browser.text(), "the index does not lead to the result")
        browser.follow(lambda: browser.driver.find_element(By.LINK_TEXT, "All results").click())
        browser.follow(lambda: browser.driver.find_element(By.LINK_TEXT, "with previous").click())
        text = browser.text()
        check("4.20 s → 2.10 s" in text and "The reports: sample · later" in text, f"compared: {text[:500]}")
        browser.shot("index-compared")
        check("struct particle" in text and "Findings" in browser.text("nav"), "the report of the second is not behind it")
        browser.follow(lambda: browser.driver.find_element(By.LINK_TEXT, "sample").click())
        check("2 things to change" in browser.text(), "no way to the first report")
        browser.open(url)
        Select(browser.driver.find_element(By.CSS_SELECTOR, "select[aria-label=Before]")).select_by_index(0)
        Select(browser.driver.find_element(By.CSS_SELECTOR, "select[aria-label=After]")).select_by_index(1)
        browser.follow(lambda: browser.driver.find_element(By.LINK_TEXT, "Compare").click())
        check("2.10 s → 4.20 s" in browser.text(), f"the other way round: {browser.text()[:300]}")
        browser.is_quiet("history", url, own)
    finally:
        index.send_signal(signal.SIGINT)
        check(index.wait(10) == 0, "the index server does not end well")


def main():
    folder, analysis = result("sample")
    (folder / "tried.json").write_text(json.dumps({analysis["findings"][0]["id"]: {
        "root": "/nowhere", "patch": "--- a/p.h\n+++ b/p.h\n@@ -1,1 +1,1 @@\n-old\n+new\n", "command": "make && ./p", "speedup": 1.274, "interval": [1.25, 1.29],
        "pairs": 9, "placements": 3}}))
    file = export(folder, "--source=all")
    check(file.stat().st_size < 256 << 10, f"the exported sample has {file.stat().st_size} bytes")
    server, url = served(folder)
    browser = None
    try:
        browser = Browser()
        browser.size(1280)
        browser.scheme("light")
        from_file = visit(browser, "exported", f"file://{file}", f"file://{file}", list(VIEWS)[:: 1 if LONG else 2])
        from_server = visit(browser, "served", url, url, list(VIEWS)[:: 1 if LONG else 4])
        for view in from_server:
            check(from_file[view].split() == from_server[view].split(), f"#{view} differs between the exported and the served page")
        interaction(browser, f"file://{file}", analysis)
        if LONG:
            interaction(browser, url, analysis)
        schemes(browser, f"file://{file}")
        browser.is_quiet("by hand", f"file://{file}", url)
        none = export(folder, "--source=none")
        browser.open(f"file://{none}#loop/0")
        check("exported without source" in browser.text() and "all[i].mass" not in none.read_text(), "--source=none has source")
        history(browser, f"file://{none}")
        other_results(browser)
        silences(browser)
        first_view(browser)
        regrouped(browser)
        reordered(browser)
        hostile(browser)
        accesses(browser)
        counted(browser)
    finally:
        if browser:
            browser.driver.quit()
        server.send_signal(signal.SIGINT)
    check(server.wait(10) == 0, "the server does not end well")
    print(f"{len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
