// Savings and risk of recommended limits, and the limits in force, in the same words on every page.
import type { Fleet, FleetAmounts, JobAmounts, JobRow, Resource } from '../api/types';
import { amount, chance, count, percent, plural } from './format';
import { KILLING_FIRST, RESOURCE, RESOURCES } from './resource';
import { dateTime } from './time';

export const dryRun = (fleet: Pick<Fleet, 'actuator'> | null | undefined): boolean => fleet?.actuator === 'dry_run';

// True if the possible saving is already in force, so that pages show one saving instead of two.
export const sameSaving = (fleet: Fleet): boolean =>
  RESOURCES.every((r) => Math.abs((fleet[r].would_save ?? 0) - (fleet[r].saved ?? 0)) <= 0.005 * (fleet[r].owner_limit ?? 0));

// True if no job is in a mode that sets limits, so that "in force" is the owners' limits everywhere.
export const nothingManaged = (fleet: Pick<Fleet, 'jobs_by_mode'> | null | undefined): boolean =>
  fleet != null && fleet.jobs_by_mode.auto + fleet.jobs_by_mode.canary === 0;

// True if no decision for this job is applied: the daemon is in dry run, or the job's agents only measure.
export const notSet = (row: Pick<JobRow, 'enforced'>, dry: boolean): boolean => dry || !row.enforced;

// Returns the limit in the kernel: the limit that agents report, else the decided limit if it is applied, else the owner's limit.
export const realLimit = (a: JobAmounts, idle: boolean): number | null => a.applied ?? (idle ? a.owner_limit : a.limit);

// Returns the decided limit if the kernel's limit differs by more than rounding; else null.
export function pendingLimit(a: JobAmounts, idle: boolean): number | null {
  const real = realLimit(a, idle);
  return a.ordered !== null && (real === null || Math.abs(a.ordered - real) > 0.005 * real) ? a.ordered : null;
}

// `text` is short, for a table; `label` is a phrase: "4.9 % OOM-days", "0.1 % throttled work (risk target 0.1 %)".
//
// `past` is the share of the job's own past days, a detail if `of` is work. `unit` names the short text's unit, for the line
// below.
export interface Risk { share: number; text: string; unit: string; label: string; title: string; past: string; of: 'forecast' | 'work' | 'days' }

const workShare = (share: number): string => (share < 5e-5 ? 'under 0.01 %' : percent(share));

// Risk of the would-be limit: the work above it if its risk target is a share of work, else the forecast chance of a day above it, else the share of
// past days above it.
export function riskOf(resource: Resource, a: JobAmounts): Risk | null {
  const { title, word, atLimit } = RESOURCE[resource];
  const past = (limit: string) => (a.days > 0 ? `${count(a.days_over)} of its own last ${plural(a.days, 'day')} went above ${limit}.` : '');
  if (a.work_over != null) {
    const ordered = a.work_ordered == null ? '' : ` (risk target ${workShare(a.work_ordered)})`;
    const days = past('the limit of then at times');
    return { share: a.work_over, text: workShare(a.work_over), unit: atLimit.over, label: `${workShare(a.work_over)} ${atLimit.over}${ordered}`, of: 'work', past: days, title: `${title}: share of its ${word} ${atLimit.used} of the last weeks above its limits ${workShare(a.work_over)}${ordered}. ${days}`.trim() };
  }
  if (a.chance !== null) {
    const days = past('it');
    return { share: a.chance, text: chance(a.chance), unit: atLimit.days, label: `${chance(a.chance)} ${atLimit.days}`, of: 'forecast', past: days, title: `${title}: chance of ${atLimit.article} ${atLimit.day} at this limit ${chance(a.chance)}, by forecast. ${days}`.trim() };
  }
  if (a.days === 0) return null;
  const days = past('the limit of then');
  return { share: a.days_over / a.days, text: percent(a.days_over / a.days), unit: `of ${plural(a.days, 'day')}`, label: `${count(a.days_over)} of ${plural(a.days, 'day')} above the limit of then`, of: 'days', past: days, title: days };
}

// Returns a note about a provisional recommendation from too little history, and the time of the first final recommendation. A
// provisional recommendation is never set and not part of any saving.
export const provisionalNote = (a: JobAmounts): string | null => (a.provisional
  ? `Provisional, wide as it is of few windows; set in no mode${a.first_recommendation_at === null ? '' : `. First recommendation at ${dateTime(a.first_recommendation_at)}`}` : null);

// Risk of the fleet's recommended limits, beside its target: the share of work above them for recommenders whose target is a
// share of work, else the share of days with usage above them. `share` is null if not known.
export interface FleetRisk { name: string; share: number | null; ordered: number | null; of: string; title: string }

export function fleetRisk(resource: Resource, a: FleetAmounts): FleetRisk {
  const { word, atLimit } = RESOURCE[resource];
  const days: FleetRisk = {
    name: atLimit.days, share: a.job_days > 0 ? a.job_days_over / a.job_days : null, ordered: a.ordered,
    of: `of ${plural(a.job_days, 'job-day')}`,
    title: 'Job-days of the last 7 days on which usage went above the recommended limit',
  };
  if (a.work_over === null && a.work_ordered === null) return days;
  return {
    name: atLimit.over, share: a.work_over, ordered: a.work_ordered, of: 'of all work',
    title: `Share of ${word} ${atLimit.used} above the recommended limits, of jobs that are 14 days old; the last days weigh most.`
      + (days.share === null ? '' : ` Of ${plural(a.job_days, 'job-day')} of the last 7 days, ${percent(days.share)} had some.`),
  };
}

// Returns one risk of a job's recommended limits, for lists: the risk of a resource that kills tasks if known, else of a resource
// that slows tasks down.
export function rowRisk(row: Pick<JobRow, Resource>): (Risk & { resource: Resource }) | null {
  for (const resource of KILLING_FIRST) {
    const risk = riskOf(resource, row[resource]);
    if (risk !== null) return { ...risk, resource };
  }
  return null;
}
export const allRisks = (row: Pick<JobRow, Resource>): string => KILLING_FIRST.map((r) => riskOf(r, row[r])?.title ?? '').filter(Boolean).join('\n');

// Difference up to which two limits count as equal.
const SAME = 0.005;
export const sameLimit = (a: number | null, b: number | null): boolean => a === b || (a !== null && b !== null && Math.abs(a - b) <= SAME * Math.max(Math.abs(a), Math.abs(b)));

// Returns the saving of the recommendation for all tasks: of the request if the job has a request, because a cluster bills
// requests, else of the limit. The saving is negative if the recommendation is higher than the owner's amount.
export function savingOf(row: JobRow, resource: Resource): number | null {
  const { saving, owner_limit: owner, would_be: recommended } = row[resource];
  if (saving === null) return null;
  return owner !== null && sameLimit(owner, recommended) ? 0 : saving * row.tasks;
}

// Returns the amounts that the fleet's savings refer to: "requests", "limits", or both.
export function savedWord(fleet: Fleet): string {
  const jobs = Math.max(...RESOURCES.map((r) => fleet[r].requests?.jobs ?? 0));
  return jobs === 0 ? 'limits' : jobs >= fleet.jobs ? 'requests' : 'requests and limits';
}

// Returns the reasons why a job is short of a resource, most urgent first. For a limit that only slows tasks down, usage at the
// limit is not a reason if a lower or equal limit is recommended, because the risk already includes such short peaks.
export function tightness(row: JobRow): string[] {
  const reasons: string[] = [];
  if (row.ooms > 0) reasons.push(`${plural(row.ooms, 'OOM kill')} in 7 days`);
  for (const resource of KILLING_FIRST) {
    const a = row[resource];
    const less = a.limit_saving ?? a.saving;
    const needs = less !== null && less < 0 && a.owner_limit !== null && -less > 0.01 * a.owner_limit;
    if (a.at_limit && (needs || a.would_be === null || RESOURCE[resource].atLimit.kills)) reasons.push(`${RESOURCE[resource].title} use reached its limit today or yesterday`);
    if (needs) {
      reasons.push(`needs ${amount(resource, a.would_be)} of ${RESOURCE[resource].word}, has ${amount(resource, a.owner_limit)}`);
    }
  }
  return reasons;
}
