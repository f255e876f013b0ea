// Times in the viewer's zone; the tooltip says UTC.
import { now as daemonNow } from './clock';
import { NBSP, NONE, count } from './format';

// Seconds that a Date can be made of; the ends of the range of integers stand for no time at all.
export const isTime = (seconds: number | null | undefined): seconds is number => typeof seconds === 'number' && Math.abs(seconds) <= 8.64e12;

const two = (n: number): string => String(n).padStart(2, '0');
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

export const clock = (seconds: number): string => {
  const d = new Date(seconds * 1000);
  return `${two(d.getHours())}:${two(d.getMinutes())}`;
};

export function dayName(seconds: number, now = daemonNow()): string {
  const d = new Date(seconds * 1000);
  const year = d.getFullYear() === new Date(now * 1000).getFullYear() ? '' : ` ${d.getFullYear()}`;
  return `${d.getDate()}${NBSP}${MONTHS[d.getMonth()]}${year}`;
}

export function dateTime(seconds: number | null, now = daemonNow()): string {
  if (!isTime(seconds)) return NONE;
  const d = new Date(seconds * 1000);
  return `${DAYS[d.getDay()]} ${dayName(seconds, now)}, ${clock(seconds)}`;
}

export function utc(seconds: number): string {
  if (!isTime(seconds)) return NONE;
  return new Date(seconds * 1000).toISOString().replace('T', ' ').replace(/(:\d\d)\.\d+Z$/, '$1 UTC');
}

// "just now", "5 min ago", "3 h ago", "in 2 h", "12 d ago".
export function ago(seconds: number, now = daemonNow()): string {
  if (!isTime(seconds)) return NONE;
  const difference = now - seconds;
  const size = Math.abs(difference);
  // What people do is stamped by the wall, a little ahead of the last window.
  if (size < 45 || (difference < 0 && size < 900)) return 'just now';
  const [n, unit] = size < 5400 ? [size / 60, 'min'] : size < 36 * 3600 ? [size / 3600, 'h'] : [size / 86400, 'd'];
  const text = `${count(Math.max(1, Math.round(n)))}${NBSP}${unit}`;
  return difference >= 0 ? `${text} ago` : `in ${text}`;
}

export const zone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || 'local time';
