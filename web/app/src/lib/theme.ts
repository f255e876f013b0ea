// The theme: light, dark, or as the system prefers; and colours as text for canvases.
import { useEffect, useState } from 'preact/hooks';

export type Theme = 'light' | 'dark';
const KEY = 'taut.theme';
const watchers = new Set<() => void>();
const system = window.matchMedia('(prefers-color-scheme: dark)');
let unstored: Theme | null = null;  // the user's choice if the browser has no storage
let printing = false;  // true while the page is printed, always with the light theme

function stored(): Theme | null {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : unstored;
  } catch {
    return unstored;
  }
}

const chosenTheme = (): Theme => stored() ?? (system.matches ? 'dark' : 'light');

export const theme = (): Theme => (printing ? 'light' : chosenTheme());

function apply(): void {
  const chosen = printing ? 'light' : stored();
  if (chosen) document.documentElement.dataset.theme = chosen;
  else delete document.documentElement.dataset.theme;
  for (const watcher of [...watchers]) watcher();
}

export function startTheme(): void {
  apply();
  system.addEventListener('change', apply);
  for (const [event, value] of [['beforeprint', true], ['afterprint', false]] as const) {
    window.addEventListener(event, () => { printing = value; apply(); });
  }
}

export function toggleTheme(): void {
  const next = chosenTheme() === 'dark' ? 'light' : 'dark';
  try {
    if (next === (system.matches ? 'dark' : 'light')) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
    unstored = null;
  } catch {
    // Without storage the choice lasts until the page is closed.
    unstored = next;
  }
  apply();
}

export function useTheme(): Theme {
  const [value, setValue] = useState(theme());
  useEffect(() => {
    const update = () => setValue(theme());
    update();
    watchers.add(update);
    return () => { watchers.delete(update); };
  }, []);
  return value;
}

// Returns the current value of a CSS variable as [red, green, blue].
export function colour(name: string): [number, number, number] {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  probe.style.display = 'none';
  document.body.append(probe);
  const channels = (getComputedStyle(probe).color.match(/[\d.]+/g) ?? []).map(Number);
  probe.remove();
  return [channels[0] ?? 0, channels[1] ?? 0, channels[2] ?? 0];
}

export const rgb = ([r, g, b]: [number, number, number], alpha = 1): string => `rgb(${r} ${g} ${b} / ${alpha})`;
