// What the jobs cost, as if they had always been as they are now, bent by the day of the week.
import { DAY, RESOURCES, summedOnce } from './fleet.mjs';

const PRICE = { cpu: 0.02, memory: 0.003 };
const UNIT = { cpu: 1, memory: 2 ** 30 };
const KEYS = ['usage', 'allocation', 'billed', 'owner', 'would_be'];

const zero = () => Object.fromEntries(RESOURCES.map((r) => [r, { ...Object.fromEntries(KEYS.map((key) => [key, 0])), without: 0, windows: 0 }]));

// Amounts of one hour.
function hourOf(job) {
  return Object.fromEntries(RESOURCES.map((r) => {
    const a = job.row[r];
    const all = (value) => value * job.row.tasks / UNIT[r];
    const allocation = a.limit === null ? 0 : all(a.limit);
    const owner = a.owner_limit === null ? allocation : all(a.owner_limit);
    return [r, { usage: all(a.usage), allocation, billed: Math.max(all(a.usage), allocation), owner, would_be: a.owner_limit === null || a.would_be === null ? owner : all(a.would_be), without: a.limit === null ? 1 : 0, windows: 1 }];
  }));
}

function add(to, from, factor) {
  for (const r of RESOURCES) for (const key of Object.keys(to[r])) to[r][key] += from[r][key] * (key === 'windows' || key === 'without' ? 1 : factor);
}

function sums(of) {
  const hours = Object.fromEntries(RESOURCES.map((r) => [r, { ...Object.fromEntries(KEYS.map((key) => [key, of[r][key]])), without_allocation: of[r].windows > 0 ? of[r].without / of[r].windows : null }]));
  const money = (key) => RESOURCES.reduce((sum, r) => sum + PRICE[r] * of[r][key], 0);
  const cost = Object.fromEntries(KEYS.map((key) => [key, money(key)]));
  return { ...hours, cost: { ...cost, idle: cost.billed - cost.usage, saved: cost.owner - cost.allocation, would_save: cost.owner - cost.would_be } };
}

// The amounts of an hour, of all jobs and by group: {total, groups: [{value, jobs, of}]}.
const hoursBy = summedOnce((jobs, by) => {
  const total = zero();
  const groups = new Map();
  for (const job of jobs) {
    const of = hourOf(job);
    const value = by === ':job' ? job.row.name : job.labels[by] ?? null;
    if (!groups.has(value)) groups.set(value, { jobs: 0, of: zero() });
    const group = groups.get(value);
    ++group.jobs;
    add(group.of, of, 1);
    add(total, of, 1);
  }
  const billed = (group) => RESOURCES.reduce((sum, r) => sum + PRICE[r] * group.of[r].billed, 0);
  const sorted = [...groups].map(([value, group]) => ({ value, ...group, billed: billed(group) }))
    .sort((a, b) => Number(a.value === null) - Number(b.value === null) || b.billed - a.billed);
  return { total, groups: sorted };
});

const times = (of, factor) => { const product = zero(); add(product, of, factor); return product; };

// The period that is asked for, its steps, and what all jobs cost in it.
export function costTotal(world, query) {
  const step = query.get('step') === 'hour' ? 3600 : DAY;
  const to = Math.ceil(Number(query.get('to') ?? world.now) / 300) * 300;
  const from = Math.floor(Number(query.get('from') ?? to - 7 * DAY) / DAY) * DAY;
  const steps = [];
  for (let time = from; time < Math.min(to, world.now); time += step) steps.push({ time, hours: (Math.min(time + step, to) - time) / 3600 * (0.9 + 0.1 * Math.sin(time / DAY)) });
  const hours = steps.reduce((sum, s) => sum + s.hours, 0);
  return { from, to, steps, hours, total: sums(times(hoursBy(world.jobs, '').total, hours)) };
}

export function costPage(world, query) {
  const labels = [...new Set(world.jobs.flatMap((job) => Object.keys(job.labels)))].sort();
  const by = query.get('by') || (labels.includes('namespace') ? 'namespace' : ':job');
  if (by !== ':job' && world.jobs.length > 0 && !labels.includes(by)) throw Object.assign(new Error(`no job has a label "${by}"`), { status: 404 });
  const { from, to, steps, hours, total } = costTotal(world, query);
  const of = hoursBy(world.jobs, by);
  const groups = of.groups.slice(0, Number(query.get('limit') ?? 100)).map((group) => ({ value: group.value, jobs: group.jobs, ...sums(times(group.of, hours)) }));
  return { from, to, by, labels, currency: 'EUR', total: { jobs: world.jobs.length, ...total }, late: sums(zero()), number_of_groups: of.groups.length,
    groups, steps: world.jobs.length > 0 ? steps.map((s) => ({ time: s.time, ...sums(times(of.total, s.hours)) })) : [] };
}

// One of all jobs that is nearly spent, and one of a namespace. The period is a month with its 20th day over, whatever the date: states of
// budgets compare what is spent with a forecast, and on the last days of a calendar month the two are nearly the same.
export function budgetPage(world) {
  const day = 86400;
  const from = Math.floor(world.now / day) * day - 20 * day;
  const to = from + 30 * day;
  const { total } = costTotal(world, new URLSearchParams(`from=${from}&to=${world.now}`));
  const row = (label, value, share, factor) => {
    const spent = total.cost.billed * share;
    const forecast = spent * (to - from) / Math.max(1, world.now - from);
    return { name: label === '' ? 'all' : `${label}=${value}`, label, value, per_month: forecast * factor, spent, forecast };
  };
  return { from, to, now: world.now, currency: 'EUR', budgets: world.jobs.length > 0 ? [row('', '', 1, 0.9), row('team', 'shop', 0.2, 1.3)] : [] };
}

// The same as OpenCost has it, of all jobs together.
export function allocation(world, query) {
  const { from, to, total } = costTotal(world, query);
  const iso = (time) => new Date(time * 1000).toISOString().replace('.000Z', 'Z');
  const hours = (to - from) / 3600;
  const of = (r, unit) => ({ average: total[r].billed * unit / hours, request: total[r].allocation * unit / hours, usage: total[r].usage * unit / hours, hours: total[r].billed * unit, cost: PRICE[r] * total[r].billed, efficiency: total[r].usage / total[r].allocation });
  const cpu = of('cpu', 1);
  const ram = of('memory', 2 ** 30);
  const one = {
    name: 'all', properties: { labels: {} }, window: { start: iso(from), end: iso(to) }, start: iso(from), end: iso(to), minutes: hours * 60,
    cpuCores: cpu.average, cpuCoreRequestAverage: cpu.request, cpuCoreUsageAverage: cpu.usage, cpuCoreHours: cpu.hours, cpuCost: cpu.cost, cpuEfficiency: cpu.efficiency,
    ramBytes: ram.average, ramByteRequestAverage: ram.request, ramByteUsageAverage: ram.usage, ramByteHours: ram.hours, ramCost: ram.cost, ramEfficiency: ram.efficiency,
    totalCost: cpu.cost + ram.cost, totalEfficiency: (cpu.efficiency * cpu.cost + ram.efficiency * ram.cost) / (cpu.cost + ram.cost),
  };
  return { code: 200, status: 'success', data: [{ all: one }] };
}

// Of the namespaces, all in one tier, and in proportion what the machines cost idle.
export function billPage(world, query) {
  const now = new Date(world.now * 1000);
  const month = (offset) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset) / 1000;
  const [from, month_to] = [month(0), month(1)];
  const costs = costPage(world, new URLSearchParams(`by=team&from=${from}&to=${world.now}&limit=10000`));
  const text = (value) => value.toFixed(6).replace(/(\.\d\d\d*?)0+$/, '$1');
  const sums = (charges) => ({ charges: text(charges), credits: '0.00', idle: text(charges / 4), total: text(charges * 1.25) });
  const bill = (group) => ({ group: group.value ?? '(none)', jobs: group.jobs, ...sums(group.cost.billed),
    lines: [{ tier: 'production', resource: 'cpu', kind: 'charge', rule: 'max_request_usage', hours: group.cpu.billed, rate: '0.03', amount: text(group.cpu.billed * 0.03) }] });
  const groups = world.jobs.length > 0 ? costs.groups.map(bill) : [];
  const all = world.jobs.length > 0 ? costs.total.cost.billed : 0;
  const page = { from, to: world.now, month_to, counted_from: from, currency: 'EUR', ...sums(all), machine_cost: text(all * 1.25), platform: '0.00', windows_without_allocation: 0, price_changes: [],
    number_of_groups: groups.length, groups: groups.slice(0, Number(query.get('limit') ?? 100)) };
  return query.get('group') ? { ...page, jobs: [{ job: 'shop/web', ...sums(1) }] } : page;
}
