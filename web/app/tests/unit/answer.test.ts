import { describe, expect, it } from 'vitest';
import type { JobAmounts, JobDetail } from '../../src/api/types';
import { answerOf, fromTo } from '../../src/lib/answer';
import { groupsOf } from '../../src/lib/setting_groups';
import { changesOf, deploysOf } from '../../src/lib/marks';
import { makeWorld, answer } from '../../mock/server.mjs';

const plain = (text: string): string => text.replace(/\u00a0/g, ' ');
const GIB = 2 ** 30;
const none = { provisional: false, provisional_limit: null, first_recommendation_at: null, usage: 1, peak: 1, owner_limit: 4, of: 'limit', limit: 4, ordered: null, applied: null, would_be: null, saving: null, chance: null, days: 0, days_over: 0, work_over: null, work_ordered: null, at_limit: false, recommender: 'analogs' } as JobAmounts;
const limits = (owner: number | null, recommended: number | null, more: object = {}): JobAmounts =>
  ({ ...none, owner_limit: owner, limit: owner, would_be: recommended, saving: owner === null || recommended === null ? null : owner - recommended, ...more });
const job = (cpu: JobAmounts, memory: JobAmounts, more: object = {}) => ({ name: 'a', mode: 'observe', tasks: 28, ooms: 0, enforced: true, currency: 'EUR', saving_per_month: null, cpu, memory, ...more }) as unknown as JobDetail;
const says = (of: JobDetail, idle = true): string => plain(answerOf(of, idle));

describe('the answer for a job', () => {
  it('is one sentence: the change, its saving in money, and its risk', () => {
    expect(says(job(none, limits(15 * GIB, 8.4 * GIB, { chance: 0.04 }), { saving_per_month: 4283 })))
      .toBe('Lower memory from 15 to 8.40 GiB a task: saves 185 GiB of memory, 4,283 EUR a month; chance of an OOM-day 4.0 %.');
    expect(says(job(limits(9.42, 3.47, { work_over: 0.0004, work_ordered: 0.001 }), limits(15 * GIB, 8.51 * GIB, { chance: 0.092 }), { saving_per_month: 4182.4 })))
      .toBe('Lower memory from 15 to 8.51 GiB and CPU from 9.42 to 3.47 cores a task: saves 182 GiB of memory and 167 cores, 4,182 EUR a month; chance of an OOM-day 9.2 %; 0.04 % throttled work (risk target 0.1 %).');
  });
  it('says what is taken, kept and set', () => {
    expect(says(job(limits(9.42, 9.81), limits(15 * GIB, 8.51 * GIB), { saving_per_month: 295 })))
      .toBe('Lower memory from 15 to 8.51 GiB and raise CPU from 9.42 to 9.81 cores a task: saves 182 GiB of memory and takes 10.9 cores more: saves 295 EUR a month.');
    // 0.0 % more is the same.
    expect(says(job(limits(13.9264, 13.927, { at_limit: true }), limits(2 * GIB, 3 * GIB), { tasks: 1 }))).toBe('Raise memory from 2 to 3 GiB and keep CPU at 13.9 cores a task: takes 1.00 GiB of memory more.');
    expect(says(job(none, limits(null, 3 * GIB)))).toBe('Set memory to 3.00 GiB a task.');
    expect(says(job(none, none))).toBe('No limit is recommended yet.');
    expect(says(job(none, { ...none, first_recommendation_at: Date.UTC(2026, 10, 26, 17, 21) / 1000 }))).toMatch(/^No limit is recommended yet: the first recommendation comes .*:21\.$/);
  });
  it('says what holds already, and what the owner had asked for', () => {
    expect(says(job(none, limits(15 * GIB, 8 * GIB, { limit: 8 * GIB })), false)).toBe('Lowered memory from 15 to 8 GiB a task: saves 196 GiB of memory.');
    expect(says(job(none, limits(15 * GIB, 8 * GIB, { limit: 10 * GIB })), false)).toBe('Lower memory from 10 to 8 GiB a task (its owner asked for 15.0 GiB of memory): saves 196 GiB of memory.');
  });
  it('says request where that is what is set', () => {
    expect(says(job(none, limits(4 * GIB, 2 * GIB, { of: 'request' })))).toBe('Lower the request of memory from 4 to 2 GiB a task: saves 56.0 GiB of memory.');
  });
  it('names a saving of requests, which is what a cluster bills', () => {
    const both = limits(4 * GIB, 2 * GIB, { owner_request: GIB, would_be_request: 0.5 * GIB, saving: 0.5 * GIB, limit_saving: 2 * GIB });
    expect(says(job(none, both))).toBe('Lower memory from 4 to 2 GiB a task: saves 14.0 GiB of memory requested.');
  });
  it('has the unit once where both have the same', () => {
    expect([fromTo('memory', 15 * GIB, 8.4 * GIB), fromTo('memory', 2 * GIB, 512 * 2 ** 20), fromTo('cpu', 1, 0.25), fromTo('cpu', 2, 0.05)].map(plain))
      .toEqual(['15 to 8.40 GiB', '2.00 GiB to 512 MiB', '1 to 0.25 cores', '2.00 cores to 50 mcores']);
  });
  it('can be made for every job of a fleet', () => {
    const world = makeWorld({ jobs: 300 });
    for (const { row } of world.jobs) {
      const text = answerOf(answer(world, 'GET', `/api/v1/jobs/${encodeURIComponent(row.name)}`, new URLSearchParams()) as JobDetail, true);
      expect(text).not.toMatch(/NaN|undefined|null|\b0\.00|−/);
    }
  });
});

describe('marks on the chart of a job', () => {
  it('are its versions', () => {
    const marks = deploysOf(['web:1.3 since 2026-11-25T12:00', 'web:1.3 since 2026-11-25T12:00:00Z', 'web:1.2 since 2026-11-20T08:00:00Z', '', 'none']);
    expect(marks.map(({ time, text }) => [new Date(time * 1000).toISOString(), text])).toEqual([['2026-11-25T12:00:00.000Z', 'deployed web:1.3'], ['2026-11-20T08:00:00.000Z', 'deployed web:1.2']]);
  });
  it('are its changes, without those that failed', () => {
    const d = { id: 1, time: 7, job: 'a', workload: null, target: 'memory', resource: 'memory', kind: 'set', mode: 'auto', before: 2 * GIB, after: GIB, sentence: '', outcome: 'applied', outcome_text: '', outcome_time: null } as const;
    expect(changesOf([d, { ...d, outcome: 'failed' }]).map(({ time, kind, text }) => [time, kind, plain(text)])).toEqual([[7, 'change', 'set: 2.00 GiB → 1.00 GiB']]);
  });
});

it('folds settings by group, without those that were changed, and loses none', () => {
  const { table } = answer(makeWorld({ jobs: 3 }), 'GET', '/api/v1/settings', new URLSearchParams()) as { table: { key: string; help: string; kind: 'text'; default: string }[] };
  const { changed, groups } = groupsOf(table, (row) => row.key === 'mode');
  expect(changed.map((row) => row.key)).toEqual(['mode']);
  const keys = groups.flatMap(({ rows }) => rows.map((row) => row.key));
  expect([...keys, 'mode'].sort()).toEqual(table.map((row) => row.key).sort());
  expect(groups.find(({ rows }) => rows.some((row) => row.key === 'memory.upper'))?.title).toBe('Bounds');
});
