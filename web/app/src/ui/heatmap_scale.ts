// Maps values to the heatmap's log axis and shares to colours. This file does not draw.
import type { Amount, Heatmap, Resource } from '../api/types';
import { RESOURCE } from '../lib/resource';

export interface Span { low: number; high: number }

// Usage as drawn; `ooms` are marked at the top.
export type UsageMap = Pick<Heatmap, 'resource' | 'from' | 'to' | 'column_seconds' | 'time' | 'buckets' | 'cells' | 'ooms'>;

// A limit over time: values[i] is in force from at[i] on, the last one until `until`.
export interface LimitLine { at: number[]; values: Amount[]; until: number; colour: string; style: 'line' | 'dash' | 'dots'; width: number }

// The range from the lowest usage to the highest usage or line; at most four decades, so that an idle job stays readable.
export function valueSpan(map: UsageMap, lines: readonly { values: Amount[] }[]): Span {
  let low = Infinity;
  let high = 0;
  for (const [, row] of map.cells) {
    const upper = map.buckets[row];
    if (upper === undefined) continue;
    low = Math.min(low, lowerBound(map.buckets, row));
    high = Math.max(high, upper);
  }
  for (const line of lines) {
    for (const value of line.values) {
      if (value === null || !(value > 0)) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  if (!(high > 0)) return { low: 1, high: 2 };
  return { low: Math.max(low, high / 1e4) / 1.12, high: high * 1.2 };
}

// Merges columns until at most `columns` remain. A merged column is the mean of its parts.
export function thinned(map: UsageMap, columns: number): UsageMap {
  const merge = Math.round(map.time.length / Math.max(1, columns));
  if (merge < 2) return map;
  const parts = Array.from({ length: Math.ceil(map.time.length / merge) }, () => ({ shares: new Map<number, number>(), measured: new Set<number>() }));
  for (const [column, row, share] of map.cells) {
    const part = parts[Math.floor(column / merge)];
    part?.shares.set(row, (part.shares.get(row) ?? 0) + share);
    part?.measured.add(column);
  }
  return {
    ...map, column_seconds: map.column_seconds * merge, time: map.time.filter((_, i) => i % merge === 0),
    cells: parts.flatMap(({ shares, measured }, column) => [...shares].map(([row, share]): [number, number, number] => [column, row, share / measured.size])),
  };
}

// Removes the time before a young job's first data, because otherwise the data would be a sliver at the right edge.
export function fitted(map: Heatmap): Heatmap {
  const first = map.time[0];
  if (first === undefined || first - map.from < 0.1 * (map.to - map.from)) return map;
  return { ...map, from: Math.max(map.from, first - 0.02 * (map.to - first)) };
}

export function lowerBound(buckets: number[], row: number): number {
  const own = buckets[row] ?? 0;
  if (row > 0) return buckets[row - 1] ?? 0;
  const next = buckets[1];
  return next === undefined ? own / 1.05 : own * (own / next);
}

// Returns the position of a value: 0 at the bottom, 1 at the top.
export function height(span: Span, value: number): number {
  return Math.log(value / span.low) / Math.log(span.high / span.low);
}

// Returns about `wanted` round values: powers of two for bytes, 1-2-5 for cores.
export function logTicks(resource: Resource, span: Span, wanted: number): number[] {
  const all: number[] = [];
  if (RESOURCE[resource].unit.base === 2) {
    for (let e = Math.ceil(Math.log2(span.low)); 2 ** e <= span.high; ++e) all.push(2 ** e);
    if (all.length < 3) for (const v of [...all, (all[0] ?? span.high) / 2]) for (const m of [1.25, 1.5, 1.75]) if (v * m >= span.low && v * m <= span.high) all.push(v * m);
  } else {
    for (let e = Math.floor(Math.log10(span.low)); 10 ** e <= span.high; ++e) {
      for (const m of [1, 2, 5]) if (m * 10 ** e >= span.low && m * 10 ** e <= span.high) all.push(m * 10 ** e);
    }
  }
  all.sort((a, b) => a - b);
  const step = Math.max(1, Math.ceil(all.length / wanted));
  return all.filter((_, i) => i % step === 0);
}

// Returns the strength of the colour: 0 for a share of at most 1 %, 1 for all; logarithmic in between.
export function level(share: number): number {
  if (!(share > 0)) return 0;
  return Math.max(0, Math.min(1, 1 + Math.log10(share) / 2));
}

// Returns the last column that starts at or before `time`, or -1.
export function columnAt(times: number[], time: number): number {
  let from = 0;
  let to = times.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((times[middle] ?? Infinity) <= time) from = middle + 1; else to = middle;
  }
  return from - 1;
}

// Returns the value that `share` of a column's weight does not exceed, by the buckets' upper bounds.
export function quantile(cells: [number, number][], buckets: number[], share: number): number | null {
  const sorted = [...cells].sort(([a], [b]) => a - b);
  const total = sorted.reduce((sum, [, weight]) => sum + weight, 0);
  let below = 0;
  for (const [row, weight] of sorted) {
    below += weight;
    if (below >= share * total - 1e-12) return buckets[row] ?? null;
  }
  return null;
}
