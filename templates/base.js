'use strict';
/* What all views share: text made safe to look at, elements, numbers with their units, tables, copying.
 * Text from the profiled program reaches the page only as text nodes and attributes, never as HTML. */

const DRAW = {}; /* view: what draws it. Each script adds its own views; most scripts come after the first view */
const scriptsAreHere = () => 'objects' in DRAW; /* all come at once */
const NAME_MAX = 240;
const ROWS_MAX = 50; /* drawn at first; a button shows the rest */
const KEPT_TOGETHER = 12; /* a table of so few rows is printed on one page */

/* Characters that are invisible, move the cursor or turn the reading direction around are spelled out. */
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

function visible(text) {
  return String(text).replace(UNSEEN, c => '\\u{' + c.codePointAt(0).toString(16) + '}');
}

function clip(text, most = NAME_MAX) {
  const shown = visible(text);
  if (shown.length <= most) return shown;
  const cut = Math.floor(most * 2 / 3);
  return shown.slice(0, cut) + '…' + shown.slice(shown.length - (most - cut)) + (shown.length > 1000 ? ` (${count(shown.length)} characters)` : '');
}

/* C++ names without what makes them long: template arguments and parameters of more than BRIEF characters become "<…>" and
 * "(…)". What does not pair, as in "operator<", stays, as does a sentence's own parenthesis. */
const BRIEF = 16;
function brief(text) {
  const shown = String(text), opened = [], cuts = [];
  for (let i = 0; i < shown.length && shown.length <= 4000; i++) {
    const c = shown[i], before = shown[i - 1] || ' ';
    if ((c === '<' || c === '(') && /[\w>\]]/.test(before) && !/\boperator[<(]?$/.test(shown.slice(Math.max(0, i - 10), i))) opened.push(i);
    else if (opened.length && (c === '>' && before !== '-' && shown[opened[opened.length - 1]] === '<' || c === ')' && shown[opened[opened.length - 1]] === '(')) {
      const from = opened.pop();
      if (!opened.length && i - from > BRIEF && shown[from - 1] !== ' ') cuts.push([from + 1, i]);
    } else if (c === '(') opened.push(i);
  }
  if (opened.length) return shown;
  return cuts.reverse().reduce((name, [from, upto]) => name.slice(0, from) + '…' + name.slice(upto), shown);
}

/* A number stays with its unit. */
const prose = text => document.createTextNode(clip(text || '', 2000).replace(/(\d) (%|m?s\b|[KMG]?i?B\b)/g, '$1\u00a0$2'));

/* A C++ name may end a line behind "::" and before what it is given, and only where it must inside of a word. */
const breaks = text => text.split(/(?<=::)|(?<=\w)(?=\([^)])/).flatMap((piece, i) => i ? [document.createElement('wbr'), piece] : [piece]);

/* el('p.note', {title: '…'}, 'text', node, [more]) */
function el(what, attributes, ...children) {
  const [tag, ...classes] = what.split('.');
  const node = document.createElement(tag);
  if (classes.length) node.className = classes.join(' ');
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'style') for (const [property, v] of Object.entries(value)) node.style.setProperty(property, v);
    else if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : clip(value, 4 * NAME_MAX));
  }
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== false)
      node.append(...(child instanceof Node ? [child] : breaks(clip(child))));
  return node;
}

const isNumber = n => typeof n === 'number' && isFinite(n);
const list = value => Array.isArray(value) ? value : [];
const at = (array, index) => Number.isInteger(index) ? list(array)[index] : undefined;
const unknown = (text = 'unknown') => el('span.unknown', null, text);

/* 1,234.5; the browser's own formatter takes milliseconds to start */
const count = n => isNumber(n) ? String(+n.toFixed(3)).replace(/(?<!\.\d*)\B(?=(\d{3})+(?!\d))/g, ',') : 'unknown';
const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;

function percent(share) {
  if (!isNumber(share)) return 'unknown';
  if (share === 0) return '0\u00a0%';
  if (share < 0.0005) return '< 0.1\u00a0%';
  return (share * 100).toFixed(1) + '\u00a0%';
}

const atMost = share => /^[\d]/.test(percent(share)) ? 'at most ' + percent(share) : percent(share); /* "< 0.1 %" says it by itself */

function bytes(n) {
  if (!isNumber(n)) return 'unknown';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (n >= 1024 && unit < units.length - 1) { n /= 1024; unit++; }
  return (unit && n < 100 ? n.toFixed(1) : Math.round(n)) + '\u00a0' + units[unit];
}

function seconds(s) {
  if (!isNumber(s)) return 'unknown';
  return s >= 100 ? s.toFixed(0) + '\u00a0s' : s >= 1 ? s.toFixed(2) + '\u00a0s' : (s * 1000).toFixed(0) + '\u00a0ms';
}

const isRange = r => Array.isArray(r) && r.length === 2 && r.every(isNumber);
/* A speed-up, three digits in all: none is known better. */
const speedup = n => n.toFixed(n < 9.995 ? 2 : n < 99.95 ? 1 : 0);
const times = range => isRange(range) ? `${speedup(range[0])}×\u00a0to\u00a0${speedup(range[1])}×` : 'unknown';
/* "1.24× (1.15–1.32)": what is most likely, and its interval. */
const gainOf = item => !isRange(item.expected_speedup) ? 'unknown' : !isNumber(item.speedup) ? times(item.expected_speedup) :
  `${speedup(item.speedup)}×\u00a0(${item.expected_speedup.map(speedup).join('–')})`;
/* The same as large as a tile: what does not fit in one line goes on behind the most likely number, not within the interval. */
const gainInTile = item => gainOf(item).split('\u00a0').map((part, i) => [i ? ' ' : '', el('span.nowrap', null, part)]);
/* A speed-up as the part of the run time that it saves. */
const saved = range => isRange(range) ?
  `${Math.round((1 - 1 / range[0]) * 100)}–${Math.round((1 - 1 / range[1]) * 100)}\u00a0% less time` : null;

function interval(ci) {
  return isRange(ci) ? `${(ci[0] * 100).toFixed(1)}–${(ci[1] * 100).toFixed(1)}\u00a0%` : null;
}

const baseName = path => typeof path === 'string' ? path.slice(path.lastIndexOf('/') + 1) || path : null;

/* A bar for a share, with its 95\u00a0% interval as a line; the number stands beside it. */
function shareBar(share, ci, full = 1) {
  const width = x => (100 * Math.max(0, Math.min(1, x / full))).toFixed(2) + '%';
  return el('span.share', null,
    el('span.track', {'aria-hidden': 'true'},
      el('span.fill', {style: {width: width(share || 0)}}),
      isRange(ci) && el('span.whisker', {style: {left: width(ci[0]), width: width(ci[1] - ci[0])}})),
    el('span.value', {title: isRange(ci) ? `95\u00a0% interval ${interval(ci)}` : null}, percent(share)));
}

/* The same for a number that is no share; the bar is a part of `full`. */
function countBar(value, full) {
  return el('span.share', null, el('span.track', {'aria-hidden': 'true'}, el('span.fill', {style: {width: (100 * (value || 0) / full).toFixed(2) + '%'}})), el('span.value', null, count(value)));
}

function facts(rows, what = 'dl.facts') {
  return el(what, null, rows.filter(Boolean).map(([name, ...value]) => el('div', null, el('dt', null, name), el('dd', null, value))));
}

/* What is made only when it is looked at. */
function fold(summary, make, open = false) {
  const node = el('details.fold', {open}, el('summary', null, summary));
  const fill = () => { if (node.open && node.childElementCount === 1) node.append(...[make()].flat(Infinity).filter(part => part instanceof Node)); };
  node.addEventListener('toggle', fill);
  fill();
  return node;
}

function copyText(text) {
  if (navigator.clipboard && window.isSecureContext)
    return navigator.clipboard.writeText(text).catch(() => copyBySelection(text));
  return copyBySelection(text);
}

/* Where the clipboard may not be written directly: a page served over plain HTTP from another machine. */
function copyBySelection(text) {
  const area = el('textarea.aside');
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  return done ? Promise.resolve() : Promise.reject(new Error('copy refused'));
}

function copyButton(text, label = 'Copy') {
  const button = el('button.copy', {type: 'button'}, label);
  button.addEventListener('click', () => copyText(text).then(
    () => { button.textContent = 'Copied'; setTimeout(() => { button.textContent = label; }, 1600); },
    () => { button.textContent = 'Select and copy by hand'; }));
  return button;
}

/* A line of source: a tab leads to the next column of eight, wherever in its row the line begins. */
function sourceText(line) {
  let shown = '';
  for (const c of visible(line)) shown += c === '\t' ? ' '.repeat(8 - shown.length % 8) : c;
  return shown;
}

/* Text as it is, for code: not clipped. */
function code(text, label) {
  const pre = el('pre', {tabindex: '0', 'aria-label': label});
  pre.textContent = visible(text);
  return pre;
}

let tablesDrawn = 0; /* in this view */

/* columns: {title, cell(row), key(row) to sort by, number, wide (may break anywhere), text(row) for the filter, hint} */
function table(label, columns, rows, options = {}) {
  let order = null, words = '', all = false;
  const own = options.plain ? '' : String(tablesDrawn++ || ''), state = options.plain ? {} : viewState(); /* a table of a view is known by its number */
  const [sorted, down] = [parseInt(state['sort' + own], 10), /-$/.test(state['sort' + own] || '')];
  if (columns[sorted] && columns[sorted].key) order = {index: sorted, down};
  words = (state['filter' + own] || '').toLowerCase();
  const body = el('tbody'), more = el('p.more'), status = el('span.shown', {role: 'status'});
  const heads = columns.map((column, index) => el(column.number ? 'th.number' : 'th', {scope: 'col', title: column.hint, 'data-title': column.key ? column.title : null},
    column.key ? el('button', {type: 'button', onclick: () => sortBy(index)}, column.title) : column.title));

  function sortBy(index) {
    const down = order && order.index === index ? !order.down : !!columns[index].number;
    order = {index, down};
    if (!options.plain) setState({['sort' + own]: index + (down ? '-' : '+')});
    showOrder();
    draw();
  }

  function showOrder() {
    heads.forEach((head, i) => i === order.index ? head.setAttribute('aria-sort', order.down ? 'descending' : 'ascending') : head.removeAttribute('aria-sort'));
  }

  function draw() {
    let chosen = rows;
    if (words) chosen = chosen.filter(row => columns.some(c => c.text && String(c.text(row)).toLowerCase().includes(words)));
    if (order) {
      const key = columns[order.index].key, sign = order.down ? -1 : 1;
      const rank = x => x === null || x === undefined ? -Infinity : x;
      chosen = chosen.slice().sort((a, b) => {
        const x = key(a), y = key(b);
        if (typeof x === 'string' || typeof y === 'string') return sign * String(x ?? '').localeCompare(String(y ?? ''));
        return sign * (rank(x) - rank(y));
      });
    }
    const drawn = all ? chosen : chosen.slice(0, ROWS_MAX);
    body.replaceChildren(...drawn.map(row => el('tr', null, columns.map(c => el(c.number ? 'td.number' : c.wide ? 'td.wide' : 'td', null, c.cell(row))))));
    more.replaceChildren(...(drawn.length < chosen.length ?
      [el('button', {type: 'button', onclick: () => { all = true; draw(); }}, `Show all ${count(chosen.length)} rows`)] : []));
    status.textContent = words ? `${count(chosen.length)} of ${count(rows.length)}` : '';
  }

  if (order) showOrder();
  draw();
  const filter = rows.length > 8 && columns.some(c => c.text) && !options.plain && el('p.filter', null,
    el('label', null, 'Filter ', el('input', {type: 'search', spellcheck: 'false', autocomplete: 'off', value: state['filter' + own] || null,
      oninput: event => { words = event.target.value.toLowerCase(); setState({['filter' + own]: event.target.value}); draw(); }})), ' ', status);
  return el(rows.length <= KEPT_TOGETHER ? 'div.table.short' : 'div.table', null, filter,
    el('div.scroll', {tabindex: '0', role: 'region', 'aria-label': label}, el('table', null, el('caption.aside', null, label), el('thead', null, el('tr', null, heads)), body)), more);
}
