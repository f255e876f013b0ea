// A page of the job table, and what the job page asks for: detail, heatmap.
import { DAY, MACHINE, RESOURCES, WINDOW, peakAt, replicaTotals, usageAt } from './fleet.mjs';
import { unit } from './random.mjs';

const total = (row, resource, of) => {
  const a = row[resource];
  const value = of === 'slack' ? (a.limit === null ? null : a.limit - a.usage)
    : of === 'saved' ? (a.owner_limit === null || a.limit === null ? null : a.owner_limit - a.limit) : a[of];
  return value === null ? null : value * row.tasks;
};

function sortKey(key) {
  const [, resource, of] = /^(cpu|memory)_(.+)$/.exec(key) ?? [];
  if (of === 'chance') return (job) => job.row[resource].chance;
  if (resource) return (job) => total(job.row, resource, of);
  return { name: (job) => job.row.name, mode: (job) => ['off', 'observe', 'canary', 'auto'].indexOf(job.row.mode),
    saving: (job) => RESOURCES.reduce((sum, r) => sum + (job.row[r].saving ?? 0) * job.row.tasks / MACHINE[r === 'cpu' ? 'cores' : 'bytes'], 0),
    tight: (job) => (job.row.ooms > 0 ? 4 + job.row.ooms : 0) + (RESOURCES.some((r) => job.row[r].at_limit) ? 2 : 0)
      + Math.max(0, ...RESOURCES.map((r) => (job.row[r].saving < 0 ? 1 - job.row[r].owner_limit / job.row[r].would_be : 0))),
    saving_per_month: (job) => job.row.saving_per_month ?? null,
    tasks: (job) => job.row.tasks, ooms: (job) => job.row.ooms, changed: (job) => job.row.last_change }[key];
}

function found(jobs, query) {
  const words = (query.get('search') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const mode = query.get('mode');
  return jobs.filter((job) => {
    if (mode && job.row.mode !== mode) return false;
    const text = [job.row.name, ...Object.entries(job.labels).map(([k, v]) => `${k}=${v}`)].join('\n').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

const sumOf = (jobs, resource, of) => jobs.reduce((sum, job) => sum + (total(job.row, resource, of) ?? 0), 0);

// Sums over the jobs with the same value of a label.
function riskOf(jobs, r) {
  const chances = jobs.map((job) => job.row[r].chance).filter((chance) => chance !== null);
  return {
    job_days: jobs.reduce((n, job) => n + Math.min(7, job.row[r].days), 0),
    job_days_over: jobs.reduce((n, job) => n + Math.floor(Math.min(7, job.row[r].days_over) / 5), 0),
    chance: chances.length > 0 ? chances.reduce((a, b) => a + b) / chances.length : null,
  };
}

export function labelTotals(jobs, query) {
  const by = query.get('by') ?? '';
  const property = { ':class': () => 'serving', ':tasks': (job) => (job.row.tasks === 1 ? '1 task' : '2 to 9 tasks'),
    ':memory_size': (job) => ((job.row.memory.owner_limit ?? 0) < 2 ** 30 ? '256 MiB to 1 GiB' : '1 to 4 GiB'), ':cpu_size': (job) => ((job.row.cpu.owner_limit ?? 0) < 1 ? '0.25 to 1 core' : '1 to 4 cores') }[by];
  if (jobs.length > 0 && !property && !jobs.some((job) => by in job.labels)) throw Object.assign(new Error(`no job has a label "${by}"`), { status: 404 });
  const groups = new Map();
  for (const job of found(jobs, query)) {
    const value = property ? property(job) : job.labels[by] ?? null;
    if (!groups.has(value)) groups.set(value, []);
    groups.get(value).push(job);
  }
  const all = [...groups].map(([value, of]) => ({
    value, jobs: of.length, not_measured: 0, whole_machines: 0, tasks: of.reduce((sum, job) => sum + job.row.tasks, 0),
    ...Object.fromEntries(RESOURCES.map((r) => [r, { ...Object.fromEntries(['usage', 'owner_limit', 'limit', 'would_be', 'saved'].map((k) => [k, sumOf(of, r, k)])), would_save: sumOf(of, r, 'saving'), requests: null, ...riskOf(of, r) }])),
    replicas: replicaTotals(of), saving_per_month: of.reduce((sum, job) => sum + (job.row.saving_per_month ?? 0), 0),
  })).sort((a, b) => b.memory.would_save - a.memory.would_save);
  return { by, total: all.length, currency: 'EUR', groups: all.slice(0, Number(query.get('limit') ?? 100)) };
}

export function jobPage(jobs, query) {
  const key = sortKey(query.get('sort') || 'saving');
  if (!key) throw Object.assign(new Error(`sort: no column \`${query.get('sort')}\``), { status: 400 });
  const sign = (query.get('order') || 'desc') === 'asc' ? 1 : -1;
  const fit = found(jobs, query);
  const keyed = fit.map((job) => [key(job), job]);
  keyed.sort(([a, x], [b, y]) => {
    if (a === null || b === null) return a === b ? x.number - y.number : a === null ? 1 : -1;
    return (a < b ? -sign : a > b ? sign : 0) || x.number - y.number;
  });
  const offset = Number(query.get('offset') ?? 0);
  const limit = Number(query.get('limit') ?? 100);
  return { total: fit.length, offset, currency: 'EUR', jobs: keyed.slice(offset, offset + limit).map(([, job]) => job.row) };
}

function trialOf(job, now) {
  if (!job.row.trial) return [];
  const a = job.row.memory;
  const half = Math.max(1, Math.floor(job.row.tasks / 5));
  const windows = 140 + Math.floor(unit(job.number, 'tw') * 100);
  return [{
    resource: 'memory', limit: a.would_be, old_limit: a.limit, since: now - windows * WINDOW, until: now + 6 * 3600,
    tasks: { task_windows: half * windows, ooms: 0, over: 2, throttled_share: null, slack: 0.31 },
    rest: { task_windows: Math.max(0, job.row.tasks - half) * windows, ooms: 0, over: 0, throttled_share: null, slack: 0.64 },
    elsewhere: half * 2, names: Array.from({ length: half }, (_, i) => `${job.row.name.split('/')[1]}-${i}`),
    sentence: `${half} of ${job.row.tasks} tasks try the new limit; no OOM kill on either side so far. It is promoted if that stays so for 24 h.`,
  }];
}

const ALLOCATION = { applies_to: 'limit', request_share: null };

// Of the jobs of which some task is probed.
export const neededOf = (job, now) => (unit(job.number, 'probed') < 0.2 ? { bytes: job.row.memory.usage * 0.8, tasks: Math.min(2, job.row.tasks), time: now } : null);

// Of the jobs whose pods have a sidecar.
const podOf = (job) => (unit(job.number, 'pod') < 0.2 ? { containers: 2, recommended: 2, cpu: { request: 0.35, limit: null }, memory: { request: 3e8, limit: 6e8 } } : null);

export function jobDetail(job, now) {
  const holds = [];
  if (job.row.mode === 'auto' && unit(job.number, 'hold') < 0.25) {
    holds.push({ resource: 'cpu', sentence: 'A lower limit waits: the last change was less than 6 h ago.' });
  }
  const notices = [];
  if (job.row.mode === 'observe' && job.row.tasks < 3) {
    notices.push('A small job (fewer than 3 tasks): it moves to auto in 3 days. Set mode to observe to stay.');
  }
  if (now - job.first_seen < 7 * DAY) notices.push("New: the owner's limit stays until 7 days have been seen.");
  return { ...job.row, currency: 'EUR', price_per_month: { cpu: 21.9, memory: 2.92 }, labels: job.labels, first_seen: job.first_seen, risk: null, throttled: null, replicas: job.replicas, allocation: { cpu: ALLOCATION, memory: ALLOCATION }, container: null, pod: podOf(job), memory_needed: neededOf(job, now), trials: trialOf(job, now), holds, notices };
}

const STEP = 1.05;
const FIRST = { cpu: 0.001, memory: 2 ** 20 };
const bucketOf = (resource, value) => Math.max(0, Math.ceil(Math.log(value / FIRST[resource]) / Math.log(STEP)));

export function limitsAt(job, resource, time, now) {
  const a = job.row[resource];
  const start = now - 5 * DAY - Math.floor(unit(job.number, 'adopted') * 14) * DAY;
  const wobble = 1 + 0.05 * Math.sin(Math.floor(time / DAY / 1.5) * 1.7 + job.number);
  const wouldBe = a.would_be === null ? null : a.would_be * (now - time < DAY / 2 ? 1 : wobble);
  const limit = job.row.mode === 'auto' && time >= start ? (now - time < DAY / 2 ? a.limit : a.limit * wobble) : a.owner_limit;
  return { limit, owner_limit: a.owner_limit, would_be: wouldBe };
}

// The load of all tasks in columns, and a policy that follows it with some head room.
export function replicaHistory(job, from, to, columns) {
  const step = Math.max(WINDOW, Math.ceil((to - from) / columns / WINDOW) * WINDOW);
  const out = { step, load_of: 'cpu', time: [], load: [], tasks: [], tasks_would_be: [], capacity: [], capacity_would_be: [], forecast_low: [], forecast_high: [], totals: null };
  const t = { windows: 0, task_hours: 0, task_hours_would_be: 0, overloaded_windows: 0, overloaded_windows_would_be: 0, changes: 0, changes_would_be: 0 };
  const r = job.replicas, of = (each, count) => (each === null ? null : 0.8 * each * count);
  for (let at = Math.ceil(from / step) * step; at < to; at += step) {
    const load = usageAt(job, 'cpu', at) * job.row.tasks;
    const wouldBe = r?.task_capacity ? Math.max(1, Math.ceil(usageAt(job, 'cpu', at - step) * job.row.tasks / (0.5 * r.task_capacity))) : null;
    out.time.push(at);
    out.load.push(load);
    out.tasks.push(job.row.tasks);
    out.tasks_would_be.push(wouldBe);
    out.capacity.push(of(r?.task_capacity ?? null, job.row.tasks));
    out.capacity_would_be.push(wouldBe === null ? null : of(r.task_capacity, wouldBe));
    const expected = wouldBe === null ? null : usageAt(job, 'cpu', at - WINDOW) * job.row.tasks;
    out.forecast_low.push(expected === null ? null : 0.85 * expected);
    out.forecast_high.push(expected === null ? null : 1.2 * expected);
    if (wouldBe === null) continue;
    const windows = step / WINDOW;
    t.windows += windows;
    t.task_hours += job.row.tasks * step / 3600;
    t.task_hours_would_be += wouldBe * step / 3600;
    t.overloaded_windows += load > of(r.task_capacity, job.row.tasks) ? windows : 0;
    t.overloaded_windows_would_be += load > of(r.task_capacity, wouldBe) ? windows : 0;
  }
  return { ...out, totals: t };
}

export function heatmap(job, resource, from, to, columns, now) {
  const seconds = Math.max(WINDOW, Math.ceil((to - from) / columns / WINDOW) * WINDOW);
  const out = { resource, from, to, column_seconds: seconds, time: [], buckets: [], cells: [], limit: [], owner_limit: [], would_be: [], needed: [], ooms: [] };
  const raw = [];
  let low = Infinity;
  let high = 0;
  for (let start = Math.ceil(Math.max(from, job.first_seen) / seconds) * seconds; start < Math.min(to, now, job.row.last_seen); start += seconds) {
    if (unit(job.number, Math.floor(start / 7200), 'gap') < 0.004) continue;
    const weights = new Map();
    const samples = 60;
    for (let i = 0; i < samples; ++i) {
      const at = start + Math.floor(unit(job.number, start, i, 'at') * seconds);
      const spread = (unit(job.number, start, i, 's') + unit(job.number, start, i, 't') - 1) * (resource === 'cpu' ? 0.55 : 0.1);
      const mean = usageAt(job, resource, at);
      const value = i === 0 ? peakAt(job, resource, at) : mean * Math.exp(spread);
      const bucket = bucketOf(resource, value);
      weights.set(bucket, (weights.get(bucket) ?? 0) + (i === 0 ? 0.15 : 1) / samples);
      low = Math.min(low, bucket);
      high = Math.max(high, bucket);
    }
    raw.push([start, weights]);
  }
  for (let k = low; k <= high; ++k) out.buckets.push(FIRST[resource] * STEP ** k);
  raw.forEach(([start, weights], column) => {
    out.time.push(start);
    for (const [bucket, share] of weights) out.cells.push([column, bucket - low, Math.round(share * 1e4) / 1e4]);
    const at = limitsAt(job, resource, start, now);
    out.limit.push(at.limit);
    out.owner_limit.push(at.owner_limit);
    out.would_be.push(at.would_be);
    // Every third job is probed.
    out.needed.push(resource === 'memory' && job.number % 3 === 0 ? 0.6 * usageAt(job, resource, start) : null);
  });
  if (resource === 'memory') out.ooms = oomsOf(job, now).map((oom) => oom.time).filter((time) => time >= from && time < to);
  return out;
}

export function oomsOf(job, now) {
  return Array.from({ length: job.row.ooms }, (_, i) => ({
    time: now - Math.floor(unit(job.number, i, 'oomtime') * 7 * DAY), job: job.row.name, task: Math.floor(unit(job.number, i, 'task') * job.row.tasks), kills: 1,
    limit: job.row.memory.limit,
  })).sort((a, b) => b.time - a.time);
}

export { RESOURCES };
