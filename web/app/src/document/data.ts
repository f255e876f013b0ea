// A report of sections, as src/tools/report/document.h describes it, and the texts of its figures.
import { NBSP, NONE, bytes, cores, count, duration, milliseconds, percent, percentTick, significant } from '../lib/format';
import { dateTime } from '../lib/time';

export interface Form { form: 'text' | 'count' | 'number' | 'share' | 'seconds' | 'time'; unit?: string; decimals?: number }
export type Value = number | string | null;
export interface Figure extends Form { value: Value }
export interface Column extends Form { head: string }
export interface Axis extends Form { name: string; log?: boolean }
export interface Line { name: string; line: 'solid' | 'dashed' | 'stacked'; x?: number[]; y: number[] }
export interface TextPart { is: 'text'; text: string }
export interface TablePart { is: 'table'; columns: Column[]; rows: Value[][] }
export interface ChartPart { is: 'chart'; title: string; x: Axis; y: Axis; series: Line[] }
export interface NamedPoint { name: string; x: number; y: number }
export interface PointsPart { is: 'points'; title: string; x: Axis; y: Axis; points: NamedPoint[] }
export type Part = TextPart | TablePart | ChartPart | PointsPart;
export interface Section { title: string; parts: Part[] }
export interface ReportDocument {
  kind: 'document'; command: string; title: string; unix: boolean; answer: (string | Figure)[]; notes: string[]; sections: Section[];
}

export const isDocument = (data: unknown): data is ReportDocument =>
  typeof data === 'object' && data !== null && (data as { kind?: unknown }).kind === 'document';

const RAISED = '⁰¹²³⁴⁵⁶⁷⁸⁹';
// Formats a number with three significant digits, including very small values: "2.1×10⁻⁶".
export function measured(value: number): string {
  if (value === 0 || Math.abs(value) >= 0.0005) return significant(value);
  const [digits, power] = value.toExponential(1).split('e-');
  return `${digits}×10⁻${[...(power ?? '')].map((d) => RAISED[Number(d)]).join('')}`;
}

// Formats a value without its unit, which the head of the column contains.
export function written(value: Value, form: Form): string {
  if (value === null || typeof value === 'string') return value ?? NONE;
  switch (form.form) {
    case 'count': return count(value);
    case 'share': return percent(value, form.decimals);
    case 'seconds': return value === 0 || value >= 1 ? duration(value) : milliseconds(value * 1000);
    case 'time': return dateTime(value);
    default: return measured(value);
  }
}

// Formats a value with its unit.
export function withUnit(value: Value, form: Form): string {
  if (typeof value !== 'number' || !form.unit) return written(value, form);
  if (form.unit === 'cores') return cores(value);
  if (form.unit === 'GiB') return bytes(value * 2 ** 30);
  return written(value, form) + NBSP + form.unit;
}

// True if the unit is short enough for every tick. A longer unit is beside the axis.
export const isShort = (unit: string | undefined): boolean => (unit ?? '').length <= 5;

// Returns the format of an axis's ticks.
export function tickOf(form: Form): (value: number) => string {
  return (value) => {
    if (form.form === 'share') return percentTick(value);
    const kind = form.form === 'count' && !Number.isInteger(value) ? 'number' : form.form;
    const text = isShort(form.unit) ? withUnit(value, { ...form, form: kind }) : written(value, { form: kind });
    return text.replace(/(\.\d*?)0+(?=\D|$)/, '$1').replace(/\.(?=\D|$)/, '');
  };
}

// True if the column contains texts, and not only figures.
export const isWords = (table: TablePart, column: number): boolean =>
  table.columns[column]?.form === 'text' && table.rows.some((row) => typeof row[column] === 'string' && !/^[−-]?\d/.test(String(row[column])));

export const xOf = (chart: ChartPart, line: Line): number[] => line.x ?? chart.series[0]?.x ?? [];

// Interpolates a line linearly on the scales of the chart's axes; null outside of the line's points.
function valueAt({ x: across, y: up }: ChartPart, x: number[], y: number[], at: number): number | null {
  let high = 0;
  while (high < x.length && (x[high] ?? 0) < at) ++high;
  const right = x[high];
  if (right === undefined) return null;
  if (right === at) return y[high] ?? null;
  const left = x[high - 1];
  if (left === undefined) return null;
  const part = across.log ? Math.log(at / left) / Math.log(right / left) : (at - left) / (right - left);
  const [before, after] = [y[high - 1] ?? 0, y[high] ?? 0];
  return up.log ? before * (after / before) ** part : before + part * (after - before);
}

export interface Drawn { name: string; line: Line['line']; values: (number | null)[]; told: (number | null)[] }

// Returns all lines with common values of x. The values of a stacked line include the stacked lines before it, and the
// highest stacked line is first.
export function aligned(chart: ChartPart): { x: number[]; lines: Drawn[] } {
  const x = [...new Set(chart.series.flatMap((line) => xOf(chart, line)))].sort((a, b) => a - b);
  const same = chart.series.every((line) => xOf(chart, line).length === x.length);
  const lines = chart.series.map((line): Drawn => {
    const told = same ? line.y : x.map((at) => valueAt(chart, xOf(chart, line), line.y, at));
    return { name: line.name, line: line.line, told, values: told };
  });
  let below: number[] = x.map(() => 0);
  const bands = lines.filter((line) => line.line === 'stacked').map((line): Drawn => {
    below = below.map((sum, i) => sum + (line.told[i] ?? 0));
    return { ...line, values: below };
  });
  return { x, lines: [...bands.reverse(), ...lines.filter((line) => line.line !== 'stacked')] };
}

// Returns the powers of ten from `low` to `high`, at most eight.
export function powers(low: number, high: number): number[] {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / 8));
  const out: number[] = [];
  for (let e = first; e <= last; e += every) out.push(Number(`1e${e}`));
  return out;
}

const DURATIONS = [1e-3, 1e-2, 0.1, 1, 10, 60, 600, 3600, 6 * 3600, 86400, 7 * 86400, 30 * 86400];
// Returns round durations in seconds: 1 s, 10 s, 1 min, ...
export const roundDurations = (low: number, high: number): number[] => DURATIONS.filter((s) => s >= low * (1 - 1e-9) && s <= high * (1 + 1e-9));

const NAMED: Record<string, string> = {
  usage: '--p-analogs', allocation: '--p-vpa', reservation: '--p-ensemble', capacity: '--owner', "owners' limits": '--owner',
  load: '--d-quiet', 'load above the capacity': '--bad', 'capacity of the ready tasks': '--limit',
  'reserved by production': '--d-held', 'reserved by others': '--d-quiet', 'limits of production': '--limit', 'all limits': '--other',
  running: '--d-quiet', pending: '--bad', production: '--p-analogs', batch: '--p-vpa', mid: '--p-moving_window', free: '--p-peak',
  monitoring: '--p-work_function', clairvoyant: '--owner', oracle: '--other',
};
const OTHERS = ['--p-analogs', '--p-ensemble', '--p-moving_window', '--p-work_function', '--p-vpa', '--p-peak', '--p-crane', '--p-krr'];

// Returns one colour per name in all charts of a report; names that differ only after a comma have the same colour.
export function coloursOf(document: ReportDocument): (name: string) => string {
  const keyOf = (name: string): string => name.split(',')[0] ?? name;
  const known = new Map<string, string>();
  for (const part of document.sections.flatMap((section) => section.parts)) {
    if (part.is !== 'chart') continue;
    for (const { name } of part.series) {
      const key = keyOf(name);
      if (!(key in NAMED) && !known.has(key)) known.set(key, OTHERS[known.size % OTHERS.length] ?? '--limit');
    }
  }
  return (name) => NAMED[keyOf(name)] ?? known.get(keyOf(name)) ?? '--limit';
}
