"""The report in headless Chromium, for tests: a browser, results to look at, what is wrong with a page.

Screenshots, named by view, go to the folder LWP_SCREENSHOTS when there is that variable: they are for people to look at, and
a quarter of what a view costs."""
import base64, json, os, subprocess, sys, tempfile, time
from pathlib import Path

CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
for program in (CHROMIUM, DRIVER):
    if not os.access(program, os.X_OK):
        print(f"{program} is not installed")
        sys.exit(77)
try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
except ImportError:
    print("python3-selenium is not installed")
    sys.exit(77)

LWP, SRC, TMP = os.environ["LWP"], Path(os.environ["SRC"]), Path(os.environ["TMP"])
SOURCE = SRC / "tests/web"
SHOTS = os.environ.get("LWP_SCREENSHOTS")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
problems = []


def check(holds, what):
    if not holds:
        problems.append(what)
        print("FAIL:", what, flush=True)


def result(name, change=None):
    """A result folder with the sample analysis; its loops are in SOURCE/particles.c."""
    analysis = json.loads((SRC / "tests/web/analysis.json").read_text())
    analysis["run"].update(cwd=str(SOURCE), host=os.uname().nodename)
    if change:
        change(analysis)
    folder = TMP / name
    folder.mkdir()
    (folder / "analysis.json").write_text(json.dumps(analysis))
    return folder, analysis


def export(folder, *options):
    out = TMP / (folder.name + ".html")
    subprocess.run([LWP, "export", "--root", str(SOURCE), str(folder), "-o", str(out), *options], check=True, stderr=subprocess.PIPE)
    return out


def served(folder):
    server = subprocess.Popen([LWP, "serve", "-p", "0", "--root", str(SOURCE), str(folder)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return server, server.stdout.readline().strip()


def axe():
    """axe-core's script: what configure --install-deps put there, else npm's, else None."""
    at = lambda folder: Path(folder) / "axe-core/axe.min.js"
    if "LWP_AXE" in os.environ:
        return Path(os.environ["LWP_AXE"]).read_text()
    for command in (["npm", "root", "-g"], ["npm", "install", "--silent", "--no-save", "--prefix", str(TMP / "npm"), "axe-core@4"]):
        try:
            said = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.strip()
        except (OSError, subprocess.TimeoutExpired):
            return None
        for folder in (said, TMP / "npm/node_modules"):
            if folder and at(folder).exists():
                return at(folder).read_text()
    return None


class Browser:
    def __init__(self):
        options = Options()
        options.binary_location = CHROMIUM
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
                     "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", f"--user-data-dir={tempfile.mkdtemp(dir=TMP)}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        self.driver.set_page_load_timeout(60)
        self.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
        self.driver.get("about:blank")  # what the browser's own first tab asked for is not the page's
        self.driver.get_log("performance")

    def size(self, width, height=900, mobile=False):
        self.mobile = mobile
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile})
        # the page hears of its size with its next frame
        self.driver.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))")

    def scheme(self, name):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": [{"name": "prefers-color-scheme", "value": name}]})

    def open(self, url):
        self.driver.get("about:blank")  # a new hash alone would not load the page again
        self.driver.get(url)
        self.settle()

    def settle(self):
        """A page of ours draws what is below the first screen, and views that need the whole result, after it is loaded."""
        self.driver.execute_async_script("""const done = arguments[0], look = () => typeof settled === 'undefined' || settled() ? done() : setTimeout(look, 5); look()""")

    def turn(self, url):
        """As a link inside of the page does it: loads the page only when it is not there yet."""
        page, view = url.split("#")
        if self.driver.current_url.split("#")[0] != page:
            return self.open(url)
        self.driver.execute_async_script("""const [view, done] = arguments;
            if (location.hash === view) return done();
            addEventListener('hashchange', () => done(), {once: true});
            location.hash = view;""", "#" + view)
        self.settle()

    def text(self, what="main"):
        return self.driver.find_element(By.CSS_SELECTOR, what).text.replace("\u00a0", " ")

    def await_text(self, what, text):
        """Until `text` is in it, at most five seconds."""
        for _ in range(100):
            if text in self.text(what):
                return
            time.sleep(0.05)

    def follow(self, act):
        """Does what leads to another view of the page, and waits until it is drawn."""
        heading = lambda: self.driver.execute_script("return document.querySelector('h1').textContent")
        before = heading()
        act()
        for _ in range(100):
            if heading() != before:
                return
            time.sleep(0.05)

    def shot(self, name):
        if not SHOTS:
            return
        os.makedirs(SHOTS, exist_ok=True)
        width, height = self.driver.execute_script("return [innerWidth, document.documentElement.scrollHeight]")
        self.size(width, min(4500, height), self.mobile)
        self.driver.save_screenshot(os.path.join(SHOTS, name + ".png"))
        self.size(width, mobile=self.mobile)

    def pdf(self, name):
        """The view on A4."""
        if not SHOTS:
            return
        os.makedirs(SHOTS, exist_ok=True)
        pdf = self.driver.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69, "printBackground": True})["data"]
        Path(SHOTS, name + ".pdf").write_bytes(base64.b64decode(pdf))

    def accessible(self, script, what, rules=RULES):
        """axe-core finds nothing; `script` as axe() gives it, None: not tested."""
        if not script:
            return
        if not self.driver.execute_script("return 'axe' in window"):
            self.driver.execute_script(script)
        self.driver.set_script_timeout(30)
        found = self.driver.execute_async_script("""const done = arguments[1];
            axe.run(document, {runOnly: arguments[0]}).then(r => done(r.violations), e => done([{id: String(e), nodes: []}]))""", rules)
        for violation in found:
            check(False, f"{what}: {violation['id']}: " + "; ".join(node["html"][:160] + " " + " ".join(a["message"][:200] for a in node["any"][:1]) for node in violation["nodes"][:3]))

    def shows_as_text(self, file, view):
        """A view of a page made of hostile names: drawn, with nothing of them but text."""
        self.turn(f"file://{file}#{view}")
        text = self.text()
        check("cannot be drawn" not in text, f"hostile #{view}: {text[:300]}")
        check(self.driver.execute_script("return window.bad === undefined && !document.querySelector('main img, main b, main script')"), f"hostile #{view}: text became markup")
        check("\u202e" not in text and "\u200b" not in text and "\x1b" not in text, f"hostile #{view}: invisible characters are not shown")
        check(self.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"), f"hostile #{view} is wider than the window")

    def is_quiet(self, what, *own):
        """No console message, and no request but for the page itself."""
        for entry in self.driver.get_log("browser"):
            check(False, f"{what}: the console says {entry['message']}")
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                check(url.startswith((*own, "data:", "about:")), f"{what}: a request for {url}")
