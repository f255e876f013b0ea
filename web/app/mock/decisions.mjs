// The record of decisions: made up once, then one more now and then.
import { WINDOW } from './fleet.mjs';
import { amount, reasonOf } from './reasons.mjs';
import { unit, weighted } from './random.mjs';

const KINDS = {
  auto: [['set', 90], ['oom_raise', 4]], canary: [['try', 50], ['promote', 35], ['roll_back', 15]], observe: [['would_set', 98], ['release', 2]],
};

export class DecisionLog {
  constructor(jobs, now, count, actuator) {
    this.jobs = jobs.filter((job) => job.row.mode !== 'off' && job.row.memory.owner_limit !== null);
    this.actuator = actuator;
    this.list = [];  // ascending by id
    if (this.jobs.length === 0) return;
    for (let i = 0; i < count; ++i) {
      const ago = Math.floor(((count - i) / count) ** 1.2 * 9 * 288) * WINDOW;
      this.add(now - ago);
    }
  }

  add(time) {
    const id = this.list.length + 1;
    const job = this.jobs[Math.floor(unit(id, 'job') ** 2 * this.jobs.length)];
    const resource = unit(id, 'resource') < 0.55 ? 'memory' : 'cpu';
    const mode = job.row.mode;
    let kind = weighted(KINDS[mode] ?? KINDS.observe, id, 'kind');
    if (kind === 'oom_raise' && resource === 'cpu') kind = 'set';
    if (job.replicas && unit(id, 'replicas') < 0.4) return this.addReplicas(id, time, job);
    const a = job.row[resource];
    const after = kind === 'release' ? null : kind === 'roll_back' ? a.owner_limit : a.would_be;
    const before = kind === 'oom_raise' ? a.would_be / 1.2 : kind === 'roll_back' ? a.would_be
      : unit(id, 'first') < 0.1 ? a.owner_limit : (after ?? a.owner_limit) * (0.75 + 0.55 * unit(id, 'before'));
    const applies = !['would_set'].includes(kind);
    const failed = applies && unit(id, 'fail') < 0.01;
    const held = applies && !failed && unit(id, 'held') < 0.01;
    this.list.push({
      id, time, job: job.row.name, workload: job.row.workload, target: resource, resource, kind, mode, before, after, sentence: sentence(job, resource, kind, before, after),
      outcome: !applies ? 'pending' : this.actuator === 'dry_run' ? 'dry_run' : failed ? 'failed' : held ? 'pending' : 'applied',
      outcome_text: this.actuator === 'dry_run' ? '' : failed ? `task 7: ${resource === 'cpu' ? 'cpu.max: Invalid argument' : 'memory.max: Device or resource busy'}` : held ? `${amount(resource, (after ?? before) * 1.1)} of usage is in the way on 1 of ${job.row.tasks} tasks` : '',
      outcome_time: applies ? time + 2 : null,
    });
    return this.list[this.list.length - 1];
  }

  addReplicas(id, time, job) {
    const r = job.replicas;
    const applies = job.row.mode === 'auto' || job.row.mode === 'canary';
    const before = Math.max(1, r.would_be + (unit(id, 'up') < 0.5 ? -1 : 1) * (1 + Math.floor(unit(id, 'by') * 3)));
    this.list.push({
      id, time, job: job.row.name, workload: job.row.workload, target: 'replicas', resource: null, kind: applies ? 'set' : 'would_set', mode: job.row.mode, before, after: r.would_be,
      sentence: `${r.would_be} tasks instead of ${before}: ${r.reason.sentence}`,
      outcome: !applies ? 'dry_run' : this.actuator === 'dry_run' ? 'dry_run' : 'applied', outcome_text: '', outcome_time: applies ? time + 2 : null,
    });
    return this.list[this.list.length - 1];
  }

  page(query) {
    const before = Number(query.get('before') ?? Infinity);
    const limit = Number(query.get('limit') ?? 100);
    const out = [];
    for (let i = Math.min(this.list.length, before - 1) - 1; i >= 0 && out.length <= limit; --i) {
      const d = this.list[i];
      const words = (query.get('search') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
      if (['job', 'target', 'resource', 'kind', 'outcome'].every((key) => !query.get(key) || d[key] === query.get(key)) && words.every((word) => d.job.toLowerCase().includes(word))) out.push(d);
    }
    const more = out.length > limit;
    return { decisions: out.slice(0, limit), next_before: more ? out[limit - 1].id : null };
  }

  detail(id) {
    const decision = this.list[id - 1];
    if (!decision) return null;
    const job = this.jobs.find((candidate) => candidate.row.name === decision.job);
    return { ...decision, reason: decision.after === null ? null : decision.target === 'replicas' ? job.replicas.reason : reasonOf(job, decision.resource, decision.after) };
  }
}

function sentence(job, resource, kind, before, after) {
  const similar = 180 + job.number % 400;
  switch (kind) {
    case 'try': return `Tried on ${Math.max(1, Math.floor(job.row.tasks / 5))} of ${job.row.tasks} tasks for 24 h before all get it.`;
    case 'promote': return 'The trial ran 24 h without an OOM kill on either side; all tasks get its limit.';
    case 'roll_back': return 'Tasks of the trial were 14 times above their limit, the rest never; they go back.';
    case 'oom_raise': return `A task was OOM-killed at ${amount(resource, before)}; raised at once.`;
    case 'release': return "The mode went to observe; the owner's limit again.";
    default: return `Of ${similar} job-days like this one, ${Math.round(similar * 0.03)} rose above ${amount(resource, after / 1.03)} on the next day.`;
  }
}
