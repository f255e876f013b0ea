
// The table of all recommenders and what its columns mean.

function recommenderColumns() {
  const w = words(state.resource);
  const columns = [
    { head: 'Slack, mean', unit: '% of limit', value: (s) => percent(s.slack_mean),
      title: 'How much of the limit goes unused: (mean limit − p95 of the day’s 5-minute usages) / mean limit, averaged over job-days.' },
    { head: 'Slack, median', unit: '% of limit', value: (s) => percent(s.slack_median),
      title: 'Half of the job-days have less slack than this, half have more.' },
    { head: 'Footprint', unit: 'on average', value: (s) => amount(state.resource, s.limit),
      title: 'Sum of the limits in force, averaged over the scored time: what the fleet reserves.' },
    { head: 'Of the owners’', unit: '% of reserved', value: (s) => (s.owner > 0 ? percent(s.of_owner) : '–'),
      title: 'Footprint as a share of the owners’ limits, where owners set one.' },
    { head: 'Of usage', unit: 'times', value: (s) => significant(s.of_usage) + '×',
      title: 'Footprint as a multiple of the usage; 1× is no slack.' },
    { head: w.oomDays[0].toUpperCase() + w.oomDays.slice(1), unit: '% of job-days', value: (s) => percent(s.oom_day_share, 2),
      title: w.gloss },
    { head: `${w.ooms[0].toUpperCase() + w.ooms.slice(1)}`, unit: 'per task-day', value: (s) => significant(s.ooms_per_task_day),
      title: `How many ${w.ooms} a job-day had for each task it ran, on average.` },
    { head: 'Serious', unit: '% of job-days', value: (s) => percent(s.serious_share, 2),
      title: `Job-days with more ${w.ooms} than 4 and than a fifth of the job’s tasks.` },
    { head: 'Limit changes', unit: 'mean a day', value: (s) => significant(s.changes_mean),
      title: 'How often the limit moved in a day. Each change can disturb a task, so fewer are better.' },
    { head: 'Limit changes', unit: 'p99 a day', value: (s) => count(s.changes_p99),
      title: '99 of 100 job-days saw at most this many changes.' },
    { head: 'No change', unit: '% of job-days', value: (s) => percent(s.unchanged_share),
      title: 'Share of job-days on which the limit did not move at all.' },
  ];
  if (state.resource === 'cpu') {
    columns.push({ head: 'Throttled', unit: '% of usage', value: (s) => percent(s.usage_over_share, 2),
      title: 'CPU work above the limit, which would have been delayed, as a share of all CPU used.' });
    columns.push({ head: 'Throttled', unit: '% of windows', value: (s) => percent(s.windows_over_share, 2),
      title: 'Share of 5-minute windows in which at least one task needed more CPU than its limit.' });
  }
  return columns;
}

function recommenderRow(lane, columns) {
  return el('tr', { class: `p-${lane.policy}${picked(lane.policy)}` },
    el('th', { scope: 'row' }, el('button', { type: 'button', class: 'pick', title: policyInfo(lane.policy).what,
      onclick: () => change({ policy: lane.policy }) }, swatch(lane.policy), display(lane.policy))),
    ...columns.map((column) => el('td', {}, column.value(lane.sum))));
}

function renderRecommenders() {
  const columns = recommenderColumns();
  const host = byId('recommenders-table');
  keepFocus(host, () => host.replaceChildren(el('table', {},
    el('thead', {}, el('tr', {}, headCell({ head: 'Recommender', title: 'Who set the limits' }, 0),
      ...columns.map((column, i) => headCell(column, i + 1)))),
    el('tbody', {}, ...lanesOf(state.resource).map((lane) => recommenderRow(lane, columns))))));
  const open = byId('recommenders-notes').querySelector('details')?.open ?? false;
  byId('recommenders-notes').replaceChildren(el('details', { open },
    el('summary', {}, 'What the columns and the recommenders mean'),
    el('ol', { class: 'meanings' }, ...columns.map((column) =>
      el('li', {}, el('b', {}, `${column.head} (${column.unit}). `), column.title))),
    el('ul', { class: 'meanings' }, ...lanesOf(state.resource).map((lane) =>
      el('li', {}, el('b', {}, display(lane.policy) + ': '), policyInfo(lane.policy).what + '.')))));
}
