// Node agents of a simulated cell: most are connected, one is disconnected, one observes. And the machines that they are on.
import { unit } from './random.mjs';

const SIZES = [[8, 32], [16, 64], [64, 256]];

function agentOf(number, started) {
  const [cores, gib] = SIZES[Math.floor(unit(number, 'size') * SIZES.length)];
  const away = number === 3;
  const tasks = Math.round(cores * (1 + 3 * unit(number, 'tasks')));
  return {
    name: `node-${String(number).padStart(3, '0')}`, host: `node-${String(number).padStart(3, '0')}.cell.example`, version: '0.2.0-mock',
    hands: number % 2 ? 'cgroup v2' : 'cgroup v1, Docker 20.10.24', connected: !away, observes: number === 5, cores, memory_bytes: gib * 2 ** 30,
    tasks, managed_tasks: Math.round(tasks * 0.8), heard_seconds_ago: away ? Math.round(Date.now() / 1000 - started + 1290) : Math.round(100 * unit(number, 'heard')) / 10,
    queued_bytes: away ? 734003 : 0, dropped_messages: away ? 12 : 0, cpu_share_cores: 0.002 + 0.0001 * tasks, resident_bytes: Math.round((9 + 0.02 * tasks) * 2 ** 20),
    windows: away ? 811 : 864, oom_kills: number % 4 === 0 ? 2 : 0, applied: tasks * 5, failed: number === 4 ? 3 : 0, not_believed: number === 6 ? 4 : 0,
    failures: number !== 4 ? [] : [0, 1, 2].map((i) => ({ time: started - 600 * (3 - i), decision: 100 + i, job: 'shop/web-eu-1', task: `web-eu-1-${i}`, resource: 'memory',
      text: 'write memory.max: Device or resource busy' })),
  };
}

// `agents`: how many; null: agent connections are disabled.
export function agentPage(agents, started) {
  return { enabled: agents !== null, refused: !agents ? [] : [{ time: started - 7200, name: 'node-001', host: '10.0.0.77', why: 'another agent of this name is connected' }],
    agents: Array.from({ length: agents ?? 0 }, (_, i) => agentOf(i + 1, started)) };
}

// What guards of memory did: one machine was short of memory.
export function tierActPage(world, query) {
  const agents = agentPage(world.agents, world.started).agents, job = world.jobs[1]?.row.name;
  const machine = agents[1]?.name;
  if (!machine || !job) return { acts: [] };
  const act = (kind, ago, text, high = null) => ({ time: world.now - ago, machine, job, task: `${machine}/1`, tier: 'batch', kind, observed: false, usage: 3.1e9, request: 1e9, high,
    free: 4e8, total: 1.6e10, pressure_some: 0.31, pressure_full: 0.08, text });
  const acts = [act('release', 100, 'free 6.0 GiB of 14.9 GiB for 30 s'), act('kill', 400, 'free 381 MiB of 14.9 GiB is below 763 MiB; batch task uses 2.9 GiB, 1.9 GiB over its request of 954 MiB'),
    act('throttle', 410, 'free 1.1 GiB of 14.9 GiB is below 1.5 GiB', 2.8e9)];
  return { acts: acts.filter((a) => !query.get('job') || a.job === query.get('job')).filter((a) => !query.get('machine') || a.machine === query.get('machine'))
    .slice(0, Number(query.get('limit') ?? 100)) };
}

const FIGURES = ['capacity', 'limits', 'reservations', 'usage', 'predicted', 'reclaimable', 'reclaimable_now'];
const NONE = { capacity: null, limits: null, without_limit: 0, measured_tasks: 0, reservations: null, usage: null, predicted: null, learnt: false, reclaimable: null, reclaimable_now: null };

function amountsOf(agent, resource, number) {
  const capacity = resource === 'cpu' ? agent.cores : agent.memory_bytes;
  const promises = { judged: 40 + number, passed: number % 4 === 1 ? 1 : 0 };
  if (!agent.connected) return { ...NONE, capacity, why: 'its source does not have the machine now', promises };
  const limits = capacity * (0.7 + 0.7 * unit(number, resource));
  if (number === 7) return { ...NONE, capacity, limits, measured_tasks: 3, why: `3 of ${agent.tasks} tasks were measured, with less than half of the limits`, promises };
  const usage = limits * (0.25 + 0.2 * unit(number, resource + 'use'));
  const learnt = number !== 2;
  const reservations = usage * 1.2, predicted = learnt ? Math.min(limits, usage * (1.3 + 0.3 * unit(number, 'peak'))) : limits;
  return { capacity, limits, without_limit: number === 8 ? 2 : 0, measured_tasks: agent.tasks, reservations, usage, predicted, learnt, reclaimable: Math.max(0, capacity - predicted),
    reclaimable_now: limits - reservations, why: '', promises };
}

function machineOf(agent, number, now) {
  return { name: agent.name, source: number % 3 === 2 ? 'kubernetes' : 'agents', also_in: number === 6 ? ['kubernetes'] : [], present: agent.connected, ready: agent.connected, seen: agent.connected ? now : now - 7200,
    tasks: agent.connected ? agent.tasks : 0, cpu: amountsOf(agent, 'cpu', number), memory: amountsOf(agent, 'memory', number) };
}

function sums(machines, resource) {
  const of = (key) => { const known = machines.map((m) => m[resource][key]).filter((v) => v !== null); return known.length > 0 ? known.reduce((a, b) => a + b, 0) : null; };
  const n = (fits) => machines.filter((m) => fits(m[resource])).length;
  return { ...Object.fromEntries(FIGURES.map((key) => [key, of(key)])), measured_machines: n((a) => a.usage !== null), predicted_machines: n((a) => a.predicted !== null), learnt_machines: n((a) => a.learnt) };
}

const HEAD = { risk: 0.01, horizon_seconds: 86400 };

// A page of the machines; with a name one of them.
export function machineAnswer(world, name, query) {
  const { enabled, agents } = agentPage(world.agents, world.started);
  const all = agents.map((agent, i) => machineOf(agent, i + 1, world.now));
  const window_end = world.jobs.length > 0 && enabled ? world.now : null;
  if (name !== undefined) {
    const machine = all.find((m) => m.name === decodeURIComponent(name)) ?? all[0];
    const reason = (resource) => ({ recommender: 'pool', sentence: `The mean of 3 forecasts: above each were 0.9 % of 400 machine-days of the cell; ordered are 1 %.`, facts: [], candidates: [], cost_unit: '', steps: [], limit: machine[resource].predicted ?? undefined });
    const task = (i) => ({ job: world.jobs[i % world.jobs.length].row.name, task: `task-${i}`, cpu: { limit: 2, reservation: 0.9, usage: i === 1 ? null : 0.6 }, memory: { limit: i === 2 ? null : 2 ** 31, reservation: 2 ** 30, usage: 9e8 } });
    const { limit: _, ...plain } = reason('cpu');
    return { window_end, ...HEAD, ...machine, explanation: [`CPU: the machine has ${machine.cpu.capacity} cores. ${plain.sentence}`, 'Memory: the machine is as its tasks are.'], forecasts: { cpu: plain, memory: plain },
      task_list: Array.from({ length: machine.tasks }, (_, i) => task(i)) };
  }
  const words = (query.get('search') ?? '').toLowerCase().split(' ').filter(Boolean);
  const fits = all.filter((m) => words.every((w) => `${m.name} ${m.source}`.includes(w)) && (!query.get('source') || m.source === query.get('source')));
  const sort = query.get('sort') || 'name';
  const [resource, ...rest] = sort.split('_');
  const value = (m) => (sort === 'tasks' ? m.tasks : m[resource]?.[rest.join('_')]) ?? -1;
  if (sort !== 'name') fits.sort((a, b) => value(b) - value(a));
  const offset = Number(query.get('offset') ?? 0);
  return { enabled, window_end, ...HEAD, total: fits.length, offset,
    totals: ['agents', 'kubernetes'].map((source) => ({ source, of: all.filter((m) => m.source === source) })).filter(({ of }) => of.length > 0)
      .map(({ source, of }) => ({ source, machines: of.length, present: of.filter((m) => m.present).length, tasks: of.reduce((n, m) => n + m.tasks, 0), cpu: sums(of, 'cpu'), memory: sums(of, 'memory') })),
    delivered: { days: 90, cpu: { promises: { judged: 40 * all.length, passed: Math.floor(all.length / 4) } }, memory: { promises: { judged: 0, passed: 0 } } },
    machines: fits.slice(offset, offset + Number(query.get('limit') ?? 100)) };
}
