#!/usr/bin/python3
"""Every view of a result that has everything, from its deep link: what it must say, by keyboard, in the order of its numbers,
on paper and on a phone; hostile text in it stays text; axe-core finds nothing against WCAG 2.1 A and AA, in light and dark. Each fourth
view; with LONG every one."""
# Waits: for the browser
import os, subprocess, sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, os.environ["SRC"] + "/tests/web")
from chromium import TMP, Browser, By, axe, check, export, problems, result
from results import ALL_VIEWS, HOSTILE, count_communication, everything, make_hostile, trace_locality


BROWSERS = 2  # beside each other


def view(browser, file, script, name, words):
    """From its deep link: light, dark, on a phone and on paper; one load, as nothing but the style depends on those."""
    kept = f"view-{name.replace('/', '-')}"
    browser.open(f"file://{file}#{name}")
    browser.accessible(script, f"#{name}, light")
    browser.shot(f"{kept}-light")
    text = browser.text()
    for word in words:
        check(word in text, f"#{name}: '{word}' is not there: {text[:700]}")
    check("cannot be drawn" not in text, f"#{name}: {text[:200]}")
    browser.scheme("dark")
    browser.accessible(script, f"#{name}, dark", rules=["color-contrast"])
    browser.shot(f"{kept}-dark")
    browser.scheme("light")
    phone(browser, name)
    browser.shot(f"{kept}-phone")
    paper(browser, name)
    browser.shot(f"{kept}-print")
    browser.pdf(kept)
    browser.is_quiet(f"#{name}", f"file://{file}")


def phone(browser, name):
    browser.size(400, 800, mobile=True)
    check(browser.driver.execute_script("return document.documentElement.scrollWidth <= 400"), f"#{name} is wider than a phone")
    current = browser.driver.execute_script("const at = document.querySelector('nav [aria-current]').getBoundingClientRect(); return [at.left, at.right]")
    check(current[0] >= 0 and current[1] <= 400, f"#{name}: its entry of the menu is out of sight, {current}")


def paper(browser, name):
    """On A4 nothing is cut off at the right: tables and drawings are as narrow as the paper; numbers stay in one piece."""
    driver = browser.driver
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    browser.size(718, 1000)  # A4 less margins, at 96 dots an inch
    wide = driver.execute_script("return [...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > 719 && getComputedStyle(e).position !== 'absolute' && !e.closest('.chart-area')).slice(0, 3).map(e => e.outerHTML.slice(0, 120))")
    check(not wide, f"#{name} is cut off on paper: {wide}")
    broken = driver.execute_script("return [...document.querySelectorAll('td.number .value')].filter(e => e.getClientRects().length > 1 || e.offsetHeight > 30).slice(0, 3).map(e => e.textContent)")
    check(not broken, f"#{name} has numbers in two lines on paper: {broken}")


def stalled(browser, base):
    """Flame graph: boxes to scale, zoom, words; the state is in the address."""
    driver = browser.driver
    browser.open(f"{base}#stalls")
    wide = lambda: {b.text: b.rect["width"] for b in driver.find_elements(By.CSS_SELECTOR, ".flame-box") if b.text}
    boxes = wide()
    check(abs(boxes["find"] / boxes["total_mass"] - 0.184 / 0.52) < 0.03, f"the flame graph is not to scale: {boxes}")
    driver.find_element(By.XPATH, "//button[text()='find' and contains(@class, 'flame-box')]").click()
    check("total_mass" not in wide() and abs(wide()["find"] - boxes["all memory stall"]) < 3, f"a click does not zoom: {wide()}")
    driver.find_element(By.XPATH, "//button[text()='find' and contains(@class, 'flame-box')]").click()
    check("total_mass" in wide(), "a second click does not zoom out")
    driver.find_element(By.XPATH, "//label[contains(., 'Highlight')]/input").send_keys("find")
    check("18.4 % of the time matches" in browser.text() and "q=find" in driver.current_url, f"words: {driver.current_url}")
    driver.find_element(By.XPATH, "//button[text()='By allocation site']").click()
    check("by=allocation" in driver.current_url and any("make_all" in name for name in wide()), f"by allocation site: {wide()}")


def searched(browser, base):
    """One box finds data, code and words, by keyboard alone; the theme changes."""
    driver = browser.driver
    browser.open(f"{base}#run")
    driver.find_element(By.TAG_NAME, "body").send_keys("/total_m")
    browser.await_text("#found", "total_mass")
    check("total_mass" in browser.text("#found"), f"search: {browser.text('#found')}")
    browser.follow(lambda: driver.switch_to.active_element.send_keys("\ue007"))
    check("total_mass" in browser.text("h1"), f"Enter leads to {browser.text('h1')}")
    driver.find_element(By.TAG_NAME, "body").send_keys("/false sh")
    browser.await_text("#found", "false sharing")
    check("different bytes of one cache line" in browser.text("#found"), f"terms are not found: {browser.text('#found')}")
    back = lambda: driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    light, button = back(), driver.find_element(By.CSS_SELECTOR, ".theme")
    button.click(), button.click()
    check(back() != light and "dark" in button.text, f"the theme does not change: {button.text}")
    button.click()
    check(back() == light, "the theme does not change back")


def by_hand(browser, file):
    driver, base = browser.driver, f"file://{file}"
    browser.open(f"{base}#run")
    driver.find_element(By.CSS_SELECTOR, "button.copy").click()
    copied = driver.execute_async_script("const done = arguments[0]; navigator.clipboard.readText().then(done, e => done('refused: ' + e));")
    check(copied.startswith("lwp collect --engine=exact"), f"copied {copied!r}")
    browser.open(f"{base}#threads")
    flows = lambda: [row.text for row in driver.find_elements(By.XPATH, "//table[caption='Flows']/tbody/tr")]
    before = flows()
    driver.find_element(By.XPATH, "//table[caption='Flows']//button[text()='Written by']").click()
    check(flows() != before and flows()[0].startswith("T0"), f"flows do not sort: {flows()[:2]}")
    driver.find_element(By.XPATH, "//table[caption='Flows']/ancestor::div[contains(@class, 'table')]//input").send_keys("103")
    check(0 < len(flows()) < len(before) and all("T3" in row for row in flows()), f"a word does not filter: {flows()}")
    kept = flows()
    browser.follow(lambda: driver.execute_script("location.hash = 'run'"))
    browser.follow(driver.back)
    check(flows() == kept, f"filter and order are lost after Back: {flows()[:2]}")
    driver.find_element(By.LINK_TEXT, "worker").send_keys("\ue007")  # Enter
    check("Communication by pair of threads" in browser.text(), "Enter on a region does not lead to it")
    stalled(browser, base)
    searched(browser, base)
    shown = driver.execute_script("return [sourceText('\\tx'), sourceText('    \\tx'), atMost(0.0001), atMost(0.25)]")
    check(shown == [" " * 8 + "x", " " * 8 + "x", "< 0.1\u00a0%", "at most 25.0\u00a0%"], f"tabs or bounds are shown as {shown}")
    twins = driver.execute_script("const before = data.objects; data.objects = ['heat_new', 'Grid::Grid(long)'].map(allocates => ({name: 'p', type: 'double', site: {function: allocates}}));"
                                  "const names = data.objects.map(objectName); data.objects = before; return names")
    check(twins == ["p in heat_new()", "p in Grid::Grid(long)"], f"objects of one name: {twins}")
    ghosts = driver.execute_script("return [true, false].map(single => el('div', null, drawElement({...data.objects[0], single}, 24, 64, null)).querySelectorAll('.ghost').length)")
    check(ghosts[0] == 0 < ghosts[1], f"neighbours in a cache line: {ghosts}, blocks of their own have none")
    browser.open(f"{base}#region/1")
    seen = set()
    for _ in range(40):  # Tab reaches the menu and what scrolls
        driver.switch_to.active_element.send_keys("\ue004")
        seen.add(driver.execute_script("return document.activeElement.tagName + ' ' + document.activeElement.className"))
    check({"A ", "DIV scroll"} <= seen, f"Tab reaches only {seen}")
    browser.is_quiet("by hand", base)


def many_threads(browser):
    file = export(result("many", lambda analysis: count_communication(analysis, threads=40))[0])
    browser.open(f"file://{file}#threads")
    rows = browser.driver.find_elements(By.CSS_SELECTOR, ".matrices .panel:first-child .cells")
    check(len(rows) == 40, f"{len(rows)} rows of 40")
    told = browser.driver.execute_script("""const row = arguments[0], box = row.getBoundingClientRect();
        row.dispatchEvent(new MouseEvent('mousemove', {clientX: box.left + box.width * 1.5 / 40, clientY: box.top + 2})); return row.title""", rows[0])
    check("T0 → T1: 20" == told, f"the second cell of the first row tells '{told}'")
    browser.shot("many-threads")
    browser.is_quiet("many threads", f"file://{file}")


def hostile(browser):
    def change(analysis):
        make_hostile(analysis)
        analysis["findings"] = []
        count_communication(analysis, HOSTILE[0])
        trace_locality(analysis, HOSTILE[2])
        analysis["communication"]["regions"] += [dict(analysis["communication"]["regions"][1], name=text, pattern=text, advice=[text]) for text in HOSTILE]
        analysis["run"]["options"] = {"region": HOSTILE[2], HOSTILE[1]: HOSTILE[0]}
    file = export(result("hostile", change)[0], "--source=all")
    for view in ("findings", "threads", "region/1", "region/4", "region/18", "locality", "locality/0", "loops", "run"):
        browser.shows_as_text(file, view)
    browser.is_quiet("hostile", f"file://{TMP}/")


def left_out(browser):
    """More than the file may hold: it is smaller, and says what is missing and how little that is."""
    def many(analysis):
        everything(analysis)
        first = dict(analysis["objects"][0], loops=[dict(analysis["objects"][0]["loops"][0], share=1e-6)] * 8)
        analysis["objects"] += [dict(first, name=f"object {i}", share=1e-4 / (i + 1)) for i in range(3000)]
        analysis["redundancies"] += [dict(analysis["redundancies"][0], share=1e-4 / (i + 1)) for i in range(3000)]
    folder, _ = result("limited", many)
    file = export(folder, "--limit=1")
    check(file.stat().st_size < 1 << 20, f"--limit=1 gives {file.stat().st_size} bytes")
    for view, words in {"objects": "below", "redundancies": "below", "object/2800": "below", "run": "below"}.items():
        browser.turn(f"file://{file}#{view}")
        check(words in browser.text() and "cannot be drawn" not in browser.text(), f"#{view} does not say what was left out: {browser.text()[:400]}")
    browser.open(f"file://{file}#objects")
    browser.shot("left-out")
    browser.is_quiet("left out", f"file://{file}")


def two_runs(browser, script):
    """Before and after: of a result and of one in which its first structure has become smaller and faster."""
    def after(analysis):
        analysis["run"].update(cpu_s=2.1, wall_s=2.2)
        analysis["objects"][0].update(share=0.2, share_ci=[0.18, 0.22], element_bytes=8, type="struct particle_mass", fields=[])
        analysis["findings"] = analysis["findings"][1:]
        used = [use["loop"] for use in analysis["objects"][0]["loops"]]
        for index, loop in enumerate(analysis["loops"]):  # code that the change does not touch takes as long as before
            loop["share"] *= 1 if index in used else 2
    def before(analysis):
        analysis["findings"][0].update(speedup=1.5)
    files = [str(result(name, change)[0] / "analysis.json") for name, change in (("before", before), ("after", after))]
    page = TMP / "two.html"
    with open(page, "wb") as to:
        subprocess.run([os.environ["LWP"], "diff", "--html", *files], check=True, stdout=to)
    check(page.stat().st_size < 300 << 10, f"the comparison's page has {page.stat().st_size} bytes")
    for view, words in {"diff": ["Predicted 1.50× (1.35–1.72), measured 2.00×", "more than predicted", "4.20 s → 2.10 s", "2.00× as fast", "struct particle", "Gone", "Still there"], "structure/0": ["Layout in memory", "Before", "After", "In numbers", "mass"],
                        "structure/99": ["There is no such structure"],
                        # behind it, the report of the second
                        "findings": ["1 thing to change", "Predicted 1.50× (1.35–1.72), measured 2.00×: this is the report of the second run"], "split/0": ["What changes", "struct particle"], "loops": ["total_mass"], "run": ["2.10 s"]}.items():
        browser.turn(f"file://{page}#{view}")
        text = browser.text()
        for word in words:
            check(word in text, f"#{view}: '{word}' is not there: {text[:900]}")
        check("cannot be drawn" not in text, f"#{view}: {text[:200]}")
        browser.accessible(script, f"#{view}")
        browser.shot(f"two-{view.replace('/', '-')}")
        phone(browser, view)
        browser.size(1280)
    browser.turn(f"file://{page}#diff")
    bars = browser.driver.execute_script("return [...document.querySelectorAll('.two-bars')].map(two => [...two.querySelectorAll('.fill')].map(fill => parseFloat(fill.style.width)))")
    check(max(map(max, bars)) == 100 and sum(width == 100 for two in bars for width in two) == 1, f"structures have a scale each: {bars}")
    mixed, alike = browser.driver.execute_script("return [null, 0.5].map(after => timeColumn('Time', [{before: {share: 0.6, seconds: 1}, after: {share: 0.5, seconds: after}}], 'seconds').title)")
    check((mixed, alike) == ("Share of the time", "Time"), f"seconds stand beside what has none: {mixed}, {alike}")
    check("advice not followed" in browser.text() or "Predicted" not in browser.text("main thead"), "columns without a prediction")
    browser.is_quiet("two runs", f"file://{page}")


def work(tasks):
    """One browser takes tasks as long as there are any."""
    browser = Browser()
    try:
        browser.driver.set_script_timeout(30)
        while (task := next(tasks, None)):
            browser.size(1280)
            browser.scheme("light")
            task(browser)
    finally:
        browser.driver.quit()


def main():
    script = axe()
    file = export(result("everything", everything)[0], "--source=all")
    tasks = iter([left_out, hostile, partial(two_runs, script=script), many_threads, partial(by_hand, file=file)] +
                  [partial(view, file=file, script=script, name=name, words=words) for name, words in list(ALL_VIEWS.items())[:: 1 if "LONG" in os.environ else 4]])
    with ThreadPoolExecutor(BROWSERS) as pool:
        for done in [pool.submit(work, tasks) for _ in range(BROWSERS)]:
            done.result()
    print(f"{len(problems)} problems")
    if not script and not problems:
        print("axe-core could not be had (npm install -g axe-core): accessibility was not tested")
        return 77
    return 1 if problems else 0


sys.exit(main())
