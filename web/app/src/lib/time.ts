// Formats times in the viewer's zone, with UTC in the tooltip. A report has its times in UTC, or on the clock of its trace.
import { now as daemonNow } from './clock';
import { NBSP, NONE, count } from './format';

// Seconds that a Date can represent; extreme integers mean "no time".
export const isTime = (seconds: number | null | undefined): seconds is number => typeof seconds === 'number' && Math.abs(seconds) <= 8.64e12;

const two = (n: number): string => String(n).padStart(2, '0');
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

const DAY_S = 86400;

// 'days': a trace's own clock, whose days are only numbered.
export type Calendar = 'local' | 'utc' | 'days';
let calendar: Calendar = 'local';

export function setCalendar(next: Calendar): void {
  calendar = next;
}

// True if days begin at multiples of 86,400 s.
export const evenDays = (): boolean => calendar !== 'local';

// Returns a Date whose local fields are the fields to display.
function shown(seconds: number): Date {
  const d = new Date(seconds * 1000);
  return evenDays() ? new Date(d.getUTCFullYear(), d.getUTCMonth(), d.getUTCDate(), d.getUTCHours(), d.getUTCMinutes(), d.getUTCSeconds()) : d;
}

export const clock = (seconds: number): string => {
  if (evenDays()) return new Date(seconds * 1000).toISOString().slice(-13, -8);
  const d = new Date(seconds * 1000);
  return `${two(d.getHours())}:${two(d.getMinutes())}`;
};

// Returns the last midnight at or before this time.
export function dayStart(seconds: number): number {
  if (evenDays()) return Math.floor(seconds / DAY_S) * DAY_S;
  return new Date(seconds * 1000).setHours(0, 0, 0, 0) / 1000;
}

// Returns "3 Jul", or "day 15" for a trace's own clock.
export function dayLabel(seconds: number): string {
  if (calendar === 'days') return `day${NBSP}${Math.floor(seconds / DAY_S)}`;
  const d = shown(seconds);
  return `${d.getDate()}${NBSP}${MONTHS[d.getMonth()]}`;
}

export function dayName(seconds: number, now = daemonNow()): string {
  if (calendar === 'days') return dayLabel(seconds);
  const year = shown(seconds).getFullYear();
  return `${dayLabel(seconds)}${year === shown(now).getFullYear() ? '' : ` ${year}`}`;
}

export function dateTime(seconds: number | null, now = daemonNow()): string {
  if (!isTime(seconds)) return NONE;
  const weekday = calendar === 'days' ? '' : `${DAYS[shown(seconds).getDay()]} `;
  return `${weekday}${dayName(seconds, now)}, ${clock(seconds)}`;
}

export function utc(seconds: number): string {
  if (!isTime(seconds)) return NONE;
  return new Date(seconds * 1000).toISOString().replace('T', ' ').replace(/(:\d\d)\.\d+Z$/, '$1 UTC');
}

// Returns a text such as "just now", "5 min ago", "3 h ago", "in 2 h" or "12 d ago".
export function ago(seconds: number, now = daemonNow()): string {
  if (!isTime(seconds)) return NONE;
  const difference = now - seconds;
  const size = Math.abs(difference);
  // Actions of people have wall-clock times, a little ahead of the last window.
  if (size < 45 || (difference < 0 && size < 900)) return 'just now';
  const [n, unit] = size < 5400 ? [size / 60, 'min'] : size < 36 * 3600 ? [size / 3600, 'h'] : [size / 86400, 'd'];
  const text = `${count(Math.max(1, Math.round(n)))}${NBSP}${unit}`;
  return difference >= 0 ? `${text} ago` : `in ${text}`;
}

export const zone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || 'local time';
