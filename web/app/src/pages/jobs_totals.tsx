// Sums over the jobs with the same value of a label or property, shown in place of the table of jobs.
import { withParams } from '../api/client';
import { useQuery } from '../api/query';
import type { JobSums, LabelTotals, Resource } from '../api/types';
import { NONE, amount, capital, count, moneyFigure, percent, plural, chance } from '../lib/format';
import { KILLING_FIRST, RESOURCE, RESOURCES } from '../lib/resource';
import { Problem, Skeleton } from '../ui/basics';

const MOST = 1000;

// Properties by which jobs can be grouped, besides their labels.
export const PROPERTIES: readonly [by: string, name: string][] = [
  [':class', 'Class'], [':tasks', 'Number of tasks'], ...KILLING_FIRST.map((r): [string, string] => [`:${r}_size`, `${RESOURCE[r].title} size of a task`]),
];

// Share of days above the recommended limits, and the forecast.
function RiskCell({ resource, sums }: { resource: Resource; sums: JobSums }) {
  if (sums.job_days === 0) return <td class="num muted">{NONE}</td>;
  return (
    <td class="num" title={`${count(sums.job_days_over)} of ${plural(sums.job_days, 'job-day')} of the last 7 days had usage above the recommended limit${sums.chance === null ? '' : `; the mean forecast of tomorrow's ${RESOURCE[resource].atLimit.days} is ${chance(sums.chance)}`}`}>
      {percent(sums.job_days_over / sums.job_days)}{sums.chance !== null && <span class="muted"> / {chance(sums.chance)}</span>}
    </td>
  );
}

export function JobsTotals({ by, search, mode, onPick }: { by: string; search: string; mode: string; onPick: (search: string) => void }) {
  const query = useQuery<LabelTotals>(withParams('totals', { by, search, mode, limit: MOST }), { on: ['window', 'setting'] });
  const page = query.data;
  if (query.error) return <Problem text={query.error.message} retry={query.reload} />;
  if (!page) return <Skeleton lines={6} />;
  const currency = page.currency;
  const property = PROPERTIES.find(([key]) => key === by)?.[1];
  const forecast = (resource: Resource) => page.groups.some((group) => group[resource].chance !== null);
  const pick = (value: string) => onPick([search, `${by}=${value}`].filter(Boolean).join(' '));
  return (
    <div class="label-totals">
      <table>
        <thead>
          <tr>
            <th scope="col">{property ?? by}</th><th scope="col">Jobs</th><th scope="col">Tasks</th>
            {RESOURCES.flatMap((r) => [' used', ", owner's limit", ' would save'].map((what) => <th key={r + what} scope="col">{RESOURCE[r].title}{what}</th>))}
            {currency !== undefined && <th scope="col">{`${currency} saved a month`}</th>}
            {KILLING_FIRST.map((r) => <th key={r} scope="col" title="of the job-days of the last 7 days">{capital(RESOURCE[r].atLimit.days)}{forecast(r) && ' / forecast'}</th>)}
          </tr>
        </thead>
        <tbody>
          {page.groups.map((group) => (
            <tr key={group.value ?? ''}>
              <th scope="row">{group.value === null ? <i>none</i> : property !== undefined ? group.value : <button type="button" class="link" onClick={() => pick(group.value ?? '')}>{group.value}</button>}</th>
              <td class="num">{count(group.jobs)}</td><td class="num">{count(group.tasks)}</td>
              {RESOURCES.flatMap((r) => (['usage', 'owner_limit', 'would_save'] as const).map((key) => <td key={r + key} class="num">{amount(r, group[r][key])}</td>))}
              {currency !== undefined && <td class="num">{group.saving_per_month === undefined ? '' : moneyFigure(group.saving_per_month)}</td>}
              {KILLING_FIRST.map((r) => <RiskCell key={r} resource={r} sums={group[r]} />)}
            </tr>
          ))}
        </tbody>
      </table>
      {page.groups.length === 0 && <p class="hint nothing">No job matches.</p>}
      {page.total > page.groups.length && <p class="hint">{count(page.groups.length)} of {count(page.total)} values are shown.</p>}
    </div>
  );
}
