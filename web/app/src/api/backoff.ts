// Returns the pause before attempt `attempt` (from 0): it doubles up to half a minute. `random` in [0, 1) spreads the browsers.
export function backoffMs(attempt: number, random: number): number {
  return Math.min(30_000, 1000 * 2 ** attempt) * (0.75 + 0.5 * random);
}
