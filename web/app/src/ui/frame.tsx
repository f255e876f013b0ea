// The header of every page.
import { toggleTheme, useTheme } from '../lib/theme';

export function Knot() {
  return <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><path d="M1 17H23M6 17C6 7 18 7 18 17M10 17V11M14 17V11" /></svg>;
}

export function ThemeButton() {
  const other = useTheme() === 'dark' ? 'light' : 'dark';
  return (
    <button type="button" class="quiet theme" onClick={toggleTheme} aria-label={`Switch to ${other} colours`}>
      {other === 'light' ? 'Light' : 'Dark'}
    </button>
  );
}
