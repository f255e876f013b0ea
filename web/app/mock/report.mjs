// The page of the replay report with made-up data, as `taut replay --report` writes it.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PAGE = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist-report', 'report.html');
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-';
const POLICIES = ['static', 'peak', 'vpa', 'moving_window', 'ensemble', 'analogs'];
const RESOURCES = ['memory', 'cpu'];
const wave = (i) => 1 + 0.3 * Math.sin(i * 0.7);

function laneOf(policy, resource, { jobs, days, owners }) {
  const k = 1 - 0.08 * POLICIES.indexOf(policy);
  const all = Array.from({ length: jobs }, (_, i) => i);
  const owner = owners ? all.map((i) => 2 + (i % 7)) : all.map(() => 0);
  const limit = all.map((i) => (2 + (i % 7)) * k);
  const total = (values) => values.reduce((a, b) => a + b, 0);
  const each = (value) => Array.from({ length: days }, (_, d) => value(d));
  return {
    policy, resource,
    sum: { job_days: jobs * (days - 7), slack_mean: 0.3 * k, slack_median: 0.28 * k, limit: total(limit), limit_owned: total(limit), owner: total(owner),
      usage: 0.4 * total(limit), of_owner: owners ? k : null, of_usage: 2.5 * k, oom_days: jobs, oom_day_share: 0.01 + 0.03 * (1 - k), serious_share: 0.002,
      ooms_per_task_day: 0.05, changes_mean: 1 - k, changes_p99: 4, unchanged_share: 0.8, windows_over_share: 0.001, usage_over_share: 0.0004, unlimited_windows: 0 },
    slack_quantiles: Array.from({ length: 101 }, (_, i) => Math.round(1e4 * (-0.1 + 0.9 * k * (i / 100) ** 0.8)) / 1e4),
    fleet: { day: each((d) => 15887 + d), limit: each((d) => total(limit) * wave(d)), owner: each(() => total(owner)), usage: each((d) => 0.4 * total(limit) * wave(d)),
      job_days: each(() => jobs), oom_days: each((d) => (d % 3)) },
    jobs: { job_days: all.map(() => days - 7), limit, limit_owned: owners ? limit : all.map(() => 0), owner, slack: all.map((i) => 0.1 + (i % 5) / 10),
      oom_days: all.map((i) => i % 4), changes: all.map((i) => (i % 6) / 5) },
  };
}

function storyOf(number, resource, days) {
  const columns = days * 24;
  const heat = Array.from({ length: columns }, (_, i) => {
    if (i > 50 && i < 60) return '';
    const bucket = Math.round(300 + 8 * Math.sin(i / 4));
    return DIGITS[bucket >> 6] + DIGITS[bucket & 63] + '9-z.Fa';
  });
  const reason = { recommender: 'x', sentence: 'Of 412 job-days that looked most like this one, 9 peaked above this limit.', cost_unit: 'byte-days',
    facts: [{ name: 'half-life', value: 172800, unit: 's' }, { name: 'forecast', value: 'analogs', unit: '' }],
    candidates: Array.from({ length: 18 }, (_, i) => ({ name: `candidate ${i}`, limit: 2 ** 30 * (1 + i / 20), cost: 2 ** 30 * (1 + Math.abs(9 - i)), detail: `${i} held`, chosen: i === 9 })),
    steps: [{ what: 'forecast of the peak', before: 2 ** 30, after: 2 ** 30 }, { what: 'margin 12 %', before: 2 ** 30, after: 1.12 * 2 ** 30 }] };
  return { job: `vm-00${number + 1}`, resource, why: number === 0 ? 'largest saving' : 'many OOM-days', t0: 15887 * 86400, dt: 3600, heat,
    peak: heat.map((text) => (text === '' ? null : 1.5)),
    lines: POLICIES.map((policy, i) => ({ policy, t: [15887 * 288, 288, 288], v: [8, 8 - i / 2, i === 1 ? null : 7 - i / 2], ooms: i > 1 ? [15887 * 288 + 700, 300] : [] })),
    reasons: POLICIES.map(() => reason) };
}

// options: jobs, days (at least 8), owners, unix, stories of each resource
export function reportData(options = {}) {
  const { jobs = 30, days = 20, owners = true, unix = true, stories = 2 } = options;
  return {
    title: 'Replay of cell.csv.gz', command: 'taut replay cell.csv.gz --report report.html', unix, notes: ['Warm-up: 7 days.'], shown_first: 'analogs',
    first_day: 15887, last_day: 15887 + days - 1, first_scored_day: 15894, days_done: days, days_total: days, partial: false, job_windows: 1e6, state_bytes_per_job: 9814,
    grids: { memory: { first: 2 ** -6, per_octave: 14, size: 700 }, cpu: { first: 2 ** -6, per_octave: 14, size: 700 } },
    policies: POLICIES.map((name) => ({ name, what: `what ${name} does` })),
    jobs: Array.from({ length: jobs }, (_, i) => `vm-${String(i + 1).padStart(3, '0')}`),
    lanes: POLICIES.flatMap((policy) => RESOURCES.map((resource) => laneOf(policy, resource, { jobs, days, owners }))),
    stories: RESOURCES.flatMap((resource) => Array.from({ length: stories }, (_, i) => storyOf(i, resource, days))),
  };
}

export function reportPage(data) {
  return readFileSync(PAGE, 'utf8').replace('{{data}}', () => JSON.stringify(data).replaceAll('<', '\\u003c'));
}
