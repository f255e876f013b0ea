// The machines of the cell: limits, reservations and usage of their tasks, and how much of the rest is reclaimable at which risk.
import { useQuery } from '../api/query';
import { withParams } from '../api/client';
import type { Machine, MachineAmounts, MachineDetail, MachinePage, Resource } from '../api/types';
import { amount, count, duration, listed, percent, plural } from '../lib/format';
import { RESOURCE, RESOURCES, RESOURCE_CHOICES, resourceOf } from '../lib/resource';
import { changeQuery, hrefOf, jobHref } from '../lib/route';
import { useSearch } from '../lib/search';
import { Card, Problem, Segments, Skeleton, Time } from '../ui/basics';
import { TableBox } from '../ui/table_box';

export const MOST = 100;
const SORTS: [string, string][] = [['name', 'name'], ['tasks', 'tasks'], ['capacity', 'capacity'], ['limits', 'limits'], ['reservations', 'reserved'], ['usage', 'used'],
  ['predicted', 'predicted peak'], ['reclaimable', 'reclaimable'], ['reclaimable_now', 'reclaimable now']];
const PLACES: Record<string, string> = { agents: 'agent', kubernetes: 'Kubernetes node' };

const share = (part: number | null, top: number): string => `${Math.max(0, Math.min(1, (part ?? 0) / top)) * 100}%`;

// A bar from 0 to the capacity, or to the limits if they are higher: used, reserved, limits, and the predicted peak as a line.
export function MachineBar({ resource, amounts: a }: { resource: Resource; amounts: MachineAmounts }) {
  const top = Math.max(a.capacity ?? 0, a.limits ?? 0, a.reservations ?? 0, a.usage ?? 0, a.predicted ?? 0);
  if (!(top > 0)) return null;
  const text = `${RESOURCE[resource].title}: used ${amount(resource, a.usage)}, reserved ${amount(resource, a.reservations)}, limits ${amount(resource, a.limits)}, `
    + `predicted peak ${amount(resource, a.predicted)}, capacity ${amount(resource, a.capacity)}`;
  return (
    <div class="machine-bar" role="img" aria-label={text} title={text}>
      <span class="bar-capacity" style={{ width: share(a.capacity, top) }} />
      <span class="bar-limits" style={{ width: share(a.limits, top) }} />
      <span class="bar-reserved" style={{ width: share(a.reservations, top) }} />
      <span class="bar-used" style={{ width: share(a.usage, top) }} />
      {a.predicted !== null && <span class="bar-predicted" style={{ left: share(a.predicted, top) }} />}
    </div>
  );
}

function Legend() {
  return (
    <p class="machine-legend" aria-hidden="true">
      <span><i class="bar-used" />used</span><span><i class="bar-reserved" />reserved</span><span><i class="bar-limits" />limits</span><span><i class="bar-capacity" />capacity</span><span><i class="bar-predicted" />predicted peak</span>
    </p>
  );
}

const machineHref = (machine: Machine, resource: Resource): string => hrefOf('machines', { resource, machine: machine.name, source: machine.source });

function State({ machine: m }: { machine: Machine }) {
  if (!m.present) return <span class="bad">away since <Time at={m.seen} age /></span>;
  return <>{plural(m.tasks, 'task')}{!m.ready && <span class="bad"> · not ready</span>}{m.also_in.length > 0 && <span title="Perhaps the same machine, counted twice"> · also of {m.also_in.join(', ')}</span>}</>;
}

type Figure = 'reservations' | 'predicted' | 'reclaimable' | 'reclaimable_now';

// `has`: true if the figure is known for any machine; else it has no column.
function Row({ machine: m, resource, has }: { machine: Machine; resource: Resource; has: (figure: Figure) => boolean }) {
  const a = m[resource];
  const figure = (value: number | null) => amount(resource, value);
  return (
    <tr>
      <th scope="row" class="name">
        <b><a href={machineHref(m, resource)}>{m.name}</a></b>
        <span class="muted">{PLACES[m.source] ?? m.source} · <State machine={m} /></span>
      </th>
      <td class="full bar"><MachineBar resource={resource} amounts={a} />{a.why !== '' && <span class="muted why">{a.why}</span>}</td>
      <td class="num" data-label="Capacity">{figure(a.capacity)}</td>
      <td class="num" data-label="Limits"><span>{figure(a.limits)}{a.without_limit > 0 && <span class="muted lost" title="Tasks without a limit">+ {count(a.without_limit)} without</span>}</span></td>
      {has('reservations') && <td class="num" data-label="Reserved">{figure(a.reservations)}</td>}
      <td class="num" data-label="Used">{figure(a.usage)}</td>
      {has('predicted') && <td class="num full" data-label="Predicted peak"><span>{figure(a.predicted)}{a.predicted !== null && !a.learnt && <span class="muted lost" title="The history is too short: the limits count">by limits</span>}</span></td>}
      {has('reclaimable') && <td class="num full" data-label="Reclaimable"><b>{figure(a.reclaimable)}</b></td>}
      {has('reclaimable_now') && <td class="num full" data-label="Reclaimable now">{figure(a.reclaimable_now)}</td>}
    </tr>
  );
}

const heads = (risk: string, horizon: string): [name: string, help: string, figure?: Figure][] => [
  ['Capacity', 'What tasks may have of the machine'], ['Limits', 'Of its tasks; requests, for containers of Kubernetes'],
  ['Reserved', 'The limit at first, then slowly down to usage and a margin', 'reservations'], ['Used', `In the last window: ${RESOURCES.map((r) => `the ${RESOURCE[r].atLimit.kills ? 'peak' : 'mean'} of ${RESOURCE[r].word}`).join(', ')}`],
  ['Predicted peak', `Of all tasks together in the next ${horizon}; ${risk} of machine-days may pass it`, 'predicted'], ['Reclaimable', 'Capacity less the predicted peak', 'reclaimable'],
  ['Reclaimable now', 'Limits less reservations, without a promise', 'reclaimable_now']];

function Table({ page, resource }: { page: MachinePage; resource: Resource }) {
  const has = (figure: Figure): boolean => page.machines.some((machine) => machine[resource][figure] !== null);
  return (
    <div class="machines figures scroll" tabIndex={0} role="region" aria-label="Capacity of machines">
      <table>
        <thead>
          <tr>
            <th scope="col" class="name">Machine</th><th scope="col" class="bar">{RESOURCE[resource].title}</th>
            {heads(percent(page.risk), duration(page.horizon_seconds)).filter(([, , figure]) => figure === undefined || has(figure)).map(([name, help]) => <th key={name} scope="col" title={help}>{name}</th>)}
          </tr>
        </thead>
        <tbody>{page.machines.map((machine) => <Row key={`${machine.source} ${machine.name}`} machine={machine} resource={resource} has={has} />)}</tbody>
      </table>
    </div>
  );
}

// Returns the sum of a figure over all sources; null if no source reports the figure.
export function sumOf(page: MachinePage, resource: Resource, figure: 'capacity' | 'limits' | 'reservations' | 'usage' | 'predicted' | 'reclaimable' | 'reclaimable_now'): number | null {
  const known = page.totals.map((totals) => totals[resource][figure]).filter((value): value is number => value !== null);
  return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) : null;
}

export function delivered(page: MachinePage, resource: Resource): string {
  const { judged, passed } = page.delivered[resource].promises;
  return judged === 0 ? 'no day of a prediction is over yet' : `${percent(passed / judged)} of ${plural(judged, 'machine-day')} passed it`;
}

function Sums({ page, resource }: { page: MachinePage; resource: Resource }) {
  const sum = (of: Parameters<typeof sumOf>[2]) => sumOf(page, resource, of);
  const figure = (of: Parameters<typeof sumOf>[2]) => amount(resource, sum(of));
  const present = page.totals.reduce((total, totals) => total + totals.present, 0);
  const are = RESOURCE[resource].unit.counted ? 'are' : 'is';
  // Only known figures.
  const parts = [sum('limits') !== null && `limits add up to ${figure('limits')}`, sum('reservations') !== null && `${figure('reservations')} ${are} reserved`, sum('usage') !== null && `${figure('usage')} ${are} used`];
  return (
    <p class="gloss">
      {plural(present, 'machine')} {present === 1 ? 'has' : 'have'} <em>{figure('capacity')}</em>; {listed(parts.filter((part) => part !== false)).join('')}.{' '}
      {sum('reclaimable') === null ? 'What is reclaimable is not known yet: the history of the tasks is too short.' : <><em>{figure('reclaimable')}</em> {are} reclaimable at a risk of {percent(page.risk)} of machine-days; {delivered(page, resource)}.</>}
      {sum('reclaimable_now') !== null && ` By reservations ${figure('reclaimable_now')} ${are} reclaimable now.`}
    </p>
  );
}

function Tasks({ machine, resource }: { machine: MachineDetail; resource: Resource }) {
  if (machine.task_list.length === 0) return <p class="hint nothing">It runs no known task.</p>;
  const by = (task: MachineDetail['task_list'][number]) => task[resource].usage ?? -1;
  const tasks = [...machine.task_list].sort((a, b) => by(b) - by(a)).slice(0, 200);
  return (
    <TableBox class="costs" label="Tasks of the machine">
      <table>
        <thead><tr><th scope="col">Job</th><th scope="col">Task</th><th scope="col" class="num">Limit</th><th scope="col" class="num">Reserved</th><th scope="col" class="num">Used</th></tr></thead>
        <tbody>
          {tasks.map((task) => (
            <tr key={`${task.job} ${task.task}`}>
              <th scope="row"><a href={jobHref(task.job, { resource })}>{task.job}</a></th><td>{task.task}</td>
              {(['limit', 'reservation', 'usage'] as const).map((key) => <td key={key} class="num">{amount(resource, task[resource][key])}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </TableBox>
  );
}

function Detail({ name, source, resource }: { name: string; source: string; resource: Resource }) {
  const answer = useQuery<MachineDetail>(withParams(`machines/${encodeURIComponent(name)}`, { source }), { on: ['window'], keep: true, every: () => 30 });
  const machine = answer.data;
  return (
    <Card title={`Machine ${name}`} tools={<button type="button" class="quiet" onClick={() => changeQuery('machines', { machine: '', source: '' })}>Close</button>}>
      {answer.error && <Problem text={answer.error.message} retry={answer.reload} />}
      {!machine ? !answer.error && <Skeleton lines={4} /> : (
        <>
          {machine.explanation.map((paragraph) => <p key={paragraph} class="machine-why">{paragraph}</p>)}
          <Tasks machine={machine} resource={resource} />
        </>
      )}
    </Card>
  );
}

function Tools({ query, resource }: { query: Record<string, string>; resource: Resource }) {
  const [text, setText] = useSearch(query.search ?? '', (search) => changeQuery('machines', { search }));
  return (
    <div class="machine-tools">
      <Segments label="Resource" value={resource} choices={RESOURCE_CHOICES} onPick={(value) => changeQuery('machines', { resource: value === RESOURCES[0] ? '' : value })} />
      <input type="search" value={text} placeholder="Search machines" aria-label="Search machines by name or source" onInput={(event) => setText(event.currentTarget.value)} />
      <label>Sort by <select value={query.sort ?? 'name'} onChange={(event) => changeQuery('machines', { sort: event.currentTarget.value === 'name' ? '' : event.currentTarget.value })}>
        {SORTS.map(([value, label]) => <option key={value} value={value}>{label}</option>)}
      </select></label>
    </div>
  );
}

export function MachineFigures({ page, query, stale }: { page: MachinePage; query: Record<string, string>; stale: boolean }) {
  const resource = resourceOf(query.resource);
  if (page.window_end === null) return <p class="gloss">No window has closed yet: what machines use is known after 5 minutes.</p>;
  return (
    <>
      <Sums page={page} resource={resource} />
      <div class="card">
        <Tools query={query} resource={resource} />
        {page.machines.length === 0 ? <p class="hint nothing">No machine matches.</p> : <div class={stale ? 'stale' : ''}><Table page={page} resource={resource} /></div>}
        <Legend />
        <p class="hint">{page.total > page.machines.length && `${count(page.machines.length)} of ${plural(page.total, 'machine')}. `}Figures of the window that ended <Time at={page.window_end} />. What no task is of, such as the system itself, is not counted.</p>
      </div>
      {query.machine && <Detail key={`${query.machine} ${query.source ?? ''}`} name={query.machine} source={query.source ?? ''} resource={resource} />}
    </>
  );
}

// The query that the list sends to the daemon.
export function machinesPath(query: Record<string, string>): string {
  const sort = query.sort ?? '';
  const plain = sort === '' || sort === 'name' || sort === 'tasks';
  return withParams('machines', { limit: MOST, search: query.search ?? '', sort: plain ? sort : `${resourceOf(query.resource)}_${sort}` });
}
