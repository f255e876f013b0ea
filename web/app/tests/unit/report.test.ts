import { afterEach, describe, expect, it } from 'vitest';
// @ts-expect-error plain JavaScript
import { reportData } from '../../mock/report.mjs';
import { clock, dateTime, dayLabel, dayName, dayStart, setCalendar } from '../../src/lib/time';
import { lastDays, limitAt, openStory, readReport, shareAtOrBelow, shareOfLevel, unpackColumn } from '../../src/report/data';
import { jobRows, sorted } from '../../src/report/job_rows';
import { placeLabel, ticks } from '../../src/report/scatter_scale';
import { firstChoice, toggled, viewOf } from '../../src/report/view';
import { thinned } from '../../src/ui/heatmap_scale';
import { keyStep } from '../../src/ui/tip';

const GIB = 2 ** 30;
const report = readReport(reportData({ jobs: 9 }));

describe('the data of a report', () => {
  it('is in bytes and cores', () => {
    const [memory, cpu] = [report.lanes[0], report.lanes[1]];
    expect(memory?.resource).toBe('memory');
    expect(memory?.jobs.owner[0]).toBe(2 * GIB);
    expect(memory?.fleet.owner[0]).toBe(memory?.sum.owner);
    expect(cpu?.jobs.owner[0]).toBe(2);
  });
  it('has the columns that only the first lane of a resource has', () => {
    const data = reportData({ jobs: 9 });
    for (const lane of data.lanes.slice(2)) { delete lane.jobs.owner; delete lane.fleet.day; }
    expect(readReport(data)).toEqual(report);
  });
  it('unpacks columns', () => {
    expect(unpackColumn('')).toEqual([]);
    // Bucket 1 * 64 + 2, then a hole of one, of three, and levels.
    expect(unpackColumn('BC-Ab.DB')).toEqual([[66, 63], [68, 27], [72, 1]]);
    expect(shareOfLevel(63)).toBe(1);
    expect(shareOfLevel(1)).toBeCloseTo(0.001);
  });
  it('keeps the columns in which nothing was measured', () => {
    const raw = report.stories[0];
    if (!raw) throw new Error('no story');
    const story = openStory(report, raw);
    expect(story.map.time.length).toBe(20 * 24);
    expect(story.map.cells.some(([column]) => column === 55)).toBe(false);
    const [, row, share] = story.map.cells[0] ?? [0, 0, 0];
    expect(story.map.buckets[row]).toBeCloseTo(GIB * 2 ** -6 * 2 ** (300 / 14), -3);
    expect(share).toBeCloseTo(shareOfLevel(61));
    const last = lastDays(story, 2);
    expect(last.map.time.length).toBe(48);
    expect(last.map.from).toBe(last.map.to - 2 * 86400);
    expect(last.lines[0]?.at).toEqual([last.map.from]);
    expect(lastDays(story, null)).toBe(story);
    expect(Math.max(...last.map.cells.map(([column]) => column))).toBe(47);
  });
  it('knows the limit in force', () => {
    const line = { policy: 'peak', at: [10, 20], values: [5, null], ooms: [] };
    expect([9, 10, 19, 20, 99].map((t) => limitAt(line, t))).toEqual([undefined, 5, 5, null, null]);
  });
  it('reads shares of slack between quantiles', () => {
    expect([-1, 0, 0.25, 0.5, 2].map((s) => shareAtOrBelow([0, 0.5, 1], s))).toEqual([0, 0, 0.25, 0.5, 1]);
    expect(shareAtOrBelow([0.5, 0.5, 0.5], 0.5)).toBe(1);
  });
});

describe('what is shown', () => {
  const choice = firstChoice(report);
  it('begins with the recommender asked for', () => expect(choice).toMatchObject({ resource: 'memory', policy: 'analogs' }));
  it('draws the picked one last', () => {
    const view = viewOf(report, { ...choice, policy: 'peak', hidden: toggled(choice.hidden, 'vpa') }, () => undefined);
    expect(view?.drawn.map((lane) => lane.policy)).toEqual(['static', 'moving_window', 'ensemble', 'analogs', 'peak']);
    expect(toggled(new Set(['vpa']), 'vpa').size).toBe(0);
  });
  it('is nothing without results', () => expect(viewOf({ ...report, lanes: [], policies: [] }, choice, () => undefined)).toBeNull());
  it('sorts jobs, what is not known last', () => {
    const lane = report.lanes[0];
    if (!lane) throw new Error('no lane');
    const rows = jobRows(report, lane);
    expect(rows[0]).toMatchObject({ name: 'vm-001', story: 0, owner: 2 * GIB });
    const some = rows.map((row, i) => (i === 3 ? { ...row, saved: null } : row));
    for (const descending of [true, false]) expect(sorted([...some], { key: 'saved', descending }).at(-1)?.name).toBe('vm-004');
    expect(sorted([...rows], { key: 'name', descending: true })[0]?.name).toBe('vm-009');
  });
});

describe('scales', () => {
  it('has round ticks up to the first at or above', () => {
    expect(ticks(8, 4)).toEqual([0, 2, 4, 6, 8]);
    expect(ticks(1.1, 5)).toEqual([0, 0.5, 1, 1.5]);
    expect(ticks(0, 4)).toEqual([0, 1]);
  });
  it('places labels where nothing is', () => {
    const plot = { x0: 0, x1: 200, y0: 200, y1: 0 };
    expect(placeLabel(plot, 100, 100, 40, [])).toEqual({ x: 116, y: 92, w: 40, h: 16 });
    expect(placeLabel(plot, 100, 100, 40, [{ x: 110, y: 90, w: 50, h: 20 }]).x).toBe(44);
  });
  it('joins columns into their mean', () => {
    const map = { resource: 'cpu' as const, from: 0, to: 400, column_seconds: 100, time: [0, 100, 200, 300], buckets: [1, 2], ooms: [],
      cells: [[0, 0, 1], [1, 1, 1], [3, 1, 1]] as [number, number, number][] };
    expect(thinned(map, 4)).toBe(map);
    expect(thinned(map, 2)).toMatchObject({ column_seconds: 200, time: [0, 200], cells: [[0, 0, 0.5], [0, 1, 0.5], [1, 1, 1]] });
  });
  it('moves a reading by keys', () => {
    const step = (key: string, at: number | null, shiftKey = false) => keyStep({ key, shiftKey } as KeyboardEvent, at, 40);
    expect([step('ArrowLeft', 5), step('ArrowRight', 39), step('ArrowRight', 5, true), step('PageUp', 5), step('Home', 5), step('End', 5)]).toEqual([4, 39, 17, 3, 0, 39]);
    expect([step('ArrowLeft', null), step('a', 5)]).toEqual([39, null]);
  });
});

describe('calendars', () => {
  afterEach(() => setCalendar('local'));
  const at = Date.UTC(2013, 6, 3, 15, 4) / 1000;
  it('shows UTC', () => {
    setCalendar('utc');
    expect([clock(at), dayLabel(at), dayName(at), dateTime(at)]).toEqual(['15:04', '3\u00a0Jul', '3\u00a0Jul 2013', 'Wed 3\u00a0Jul 2013, 15:04']);
    expect(dayStart(at)).toBe(Date.UTC(2013, 6, 3) / 1000);
  });
  it('counts the days of a clock of its own', () => {
    setCalendar('days');
    expect([dayLabel(86400 * 15 + 60), dateTime(86400 * 15 + 60)]).toEqual(['day\u00a015', 'day\u00a015, 00:01']);
  });
});

// Names of jobs are any text: none of it may become markup.
it('makes no markup of text', () => {
  const files = Object.entries(import.meta.glob<string>('../../src/**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true }));
  expect(files.length).toBeGreaterThan(60);
  for (const [name, text] of files) expect(text, name).not.toMatch(/innerHTML|insertAdjacentHTML|document\.write|\beval\(/i);
});
