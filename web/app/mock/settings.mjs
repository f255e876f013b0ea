// The settings table, a job's settings, and changing them.

export const TABLE = [
  { key: 'mode', help: 'How far Tautline may go: off (measured only), observe (shown, nothing applied), canary (tried on a share of the tasks first), auto (applied).', kind: 'choice', choices: ['off', 'observe', 'canary', 'auto'], default: 'observe' },
  { key: 'recommender', help: 'What computes the limits.', kind: 'choice', choices: ['static', 'peak', 'vpa', 'moving_window', 'ensemble', 'analogs'], default: 'analogs' },
  { key: 'class', help: 'How sensitive the job is to waiting for CPU.', kind: 'choice', choices: ['batch', 'serving', 'latency_sensitive'], default: 'serving' },
  { key: 'oom_tolerance', help: 'How well the job bears an OOM kill.', kind: 'choice', choices: ['minimal', 'low', 'intermediate'], default: 'low' },
  { key: 'analogs.oom_days', help: 'The share of days with an OOM that analogs may aim for.', kind: 'number', default: '0.03' },
  { key: 'cpu.lower', help: 'No limit below this, in cores, for each task.', kind: 'number', default: '' },
  { key: 'cpu.upper', help: 'No limit above this, in cores, for each task.', kind: 'number', default: '' },
  { key: 'memory.lower', help: 'No limit below this, for each task.', kind: 'bytes', default: '' },
  { key: 'memory.upper', help: 'No limit above this, for each task.', kind: 'bytes', default: '' },
  { key: 'canary.share', help: 'The share of tasks that try a new limit first.', kind: 'number', default: '0.2' },
  { key: 'canary.duration', help: 'How long a trial lasts at least.', kind: 'duration', default: '24h' },
  { key: 'logical_name', help: 'Jobs with the same logical name share their history.', kind: 'text', default: '' },
  { key: 'opt_out', help: 'Never moved to auto by rule.', kind: 'boolean', default: 'false' },
];

export const RULES = [
  { name: 'batch jobs', match: { tier: 'batch' }, set: { class: 'batch', oom_tolerance: 'intermediate' } },
  { name: 'databases are left alone', match: { app: 'db' }, set: { oom_tolerance: 'minimal', 'memory.lower': '1GiB' } },
  { name: 'payments only with a trial', match: { team: 'payments' }, set: { 'canary.share': '0.1', 'canary.duration': '48h' } },
];

const fits = (rule, labels) => Object.entries(rule.match).every(([key, value]) => labels[key] === value);

export class JobSettingsStore {
  constructor(now) {
    this.own = new Map();  // job's name -> Map of key -> {value, who}
    this.changes = [];
    this.now = now;
    this.seed();
  }

  seed() {
    const past = [[3600, 'anna', 'shop/web-eu-1', 'mode', 'auto', 'canary'], [9000, 'ben', 'search/ranker-eu-1', 'memory.upper', '24GiB', ''],
      [90000, 'anna', 'shop/web-eu-1', 'mode', 'canary', 'observe'], [200000, 'carla', 'payments/db-eu-1', 'opt_out', 'true', 'false']];
    past.reverse().forEach(([ago, who, job, key, value, before]) => {
      this.changes.unshift({ id: this.changes.length + 1, time: this.now() - ago, who, job, key, value, before });
    });
    this.own.set('search/ranker-eu-1', new Map([['memory.upper', { value: '24GiB', who: 'ben' }]]));
    this.own.set('payments/db-eu-1', new Map([['opt_out', { value: 'true', who: 'carla' }]]));
  }

  byRules(job, row) {
    let found = { value: row.default, source: 'default' };
    RULES.forEach((rule, i) => {
      if (fits(rule, job.labels) && rule.set[row.key] !== undefined) found = { value: rule.set[row.key], source: `rule ${i + 1}: ${rule.name}` };
    });
    if (row.key === 'mode') found = { value: job.modeByRules ??= job.row.mode, source: 'rule 4: by team' };
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
    for (const [key, value] of Object.entries(wanted)) {
      const row = TABLE.find((candidate) => candidate.key === key);
      if (!row) throw Object.assign(new Error(`${key}: no such setting; see /api/v1/settings`), { status: 400 });
      const wrong = value === '' ? '' : checkValue(row, value);
      if (wrong) throw Object.assign(new Error(`${key}: ${wrong}`), { status: 400 });
    }
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
    return made;
  }

  all(jobs) {
    return { table: TABLE, rules: RULES.map((rule) => ({ ...rule, jobs: jobs.filter((job) => fits(rule, job.labels)).length })),
      changes: this.changes.slice(0, 50), config_file: '/etc/tautline/tautd.yaml' };
  }
}

function checkValue(row, value) {
  if (row.kind === 'choice' && !row.choices.includes(value)) return `\`${value}\` is none of ${row.choices.join(', ')}`;
  if (row.kind === 'boolean' && !['true', 'false'].includes(value)) return 'true or false';
  if (row.kind === 'number' && !(Number(value) >= 0)) return `\`${value}\` is not a number of at least 0`;
  if (row.kind === 'bytes' && !/^\d+(\.\d+)?\s*(B|KiB|MiB|GiB|TiB|K|M|G|T)?$/.test(value)) return `\`${value}\` is not an amount such as 512MiB or 4GiB`;
  if (row.kind === 'duration' && !/^\d+(\.\d+)?\s*(s|min|m|h|d)$/.test(value)) return `\`${value}\` is not a time such as 30min, 6h or 2d`;
  return '';
}
