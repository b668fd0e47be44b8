"use strict";
/* Draws the report from the JSON in the page. Text from the profiled program reaches the page through text nodes only. */
(() => {
const { analysis, sources } = JSON.parse(document.getElementById("data").textContent);
const run = analysis.run;
const SVG = "http://www.w3.org/2000/svg";
const LONGEST = 300;

/* ---- small pieces ---- */

const clip = text => text.length > LONGEST ? text.slice(0, LONGEST - 1) + "…" : text;

function make(tag, attributes, ...children) {
  const svg = ["svg", "rect", "line", "text", "g", "title"].includes(tag);
  const node = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {}))
    if (name === "style") Object.assign(node.style, value);
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined) node.append(child.nodeType ? child : clip(String(child)));
  return node;
}

const unknown = () => make("span", { class: "soft" }, "unknown");
const percent = share => share === null || share === undefined ? "unknown" : (share * 100).toFixed(1) + " %";
const count = n => n === null || n === undefined ? "unknown" : n.toLocaleString("en-US");
const times = range => range ? `${range[0].toFixed(2)}× to ${range[1].toFixed(2)}×` : "unknown";

function bytes(n) {
  if (n === null || n === undefined) return "unknown";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (n >= 1024 && unit < units.length - 1) { n /= 1024; unit++; }
  return (unit ? n.toPrecision(3) : n) + " " + units[unit];
}

function interval(item) {
  if (!item.share_ci) return percent(item.share);
  const [low, high] = item.share_ci;
  return `${percent(item.share)} (${(low * 100).toFixed(1)}–${(high * 100).toFixed(1)})`;
}

const base = path => path ? path.slice(path.lastIndexOf("/") + 1) : null;

function place(loop) {
  const lines = loop.first_line ? (loop.first_line === loop.last_line ? `${loop.first_line}` : `${loop.first_line}–${loop.last_line}`) : null;
  const where = loop.file ? base(loop.file) + (lines ? ":" + lines : "") : null;
  return (loop.function || "unknown function") + (where ? ` (${where})` : "");
}

function facts(pairs) {
  return make("dl", { class: "facts" }, pairs.map(([name, value]) =>
    make("div", {}, make("dt", {}, name), make("dd", { style: { margin: 0 } }, value))));
}

/* Columns: [title, cell(row), sort key(row), is a number]. */
function table(columns, rows, label) {
  let order = null;
  const body = make("tbody");
  const fill = () => {
    const sorted = rows.slice();
    if (order) {
      const key = columns[order.column][2];
      sorted.sort((a, b) => {
        const x = key(a), y = key(b);
        return (x < y ? -1 : x > y ? 1 : 0) * order.direction;
      });
    }
    body.replaceChildren(...sorted.map(row => make("tr", {}, columns.map(([, cell, , number]) =>
      make("td", { class: number ? "number" : null }, cell(row))))));
  };
  const heads = columns.map(([title, , key, number], column) => {
    const head = make("th", { scope: "col", class: number ? "number" : null });
    head.append(key ? make("button", { type: "button", onclick: () => {
      order = { column, direction: order && order.column === column ? -order.direction : number ? -1 : 1 };
      heads.forEach(h => h.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order.direction > 0 ? "ascending" : "descending");
      fill();
    } }, title) : title);
    return head;
  });
  fill();
  return make("div", { class: "scroll" }, make("table", { "aria-label": label }, make("thead", {}, make("tr", {}, heads)), body));
}

const bar = share => make("span", { class: "bar", "aria-hidden": "true", style: { width: Math.max(1, Math.round((share || 0) * 120)) + "px" } });

function source(loop) {
  const file = loop.file && sources[loop.file];
  if (!file || !loop.first_line) return null;
  const pre = make("pre", { "aria-label": "source of " + place(loop) });
  const numbers = Object.keys(file).map(Number).sort((a, b) => a - b)
    .filter(n => n >= loop.first_line - 3 && n <= loop.last_line + 3);
  for (const n of numbers) {
    const row = make("span", { class: n >= loop.first_line && n <= loop.last_line ? "in" : null },
      make("span", { class: "at" }, String(n).padStart(5) + "  "), file[n]);
    pre.append(row, "\n");
  }
  return numbers.length ? pre : null;
}

/* ---- a structure drawn to scale ---- */

/* fields: [{ offset, bytes, name, heat, group }]; one row of boxes with cache-line marks. */
function strip(fields, size, label, line) {
  const width = 1000, height = 64, scale = width / size;
  const svg = make("svg", { class: "strip", viewBox: `0 0 ${width} ${height + 18}`, role: "img", "aria-label": label });
  for (const field of fields) {
    const x = field.offset * scale, w = Math.max(1, field.bytes * scale);
    const box = make("rect", { class: "box", x, y: 4, width: w, height: height - 8, rx: 3 });
    box.style.fill = field.group === null || field.group === undefined
      ? `rgba(var(--heat), ${(0.06 + 0.74 * Math.min(1, field.heat || 0)).toFixed(3)})`
      : field.group < 0 ? "var(--cold)" : `var(--g${field.group % 6})`;
    const shown = field.name.length * 7 < w ? field.name : w > 18 ? field.name.slice(0, Math.max(1, Math.floor(w / 8))) : "";
    svg.append(make("g", {}, make("title", {}, `${field.name}: offset ${field.offset}, ${field.bytes} bytes${field.note ? ", " + field.note : ""}`),
      box, make("text", { x: x + w / 2, y: height / 2 + 2, "text-anchor": "middle" }, shown),
      w > 70 && field.note ? make("text", { class: "offset", x: x + w / 2, y: height / 2 + 17, "text-anchor": "middle" }, field.note) : null));
    svg.append(make("text", { class: "offset", x: x + 2, y: height + 12 }, w > 14 ? field.offset : ""));
  }
  for (let at = line; line && at < size; at += line)
    svg.append(make("line", { class: "mark", x1: at * scale, x2: at * scale, y1: 0, y2: height + 2 }));
  return svg;
}

function objectStrip(object, groupOf) {
  const fields = object.fields || [];
  const most = Math.max(1e-9, ...fields.map(f => f.loop_share ?? f.share ?? 0));
  return strip(fields.map(f => ({
    offset: f.offset, bytes: f.bytes, name: f.name || "+" + f.offset, heat: (f.loop_share ?? f.share ?? 0) / most,
    note: percent(f.loop_share ?? f.share), group: groupOf ? groupOf(f) : null,
  })), object.element_bytes, "fields of " + (object.type || object.name || "the element"), run.machine && run.machine.line_bytes);
}

/* ---- views ---- */

function notMeasured(name) {
  return make("p", { class: "soft" }, `${name}: not measured in this run.`);
}

function viewFindings() {
  const list = analysis.findings || [];
  return [
    make("h1", {}, list.length ? `${count(list.length)} ${list.length === 1 ? "finding" : "findings"} in ${(run.command || ["the program"]).map(base).join(" ")}` : "No advice"),
    make("p", { class: "soft" }, `${count(run.samples)} samples by the ${run.engine} engine, ${count(run.samples_lost)} lost; ` +
      `${(run.cpu_s ?? 0).toFixed(2)} s of CPU time` + (run.stall_share === undefined ? "" : `, ${percent(run.stall_share)} of it waiting for memory`) + "."),
    list.length ? null : make("p", {}, "No structure was found whose layout would be worth changing."),
    list.map(finding => make("section", { class: "card finding" },
      make("h2", {}, make("a", { href: target(finding) }, finding.title)),
      make("div", { class: "gain" }, make("strong", {}, times(finding.expected_speedup)), make("div", { class: "soft" }, "expected, whole program")),
      make("div", {}, make("span", { class: "badge " + finding.severity }, finding.severity), " ",
        make("span", { class: "soft" }, `${percent(finding.share)} of the sampled time`)),
      make("div"),
      make("p", {}, finding.next_step))),
    ["regroups", "redundancies", "communication", "sharing", "locality"].some(name => analysis[name] === null)
      ? make("p", { class: "soft" }, "Not measured in this run: " + [["regroups", "array regrouping"], ["redundancies", "redundancy"],
        ["communication", "communication between threads"], ["sharing", "false sharing"], ["locality", "locality"]]
        .filter(([name]) => analysis[name] === null).map(([, text]) => text).join(", ") + ".") : null,
  ];
}

const target = finding => finding.kind === "split" ? "#split/" + finding.refs.split : "#findings";

function matrix(split, fields) {
  const names = fields.filter(name => split.affinity.some(p => p.a === name || p.b === name));
  const value = (a, b) => a === b ? 1 : (split.affinity.find(p => (p.a === a && p.b === b) || (p.a === b && p.b === a)) || {}).value;
  return make("div", { class: "scroll" }, make("table", { class: "matrix", "aria-label": "affinity of fields" },
    make("tr", {}, make("th"), names.map(name => make("th", { scope: "col" }, name))),
    names.map(a => make("tr", {}, make("th", { scope: "row" }, a), names.map(b => {
      const v = value(a, b);
      return make("td", { style: { background: `rgba(var(--heat), ${((v || 0) * 0.5).toFixed(3)})` } }, v === undefined ? "–" : v.toFixed(2));
    })))));
}

function loopsOf(object) {
  const rows = (object.loops || []).map(use => ({ use, loop: analysis.loops[use.loop] })).filter(row => row.loop);
  return [
    table([
      ["share", r => [bar(r.use.share), percent(r.use.share)], r => r.use.share, true],
      ["loop", r => make("a", { href: "#loop/" + r.use.loop }, place(r.loop)), r => place(r.loop)],
      ["stride", r => r.use.stride === null || r.use.stride === undefined ? unknown() : bytes(r.use.stride), r => r.use.stride || 0, true],
      ["fields used", r => (r.use.fields || r.use.offsets || []).join(", ")],
    ], rows, "loops"),
    rows.slice(0, 4).map(r => { const text = source(r.loop); return text ? [make("p", { class: "soft" }, place(r.loop)), text] : null; }),
  ];
}

function copyButton(text) {
  const button = make("button", { class: "copy", type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = make("textarea", { style: { position: "fixed", opacity: 0 } });
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    button.textContent = "Copied";
  });
  return button;
}

function viewSplit(index) {
  const split = analysis.splits && analysis.splits[index];
  if (!split) return [make("h1", {}, "There is no such advice")];
  const object = analysis.objects[split.object];
  const groupOf = new Map();
  split.groups.forEach((group, g) => group.offsets.forEach(offset => groupOf.set(offset, g)));
  const fields = object.fields || [];
  const finding = (analysis.findings || []).find(f => f.kind === "split" && f.refs.split === Number(index));
  const parts = split.groups.map((group, g) => ({ ...group, title: `part ${g + 1}`, g }));
  if (split.cold && split.cold.offsets.length) parts.push({ ...split.cold, title: "cold", g: -1 });
  const widest = Math.max(...parts.map(p => p.bytes), 1);
  return [
    make("h1", {}, finding ? finding.title : "Split " + (split.type || object.name)),
    facts([
      ["expected, whole program", make("strong", {}, times(split.expected_speedup))],
      ["share of all time (95 %)", interval(object)],
      ["samples", count(object.samples)],
      ["confidence", split.confidence],
      ["element", `${bytes(split.element_bytes)}${object.elements ? " × " + count(object.elements) : ""}`],
      split.traffic ? [split.traffic.unit || "traffic", `${(split.traffic.before ?? 0).toFixed(2)} → ${(split.traffic.after ?? 0).toFixed(2)}`] : ["traffic", "unknown"],
    ]),
    finding ? make("p", {}, finding.next_step) : null,
    make("h2", {}, "Today"),
    make("p", { class: "soft" }, `${split.type || object.name || "the element"}, drawn to scale; darker means hotter, dashed lines are cache lines.`),
    objectStrip(object),
    make("h2", {}, "Proposed"),
    parts.map(part => {
      let at = 0;
      const boxes = part.offsets.map(offset => {
        const field = fields.find(f => f.offset === offset) || { bytes: 0, name: "+" + offset };
        const box = { offset: at, bytes: field.bytes, name: field.name || "+" + offset, group: part.g };
        at += field.bytes;
        return box;
      });
      return make("div", { style: { width: Math.max(12, 100 * Math.max(at, part.bytes) / Math.max(widest, split.element_bytes)) + "%" } },
        make("div", { class: "soft" }, `${part.title}: ${part.bytes} bytes${part.share === undefined ? "" : ", " + percent(part.share) + " of the time"}`),
        strip(boxes, Math.max(at, 1), part.title, 0));
    }),
    make("h2", {}, "Declaration"),
    split.declaration ? [copyButton(split.declaration), makePre(split.declaration)] : unknown(),
    make("h2", {}, "Loops that use it"),
    loopsOf(object),
    make("h2", {}, "Which fields are used together"),
    make("p", { class: "soft" }, "1 means always in the same loops, 0 never, weighted by time."),
    matrix(split, fields.map(f => f.name || "+" + f.offset)),
    allocation(object),
  ];
}

function makePre(text) {
  const pre = make("pre");
  pre.append(text);
  return pre;
}

function allocation(object) {
  const context = object.context === null || object.context === undefined ? null : analysis.contexts[object.context];
  if (!context) return null;
  return [make("h2", {}, object.kind === "heap" ? "Allocated by" : "Call path"), make("ol", {}, context.frames.map(frame =>
    make("li", {}, frame.function || "unknown", frame.file ? make("span", { class: "soft" }, ` ${base(frame.file)}${frame.line ? ":" + frame.line : ""}`) : null)))];
}

function viewObjects() {
  return [make("h1", {}, "Data"), table([
    ["share (95 %)", o => [bar(o.share), interval(o)], o => o.share, true],
    ["name", o => make("a", { href: "#object/" + analysis.objects.indexOf(o) }, o.name || "unknown"), o => o.name || ""],
    ["type", o => o.type || unknown(), o => o.type || ""],
    ["kind", o => o.kind, o => o.kind],
    ["size", o => bytes(o.bytes), o => o.bytes || 0, true],
    ["element", o => bytes(o.element_bytes), o => o.element_bytes || 0, true],
    ["allocations", o => count(o.allocations), o => o.allocations || 0, true],
    ["samples", o => count(o.samples), o => o.samples, true],
  ], analysis.objects, "data objects")];
}

function viewObject(index) {
  const object = analysis.objects[index];
  if (!object) return [make("h1", {}, "There is no such data object")];
  const split = (analysis.splits || []).findIndex(s => (s.objects || [s.object]).includes(Number(index)));
  return [
    make("h1", {}, object.name || "unknown"),
    facts([["share of all time (95 %)", interval(object)], ["samples", count(object.samples)], ["type", object.type || unknown()],
      ["kind", object.kind], ["size", bytes(object.bytes)], ["element", bytes(object.element_bytes)],
      ["loads / stores seen", `${count(object.loads)} / ${count(object.stores)}`]]),
    split >= 0 ? make("p", {}, make("a", { href: "#split/" + split }, "There is advice for this structure.")) : null,
    object.element_bytes && object.fields && object.fields.length ? [make("h2", {}, "Fields"), objectStrip(object)] : null,
    make("h2", {}, "Loops that use it"), object.loops && object.loops.length ? loopsOf(object) : make("p", { class: "soft" }, "No loop was seen to use it."),
    allocation(object),
  ];
}

function viewLoops() {
  return [make("h1", {}, "Loops"), table([
    ["share", l => [bar(l.share), percent(l.share)], l => l.share, true],
    ["loop", l => make("a", { href: "#loop/" + analysis.loops.indexOf(l) }, place(l)), l => place(l)],
    ["module", l => l.module === null ? unknown() : base(analysis.modules[l.module].path), l => l.module === null ? "" : analysis.modules[l.module].path],
    ["samples", l => count(l.samples), l => l.samples, true],
  ], analysis.loops, "loops")];
}

function viewLoop(index) {
  const loop = analysis.loops[index];
  if (!loop) return [make("h1", {}, "There is no such loop")];
  const users = analysis.objects.map((object, o) => ({ object, o, use: (object.loops || []).find(u => u.loop === Number(index)) })).filter(r => r.use);
  return [
    make("h1", {}, place(loop)),
    facts([["share of all time", percent(loop.share)], ["samples", count(loop.samples)], ["file", loop.file || unknown()],
      ["inside", loop.parent === null || loop.parent === undefined ? "no other loop" : make("a", { href: "#loop/" + loop.parent }, place(analysis.loops[loop.parent]))]]),
    source(loop) || make("p", { class: "soft" }, "Its source is not in this report."),
    make("h2", {}, "Data it uses"),
    table([
      ["share", r => percent(r.use.share), r => r.use.share, true],
      ["data", r => make("a", { href: "#object/" + r.o }, r.object.name || "unknown"), r => r.object.name || ""],
      ["stride", r => r.use.stride === null || r.use.stride === undefined ? unknown() : bytes(r.use.stride), r => r.use.stride || 0, true],
      ["fields used", r => (r.use.fields || r.use.offsets || []).join(", ")],
    ], users, "data of the loop"),
  ];
}

function viewRun() {
  const machine = run.machine || {};
  return [
    make("h1", {}, "The run"),
    makePre((run.command || []).map(a => /^[\w./=:,+-]+$/.test(a) ? a : JSON.stringify(a)).join(" ")),
    facts([
      ["engine", `${run.engine} (${run.event || "unknown event"}), weights in ${run.weight_unit}`],
      ["samples", `${count(run.samples)}, ${count(run.samples_with_address)} with an address, ${count(run.samples_lost)} lost`],
      ["measured cost", run.overhead_percent === null ? unknown() : run.overhead_percent.toFixed(1) + " % of CPU time"],
      ["time", `${(run.wall_s ?? 0).toFixed(2)} s wall, ${(run.cpu_s ?? 0).toFixed(2)} s CPU`],
      ["exit", run.exit ? (run.exit.signal ? "signal " + run.exit.signal : "status " + run.exit.code) : unknown()],
      ["started", run.started || unknown()], ["host", run.host || unknown()], ["folder", run.cwd || unknown()],
      ["machine", `${machine.cpu || "unknown"}, ${count(machine.cores)} cores, ${(machine.caches || []).map(c => `L${c.level} ${bytes(c.bytes)}`).join(", ")}`],
    ]),
    make("h2", {}, "Notes"), make("ul", {}, (run.notes || []).map(note => make("li", {}, note))),
    make("h2", {}, "Processes"), table([["pid", p => p.pid, p => p.pid, true], ["command", p => p.command, p => p.command], ["threads", p => count(p.threads), p => p.threads, true]], run.processes || [], "processes"),
    make("h2", {}, "Modules"), table([["path", m => m.path, m => m.path], ["debug info", m => m.debug_info, m => m.debug_info], ["build id", m => m.build_id || unknown()]], analysis.modules || [], "modules"),
    analysis.locality === null ? notMeasured("Locality") : null,
  ];
}

/* ---- routes ---- */

const views = { findings: viewFindings, split: viewSplit, objects: viewObjects, object: viewObject, loops: viewLoops, loop: viewLoop, run: viewRun };
const menu = [["findings", "Findings"], ["objects", "Data"], ["loops", "Loops"], ["run", "Run"]];
const belongs = { split: "findings", object: "objects", loop: "loops" };

function show() {
  const [name, argument] = location.hash.slice(1).split("/");
  const view = Object.hasOwn(views, name) ? name : "findings";
  const main = document.getElementById("view");
  main.replaceChildren(...[views[view](argument)].flat(Infinity).filter(node => node));
  document.getElementById("nav").replaceChildren(...menu.map(([id, title]) =>
    make("a", { href: "#" + id, "aria-current": (belongs[view] || view) === id ? "page" : null }, title)));
  const heading = main.querySelector("h1");
  document.title = (heading ? clip(heading.textContent) + " – " : "") + "lwp";
  scrollTo(0, 0);
}

document.getElementById("footer").textContent =
  `lwp ${analysis.lwp_version || ""} · ${run.engine} engine · ${count(run.samples)} samples · ${run.started || ""}`;
addEventListener("hashchange", show);
show();
})();
