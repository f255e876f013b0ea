// A report of sections with made-up data: a table, charts of every kind, points, and names that could be markup.
const wave = (i) => 10 + 4 * Math.sin(i / 6);
const hours = Array.from({ length: 72 }, (_, i) => i);

export function documentData({ unix = true } = {}) {
  const start = unix ? 1_767_225_600 : 0;
  const time = hours.map((h) => start + h * 3600);
  const delays = [0.1, 0.32, 1, 3.2, 10, 32, 100];
  return {
    kind: 'document', command: 'taut test', title: 'A <made> report', unix,
    answer: ['Half of the production jobs start within ', { form: 'seconds', value: 2.5 }, ', with ', { form: 'share', decimals: 1, value: 0.475 }, ' of ',
      { form: 'number', unit: 'cores', value: 12.5 }, '.'],
    notes: ['3 jobs have usage.', 'PARTIAL: interrupted'],
    sections: [
      { title: 'Tiers', parts: [
        { is: 'text', text: 'Jobs that never started count as longer than all.' },
        { is: 'table', columns: [{ head: 'tier', form: 'text' }, { head: 'jobs', form: 'count' }, { head: 'delay, p50', form: 'seconds' },
          { head: 'CPU used', form: 'number', unit: 'cores' }, { head: 'slack', form: 'share', decimals: 1 }, { head: 'why', form: 'text' }],
        rows: [['production', 12345, 2.5, 3.25, 0.4, 'short of memory'], ['<b>batch</b>', 7, 'never', 0.00002, null, 'fits']] },
      ] },
      { title: 'Over time', parts: [
        { is: 'chart', title: 'CPU', x: { name: 'time', form: 'time' }, y: { name: 'CPU', form: 'number', unit: 'cores' }, series: [
          { name: 'production', line: 'stacked', x: time, y: hours.map(wave) }, { name: 'batch', line: 'stacked', y: hours.map((h) => wave(h + 9) / 2) },
          { name: "owners' limits", line: 'dashed', y: hours.map(() => 26) }] },
        { is: 'chart', title: 'Delays', x: { name: 'time since the job was submitted', form: 'seconds', log: true }, y: { name: 'share of the jobs', form: 'share' }, series: [
          { name: 'production', line: 'solid', x: delays, y: [0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1] }, { name: 'batch', line: 'solid', x: delays.slice(0, 5), y: [0, 0.1, 0.2, 0.4, 0.6] }] },
        { is: 'chart', title: 'Tail', x: { name: 'usage of a job, core-hours', form: 'number', log: true }, y: { name: 'share of the jobs', form: 'share', log: true }, series: [
          { name: 'CPU', line: 'solid', x: [0.001, 1, 1000, 1e5], y: [1, 0.1, 1e-3, 1e-6] }, { name: 'CPU, Pareto', line: 'dashed', x: [1, 1e5], y: [0.1, 1e-6] }] },
      ] },
      { title: 'Predictors', parts: [
        { is: 'points', title: 'Footprint against predictions below the oracle', x: { name: 'footprint, share of the limits', form: 'share' },
          y: { name: 'predictions below the oracle', form: 'share' },
          points: [{ name: 'limit', x: 1, y: 0 }, { name: 'n-sigma', x: 0.475, y: 0.125 }, { name: 'n-sigma:n=<3>', x: 0.48, y: 0.124 }, { name: 'oracle', x: 0.4, y: 0 }] },
      ] },
    ],
  };
}
