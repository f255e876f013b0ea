// One job as a row of the table, or as a card on a narrow screen.
import type { JobRow, Resource } from '../api/types';
import { NONE, amount, amountShort, change, count, moneyFigure, percent, plural, price, significant } from '../lib/format';
import { KILLING_FIRST, RESOURCE, RESOURCES } from '../lib/resource';
import { jobHref } from '../lib/route';
import { allRisks, notSet, provisionalNote, realLimit, rowRisk, sameLimit, savingOf, tightness } from '../lib/saving';
import { ago } from '../lib/time';
import { ModeBadge, Time } from '../ui/basics';
import { JobLabel } from '../ui/job_label';

export interface Column { key: string; name: string; sort?: string; class: string; resource?: Resource; help?: string }

// `managed`: some jobs are in auto or canary, so that numbers of limit changes are meaningful. `currency`: of savings in money;
// undefined: there are no prices.
export interface View { managed: boolean; dry: boolean; currency?: string }

function amounts(resource: Resource): Column[] {
  const column = (key: string, name: string, sort: string, help: string): Column => ({ key: `${resource}-${key}`, name, sort: `${resource}_${sort}`, class: `num ${key}`, resource, help });
  return [
    column('usage', 'used', 'usage', "Mean usage in the last window, and its share of the owner's limit"),
    column('owner', "owner's", 'owner_limit', "The limit that the job's owner set; below it the limit of now, where that is another"),
    column('would', 'recommended', 'would_be', "The limit that Tautline recommends, against the owner's"),
  ];
}

export const columnsOf = (view: View): Column[] => [
  { key: 'name', name: 'Job', sort: 'name', class: 'name' },
  { key: 'mode', name: 'Mode', sort: 'mode', class: 'mode' },
  { key: 'tasks', name: 'Tasks', sort: 'tasks', class: 'num tasks' },
  { key: 'saving', name: view.currency === undefined ? 'Saving' : `Saving, ${view.currency}/month`, sort: view.currency === undefined ? 'saving' : 'saving_per_month', class: 'num saving',
    help: "The owner's requests less the recommended ones, of all tasks, since a cluster bills them; of limits where a job has no request. Negative: the job needs more than its owner set" },
  { key: 'risk', name: 'Risk', sort: `${KILLING_FIRST[0]}_chance`, class: 'num risk', help: 'Of the recommended limits: the chance of a day above them, or the share of work above them' },
  ...RESOURCES.flatMap((resource) => amounts(resource)),
  { key: 'ooms', name: 'OOMs', sort: 'ooms', class: 'num ooms', help: 'OOM kills of the last 7 days' },
  ...(view.managed ? [{ key: 'changed', name: 'Changed', sort: 'changed', class: 'num changed', help: 'The last change of a limit' }] : []),
];

// True if another number of tasks is recommended.
const scales = (row: JobRow): row is JobRow & { tasks_would_be: number } => row.tasks_would_be !== null && row.tasks_would_be !== row.tasks;

const times = (value: number | null, tasks: number): number | null => (value === null ? null : value * tasks);

function each(resource: Resource, row: JobRow, idle: boolean): string {
  const a = row[resource];
  return `${RESOURCE[resource].title}, each task\nused ${amount(resource, a.usage)}, peak ${amount(resource, a.peak)}\n`
    + `owner's limit ${amount(resource, a.owner_limit)}, now ${amount(resource, realLimit(a, idle))}\nrecommended ${amount(resource, a.would_be)}`
    + ((a.owner_request ?? null) === null ? '' : `\nrequest ${amount(resource, a.owner_request ?? null)}, recommended ${amount(resource, a.would_be_request ?? null)}: the saving is of it`);
}

// Formats an amount. Omits the unit if the table's head contains the unit.
function tableAmount(resource: Resource, value: number | null): string {
  return RESOURCE[resource].unit.counted && value !== null ? significant(value) : amount(resource, value);
}

function AmountCells({ resource, row, view }: { resource: Resource; row: JobRow; view: View }) {
  const a = row[resource];
  const idle = notSet(row, view.dry);
  const title = each(resource, row, idle);
  const real = realLimit(a, idle);
  const cell = (value: number | null, below: string, kind = '', note = title) => (
    <span role="gridcell" class={`cell num ${kind} ${value === null || value === 0 ? 'none' : ''}`} title={note}>
      {value === 0 ? NONE : tableAmount(resource, times(value, row.tasks))}
      {below && <small>{below}</small>}
    </span>
  );
  return (
    <>
      {cell(a.usage, a.usage !== null && a.owner_limit ? percent(a.usage / a.owner_limit, 0) : '', a.at_limit ? 'at-limit' : '', a.at_limit ? `Its usage reached the limit today or yesterday.\n${title}` : title)}
      {cell(a.owner_limit, real !== null && !sameLimit(real, a.owner_limit) ? `now ${tableAmount(resource, times(real, row.tasks))}` : '')}
      {a.provisional ? <span role="gridcell" class="cell num would" title={provisionalNote(a) ?? ''}>~{tableAmount(resource, times(a.provisional_limit, row.tasks))}<small>provisional</small></span>
        : cell(a.would_be, sameLimit(a.owner_limit, a.would_be) ? (a.would_be === null ? '' : 'the same') : change(a.owner_limit, a.would_be), 'would')}
    </>
  );
}

// Returns a text for each resource with a noticeable saving: "167 cores", "182 GiB".
export const savingParts = (row: JobRow): string[] =>
  RESOURCES.map((r) => [r, savingOf(row, r)] as const).filter(([, value]) => value !== null && value !== 0)
    .map(([r, value]) => `${amountShort(r, value)}${RESOURCE[r].unit.counted && !/[a-z]$/.test(amountShort(r, value)) ? ` ${RESOURCE[r].unit.name}` : ''}`);

function SavingCell({ row, currency }: { row: JobRow; currency: string | undefined }) {
  const parts = savingParts(row);
  const worth = row.saving_per_month ?? null;
  const none = currency === undefined ? parts.length === 0 : worth === null || parts.length === 0;
  const less = currency === undefined ? RESOURCES.every((r) => (savingOf(row, r) ?? 0) <= 0) && parts.length > 0 : worth !== null && worth < 0;
  const lines = none ? [NONE, ''] : currency === undefined ? [parts[0], parts.slice(1).join(', ')] : [moneyFigure(worth ?? 0), parts.join(', ')];
  return (
    <span role="gridcell" class={`cell num saving ${none ? 'none' : less ? 'less' : ''}`} title={none ? "No owner's limit, no recommendation yet, or the recommendation is the owner's limit" : undefined}>
      {lines[0]}{lines[1] && <small>{lines[1]}</small>}
    </span>
  );
}

function RiskCell({ row }: { row: JobRow }) {
  const risk = rowRisk(row);
  return <span role="gridcell" class={`cell num risk ${risk ? '' : 'none'}`} title={risk ? allRisks(row) : 'No recommended limit is a day old yet'}>{risk?.text ?? NONE}{risk && <small>{risk.unit}</small>}</span>;
}

function Marks({ row }: { row: JobRow }) {
  if (row.whole_machine) return <i class="mark" title="All that its machines use: it is in no sum, since their containers and processes are jobs of their own">machine</i>;
  const reasons = tightness(row);
  return reasons.length > 0 ? <i class="mark" title={reasons.join('\n')}>{RESOURCES.some((r) => row[r].at_limit) ? 'at limit' : 'too tight'}</i> : null;
}

interface Props { index: number; row: JobRow | null; top: number; active: boolean; view: View; onPick: () => void }

export function JobGridRow({ index, row, top, active, view, onPick }: Props) {
  const style = { transform: `translateY(${top}px)` };
  if (!row) return <div class="grid-row body waiting" role="row" id={`job-${index}`} aria-rowindex={index + 1} style={style} />;
  return (
    <div class={`grid-row body ${active ? 'active' : ''}`} role="row" id={`job-${index}`} aria-rowindex={index + 1} aria-selected={active}
      style={style} onClick={onPick}>
      <span role="gridcell" class="cell name"><a class="job-link" href={jobHref(row.name)} tabIndex={-1} title={`${row.name}\n${row.recommender}`}><JobLabel job={row} /></a><Marks row={row} /></span>
      <span role="gridcell" class="cell mode"><ModeBadge mode={row.mode} />{row.trial && <i class="trial" title="A canary trial is under way">trial</i>}</span>
      <span role="gridcell" class="cell num tasks" title={scales(row) ? `${plural(row.tasks, 'task')}; ${count(row.tasks_would_be)} are recommended` : undefined}>
        {count(row.tasks)}{scales(row) && <small>→ {count(row.tasks_would_be)}</small>}
      </span>
      <SavingCell row={row} currency={view.currency} />
      <RiskCell row={row} />
      {RESOURCES.map((r) => <AmountCells key={r} resource={r} row={row} view={view} />)}
      <span role="gridcell" class={`cell num ooms ${row.ooms ? 'bad' : 'none'}`}>{row.ooms || NONE}</span>
      {view.managed && <span role="gridcell" class="cell num changed">{row.last_change === null ? <i class="none">{NONE}</i> : <Time at={row.last_change} age />}</span>}
    </div>
  );
}

function CardLine({ resource, row }: { resource: Resource; row: JobRow }) {
  const a = row[resource];
  const short = (value: number | null) => amountShort(resource, times(value, row.tasks));
  const { title, unit } = RESOURCE[resource];
  return (
    <span class="card-line">
      <span class="muted">{title}</span>
      <span class={a.at_limit ? 'at-limit' : ''}>{short(a.usage)} of {short(a.owner_limit)}{unit.counted && ` ${unit.name}`}</span>
      {a.would_be !== null && <span class="would" title="Recommended">→ {short(a.would_be)}</span>}
      {a.provisional && <span class="would" title={provisionalNote(a) ?? ''}>→ ~{short(a.provisional_limit)}</span>}
    </span>
  );
}

// Returns the saving in money if there are prices, because a narrow card has no room for money and amounts.
export function savingText(row: JobRow, currency?: string): string {
  const parts = RESOURCES.map((r) => [r, savingOf(row, r)] as const).filter(([, value]) => value !== null && value > 0);
  if (parts.length === 0) return '';
  const risk = rowRisk(row);
  const worth = row.saving_per_month ?? 0;
  const what = currency !== undefined && worth > 0 ? `${price(worth, currency)}/month` : parts.map(([r, value]) => amount(r, value)).join(', ');
  return `saves ${what}${risk ? `; ${risk.text} ${risk.unit}` : ''}`;
}

export function JobCard({ index, row, view }: Pick<Props, 'index' | 'row' | 'view'>) {
  if (!row) return <li class="job-card waiting" id={`job-${index}`} />;
  return (
    <li class="job-card" id={`job-${index}`}>
      <a class="job-link" href={jobHref(row.name)} title={row.name}>
        <span class="card-line first"><JobLabel job={row} /><span class="card-marks"><Marks row={row} /><ModeBadge mode={row.mode} /></span></span>
        {RESOURCES.map((r) => <CardLine key={r} resource={r} row={row} />)}
        <span class="card-line last muted">
          {plural(row.tasks, 'task')}
          {row.ooms > 0 && <span class="bad">{plural(row.ooms, 'OOM kill')}</span>}
          <span>{savingText(row, view.currency) || (view.managed && row.last_change !== null ? `changed ${ago(row.last_change)}` : '')}</span>
        </span>
      </a>
    </li>
  );
}
