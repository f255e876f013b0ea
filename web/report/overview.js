
// The headline, the tiles, and what was replayed.

function headline() {
  const lane = laneOf(state.resource, state.policy);
  const w = words(state.resource);
  const jobs = count(jobCount(lane)) + (jobCount(lane) === 1 ? ' job' : ' jobs');
  const strong = (value) => el('span', { class: 'figure' }, value);
  const name = el('span', { class: `name p-${state.policy}` }, display(state.policy));
  const risk = [', at ', strong(percent(lane.sum.oom_day_share, 1)), ` ${w.oomDays}.`];
  if (lane.policy === 'static') {
    return ['With ', name, ` limits, as their owners set them, ${jobs} hold `, strong(amount(state.resource, lane.sum.limit)),
      ` of ${w.name} and use `, strong(amount(state.resource, lane.sum.usage)), ...risk];
  }
  if (!hasOwner(lane)) {
    return ['With ', name, `, ${jobs} would have needed `, strong(significant(lane.sum.of_usage) + ' times'),
      ` the ${w.name} they used`, ...risk];
  }
  return ['With ', name, `, ${jobs} would have needed `, strong(percent(lane.sum.of_owner)),
    ` of the ${w.name} their owners reserved`, ...risk];
}

function tile(name, big, sub) {
  return el('dl', { class: 'tile' }, el('dt', {}, name), el('dd', { class: 'big' }, big), el('dd', { class: 'sub' }, sub));
}

function savedTile(resource) {
  const lane = laneOf(resource, state.policy);
  if (!lane) return null;
  const name = resource === 'memory' ? 'Memory' : 'CPU';
  const saved = lane.sum.owner - lane.sum.limit_owned;
  if (!hasOwner(lane)) return tile(`${name} held`, amount(resource, lane.sum.limit), 'the trace has no owner’s limits');
  return tile(saved >= 0 ? `${name} saved` : `${name} needed more`, amount(resource, Math.abs(saved)),
    `of ${amount(resource, lane.sum.owner)} reserved, on average`);
}

function renderTiles() {
  const lane = laneOf(state.resource, state.policy);
  const owner = laneOf(state.resource, 'static');
  const w = words(state.resource);
  const against = (figure) => (owner && owner !== lane ? `; static: ${figure(owner.sum)}` : '');
  byId('tiles').replaceChildren(...[
    savedTile('memory'),
    savedTile('cpu'),
    tile(`Mean slack, ${w.name}`, percent(lane.sum.slack_mean),
      `of the limit goes unused${against((s) => percent(s.slack_mean))}`),
    tile(w.oomDays[0].toUpperCase() + w.oomDays.slice(1), percent(lane.sum.oom_day_share, 1),
      `${count(lane.sum.oom_days)} of ${count(lane.sum.job_days)} job-days${against((s) => percent(s.oom_day_share, 1))}`),
    tile('Limit changes', significant(lane.sum.changes_mean),
      `a job-day; ${percent(lane.sum.unchanged_share)} of job-days without any`),
  ].filter(Boolean));
}

function renderReplayed() {
  const facts = [
    ['Trace', report.title],
    ['Replayed', `${dayName(report.first_day)} to ${dayName(report.last_day)} (${count(report.days_done)} days)`],
    ['Scored', `from ${dayName(report.first_scored_day)}; the days before are warm-up, replayed but not scored`],
    ['Work', `${count(report.jobs.length)} jobs, ${count(report.job_windows)} job-windows of 5 minutes`],
    ['State kept', `${bytes(report.state_bytes_per_job / 2 ** 30)} a job, all recommenders together`],
    ['Command', el('code', {}, report.command)],
  ];
  byId('replayed').replaceChildren(
    report.partial
      ? el('p', { class: 'partial' }, `Partial: the replay was stopped after ${count(report.days_done)} of `
          + `${count(report.days_total)} days. All figures are of those days.`)
      : '',
    el('dl', { class: 'facts' }, ...facts.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)])),
    report.notes.length > 0 ? el('ul', { class: 'notes' }, ...report.notes.map((note) => el('li', {}, note))) : '');
}

function renderControls() {
  keepFocus(byId('controls'), () => {
    byId('resources').replaceChildren(...resources.map((resource) =>
      el('button', { type: 'button', 'aria-pressed': String(resource === state.resource),
        onclick: () => change({ resource }) }, resource === 'memory' ? 'Memory' : 'CPU')));
    policyChips(byId('picker'));
  });
}

function renderOverview() {
  renderControls();
  byId('headline').replaceChildren(...headline());
  byId('gloss').textContent = words(state.resource).gloss;
  renderTiles();
}
