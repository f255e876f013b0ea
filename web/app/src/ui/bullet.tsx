// One bar from 0 to the owner's limit: usage, current limit and recommended limit.
import type { Resource } from '../api/types';
import { amount } from '../lib/format';
import { RESOURCE } from '../lib/resource';

export interface BulletAmounts { usage: number | null; limit: number | null; owner_limit: number | null; would_be: number | null; peak?: number | null }

const clamp = (share: number): string => `${Math.max(0, Math.min(1, share)) * 100}%`;

export function Bullet({ resource, amounts: a }: { resource: Resource; amounts: BulletAmounts }) {
  const top = Math.max(a.owner_limit ?? 0, a.limit ?? 0, a.would_be ?? 0, a.usage ?? 0, a.peak ?? 0);
  if (!(top > 0)) return null;
  const text = `${RESOURCE[resource].title}: used ${amount(resource, a.usage)}, now ${amount(resource, a.limit)}, `
    + `recommended ${amount(resource, a.would_be)}, owner's ${amount(resource, a.owner_limit)}`;
  return (
    <div class="bullet" role="img" aria-label={text} title={text}>
      {a.owner_limit !== null && <span class="bullet-owner" style={{ width: clamp(a.owner_limit / top) }} />}
      {a.limit !== null && <span class="bullet-limit" style={{ width: clamp(a.limit / top) }} />}
      {a.usage !== null && <span class="bullet-usage" style={{ width: clamp(a.usage / top) }} />}
      {a.peak != null && <span class="bullet-peak" style={{ left: clamp(a.peak / top) }} />}
      {a.would_be !== null && <span class="bullet-would" style={{ left: clamp(a.would_be / top) }} />}
    </div>
  );
}
