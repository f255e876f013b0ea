// Reads the stream of events with growing pauses between retries, and polls while there is no stream.
import type { Decision, Fleet, Oom, SettingChange, TierAct } from './types';
import { backoffMs } from './backoff';
import { apiUrl, request } from './client';

export interface EventData { window: Fleet; decision: Decision; oom: Oom; tier_act: TierAct; setting: SettingChange }
export type EventName = keyof EventData;
export type Connection = 'connecting' | 'live' | 'polling' | 'lost';

const EVENTS: EventName[] = ['window', 'decision', 'oom', 'tier_act', 'setting'];
const POLL_MS = 15_000;
const HIDDEN_MS = 60_000;
const OPEN_MS = 4_000;

type Listener = (name: EventName, data: unknown) => void;

class Live {
  connection: Connection = 'connecting';
  lastOkMs = 0;  // time of the last response or event, by the viewer's clock
  nextTryMs = 0;
  private listeners = new Set<Listener>();
  private watchers = new Set<() => void>();
  private source: EventSource | null = null;
  private attempt = 0;
  private retry = 0;
  private poll = 0;
  private hiding = 0;
  private slow = 0;

  start(): void {
    this.open();
    document.addEventListener('visibilitychange', () => this.visibility());
    window.addEventListener('online', () => this.tryNow());
  }

  on(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  watch(watcher: () => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  // Records that the daemon is reachable. Every request reports its result to this object.
  answered(): void {
    this.lastOkMs = Date.now();
    if (this.connection === 'lost') {
      this.set('polling');
      this.tryNow();
    }
  }

  unanswered(): void {
    if (this.connection !== 'live') this.set('lost');
  }

  tryNow(): void {
    if (this.source) return;
    clearTimeout(this.retry);
    this.open();
  }

  private open(): void {
    const source = new EventSource(apiUrl('events'));
    this.source = source;
    source.onopen = () => this.opened();
    // A proxy may buffer the stream until the first event, so poll until then.
    clearTimeout(this.slow);
    this.slow = window.setTimeout(() => this.pollMeanwhile(), OPEN_MS);
    source.onerror = () => this.failed();
    for (const name of EVENTS) {
      source.addEventListener(name, (event) => {
        this.opened();
        this.emit(name, JSON.parse((event as MessageEvent<string>).data));
      });
    }
  }

  private opened(): void {
    clearTimeout(this.slow);
    clearInterval(this.poll);
    this.poll = 0;
    this.attempt = 0;
    this.lastOkMs = Date.now();
    const missed = this.connection === 'polling' || this.connection === 'lost';
    this.set('live');
    if (missed) void this.refresh();
  }

  private pollMeanwhile(): void {
    if (!this.poll) this.poll = window.setInterval(() => void this.refresh(), POLL_MS);
    if (this.connection === 'live' || this.connection === 'connecting') this.set('polling');
    void this.refresh();
  }

  private failed(): void {
    clearTimeout(this.slow);
    this.source?.close();
    this.source = null;
    const pause = backoffMs(this.attempt++, Math.random());
    this.nextTryMs = Date.now() + pause;
    clearTimeout(this.retry);
    this.retry = window.setTimeout(() => this.open(), pause);
    this.pollMeanwhile();
  }

  // Requests the fleet's state and emits the event of a closed window, because pages handle both alike.
  private async refresh(): Promise<void> {
    try {
      const fleet = await request<Fleet>('fleet');
      this.answered();
      this.emit('window', fleet);
    } catch {
      this.unanswered();
    }
  }

  // Closes the connection while the page is hidden.
  private visibility(): void {
    clearTimeout(this.hiding);
    if (document.hidden) {
      this.hiding = window.setTimeout(() => {
        this.source?.close();
        this.source = null;
        clearTimeout(this.retry);
        clearTimeout(this.slow);
        clearInterval(this.poll);
        this.poll = 0;
      }, HIDDEN_MS);
    } else if (!this.source) {
      this.tryNow();
      void this.refresh();
    }
  }

  private emit(name: EventName, data: unknown): void {
    for (const listener of [...this.listeners]) listener(name, data);
  }

  private set(connection: Connection): void {
    if (this.connection === connection) return;
    this.connection = connection;
    for (const watcher of [...this.watchers]) watcher();
  }
}

export const live = new Live();
