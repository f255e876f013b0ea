// All decisions as they are made, with reasons.
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { aborted, withParams } from '../api/client';
import { live } from '../api/live';
import { load, useQuery } from '../api/query';
import { OUTCOMES, type Decision, type DecisionDetail, type DecisionPage } from '../api/types';
import { type Entry, entriesOf } from '../lib/churn';
import { plural } from '../lib/format';
import { KIND, KINDS, OUTCOME, TARGET } from '../lib/names';
import { changeQuery } from '../lib/route';
import { dayName } from '../lib/time';
import { KindBadge, ModeBadge, OutcomeNote, OutcomeText, Problem, Segments, Skeleton, Time } from '../ui/basics';
import { ChurnCells, decisionHref, FromTo, jobOf, underWay } from '../ui/decision_list';
import { JobLink } from '../ui/job_label';
import { useFirst } from '../ui/more';
import { ReasonView } from '../ui/reason';

const PAGE = 100;

interface Filter { job?: string; search?: string; target?: string; kind?: string; outcome?: string }

// A decision from the event stream is matched with the filter here; only the daemon knows labels.
export function fits(d: Decision, filter: Filter): boolean {
  if ((filter.job && d.job !== filter.job) || (filter.target && d.target !== filter.target) || (filter.kind && d.kind !== filter.kind)) return false;
  if (filter.outcome && d.outcome !== filter.outcome) return false;
  return (filter.search ?? '').toLowerCase().split(/\s+/).every((word) => d.job.toLowerCase().includes(word));
}

function useFeed(filter: Filter) {
  const path = withParams('decisions', { ...filter, limit: PAGE });
  const [list, setList] = useState<{ path: string; decisions: Decision[]; next: number | null } | null>(null);
  const [waiting, setWaiting] = useState<Decision[]>([]);
  const [error, setError] = useState('');
  const [round, setRound] = useState(0);
  const top = useRef(true);

  useEffect(() => {
    const abort = new AbortController();
    load<DecisionPage>(path, abort.signal).then(
      (page) => { setList({ path, decisions: page.decisions, next: page.next_before }); setWaiting([]); setError(''); },
      (wrong: unknown) => { if (!aborted(wrong)) setError(wrong instanceof Error ? wrong.message : String(wrong)); });
    return () => abort.abort();
  }, [path, round]);

  useEffect(() => live.on((name, data) => {
    if (name === 'window' && live.connection !== 'live') setRound((n) => n + 1);
    if (name !== 'decision') return;
    const d = data as Decision;
    if (!fits(d, filter)) return;
    setWaiting((before) => [d, ...before.filter((other) => other.id !== d.id)].slice(0, 500));
  }), [path]);

  const merge = () => {
    setList((before) => before && { ...before, decisions: [...waiting, ...before.decisions.filter((d) => !waiting.some((w) => w.id === d.id))] });
    setWaiting([]);
  };
  // At the top of the page new decisions appear at once; further down they wait, so that nothing moves.
  useEffect(() => {
    const update = () => { top.current = window.scrollY < 120; };
    window.addEventListener('scroll', update, { passive: true });
    return () => window.removeEventListener('scroll', update);
  }, []);
  useEffect(() => { if (waiting.length > 0 && top.current) merge(); }, [waiting]);

  // Outcomes arrive later than their decisions, so the newest page is requested again.
  const pause = underWay(list?.decisions.slice(0, PAGE));
  useEffect(() => {
    if (pause === 0) return undefined;
    const abort = new AbortController();
    const timer = window.setInterval(() => {
      if (document.hidden) return;
      load<DecisionPage>(path, abort.signal).then((page) => {
        const fresh = new Map(page.decisions.map((d) => [d.id, d]));
        setList((before) => before && before.path === path ? { ...before, decisions: before.decisions.map((d) => fresh.get(d.id) ?? d) } : before);
      }, () => undefined);  // the banner reports the error
    }, pause * 1000);
    return () => { clearInterval(timer); abort.abort(); };
  }, [path, pause]);

  const older = async () => {
    if (!list || list.next === null) return;
    try {
      const page = await load<DecisionPage>(withParams('decisions', { ...filter, limit: PAGE, before: list.next }));
      setList((before) => before && before.path === path ? { path, decisions: [...before.decisions, ...page.decisions], next: page.next_before } : before);
    } catch (wrong) {
      setError(wrong instanceof Error ? wrong.message : String(wrong));
    }
  };
  return { list, waiting: waiting.length, error, merge, older, reload: () => setRound((n) => n + 1) };
}

function Details({ decision }: { decision: Decision }) {
  const detail = useQuery<DecisionDetail>(`decisions/${decision.id}`);
  const d = detail.data ?? decision;
  return (
    <div class="details">
      <p class="paragraph">{d.sentence}</p>
      <p class="muted">
        Decision {d.id}, <Time at={d.time} />, the job was in <ModeBadge mode={d.mode} />
        {d.outcome_time !== null && <>; {d.outcome === 'dry_run' ? 'recorded' : OUTCOME[d.outcome]} <Time at={d.outcome_time} /></>}
        {d.outcome_text && <>: {d.outcome_text}</>}. <a href={decisionHref(d)}>Open the job</a>
      </p>
      {detail.error && <Problem text={detail.error.message} retry={detail.reload} />}
      {!detail.data ? !detail.error && <Skeleton lines={3} />
        : detail.data.reason ? <ReasonView reason={detail.data.reason} target={d.target} /> : <p class="hint">This decision has no recommendation.</p>}
    </div>
  );
}

function Row({ decision: d, open, onToggle }: { decision: Decision; open: boolean; onToggle: () => void }) {
  return (
    <li class={open ? 'open' : ''} data-decisions={1}>
      <div class="feed-row">
        <button type="button" class="expand" aria-expanded={open} onClick={onToggle} aria-label={`Why: ${KIND[d.kind]} ${TARGET[d.target]} of ${d.job}`}>
          <span aria-hidden="true">{open ? '▾' : '▸'}</span>
        </button>
        <span class="when"><Time at={d.time} age /></span>
        <span class="what"><KindBadge kind={d.kind} outcome={d.outcome} /> {TARGET[d.target]}</span>
        <JobLink job={jobOf(d)} href={decisionHref(d)} />
        <FromTo target={d.target} before={d.before} after={d.after} />
        <span class="why" onClick={onToggle}>{d.sentence}</span>
        <OutcomeText kind={d.kind} outcome={d.outcome} text={d.outcome_text} />
        <OutcomeNote kind={d.kind} outcome={d.outcome} text={d.outcome_text} />
      </div>
      {open && <Details decision={d} />}
    </li>
  );
}

// Decisions that revert each other, merged to one row.
function ChurnRow({ entry, open, onToggle, children }: { entry: Entry; open: boolean; onToggle: () => void; children: ComponentChildren }) {
  const [newest] = entry.decisions;
  return (
    <li class={open ? 'open' : ''} data-decisions={entry.decisions.length}>
      <div class="feed-row">
        <button type="button" class="expand" aria-expanded={open} onClick={onToggle} aria-label={`All ${entry.decisions.length} decisions on ${TARGET[newest.target]} of ${newest.job}`}>
          <span aria-hidden="true">{open ? '▾' : '▸'}</span>
        </button>
        <ChurnCells entry={entry} />
      </div>
      {open && <ol class="decisions feed churned">{children}</ol>}
    </li>
  );
}

function byDay(entries: readonly Entry[]): [string, Entry[]][] {
  const days: [string, Entry[]][] = [];
  for (const entry of entries) {
    const day = dayName(entry.decisions[0].time);
    const last = days[days.length - 1];
    if (last && last[0] === day) last[1].push(entry); else days.push([day, [entry]]);
  }
  return days;
}

function JobFilter({ search, onSearch }: { search: string; onSearch: (search: string) => void }) {
  const [text, setText] = useState(search);
  const timer = useRef(0);
  useEffect(() => setText(search), [search]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const now = (next: string) => { clearTimeout(timer.current); onSearch(next.trim()); };
  return (
    <form class="job-filter" role="search" onSubmit={(event) => { event.preventDefault(); now(text); }}>
      <input type="search" value={text} placeholder="Part of a job's name" aria-label="Only decisions of jobs with this in their name" spellcheck={false} autoComplete="off"
        onInput={(event) => {
          const next = event.currentTarget.value;
          setText(next);
          clearTimeout(timer.current);
          timer.current = window.setTimeout(() => onSearch(next.trim()), next === '' ? 0 : 250);
        }} />
    </form>
  );
}

export function DecisionsPage({ query }: { query: Record<string, string> }) {
  const set = (change: Record<string, string>) => changeQuery('decisions', change);
  const feed = useFeed({ job: query.job, search: query.search, target: query.target ?? query.resource, kind: query.kind, outcome: query.outcome });
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const entries = useMemo(() => entriesOf(feed.list?.decisions ?? []), [feed.list]);
  const first = useFirst(entries, 'rows');
  const days = byDay(first.rows);
  const toggle = (id: number) => {
    const next = new Set(open);
    if (!next.delete(id)) next.add(id);
    setOpen(next);
  };
  const row = (d: Decision) => <Row key={d.id} decision={d} open={open.has(d.id)} onToggle={() => toggle(d.id)} />;
  return (
    <div class="wide page">
      <h1 class="small">Decisions</h1>
      <div class="filters">
        <Segments label="Target" value={query.target ?? query.resource ?? ''} onPick={(target) => set({ target, resource: '' })}
          choices={[{ value: '', label: 'All' }, ...Object.entries(TARGET).map(([value, label]) => ({ value, label }))]} />
        <label class="sort-by">Kind
          <select value={query.kind ?? ''} onChange={(event) => set({ kind: event.currentTarget.value })}>
            <option value="">all</option>
            {KINDS.map((kind) => <option key={kind} value={kind}>{KIND[kind]}</option>)}
          </select>
        </label>
        <label class="sort-by">Outcome
          <select value={query.outcome ?? ''} onChange={(event) => set({ outcome: event.currentTarget.value })}>
            <option value="">all</option>
            {OUTCOMES.map((outcome) => <option key={outcome} value={outcome}>{outcome === 'dry_run' ? 'not applied' : OUTCOME[outcome]}</option>)}
          </select>
        </label>
        {query.job ? <button type="button" class="quiet" onClick={() => set({ job: '' })} title="Show all jobs">{query.job} ✕</button>
          : <JobFilter search={query.search ?? ''} onSearch={(search) => { if (search !== (query.search ?? '')) set({ search }); }} />}
      </div>
      {feed.error && <Problem text={feed.error} retry={feed.reload} />}
      {feed.waiting > 0 && (
        <p class="new-ones"><button type="button" class="primary" onClick={() => { feed.merge(); window.scrollTo(0, 0); }}>{plural(feed.waiting, 'new decision')} ↑</button></p>
      )}
      {!feed.list ? !feed.error && <div class="card"><Skeleton lines={12} /></div> : (
        <div class="card feed-card">
          {feed.list.decisions.length === 0 && <p class="hint nothing">{feed.list.next === null ? 'No decision matches. Decisions are made at the end of a window, every 5 minutes, when a limit changes.' : 'None among the newest 20,000 decisions.'}</p>}
          {days.map(([day, rows]) => (
            <section key={day} aria-label={day}>
              <h2 class="day">{day}</h2>
              <ol class="decisions feed">
                {rows.map((entry) => {
                  const [newest] = entry.decisions;
                  if (entry.churn === null) return row(newest);
                  return <ChurnRow key={`of ${newest.id}`} entry={entry} open={open.has(-newest.id)} onToggle={() => toggle(-newest.id)}>{entry.decisions.map(row)}</ChurnRow>;
                })}
              </ol>
            </section>
          ))}
          {first.more}
          {!first.more && feed.list.next !== null && <p class="more"><button type="button" class="quiet" onClick={() => void feed.older()}>Older decisions</button></p>}
        </div>
      )}
    </div>
  );
}
