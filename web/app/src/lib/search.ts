// The text of a search box.
import { useEffect, useRef, useState } from 'preact/hooks';

// Returns the text of a search box and its setter. The text changes at once, and the address changes a little later.
export function useSearch(committed: string, commit: (text: string) => void): [string, (text: string) => void] {
  const [text, setText] = useState(committed);
  const timer = useRef(0);
  const mine = useRef(committed);
  useEffect(() => {
    if (committed !== mine.current) { mine.current = committed; setText(committed); }
  }, [committed]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return [text, (next) => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => { mine.current = next.trim(); commit(next.trim()); }, 140);
  }];
}
