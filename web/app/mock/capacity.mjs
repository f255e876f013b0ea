// Capacity of a simulated cell: a production with a daily season, a batch below it, and promises of what is left. Without agents the
// capacity is not known.
import { unit } from './random.mjs';

const HOUR = 3600, DAY = 24 * HOUR;
const HORIZONS = { hour: HOUR, day: DAY, month: 30 * DAY, quarter: 90 * DAY };
const LINES = ['capacity', 'reservation', 'allocation', 'usage', 'usage_peak', 'forecast'];
const TIERS = [
  { name: 'monitoring', sale: 'reserved', availability: 0.9999, risk: 'Never reclaimed: it is sold against the capacity itself.' },
  { name: 'production', sale: 'reserved', availability: 0.9999, risk: 'Never reclaimed: it is sold against the capacity itself.' },
  { name: 'mid', sale: 'slack', availability: 0.99, risk: 'In about 1 of 100 hours less than the amount is available, and tasks of this tier are reclaimed.' },
  { name: 'batch', sale: 'slack', availability: 0.98, risk: 'In about 2 of 100 hours less than the amount is available, and tasks of this tier are reclaimed.' },
  { name: 'free', sale: 'spare', availability: 0, risk: 'No promise: it runs in what is unused, and may be reclaimed at any time.' },
];
const WHY = 'The capacity of the cell is not known, so nothing can be said of what can be sold. Let node agents connect (agents.listen), read a cluster '
  + '(kubernetes.kubeconfig), or state the size of the pool in the price file (prices.file, `pool: {cores: 800, memory: 4TiB}`).';

const scaleOf = (resource) => (resource === 'cpu' ? 1000 : 4 * 2 ** 40);

function lineAt(line, resource, time, known) {
  const hour = Math.floor(time / HOUR);
  const season = 0.5 + 0.12 * Math.sin((2 * Math.PI * (hour % 24 - 8)) / 24) + 0.03 * unit(hour, resource);
  const share = { capacity: unit(Math.floor(hour / 24), 'nodes') < 0.1 ? 0.95 : 1, reservation: 0.9, allocation: 0.72 + 0.02 * unit(hour, 'asked'), usage: season * 0.8, usage_peak: season * 0.9, forecast: 0.63 }[line];
  if (!known && (line === 'capacity' || line === 'forecast')) return null;
  return hour % 97 === 13 ? null : share * scaleOf(resource);
}

function keptOf(promises, missed, promise) {
  const share = 1 - missed / Math.max(1, promises);
  if (promises === 0) return { promises, promises_kept: 0, unmeasured: 0, hours: 0, missed_hours: 0, kept_share: null, kept_share_low: null, kept_share_high: null, verdict: 'undecided' };
  return { promises, promises_kept: promises - missed, unmeasured: 1, hours: promises, missed_hours: missed, kept_share: share, kept_share_low: Math.max(0, share - 0.012), kept_share_high: Math.min(1, share + 0.008),
    verdict: share - 0.012 >= promise ? 'kept' : share + 0.008 < promise ? 'broken' : 'undecided' };
}

function offersOf(now, known) {
  const out = [];
  for (const tier of TIERS.filter((t) => t.sale !== 'spare')) {
    for (const horizon of tier.sale === 'reserved' ? [null] : Object.keys(HORIZONS)) {
      for (const resource of ['cpu', 'memory']) {
        const scale = scaleOf(resource);
        const early = horizon === 'quarter';
        const share = tier.sale === 'reserved' ? 0.4 : { hour: 0.42, day: 0.36, month: 0.31 }[horizon] - (tier.name === 'batch' ? 0 : 0.04);
        const sellable = known && !early ? share * scale : null;
        const sold = (tier.name === 'batch' ? 0.12 : 0.2) * scale;
        const kept = horizon === 'hour' ? keptOf(336, tier.name === 'batch' ? 6 : 2, tier.availability) : horizon === 'day' ? keptOf(40, 3, tier.availability) : keptOf(0, 0, tier.availability);
        out.push({
          tier: tier.name, resource, horizon, horizon_seconds: horizon === null ? null : HORIZONS[horizon], promise: tier.availability, sellable, sold,
          left: sellable === null ? null : Math.max(0, sellable - sold), oversold: sellable === null ? null : Math.max(0, sold - sellable), ready: known && early ? now + 40 * DAY : null,
          text: !known ? WHY : early ? 'History is too short: one day and then 90 days are needed. At the earliest from 2026-01-05 00:00 on.' : 'The higher tiers are expected to use up to 58 % of the capacity, by 1,200 hours of history.',
          kept: known ? kept : keptOf(0, 0, 1),
        });
      }
    }
  }
  return out;
}

function promisesOf(now, known) {
  if (!known) return [];
  return ['mid', 'batch'].flatMap((tier) => ['hour', 'day'].flatMap((horizon) => ['cpu', 'memory'].flatMap((resource) => Array.from({ length: 6 }, (_, i) => {
    const seconds = HORIZONS[horizon], start = (Math.floor(now / seconds) - i) * seconds;
    const hours = i === 0 ? Math.floor((now - start) / HOUR) : seconds / HOUR, missed = i === 3 && tier === 'batch' ? 1 : 0;
    const promised = (0.36 - i / 100) * scaleOf(resource);
    return { tier, resource, horizon, horizon_seconds: seconds, promise: tier === 'mid' ? 0.99 : 0.98, start, end: start + seconds, amount: promised, state: i === 0 ? 'open' : missed > 0 ? 'missed' : i === 5 ? 'unmeasured' : 'kept',
      hours: i === 5 ? 0 : hours, missed_hours: missed, lowest: i === 5 || hours === 0 ? null : promised * (missed > 0 ? 0.93 : 1.06) };
  }))));
}

export function capacityPage(world, query) {
  const none = world.jobs.length === 0, known = !none && world.agents !== null;
  const to = Number(query.get('to') ?? world.now), from = Number(query.get('from') ?? to - 7 * DAY);
  const resolution = Number(query.get('resolution') ?? Math.max(1, Math.ceil((to - from) / HOUR / 500)) * HOUR);
  const first = Math.max(from, world.now - 50 * DAY);
  const time = [];
  for (let at = Math.floor(first / resolution) * resolution; at < to && !none; at += resolution) time.push(at);
  const columns = (resource) => Object.fromEntries(LINES.map((line) => [line, time.map((at) => lineAt(line, resource, at, known))]));
  const hours = known ? 1200 : 0;
  return {
    window_end: none ? null : world.now, source: known ? 'machines' : 'none', why: none ? 'No window has closed yet: capacity and usage are known after 5 minutes.' : known ? '' : WHY,
    note: '', kept_days: 100, first: none ? null : world.now - 50 * DAY, measured_hours: { cpu: hours, memory: hours }, resolution, time, cpu: columns('cpu'), memory: columns('memory'),
    tiers: TIERS, offers: none ? [] : offersOf(world.now, known), promises: promisesOf(world.now, known),
  };
}
