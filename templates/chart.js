'use strict';
/* Pictures of many numbers: histograms of powers of two, and matrices with more cells than there is room for numbers. */

const STRIP_BINS = 21;
const LABELS_MAX = 14; /* columns that all have a label below; of more every other one */
const CELLS_WITH_NUMBERS = 12; /* rows of a matrix whose cells have room for a number */

const shortCount = n => !isNumber(n) ? 'unknown' : n >= 1e9 ? (n / 1e9).toPrecision(3) + 'G' : n >= 1e6 ? (n / 1e6).toPrecision(3) + 'M' : n >= 1e4 ? (n / 1e3).toPrecision(3) + 'k' : Number.isInteger(n) ? count(n) : n >= 100 ? count(Math.round(n)) : String(+n.toPrecision(3));

/* Bin i holds what is above 2^(i-1) - 1 and up to 2^i - 1. */
function powerBins(buckets) {
  const bins = [];
  list(buckets).forEach(bucket => {
    if (!(bucket.count > 0) || !isNumber(bucket.up_to)) return;
    const bin = Math.max(0, Math.ceil(Math.log2(bucket.up_to + 1)));
    bins[bin] = (bins[bin] || 0) + bucket.count;
  });
  return Array.from(bins, value => value || 0);
}

const binEnd = bin => Math.pow(2, bin) - 1;

/* In a table's cell: higher where more is; what lies beyond stands apart. */
function powersStrip(buckets, beyond, label) {
  const bins = powerBins(buckets), all = bins.reduce((sum, value) => sum + value, beyond || 0);
  if (!all) return unknown('none');
  const cells = new Array(STRIP_BINS).fill(0);
  bins.forEach((value, bin) => { cells[Math.min(STRIP_BINS - 1, bin)] += value; });
  const text = bins.map((value, bin) => value && `up to ${count(binEnd(bin))}: ${percent(value / all)}`).filter(Boolean).concat(beyond ? [`beyond the window: ${percent(beyond / all)}`] : []).join(', ');
  /* one element whose background is the bars: a table has hundreds of strips */
  const bar = (value, at, colour) => `linear-gradient(var(--${colour}), var(--${colour})) ${at * 4}px 100% / 3px ${10 + 90 * Math.sqrt(value / all)}% no-repeat`;
  const bars = cells.map((value, at) => value && bar(value, at, 'accent')).concat(beyond > 0 && bar(beyond, STRIP_BINS + 1, 'soft')).filter(Boolean);
  return el('span.powers', {role: 'img', title: text, 'aria-label': `${label}: ${text}`, style: {background: bars.join(', '), width: `${(STRIP_BINS + 2) * 4}px`}});
}

/* options: {of, unit, beyond, marks: [{at, text}]}; a mark is a line at a value. */
function powersChart(label, buckets, options) {
  const bins = powerBins(buckets), beyond = options.beyond || 0, all = bins.reduce((sum, value) => sum + value, beyond);
  if (!all) return el('p.soft', null, 'None was seen.');
  const marks = list(options.marks).filter(mark => isNumber(mark.at) && mark.at > 0).sort((a, b) => a.at - b.at);
  const place = value => Math.log2(value + 1) + 1;
  const wide = Math.max(bins.length, ...marks.map(mark => Math.ceil(place(mark.at)))), most = Math.max(...bins, beyond);
  const column = (value, end, what) => el('span.column' + (what ? '.beyond' : ''), {title: `${what || 'up to ' + count(end)}: ${count(value)} ${options.of}, ${percent(value / all)}`},
    el('span.column-value', null, value / all >= 0.01 ? percent(value / all).replace(/\.\d/, '') : ''), el('span.column-bar', {style: {height: value ? `${Math.max(2, 100 * value / most)}%` : '0'}}));
  const total = wide + (beyond ? 1.5 : 0);
  return el('figure.chart', null, el('figcaption', null, label),
    el('div.scroll', {tabindex: '0', role: 'region', 'aria-label': label}, el('div.chart-area', {style: {'--columns': String(total), '--room': wide > LABELS_MAX ? '1.3rem' : '2.4rem', '--marks': String(marks.length)}},
      el('div.columns', {role: 'img', 'aria-label': `${label}; ${bins.map((value, bin) => value / all >= 0.01 && `up to ${count(binEnd(bin))}: ${percent(value / all)}`).filter(Boolean).join(', ')}`},
        Array.from({length: wide}, (_, bin) => column(bins[bin] || 0, binEnd(bin))), beyond > 0 && column(beyond, 0, 'beyond')),
      marks.map((mark, i) => el('div.chart-mark', {style: {left: `${100 * place(mark.at) / total}%`, '--row': String(i)}}, el(place(mark.at) > wide / 2 ? 'span.left' : 'span', null, mark.text))),
      el('div.column-ends', {'aria-hidden': 'true'}, Array.from({length: wide}, (_, bin) => el('span', null, bin % 2 && wide > LABELS_MAX ? '' : shortCount(binEnd(bin)).replace(/\.\d+/, ''))), beyond > 0 && el('span.beyond', null, 'beyond')))),
    el('p.chart-unit', null, options.unit),
    el('details.numbers', null, el('summary', null, 'The numbers'), table(label, [
      {title: 'Up to', cell: r => r.end, number: true}, {title: options.of, cell: r => count(r.value), number: true}, {title: 'Share', cell: r => percent(r.value / all), number: true},
    ], bins.map((value, bin) => ({end: count(binEnd(bin)), value})).filter(r => r.value).concat(beyond ? [{end: 'beyond', value: beyond}] : []), {plain: true})));
}

function heatLegend(most) {
  return el('p.heat-legend', {'aria-hidden': 'true'}, '0', [0, 1, 2, 3, 4, 5].map(step => el(`span.swatch.h${step}`)), most);
}

const cornerText = corner => list(corner).map(text => el('span.corner-line', null, text));

/* names of rows and columns; value(from, to): a number or undefined; shown(value): its text. {corner: [of columns, of rows], label, detail(from, to)} */
function heatMatrix(names, value, shown, options) {
  let most = 0;
  names.forEach((_, from) => names.forEach((__, to) => { if (from !== to && value(from, to) > most) most = value(from, to); }));
  const told = (from, to) => `${names[from]} → ${names[to]}: ${isNumber(value(from, to)) ? shown(value(from, to)) : 'unknown'}`;
  const body = names.length > CELLS_WITH_NUMBERS ? colourRows(names, value, most, told, options) : numberedMatrix(names, value, shown, most, told, options);
  return el('div.panel', null, options.caption && el('p.caption', null, options.caption),
    el('div.scroll', {tabindex: '0', role: 'region', 'aria-label': options.label}, body), most > 0 && heatLegend(shown(most)));
}

function numberedMatrix(names, value, shown, most, told, options) {
  const cell = (from, to) => {
    if (from === to) return el('td.self', null, '·');
    const v = value(from, to);
    if (!isNumber(v)) return el('td', null, '–');
    return el(`td.h${heatStep(v, most)}`, {title: told(from, to)}, v === 0 ? '0' : shown(v), options.detail && options.detail(from, to));
  };
  return el('table.matrix.heat', null, el('caption.aside', null, options.label),
    el('thead', null, el('tr', null, el('td.corner', null, cornerText(options.corner)), names.map(n => el('th', {scope: 'col'}, n)))),
    el('tbody', null, names.map((name, from) => el('tr', null, el('th', {scope: 'row'}, name), names.map((_, to) => cell(from, to))))));
}

/* A row is one element whose background holds its cells: thousands of cells are drawn at once. What is large among them
 * stands in a table beside it. */
function colourRows(names, value, most, told, options) {
  const part = 100 / names.length;
  const row = from => {
    const stops = names.map((_, to) => `var(--${from === to || !isNumber(value(from, to)) ? 'page' : 'h' + heatStep(value(from, to), most)}) ${(to * part).toFixed(3)}% ${((to + 1) * part).toFixed(3)}%`);
    const cells = el('div.cells', {style: {'background-image': `linear-gradient(to right, ${stops.join(', ')})`}});
    cells.addEventListener('mousemove', event => { cells.title = told(from, Math.min(names.length - 1, Math.floor(names.length * event.offsetX / cells.clientWidth))); });
    return [el('span.cells-name', null, names[from]), cells];
  };
  return el('div.colours', {role: 'img', 'aria-label': `${options.label}: ${names.length} rows and columns; the table of flows has the numbers`},
    el('span.corner', null, cornerText(options.corner)), el('span.cells-name.columns-name', null, `the same ${names.length} →`), names.map((_, from) => row(from)));
}
