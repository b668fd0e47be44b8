/* The run: what was started, how it was measured, on which machine. */

/* Options of lwp collect that it has without being told; others are part of the command that repeats the run. */
const OPTION_DEFAULTS = {'max-overhead': 3, detect: 'layout,redundancy,sharing,communication', 'value-history': 4, delay: 0, duration: 0, granularity: 'word', approx: 'on', engine: 'auto'};
const OPTIONS_OF_ONE_TIME = ['force', 'quiet', 'output', 'no-analyze'];

function collectLine() {
  const given = Object.entries(data.run.options || {}).filter(([name, value]) => value !== null && value !== false && OPTION_DEFAULTS[name] !== value && !OPTIONS_OF_ONE_TIME.includes(name));
  return ['lwp collect', ...given.map(([name, value]) => value === true ? `--${name}` : `--${name}=${shellWord(String(value))}`), '--', commandLine()].join(' ');
}

const dateText = started => String(started).replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC');

function viewRun() {
  const run = data.run, machine = run.machine || {};
  const command = collectLine();
  const caches = list(machine.caches);
  return [
    el('h1', null, 'The run'),
    el('p.lead', null, run.options ? 'The command below repeats this run.' : 'The options of this run are unknown: the command below has the default ones.'),
    el('div.code', null, copyButton(command), code(command, 'The command')),
    el('section', null, el('h2', null, 'How it was measured'), facts([
      ['Engine', run.engine || unknown(), run.event ? ` (${run.event})` : ''],
      ['Unit of costs', run.weight_unit || unknown()],
      ['Samples', `${count(run.samples)}, of them ${count(run.samples_with_address)} with an address`],
      ['Lost samples', count(run.samples_lost)],
      ['Memory stall', isNumber(run.stall_share) ? percent(run.stall_share) : unknown()],
      ['Types known', data.types ? `for ${percent(data.types.share)} of the time spent on heap, mapped and static data, with the field for ${percent(data.types.share_with_field)}` : unknown()],
      ['Cost of measuring', isNumber(run.overhead_percent) ? `${measuringCost()}, beside the CPU time without lwp` : unknown()],
      ['Run time', `${seconds(run.wall_s)}, CPU time ${seconds(run.cpu_s)}`],
      ['Ended', exitText(run.exit)],
      ['Started', run.started !== null && run.started !== undefined ? dateText(run.started) : unknown()],
      ['In folder', run.cwd || unknown()], ['On host', run.host || unknown()],
      ['Analysed by', 'lwp ' + (data.lwp_version || 'of unknown version')],
    ], 'dl.list')),
    missingParts(), leftOut(...Object.keys(LEFT_OUT)), notes(),
    list(run.runs).length > 0 && el('section', null, el('h2', null, 'Merged results'), table('Merged results', [
      {title: 'Result', cell: r => clip(r.dir, 80), key: r => r.dir, wide: true},
      {title: 'Run time', cell: r => seconds(r.wall_s), key: r => r.wall_s, number: true},
      {title: 'CPU time', cell: r => seconds(r.cpu_s), key: r => r.cpu_s, number: true},
    ], list(run.runs))),
    el('section', null, el('h2', null, 'Machine'), facts([
      ['Processor', machine.cpu || unknown()], ['Cores', isNumber(machine.cores) ? count(machine.cores) : unknown()],
      ['Cache line', isNumber(machine.line_bytes) ? bytes(machine.line_bytes) : unknown()], ['Page', isNumber(machine.page_bytes) ? bytes(machine.page_bytes) : unknown()],
      ['NUMA nodes', isNumber(machine.numa_nodes) ? count(machine.numa_nodes) : unknown()],
      ['Caches', caches.length ? caches.map(c => el('div', null, `L${c.level}: ${bytes(c.bytes)}${isNumber(c.ways) ? `, ${c.ways} ways` : ''}${c.shared_by > 1 ? `, shared by ${c.shared_by} cores` : ''}`)) : unknown()],
    ], 'dl.list')),
    el('section', null, el('h2', null, 'Processes'), table('Processes', [
      {title: 'Process', cell: p => String(p.pid), key: p => p.pid, number: true},
      {title: 'Command', wide: true, cell: p => p.command || unknown(), key: p => p.command || '', text: p => p.command || ''},
      {title: 'Threads', cell: p => count(p.threads), key: p => p.threads, number: true},
      ...(list(run.processes).some(p => isNumber(p.rank)) ? [{title: 'Rank', cell: p => isNumber(p.rank) ? String(p.rank) : unknown('none'), key: p => p.rank, number: true}] : []),
    ], list(run.processes))),
    el('section', null, el('h2', null, 'Modules'), table('Modules', [
      {title: 'File', wide: true, cell: m => m.path || unknown(), key: m => m.path || '', text: m => m.path || ''},
      {title: 'Debug info', cell: m => ({none: 'none', symbols: 'symbols only', full: 'full', replaced: 'another build than ran: not used'})[m.debug_info] || unknown(), key: m => m.debug_info || ''},
      {title: 'Build id', cell: m => m.build_id ? el('code.small', null, m.build_id) : unknown('none')},
    ], list(data.modules))),
  ];
}

Object.assign(DRAW, {run: viewRun});
