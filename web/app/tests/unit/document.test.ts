import { afterEach, describe, expect, it } from 'vitest';
// @ts-expect-error plain JavaScript
import { documentData } from '../../mock/document.mjs';
import { type ChartPart, type ReportDocument, type TablePart, aligned, coloursOf, isDocument, isWords, measured, powers, roundDurations, tickOf, withUnit, written } from '../../src/document/data';
import { NBSP, NONE } from '../../src/lib/format';
import { setCalendar } from '../../src/lib/time';

const report = documentData() as ReportDocument;
const parts = report.sections.flatMap((section) => section.parts);
const charts = parts.filter((part): part is ChartPart => part.is === 'chart');
const plain = (text: string): string => text.replaceAll(NBSP, ' ');

afterEach(() => setCalendar('local'));

describe('a report of sections', () => {
  it('is told from the replay report', () => {
    expect(isDocument(report)).toBe(true);
    expect([null, 'document', {}, { kind: 'replay' }].some(isDocument)).toBe(false);
  });
});

describe('figures', () => {
  it('are written by their form', () => {
    expect(plain(written(12345, { form: 'count' }))).toBe('12,345');
    expect(plain(written(0.4756, { form: 'share', decimals: 2 }))).toBe('47.56 %');
    expect(plain(written(0.4756, { form: 'share' }))).toBe('48 %');
    expect(plain(written(150, { form: 'seconds' }))).toBe('2.5 min');
    expect(plain(written(0.02, { form: 'seconds' }))).toBe('20 ms');
    expect(plain(written(0, { form: 'seconds' }))).toBe('0 s');
    expect(plain(written(3.2456, { form: 'number', unit: 'cores' }))).toBe('3.25');
    setCalendar('utc');
    expect(plain(written(1_767_225_600, { form: 'time' }))).toMatch(/1 Jan.*00:00/);
  });
  it('are texts or not known where they are no numbers', () => {
    expect(written('never', { form: 'seconds' })).toBe('never');
    expect(written(null, { form: 'count' })).toBe(NONE);
  });
  it('keep their digits when they are very small', () => {
    expect(measured(0.0000021)).toBe('2.1×10⁻⁶');
    expect(measured(0)).toBe('0');
    expect(measured(1234567)).toBe('1,234,567');
  });
  it('have their unit where no head says it', () => {
    expect(plain(withUnit(12.5, { form: 'number', unit: 'cores' }))).toBe('12.5 cores');
    expect(plain(withUnit(0.5, { form: 'number', unit: 'GiB' }))).toBe('512 MiB');
    expect(plain(withUnit(3, { form: 'count', unit: 'jobs' }))).toBe('3 jobs');
    expect(withUnit('1.00 EUR', { form: 'text' })).toBe('1.00 EUR');
    expect(withUnit(null, { form: 'number', unit: 'cores' })).toBe(NONE);
  });
  it('are short on axes', () => {
    expect([0, 0.5, 20].map((v) => plain(tickOf({ form: 'number', unit: 'cores' })(v)))).toEqual(['0 cores', '0.5 cores', '20 cores']);
    expect(plain(tickOf({ form: 'share' })(0.25))).toBe('25 %');
    expect(plain(tickOf({ form: 'count', unit: 'tasks' })(100))).toBe('100 tasks');
    expect(plain(tickOf({ form: 'count', unit: 'jobs an hour' })(2.5))).toBe('2.5');
  });
});

describe('tables', () => {
  const table = parts.find((part): part is TablePart => part.is === 'table');
  if (!table) throw new Error('no table');
  it('tell words from figures', () => expect(table.columns.map((_, i) => isWords(table, i))).toEqual([true, false, false, false, false, true]));
  it('take texts that are figures as such', () => {
    expect(isWords({ is: 'table', columns: [{ head: 'sold', form: 'text' }], rows: [['1,000'], [null], ['-3.00']] }, 0)).toBe(false);
  });
});

describe('charts', () => {
  const [overTime, delays] = charts;
  if (!overTime || !delays) throw new Error('no charts');
  it('stack areas, the highest first, and tell the value of each', () => {
    const { x, lines } = aligned(overTime);
    expect(x.length).toBe(72);
    expect(lines.map((line) => line.name)).toEqual(['batch', 'production', "owners' limits"]);
    expect(lines[0]?.values[0]).toBeCloseTo((lines[1]?.values[0] ?? 0) + (lines[0]?.told[0] ?? 0));
    expect(lines[1]?.values).toEqual(lines[1]?.told);
  });
  it('put lines of other times over one axis', () => {
    const chart: ChartPart = { ...delays, series: [{ name: 'a', line: 'solid', x: [1, 100], y: [0, 1] }, { name: 'b', line: 'solid', x: [10, 100, 1000], y: [5, 6, 7] }] };
    const { x, lines } = aligned(chart);
    expect(x).toEqual([1, 10, 100, 1000]);
    expect(lines[0]?.values).toEqual([0, 0.5, 1, null]);  // half of the way on a logarithmic axis
    expect(lines[1]?.values).toEqual([null, 5, 6, 7]);
    const both = aligned({ ...chart, y: { ...chart.y, log: true }, series: [{ name: 'a', line: 'solid', x: [1, 100], y: [0.01, 1] }, ...chart.series.slice(1)] });
    expect(both.lines[0]?.values[1]).toBeCloseTo(0.1);
  });
  it('have powers of ten as ticks, not too many', () => {
    expect(powers(0.05, 200)).toEqual([0.1, 1, 10, 100]);
    expect(powers(1e-12, 1e12).length).toBeLessThanOrEqual(8);
    expect(roundDurations(0.1, 4000)).toEqual([0.1, 1, 10, 60, 600, 3600]);
  });
  it('have one colour a name in the whole report', () => {
    const colour = coloursOf(report);
    expect(colour('CPU, Pareto')).toBe(colour('CPU'));
    expect(new Set(['production', 'batch', "owners' limits", 'CPU'].map(colour)).size).toBeGreaterThanOrEqual(3);
  });
});
