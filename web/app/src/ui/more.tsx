// A long list on a phone: its first rows, and a button for more of them.
import { useState } from 'preact/hooks';
import { count } from '../lib/format';
import { FIRST, useNarrow } from './narrow';

export function MoreButton({ shown, total, what, onMore }: { shown: number; total: number; what: string; onMore: () => void }) {
  if (shown >= total) return null;
  return <p class="more"><button type="button" class="quiet" onClick={onMore}>{count(Math.min(FIRST, total - shown))} more of {count(total)} {what}</button></p>;
}

// Returns the rows to show; a wide screen shows all rows.
export function useFirst<T>(rows: readonly T[], what: string): { rows: readonly T[]; more: preact.ComponentChild } {
  const narrow = useNarrow();
  const [shown, setShown] = useState(FIRST);
  if (!narrow || rows.length <= shown) return { rows, more: null };
  return { rows: rows.slice(0, shown), more: <MoreButton shown={shown} total={rows.length} what={what} onMore={() => setShown(shown + FIRST)} /> };
}
