// Reads the data of a report, as src/tools/report/report_json.cc writes it, in the units of the other pages: bytes, cores,
// seconds.
import type { Amount, Reason, Resource } from '../api/types';
import { capital } from '../lib/format';
import { RESOURCE } from '../lib/resource';
import type { UsageMap } from '../ui/heatmap_scale';

export const DAY_S = 86400;
const WINDOW_S = 300;

export interface Sum {
  job_days: number; slack_mean: number; slack_median: number; limit: number; limit_owned: number; owner: number; usage: number;
  of_owner: number; of_usage: number; oom_days: number; oom_day_share: number; serious_share: number; ooms_per_task_day: number;
  changes_mean: number; changes_p99: number; unchanged_share: number; windows_over_share: number; usage_over_share: number;
}
export interface FleetDays { day: number[]; limit: number[]; owner: number[]; usage: number[]; job_days: number[]; oom_days: number[] }
export interface LaneJobs {
  job_days: number[]; limit: number[]; limit_owned: number[]; owner: number[]; slack: number[]; oom_days: number[]; changes: number[];
}
export interface Lane { policy: string; resource: Resource; sum: Sum; slack_quantiles: number[]; fleet: FleetDays; jobs: LaneJobs }
export interface Policy { name: string; what: string }
interface RawLine { policy: string; t: number[]; v: Amount[]; ooms: number[] }
export interface RawStory {
  job: string; resource: Resource; why: string; t0: number; dt: number; heat: string[]; peak: Amount[]; lines: RawLine[]; reasons: Reason[];
}
export interface Report {
  title: string; command: string; unix: boolean; notes: string[]; shown_first: string; first_day: number; last_day: number;
  first_scored_day: number; days_done: number; days_total: number; partial: boolean; job_windows: number; state_bytes_per_job: number;
  grids: Record<Resource, { first: number; per_octave: number; size: number }>;
  policies: Policy[]; jobs: string[]; lanes: Lane[]; stories: RawStory[];
}

// A limit in force from at[i] on; null: none (unlimited).
export interface StoryLine { policy: string; at: number[]; values: Amount[]; ooms: number[] }
export interface Story { job: string; resource: Resource; why: string; map: UsageMap; peak: Amount[]; lines: StoryLine[]; reasons: Reason[] }

const scaled = (values: Amount[], unit: number): number[] => values.map((v) => (v === null ? v : v * unit)) as number[];

function unpacked(lane: Lane): Lane {
  const { size } = RESOURCE[lane.resource].unit;
  const sum = { ...lane.sum };
  for (const key of ['limit', 'limit_owned', 'owner', 'usage'] as const) sum[key] *= size;
  const fleet = { ...lane.fleet };
  for (const key of ['limit', 'owner', 'usage'] as const) fleet[key] = scaled(fleet[key], size);
  const jobs = { ...lane.jobs };
  for (const key of ['limit', 'limit_owned', 'owner'] as const) jobs[key] = scaled(jobs[key], size);
  return { ...lane, sum, fleet, jobs };
}

export function readReport(data: unknown): Report {
  const report = data as Report;
  return { ...report, lanes: report.lanes.map((lane) => unpacked(complete(lane, report.lanes))) };
}

// Columns that equal those of the resource's first lane are stored only there.
function complete(lane: Lane, lanes: Lane[]): Lane {
  const first = lanes.find((other) => other.resource === lane.resource) ?? lane;
  return { ...lane, fleet: { ...first.fleet, ...lane.fleet }, jobs: { ...first.jobs, ...lane.jobs } };
}

const DIGITS = new Map([...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-'].map((c, i) => [c, i]));
const digit = (text: string, i: number): number => DIGITS.get(text[i] ?? '') ?? 0;

// Unpacks a column to [bucket, level]; level 1 is 0.1 % of the samples or less, 63 is all of them.
export function unpackColumn(text: string): [number, number][] {
  const cells: [number, number][] = [];
  if (!text) return cells;
  let bucket = digit(text, 0) * 64 + digit(text, 1);
  for (let i = 2; i < text.length; ++i) {
    if (text[i] === '.') {
      bucket += digit(text, ++i);
      continue;
    }
    const level = digit(text, i);
    if (level > 0) cells.push([bucket, level]);
    ++bucket;
  }
  return cells;
}

export const shareOfLevel = (level: number): number => 10 ** (3 * ((level - 1) / 62 - 1));

// Times are stored as differences of window numbers.
function times(deltas: number[]): number[] {
  let at = 0;
  return deltas.map((delta) => (at += delta) * WINDOW_S);
}

// Column i of the map is column i of the story, even if nothing was measured.
export function openStory(report: Report, raw: RawStory): Story {
  const unit = RESOURCE[raw.resource].unit.size;
  const grid = report.grids[raw.resource];
  const columns = raw.heat.map(unpackColumn);
  let last = -1;
  let first = grid.size;
  for (const [bucket] of columns.flat()) { last = Math.max(last, bucket); first = Math.min(first, bucket); }
  const bound = (bucket: number): number => unit * grid.first * 2 ** (bucket / grid.per_octave);
  // The bucket below the first used bucket is included, because its upper bound is the lower bound of the first.
  const buckets = last < 0 ? [] : Array.from({ length: last - first + 2 }, (_, i) => bound(first - 1 + i));
  const map: UsageMap = {
    resource: raw.resource, from: raw.t0, to: raw.t0 + raw.heat.length * raw.dt, column_seconds: raw.dt, ooms: [], buckets,
    time: raw.heat.map((_, i) => raw.t0 + i * raw.dt),
    cells: columns.flatMap((cells, column) => cells.map(([bucket, level]): [number, number, number] => [column, bucket - first + 1, shareOfLevel(level)])),
  };
  const lines = raw.lines.map((line) => ({ policy: line.policy, at: times(line.t), values: scaled(line.v, unit) as Amount[], ooms: times(line.ooms) }));
  return { job: raw.job, resource: raw.resource, why: raw.why, map, peak: scaled(raw.peak, unit), lines, reasons: raw.reasons };
}

// Returns the last `days` days of a story; null: all of it.
export function lastDays(story: Story, days: number | null): Story {
  const { map } = story;
  const skip = days === null ? 0 : Math.max(0, map.time.length - Math.round((days * DAY_S) / map.column_seconds));
  if (skip === 0) return story;
  const from = map.time[skip] ?? map.from;
  const lines = story.lines.map((line) => ({ ...line, ooms: line.ooms.filter((at) => at >= from), ...since(line, from) }));
  return { ...story, lines, peak: story.peak.slice(skip), map: {
    ...map, from, time: map.time.slice(skip),
    cells: map.cells.flatMap(([column, row, share]): [number, number, number][] => (column < skip ? [] : [[column - skip, row, share]])),
  } };
}

// Returns the steps from the one in force at `from` on.
function since(line: StoryLine, from: number): Pick<StoryLine, 'at' | 'values'> {
  const next = line.at.findIndex((at) => at > from);
  const first = Math.max(0, (next < 0 ? line.at.length : next) - 1);
  return { at: line.at.slice(first).map((at) => Math.max(at, from)), values: line.values.slice(first) };
}

// Returns the limit of a line at a time; null: none (unlimited), undefined: the line has not begun.
export function limitAt(line: StoryLine, seconds: number): Amount | undefined {
  let low = 0;
  let high = line.at.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((line.at[middle] ?? Infinity) <= seconds) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? undefined : line.values[low - 1];
}

// Returns the share of job-days at or below `slack`, from evenly spaced quantiles.
export function shareAtOrBelow(quantiles: number[], slack: number): number {
  let i = 0;
  while (i < quantiles.length && (quantiles[i] ?? Infinity) <= slack) ++i;
  if (i === 0) return 0;
  if (i === quantiles.length) return 1;
  const before = quantiles[i - 1] ?? 0;
  const step = (quantiles[i] ?? before) - before;
  return (i - 1 + (step > 0 ? (slack - before) / step : 0)) / (quantiles.length - 1);
}

// Returns the explanation of a day above the limit.
export function glossOf(resource: Resource): string {
  const { word, atLimit } = RESOURCE[resource];
  const over = atLimit.kills ? 'used more' : `needed more ${word}, as a 5-minute mean,`;
  return `${capital(atLimit.article)} ${atLimit.day} is a day of a job on which at least one of its tasks ${over} than the limit then in force.`;
}

export const hasOwner = (lane: Lane): boolean => lane.sum.owner > 0;
export const dayTime = (day: number): number => day * DAY_S;
