// A made-up fleet: jobs whose usage at any time is a function of their number, so nothing needs storing.
import { normal, pick, unit, weighted } from './random.mjs';

export const WINDOW = 300;
export const DAY = 86400;
export const MACHINE = { cores: 64, bytes: 256 * 2 ** 30 };
export const MODES = ['off', 'observe', 'canary', 'auto'];
export const RESOURCES = ['cpu', 'memory'];

const TEAMS = ['shop', 'search', 'payments', 'media', 'ads', 'maps', 'mail', 'identity', 'logs', 'ml', 'billing', 'support',
  'warehouse', 'pricing', 'risk', 'notify', 'catalog', 'reports', 'gateway', 'infra'];
const PARTS = ['web', 'api', 'worker', 'indexer', 'cache', 'db', 'router', 'exporter', 'scheduler', 'ingest', 'frontend',
  'consumer', 'thumbnails', 'sessions', 'ranker', 'trainer', 'backup', 'compactor', 'relay', 'proxy', 'crawler', 'mailer'];
const REGIONS = ['eu-1', 'eu-2', 'us-1', 'us-2', 'asia-1'];

const CPU_STEPS = [0.1, 0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];

function roundUp(resource, value) {
  if (resource === 'cpu') return CPU_STEPS.find((step) => step >= value) ?? Math.ceil(value / 16) * 16;
  const power = 2 ** Math.ceil(Math.log2(value));
  return value <= power * 0.75 ? power * 0.75 : power;
}

function shape(number) {
  const part = PARTS[Math.floor(number / TEAMS.length) % PARTS.length];
  const batch = ['trainer', 'backup', 'compactor', 'crawler', 'indexer', 'exporter'].includes(part);
  return {
    batch,
    part,
    cpu: { base: Math.exp(normal(number, 'cpu') * 1.1 - 1.1), daily: batch ? 0.15 : 0.25 + 0.4 * unit(number, 'cd'), noise: 0.18, spike: batch ? 1.2 : 0.8 },
    memory: { base: Math.exp(normal(number, 'mem') * 1.1) * 900 * 2 ** 20, daily: 0.04 + 0.12 * unit(number, 'md'), noise: 0.04, spike: 0.35 },
    phase: (unit(number, 'phase') - 0.5) * 0.15,
  };
}

// Mean usage of a task in the window or column that starts at `time`.
export function usageAt(job, resource, time) {
  const s = job.shape[resource];
  const day = time / DAY;
  const wave = Math.sin(2 * Math.PI * (day - 0.35 + job.shape.phase));
  const weekday = Math.floor(day + 3) % 7;
  const weekend = !job.shape.batch && weekday > 4 ? 1 - 0.5 * s.daily : 1;
  const drift = 1 + 0.08 * Math.sin(day / 9 + job.number);
  const restart = resource === 'memory' ? 0.86 + 0.14 * ((day * 0.4 + unit(job.number, 'restart')) % 1) : 1;
  const job_burst = job.shape.batch && resource === 'cpu' && unit(job.number, Math.floor(time / 7200), 'burst') < 0.3 ? 1.8 : 1;
  return s.base * (1 + s.daily * wave) * weekend * drift * restart * job_burst * Math.exp(s.noise * normal(job.number, resource, Math.floor(time / WINDOW)));
}

// Highest task in the window that starts at `time`.
export function peakAt(job, resource, time) {
  const s = job.shape[resource];
  const slot = Math.floor(time / WINDOW);
  const rare = unit(job.number, resource, slot, 'rare') < 0.004 ? 1 + s.spike * unit(job.number, resource, slot, 'size') : 1;
  return usageAt(job, resource, time) * (1.06 + (resource === 'cpu' ? 0.45 : 0.1) * unit(job.number, resource, slot, 'peak')) * rare;
}

function amounts(job, resource, now, mode, ownerKnown) {
  const start = now - WINDOW;
  const usage = usageAt(job, resource, start);
  const s = job.shape[resource];
  const weekPeak = s.base * (1 + s.daily) * (resource === 'cpu' ? 1.6 : 1.16) * (1 + 0.25 * unit(job.number, resource, 'wp'));
  const greed = 1.05 + 2.6 * unit(job.number, resource, 'greed') ** 1.6;
  const owner = ownerKnown ? roundUp(resource, weekPeak * greed) : null;
  const wouldBe = mode === 'off' ? null : weekPeak * 1.1;
  const applied = mode === 'auto' ? weekPeak * (1.1 + 0.06 * unit(job.number, resource, 'lag')) : owner;
  const chance = wouldBe === null || unit(job.number, 'rec') < 0.06 || resource === 'cpu' ? null : 0.002 + 0.07 * unit(job.number, resource, 'chance') ** 2;
  const days = wouldBe === null ? 0 : 4 + Math.floor(24 * unit(job.number, 'days'));
  const peak = Math.min(weekPeak, peakAt(job, resource, start));
  return {
    recommender: recommenderOf(recommenderName(job.number), resource),
    usage, peak, owner_limit: owner, limit: applied, ordered: mode === 'auto' ? applied : null, applied: null, would_be: wouldBe, saving: owner === null || wouldBe === null ? null : owner - wouldBe,
    owner_request: null, request: null, would_be_request: null, limit_saving: owner === null || wouldBe === null ? null : owner - wouldBe, of: 'limit', chance, days, days_over: Math.floor(days * unit(job.number, resource, 'over') ** 6), ...workOf(resource, job, wouldBe), at_limit: applied !== null && unit(job.number, resource, 'at') < 0.02,
    provisional: false, provisional_limit: null, first_recommendation_at: null,
  };
}

// CPU keeps to an order of work above its limits.
const workOf = (resource, job, wouldBe) => (resource === 'cpu' && wouldBe !== null
  ? { work_over: 0.0002 + 0.001 * unit(job.number, 'work'), work_ordered: 0.001 } : { work_over: null, work_ordered: null });

const recommenderName = (number) => (unit(number, 'rec') < 0.06 ? 'ensemble' : 'combined');
// What makes the limit of a resource: of combined one of its two.
export const recommenderOf = (name, resource) => (name !== 'combined' ? name : resource === 'cpu' ? 'work_function' : 'analogs');

function makeJob(number, now) {
  const team = TEAMS[number % TEAMS.length];
  const s = shape(number);
  const region = REGIONS[Math.floor(number / (TEAMS.length * PARTS.length)) % REGIONS.length];
  const run = Math.floor(number / (TEAMS.length * PARTS.length * REGIONS.length));
  const job = { number, shape: s };
  const name = `${team}/${s.part}-${region}${run ? '-' + (run + 1) : ''}`;
  const mode = weighted([['off', 5], ['observe', 42], ['canary', 4], ['auto', 49]], number, 'mode');
  const ownerKnown = unit(number, 'owner') > 0.02;
  const tasks = Math.max(1, Math.round(Math.exp(normal(number, 'tasks') * 1.2 + 1.1)));
  const gone = unit(number, 'gone') < 0.01;
  const killed = unit(number, 'oom') < 0.015 ? 1 + Math.floor(unit(number, 'ooms') * 6) : 0;
  const made = Object.assign(job, {
    labels: { team, region, tier: s.batch ? 'batch' : 'production', app: s.part },
    first_seen: now - Math.floor((3 + 60 * unit(number, 'first')) * DAY),
    row: {
      name, workload: null, mode,
      whole_machine: false, recommender: recommenderName(number),
      tasks,
      cpu: amounts(job, 'cpu', now, mode, ownerKnown),
      memory: amounts(job, 'memory', now, mode, ownerKnown),
      ooms: killed,
      last_seen: gone ? now - Math.floor(unit(number, 'left') * 5 * DAY) : now,
      last_change: mode === 'auto' ? now - Math.floor(unit(number, 'change') ** 2 * 20 * DAY / WINDOW) * WINDOW : null,
      trial: mode === 'canary' && unit(number, 'trial') < 0.8,
      enforced: false, throttled_share: null,
    },
  });
  made.row.saving_per_month = savingOf(made.row);
  made.replicas = replicasOf(made);
  made.row.tasks_would_be = made.replicas?.would_be ?? null;
  return made;
}

export function makeFleet(count, now) {
  return Array.from({ length: count }, (_, number) => makeJob(number, now));
}

const sum = (jobs, of) => jobs.reduce((total, job) => total + (of(job.row) ?? 0) * job.row.tasks, 0);

// Some jobs have a policy of replicas; it keeps their tasks at half of their CPU limits.
function replicasOf(job) {
  const { tasks, cpu, mode } = job.row;
  if (unit(job.number, 'scales') > 0.15 || mode === 'off' || cpu.limit === null) return null;
  const load = cpu.usage * tasks;
  const wouldBe = Math.max(1, Math.ceil(load / (0.5 * cpu.limit)));
  const used = load / (cpu.limit * tasks);
  const held = unit(job.number, 'held') < 0.004 ? { cause: 'no_number', since: job.row.last_seen - 3600 } : null;
  const waits = mode === 'auto' && unit(job.number, 'waits') < 0.2 ? 'a lower number waits for the maintenance window, Sun 02:00-06:00' : '';
  return {
    policy: 'forecast', tasks, would_be: wouldBe, ordered: mode === 'auto' ? wouldBe : null, load_of: 'cpu', load, task_capacity: cpu.limit,
    utilization: used, windows_day: 288, overloaded_windows_day: Math.floor(5 * unit(job.number, 'overloaded') ** 4), hold: held ? '"load / requests" is infinite; the number stays' : waits, held,
    reason: {
      recommender: 'forecast', sentence: `${wouldBe} tasks: the load when a task started now is ready is expected to be ${load.toPrecision(3)} cores.`,
      facts: [{ name: 'load', value: load, unit: 'cores' }, { name: 'utilisation now', value: 100 * used, unit: '%' }],
      cost_unit: '', candidates: [], steps: [], why: '', limit: wouldBe, chance: null,
    },
  };
}

// Amounts of jobs do not change, so what `sumUp` makes of a list of them is made once for each key: it is asked for all the time.
export function summedOnce(sumUp) {
  const known = new WeakMap();
  return (jobs, key) => {
    if (!known.has(jobs)) known.set(jobs, new Map());
    const of = known.get(jobs);
    if (!of.has(key)) of.set(key, sumUp(jobs, key));
    return of.get(key);
  };
}

const totals = summedOnce(sumUp);

function sumUp(jobs, resource) {
  const known = jobs.filter((job) => job.row[resource].owner_limit !== null);
  const usage = sum(jobs, (row) => row[resource].usage);
  const owner = sum(known, (row) => row[resource].owner_limit);
  const limit = sum(known, (row) => row[resource].limit);
  const wouldBe = sum(known, (row) => row[resource].would_be ?? row[resource].owner_limit);
  const machine = resource === 'cpu' ? MACHINE.cores : MACHINE.bytes;
  return {
    usage, owner_limit: owner, limit, would_be: wouldBe, slack: limit - sum(known, (row) => row[resource].usage), saved: owner - limit, would_save: owner - wouldBe,
    requests: null, saved_machines: (owner - limit) / machine, would_save_machines: (owner - wouldBe) / machine,
    usage_limited: sum(known, (row) => row[resource].usage),
    raised: sum(known, (row) => Math.max(0, row[resource].limit - row[resource].owner_limit)),
    would_raise: sum(known, (row) => Math.max(0, -(row[resource].saving ?? 0))),
    job_days: jobs.reduce((n, job) => n + Math.min(7, job.row[resource].days), 0),
    job_days_over: jobs.reduce((n, job) => n + Math.floor(Math.min(7, job.row[resource].days_over) / 5), 0),
    ordered: jobs.length > 0 && resource === 'memory' ? 0.03 : null, work_over: jobs.length > 0 && resource === 'cpu' ? 0.0008 : null, work_ordered: jobs.length > 0 && resource === 'cpu' ? 0.001 : null, jobs_at_limit: jobs.filter((job) => job.row[resource].at_limit).length,
  };
}

// 0.02 a core-hour and 0.003 a GiB-hour, for 730 hours.
const monthly = (cores, bytes) => 730 * (0.02 * cores + 0.003 * bytes / 2 ** 30);
const moneyOf = (cpu, memory) => ({ saved: monthly(cpu.saved, memory.saved), would_save: monthly(cpu.would_save, memory.would_save) });
export const savingOf = (row) => (row.cpu.saving === null || row.memory.saving === null ? null : monthly(row.cpu.saving * row.tasks, row.memory.saving * row.tasks));

export function countModes(jobs) {
  const counts = Object.fromEntries(MODES.map((mode) => [mode, 0]));
  for (const job of jobs) ++counts[job.row.mode];
  return counts;
}

export function replicaTotals(jobs) {
  const scaled = jobs.filter((job) => job.replicas !== null);
  const total = (of) => scaled.reduce((n, job) => n + of(job), 0);
  return {
    jobs: scaled.length, tasks: total((job) => job.row.tasks), would_be: total((job) => job.row.tasks_would_be),
    jobs_overloaded: scaled.filter((job) => job.replicas.utilization > 0.8).length,
    windows_day: total((job) => job.replicas.windows_day), overloaded_windows_day: total((job) => job.replicas.overloaded_windows_day),
    jobs_held: { not_measured: scaled.filter((job) => job.replicas.held?.cause === 'not_measured').length, no_number: scaled.filter((job) => job.replicas.held?.cause === 'no_number').length },
  };
}

export function fleetNow(jobs, now, actuator) {
  return {
    time: jobs.length ? now : null, machine: MACHINE, jobs: jobs.length, tasks: jobs.reduce((n, job) => n + job.row.tasks, 0),
    whole_machines: 0, jobs_by_mode: countModes(jobs), cpu: totals(jobs, 'cpu'), memory: totals(jobs, 'memory'),
    saving_per_month: (({ saved, would_save }) => ({ currency: 'EUR', saved, would_save }))(moneyOf(totals(jobs, 'cpu'), totals(jobs, 'memory'))),
    replicas: replicaTotals(jobs),
    oom_kills_day: jobs.length ? 11 : 0, changes_day: jobs.length ? 1874 : 0, actuator,
  };
}

// The fleet's past: today's totals, bent by the hour of the day and by how many jobs were in auto by then.
export function fleetHistory(fleet, from, to, points) {
  const first = fleet.time === null ? to : Math.max(from, fleet.time - 34 * DAY);
  const step = Math.max(WINDOW, Math.ceil((to - first) / points / WINDOW) * WINDOW);
  const out = { time: [], cpu: {}, memory: {}, jobs: [], tasks: [], oom_kills: [], changes: [], jobs_by_mode: {} };
  for (const mode of MODES) out.jobs_by_mode[mode] = [];
  for (const resource of RESOURCES) out[resource] = { usage: [], owner_limit: [], limit: [], would_be: [] };
  if (fleet.time === null) return out;
  for (let time = Math.ceil(first / step) * step; time <= Math.min(to, fleet.time); time += step) {
    const ago = (fleet.time - time) / DAY;
    const covered = Math.max(0, Math.min(1, 1.06 - Math.floor(ago / 3) * 0.105));
    const size = 1 - ago * 0.0035;
    const wave = Math.sin(2 * Math.PI * (time / DAY - 0.35));
    out.time.push(time);
    for (const resource of RESOURCES) {
      const now = fleet[resource];
      const jitter = 1 + 0.008 * normal(resource, time);
      const nowWave = Math.sin(2 * Math.PI * (fleet.time / DAY - 0.35));
      const bend = resource === 'cpu' ? 0.32 : 0.06;
      out[resource].usage.push(now.usage * size * jitter * (1 + bend * wave) / (1 + bend * nowWave));
      out[resource].owner_limit.push(now.owner_limit * size);
      out[resource].limit.push((now.owner_limit - now.saved * Math.min(1, covered)) * size);
      out[resource].would_be.push(now.would_be * size * (1 + 0.012 * Math.sin(time / DAY * 1.7)));
    }
    out.jobs.push(Math.round(fleet.jobs * size));
    out.tasks.push(Math.round(fleet.tasks * size));
    const busy = step / 3600;
    out.oom_kills.push(Math.floor(unit('oom', time) * unit('oomb', time) * 1.9 * busy));
    out.changes.push(Math.round((40 + 60 * unit('chg', time) + 30 * wave) * busy * covered));
    const auto = Math.round(fleet.jobs_by_mode.auto * Math.min(1, covered) * size);
    const total = Math.round(fleet.jobs * size);
    const off = Math.round(fleet.jobs_by_mode.off * size);
    const canary = Math.round(fleet.jobs_by_mode.canary * size);
    for (const [mode, value] of Object.entries({ off, canary, auto, observe: total - off - canary - auto })) out.jobs_by_mode[mode].push(value);
  }
  return out;
}
