// Usage, limits and costs of jobs over time, by a label or by job.
import { withParams } from '../api/client';
import { useMay } from '../api/may';
import { useQuery } from '../api/query';
import type { BillPage, BudgetPage, BudgetRow, CostGroup, CostPage, CostSums, Status } from '../api/types';
import { NONE, amountShort, capital, count, hours, listed, moneyFigure, percent, plural, price } from '../lib/format';
import { now as cellNow } from '../lib/clock';
import { RESOURCE, RESOURCES } from '../lib/resource';
import { changeQuery, hrefOf, jobHref } from '../lib/route';
import { PERIODS, spanOf } from '../lib/period';
import { dateTime, utc } from '../lib/time';
import { Card, Problem, Segments, Skeleton } from '../ui/basics';
import { Chart, type Series } from '../ui/chart';
import { Snippet } from '../ui/snippet';
import { Treemap } from '../ui/treemap';
import { useFirst } from '../ui/more';
import { TableBox } from '../ui/table_box';
import { Businesses } from './businesses';

const HOUR = 3600;
const DAY = 24 * HOUR;
const MOST = 200;
// Measure of shares and the chart without prices: amounts of different resources cannot be added.
const MEASURE = 'cpu';
// Returns "12 % less"; "" if there is nothing to compare.
const lessText = (saved: number, of: number): string => (of > 0 && Math.abs(saved) > of * 5e-4 ? `, ${percent(Math.abs(saved) / of)} ${saved < 0 ? 'more' : 'less'}` : '');

function Headline({ page }: { page: CostPage }) {
  const { total } = page;
  const cost = total.cost;
  const jobs = plural(total.jobs, 'job');
  if (!cost || page.currency === undefined) {
    return <p class="gloss">{jobs} used {listed(RESOURCES.map((r) => <em>{hours(total[r].usage)} {RESOURCE[r].hours}</em>))} of {listed(RESOURCES.map((r) => hours(total[r].billed)))} that they had or used.</p>;
  }
  const unit = page.currency;
  return (
    <p class="gloss">
      {jobs} cost <em>{price(cost.billed, unit)}</em>; <em>{percent(cost.billed > 0 ? cost.idle / cost.billed : null)}</em> of it is idle: limits above usage.{' '}
      {Math.abs(cost.saved) > cost.owner * 5e-4 && <>Limits in force saved <em>{price(cost.saved, unit)}</em> against the owners'{lessText(cost.saved, cost.owner)}. </>}
      With the recommended limits everywhere it would have been <em>{price(Math.abs(cost.would_save), unit)}</em> {cost.would_save < 0 ? 'more' : 'less'} than with the owners'.{' '}
      <span class="muted">These are the sums of the time above; the page Fleet has what the limits of now come to in a month of 730 hours.</span>
    </p>
  );
}

// Bars of the larger of usage and limits, with usage in front.
function series(page: CostPage): { series: Series[]; unit: string } {
  const of = (get: (sums: CostSums) => number): (number | null)[] => [...page.steps.map(get), null];
  const money = page.currency !== undefined;
  const billed = money ? of((s) => s.cost?.billed ?? 0) : of((s) => s[MEASURE].billed);
  const used = money ? of((s) => s.cost?.usage ?? 0) : of((s) => s[MEASURE].usage);
  const owner = money ? of((s) => s.cost?.owner ?? 0) : of((s) => s[MEASURE].owner);
  owner[page.steps.length] = owner[page.steps.length - 1] ?? null;
  return {
    unit: `in ${page.currency ?? RESOURCE[MEASURE].hours}`,
    series: [
      { name: 'Limits, or usage above them', values: billed, colour: '--limit', style: 'bars' }, { name: 'Used', values: used, colour: '--usage', style: 'bars' },
      { name: "With the owners' limits", values: owner, colour: '--owner', style: 'step-dash' },
    ],
  };
}

function Over({ page, hourly }: { page: CostPage; hourly: boolean }) {
  const chart = series(page);
  const time = page.steps.map((s) => s.time);
  const end = (time[time.length - 1] ?? page.to) + (hourly ? HOUR : DAY);  // a step has a width
  const format = (value: number) => (page.currency !== undefined ? price(value, page.currency) : `${hours(value)} ${RESOURCE[MEASURE].hours}`);
  return (
    <Card title={hourly ? 'By the hour' : 'By day'} hint={`From ${dateTime(time[0] ?? page.from)} on. Days are those of UTC${hourly ? '; hours are kept of the newest day only' : ', the newest so far'}.`}>
      <Chart label="Cost over time" time={[...time, end]} series={chart.series} unit={chart.unit} height={200}
        format={format} tick={(value) => amountShort(MEASURE, value)} />
    </Card>
  );
}

function Name({ group, by }: { group: CostGroup; by: string }) {
  if (group.value === null) return <i>{by === ':job' ? 'forgotten jobs' : 'none'}</i>;
  if (by === ':job') return <a href={jobHref(group.value)}>{group.value}</a>;
  return <a href={hrefOf('jobs', { search: `${by}=${group.value}` })} title="Its jobs">{group.value}</a>;
}

function Row({ group, page }: { group: CostGroup; page: CostPage }) {
  const { cost } = group;
  const share = cost && page.total.cost && page.total.cost.billed > 0 ? cost.billed / page.total.cost.billed : 0;
  return (
    <tr>
      <th scope="row"><Name group={group} by={page.by} /></th>
      {page.by !== ':job' && <td class="num">{count(group.jobs)}</td>}
      {cost && (
        <>
          <td class="num cost-share" style={{ '--share': share }} title={`${percent(share)} of all`}>{moneyFigure(cost.billed)}</td>
          <td class="num">{moneyFigure(cost.idle)} <span class="muted">{cost.billed > 0 ? percent(cost.idle / cost.billed) : NONE}</span></td>
          <td class="num">{moneyFigure(cost.saved)}</td>
          <td class="num">{moneyFigure(cost.would_save)}</td>
        </>
      )}
      {RESOURCES.flatMap((r) => (['usage', 'allocation'] as const).map((key) => <td key={r + key} class="num">{hours(group[r][key])}</td>))}
    </tr>
  );
}

function Shares({ page }: { page: CostPage }) {
  const value = (sums: CostSums) => sums.cost?.billed ?? sums[MEASURE].billed;
  const text = (amount: number) => (page.currency !== undefined ? price(amount, page.currency) : `${hours(amount)} ${RESOURCE[MEASURE].hours}`);
  const items = page.groups.map((group) => ({ name: group.value ?? (page.by === ':job' ? 'forgotten jobs' : 'none'), value: value(group), text: text(value(group)) }))
    .sort((a, b) => b.value - a.value);
  if (items.filter((item) => item.value > 0).length < 2) return null;
  const beyond = Math.max(0, value(page.total) - items.reduce((sum, item) => sum + item.value, 0));
  return (
    <Treemap label={`Shares of the ${page.currency !== undefined ? 'cost' : RESOURCE[MEASURE].hours}`} items={items}
      rest={{ count: Math.max(0, page.number_of_groups - items.length), value: page.number_of_groups > items.length ? beyond : 0, text }} />
  );
}

function Table({ page }: { page: CostPage }) {
  const money = page.currency;
  const first = useFirst(page.groups, 'rows');
  return (
    <TableBox class="costs" label="Costs">
      <table>
        <thead>
          <tr>
            <th scope="col">{page.by === ':job' ? 'Job' : page.by}</th>{page.by !== ':job' && <th scope="col">Jobs</th>}
            {money !== undefined && (
              <>
                <th scope="col" title="The larger of usage and limits in each window of 5 minutes">{`Cost, ${money}`}</th>
                <th scope="col" title="Cost less usage">{`Idle, ${money}`}</th>
                <th scope="col" title="Owners' limits less the limits in force">{`Saved, ${money}`}</th>
                <th scope="col" title="Owners' limits less the recommended limits">{`Would save, ${money}`}</th>
              </>
            )}
            {RESOURCES.flatMap((r) => ['used', 'of limits'].map((what) => <th key={r + what} scope="col">{capital(RESOURCE[r].hours)} {what}</th>))}
          </tr>
        </thead>
        <tbody>{first.rows.map((group) => <Row key={group.value ?? ''} group={group} page={page} />)}</tbody>
      </table>
      {first.more}
      {page.number_of_groups > page.groups.length && <p class="hint">{count(page.groups.length)} of {count(page.number_of_groups)} values are shown.</p>}
    </TableBox>
  );
}

// Returns 'over' if the budget is exceeded, 'will' if the forecast exceeds it, else 'ok'.
export function budgetState(budget: BudgetRow): 'over' | 'will' | 'ok' {
  return budget.spent > budget.per_month ? 'over' : budget.forecast > budget.per_month ? 'will' : 'ok';
}
const STATE = { over: 'over', will: 'will be over', ok: 'within' };

function Budgets({ page }: { page: BudgetPage }) {
  const currency = page.currency ?? '';
  return (
    <Card title="Budgets of this month" hint={`Spent since ${utc(page.from)}; the forecast takes the rest of the month as the last 7 days.`}>
      <TableBox class="costs" label="Budgets">
        <table>
          <thead><tr><th scope="col">Budget</th><th scope="col">State</th><th scope="col">{`Spent, ${currency}`}</th><th scope="col">{`Forecast, ${currency}`}</th><th scope="col">{`Budget, ${currency}`}</th></tr></thead>
          <tbody>
            {page.budgets.map((budget) => (
              <tr key={budget.name}>
                <th scope="row">{budget.label === '' ? 'all jobs' : <a href={hrefOf('jobs', { search: budget.name })}>{budget.name}</a>}</th>
                <td class={`num ${budgetState(budget) === 'ok' ? '' : 'bad'}`}>{STATE[budgetState(budget)]}</td>
                <td class="num cost-share" style={{ '--share': Math.min(1, budget.spent / budget.per_month) }}>{moneyFigure(budget.spent)} <span class="muted">{percent(budget.spent / budget.per_month)}</span></td>
                <td class="num">{moneyFigure(budget.forecast)} <span class="muted">{percent(budget.forecast / budget.per_month)}</span></td>
                <td class="num">{moneyFigure(budget.per_month)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableBox>
    </Card>
  );
}

// Charges of groups, by their tiers' rules and prices.
function Bills({ page }: { page: BillPage }) {
  const groups = page.groups;
  const first = useFirst(groups, 'groups');
  const all = Number(page.total);
  const machines = Number(page.machine_cost ?? 0);
  const platform = Number(page.platform ?? 0);
  return (
    <Card title="Bill of this month" hint={`By the tiers and prices of the price file, from ${utc(page.counted_from)} up to now, in ${page.currency}.${machines > 0 ? ` The machines cost ${moneyFigure(machines)}; ${platform < 0 ? `the bills are ${moneyFigure(-platform)} more than that` : `the platform bears ${moneyFigure(platform)}`}.` : ''}`}>
      <TableBox class="costs" label="Bill by group">
        <table>
          <thead><tr><th scope="col">Group</th><th scope="col">{`Total, ${page.currency}`}</th><th scope="col">Charges</th><th scope="col" title="Share of the cost of what no one was charged for">Idle</th><th scope="col">Jobs</th><th scope="col" class="text">Charged by tier</th></tr></thead>
          <tbody>
            {first.rows.map((group) => (
              <tr key={group.group}>
                <th scope="row">{group.group}</th>
                <td class="num cost-share" style={{ '--share': all > 0 ? Number(group.total) / all : 0 }}>{moneyFigure(Number(group.total))}</td>
                <td class="num">{moneyFigure(Number(group.charges) - Number(group.credits))}</td>
                <td class="num">{moneyFigure(Number(group.idle))}</td>
                <td class="num">{count(group.jobs)}</td>
                <td class="text muted">{[...new Set(group.lines.map((line) => `${line.tier}: ${line.rule.replace(/_/g, ' ')}`))].join(', ')}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {first.more}
        {page.number_of_groups > groups.length && <p class="hint">{count(groups.length)} of {count(page.number_of_groups)} groups are shown.</p>}
        {page.price_changes.map((change) => (
          <p class="hint" key={`${change.time} ${change.from} ${change.what}`}>The price file read at {utc(change.time)} bills {utc(change.from)} to {utc(change.to)} otherwise than before: {change.what}.</p>
        ))}
      </TableBox>
    </Card>
  );
}

// If no limit is known, only usage is charged.
function Unknown({ total }: { total: CostSums }) {
  const parts = RESOURCES.filter((r) => (total[r].without_allocation ?? 0) > 0).map((r) => `${percent(total[r].without_allocation)} of the time for ${RESOURCE[r].word}`);
  return parts.length > 0 ? <p class="hint">No limit is known {listed(parts)}: usage counts there.</p> : null;
}

// Usage that history reported after the period was counted.
function Late({ page }: { page: CostPage }) {
  const { late, currency } = page;
  if (RESOURCES.every((r) => late[r].billed <= 0)) return null;
  const what = late.cost && currency !== undefined ? price(late.cost.billed, currency) : listed(RESOURCES.map((r) => `${hours(late[r].billed)} ${RESOURCE[r].hours}`));
  return <p class="hint">{what} of it was read later from history, of jobs that appeared late and of gaps.</p>;
}

export function CostsPage({ query }: { query: Record<string, string> }) {
  const period = PERIODS.find((p) => p.value === query.period)?.value ?? '30';
  const hourly = period === '2';
  const span = spanOf(period, cellNow());
  const may = useMay('see_money');
  const answer = useQuery<CostPage>(may !== true ? null : withParams('costs', { ...span, by: query.by ?? '', step: hourly ? 'hour' : 'day', limit: MOST }), { on: ['window'], keep: true });
  const budgets = useQuery<BudgetPage>(may !== true ? null : 'budgets', { on: ['window'], keep: true }).data;
  const status = useQuery<Status>('status', { keep: true }).data;
  const billed = status?.bills === true;
  const billAnswer = useQuery<BillPage>(billed && may === true ? withParams('bills', { limit: MOST }) : null, { on: ['window'], keep: true });
  const bills = billAnswer.data;
  const page = answer.data;
  const set = (change: Record<string, string>) => changeQuery('costs', change);
  if (may === false) return <div class="wide page"><h1 class="small">Costs</h1><p class="hint nothing">Costs are shown to owners and budget holders of a group.</p></div>;
  return (
    <div class="wide page">
      <h1 class="small">Costs</h1>
      <div class="cost-tools">
        <Segments label="Period" value={period} choices={PERIODS} onPick={(value) => set({ period: value === '30' ? '' : value })} />
        {page && (
          <label>By <select value={page.by} onChange={(event) => set({ by: event.currentTarget.value })}>
            {page.labels.map((label) => <option key={label} value={label}>{label}</option>)}
            <option value=":job">job</option>
          </select></label>
        )}
      </div>
      {answer.error && <Problem text={answer.error.message} retry={answer.reload} />}
      {!page ? !answer.error && <div class="card"><Skeleton lines={8} /></div> : page.groups.length === 0 ? <p class="hint nothing">Nothing was measured in this time. <a href={hrefOf('fleet')}>Fleet</a> says what arrives; costs begin with the first window that closes.</p> : (
        <>
          <Headline page={page} />
          {status?.businesses === true && <Businesses />}
          {budgets && budgets.budgets.length > 0 && <Budgets page={budgets} />}
          {billAnswer.error && <Problem text={`The bill: ${billAnswer.error.message}`} retry={billAnswer.reload} />}
          {bills && bills.groups.length > 0 && <Bills page={bills} />}
          {page.steps.length > 1 && <Over page={page} hourly={hourly} />}
          <div class="card"><Shares page={page} /><Table page={page} /><Unknown total={page.total} /><Late page={page} /></div>
          {page.currency === undefined && (
            <Card title="Costs in money" hint="Add the price of a core and of a GiB of memory for an hour to the configuration file of tautd and restart it.">
              <Snippet label="Configuration for tautd" text={'prices: {core_hour: 0.03, gib_hour: 0.004, currency: EUR}\n'} />
            </Card>
          )}
        </>
      )}
    </div>
  );
}
