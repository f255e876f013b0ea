// Compares the promised with the observed risk of limits.
import { useState } from 'preact/hooks';
import { useQuery } from '../api/query';
import type { PromisePage, PromiseRow, PromiseSums, PromiseTotal } from '../api/types';
import { NBSP, NONE, chance, count, percent, words } from '../lib/format';
import { RESOURCE } from '../lib/resource';
import { Card, Problem, Skeleton } from '../ui/basics';
import { TableBox } from '../ui/table_box';

const LIMITS = { set: 'in force', shown: 'shown' } as const;
const PROMISE: Record<PromiseTotal['promise'], string> = {
  none: 'nothing promised', chance: 'days above, as stated', fleet_share: 'work above, target of all jobs', job_share: 'work above, target of each job',
};

// Formats a share, never as "0 %", because no number of days can prove 0.
export function promiseShare(row: PromiseTotal, share: number | null): string {
  if (share === null) return NONE;
  if (row.counts === 'job_days') return chance(share);
  return share < 1e-5 ? 'under 0.001 %' : percent(share);
}

// If no day was above its limit, returns the upper bound that the number of days proves, such as "under 5.9 %" for 16 days. From
// 999 days on, the text is "under 0.1 %".
export function promiseDelivered(row: PromiseTotal, sums: PromiseSums): string {
  const never = row.counts === 'job_days' && sums.job_days_over === 0 && sums.job_days > 0 && sums.job_days < 999;
  return never ? `under ${Number((100 / (sums.job_days + 1)).toPrecision(2))}${NBSP}%` : promiseShare(row, sums.delivered);
}

// Returns a text such as "under 0.25 GiB" or "16 cores and more".
export function sizeText(row: Pick<PromiseRow, 'resource' | 'size'>): string {
  const unit = NBSP + RESOURCE[row.resource].unit.large;
  if (row.size.startsWith('<')) return `under ${row.size.slice(1)}${unit}`;
  return row.size.endsWith('+') ? `${row.size.slice(0, -1)}${unit} and more` : row.size.replace('-', ' to ') + unit;
}

export const promiseDays = (days: number): string => (days < 10 ? String(Number(days.toPrecision(2))) : count(Math.round(days)));

export const sameTotal = (total: PromiseTotal, row: PromiseTotal): boolean =>
  total.resource === row.resource && total.limits === row.limits && total.promise === row.promise;

function Figures({ row, sums }: { row: PromiseTotal; sums: PromiseSums }) {
  return (
    <>
      <td class="num">{promiseShare(row, sums.promised)}</td>
      <td class={`num ${row.broken ? 'bad' : ''}`}>{promiseDelivered(row, sums)}</td>
      <td class="num">{promiseDays(sums.job_days)}</td>
    </>
  );
}

// Broken promises are always shown.
function Rows({ page, total, open }: { page: PromisePage; total: PromiseTotal; open: boolean }) {
  const rows = page.rows.filter((row) => sameTotal(total, row));
  return (
    <tbody>
      <tr class="total">
        <th scope="row" class="name"><b>{RESOURCE[total.resource].title} limits {LIMITS[total.limits]}</b> <span class="muted">{PROMISE[total.promise]}</span></th>
        <Figures row={total} sums={total.recent} />
      </tr>
      {rows.length > 1 && rows.filter((row) => open || row.broken).map((row: PromiseRow) => (
        <tr key={`${row.class} ${row.size}`}>
          <th scope="row" class="name part">{words(row.class)}, {sizeText(row)}</th>
          <Figures row={row} sums={row.recent} />
        </tr>
      ))}
    </tbody>
  );
}

export function Promises() {
  const page = useQuery<PromisePage>('promises', { on: ['window'], keep: true });
  const data = page.data;
  const [open, setOpen] = useState(false);
  return (
    <Card title="Promised and delivered"
      hint={<>The share of job-days, or of work, above the limits that was promised, and the share that came. A day counts half after {data?.half_life_days ?? 30} days.</>}>
      {!data ? (page.error ? <Problem text={page.error.message} retry={page.reload} /> : <Skeleton lines={4} />)
        : data.totals.length === 0 ? <p class="hint nothing">No day is over yet of which a limit was recommended. Days are counted at midnight UTC.</p> : (
          <>
            {data.broken.map((sentence) => <p class="bad" key={sentence}>{sentence}</p>)}
            <TableBox class="promises" label="Promised and delivered">
              <table>
                <thead>
                  <tr>
                    <th scope="col" class="name">Limits</th>
                    <th scope="col">Promised</th>
                    <th scope="col" title="With one job-day more that went as promised">Delivered</th>
                    <th scope="col" title="Weighed by age">Job-days</th>
                  </tr>
                </thead>
                {data.totals.map((total) => <Rows key={`${total.resource} ${total.limits} ${total.promise}`} page={data} total={total} open={open} />)}
              </table>
            </TableBox>
            {data.rows.length > 0 && <p class="more"><button type="button" class="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? 'Totals only' : 'By class and size'}</button></p>}
          </>
        )}
    </Card>
  );
}
