/* Several results: their history, and any two of them compared. */

const resultProgram = r => baseName(list(r.command)[0]) || r.name;

/* What the result says in one line. */
function headline(r) {
  if (r.running) return el('span.running', null, 'running');
  if (!r.analysed) return unknown('not analysed yet');
  if (!r.title) return r.samples > 0 || r.engine === 'exact' ? 'no advice' : unknown('nothing was sampled');
  return [prose(brief(r.title)), r.findings > 1 && el('span.soft', null, ` and ${r.findings - 1} more`)];
}

/* The run of the same program before this one: what a change is compared with. */
function previousOf(rows, at) {
  const same = r => resultProgram(r) === resultProgram(rows[at]) && r.analysed && !r.running;
  return rows[at].running ? undefined : rows.slice(at + 1).find(same);
}

const compareAddress = (before, after) => `diff/${before.address}/${after.address}`;

function compareForm(rows) {
  const usable = rows.filter(r => !r.running);
  if (usable.length < 2) return null;
  const at = usable.findIndex((r, i) => previousOf(usable, i)), after = at < 0 ? usable[0] : usable[at], before = at < 0 ? usable[1] : previousOf(usable, at);
  const select = (label, chosen) => {
    const node = el('select', {'aria-label': label}, usable.map((r, i) => el('option', {value: String(i), selected: r === chosen}, `${r.name} · ${resultProgram(r)}${r.started ? ` · ${dateText(r.started).slice(0, 16)}` : ''}`)));
    return node;
  };
  const first = select('Before', before), second = select('After', after), link = el('a.button', null, 'Compare');
  const aim = () => link.setAttribute('href', compareAddress(usable[first.value], usable[second.value]));
  [first, second].forEach(node => node.addEventListener('change', aim));
  aim();
  return el('section', null, el('h2', null, 'Compare two'), el('p.compare', null, el('label', null, 'Before ', first), el('label', null, 'After ', second), link));
}

function viewIndex() {
  const rows = list(page.results).slice().sort((a, b) => String(b.started || '').localeCompare(String(a.started || '')) || String(a.name).localeCompare(String(b.name)));
  const number = new Map(rows.map((r, i) => [r, i]));
  return [el('h1', null, 'Results'), el('p.lead', null, `${plural(rows.length, 'result', 'results')} in this folder, the newest first.`),
    table('Results', [
      {title: 'Result', wide: true, cell: r => el('span', null, el('a', {href: 'r/' + r.address, title: list(r.command).join(' ')}, clip(resultProgram(r), 40)), r.name !== resultProgram(r) && el('span.soft.below', null, clip(r.name, 60))),
        key: r => `${resultProgram(r)} ${r.name}`, text: r => `${resultProgram(r)} ${r.name} ${list(r.command).join(' ')}`},
      {title: 'Headline', cell: r => el('span.headline', null, headline(r)), text: r => r.title || ''},
      {title: 'Predicted', cell: r => isRange(r.expected_speedup) ? gainOf(r) : '', key: r => isRange(r.expected_speedup) ? r.expected_speedup[1] : 0, number: true},
      {title: 'CPU time', cell: r => r.analysed && isNumber(r.cpu_s) ? seconds(r.cpu_s) : '', key: r => r.cpu_s, number: true},
      {title: 'Samples', cell: r => r.analysed ? count(r.samples) : '', key: r => r.samples, number: true},
      {title: 'Started', cell: r => r.started ? el('span.nowrap', {title: dateText(r.started)}, dateText(r.started).slice(0, 16)) : unknown(), key: r => String(r.started || '')},
      {title: 'Compare', cell: r => { const before = previousOf(rows, number.get(r)); return before ? el('span.nowrap', null, el('a', {href: compareAddress(before, r), title: `with ${before.name}, the run of this program before it`}, 'with previous')) : ''; }},
    ], rows), compareForm(rows)];
}

Object.assign(DRAW, {index: viewIndex});
