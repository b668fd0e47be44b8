/* A result that is still being written: what is there so far. When its analysis is there, follow() loads the page again. */

const PROGRESS_MS = 1000;
const LIVE_STATES = {
  running: 'The program is running. The report appears here when it ends.',
  analysing: 'The program has ended; its samples are being analysed.',
  ended: 'The run has ended; the report is being loaded.',
};

/* "1 h 02 min 03 s" */
function duration(s) {
  if (!isNumber(s)) return 'unknown';
  const two = n => String(Math.floor(n)).padStart(2, '0');
  return (s >= 3600 ? `${Math.floor(s / 3600)} h ${two(s / 60 % 60)} min ` : s >= 60 ? `${Math.floor(s / 60)} min ` : '') + (s >= 60 ? two(s % 60) : Math.floor(s)) + ' s';
}

/* What the samples show so far; a finding may still go, and its gain is estimated, not measured. */
function interimFindings(interim) {
  const findings = list(interim.findings), objects = list(interim.objects).filter(o => o.share > 0);
  return el('section', null, el('h2', null, 'Findings so far ', el('span.soft', null, `from the first ${plural(interim.samples, 'sample', 'samples')}${isNumber(interim.stall_share) ? `, ${percent(interim.stall_share)} memory stall` : ''}`)),
    findings.length ? el('ol.interim', null, findings.map(f => el('li', null, prose(brief(f.title)), isRange(f.expected_speedup) && el('strong', null, ` ${gainOf(f)}`)))) : el('p.soft', null, 'No advice yet.'),
    objects.length > 0 && table('Memory stall by data object so far', [
      {title: 'Data', cell: o => clip(o.name || 'unknown', 60)}, {title: 'Type', cell: o => o.type ? el('code', null, clip(brief(o.type), 60)) : unknown()}, {title: 'Share of the time', cell: o => shareBar(o.share, null, objects[0].share), number: true},
    ], objects, {plain: true}));
}

function viewRunning() {
  const state = el('p.lead', {role: 'status'}), numbers = el('div'), sofar = el('div');
  let drawn = '';
  const show = now => {
    const text = LIVE_STATES[now.state] || '';
    if (state.textContent !== text) state.textContent = text;
    if (now.interim && JSON.stringify(now.interim) !== drawn) {
      drawn = JSON.stringify(now.interim);
      sofar.replaceChildren(interimFindings(now.interim));
    }
    numbers.replaceChildren(tiles([
      ['Running for', duration(now.elapsed_s)], ['Processes', count(now.processes)], ['Threads', count(now.threads)],
      ['Samples so far', count(Math.max(now.samples || 0, (now.interim || {}).samples || 0))], ['Data so far', bytes(now.bytes), 'on the disk']]));
  };
  const look = async () => {
    if (!state.isConnected) return;
    try {
      if (!document.hidden) show(await (await fetch(page.progress, {cache: 'no-store'})).json());
    } catch (problem) {
      state.textContent = 'lwp serve has ended: these are the last numbers.';
      return;
    }
    setTimeout(look, PROGRESS_MS);
  };
  setTimeout(look);
  return [el('h1', null, `Progress of ${programName()}`), state, numbers, sofar,
    el('p.note', null, 'From the files of the result; samples that a thread has not written yet are missing. While this page is looked at, the samples are analysed every few seconds, on one processor.')];
}

Object.assign(DRAW, {running: viewRunning});
