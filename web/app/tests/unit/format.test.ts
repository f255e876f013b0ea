import { describe, expect, it } from 'vitest';
import { chance, money, amount, amountShort, bytes, change, cores, count, duration, milliseconds, parseAmount, percent, plural, significant, withUnit } from '../../src/lib/format';

const plain = (text: string): string => text.replace(/\u00a0/g, ' ').replace(/\u2212/g, '-');

describe('amounts', () => {
  it('chooses the unit of bytes', () => {
    expect([0, 512, 1023, 1024, 1536 * 1024, 2 ** 30, 5.5 * 2 ** 40].map(bytes).map(plain))
      .toEqual(['0 B', '512 B', '1.00 KiB', '1.00 KiB', '1.50 MiB', '1.00 GiB', '5.50 TiB']);
  });
  it('says a thousand of one unit in the next', () => expect(plain(bytes(1000 * 2 ** 20))).toBe('0.98 GiB'));
  it('tells cores and millicores', () => {
    expect([0, 0.0005, 0.05, 0.0995, 0.25, 1, 1.5, 64, 229926.4].map(cores).map(plain))
      .toEqual(['0 cores', '0.5 mcores', '50 mcores', '0.10 cores', '0.25 cores', '1.00 core', '1.50 cores', '64.0 cores', '229,926 cores']);
  });
  it('keeps what is not known apart from nothing', () => {
    expect(amount('memory', null)).toBe('–');
    expect(plain(amount('memory', 0))).toBe('0 B');
    expect(amount('cpu', undefined)).toBe('–');
    expect(amount('cpu', NaN)).toBe('–');
  });
  it('shortens for axes', () => {
    expect(plain(amountShort('memory', 1.5 * 2 ** 30))).toBe('1.5 GiB');
    expect(plain(amountShort('cpu', 0.05))).toBe('50 m');
    expect(amountShort('cpu', 2)).toBe('2');
  });
  it('shows negative amounts with a minus', () => expect(plain(bytes(-(2 ** 30)))).toBe('-1.00 GiB'));
});

describe('numbers', () => {
  it('keeps three digits', () => expect([0, 0.00123, 0.0123, 0.123, 1.234, 12.34, 123.4, 12345].map(significant)).toEqual(['0', '0.0012', '0.012', '0.12', '1.23', '12.3', '123', '12,345']));
  it('groups thousands', () => expect([count(999), count(1000), count(1234567), count(null)]).toEqual(['999', '1,000', '1,234,567', '–']));
  it('never says a chance of 0 or 100 %', () => expect([0, 0.0004, 0.031, 0.98, 0.995, 1].map((v) => plain(chance(v)))).toEqual(['under 0.1 %', 'under 0.1 %', '3.1 %', '98 %', 'over 99 %', 'over 99 %']));
  it('says percent', () => expect([0, 0.0004, 0.031, 0.5, 1.2, null].map((v) => plain(percent(v)))).toEqual(['0 %', '0.04 %', '3.1 %', '50 %', '120 %', '–']));
  it('knows one from many', () => expect([plural(1, 'job'), plural(0, 'job'), plural(2, 'OOM kill')].map(plain)).toEqual(['1 job', '0 jobs', '2 OOM kills']));
  it('compares', () => expect([change(4, 3), change(2, 2), change(null, 3), change(0, 3), change(1, 1.12)].map(plain)).toEqual(['-25 %', '±0 %', '', '', '+12 %']));
  it('says how long', () => expect([0.4, 30, 90, 7200, 86400 * 14].map(duration).map(plain)).toEqual(['0.4 s', '30 s', '1.5 min', '2 h', '14 d']));
  it('says milliseconds', () => expect([0.0039, 0.42, 12.7, 1520].map(milliseconds).map(plain)).toEqual(['3.9 µs', '0.42 ms', '12.7 ms', '1.52 s']));
  it('keeps the unit of a fact', () => {
    expect(plain(withUnit(2 ** 30, 'bytes'))).toBe('1.00 GiB');
    expect(plain(withUnit(0.5, 'core-days'))).toBe('0.50 cores × days');
    expect(withUnit('serving', '')).toBe('serving');
    expect(withUnit(2016, '')).toBe('2,016');
    expect(withUnit(null, 'bytes')).toBe('–');
  });
});

describe('what people type', () => {
  it('understands memory', () => {
    expect(['4GiB', '512 MiB', '2g', '1.5T', '100', '1KB'].map((t) => parseAmount('memory', t)))
      .toEqual([4 * 2 ** 30, 512 * 2 ** 20, 2 * 2 ** 30, 1.5 * 2 ** 40, 100, 1000]);
  });
  it('understands cores', () => expect(['1.5', '250m', '2 cores', '.5'].map((t) => parseAmount('cpu', t))).toEqual([1.5, 0.25, 2, 0.5]));
  it('refuses the rest', () => expect(['', 'x', '-1', '4 GiBs', '1e3', '5 cores'].map((t) => parseAmount('memory', t))).toEqual([null, null, null, null, null, null]));
});

it('says money a month with its currency', () => {
  expect([money(12345.6, 'EUR'), money(12.345, 'EUR'), money(-3, ''), money(0, 'CHF')].map((text) => text.replace(/\u00a0/g, ' ')))
    .toEqual(['12,346 EUR a month', '12.35 EUR a month', '−3.00 a month', '0 CHF a month']);
});
