// Sums over the jobs with the same value of a label or property, in place of the table of jobs.
import { withParams } from '../api/client';
import { useQuery } from '../api/query';
import type { JobSums, LabelTotals, Resource } from '../api/types';
import { NONE, amount, count, moneyFigure, percent, plural, chance } from '../lib/format';
import { OVER_DAYS } from '../lib/saving';
import { Problem, Skeleton } from '../ui/basics';

const MOST = 1000;

// What jobs can be grouped by beside their labels.
export const PROPERTIES: readonly [by: string, name: string][] = [
  [':class', 'Class'], [':tasks', 'Number of tasks'], [':memory_size', 'Memory size of a task'], [':cpu_size', 'CPU size of a task'],
];

// Days above the recommended limits, beside the forecast.
function RiskCell({ resource, sums }: { resource: Resource; sums: JobSums }) {
  if (sums.job_days === 0) return <td class="num muted">{NONE}</td>;
  return (
    <td class="num" title={`${count(sums.job_days_over)} of ${plural(sums.job_days, 'job-day')} of the last 7 days had usage above the recommended limit${sums.chance === null ? '' : `; the mean forecast of tomorrow's ${OVER_DAYS[resource]} is ${chance(sums.chance)}`}`}>
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
            <th scope="col">CPU used</th><th scope="col">CPU, owner's limit</th><th scope="col">CPU would save</th>
            <th scope="col">Memory used</th><th scope="col">Memory, owner's limit</th><th scope="col">Memory would save</th>
            {currency !== undefined && <th scope="col">{`${currency} saved a month`}</th>}
            <th scope="col" title="of the job-days of the last 7 days">OOM-days{forecast('memory') && ' / forecast'}</th>
            <th scope="col" title="of the job-days of the last 7 days">Throttled days{forecast('cpu') && ' / forecast'}</th>
          </tr>
        </thead>
        <tbody>
          {page.groups.map((group) => (
            <tr key={group.value ?? ''}>
              <th scope="row">{group.value === null ? <i>none</i> : property !== undefined ? group.value : <button type="button" class="link" onClick={() => pick(group.value ?? '')}>{group.value}</button>}</th>
              <td class="num">{count(group.jobs)}</td><td class="num">{count(group.tasks)}</td>
              {(['cpu', 'memory'] as const).flatMap((r) => (['usage', 'owner_limit', 'would_save'] as const).map((key) => <td key={r + key} class="num">{amount(r, group[r][key])}</td>))}
              {currency !== undefined && <td class="num">{group.saving_per_month === undefined ? '' : moneyFigure(group.saving_per_month)}</td>}
              <RiskCell resource="memory" sums={group.memory} /><RiskCell resource="cpu" sums={group.cpu} />
            </tr>
          ))}
        </tbody>
      </table>
      {page.groups.length === 0 && <p class="hint nothing">No job matches.</p>}
      {page.total > page.groups.length && <p class="hint">{count(page.groups.length)} of {count(page.total)} values are shown.</p>}
    </div>
  );
}
