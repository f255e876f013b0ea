// One job as a row of the table, or as a card on a narrow screen.
import type { JobAmounts, JobRow, Resource } from '../api/types';
import { amount, amountShort, count, moneyFigure, NONE, plural, price, significant } from '../lib/format';
import { RESOURCE, RESOURCES } from '../lib/resource';
import { jobHref } from '../lib/route';
import { notSet, provisionalNote, realLimit, riskOf, tightness } from '../lib/saving';
import { ago } from '../lib/time';
import { ModeBadge, Time } from '../ui/basics';

export interface Column { key: string; name: string; sort?: string; class: string; resource?: Resource; help?: string }

// `managed`: some jobs are in auto or canary, so that limits in force and their changes say something.
// `currency`: of savings in money; undefined: there are no prices.
export interface View { managed: boolean; dry: boolean; currency?: string }

function amounts(resource: Resource, view: View): Column[] {
  const { atLimit } = RESOURCE[resource];
  const column = (key: string, name: string, sort: string, help: string): Column => ({ key: `${resource}-${key}`, name, sort: `${resource}_${sort}`, class: `num ${key}`, resource, help });
  return [
    column('usage', 'used', 'usage', 'Mean usage in the last window'),
    column('owner', "owner's", 'owner_limit', "The limit that the job's owner set"),
    ...(view.managed ? [view.dry ? column('limit', 'dry run', 'limit', 'What Tautline would have set: nothing is applied in a dry run') : column('limit', 'limit', 'limit', 'The limit in force')] : []),
    column('would', 'would be', 'would_be', 'The limit if the job were in auto'),
    column('saving', 'saving', 'saving', "Owner's limit − would be; negative: the job needs more than its owner's limit"),
    column('risk', 'risk', 'chance', `The chance of ${atLimit.article} ${atLimit.day} at the limit that would be`),
  ];
}

export const columnsOf = (view: View): Column[] => [
  { key: 'name', name: 'Job', sort: 'name', class: 'name' },
  { key: 'mode', name: 'Mode', sort: 'mode', class: 'mode' },
  { key: 'tasks', name: 'Tasks', sort: 'tasks', class: 'num tasks' },
  ...RESOURCES.flatMap((resource) => amounts(resource, view)),
  ...(view.currency !== undefined ? [{ key: 'money', name: view.currency || 'money', sort: 'saving_per_month', class: 'num money', help: `${view.currency ? `${view.currency} a` : 'A'} month that ${RESOURCES.length > 2 ? 'all' : 'both'} savings are worth` }] : []),
  { key: 'ooms', name: 'OOMs', sort: 'ooms', class: 'num ooms', help: 'OOM kills of the last 7 days' },
  ...(view.managed ? [{ key: 'changed', name: 'Changed', sort: 'changed', class: 'num changed', help: 'The last change of a limit' }] : []),
];

// Another number of tasks is recommended.
const scales = (row: JobRow): row is JobRow & { tasks_would_be: number } => row.tasks_would_be !== null && row.tasks_would_be !== row.tasks;

const times = (value: number | null, tasks: number): number | null => (value === null ? null : value * tasks);

function each(resource: Resource, a: JobAmounts, idle: boolean): string {
  return `${RESOURCE[resource].title}, each task\nused ${amount(resource, a.usage)}, peak ${amount(resource, a.peak)}\n`
    + `limit in force ${amount(resource, realLimit(a, idle))}, would be ${amount(resource, a.would_be)}\nowner's limit ${amount(resource, a.owner_limit)}`;
}

// A unit that stands in the head of the table is left out.
function tableAmount(resource: Resource, value: number | null): string {
  return RESOURCE[resource].unit.counted && value !== null ? significant(value) : amount(resource, value);
}

function AmountCells({ resource, row, view }: { resource: Resource; row: JobRow; view: View }) {
  const a = row[resource];
  const title = each(resource, a, notSet(row, view.dry));
  const cell = (value: number | null, kind = '', note = title) => (
    <span role="gridcell" class={`cell num ${kind} ${value === null || value === 0 ? 'none' : ''}`} title={note}>
      {value === 0 ? NONE : tableAmount(resource, times(value, row.tasks))}
    </span>
  );
  const risk = riskOf(resource, a);
  return (
    <>
      {cell(a.usage, a.at_limit ? 'at-limit' : '', a.at_limit ? `Its usage reached the limit today or yesterday.\n${title}` : title)}
      {cell(a.owner_limit)}
      {view.managed && cell(a.limit)}
      {a.provisional ? <span role="gridcell" class="cell num" title={provisionalNote(a) ?? ''}>~{tableAmount(resource, times(a.provisional_limit, row.tasks))}</span> : cell(a.would_be)}
      {cell(a.saving, a.saving !== null && a.saving < 0 ? 'saving less' : 'saving')}
      <span role="gridcell" class={`cell num risk ${risk ? '' : 'none'}`} title={risk?.title ?? 'No recommended limit is a day old yet'}>{risk?.text ?? NONE}</span>
    </>
  );
}

function MoneyCell({ row }: { row: JobRow }) {
  const value = row.saving_per_month ?? null;
  const kind = value === null || value === 0 ? 'none' : value < 0 ? 'less' : '';
  return <span role="gridcell" class={`cell num money ${kind}`} title={value === null ? 'No owner\'s limit, or no recommendation yet' : undefined}>{value === null || value === 0 ? NONE : moneyFigure(value)}</span>;
}

function Marks({ row }: { row: JobRow }) {
  if (!RESOURCES.some((r) => row[r].at_limit)) return null;
  return <i class="mark" title={tightness(row).join('\n')}>at limit</i>;
}

interface Props { index: number; row: JobRow | null; top: number; active: boolean; view: View; onPick: () => void }

export function JobGridRow({ index, row, top, active, view, onPick }: Props) {
  const style = { transform: `translateY(${top}px)` };
  if (!row) return <div class="grid-row body waiting" role="row" id={`job-${index}`} aria-rowindex={index + 1} style={style} />;
  return (
    <div class={`grid-row body ${active ? 'active' : ''}`} role="row" id={`job-${index}`} aria-rowindex={index + 1} aria-selected={active}
      style={style} onClick={onPick}>
      <span role="gridcell" class="cell name"><a class="job-name" href={jobHref(row.name)} tabIndex={-1} title={`${row.name}\n${row.recommender}`}><bdi>{row.name}</bdi></a><Marks row={row} /></span>
      <span role="gridcell" class="cell mode"><ModeBadge mode={row.mode} />{row.trial && <i class="trial" title="A canary trial is under way">trial</i>}</span>
      <span role="gridcell" class="cell num tasks" title={scales(row) ? `${plural(row.tasks, 'task')}; ${count(row.tasks_would_be)} would be enough` : undefined}>
        {count(row.tasks)}{scales(row) && <span class="muted">→{count(row.tasks_would_be)}</span>}
      </span>
      {RESOURCES.map((r) => <AmountCells key={r} resource={r} row={row} view={view} />)}
      {view.currency !== undefined && <MoneyCell row={row} />}
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
      {a.would_be !== null && <span class="would" title="If it were in auto">→ {short(a.would_be)}</span>}
      {a.provisional && <span class="would" title={provisionalNote(a) ?? ''}>→ ~{short(a.provisional_limit)}</span>}
    </span>
  );
}

// In money where there are prices: a narrow card has no room for both.
export function savingText(row: JobRow, currency?: string): string {
  const parts = RESOURCES.map((r) => [r, times(row[r].saving, row.tasks)] as const).filter(([, value]) => value !== null && value > 0);
  if (parts.length === 0) return '';
  const risks = parts.map(([r]) => riskOf(r, row[r])).filter((risk) => risk !== null).sort((a, b) => b.share - a.share);
  const worth = row.saving_per_month ?? 0;
  const what = currency !== undefined && worth > 0 ? `${price(worth, currency)}/month` : parts.map(([r, value]) => amount(r, value)).join(', ');
  return `saves ${what}${risks[0] ? `; risk ${risks[0].text}` : ''}`;
}

export const CARD = 62 + 21 * RESOURCES.length;  // its height

export function JobCard({ index, row, top, active, view, onPick }: Props) {
  const style = { transform: `translateY(${top}px)`, height: `${CARD}px` };
  if (!row) return <div class="job-card waiting" role="row" id={`job-${index}`} aria-rowindex={index + 1} style={style} />;
  return (
    <div class={`job-card ${active ? 'active' : ''}`} role="row" id={`job-${index}`} aria-rowindex={index + 1} style={style} onClick={onPick}>
      <span role="gridcell">
        <a href={jobHref(row.name)} tabIndex={-1}>
          <span class="card-line first">
            <b class="job-name"><bdi>{row.name}</bdi></b>
            <span><Marks row={row} /> <ModeBadge mode={row.mode} /></span>
          </span>
          {RESOURCES.map((r) => <CardLine key={r} resource={r} row={row} />)}
          <span class="card-line last muted">
            {plural(row.tasks, 'task')}
            {row.ooms > 0 && <span class="bad">{plural(row.ooms, 'OOM kill')}</span>}
            <span>{savingText(row, view.currency) || (view.managed && row.last_change !== null ? `changed ${ago(row.last_change)}` : '')}</span>
          </span>
        </a>
      </span>
    </div>
  );
}
