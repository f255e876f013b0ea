// Describes the effect of a replica policy in words.
import type { ReplicaHistory } from '../api/types';
import { hours, percent } from './format';

// Returns one sentence: what the policy would have saved and risked. "" if there is nothing to compare.
export function totalsSentence(t: ReplicaHistory['totals'], policy: string): string {
  if (t.windows === 0 || t.task_hours <= 0) return '';
  const less = 1 - t.task_hours_would_be / t.task_hours;
  const compared = Math.abs(less) < 0.005 ? 'as many' : `${percent(Math.abs(less))} ${less > 0 ? 'fewer' : 'more'}`;
  return `${hours(t.task_hours)} task-hours ran; ${policy} would have run ${hours(t.task_hours_would_be)}, ${compared}. `
    + `The tasks were overloaded (above replicas.max_utilization) in ${percent(t.overloaded_windows / t.windows)} of the windows of five minutes; with ${policy} in ${percent(t.overloaded_windows_would_be / t.windows)}.`;
}
