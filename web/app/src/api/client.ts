// Sends requests to the daemon. Paths are relative to the page, so that requests also work behind a proxy's prefix.
import { access } from './access';

export class ApiError extends Error {
  // `fields`: the error of each field of a form, by its key.
  constructor(readonly status: number, message: string, readonly fields: Record<string, string> = {}) { super(message); }
  // True if there was no response, or if a proxy responded instead of the daemon.
  get unreachable(): boolean { return this.status === 0 || this.status >= 502; }
}

export function apiUrl(path: string): string {
  return new URL('api/v1/' + path, location.href.split('#')[0]).href;
}

export type Params = Record<string, string | number | null | undefined>;

// Returns `path` with the parameters that have a value, in a stable order, so that it can be the key of a cache.
export function withParams(path: string, params: Params): string {
  const parts = Object.entries(params)
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`);
  return parts.length > 0 ? `${path}?${parts.join('&')}` : path;
}

export function jobPath(name: string, rest = ''): string {
  return `jobs/${encodeURIComponent(name)}${rest}`;
}

export async function request<T>(path: string, init: RequestInit = {}): Promise<T> {
  let response: Response;
  try {
    response = await fetch(apiUrl(path), init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError(0, 'tautd does not respond');
  }
  if (path !== 'login') access.note(response.status);
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // Layers in front of the API (access, a proxy) respond in plain text.
    const plain = response.headers.get('content-type')?.startsWith('text/plain') ? text.trim() : '';
    throw new ApiError(response.status, plain || `${path}: an answer that is not JSON (HTTP ${response.status})`);
  }
  if (!response.ok) {
    const message = (body as { error?: unknown } | null)?.error;
    const errors = (body as { errors?: unknown } | null)?.errors;
    const fields = Object.fromEntries((Array.isArray(errors) ? errors as { key?: unknown; error?: unknown }[] : [])
      .map(({ key, error }) => [String(key ?? ''), String(error ?? '')]));
    throw new ApiError(response.status, typeof message === 'string' ? message : `HTTP ${response.status}`, fields);
  }
  return body as T;
}

export function sendJson<T>(method: 'POST' | 'PATCH', path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return request<T>(path, { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' }, signal });
}

// Ends the session of this browser.
export async function signOut(): Promise<void> {
  const answer = await fetch(new URL('logout', location.href.split('#')[0].split('?')[0]).href, { method: 'POST' });
  if (!answer.ok) throw new ApiError(answer.status, `HTTP ${answer.status}`);
}

export const aborted = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError';
