// Detects the screen of a phone, and shortens lists to their first rows until more are requested.
import { useEffect, useState } from 'preact/hooks';

const PHONE = '(max-width: 760px)';
export const FIRST = 20;

export function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(() => window.matchMedia(PHONE).matches);
  useEffect(() => {
    const media = window.matchMedia(PHONE);
    const update = () => setNarrow(media.matches);
    update();
    media.addEventListener('change', update);
    return () => media.removeEventListener('change', update);
  }, []);
  return narrow;
}
