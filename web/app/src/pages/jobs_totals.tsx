// Sums over the jobs with the same value of a label, in place of the table of jobs.
import { withParams } from '../api/client';
import { useQuery } from '../api/query';
import type { LabelTotals } from '../api/types';
import { amount, count, money } from '../lib/format';
import { Problem, Skeleton } from '../ui/basics';

const MOST = 1000;

export function JobsTotals({ by, search, mode, onPick }: { by: string; search: string; mode: string; onPick: (search: string) => void }) {
  const query = useQuery<LabelTotals>(withParams('totals', { by, search, mode, limit: MOST }), { on: ['window', 'setting'] });
  const page = query.data;
  if (query.error) return <Problem text={query.error.message} retry={query.reload} />;
  if (!page) return <Skeleton lines={6} />;
  const currency = page.currency;
  const pick = (value: string) => onPick([search, `${by}=${value}`].filter(Boolean).join(' '));
  return (
    <div class="label-totals">
      <table>
        <thead>
          <tr>
            <th scope="col">{by}</th><th scope="col">Jobs</th><th scope="col">Tasks</th>
            <th scope="col">CPU used</th><th scope="col">CPU, owner's limit</th><th scope="col">CPU would save</th>
            <th scope="col">Memory used</th><th scope="col">Memory, owner's limit</th><th scope="col">Memory would save</th>
            {currency !== undefined && <th scope="col">A month</th>}
          </tr>
        </thead>
        <tbody>
          {page.groups.map((group) => (
            <tr key={group.value ?? ''}>
              <th scope="row">{group.value === null ? <i>none</i> : <button type="button" class="link" onClick={() => pick(group.value ?? '')}>{group.value}</button>}</th>
              <td class="num">{count(group.jobs)}</td><td class="num">{count(group.tasks)}</td>
              {(['cpu', 'memory'] as const).flatMap((r) => (['usage', 'owner_limit', 'would_save'] as const).map((key) => <td key={r + key} class="num">{amount(r, group[r][key])}</td>))}
              {currency !== undefined && <td class="num">{group.saving_per_month === undefined ? '' : money(group.saving_per_month, currency)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
      {page.groups.length === 0 && <p class="hint nothing">No job matches.</p>}
      {page.total > page.groups.length && <p class="hint">{count(page.groups.length)} of {count(page.total)} values are shown.</p>}
    </div>
  );
}
