// The caller's permissions, from the status. Actions that would be refused are neither shown nor requested.
import { useQuery } from './query';
import type { Act, Status } from './types';

// null: not known yet. A daemon without this field refuses by itself.
export function mayOf(status: Status | null, act: Act): boolean | null {
  if (status === null) return null;
  return status.caller === undefined || status.caller.may.includes(act);
}

export function useMay(act: Act): boolean | null {
  return mayOf(useQuery<Status>('status', { keep: true }).data, act);
}
