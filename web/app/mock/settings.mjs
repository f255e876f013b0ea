// The settings table, a job's settings, and changing them.
import { recommenderOf } from './fleet.mjs';

export const TABLE = [
  { key: 'mode', help: 'how far Tautline may go: off (measure only), observe (recommend and show), canary (try a new limit on some tasks first), auto (apply)', kind: 'choice', choices: ['off', 'observe', 'canary', 'auto'], default: 'observe' },
  { key: 'recommender', help: 'who recommends', kind: 'choice', choices: ['static', 'peak', 'vpa', 'moving_window', 'ensemble', 'analogs', 'work_function', 'combined'], default: 'combined' },
  { key: 'cpu.recommender', help: 'recommender of the CPU limit; empty: as `recommender`', kind: 'choice', choices: ['static', 'peak', 'vpa', 'moving_window', 'ensemble', 'analogs', 'work_function'], default: 'work_function' },
  { key: 'memory.recommender', help: 'recommender of the memory limit, likewise', kind: 'choice', choices: ['static', 'peak', 'vpa', 'moving_window', 'ensemble', 'analogs', 'work_function'], default: 'analogs' },
  { key: 'memory.signal', help: 'what the memory recommender learns of: usage, or probe (what tasks need as their agents have probed it, and their usage in windows in which that is not known)', kind: 'choice', choices: ['usage', 'probe'], default: 'usage' },
  { key: 'class', help: 'latency sensitivity: batch (none: CPU for the average), serving (high: CPU for the 95th percentile), serving_tolerant (some: the 90th)', kind: 'choice', choices: ['batch', 'serving', 'serving_tolerant'], default: 'serving' },
  { key: 'oom_tolerance', help: 'how well it bears OOM kills: minimal (memory for the peak), low (for the 98th percentile), intermediate (for the 60th or half the peak)', kind: 'choice', choices: ['minimal', 'low', 'intermediate'], default: 'low' },
  { key: 'cpu.lower', help: 'no CPU limit below this, cores a task; empty: none', kind: 'number', choices: [], default: '' },
  { key: 'cpu.upper', help: 'no CPU limit above this, cores a task; empty: none', kind: 'number', choices: [], default: '' },
  { key: 'memory.lower', help: 'no memory limit below this, a task; empty: none', kind: 'bytes', choices: [], default: '' },
  { key: 'memory.upper', help: 'no memory limit above this, a task; empty: none', kind: 'bytes', choices: [], default: '' },
  { key: 'min_change', help: 'changes of a limit by less than this share wait: 0.05 or 5%', kind: 'number', choices: [], default: '0.05' },
  { key: 'change_period', help: 'at most one change of a limit in so long (a raise waits a sixth of it)', kind: 'duration', choices: [], default: '6h' },
  { key: 'maintenance', help: 'when limits may change, UTC: Mon-Fri 22:00-06:00; Sun 00:00-24:00. Empty: at any time', kind: 'text', choices: [], default: '' },
  { key: 'canary.share', help: 'share of the tasks on which a new limit is tried: at least one, never all', kind: 'number', choices: [], default: '0.2' },
  { key: 'canary.duration', help: 'a trial lasts at least so long', kind: 'duration', choices: [], default: '1d' },
  { key: 'canary.min_task_windows', help: 'and until its tasks have lived so many windows of five minutes', kind: 'number', choices: [], default: '288' },
  { key: 'replicas.policy', help: "policy that sets the number of the job's tasks from its CPU load; none: the owner sets it", kind: 'choice', choices: ['none', 'static', 'autopilot', 'hpa', 'keda', 'function', 'forecast'], default: 'none' },
  { key: 'replicas.max', help: 'greatest number of tasks', kind: 'number', choices: [], default: '1000000' },
  { key: 'migrate', help: 'whether the job may be moved from observe to auto by rule', kind: 'boolean', choices: [], default: 'true' },
];

export const RULES = [
  { name: 'batch jobs', match: { tier: 'batch' }, set: { class: 'batch', oom_tolerance: 'intermediate' } },
  { name: 'databases are left alone', match: { app: 'db' }, set: { oom_tolerance: 'minimal', 'memory.lower': '1GiB', migrate: 'false' } },
  { name: 'payments only with a trial', match: { team: 'payments' }, set: { 'canary.share': '0.1', 'canary.duration': '2d' } },
  { name: 'shops change at night', match: { job: 'shop/*' }, set: { maintenance: 'Mon-Fri 22:00-06:00' } },
];

const fitsName = (pattern, name) => name.startsWith(pattern.replace(/\*$/, ''));
const fits = (rule, job) => Object.entries(rule.match).every(([key, value]) => (key === 'job' ? fitsName(value, job.row.name) : job.labels[key] === value));

export class JobSettingsStore {
  constructor(now) {
    this.own = new Map();  // job's name -> Map of key -> {value, who}
    this.changes = [];
    this.now = now;
    this.seed();
  }

  seed() {
    const past = [[3600, 'anna', 'shop/web-eu-1', 'mode', 'auto', 'canary'], [9000, 'ben', 'search/ranker-eu-1', 'memory.upper', '24GiB', ''],
      [90000, 'anna', 'shop/web-eu-1', 'mode', 'canary', 'observe'], [200000, 'carla', 'payments/db-eu-1', 'migrate', 'false', 'true']];
    past.reverse().forEach(([ago, who, job, key, value, before]) => {
      this.changes.unshift({ id: this.changes.length + 1, time: this.now() - ago, who, job, key, value, before });
    });
    this.own.set('search/ranker-eu-1', new Map([['memory.upper', { value: '24GiB', who: 'ben' }]]));
    this.own.set('payments/db-eu-1', new Map([['migrate', { value: 'false', who: 'carla' }]]));
  }

  byRules(job, row) {
    let found = { value: row.default, source: 'default' };
    RULES.forEach((rule, i) => {
      if (fits(rule, job) && rule.set[row.key] !== undefined) found = { value: rule.set[row.key], source: `rule ${i + 1}: ${rule.name}` };
    });
    if (row.key === 'mode') found = { value: job.modeByRules ??= job.row.mode, source: 'rule 5: by team' };
    return found;
  }

  of(job) {
    const own = this.own.get(job.row.name);
    const values = TABLE.map((row) => {
      const rules = this.byRules(job, row);
      const set = own?.get(row.key);
      return set ? { key: row.key, value: set.value, source: `set by ${set.who}`, by_rules: rules.value } : { key: row.key, ...rules, by_rules: rules.value };
    });
    return { values, changes: this.changes.filter((change) => change.job === job.row.name) };
  }

  // Throws with what is wrong; else returns the changes made.
  patch(job, wanted, who) {
    const errors = [];
    for (const [key, value] of Object.entries(wanted)) {
      const row = TABLE.find((candidate) => candidate.key === key);
      const wrong = !row ? 'no such setting; see /api/v1/settings' : value === '' ? '' : checkValue(row, value);
      if (wrong) errors.push({ key, error: `${key}: ${wrong}` });
    }
    if (errors.length > 0) throw Object.assign(new Error(errors.map(({ error }) => error).join('; ')), { status: 400, errors });
    const before = new Map(this.of(job).values.map((entry) => [entry.key, entry.value]));
    const own = this.own.get(job.row.name) ?? new Map();
    this.own.set(job.row.name, own);
    const made = [];
    for (const [key, value] of Object.entries(wanted)) {
      if (value === '') own.delete(key); else own.set(key, { value, who });
      made.push({ id: this.changes.length + 1, time: this.now(), who, job: job.row.name, key, value, before: before.get(key) });
      this.changes.unshift(made[made.length - 1]);
    }
    if (wanted.mode !== undefined) job.row.mode = wanted.mode || job.modeByRules;
    if (wanted.recommender) job.row.recommender = wanted.recommender;
    for (const resource of ['cpu', 'memory']) {
      const one = own.get(`${resource}.recommender`)?.value ?? recommenderOf(job.row.recommender.includes('+') ? 'combined' : job.row.recommender, resource);
      job.row[resource].recommender = one;
    }
    return made;
  }

  all(jobs) {
    return { table: TABLE, rules: RULES.map((rule) => ({ cap: {}, ...rule, jobs: jobs.filter((job) => fits(rule, job)).length })),
      changes: this.changes.slice(0, 50), config_file: '/etc/tautline/tautd.yaml' };
  }
}

function checkValue(row, value) {
  if (row.kind === 'choice' && !row.choices.includes(value)) return `\`${value}\` is none of ${row.choices.join(', ')}`;
  if (row.kind === 'boolean' && !['true', 'false'].includes(value)) return 'true or false';
  if (row.kind === 'number' && !(Number(value) >= 0)) return `\`${value}\` is not a number of at least 0`;
  if (row.kind === 'bytes' && !/^\d+(\.\d+)?\s*(B|KiB|MiB|GiB|TiB|K|M|G|T)?$/.test(value)) return `\`${value}\` is not an amount such as 512MiB or 4GiB`;
  if (row.kind === 'duration' && !/^\d+(\.\d+)?\s*(s|m|h|d|w)$/.test(value)) return `\`${value}\` is not a time such as 30m, 6h or 2d`;
  return '';
}
