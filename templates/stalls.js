/* Memory stall by calling context or allocation site (flame graph and call tree), and over the time of the run. */

const FLAME_LEAST = 0.0015; /* of the whole: narrower boxes cannot be seen */
const FLAME_DEPTH = 60;

const stallNode = (name, kind) => ({name, kind, value: 0, self: 0, samples: 0, children: new Map()});

/* The frames of each path, outermost first: [{name, kind, title}]. */
function stallFrames(stalls, path) {
  const frames = [];
  for (let at = path[0], depth = 0; Number.isInteger(at) && depth < 500; at = stalls.nodes[at][0], depth++) {
    const frame = stalls.frames[stalls.nodes[at][1]] || {};
    frames.unshift({name: frameName(frame), kind: 'code'});
  }
  return frames.length ? frames : [{name: 'unknown function', kind: 'code'}];
}

function stallData(index) {
  return {name: Number.isInteger(index) ? objectName(at(data.objects, index)) : 'other data', kind: 'data', object: index};
}

function allocationFrames(index) {
  const object = at(data.objects, index), context = object && at(data.contexts, object.context);
  if (!object) return [{name: 'data that is not listed', kind: 'code'}];
  if (!context) return [{name: object.kind === 'heap' ? 'unknown allocation site' : `${object.kind} data`, kind: 'code'}];
  return list(context.frames).slice().reverse().map(frame => ({name: frameName(frame) + (frame.file && isNumber(frame.line) ? ` ${baseName(frame.file)}:${frame.line}` : ''), kind: 'code'}));
}

/* by: 'code' or 'allocation'; inverted: from the function that stalls to its callers. */
function stallTree(by, inverted) {
  const stalls = data.stalls, root = stallNode('all memory stall', 'root');
  for (const path of list(stalls.paths)) {
    const code = stallFrames(stalls, path), frames = by === 'allocation' ? [...allocationFrames(path[1]), stallData(path[1])] : inverted ? code.slice().reverse() : [...code, stallData(path[1])];
    let node = root;
    root.value += path[2];
    root.samples += path[3];
    for (const frame of frames.slice(0, FLAME_DEPTH)) {
      const key = `${frame.kind} ${frame.name}`;
      if (!node.children.has(key)) node.children.set(key, Object.assign(stallNode(frame.name, frame.kind), {object: frame.object}));
      node = node.children.get(key);
      node.value += path[2];
      node.samples += path[3];
    }
    node.self += path[2];
  }
  return root;
}

const byValue = node => [...node.children.values()].sort((a, b) => b.value - a.value || (a.name < b.name ? -1 : 1));
const flameColour = name => { let hash = 0; for (const c of name) hash = (hash * 31 + c.codePointAt(0)) % 997; return hash % 4; };
const stallTitle = (node, whole) => `${clip(node.name, 200)}: ${percent(node.value)} of the time, ${percent(node.value / whole)} of the memory stall, ${plural(node.samples, 'sample', 'samples')}`;

/* A box for each function, as wide as the stall below it; a row for each level. `zoom`: the node that fills the width. */
function flameGraph(root, zoom, words, choose) {
  const box = (node, depth) => {
    const match = words && node.name.toLowerCase().includes(words);
    const kinds = [node.kind === 'data' ? 'data' : node.kind === 'root' ? 'root' : `f${flameColour(node.name)}`, match && 'match', words && !match && 'dim'].filter(Boolean);
    const children = depth < FLAME_DEPTH ? byValue(node).filter(child => child.value / zoom.value >= FLAME_LEAST) : [];
    return el('div.flame-node', {style: {'flex-grow': String(1e6 * node.value), 'flex-basis': '0'}},
      el('button.flame-box.' + kinds.join('.'), {type: 'button', title: stallTitle(node, root.value), onclick: () => choose(node)}, clip(brief(node.name), 80)),
      children.length > 0 && el('div.flame-row', null, children.map(child => box(child, depth + 1)),
        el('div.flame-rest', {style: {'flex-grow': String(1e6 * Math.max(0, node.value - children.reduce((sum, child) => sum + child.value, 0))), 'flex-basis': '0'}})));
  };
  return el('div.flame', {role: 'group', 'aria-label': 'Flame graph of memory stall'}, el('div.flame-row', null, box(zoom, 0)));
}

/* The stall of what the words match, counted once for each path. */
function matched(node, words) {
  return node.name.toLowerCase().includes(words) ? node.value : byValue(node).reduce((sum, child) => sum + matched(child, words), 0);
}

const TREE_OPEN = 0.5; /* the part of its parent from which a branch is open */
function callTree(node, root, depth = 0) {
  const children = byValue(node).filter(child => child.value >= root.value * 0.005);
  const label = [shareBar(node.value, null, root.value), node.kind === 'data' && [' ', el('span.tag', null, 'data')], ' ', Number.isInteger(node.object) ? objectLink(node.object) : el('span', {title: node.name}, clip(brief(node.name), 90)), node.self > 0 && node.children.size > 0 && el('span.soft', null, ` ${percent(node.self)} itself`)];
  if (!children.length || depth > FLAME_DEPTH) return el('div.tree-leaf', null, label);
  const open = depth < 12 && (depth === 0 || children[0].value >= TREE_OPEN * node.value), branch = el('details.tree', {open}, el('summary', null, label));
  const fill = () => { if (branch.open && branch.childElementCount === 1) branch.append(...children.map(child => callTree(child, root, depth + 1))); };
  branch.addEventListener('toggle', fill);
  fill();
  return branch;
}

function stallsSection() {
  const stalls = data.stalls, state = viewState(), by = state.by === 'allocation' ? 'allocation' : 'code', inverted = state.inverted === '1' && by === 'code', words = (state.q || '').toLowerCase();
  const root = stallTree(by, inverted), place = el('div'), said = el('span.shown', {role: 'status'});
  let zoom = root;
  const draw = () => {
    const q = (viewState().q || '').toLowerCase();
    place.replaceChildren(flameGraph(root, zoom, q, node => { zoom = node === zoom ? root : node; draw(); }));
    said.textContent = q ? `${percent(matched(root, q))} of the time matches` : zoom === root ? '' : `${percent(zoom.value)} of the time below ${clip(zoom.name, 60)}; click again to zoom out`;
  };
  draw();
  const choice = (text, values, current) => el('button.choice', {type: 'button', 'aria-pressed': current ? 'true' : 'false', onclick: () => { setState(values); redraw(); }}, text);
  return [el('div.toolbar', null,
    el('span', {role: 'group', 'aria-label': 'Group by'}, choice('By code', {by: null, inverted: null}, by === 'code' && !inverted), choice('Inverted', {by: null, inverted: '1'}, inverted), choice('By allocation site', {by: 'allocation', inverted: null}, by === 'allocation')),
    el('label', null, 'Highlight ', el('input', {type: 'search', value: words, spellcheck: 'false', autocomplete: 'off', oninput: event => { setState({q: event.target.value || null}); draw(); }})), said),
  el('div.panel.flame-panel', null, place), stalls.left_out > 0 && el('p.soft', null, `${percent(stalls.left_out)} of the time is in paths that are not listed.`),
  el('section', null, el('h2', null, by === 'allocation' ? 'Allocation tree' : inverted ? 'Caller tree' : 'Call tree'), el('div.panel.tree-panel', null, callTree(root, root)))];
}

/* A strip for each object: a bar for each bin of time, all on one scale. */
function timeline() {
  const times = (data.stalls || {}).times || {}, rows = list(times.rows);
  if (!rows.length) return null;
  const most = Math.max(...rows.flatMap(row => list(row.shares)), 1e-12), bins = Math.max(...rows.map(row => list(row.shares).length));
  const strip = row => {
    const all = row.shares.reduce((sum, share) => sum + share, 0);
    const bars = row.shares.map((share, i) => share > 0 && `linear-gradient(var(--h4), var(--h4)) ${bins > 1 ? (100 * i / (bins - 1)).toFixed(3) : 0}% 100% / ${(100 / bins).toFixed(3)}% ${Math.max(6, 100 * share / most).toFixed(1)}% no-repeat`).filter(Boolean);
    const node = el('div.time-strip', {role: 'img', 'aria-label': `${stallData(row.object).name}: ${percent(all)} of the time, most of it from second ${(times.bin_s * row.shares.indexOf(Math.max(...row.shares))).toFixed(2)}`, style: {background: bars.join(', ')}});
    node.addEventListener('mousemove', event => { const i = Math.min(bins - 1, Math.floor(bins * event.offsetX / node.clientWidth)); node.title = `${(i * times.bin_s).toFixed(2)} s: ${percent(row.shares[i] || 0)} of the time`; });
    return [el('span.time-name', null, Number.isInteger(row.object) ? objectLink(row.object) : el('span.soft', null, 'other data')), node, el('span.value', null, percent(all))];
  };
  return el('section', null, el('h2', null, 'Timeline of memory stall'), el('p.soft', null, 'When each data object causes stall; all rows have the same scale.'),
    el('div.panel.timeline', null, rows.map(strip), el('span'), el('div.time-axis', {'aria-hidden': 'true'}, [0, 0.25, 0.5, 0.75, 1].map(part => el('span', null, seconds(part * bins * times.bin_s)))), el('span')));
}

function viewStalls() {
  if (!data.stalls) return [el('h1', null, 'Memory stall'), el('p', null, nothingSampled() ? 'No sample was taken.' : 'No memory stall was seen, or this result was made by an older lwp: analyse it again.')];
  return [el('h1', null, 'Memory stall'), el('p.lead', null, `${percent(list(data.stalls.paths).reduce((sum, path) => sum + path[2], data.stalls.left_out || 0))} of the time, by calling context, by allocation site, and over the run.`), stallsSection(), timeline()];
}

/* ---- lines and instructions ---- */

let stallLines = null, mostOfLines = 1e-9; /* known when the first line is drawn */
function stallOfLine(file, number) {
  if (!stallLines) {
    const lines = list((data.stalls || {}).lines);
    stallLines = new Map(lines.map(line => [`${line.file}:${line.line}`, line]));
    mostOfLines = Math.max(mostOfLines, ...lines.map(line => line.share));
  }
  return stallLines.get(`${file}:${number}`);
}

function lineNote(line) {
  return [`${percent(line.share)} stall`, isNumber(line.stride) ? `, stride ${bytes(line.stride)}` : '', Number.isInteger(line.object) ? `, ${clip(objectName(at(data.objects, line.object)), 24)}` : ''].join('');
}

/* The instructions of these lines, with what they stall. */
function assemblyOf(file, first, last) {
  const parts = list((data.stalls || {}).assembly).map(listing => ({listing, rows: list(listing.instructions).filter(i => (i.file || listing.file) === file && i.line >= first && i.line <= last)})).filter(part => part.rows.some(row => row.share > 0));
  if (!parts.length) return null;
  const most = Math.max(...parts.flatMap(part => part.rows.map(row => row.share || 0)), 1e-9);
  return parts.slice(0, 6).map(({listing, rows}) => {
    const pre = el('pre.source.heated', {tabindex: '0', 'aria-label': `instructions of ${listing.function || 'unknown function'}`});
    let end = null;
    rows.forEach(row => {
      if (end !== null && row.address - end > 15) pre.append(el('span.row.skipped', null, '⋯\n'));
      end = row.address;
      pre.append(el('span.row', null, el(`span.heat-mark.h${heatStep(row.share, most)}`, {'aria-hidden': 'true'}), el('span.no.share-no', null, row.share > 0 ? percent(row.share) : ''), el('span.no', null, isNumber(row.line) ? String(row.line) : ''), visible(row.text), '\n'));
    });
    return el('div', null, el('h3', null, `${clip(brief(listing.function || 'unknown function'), 80)}: share of the time, line, instruction`), pre);
  });
}

Object.assign(DRAW, {stalls: viewStalls});
