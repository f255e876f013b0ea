// The table of jobs: the daemon searches and sorts, and only visible rows are rendered.
import type { RefObject } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useQuery } from '../api/query';
import { MODES, type Fleet, type JobRow, type Resource } from '../api/types';
import { listed, percent, plural } from '../lib/format';
import { KILLING_FIRST, RESOURCE, RESOURCES } from '../lib/resource';
import { changeQuery, jobHref } from '../lib/route';
import { dryRun, nothingManaged } from '../lib/saving';
import { useSearch } from '../lib/search';
import { Problem, Segments, Skeleton } from '../ui/basics';
import { MoreButton } from '../ui/more';
import { FIRST, useNarrow } from '../ui/narrow';
import { useJobPages, type JobQuery } from './job_pages';
import { JobCard, JobGridRow, columnsOf, type Column, type View } from './job_row';
import { JobsActions } from './jobs_actions';
import { JobsTotals, PROPERTIES } from './jobs_totals';

const ROW = 54;
const HEAD = 62;
const sortBy = ([key, what]: string[]) => (r: Resource): [string, string] => [`${r}_${key}`, RESOURCE[r].title + what];
const SORTS: [string, string][] = [
  ['saving', 'Saving'], ['tight', 'Too tight'],
  ...[['saving', ' saving'], ['chance', ' risk']].flatMap((what) => KILLING_FIRST.map(sortBy(what))),
  ...KILLING_FIRST.flatMap((r) => [['saved', ' saved now'], ['slack', ' slack'], ['usage', ' used'], ['limit', ' limit'], ['would_be', ' recommended'], ['owner_limit', ", owner's limit"]]
    .map((what) => sortBy(what)(r))),
  ['ooms', 'OOM kills'], ['changed', 'Last change'], ['tasks', 'Tasks'], ['mode', 'Mode'], ['name', 'Name'],
];
const DEFAULT_SORT = 'saving';
// Widths of the resources' columns, for jobs.css.
const COLUMNS = { '--amounts': RESOURCES.map((r) => `var(--${RESOURCE[r].unit.name})`).join(' '), '--wide': RESOURCES.map((r) => `var(--${RESOURCE[r].unit.name}-wide)`).join(' + ') };
// Returns the default sort key. Jobs can be sorted by savings in money only if there are prices.
export const firstSort = (currency?: string): string => (currency === undefined ? DEFAULT_SORT : 'saving_per_month');
const sortsOf = (currency?: string): [string, string][] => currency === undefined ? SORTS : [['saving_per_month', 'Saving in money'], ['saving', 'Saving as a share'], ...SORTS.slice(1)];

interface Sorting { sort: string; order: string; pick: (sort: string) => void }

function HeadCell({ column, sorting }: { column: Column; sorting: Sorting }) {
  const active = sorting.sort === column.sort;
  return (
    <div role="columnheader" class={`cell ${column.class}`} title={column.help}
      aria-sort={active ? (sorting.order === 'asc' ? 'ascending' : 'descending') : undefined}>
      {column.sort ? <button type="button" aria-label={column.resource ? `${RESOURCE[column.resource].title} ${column.name}` : column.name} onClick={() => sorting.pick(column.sort ?? '')}>{column.name}</button> : column.name}
    </div>
  );
}

function Head({ sorting, view }: { sorting: Sorting; view: View }) {
  return (
    <div class="grid-head" role="rowgroup">
      <div class="grid-row groups" aria-hidden="true">
        <span class="cell span-first" />{RESOURCES.map((r) => <span key={r} class="cell group">{RESOURCE[r].title}{RESOURCE[r].unit.counted && <> <i>in {RESOURCE[r].unit.name}</i></>}</span>)}<span class="cell span-last" />
      </div>
      <div class="grid-row" role="row">
        {columnsOf(view).map((c) => <HeadCell key={c.key} column={c} sorting={sorting} />)}
      </div>
    </div>
  );
}

// The box stores its own text, because a new window renders the page again and must not remove the text being typed.
function TotalsBy({ by, onPick }: { by: string; onPick: (by: string) => void }) {
  const [text, setText] = useState(by);
  useEffect(() => setText(by), [by]);
  return (
    <label class="totals-by">Totals by
      <input type="text" value={text} placeholder="label, such as team" autoComplete="off" spellcheck={false} size={18} list="properties"
        onInput={(event) => setText(event.currentTarget.value)} onChange={(event) => onPick(event.currentTarget.value.trim())} />
      <datalist id="properties">{PROPERTIES.map(([value, name]) => <option key={value} value={value}>{name}</option>)}</datalist>
    </label>
  );
}

function Filters(props: { query: Record<string, string>; set: (change: Record<string, string>) => void; sorting: Sorting; total: number | null; narrow: boolean; currency?: string; onDown: () => void }) {
  const [text, setText] = useSearch(props.query.search ?? '', (search) => props.set({ search }));
  const input = useRef<HTMLInputElement>(null);
  const most = firstSort(props.currency);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof HTMLElement && event.target.closest('input, select, textarea')) return;
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    document.addEventListener('keydown', focus);
    return () => document.removeEventListener('keydown', focus);
  }, []);
  return (
    <div class="filters">
      <div class="search-box">
        <input ref={input} type="search" value={text} placeholder="Search names and labels: shop tier=batch" aria-label="Search jobs by name or label"
          autoComplete="off" spellcheck={false} onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'ArrowDown' || event.key === 'Enter') { event.preventDefault(); props.onDown(); }
            if (event.key === 'Escape') setText('');
          }} />
        <kbd aria-hidden="true">/</kbd>
      </div>
      <Segments label="Mode" value={props.query.mode ?? ''} onPick={(mode) => props.set({ mode })}
        choices={[{ value: '', label: 'All' }, ...MODES.map((mode) => ({ value: mode as string, label: mode as string }))]} />
      {props.narrow && (
        <label class="sort-by">Sort by
          <select value={props.sorting.sort} onChange={(event) => props.set({ sort: event.currentTarget.value, order: event.currentTarget.value === 'name' ? 'asc' : '' })}>
            {sortsOf(props.currency).map(([value, name]) => <option key={value} value={value}>{name}</option>)}
          </select>
        </label>
      )}
      {!props.narrow && (
        <Segments label="Order" value={props.sorting.sort === 'tight' ? 'tight' : props.sorting.sort === most ? most : ''} onPick={(sort) => { if (sort) props.set({ sort: sort === most ? '' : sort, order: '' }); }}
          choices={[{ value: most, label: 'Most to save', title: props.currency === undefined ? `${listed(RESOURCES.map((r) => RESOURCE[r].word)).join('')}, each as a share of all owners' limits` : 'In money' },
            { value: 'tight', label: 'Too tight', title: "OOM kills, then usage at the limit, then jobs that need more than their owner's limit" }]} />
      )}
      <TotalsBy by={props.query.by ?? ''} onPick={(by) => props.set({ by })} />
      <span class="found" role="status">{props.total === null ? '' : plural(props.total, 'job')}</span>
    </div>
  );
}

// Renders only visible rows: the daemon may have a million jobs.
function Grid({ query, sorting, view, onTotal, focus }: { query: JobQuery; sorting: Sorting; view: View; onTotal: (total: number | null) => void; focus: RefObject<HTMLDivElement> }) {
  const box = focus;
  const [range, setRange] = useState<[number, number]>([0, 60]);
  const [active, setActive] = useState(0);
  const pages = useJobPages(query, range);
  const total = pages.total ?? 0;
  useEffect(() => onTotal(pages.total), [pages.total]);

  const measure = useCallback(() => {
    const element = box.current;
    if (!element) return;
    const first = Math.floor(element.scrollTop / ROW);
    const last = Math.ceil((element.scrollTop + element.clientHeight) / ROW);
    setRange(([a, b]) => (a === first && b === last ? [a, b] : [first, last]));
  }, []);
  useEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, [measure]);
  useEffect(() => {
    setActive(0);
    box.current?.scrollTo(0, 0);
  }, [JSON.stringify(query)]);

  const moveTo = (next: number) => {
    const to = Math.max(0, Math.min(total - 1, next));
    setActive(to);
    const element = box.current;
    if (!element) return;
    if (to * ROW < element.scrollTop) element.scrollTop = to * ROW;
    else if ((to + 1) * ROW > element.scrollTop + element.clientHeight - HEAD) element.scrollTop = (to + 1) * ROW - element.clientHeight + HEAD;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const shown = Math.max(1, range[1] - range[0] - 2);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: shown, PageUp: -shown, Home: -Infinity, End: Infinity }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      moveTo(active + step);
    } else if (event.key === 'Enter' && !(event.target instanceof HTMLElement && event.target.closest('button'))) {
      const row = pages.row(active);
      if (row) location.hash = jobHref(row.name);
    }
  };
  const rows: [number, JobRow | null][] = [];
  for (let i = Math.max(0, range[0] - 8); i < Math.min(total, range[1] + 8); ++i) rows.push([i, pages.row(i)]);
  return (
    <>
      {pages.error && <Problem text={pages.error.message} retry={pages.reload} />}
      <div ref={box} class={`grid ${view.managed ? 'managed' : ''} ${pages.stale ? 'stale' : ''}`} role="grid" tabIndex={0} style={COLUMNS} onScroll={measure} onKeyDown={onKeyDown}
        aria-label="Jobs; arrow keys move, Enter opens" aria-rowcount={total} aria-activedescendant={total > 0 ? `job-${active}` : undefined}>
        <Head sorting={sorting} view={view} />
        {pages.total === 0 && <NoMatch />}
        <div class="grid-body" role="rowgroup" style={{ height: `${total * ROW}px` }}>
          {rows.map(([i, row]) => <JobGridRow key={i} index={i} row={row} top={i * ROW} active={i === active} view={view} onPick={() => setActive(i)} />)}
        </div>
      </div>
    </>
  );
}

const NoMatch = () => <p class="hint nothing">No job matches. The search covers names and labels such as <code>team=shop</code>.</p>;

// On a phone the page itself scrolls.
function Cards({ query, view, onTotal }: { query: JobQuery; view: View; onTotal: (total: number | null) => void }) {
  const [shown, setShown] = useState(FIRST);
  const pages = useJobPages(query, [0, shown]);
  const total = pages.total ?? 0;
  useEffect(() => onTotal(pages.total), [pages.total]);
  useEffect(() => setShown(FIRST), [JSON.stringify(query)]);
  return (
    <>
      {pages.error && <Problem text={pages.error.message} retry={pages.reload} />}
      {pages.total === 0 && <NoMatch />}
      <ul class={`job-cards ${pages.stale ? 'stale' : ''}`} aria-label="Jobs">
        {Array.from({ length: Math.min(shown, total) }, (_, i) => <JobCard key={i} index={i} row={pages.row(i)} view={view} />)}
      </ul>
      <MoreButton shown={shown} total={total} what="jobs" onMore={() => setShown(shown + FIRST)} />
    </>
  );
}

export function JobsPage({ query }: { query: Record<string, string> }) {
  const narrow = useNarrow();
  const set = (change: Record<string, string>) => changeQuery('jobs', change);
  const fleet = useQuery<Fleet>('fleet', { on: ['window'], keep: true });
  const view: View = { managed: !nothingManaged(fleet.data), dry: dryRun(fleet.data), currency: fleet.data?.saving_per_month?.currency };
  const most = firstSort(view.currency);
  const sort = query.sort ?? most;
  const order = query.order ?? 'desc';
  const sorting: Sorting = { sort, order, pick: (next) => {
    const first = next === 'name' ? 'asc' : 'desc';
    const then = next === sort ? (order === 'asc' ? 'desc' : 'asc') : first;
    set({ sort: next === most ? '' : next, order: then === 'desc' ? '' : then });
  } };
  const [total, setTotal] = useState<number | null>(null);
  const grid = useRef<HTMLDivElement>(null);
  const list: JobQuery = { search: query.search, mode: query.mode, sort, order };
  const ready = fleet.data !== null || fleet.error !== null;  // then it is known whether there are prices
  const targets = KILLING_FIRST.filter((r) => (fleet.data?.[r].ordered ?? null) !== null).map((r) => `${percent(fleet.data?.[r].ordered)} ${RESOURCE[r].atLimit.days}`);
  return (
    <div class={`wide jobs-page ${narrow ? 'narrow' : ''}`}>
      <h1 class="visually-hidden">Jobs</h1>
      <Filters query={query} set={set} sorting={sorting} total={total} narrow={narrow} currency={view.currency} onDown={() => grid.current?.focus()} />
      {query.by ? <JobsTotals by={query.by} search={query.search ?? ''} mode={query.mode ?? ''} onPick={(search) => set({ search, by: '' })} />
        : !ready ? <div class="card"><Skeleton lines={8} /></div>
          : narrow ? <Cards query={list} view={view} onTotal={setTotal} /> : <Grid query={list} sorting={sorting} view={view} onTotal={setTotal} focus={grid} />}
      <div class="foot">
        {!narrow && <p class="foot-note">Amounts are totals over a job's tasks. <i>Saving</i>: the owner's requests less the recommended ones, or limits where a job has no request. <i>Risk</i>: of the recommended limits, the chance of a day above them, or the share of work above them where the risk target is a share of work{targets.length > 0 && `; the risk target for all jobs together is ${listed(targets).join('')}, and single jobs may be above or below it`}.</p>}
        <JobsActions search={query.search ?? ''} mode={query.mode ?? ''} total={total} />
      </div>
    </div>
  );
}
