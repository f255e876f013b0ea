// Reasons and what-if answers that read like the real ones.
import { DAY, WINDOW, peakAt } from './fleet.mjs';
import { limitsAt } from './jobs.mjs';
import { RECOMMENDERS, initialKnobs } from './recommenders.mjs';

const NBSP = '\u00a0';
export function amount(resource, value) {
  if (value === null) return 'no limit';
  if (resource === 'cpu') return value < 0.0995 ? `${Math.round(value * 1000)}${NBSP}mcores` : `${value.toFixed(2)}${NBSP}cores`;
  return value >= 2 ** 30 ? `${(value / 2 ** 30).toFixed(2)}${NBSP}GiB` : `${Math.round(value / 2 ** 20)}${NBSP}MiB`;
}

export function reasonOf(job, resource, target) {
  const similar = 180 + job.number % 400;
  const rises = [0.94, 1, 1.03, 1.07, 1.12, 1.18, 1.27, 1.4, 1.62];
  const peak = target / 1.1;
  const chosen = 3;
  const cost = (rise) => target * (0.6 + rise * 0.42 + 0.9 * Math.exp(-(rise - 0.9) * 14));
  return {
    recommender: job.row[resource].recommender,
    sentence: `Of ${similar} job-days that looked like this one, ${Math.round(similar * 0.031)} rose above ${amount(resource, peak * rises[chosen])} `
      + `on the next day; a higher limit would cost more than the overruns it avoids.`,
    facts: [
      { name: 'windows seen', value: 2016, unit: '' }, { name: 'peak of 7 days', value: peak, unit: resource === 'cpu' ? 'cores' : 'bytes' },
      { name: 'similar job-days', value: similar, unit: '' }, { name: 'share of OOM-days ordered', value: 0.03, unit: '' },
      { name: 'oldest window', value: 14 * DAY, unit: 's' }, { name: 'workload class', value: job.shape.batch ? 'batch' : 'serving', unit: '' },
    ],
    cost_unit: resource === 'cpu' ? 'core-days' : 'byte-days',
    candidates: rises.map((rise, i) => ({
      name: `${rise.toFixed(2)} × the week's peak`, limit: peak * rise, cost: i === chosen ? cost(rise) * 0.97 : cost(rise),
      detail: `${Math.round(similar * 0.22 * Math.exp(-(rise - 0.9) * 12))} of ${similar} above it`, chosen: i === chosen,
    })),
    steps: [
      { what: "peak of the week's windows", before: peak, after: peak },
      { what: 'rise of similar job-days', before: peak, after: peak * rises[chosen] },
      { what: 'margin 2.8 %', before: peak * rises[chosen], after: target },
      { what: 'highest of the last hour', before: target, after: target },
    ],
  };
}

export function explain(job, resource) {
  const a = job.row[resource];
  const reason = reasonOf(job, resource, a.would_be ?? a.owner_limit ?? a.usage * 2);
  const force = job.row.mode === 'auto' ? `It is in force since the last change.`
    : `The job is in mode ${job.row.mode}, so ${a.limit === null ? 'no limit is' : amount(resource, a.limit) + ' stays'} in force.`;
  const paragraph = a.would_be === null ? 'The job is in mode off: it is measured, and nothing is recommended.'
    : `${job.row[resource].recommender} recommends ${amount(resource, a.would_be)} of ${resource === 'cpu' ? 'CPU' : 'memory'} for each task; the owner set `
      + `${amount(resource, a.owner_limit)}. ${reason.sentence} ${force}`;
  return { would_be: a.would_be, limit: a.limit, ordered: a.ordered, applied: a.applied, owner_limit: a.owner_limit, chance: a.chance, days: a.days, days_over: a.days_over, work_over: a.work_over, work_ordered: a.work_ordered, of: a.of, enforced: job.row.enforced, provisional: a.provisional, provisional_limit: a.provisional_limit, first_recommendation_at: a.first_recommendation_at, paragraph,
    reason: a.would_be === null ? { recommender: '', sentence: '', facts: [], cost_unit: '', candidates: [], steps: [] } : reason };
}


function lane(job, resource, settings, time, peaks, owner) {
  const name = settings.recommender;
  const windowsOf = { peak: settings.peak_days, vpa: 8, moving_window: 3, ensemble: 5, analogs: 7 }[name] ?? 7;
  const factor = { peak: 1.15, vpa: 1.25, moving_window: 1 + 0.12 * settings.margin_scale, ensemble: 0.6 + 0.12 * Math.log10(1 + settings.w_over),
    analogs: 0.86 - 0.09 * Math.log10(settings.oom_days) }[name] ?? 1;
  const limit = [];
  let changes = 0;
  let over = 0;
  let current = null;
  const daysOver = new Set();
  for (let i = 0; i < time.length; ++i) {
    if (name === 'static') current = owner;
    else if (i % 96 === 0 || current === null) {
      const first = Math.max(0, i - Math.round(windowsOf * 96));
      const seen = i === 0 ? peaks.slice(0, 24) : peaks.slice(first, i);
      const sorted = [...seen].sort((x, y) => x - y);
      const base = name === 'vpa' || name === 'moving_window' ? sorted[Math.floor(0.97 * (sorted.length - 1))] : sorted[sorted.length - 1];
      let next = base * factor;
      if (settings.upper) next = Math.min(next, settings.upper);
      if (settings.lower) next = Math.max(next, settings.lower);
      if (current === null || Math.abs(next / current - 1) > 0.03) {
        changes += current === null ? 0 : 1;
        current = next;
      }
    }
    limit.push(current);
    if (current !== null && peaks[i] > current) {
      ++over;
      daysOver.add(Math.floor(time[i] / DAY));
    }
  }
  const mean = limit[0] === null || limit.length === 0 ? null : limit.reduce((x, y) => x + y, 0) / limit.length;
  return { recommender: name, mean_limit: mean, windows: time.length, windows_over: over, days: settings.days, days_over: daysOver.size, changes,
    saved_share: owner === null || mean === null ? null : 1 - mean / owner, limit };
}

export function whatIf(job, resource, request, now) {
  const started = performance.now();
  const asked = { recommender: job.row[resource].recommender, days: 14, ...initialKnobs, ...Object.fromEntries(Object.entries(request).filter(([, v]) => v !== null)) };
  const names = RECOMMENDERS.map((r) => r.name);
  if (!names.includes(asked.recommender)) {
    throw Object.assign(new Error(`recommender: no recommender "${asked.recommender}"; there are ${names.join(', ')}`), { status: 400 });
  }
  if (asked.upper && asked.lower && asked.upper < asked.lower) {
    throw Object.assign(new Error('upper: below lower; make it higher or leave it out'), { status: 400 });
  }
  const step = 3 * WINDOW;
  const time = [];
  for (let t = now - asked.days * DAY; t < now; t += step) time.push(t);
  const peaks = time.map((t) => Math.max(peakAt(job, resource, t), peakAt(job, resource, t + WINDOW), peakAt(job, resource, t + 2 * WINDOW)));
  const owner = limitsAt(job, resource, now, now).owner_limit;
  return {
    resource, oom_kills: resource === 'memory' ? job.row.ooms : 0, time, usage_peak: peaks, owner_limit: time.map(() => owner),
    now: lane(job, resource, { ...initialKnobs, recommender: job.row[resource].recommender, days: asked.days }, time, peaks, owner),
    whatif: lane(job, resource, asked, time, peaks, owner),
    milliseconds: Math.round((performance.now() - started) * 10) / 10,
  };
}
