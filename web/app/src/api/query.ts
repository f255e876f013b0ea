// Data for components: the last response at once, a new response when it arrives, and a further response after each event.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, aborted, request } from './client';
import { type EventName, live } from './live';
import { Pace } from './pace';

interface Entry { data: unknown; atMs: number }

const KEEP = 60;
const pace = new Pace();
live.watch(() => { if (live.connection === 'live') pace.clear(); });
const cache = new Map<string, Entry>();

function remember(path: string, data: unknown): void {
  cache.delete(path);
  cache.set(path, { data, atMs: Date.now() });
  for (const oldest of cache.keys()) {
    if (cache.size <= KEEP) break;
    cache.delete(oldest);
  }
}

export async function load<T>(path: string, signal?: AbortSignal): Promise<T> {
  try {
    const data = await request<T>(path, { signal });
    live.answered();
    remember(path, data);
    return data;
  } catch (error) {
    if (error instanceof ApiError) {
      if (error.unreachable) live.unanswered(); else live.answered();
    }
    throw error;
  }
}

export interface Query<T> {
  data: T | null;  // last known data; with `keep`, possibly of the previous path
  error: ApiError | null;
  stale: boolean;  // true if `data` belongs to another path, or if there is an error
  reload: () => void;
}

// `every` returns the seconds until the data is requested again while the page is visible; 0: only after an event.
interface Options<T> { on?: EventName[]; keep?: boolean; every?: (data: T | null) => number }

// Requests nothing if `path` is null. With `keep`, the data of the previous path stays until the new data arrives.
export function useQuery<T>(path: string | null, { on = [], keep = false, every }: Options<T> = {}): Query<T> {
  const known = path === null ? null : cache.get(path);
  const [state, setState] = useState<{ path: string | null; data: T | null; error: ApiError | null }>(
    { path, data: (known?.data as T | undefined) ?? null, error: null });
  const [tick, setTick] = useState(0);
  const wanted = useRef(on);
  wanted.current = on;
  const previous = useRef<string | null>(null);

  useEffect(() => {
    if (path === null) return undefined;
    if (previous.current !== path) {
      previous.current = path;
      const entry = cache.get(path);
      if (entry) setState({ path, data: entry.data as T, error: null });
    }
    const abort = new AbortController();
    const ask = () => {
      pace.starts(path, Date.now());
      return load<T>(path, abort.signal);
    };
    const first = pace.wait(path, Date.now());
    const timer = first > 0 ? window.setTimeout(() => { ask().then(answered, failed); }, first) : 0;
    const answered = (data: T) => { pace.ends(path, true); setState({ path, data, error: null }); };
    const failed = (error: unknown) => {
      if (aborted(error)) return;
      pace.ends(path, false);
      const wrong = error instanceof ApiError ? error : new ApiError(0, String(error));
      setState((before) => ({ path: before.path === path ? path : before.path, data: before.data, error: wrong }));
    };
    if (first === 0) ask().then(answered, failed);
    return () => { clearTimeout(timer); abort.abort(); };
  }, [path, tick]);

  useEffect(() => {
    if (path === null) return undefined;
    let timer = 0;
    const off = live.on((name) => {
      if (!wanted.current.includes(name)) return;
      clearTimeout(timer);
      timer = window.setTimeout(() => setTick((n) => n + 1), 200 + Math.random() * 300);
    });
    return () => { off(); clearTimeout(timer); };
  }, [path]);

  // Requests that failed because the daemon was unreachable are repeated once the daemon responds, with the pauses after failures.
  useEffect(() => {
    if (path === null || !state.error?.unreachable) return undefined;
    const again = () => { if (live.connection === 'live') setTick((n) => n + 1); };
    again();
    return live.watch(again);
  }, [path, state.error]);

  const pause = every?.(state.data) ?? 0;
  useEffect(() => {
    if (path === null || pause <= 0) return undefined;
    const timer = window.setInterval(() => { if (!document.hidden) setTick((n) => n + 1); }, pause * 1000);
    return () => clearInterval(timer);
  }, [path, pause]);

  const same = state.path === path;
  const data = same || keep ? state.data : ((known?.data as T | undefined) ?? null);
  return { data, error: state.error, stale: !same || state.error !== null, reload: () => { if (path !== null) pace.forget(path); setTick((n) => n + 1); } };
}
