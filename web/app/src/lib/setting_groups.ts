// Job settings in collapsible groups; changed ones are first.
import type { SettingRow } from '../api/types';

const GROUPS: [title: string, keys: RegExp][] = [
  ['Mode and recommender', /^(mode|external|class)$|(^|\.)(recommender|signal)$/],
  ['Risk', /^(risk|throttled|oom_tolerance)$|\.throttle_/],
  ['Bounds', /\.(lower|upper|allowed)$/],
  ['When limits change', /^(min_change|change_period|version|watch_version|maintenance|startup_grace)$|\.startup_/],
  ['Requests and templates of Kubernetes', /\.(applies_to|request_share)$|^in_template$/],
  ['Trials, and moving to auto', /^canary\.|^migrate$/],
  ['Replicas: the number of tasks', /^replicas\./],
];
const REST = 'Others';

export interface SettingGroup { title: string; rows: SettingRow[] }

// A changed setting is only in the first group.
export function groupsOf(table: readonly SettingRow[], changed: (row: SettingRow) => boolean): { changed: SettingRow[]; groups: SettingGroup[] } {
  const rest = table.filter((row) => !changed(row));
  const titleOf = (row: SettingRow) => GROUPS.find(([, keys]) => keys.test(row.key))?.[0] ?? REST;
  const groups = [...GROUPS.map(([title]) => title), REST].map((title) => ({ title, rows: rest.filter((row) => titleOf(row) === title) }));
  return { changed: table.filter(changed), groups: groups.filter(({ rows }) => rows.length > 0) };
}
