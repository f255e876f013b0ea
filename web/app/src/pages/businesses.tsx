// The money of businesses and groups: spending, who pays for whom, and the last entries of the ledger.
import type { ComponentChildren } from 'preact';
import { useQuery } from '../api/query';
import type { BudgetHolder, BudgetLedger, BusinessPage } from '../api/types';
import { NBSP, moneyFigure, percent } from '../lib/format';
import { ago, dateTime, utc } from '../lib/time';
import { Card, Problem } from '../ui/basics';
import { TableBox } from '../ui/table_box';

// Returns the state of a holder, such as "over" (budget exceeded), "will be over" or "within, frozen".
export function holderState(row: BudgetHolder): string {
  const [budget, spent, forecast] = [row.budget, row.spent, row.forecast].map(Number) as [number, number, number];
  const parts = [spent > budget ? 'over' : forecast > budget ? 'will be over' : 'within'];
  if (row.frozen) parts.push('frozen');
  if (row.removed) parts.push('removed');
  return parts.join(', ');
}

const amount = (text: string, unit: string): string => `${moneyFigure(Number(text))} ${unit}`;
const share = (bp: number): string => `${bp / 100}${NBSP}%`;

function HolderRow({ row, children }: { row: BudgetHolder; children: ComponentChildren }) {
  const budget = Number(row.budget);
  const state = holderState(row);
  const raised = row.overrides.map((o) => `${amount(o.amount, row.unit)} of it until ${dateTime(o.until)}`).join('; ');
  return (
    <tr>
      <th scope="row">{row.name}</th>
      <td class={`num ${state === 'within' ? '' : 'bad'}`} title={row.frozen_why}>{state}</td>
      <td class="num cost-share" style={{ '--share': budget > 0 ? Math.min(1, Number(row.spent) / budget) : 0 }}>{amount(row.spent, row.unit)} <span class="muted">{budget > 0 ? percent(Number(row.spent) / budget) : ''}</span></td>
      <td class="num">{amount(row.forecast, row.unit)}</td>
      <td class="num" title={raised}>{amount(row.budget, row.unit)}</td>
      <td class="num muted">{children}</td>
    </tr>
  );
}

function Holders({ title, last, rows, label }: { title: string; last: string; rows: ComponentChildren; label: string }) {
  return (
    <TableBox class="costs" label={label}>
      <table>
        <thead><tr><th scope="col">{title}</th><th scope="col">State</th><th scope="col">Spent</th><th scope="col">Forecast</th><th scope="col">Budget</th><th scope="col">{last}</th></tr></thead>
        <tbody>{rows}</tbody>
      </table>
    </TableBox>
  );
}

function Ledger({ page }: { page: BudgetLedger }) {
  return (
    <TableBox class="costs" label="Budget ledger">
      <table>
        <thead><tr><th scope="col">Last entries</th><th scope="col">When</th><th scope="col">Who</th><th scope="col">Why</th></tr></thead>
        <tbody>
          {page.entries.map((e) => (
            <tr key={e.id}><th scope="row">{e.text}</th><td class="num" title={dateTime(e.time)}>{ago(e.time)}</td><td class="num">{e.who}</td><td class="num muted">{e.why}</td></tr>
          ))}
        </tbody>
      </table>
    </TableBox>
  );
}

export function Businesses() {
  const answer = useQuery<BusinessPage>('businesses', { on: ['window'], keep: true });
  const ledger = useQuery<BudgetLedger>('budget-ledger?limit=8', { on: ['window'], keep: true }).data;
  const page = answer.data;
  if (answer.error) return <Problem text={`Budgets: ${answer.error.message}`} retry={answer.reload} />;
  if (!page || (page.businesses.length === 0 && page.groups.length === 0 && page.warnings.length === 0)) return null;
  const unfunded = Number(page.unfunded ?? 0);
  return (
    <Card title="Businesses and groups" hint={`${page.from === null ? '' : `Spent since ${utc(page.from)}; `}the forecast takes the rest of the period as the last 7 days. Spending is counted in ${page.currency} at one price of a core-hour and a GiB-hour; a bill goes by the tiers of the price file.`}>
      {page.warnings.map((warning) => <p class="hint bad" key={warning}>{warning}</p>)}
      {page.businesses.length > 0 && <Holders title="Business" last="Pays for" label="Businesses" rows={page.businesses.map((row) => (
        <HolderRow key={row.holder} row={row}>{row.pays_for.map((p) => `${p.group} ${share(p.share_bp)}`).join(', ')}</HolderRow>
      ))} />}
      {page.groups.length > 0 && <Holders title="Group" last="Paid by" label="Groups with budgets" rows={page.groups.map((row) => (
        <HolderRow key={row.holder} row={row}>{amount(row.spent_in_all, page.currency)} in all{row.funders.length > 0 ? `: ${row.funders.map((f) => `${f.business} ${share(f.share_bp)}`).join(', ')}` : ''}</HolderRow>
      ))} />}
      {unfunded > 0 && <p class="hint">No business pays for {amount(page.unfunded ?? '0', page.currency)}{page.without_budget.length > 0 ? `: ${page.without_budget.map((g) => `${g.group} ${amount(g.spent, page.currency)}`).join(', ')}` : ''}.</p>}
      {ledger && ledger.entries.length > 0 && <Ledger page={ledger} />}
    </Card>
  );
}
