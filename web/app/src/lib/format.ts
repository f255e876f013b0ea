// Formats numbers and amounts for people. Every figure has its unit.
import type { Resource, Target } from '../api/types';
import { RESOURCE } from './resource_table';

export const NBSP = '\u00a0';
const MINUS = '\u2212';
export const NONE = '–';

const known = (value: number | null | undefined): value is number => value !== null && value !== undefined && Number.isFinite(value);

function fixed(value: number, decimals: number): string {
  const [whole, rest] = Math.abs(value).toFixed(decimals).split('.');
  const grouped = (whole ?? '').replace(/\B(?=(\d{3})+$)/g, ',');
  const text = rest === undefined ? grouped : `${grouped}.${rest}`;
  return value < 0 && /[1-9]/.test(text) ? MINUS + text : text;
}

// Formats a number with three significant digits, never in scientific notation.
export function significant(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return '0';
  return fixed(value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.0995 ? 2 : size >= 0.00995 ? 3 : 4);
}

// Removes trailing zeros: "1.50" becomes "1.5".
const trimmed = (text: string): string => (text.includes('.') ? text.replace(/0+$/, '').replace(/\.$/, '') : text);

export const count = (value: number | null | undefined): string => (known(value) ? fixed(value, 0) : NONE);

export function plural(value: number, one: string, many = one + 's'): string {
  return `${count(value)}${NBSP}${value === 1 ? one : many}`;
}

// Formats a chance: never 0 or 100 %, which no number of days can show.
export const chance = (share: number): string => (share < 0.001 ? 'under 0.1 %' : share >= 0.995 ? 'over 99 %' : percent(share));

// Formats a share in percent with `places` decimals, or about two significant digits.
export function percent(share: number | null | undefined, places?: number): string {
  if (!known(share)) return NONE;
  const size = Math.abs(share * 100);
  return fixed(share * 100, places ?? (size === 0 || size >= 9.95 ? 0 : size >= 0.095 ? 1 : 2)) + NBSP + '%';
}

// Formats a share in percent on an axis.
export const percentTick = (share: number): string => trimmed(significant(share * 100)) + NBSP + '%';

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export function bytes(value: number): string {
  let amount = value;
  let unit = 0;
  while (unit < UNITS.length - 1 && Math.abs(amount) >= 999.5) { amount /= 1024; ++unit; }
  return (unit === 0 ? fixed(amount, 0) : significant(amount)) + NBSP + UNITS[unit];
}

export function cores(value: number): string {
  if (value !== 0 && Math.abs(value) < 0.0995) {
    const milli = value * 1000;
    return fixed(milli, Math.abs(milli) < 9.95 ? 1 : 0) + NBSP + 'mcores';
  }
  const text = significant(value);
  return text + NBSP + (trimmed(text) === '1' ? 'core' : 'cores');
}

export function amount(target: Target, value: number | null | undefined): string {
  if (!known(value)) return NONE;
  if (target === 'replicas') return plural(value, 'task');
  return RESOURCE[target].unit.name === 'bytes' ? bytes(value) : cores(value);
}

// Shortens an amount for axes and narrow cells: "1.5 GiB", "250 m".
export function shortened(text: string): string {
  const [number = '', unit = ''] = text.split(NBSP);
  const short = { core: '', cores: '', mcores: 'm' }[unit] ?? unit;
  return short === '' ? trimmed(number) : trimmed(number) + NBSP + short;
}
export const amountShort = (resource: Resource, value: number | null | undefined): string => shortened(amount(resource, value));

// Returns a text such as "−18 %" or "+12 %"; "" if there is nothing to compare.
export function change(before: number | null, after: number | null): string {
  if (!known(before) || !known(after) || before <= 0) return '';
  const share = after / before - 1;
  if (Math.abs(share) < 0.0005) return '±0' + NBSP + '%';
  return (share > 0 ? '+' : '') + percent(share);
}

// Returns a text such as "1,230 EUR a month". Amounts below 100 have cents.
export function money(value: number, currency: string): string {
  return `${moneyFigure(value)}${currency ? NBSP + currency : ''} a${NBSP}month`;
}
// Formats money without its period, which the adjacent text names.
export function price(value: number, currency: string): string {
  return `${moneyFigure(value)}${currency ? NBSP + currency : ''}`;
}
// Formats core-hours or GiB-hours without the unit, which the heading names.
export const hours = (value: number): string => (value >= 999.5 ? count(value) : significant(value));
// Formats money without currency and period, which the heading names.
export function moneyFigure(value: number): string {
  return fixed(value, Math.abs(value) >= 100 || value === 0 ? 0 : 2);
}

export function duration(seconds: number): string {
  for (const [size, name] of [[86400, 'd'], [3600, 'h'], [60, 'min']] as const) {
    if (seconds >= size) return trimmed(significant(Math.round((seconds / size) * 10) / 10)) + NBSP + name;
  }
  return trimmed(significant(Math.round(seconds * 10) / 10)) + NBSP + 's';
}

export function milliseconds(value: number): string {
  if (value >= 999.5) return significant(value / 1000) + NBSP + 's';
  if (value < 0.0995) return trimmed(significant(value * 1000)) + NBSP + 'µs';
  return trimmed(significant(value)) + NBSP + 'ms';
}

// Formats a figure of a reason with the figure's unit.
export function withUnit(value: unknown, unit: string): string {
  if (value === null || value === undefined) return NONE;
  if (typeof value !== 'number') return unit ? `${String(value)}${NBSP}${unit}` : String(value);
  if (unit === 'bytes') return bytes(value);
  if (unit === 'cores') return cores(value);
  const product = /^(byte|core)-(days|hours)$/.exec(unit);
  if (product) return `${withUnit(value, `${product[1]}s`)} × ${product[2]}`;
  if (unit === 's' || unit === 'seconds') return duration(value);
  const text = Number.isInteger(value) ? count(value) : significant(value);
  return unit ? text + NBSP + unit : text;
}

// Parses a typed amount such as "4GiB", "512 MiB", "1.5" or "250m". Returns null if the text is invalid.
export function parseAmount(resource: Resource, text: string): number | null {
  const match = /^\s*(\d+(?:\.\d+)?|\.\d+)\s*([a-zA-Z]*)\s*$/.exec(text);
  if (!match) return null;
  const number = Number(match[1]);
  const unit = (match[2] ?? '').toLowerCase();
  if (RESOURCE[resource].unit.name === 'cores') {
    if (['', 'core', 'cores'].includes(unit)) return number;
    return ['m', 'mcore', 'mcores'].includes(unit) ? number / 1000 : null;
  }
  if (unit === '' || unit === 'b') return number;
  const power = ['k', 'm', 'g', 't', 'p'].indexOf(unit[0] ?? '') + 1;
  if (power === 0 || !/^[kmgtp](i?b)?$/.test(unit)) return null;
  return number * (/^[kmgtp]b$/.test(unit) ? 1000 : 1024) ** power;
}

export const words = (name: string): string => name.replace(/_/g, ' ');
export const capital = (text: string): string => (text[0] ?? '').toUpperCase() + text.slice(1);
// Returns the parts of "a, b and c".
export const listed = <T>(parts: readonly T[]): (T | string)[] => parts.flatMap((part, i) => [...(i === 0 ? [] : [i < parts.length - 1 ? ', ' : ' and ']), part]);
