// The table of jobs: searched and sorted by the daemon, drawn only where it is seen.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useQuery } from '../api/query';
import { MODES, type Fleet, type JobRow, type Resource } from '../api/types';
import { listed, percent, plural } from '../lib/format';
import { KILLING_FIRST, RESOURCE, RESOURCES } from '../lib/resource';
import { changeQuery, jobHref } from '../lib/route';
import { dryRun, nothingManaged } from '../lib/saving';
import { useSearch } from '../lib/search';
import { Problem, Segments } from '../ui/basics';
import { useJobPages } from './job_pages';
import { CARD, JobCard, JobGridRow, columnsOf, type Column, type View } from './job_row';
import { JobsActions } from './jobs_actions';
import { JobsTotals, PROPERTIES } from './jobs_totals';

const ROW = 37;
const sortBy = ([key, what]: string[]) => (r: Resource): [string, string] => [`${r}_${key}`, RESOURCE[r].title + what];
const SORTS: [string, string][] = [
  ['saving', 'Saving'], ['tight', 'Too tight'],
  ...[['saving', ' saving'], ['chance', ' risk']].flatMap((what) => KILLING_FIRST.map(sortBy(what))),
  ...KILLING_FIRST.flatMap((r) => [['saved', ' saved now'], ['slack', ' slack'], ['usage', ' used'], ['limit', ' limit'], ['would_be', ' would be'], ['owner_limit', ", owner's limit"]]
    .map((what) => sortBy(what)(r))),
  ['ooms', 'OOM kills'], ['changed', 'Last change'], ['tasks', 'Tasks'], ['mode', 'Mode'], ['name', 'Name'],
];
export const DEFAULT_SORT = 'saving';
// Widths of the resources' columns, for jobs.css.
const COLUMNS = { '--amounts': RESOURCES.map((r) => `var(--${RESOURCE[r].unit.name})`).join(' '), '--wide': RESOURCES.map((r) => `var(--${RESOURCE[r].unit.name}-wide)`).join(' + ') };
// "OOM-day", and of what slows tasks down with the resource: "throttled day for CPU"
const OVER_DAYS = [...new Set(KILLING_FIRST.map((r) => RESOURCE[r].atLimit.day + (RESOURCE[r].atLimit.kills ? '' : ` for ${RESOURCE[r].word}`)))];
// Savings in money can be sorted by only where there are prices.
const sortsOf = (currency?: string): [string, string][] => currency === undefined ? SORTS : [...SORTS.slice(0, 2), ['saving_per_month', 'Saving in money'], ...SORTS.slice(2)];

function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(() => window.matchMedia('(max-width: 760px)').matches);
  useEffect(() => {
    const media = window.matchMedia('(max-width: 760px)');
    const update = () => setNarrow(media.matches);
    update();
    media.addEventListener('change', update);
    return () => media.removeEventListener('change', update);
  }, []);
  return narrow;
}

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

// With a text of its own: a new window draws the page again, and must not take away what is being typed.
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
        <Segments label="Order" value={props.sorting.sort === 'tight' ? 'tight' : props.sorting.sort === DEFAULT_SORT ? DEFAULT_SORT : ''} onPick={(sort) => { if (sort) props.set({ sort: sort === DEFAULT_SORT ? '' : sort, order: '' }); }}
          choices={[{ value: DEFAULT_SORT, label: 'Most to save', title: `${listed(RESOURCES.map((r) => RESOURCE[r].word)).join('')}, each as a share of all owners' limits` },
            { value: 'tight', label: 'Too tight', title: "OOM kills, then usage at the limit, then jobs that need more than their owner's limit" }]} />
      )}
      <TotalsBy by={props.query.by ?? ''} onPick={(by) => props.set({ by })} />
      <span class="found" role="status">{props.total === null ? '' : plural(props.total, 'job')}</span>
    </div>
  );
}

export function JobsPage({ query }: { query: Record<string, string> }) {
  const narrow = useNarrow();
  const height = narrow ? CARD : ROW;
  const set = (change: Record<string, string>) => changeQuery('jobs', change);
  const fleet = useQuery<Fleet>('fleet', { on: ['window'], keep: true });
  const view: View = { managed: !nothingManaged(fleet.data), dry: dryRun(fleet.data), currency: fleet.data?.saving_per_month?.currency };
  const sort = query.sort ?? DEFAULT_SORT;
  const order = query.order ?? 'desc';
  const sorting: Sorting = { sort, order, pick: (next) => {
    const first = next === 'name' ? 'asc' : 'desc';
    const then = next === sort ? (order === 'asc' ? 'desc' : 'asc') : first;
    set({ sort: next === DEFAULT_SORT ? '' : next, order: then === 'desc' ? '' : then });
  } };

  const box = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState<[number, number]>([0, 60]);
  const [active, setActive] = useState(0);
  const key = [query.search ?? '', query.mode ?? '', sort, order].join('\n');
  const pages = useJobPages({ search: query.search, mode: query.mode, sort, order }, range);
  const total = pages.total ?? 0;

  const measure = useCallback(() => {
    const element = box.current;
    if (!element) return;
    const first = Math.floor(element.scrollTop / height);
    const last = Math.ceil((element.scrollTop + element.clientHeight) / height);
    setRange(([a, b]) => (a === first && b === last ? [a, b] : [first, last]));
  }, [height]);
  useEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, [measure]);
  useEffect(() => {
    setActive(0);
    box.current?.scrollTo(0, 0);
  }, [key]);

  const moveTo = (next: number) => {
    const to = Math.max(0, Math.min(total - 1, next));
    setActive(to);
    const element = box.current;
    if (!element) return;
    const head = narrow ? 0 : 62;
    if (to * height < element.scrollTop) element.scrollTop = to * height;
    else if ((to + 1) * height > element.scrollTop + element.clientHeight - head) element.scrollTop = (to + 1) * height - element.clientHeight + head;
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

  const ordered = fleet.data?.[KILLING_FIRST[0]].ordered ?? null;
  const rows: [number, JobRow | null][] = [];
  const first = Math.max(0, range[0] - 8);
  for (let i = first; i < Math.min(total, range[1] + 8); ++i) rows.push([i, pages.row(i)]);
  return (
    <div class="wide jobs-page">
      <h1 class="visually-hidden">Jobs</h1>
      <Filters query={query} set={set} sorting={sorting} total={pages.total} narrow={narrow} currency={view.currency} onDown={() => box.current?.focus()} />
      {query.by && <JobsTotals by={query.by} search={query.search ?? ''} mode={query.mode ?? ''} onPick={(search) => set({ search, by: '' })} />}
      {pages.error && <Problem text={pages.error.message} retry={pages.reload} />}
      <div ref={box} class={`grid ${narrow ? 'cards' : ''} ${view.managed ? 'managed' : ''} ${view.currency === undefined ? '' : 'priced'} ${pages.stale ? 'stale' : ''}`} role="grid" tabIndex={0} style={{ ...COLUMNS, display: query.by ? 'none' : undefined }} onScroll={measure} onKeyDown={onKeyDown}
        aria-label="Jobs; arrow keys move, Enter opens" aria-rowcount={total} aria-activedescendant={total > 0 ? `job-${active}` : undefined}>
        {!narrow && <Head sorting={sorting} view={view} />}
        {pages.total === 0 && <p class="hint nothing">No job matches. The search covers names and labels such as <code>team=shop</code>.</p>}
        <div class="grid-body" role="rowgroup" style={{ height: `${total * height}px` }}>
          {rows.map(([i, row]) => {
            const props = { index: i, row, top: i * height, active: i === active, view, onPick: () => setActive(i) };
            return narrow ? <JobCard key={i} {...props} /> : <JobGridRow key={i} {...props} />;
          })}
        </div>
      </div>
      <div class="foot">
        {!narrow && <p class="foot-note">Amounts are totals over a job's tasks. <i>saving</i>: owner's limit − would be. <i>risk</i>: chance of a day above the limit that would be, or the share of work above it where work is ordered
          ({OVER_DAYS.join('; ')}){ordered !== null && <>. Target for all jobs together: {percent(ordered)}; single jobs may be above or below it</>}.</p>}
        <JobsActions search={query.search ?? ''} mode={query.mode ?? ''} total={pages.total} />
      </div>
    </div>
  );
}
