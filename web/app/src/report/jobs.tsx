// The table of jobs. Rows are created as they scroll into view, so ten thousand jobs cost no more than a screenful.
import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Amount } from '../api/types';
import { amount, capital, count, percent, significant, words } from '../lib/format';
import { RESOURCE } from '../lib/resource';
import { Card } from '../ui/basics';
import { type Report, hasOwner } from './data';
import { type JobRow, type Key, type Sorting, jobRows, sorted } from './job_rows';
import type { View } from './view';

const CHUNK_ROWS = 80;

const COLUMNS: { key: Key; head: string; unit?: string; title: string }[] = [
  { key: 'name', head: 'Job', title: 'The job’s name' },
  { key: 'owner', head: 'Owner’s limit', title: 'What the owner’s limit set aside, averaged over the scored time' },
  { key: 'limit', head: 'Limit', title: 'What the picked recommender’s limit set aside, averaged over the scored time' },
  { key: 'saved', head: 'Saved', title: 'Owner’s limit minus the recommender’s' },
  { key: 'slack', head: 'Slack', unit: 'mean', title: 'Share of the limit that went unused' },
  { key: 'oomDays', head: 'OOM-days', title: 'Job-days with usage over the limit' },
  { key: 'changes', head: 'Changes', unit: 'a day', title: 'Limit changes per job-day' },
  { key: 'days', head: 'Days', title: 'Job-days scored' },
];

function Head({ view, sorting, onSort }: { view: View; sorting: Sorting; onSort: (key: Key) => void }) {
  return (
    <thead>
      <tr>
        {COLUMNS.map(({ key, head, unit, title }) => (
          <th key={key} scope="col" title={title} aria-sort={key !== sorting.key ? 'none' : sorting.descending ? 'descending' : 'ascending'}>
            <button type="button" onClick={() => onSort(key)}>{key === 'oomDays' ? capital(RESOURCE[view.choice.resource].atLimit.days) : head}</button>
            {unit && <span class="unit">{unit}</span>}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function Row({ view, row, onStory }: { view: View; row: JobRow; onStory: (story: number) => void }) {
  const of = (value: Amount) => amount(view.choice.resource, value);
  const story = row.story;
  return (
    <tr>
      <th scope="row" title={row.name}>
        <span class="job-name">{row.name}</span>
        {story !== undefined && <button type="button" class="link story-link" onClick={() => onStory(story)}>story</button>}
      </th>
      <td class="num">{of(row.owner)}</td>
      <td class="num">{of(row.limit)}</td>
      <td class={row.saved !== null && row.saved < 0 ? 'num over' : 'num'}>{of(row.saved)}</td>
      <td class="num">{percent(row.slack)}</td>
      <td class={row.oomDays === 0 ? 'num none' : 'num'}>{count(row.oomDays)} ({percent((row.oomDays ?? 0) / row.days, 0)})</td>
      <td class={row.changes === 0 ? 'num none' : 'num'}>{row.changes === null ? '' : significant(row.changes)}</td>
      <td class="num">{count(row.days)}</td>
    </tr>
  );
}

const firstSorting = (report: Report): Sorting => ({ key: report.lanes.some(hasOwner) ? 'saved' : 'limit', descending: true });

// Returns the number of created rows, which grows near the end of the box. On paper, all rows are created.
function useRowsMade(what: unknown): { made: number; box: RefObject<HTMLDivElement>; more: () => void } {
  const box = useRef<HTMLDivElement>(null);
  const [made, setMade] = useState(CHUNK_ROWS);
  useEffect(() => {
    setMade(CHUNK_ROWS);
    if (box.current) box.current.scrollTop = 0;
  }, [what]);
  useEffect(() => {
    const all = () => setMade(Infinity);
    window.addEventListener('beforeprint', all);
    return () => window.removeEventListener('beforeprint', all);
  }, []);
  const more = () => {
    const e = box.current;
    if (e && e.scrollTop + e.clientHeight > e.scrollHeight - 600) setMade((n) => n + CHUNK_ROWS);
  };
  return { made, box, more };
}

export function JobsCard({ view, onStory }: { view: View; onStory: (story: number) => void }) {
  const [sorting, setSorting] = useState<Sorting>(() => firstSorting(view.report));
  const [search, setSearch] = useState('');
  const wanted = search.trim().toLowerCase();
  const all = useMemo(() => jobRows(view.report, view.lane), [view.report, view.lane]);
  const rows = useMemo(() => sorted(all.filter((row) => row.name.toLowerCase().includes(wanted)), sorting), [all, wanted, sorting]);
  const { made, box, more } = useRowsMade(rows);
  const sort = (key: Key) => setSorting({ key, descending: sorting.key === key ? !sorting.descending : key !== 'name' });
  return (
    <Card title="Jobs" tools={(
      <label class="job-search">Find a job{' '}
        <input type="search" autocomplete="off" spellcheck={false} placeholder="part of its name" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
      </label>
    )}>
      <p class="hint" aria-live="polite">
        {wanted === '' ? `${count(all.length)} jobs with scored days, under ${words(view.lane.policy)}. Select a column head to sort.`
          : `${count(rows.length)} of ${count(all.length)} jobs match.`}
      </p>
      <div ref={box} class="scroll tall" tabIndex={0} role="region" aria-label="Table of jobs" onScroll={more}>
        <table class="wide-heads job-table">
          <Head view={view} sorting={sorting} onSort={sort} />
          <tbody>{rows.slice(0, made).map((row) => <Row key={row.index} view={view} row={row} onStory={onStory} />)}</tbody>
        </table>
      </div>
    </Card>
  );
}
