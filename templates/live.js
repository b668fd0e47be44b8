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

function viewRunning() {
  const state = el('p.lead', {role: 'status'}), numbers = el('div');
  const show = now => {
    const text = LIVE_STATES[now.state] || '';
    if (state.textContent !== text) state.textContent = text;
    numbers.replaceChildren(tiles([
      ['Running for', duration(now.elapsed_s)], ['Processes', count(now.processes)], ['Threads', count(now.threads)],
      ['Samples so far', count(now.samples)], ['Data so far', bytes(now.bytes), 'on the disk']]));
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
  return [el('h1', null, `Progress of ${programName()}`), state, numbers,
    el('p.note', null, 'From the files of the result; samples that a thread has not written yet are missing.')];
}
