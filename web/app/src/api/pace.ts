// Decides when a path may be requested again: not at once after the last time, and with growing pauses after failures.
import { backoffMs } from './backoff';

const LEAST_MS = 250;

export class Pace {
  private asked = new Map<string, { atMs: number; failures: number }>();
  constructor(private readonly random: () => number = Math.random) {}

  // Returns the milliseconds to wait before `path` is requested.
  wait(path: string, nowMs: number): number {
    const last = this.asked.get(path);
    if (!last) return 0;
    const pause = last.failures > 0 ? backoffMs(last.failures - 1, this.random()) : LEAST_MS;
    return Math.max(0, last.atMs + pause - nowMs);
  }
  starts(path: string, nowMs: number): void {
    const failures = this.asked.get(path)?.failures ?? 0;
    this.asked.delete(path);
    this.asked.set(path, { atMs: nowMs, failures });
    for (const oldest of this.asked.keys()) {
      if (this.asked.size <= 200) break;
      this.asked.delete(oldest);
    }
  }
  ends(path: string, ok: boolean): void {
    const last = this.asked.get(path);
    if (last) last.failures = ok ? 0 : Math.min(last.failures + 1, 10);
  }
  clear(): void { this.asked.clear(); }
  // Forgets the last request for `path`, so that a request by the user is sent at once.
  forget(path: string): void { this.asked.delete(path); }
}
