// One job as a row of the table, or as a card on a narrow screen.
import type { JobAmounts, JobRow, Resource } from '../api/types';
import { amount, amountShort, count, NONE, plural, significant } from '../lib/format';
import { RESOURCE } from '../lib/names';
import { jobHref } from '../lib/route';
import { ago } from '../lib/time';
import { ModeBadge, Time } from '../ui/basics';

export interface Column { key: string; name: string; sort?: string; class: string; resource?: Resource; help?: string }

const amounts = (resource: Resource): Column[] => [
  { key: `${resource}-usage`, name: 'used', sort: `${resource}_usage`, class: 'num', resource, help: 'Mean usage in the last window' },
  { key: `${resource}-limit`, name: 'limit', sort: `${resource}_limit`, class: 'num', resource, help: 'The limit in force' },
  { key: `${resource}-would`, name: 'would be', sort: `${resource}_would_be`, class: 'num', resource, help: 'The limit if the job were in auto' },
  { key: `${resource}-saved`, name: 'saved', sort: `${resource}_saved`, class: 'num', resource, help: "Owner's limit − limit in force" },
];

export const COLUMNS: Column[] = [
  { key: 'name', name: 'Job', sort: 'name', class: 'name' },
  { key: 'mode', name: 'Mode', sort: 'mode', class: 'mode' },
  { key: 'tasks', name: 'Tasks', sort: 'tasks', class: 'num tasks' },
  ...amounts('cpu'), ...amounts('memory'),
  { key: 'ooms', name: 'OOMs', sort: 'ooms', class: 'num ooms', help: 'OOM kills of the last 7 days' },
  { key: 'changed', name: 'Changed', sort: 'changed', class: 'num changed', help: 'The last change of a limit' },
];

const times = (value: number | null, tasks: number): number | null => (value === null ? null : value * tasks);
const saved = (a: JobAmounts): number | null => (a.owner_limit === null || a.limit === null ? null : a.owner_limit - a.limit);

function each(resource: Resource, a: JobAmounts): string {
  return `${RESOURCE[resource]}, each task\nused ${amount(resource, a.usage)}, peak ${amount(resource, a.peak)}\nlimit ${amount(resource, a.limit)}, `
    + `would be ${amount(resource, a.would_be)}\nowner's limit ${amount(resource, a.owner_limit)}`;
}

// The unit of CPU stands in the head of the table.
function tableAmount(resource: Resource, value: number | null): string {
  return resource === 'memory' || value === null ? amount(resource, value) : significant(value);
}

function AmountCells({ resource, row }: { resource: Resource; row: JobRow }) {
  const a = row[resource];
  const title = each(resource, a);
  const cell = (value: number | null, kind = '') => (
    <span role="gridcell" class={`cell num ${kind} ${value === null || value === 0 ? 'none' : ''}`} title={title}>
      {value === 0 ? NONE : tableAmount(resource, times(value, row.tasks))}
    </span>
  );
  return <>{cell(a.usage)}{cell(a.limit)}{cell(a.would_be)}{cell(saved(a), 'saved')}</>;
}

interface Props { index: number; row: JobRow | null; top: number; active: boolean; onPick: () => void }

export function JobGridRow({ index, row, top, active, onPick }: Props) {
  const style = { transform: `translateY(${top}px)` };
  if (!row) return <div class="grid-row body waiting" role="row" id={`job-${index}`} aria-rowindex={index + 1} style={style} />;
  return (
    <div class={`grid-row body ${active ? 'active' : ''}`} role="row" id={`job-${index}`} aria-rowindex={index + 1} aria-selected={active}
      style={style} onClick={onPick}>
      <span role="gridcell" class="cell name"><a href={jobHref(row.name)} tabIndex={-1} title={`${row.name}\n${row.recommender}`}>{row.name}</a></span>
      <span role="gridcell" class="cell mode"><ModeBadge mode={row.mode} />{row.trial && <i class="trial" title="A canary trial is under way">trial</i>}</span>
      <span role="gridcell" class="cell num tasks">{count(row.tasks)}</span>
      <AmountCells resource="cpu" row={row} />
      <AmountCells resource="memory" row={row} />
      <span role="gridcell" class={`cell num ooms ${row.ooms ? 'bad' : 'none'}`}>{row.ooms || NONE}</span>
      <span role="gridcell" class="cell num changed">{row.last_change === null ? <i class="none">{NONE}</i> : <Time at={row.last_change} age />}</span>
    </div>
  );
}

function CardLine({ resource, row }: { resource: Resource; row: JobRow }) {
  const a = row[resource];
  const short = (value: number | null) => amountShort(resource, times(value, row.tasks));
  const unit = resource === 'cpu' ? ' cores' : '';
  return (
    <span class="card-line">
      <span class="muted">{RESOURCE[resource]}</span>
      <span>{short(a.usage)} of {short(a.limit)}{unit}</span>
      <span class="would" title="If it were in auto">{a.would_be === null ? '' : `→ ${short(a.would_be)}${unit}`}</span>
    </span>
  );
}

export function JobCard({ index, row, top, active, onPick }: Props) {
  const style = { transform: `translateY(${top}px)` };
  if (!row) return <div class="job-card waiting" role="row" id={`job-${index}`} aria-rowindex={index + 1} style={style} />;
  return (
    <div class={`job-card ${active ? 'active' : ''}`} role="row" id={`job-${index}`} aria-rowindex={index + 1} style={style} onClick={onPick}>
      <span role="gridcell">
        <a href={jobHref(row.name)} tabIndex={-1}>
          <span class="card-line first">
            <b class="job-name">{row.name}</b>
            <ModeBadge mode={row.mode} />
          </span>
          <CardLine resource="cpu" row={row} />
          <CardLine resource="memory" row={row} />
          <span class="card-line last muted">
            {plural(row.tasks, 'task')}
            {row.ooms > 0 && <span class="bad">{plural(row.ooms, 'OOM kill')}</span>}
            <span>{row.last_change === null ? '' : `changed ${ago(row.last_change)}`}</span>
          </span>
        </a>
      </span>
    </div>
  );
}
