// Rows of the table of jobs, and their order.
import type { Amount } from '../api/types';
import type { Lane, Report } from './data';

export interface JobRow {
  index: number; name: string; days: number; owner: Amount; limit: Amount; saved: Amount; slack: Amount; oomDays: Amount; changes: Amount;
  story: number | undefined;  // index in the report's stories
}
export type Key = 'name' | 'owner' | 'limit' | 'saved' | 'slack' | 'oomDays' | 'changes' | 'days';
export interface Sorting { key: Key; descending: boolean }

export function jobRows(report: Report, lane: Lane): JobRow[] {
  const j = lane.jobs;
  const stories = new Map(report.stories.map((story, i) => [`${story.resource} ${story.job}`, i]));
  return j.job_days.flatMap((days, index) => {
    if (days === 0) return [];
    const name = report.jobs[index] ?? '';
    const at = (values: number[]): Amount => values[index] ?? null;
    const owner = (at(j.owner) ?? 0) > 0 ? at(j.owner) : null;
    return [{ index, name, days, owner, limit: at(j.limit), saved: owner === null ? null : owner - (at(j.limit_owned) ?? 0),
      slack: at(j.slack), oomDays: at(j.oom_days), changes: at(j.changes), story: stories.get(`${lane.resource} ${name}`) }];
  });
}

const byName = new Intl.Collator('en', { numeric: true });

// Unknown values are last, in either direction.
export function sorted(rows: JobRow[], { key, descending }: Sorting): JobRow[] {
  const sign = descending ? -1 : 1;
  return rows.sort((a, b) => {
    if (key === 'name') return sign * byName.compare(a.name, b.name);
    const [x, y] = [a[key], b[key]];
    if (x === null || y === null) return Number(x === null) - Number(y === null) || byName.compare(a.name, b.name);
    return sign * (x - y) || byName.compare(a.name, b.name);
  });
}
