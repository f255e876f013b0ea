// Hash routes: #/, #/jobs?search=..., #/jobs/NAME, #/decisions, #/costs, #/quota, #/machines, #/capacity, #/settings.
import { useEffect, useState } from 'preact/hooks';

export type Page = 'fleet' | 'jobs' | 'job' | 'decisions' | 'costs' | 'quota' | 'machines' | 'capacity' | 'settings' | 'unknown';
export interface Route { page: Page; job: string; query: Record<string, string> }

export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#/, '').split('?', 2);
  const query = Object.fromEntries(new URLSearchParams(search));
  const parts = path.split('/').filter(Boolean);
  const [first, ...rest] = parts;
  if (first === undefined) return { page: 'fleet', job: '', query };
  if (first === 'jobs' && rest.length > 0) return { page: 'job', job: decode(rest.join('/')), query };
  if (rest.length === 0 && (first === 'jobs' || first === 'decisions' || first === 'costs' || first === 'quota' || first === 'machines' || first === 'capacity' || first === 'settings')) return { page: first, job: '', query };
  return { page: 'unknown', job: '', query };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function hrefOf(page: 'fleet' | 'jobs' | 'decisions' | 'costs' | 'quota' | 'machines' | 'capacity' | 'settings', query: Record<string, string> = {}): string {
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  return `#/${page === 'fleet' ? '' : page}${search ? '?' + search : ''}`;
}

export function jobHref(name: string, query: Record<string, string> = {}): string {
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  return `#/jobs/${encodeURIComponent(name)}${search ? '?' + search : ''}`;
}

// Sets the page's query in the address, without a new entry in the history.
export function replaceHash(href: string): void {
  if (location.hash === href) return;
  history.replaceState(history.state, '', href);
  window.dispatchEvent(new HashChangeEvent('hashchange'));
}

// Sets the page's query as a step that Back reverts.
export function pushHash(href: string): void {
  if (location.hash === href) return;
  history.pushState(null, '', href);
  window.dispatchEvent(new HashChangeEvent('hashchange'));
}

// Changes parts of a list's query. Typed text replaces the address; a picked value is a step that Back reverts. Typed text
// arrives a little later, and the query may have changed by then, so the change applies to the query that is then in the address.
export function changeQuery(page: 'jobs' | 'decisions' | 'costs' | 'quota' | 'machines' | 'capacity', change: Record<string, string>): void {
  ('search' in change ? replaceHash : pushHash)(hrefOf(page, { ...parseRoute(location.hash).query, ...change }));
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const update = () => setHash(location.hash);
    update();
    window.addEventListener('hashchange', update);
    window.addEventListener('popstate', update);
    return () => { window.removeEventListener('hashchange', update); window.removeEventListener('popstate', update); };
  }, []);
  return parseRoute(hash);
}
