// The reader's choices, and the lanes that they show.
import type { Resource } from '../api/types';
import { KILLING_FIRST } from '../lib/resource';
import type { Lane, Report } from './data';

export interface Choice {
  resource: Resource;
  policy: string;
  hidden: ReadonlySet<string>;  // recommenders whose lines are not drawn
  story: number | null;         // index of the story; null: the first story of the resource
  days: number | null;          // number of the last days that are shown; null: the whole story
}

export interface View {
  report: Report;
  choice: Choice;
  change: (choice: Partial<Choice>) => void;
  lanes: Lane[];  // all lanes of the resource, in the order of the recommenders
  drawn: Lane[];  // lanes that are not hidden; the picked one is last, so that it is drawn on top
  lane: Lane;  // the picked lane
}

export const resourcesOf = (report: Report): Resource[] => KILLING_FIRST.filter((r) => report.lanes.some((lane) => lane.resource === r));

export const laneOf = (report: Report, resource: Resource, policy: string): Lane | undefined =>
  report.lanes.find((lane) => lane.resource === resource && lane.policy === policy);

export function firstChoice(report: Report): Choice {
  const names = report.policies.map((p) => p.name);
  const policy = names.includes(report.shown_first) ? report.shown_first : names.at(-1) ?? '';
  return { resource: resourcesOf(report)[0] ?? KILLING_FIRST[0], policy, hidden: new Set(), story: null, days: null };
}

// Returns null if the report has no results.
export function viewOf(report: Report, choice: Choice, change: View['change']): View | null {
  const lanes = report.policies.flatMap((p) => laneOf(report, choice.resource, p.name) ?? []);
  const lane = lanes.find((l) => l.policy === choice.policy) ?? lanes[0];
  if (!lane) return null;
  const drawn = lanes.filter((l) => !choice.hidden.has(l.policy)).sort((a, b) => Number(a === lane) - Number(b === lane));
  return { report, choice, change, lanes, drawn, lane };
}

export function toggled(hidden: ReadonlySet<string>, policy: string): ReadonlySet<string> {
  const next = new Set(hidden);
  if (!next.delete(policy)) next.add(policy);
  return next;
}
