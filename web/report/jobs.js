
// The table of jobs. Rows are made as they come into sight, so that ten thousand jobs cost no more than a screenful.
const CHUNK_ROWS = 80;
const jobView = { sort: report.lanes.some(hasOwner) ? 'saved' : 'limit', descending: true, rows: [], made: 0 };

const JOB_COLUMNS = [
  { key: 'name', head: 'Job', title: 'The job’s name' },
  { key: 'owner', head: 'Owner’s limit', title: 'What the owner’s limit set aside, averaged over the scored time' },
  { key: 'limit', head: 'Limit', title: 'What the picked recommender’s limit set aside, averaged over the scored time' },
  { key: 'saved', head: 'Saved', title: 'Owner’s limit minus the recommender’s' },
  { key: 'slack', head: 'Slack', unit: 'mean', title: 'Share of the limit that went unused' },
  { key: 'oomDays', head: 'OOM-days', title: 'Job-days with usage over the limit' },
  { key: 'changes', head: 'Changes', unit: 'a day', title: 'Limit changes per job-day' },
  { key: 'days', head: 'Days', title: 'Job-days scored' },
];

function jobRows() {
  const lane = laneOf(state.resource, state.policy);
  const j = lane.jobs;
  const stories = new Map(report.stories.map((story, i) => [story.resource + ' ' + story.job, i]));
  const rows = [];
  j.job_days.forEach((days, i) => {
    if (days === 0) return;
    const owner = j.owner[i] > 0 ? j.owner[i] : null;
    rows.push({ name: report.jobs[i], days, owner, limit: j.limit[i], saved: owner === null ? null : owner - j.limit_owned[i],
      slack: j.slack[i], oomDays: j.oom_days[i], changes: j.changes[i],
      story: stories.get(state.resource + ' ' + report.jobs[i]) });
  });
  return rows;
}

const byName = new Intl.Collator('en', { numeric: true });

function compareJobs(a, b) {
  const key = jobView.sort;
  const sign = jobView.descending ? -1 : 1;
  if (key === 'name') return sign * byName.compare(a.name, b.name);
  if (a[key] === null || b[key] === null) return Number(a[key] === null) - Number(b[key] === null);
  return sign * (a[key] - b[key]) || byName.compare(a.name, b.name);
}

function showStory(index) {
  change({ story: index });
  byId('stories').scrollIntoView({ block: 'start' });
}

function jobRow(row) {
  const r = state.resource;
  const link = row.story === undefined ? null
    : el('button', { type: 'button', class: 'story-link', onclick: () => showStory(row.story) }, 'story');
  return el('tr', {},
    el('th', { scope: 'row', title: row.name }, el('span', { class: 'job-name' }, row.name), link),
    el('td', {}, amount(r, row.owner)),
    el('td', {}, amount(r, row.limit)),
    el('td', { class: row.saved < 0 ? 'over' : '' }, amount(r, row.saved)),
    el('td', {}, percent(row.slack)),
    el('td', { class: row.oomDays === 0 ? 'none' : '' }, `${count(row.oomDays)} (${percent(row.oomDays / row.days, 0)})`),
    el('td', { class: row.changes === 0 ? 'none' : '' }, significant(row.changes)),
    el('td', {}, count(row.days)));
}

function moreJobRows(body) {
  const next = jobView.rows.slice(jobView.made, jobView.made + CHUNK_ROWS);
  jobView.made += next.length;
  body.append(...next.map(jobRow));
}

// A print has all of them.
window.addEventListener('beforeprint', () => {
  const body = document.querySelector('#jobs-table tbody');
  while (body && jobView.made < jobView.rows.length) moreJobRows(body);
});

function sortBy(key) {
  jobView.descending = jobView.sort === key ? !jobView.descending : key !== 'name';
  jobView.sort = key;
  renderJobs();
}

function jobHead() {
  const heads = JOB_COLUMNS.map((column) => {
    const sorted = column.key !== jobView.sort ? 'none' : jobView.descending ? 'descending' : 'ascending';
    const name = column.key === 'oomDays' ? words(state.resource).oomDays : column.head;
    return el('th', { scope: 'col', 'aria-sort': sorted, title: column.title },
      el('button', { type: 'button', onclick: () => sortBy(column.key) }, name[0].toUpperCase() + name.slice(1)),
      column.unit ? el('span', { class: 'unit' }, column.unit) : null);
  });
  return el('thead', {}, el('tr', {}, ...heads));
}

function renderJobs() {
  const host = byId('jobs-table');
  const wanted = byId('job-search').value.trim().toLowerCase();
  const all = jobRows();
  jobView.rows = all.filter((row) => row.name.toLowerCase().includes(wanted)).sort(compareJobs);
  jobView.made = 0;
  const body = el('tbody', {});
  keepFocus(host, () => host.replaceChildren(el('table', { class: 'jobs' }, jobHead(), body)));
  host.scrollTop = 0;
  moreJobRows(body);
  host.onscroll = () => {
    while (jobView.made < jobView.rows.length && host.scrollTop + host.clientHeight > host.scrollHeight - 600) moreJobRows(body);
  };
  byId('jobs-hint').textContent = wanted === ''
    ? `${count(all.length)} jobs with scored days, under ${display(state.policy)}. Select a column head to sort.`
    : `${count(jobView.rows.length)} of ${count(all.length)} jobs match.`;
}
