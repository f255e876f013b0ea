// The caller's permissions, from the status. Actions that would be refused are neither shown nor requested.
import { useQuery } from './query';
import type { Act, Status } from './types';

// Returns null while the status is unknown. A status without the field `caller` permits every act, and the daemon may still reject it.
export function mayOf(status: Status | null, act: Act): boolean | null {
  if (status === null) return null;
  return status.caller === undefined || status.caller.may.includes(act);
}

export function useMay(act: Act): boolean | null {
  return mayOf(useQuery<Status>('status', { keep: true }).data, act);
}
