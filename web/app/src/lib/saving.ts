// What a recommended limit would save, what risk goes with it, and what really holds: the same words on every page.
import type { Fleet, FleetAmounts, JobAmounts, JobRow, Resource } from '../api/types';
import { amount, chance, count, percent, plural } from './format';
import { KILLING_FIRST, RESOURCE, RESOURCES } from './resource';
import { dateTime } from './time';

export const dryRun = (fleet: Pick<Fleet, 'actuator'> | null | undefined): boolean => fleet?.actuator === 'dry_run';

// Every job in auto would save what is saved already: said once.
export const sameSaving = (fleet: Fleet): boolean =>
  RESOURCES.every((r) => Math.abs((fleet[r].would_save ?? 0) - (fleet[r].saved ?? 0)) <= 0.005 * (fleet[r].owner_limit ?? 0));

// No job is in a mode in which limits are set, so that "in force" is the owners' everywhere.
export const nothingManaged = (fleet: Pick<Fleet, 'jobs_by_mode'> | null | undefined): boolean =>
  fleet != null && fleet.jobs_by_mode.auto + fleet.jobs_by_mode.canary === 0;

// Nothing of what is decided for this job is set: the daemon is a dry run, or the job's agents only measure.
export const notSet = (row: Pick<JobRow, 'enforced'>, dry: boolean): boolean => dry || !row.enforced;

// The limit in the kernel: as agents report it, else the ordered one where agents apply it, else the owner's.
export const realLimit = (a: JobAmounts, idle: boolean): number | null => a.applied ?? (idle ? a.owner_limit : a.limit);

// The limit that was decided, where the kernel has another one by more than rounding; else null.
export function pendingLimit(a: JobAmounts, idle: boolean): number | null {
  const real = realLimit(a, idle);
  return a.ordered !== null && (real === null || Math.abs(a.ordered - real) > 0.005 * real) ? a.ordered : null;
}

// `text` is short, for a table; `label` says it in a sentence: "4.9 % OOM-days", "0.1 % throttled work (0.1 % ordered)".
// `past`: what the job's own days were; a detail where `of` is work.
// `unit` is what the short text is of, for the line under it.
export interface Risk { share: number; text: string; unit: string; label: string; title: string; past: string; of: 'forecast' | 'work' | 'days' }

const workShare = (share: number): string => (share < 5e-5 ? 'under 0.01 %' : percent(share));

// Of the limit that would be: the work above it where work is ordered, else the chance of a day above it by forecast,
// else the days so far.
export function riskOf(resource: Resource, a: JobAmounts): Risk | null {
  const { title, word, atLimit } = RESOURCE[resource];
  const past = (limit: string) => (a.days > 0 ? `${count(a.days_over)} of its own last ${plural(a.days, 'day')} went above ${limit}.` : '');
  if (a.work_over != null) {
    const ordered = a.work_ordered == null ? '' : ` (${workShare(a.work_ordered)} ordered)`;
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

// What would_be may come to while too little history is known, and when it comes: never set, and in no saving.
export const provisionalNote = (a: JobAmounts): string | null => (a.provisional
  ? `Provisional, wide as it is of few windows; set in no mode${a.first_recommendation_at === null ? '' : `. First recommendation at ${dateTime(a.first_recommendation_at)}`}` : null);

// What the fleet's recommended limits risk, beside the order: the share of work above them where recommenders take
// orders of that, else the share of days with any usage above them. `share` is null while it is not known.
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

// The one risk of a job's recommended limits for lists: of what kills tasks where that is known, else of what slows them down.
export function rowRisk(row: Pick<JobRow, Resource>): (Risk & { resource: Resource }) | null {
  for (const resource of KILLING_FIRST) {
    const risk = riskOf(resource, row[resource]);
    if (risk !== null) return { ...risk, resource };
  }
  return null;
}
export const allRisks = (row: Pick<JobRow, Resource>): string => KILLING_FIRST.map((r) => riskOf(r, row[r])?.title ?? '').filter(Boolean).join('\n');

// What two limits may differ by and still be said to be the same.
const SAME = 0.005;
export const sameLimit = (a: number | null, b: number | null): boolean => a === b || (a !== null && b !== null && Math.abs(a - b) <= SAME * Math.max(Math.abs(a), Math.abs(b)));

// What the recommendation saves for all tasks: of the request where the job has one, which a cluster bills, else of the
// limit. Negative where more is needed, 0 where the two limits are the same.
export function savingOf(row: JobRow, resource: Resource): number | null {
  const { saving, owner_limit: owner, would_be: recommended } = row[resource];
  if (saving === null) return null;
  return owner !== null && sameLimit(owner, recommended) ? 0 : saving * row.tasks;
}

// "requests", "limits", or both: what the fleet's savings are of.
export function savedWord(fleet: Fleet): string {
  const jobs = Math.max(...RESOURCES.map((r) => fleet[r].requests?.jobs ?? 0));
  return jobs === 0 ? 'limits' : jobs >= fleet.jobs ? 'requests' : 'requests and limits';
}

// Why a job is short of a resource; most pressing first. Usage that reaches the limit of what only slows tasks down is no
// reason where a lower limit, or the same, is recommended: short peaks reach it, and the risk counts them.
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
