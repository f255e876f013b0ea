// Quota of three groups, and requests for it.
const GiB = 2 ** 30;
const STATES = ['queued', 'admitted', 'running'];

const row = (group, cohort, tier, resource, quota, in_use, available) => ({ group, cohort, tier, resource, quota, in_use, borrowed: Math.max(0, in_use - quota), over_quota: 0, available, at_most: 96 });
// Two weeks in which 95 % of the hours had what is in use, and 2 more at the peak.
const known = (of, recommended) => ({ ...of, history: { hours: 336, in_use_p95: of.in_use, in_use_peak: of.in_use + 2, usage_p95: of.in_use / 2, usage_peak: of.in_use / 2 + 1, ...(recommended === undefined ? {} : { recommended }), reason: `In 95 % of 336 hours at most ${of.in_use} cores were in use, at the peak ${of.in_use + 2} cores. The quota is for these hours; in the others the group can borrow.` } });

export function quotaState(world) {
  const busy = world.jobs.length > 0;
  return {
    measured: busy ? world.now : null, silent: false, queued: 1, open: 2,
    warnings: busy ? ['"media" uses 18 cores of cpu in tier "production", 2 cores more than it may.'] : [],
    rows: [
      row('pool', true, 'production', 'cpu', 64, 57, 7), row('pool', true, 'production', 'memory', 256 * GiB, 190 * GiB, 66 * GiB),
      known(row('shop', false, 'production', 'cpu', 40, 31, 7), 31), row('shop', false, 'production', 'memory', 160 * GiB, 120 * GiB, 40 * GiB),
      known(row('media', false, 'production', 'cpu', 16, 18, 0)), row('data', false, 'batch', 'cpu', 24, 8, 16),
    ],
    uncovered: busy ? [{ group: 'lab', tier: 'production', jobs: 3, first_job: world.jobs[0].row.name, requests: 0, amounts: { cpu: 1.5, memory: 3 * GiB } }] : [],
  };
}

function requestOf(world, id) {
  const state = id <= 3 ? STATES[id - 1] : 'ended';
  return {
    id, state, end: state === 'ended' ? (id % 2 === 0 ? 'refused' : 'finished') : '', group: id % 2 === 0 ? 'shop' : 'media', tier: 'production', job: id % 3 === 0 ? '' : `shop/deployment/web-${id}`,
    tasks: 2 * id, per_task: { cpu: 1.5, memory: 4 * GiB }, priority: 0, duration: id % 3 === 0 ? 7200 : null, asked: world.now - 600 * id, since: world.now - 300 * id,
    admitted: state === 'admitted' || state === 'running' ? world.now - 500 * id : null, who: 'anna',
    reason: state === 'queued' ? `"media" has 0 cores left of the ${3 * id} cores asked for: its quota is 16 cores; in use: 18 cores.` : 'admitted within the group\'s own quota.',
  };
}

export function quotaAnswer(world, method, id, query) {
  if (id !== undefined || method === 'POST') return requestOf(world, Number(id ?? 2));
  const all = Array.from({ length: 8 }, (_, i) => requestOf(world, 8 - i));
  return { requests: all.filter((r) => (query.get('ended') !== 'false' || r.state !== 'ended') && (!query.get('state') || r.state === query.get('state'))) };
}

export const admission = (query) => ({
  outcome: 'queued', explanation: `For "${query.get('group')}": queued. "media" has 0 cores left of the 2 cores asked for: its quota is 16 cores; in use: 18 cores.`, asked: { cpu: 2 }, borrowed: [],
  reasons: [{ resource: 'cpu', level: 'media', asked: 2, available: 0, never: false, sentence: '"media" has 0 cores left.' }], fitting_tasks: 0, fitting: { memory: 4 * GiB }, other_tiers: ['batch'], reclaimable: false, probably_at: Math.floor(Date.now() / 1000) + 3600,
});
