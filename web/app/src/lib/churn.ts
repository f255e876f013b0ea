// Merges decisions that revert each other: 2 tasks, 3, 2, 3 within a day are one entry of a list, with their number.
import type { Decision } from '../api/types';

const DAY = 86400;
const LEAST = 3;

// `decisions` contains one decision, or the decisions that alternate between `low` and `high`, newest first.
export interface Entry { decisions: [Decision, ...Decision[]]; churn: { low: number; high: number; seconds: number } | null }

const undoes = (d: Decision, older: Decision): boolean =>
  d.after !== null && d.before !== null && d.after === older.before && d.before === older.after && d.time - older.time <= DAY;

// Merges a list that is newest first. An entry is at the place of its newest decision.
export function entriesOf(list: readonly Decision[]): Entry[] {
  const chains = new Map<string, [Decision, ...Decision[]][]>();  // the last chain of each job and target may still grow
  const order: [Decision, ...Decision[]][] = [];
  for (const d of list) {
    const key = `${d.job}\n${d.target}`;
    const known = chains.get(key) ?? [];
    const last = known[known.length - 1];
    const end = last?.[last.length - 1];
    if (last && end && undoes(end, d)) { last.push(d); continue; }
    const chain: [Decision, ...Decision[]] = [d];
    chains.set(key, [...known, chain]);
    order.push(chain);
  }
  const places = new Map(list.map((d, i) => [d, i]));
  return order.flatMap((chain): Entry[] => {
    if (chain.length < LEAST) return chain.map((d) => ({ decisions: [d], churn: null }));
    const newest = chain[0];
    const oldest = chain[chain.length - 1] ?? newest;
    const [a, b] = [newest.before ?? 0, newest.after ?? 0];
    return [{ decisions: chain, churn: { low: Math.min(a, b), high: Math.max(a, b), seconds: newest.time - oldest.time } }];
  }).sort((a, b) => (places.get(a.decisions[0]) ?? 0) - (places.get(b.decisions[0]) ?? 0));
}
