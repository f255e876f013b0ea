import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Agent, Decision, Heatmap } from '../../src/api/types';
import { jobPath, withParams } from '../../src/api/client';
import { backoffMs } from '../../src/api/live';
import { hrefOf, jobHref, parseRoute } from '../../src/lib/route';
import { ago, dateTime, utc } from '../../src/lib/time';
import { RECOMMENDERS, fromSlider, toSlider } from '../../src/pages/job/knobs';
import { fieldOf } from '../../src/pages/job/settings';
import { inOrder } from '../../src/pages/machines';
import { underWay } from '../../src/ui/decision_list';
import { columnAt, height, level, logTicks, lowerBound, quantile, valueSpan } from '../../src/ui/heatmap_scale';

describe('agents and what they answer', () => {
  it('lists those that are away first, then by name', () => {
    const agents = [['b', true], ['a', true], ['z', false]].map(([name, connected]) => ({ name, connected }) as Agent);
    expect(inOrder(agents).map((agent) => agent.name)).toEqual(['z', 'a', 'b']);
  });
  it('looks again while a decision is on its way, not for one that is only shown', () => {
    const one = (outcome: string, kind = 'set') => ({ outcome, kind }) as Decision;
    expect(underWay(undefined)).toBe(0);
    expect(underWay([one('applied'), one('pending', 'would_set')])).toBe(0);
    expect(underWay([one('applied'), one('pending')])).toBeGreaterThan(0);
  });
});

describe('routes', () => {
  it('reads every page', () => {
    expect(parseRoute('').page).toBe('fleet');
    expect(parseRoute('#/').page).toBe('fleet');
    expect(parseRoute('#/jobs?search=a+b&mode=auto')).toEqual({ page: 'jobs', job: '', query: { search: 'a b', mode: 'auto' } });
    expect(parseRoute('#/decisions').page).toBe('decisions');
    expect(parseRoute('#/machines').page).toBe('machines');
    expect(parseRoute('#/nowhere').page).toBe('unknown');
  });
  it('keeps any name of a job', () => {
    for (const name of ['shop/web', 'a b?c#d', '100%', 'ü/ñ', 'a=b&c']) expect(parseRoute(jobHref(name, { resource: 'cpu' }))).toEqual({ page: 'job', job: name, query: { resource: 'cpu' } });
    expect(parseRoute('#/jobs/shop/web').job).toBe('shop/web');
    expect(parseRoute('#/jobs/100%').job).toBe('100%');
    expect(jobPath('shop/web', '/usage')).toBe('jobs/shop%2Fweb/usage');
  });
  it('leaves out what is not set', () => {
    expect(hrefOf('jobs', { search: '', mode: 'off' })).toBe('#/jobs?mode=off');
    expect(withParams('jobs', { search: undefined, mode: '', offset: 0 })).toBe('jobs?offset=0');
  });
});

describe('times', () => {
  const zone = process.env.TZ;
  beforeEach(() => { process.env.TZ = 'Europe/Zurich'; });
  afterEach(() => { if (zone === undefined) delete process.env.TZ; else process.env.TZ = zone; });
  const now = Date.UTC(2026, 10, 21, 12, 0) / 1000;
  it('is in the viewer’s zone, and in UTC on demand', () => {
    expect(dateTime(now, now).replace(/\u00a0/g, ' ')).toBe('Sat 21 Nov, 13:00');
    expect(dateTime(now - 366 * 86400, now).replace(/\u00a0/g, ' ')).toBe('Thu 20 Nov 2025, 13:00');
    expect(utc(now)).toBe('2026-11-21 12:00:00 UTC');
  });
  it('says ages', () => {
    expect([10, 300, 5000, 7200, 200000, -7200].map((s) => ago(now - s, now).replace(/\u00a0/g, ' '))).toEqual(['just now', '5 min ago', '83 min ago', '2 h ago', '2 d ago', 'in 2 h']);
  });
});

it('pauses longer after each failure, up to half a minute', () => {
  expect([0, 1, 2, 3, 10].map((n) => backoffMs(n, 0.5))).toEqual([1000, 2000, 4000, 8000, 30000]);
  expect(backoffMs(0, 0)).toBe(750);
});

describe('sliders', () => {
  it('starts where the value is and can be moved by one step', () => {
    for (const knob of RECOMMENDERS.flatMap((r) => r.knobs)) {
      expect(fromSlider(knob, toSlider(knob, knob.start))).toBeCloseTo(knob.start, 6);
      expect(fromSlider(knob, 0)).toBeCloseTo(knob.low, 6);
      expect(fromSlider(knob, 1)).toBeCloseTo(knob.high, 6);
    }
  });
});

it('finds the setting that a message is about', () => {
  const keys = ['memory.upper', 'memory.lower', 'mode', 'canary.share'];
  expect(fieldOf('memory.upper: `x` is not an amount', keys)).toBe('memory.upper');
  expect(fieldOf('the setting `mode` has no value `on`', keys)).toBe('mode');
  expect(fieldOf('not allowed', keys)).toBe('');
});

describe('the heatmap’s scale', () => {
  const map: Heatmap = { resource: 'memory', from: 0, to: 1200, column_seconds: 300, time: [0, 300, 900], buckets: [100, 105, 110.25],
    cells: [[0, 0, 0.5], [0, 2, 0.5], [1, 1, 1], [2, 1, 1]], limit: [null, 200, 200], owner_limit: [400, 400, 400], would_be: [150, 150, 150], ooms: [] };
  it('shows usage and lines', () => {
    const span = valueSpan(map);
    expect(span.low).toBeLessThan(100 / 1.05 + 0.01);
    expect(span.high).toBeGreaterThan(400);
    expect(height(span, span.low)).toBeCloseTo(0);
    expect(height(span, span.high)).toBeCloseTo(1);
  });
  it('bounds the decades', () => expect(valueSpan({ ...map, buckets: [1e-9, 105, 110] }).low).toBeGreaterThan(400 / 1e4 / 2));
  it('bears an empty map', () => expect(valueSpan({ ...map, cells: [], limit: [], owner_limit: [null], would_be: [] })).toEqual({ low: 1, high: 2 }));
  it('knows the lower bounds', () => {
    expect(lowerBound(map.buckets, 1)).toBe(100);
    expect(lowerBound(map.buckets, 0)).toBeCloseTo(100 / 1.05, 5);
    expect(lowerBound([7], 0)).toBeCloseTo(7 / 1.05, 5);
  });
  it('finds columns, also after a gap', () => expect([-1, 0, 299, 300, 800, 5000].map((t) => columnAt(map.time, t))).toEqual([-1, 0, 0, 1, 1, 2]));
  it('reads quantiles', () => {
    expect(quantile([[2, 0.5], [0, 0.5]], map.buckets, 0.5)).toBe(100);
    expect(quantile([[2, 0.5], [0, 0.5]], map.buckets, 1)).toBe(110.25);
    expect(quantile([], map.buckets, 0.5)).toBeNull();
  });
  it('has few round ticks', () => {
    expect(logTicks('memory', { low: 2 ** 29, high: 2 ** 34 }, 6)).toEqual([2 ** 29, 2 ** 30, 2 ** 31, 2 ** 32, 2 ** 33, 2 ** 34]);
    expect(logTicks('cpu', { low: 0.09, high: 1.2 }, 6)).toEqual([0.1, 0.2, 0.5, 1]);
    expect(logTicks('cpu', { low: 0.001, high: 1000 }, 5).length).toBeLessThanOrEqual(5);
  });
  it('has a level for every share', () => expect([0, 0.001, 0.01, 0.1, 1].map(level)).toEqual([0, 0, 0, 0.5, 1]));
});
