// Requests pages of the job table as they scroll into view; old rows stay until the new ones arrive.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ApiError, aborted, withParams } from '../api/client';
import { live } from '../api/live';
import { load } from '../api/query';
import type { JobPage, JobRow } from '../api/types';

const PAGE = 100;

export interface JobQuery { search?: string; mode?: string; sort: string; order: string }

interface Store { key: string; total: number | null; pages: Map<number, JobRow[]> }

export function useJobPages(query: JobQuery, [from, to]: [number, number]) {
  const key = withParams('jobs', { ...query });
  const [, redraw] = useState(0);
  const [error, setError] = useState<ApiError | null>(null);
  const [round, setRound] = useState(0);
  const shown = useRef<Store>({ key: '', total: null, pages: new Map() });
  const fresh = useMemo<Store>(() => ({ key, total: null, pages: new Map() }), [key, round]);
  const asked = useMemo(() => ({ pages: new Set<number>(), abort: new AbortController() }), [fresh]);

  useEffect(() => () => asked.abort.abort(), [asked]);
  useEffect(() => live.on((name) => {
    if (name === 'window' || name === 'setting') setRound((n) => n + 1);
  }), []);

  const firstPage = Math.max(0, Math.floor(from / PAGE));
  const lastPage = Math.max(firstPage, Math.floor(Math.max(0, to - 1) / PAGE));
  useEffect(() => {
    for (let page = firstPage; page <= lastPage; ++page) {
      if (asked.pages.has(page)) continue;
      if (page > 0 && fresh.total !== null && page * PAGE >= fresh.total) continue;
      asked.pages.add(page);
      load<JobPage>(withParams('jobs', { ...query, offset: page * PAGE, limit: PAGE }), asked.abort.signal).then((answer) => {
        fresh.total = answer.total;
        fresh.pages.set(page, answer.jobs);
        shown.current = fresh;
        setError(null);
        redraw((n) => n + 1);
      }, (wrong: unknown) => {
        if (aborted(wrong)) return;
        asked.pages.delete(page);
        setError(wrong instanceof ApiError ? wrong : new ApiError(0, String(wrong)));
      });
    }
  }, [fresh, firstPage, lastPage]);

  const store = shown.current;
  return {
    total: store.total,
    stale: store.key !== key,
    error,
    reload: () => setRound((n) => n + 1),
    row: (index: number): JobRow | null => store.pages.get(Math.floor(index / PAGE))?.[index % PAGE] ?? null,
  };
}
