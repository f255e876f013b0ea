import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Agent, Decision, Fleet, FleetAmounts, Heatmap, JobAmounts, JobRow, Knob, Status } from '../../src/api/types';
import { jobPath, withParams } from '../../src/api/client';
import { backoffMs } from '../../src/api/backoff';
import { Pace } from '../../src/api/pace';
import { entriesOf } from '../../src/lib/churn';
import { backAndForth } from '../../src/ui/decision_list';
import { jobNameOf } from '../../src/lib/job_name';
import { hrefOf, jobHref, parseRoute } from '../../src/lib/route';
import { ago, dateTime, isTime, utc } from '../../src/lib/time';
import { RECOMMENDERS } from '../../mock/recommenders.mjs';
import { fromSlider, show, toSlider } from '../../src/pages/job/knobs';
import { fieldOf, withoutKey } from '../../src/pages/job/settings';
import { csvCell, csvOf, dockerUpdate, kubernetesYaml, shellWord } from '../../src/lib/export';
import { kindText, modeHelp } from '../../src/lib/names';
import { fleetRisk, notSet, pendingLimit, realLimit, riskOf, tightness } from '../../src/lib/saving';
import { speedOf } from '../../src/lib/speed';
import { spanOf } from '../../src/lib/period';
import { fits } from '../../src/pages/decisions';
import { machinesText } from '../../src/pages/fleet_headline';
import { columnsOf, savingParts, savingText } from '../../src/pages/job_row';
import { candidates, tight } from '../../src/pages/fleet_lists';
import { containerOf } from '../../src/pages/job/answer';
import { setModes } from '../../src/pages/jobs_actions';
import { inOrder } from '../../src/pages/machines';
import { jobOf, underWay } from '../../src/ui/decision_list';
import { columnAt, fitted, height, level, logTicks, lowerBound, quantile, valueSpan } from '../../src/ui/heatmap_scale';

describe('the risk of the recommended limits', () => {
  const amounts = (more: Partial<FleetAmounts>): FleetAmounts => ({
    usage: 1, owner_limit: 4, limit: 2, would_be: 2, slack: 1, saved: 2, would_save: 2, saved_machines: 0, would_save_machines: 0,
    usage_limited: 1, raised: 0, would_raise: 0, job_days: 200, job_days_over: 42, ordered: null, jobs_at_limit: 0, work_over: null, work_ordered: null, ...more,
  });
  it('is a share of days where days are ordered', () => {
    expect(fleetRisk('memory', amounts({ ordered: 0.03 }))).toMatchObject({ name: 'OOM-days', share: 0.21, ordered: 0.03 });
    expect(fleetRisk('cpu', amounts({ job_days: 0, job_days_over: 0 }))).toMatchObject({ name: 'throttled days', share: null });
  });
  it('is a share of work where work is ordered, and not known while jobs are young', () => {
    const risk = fleetRisk('cpu', amounts({ work_over: 0.0008, work_ordered: 0.001 }));
    expect(risk).toMatchObject({ name: 'throttled work', share: 0.0008, ordered: 0.001 });
    expect(risk.title).toContain('21');
    expect(fleetRisk('cpu', amounts({ work_ordered: 0.001 })).share).toBeNull();
  });
});

describe('agents and what they answer', () => {
  it('lists disconnected ones first, then by name', () => {
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

it('asks one path neither at once again nor without end after failures', () => {
  const pace = new Pace(() => 0.5);
  expect(pace.wait('fleet', 1000)).toBe(0);
  pace.starts('fleet', 1000);
  expect(pace.wait('fleet', 1000)).toBe(250);
  pace.ends('fleet', true);
  expect(pace.wait('fleet', 2000)).toBe(0);
  let asked = 0;
  for (let now = 0; now < 20_000; now += 10) {
    if (pace.wait('job', now) > 0) continue;
    pace.starts('job', now);
    pace.ends('job', false);
    ++asked;
  }
  expect(asked).toBeLessThan(7);
  pace.forget('job');
  expect(pace.wait('job', 20_000)).toBe(0);
});

it('takes the ends of the integers for no time', () => {
  expect([0, -1, 1.7e9].map(isTime)).toEqual([true, true, true]);
  expect([null, undefined, NaN, 9223372036854776000, -9223372036854776000].map(isTime)).toEqual([false, false, false, false, false]);
  expect([dateTime(9223372036854776000), utc(9223372036854776000), ago(9223372036854776000)]).toEqual(['–', '–', '–']);
});

describe('sliders', () => {
  it('starts where the value is and can be moved by one step', () => {
    for (const knob of RECOMMENDERS.flatMap((r) => r.knobs as Knob[])) {
      expect(fromSlider(knob, toSlider(knob, knob.initial))).toBeCloseTo(knob.initial, 6);
      expect(fromSlider(knob, 0)).toBeCloseTo(knob.low, 6);
      expect(fromSlider(knob, 1)).toBeCloseTo(knob.high, 6);
    }
  });
  it('shows a value in the unit of the knob', () => {
    const knobs = new Map(RECOMMENDERS.flatMap((r) => r.knobs as Knob[]).map((knob) => [knob.key, knob]));
    expect([...knobs.values()].map((knob) => show(knob, knob.initial).replace('\u00a0', ' ')).sort()).toEqual(['0.1 %', '3.0 %', '30,000', '7 d', '× 1.00'].sort());
  });
});

it('finds the setting that a message is about', () => {
  const keys = ['memory.upper', 'memory.lower', 'mode', 'canary.share'];
  expect(fieldOf('memory.upper: `x` is not an amount', keys)).toBe('memory.upper');
  expect(fieldOf('the setting `mode` has no value `on`', keys)).toBe('mode');
  expect(withoutKey('memory.upper', 'memory.upper: no amount')).toBe('no amount');
  expect(withoutKey('mode', 'the mode is unknown')).toBe('the mode is unknown');
  expect(fieldOf('not allowed', keys)).toBe('');
});

describe('the heatmap’s scale', () => {
  const map: Heatmap = { resource: 'memory', from: 0, to: 1200, column_seconds: 300, time: [0, 300, 900], buckets: [100, 105, 110.25],
    cells: [[0, 0, 0.5], [0, 2, 0.5], [1, 1, 1], [2, 1, 1]], limit: [null, 200, 200], owner_limit: [400, 400, 400], would_be: [150, 150, 150], ooms: [] };
  const line = { values: [null, 400, 150] };
  it('shows usage and lines', () => {
    const span = valueSpan(map, [line]);
    expect(span.low).toBeLessThan(100 / 1.05 + 0.01);
    expect(span.high).toBeGreaterThan(400);
    expect(height(span, span.low)).toBeCloseTo(0);
    expect(height(span, span.high)).toBeCloseTo(1);
  });
  it('bounds the decades', () => expect(valueSpan({ ...map, buckets: [1e-9, 105, 110] }, [line]).low).toBeGreaterThan(400 / 1e4 / 2));
  it('bears an empty map', () => expect(valueSpan({ ...map, cells: [] }, [{ values: [null] }])).toEqual({ low: 1, high: 2 }));
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

const plain = (text: string): string => text.replace(/\u00a0/g, ' ');

describe('the risk of the limit that would be', () => {
  const of = (more: Partial<JobAmounts>): JobAmounts => ({ usage: 1, peak: 1, owner_limit: 8, limit: 4, ordered: 4, applied: null, would_be: 4, saving: 4, chance: null, days: 0, days_over: 0, work_over: null, work_ordered: null, at_limit: false, recommender: 'analogs', of: 'limit', ...more });
  it('is the forecast, with the own days above this limit', () => {
    const risk = riskOf('memory', of({ chance: 0.069, days: 18, days_over: 1 }));
    expect(risk).toMatchObject({ share: 0.069, of: 'forecast' });
    expect(plain(risk?.label ?? '')).toBe('6.9 % OOM-days');
    expect(plain(risk?.past ?? '')).toBe('1 of its own last 18 days went above it.');
  });
  it('is the work above the limits beside the order, and days are a detail', () => {
    const risk = riskOf('cpu', of({ work_over: 0.0008, work_ordered: 0.001, days: 19, days_over: 19 }));
    expect(risk).toMatchObject({ share: 0.0008, of: 'work' });
    expect(plain(risk?.label ?? '')).toBe('0.08 % throttled work (risk target 0.1 %)');
    expect(plain(riskOf('cpu', of({ work_over: 0.00001 }))?.text ?? '')).toBe('under 0.01 %');
  });
  it('is of the limits of then where nothing is forecast', () => {
    const days = riskOf('memory', of({ days: 7, days_over: 2 }));
    expect([days?.text, days?.unit].map((text) => plain(text ?? ''))).toEqual(['29 %', 'of 7 days']);
    expect(riskOf('memory', of({}))).toBeNull();
  });
});

describe('what is taken to other tools', () => {
  const amounts = { usage: 0.1, peak: 0.2, owner_limit: 1, limit: 1, would_be: 0.2504, saving: 0.7496, chance: 0.01, days: 9, days_over: 0, work_over: null, work_ordered: null, at_limit: false };
  const row = { name: '=cmd|x', mode: 'observe', tasks: 2, recommender: 'analogs', cpu: amounts, memory: { ...amounts, would_be: 100.5 * 2 ** 20 }, ooms: 0,
    last_seen: 0, last_change: null, trial: false } as JobRow;
  it('never rounds a limit down, and gives Docker a size it accepts', () => {
    expect(dockerUpdate('a b', 0.2504, 100.5 * 2 ** 20)).toBe("docker update --cpus 0.251 --memory 101m --memory-swap 101m 'a b'\n");
    expect(dockerUpdate('web', null, 2 ** 20)).toBe('docker update --memory 6m --memory-swap 6m web\n');
    expect(kubernetesYaml(0.2504, 100.5 * 2 ** 20)).toBe('resources:\n  limits:\n    cpu: 251m\n    memory: 101Mi\n');
    expect(kubernetesYaml(0.2504, 100.5 * 2 ** 20, { cpu: 'request', memory: 'limit' })).toBe('resources:\n  requests:\n    cpu: 251m\n  limits:\n    memory: 101Mi\n');
  });
  it('quotes for a shell', () => expect(["it's", '-rm', 'a/b', '$(x)'].map(shellWord)).toEqual([`'it'\\''s'`, `'-rm'`, 'a/b', `'$(x)'`]));
  it('writes no formula into a spreadsheet', () => {
    expect(['=1+1', '@x', '-1', 'a,b', 'say "x"'].map(csvCell)).toEqual(["'=1+1", "'@x", "'-1", '"a,b"', '"say ""x"""']);
    const [head = '', line = ''] = csvOf([row]).split('\r\n');
    expect(head.split(',').length).toBe(line.split(',').length);
    expect(line.startsWith("'=cmd|x,observe,2,")).toBe(true);
    // Both parts of the risk, and that of ordered work.
    for (const part of ['chance', 'days', 'days_over', 'work_over', 'work_ordered']) expect(head).toContain(`memory_${part}`);
  });
  it('finds the container of a Compose service', () => {
    expect(containerOf({ name: 'shop/web', workload: null, labels: { compose_project: 'shop', compose_service: 'web' } })).toBe('shop-web-1');
    expect(containerOf({ name: 'cron', workload: null, labels: {} })).toBe('cron');
  });
});

describe('what to begin with', () => {
  const none = { usage: 1, peak: 1, owner_limit: 2, limit: 2, would_be: 1, saving: 1, chance: null, days: 0, days_over: 0, work_over: null, work_ordered: null, at_limit: false };
  const row = (name: string, change: object = {}) => ({ name, mode: 'observe', tasks: 1, ooms: 0, cpu: none, memory: none, ...change }) as JobRow;
  it('lists candidates of any mode that save something that is not set yet', () => {
    const worse = { ...none, would_be: 3, saving: -1 };
    const set = { ...none, limit: 1 };
    const rows = [row('a'), row('b', { mode: 'auto', enforced: true }), row('c', { cpu: worse, memory: worse }), row('d', { mode: 'auto', enforced: true, cpu: set, memory: set })];
    expect(candidates(rows, false).map((r) => r.name)).toEqual(['a', 'b']);
    expect(candidates(rows, true).map((r) => r.name)).toEqual(['a', 'b', 'd']);  // a dry run sets nothing
    expect(tight(rows).map((r) => r.name)).toEqual(['c']);
  });
  it('says why a job is too tight', () => {
    expect(tightness(row('a'))).toEqual([]);
    const reasons = tightness(row('a', { ooms: 2, memory: { ...none, at_limit: true } })).join('; ').replace(/\u00a0/g, ' ');
    expect(reasons).toBe('2 OOM kills in 7 days; Memory use reached its limit today or yesterday');
  });
  it('says savings in money where there are prices', () => {
    const worth = row('a', { saving_per_month: 12.5 });
    const text = (...args: Parameters<typeof savingText>) => savingText(...args).replace(/\u00a0/g, ' ');
    expect(text(worth, 'EUR')).toBe('saves 12.50 EUR/month');
    expect(text(row('a', { saving_per_month: 12.5, memory: { ...none, chance: 0.04 } }), 'EUR')).toBe('saves 12.50 EUR/month; 4.0 % OOM-days');
    expect(text(worth)).toBe('saves 1.00 core, 1 B');
    expect(text(row('a', { saving_per_month: null }), 'EUR')).toBe('saves 1.00 core, 1 B');
    const heads = (currency?: string) => columnsOf({ managed: true, dry: true, currency }).map((c) => c.name);
    expect(heads('EUR')[3]).toBe('Saving, EUR/month');
    expect(heads()[3]).toBe('Saving');
  });
  it('has one saving, one risk and no column that repeats another', () => {
    const keys = columnsOf({ managed: true, dry: true, currency: 'EUR' }).map((c) => c.key.replace(/^(cpu|memory)-/, ''));
    expect(keys).toEqual(['name', 'mode', 'tasks', 'saving', 'risk', 'usage', 'owner', 'would', 'usage', 'owner', 'would', 'ooms', 'changed']);
  });
  it('says no saving that is none', () => {
    const same = { ...none, owner_limit: 13.9264, would_be: 13.927, saving: -0.0006 };
    expect(savingParts(row('a', { cpu: same })).map((text) => text.replace(/\u00a0/g, ' '))).toEqual(['1 B']);
    expect(tightness(row('a', { cpu: { ...same, at_limit: true } }))).toEqual([]);  // 12.4 of 13.9 cores, and no more is recommended
    expect(savingParts(row('a', { cpu: { ...none, owner_limit: 5.53, would_be: 5.67, saving: -0.14 } })).map((text) => text.replace(/\u00a0/g, ' '))).toEqual(['−0.14 cores', '1 B']);
  });
  it('counts no machines where there are none to save', () => {
    const status = (known: number, nodes: number | null = null) => ({ agents: { known }, nodes }) as Status;
    const of = (saved: number, owners: number, at: Status | null) => machinesText(
      { machine: { cores: 16, bytes: 64 }, cpu: { saved_machines: saved, owner_limit: owners * 16 } } as Fleet, 'cpu', 'saved_machines', at);
    expect(of(5.2, 50, status(1))).toBe('');
    expect(of(5.2, 50, status(4))).toBe('');
    expect(of(5.2, 50, status(40))).toBe('5.2 machines');
    expect(of(-3, 50, null)).toBe('');
    expect(of(5.2, 50, null)).toBe('5.2 machines');
    // Kubernetes' nodes are machines, too.
    expect(of(5.2, 50, status(0, 1))).toBe('');
    expect(of(5.2, 50, status(0, 4))).toBe('');
    expect(of(5.2, 50, status(0, 40))).toBe('5.2 machines');
    expect(of(5.2, 50, status(2, 40))).toBe('5.2 machines');
    // No more are saved than the owners' limits would fill.
    expect(of(5.2, 5, null)).toBe('');
    expect(of(5.2, 5, status(40))).toBe('');
  });
});

it('sets many jobs, a few at a time, and goes on after a refusal', async () => {
  const seen: string[] = [];
  let running = 0;
  let most = 0;
  const names = Array.from({ length: 11 }, (_, i) => `job-${i}`);
  const progress = await setModes(names, 'canary', 'anna', async (name, mode, who) => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    --running;
    if (name === 'job-3') throw new Error('no');
    seen.push(`${name} ${mode} ${who}`);
  }, () => undefined);
  expect([progress.done, progress.failed.length, seen.length]).toEqual([11, 1, 10]);
  expect(most).toBeLessThanOrEqual(4);
});

it('notices a clock that runs faster, not one that catches up', () => {
  expect(speedOf(null, { wallS: 0, cellS: 0 })).toBeNull();
  expect(speedOf({ wallS: 0, cellS: 0 }, { wallS: 5, cellS: 3000 })).toBe(600);
  expect(speedOf({ wallS: 0, cellS: 0 }, { wallS: 2, cellS: 600 })).toBeNull();
  expect(speedOf({ wallS: 0, cellS: 0 }, { wallS: 900, cellS: 900 })).toBeNull();
});

it('holds decisions that come by themselves against the filter', () => {
  const d = { job: 'shop/Web-eu', resource: 'cpu', kind: 'set', outcome: 'failed' } as Decision;
  expect(fits(d, { search: 'web shop' })).toBe(true);
  expect(fits(d, { search: 'api' })).toBe(false);
  expect(fits(d, { outcome: 'failed', resource: 'cpu' })).toBe(true);
  expect(fits(d, { outcome: 'applied' })).toBe(false);
});

it('says would be of what nobody carried out', () => {
  expect(kindText('set', 'dry_run')).toBe('would set');
  expect(kindText('oom_raise', 'dry_run')).toBe('would raise (OOM)');
  expect(kindText('set', 'applied')).toBe('set');
  expect(modeHelp('auto', true)).toBe('would be applied; dry run');
});

it('begins the chart of a young job where its data begins', () => {
  const map = { from: 0, to: 604800, time: [590000, 590300], cells: [] } as unknown as Heatmap;
  expect(fitted(map).from).toBeGreaterThan(589000);
  expect(fitted({ ...map, time: [0, 590300] }).from).toBe(0);
});

describe('the limit in the kernel', () => {
  const of = (given: Partial<JobAmounts>): JobAmounts => ({ usage: 1, peak: 1, owner_limit: 8, limit: 4, ordered: 4, applied: null, would_be: 4, saving: 4, chance: null, days: 0, days_over: 0, work_over: null, work_ordered: null, at_limit: false, ...given });
  it('is the ordered one only where agents apply it', () => {
    expect(realLimit(of({}), false)).toBe(4);
    expect(pendingLimit(of({}), false)).toBe(null);
    expect(realLimit(of({}), true)).toBe(8);
    expect(pendingLimit(of({}), true)).toBe(4);
  });
  it('is what agents report, whatever was ordered', () => {
    expect(realLimit(of({ applied: 6 }), false)).toBe(6);
    expect(realLimit(of({ applied: 6 }), true)).toBe(6);
    expect(pendingLimit(of({ applied: 6 }), false)).toBe(4);
    expect(pendingLimit(of({ applied: 4.001 }), false)).toBe(null);
  });
  it('is the owner’s where the daemon is a dry run or no agent may set it', () => {
    expect([notSet({ enforced: true }, false), notSet({ enforced: true }, true), notSet({ enforced: false }, false)]).toEqual([false, true, true]);
    expect(realLimit(of({ owner_limit: null, limit: null, ordered: null }), true)).toBe(null);
  });
});

describe('periods of costs', () => {
  const now = Date.UTC(2026, 0, 15, 10, 2) / 1000;
  it('are calendar months of UTC, or days up to the next window', () => {
    expect(spanOf('month', now)).toEqual({ from: Date.UTC(2026, 0) / 1000, to: Date.UTC(2026, 0, 15, 10, 5) / 1000 });
    expect(spanOf('lastmonth', now)).toEqual({ from: Date.UTC(2025, 11) / 1000, to: Date.UTC(2026, 0) / 1000 });
    expect(spanOf('7', now).to - spanOf('7', now).from).toBe(7 * 86400);
  });
});

it('shows what the job is called and where it runs', () => {
  const of = (name: string, parts: (string | null)[] | null = null) => jobNameOf({ name, workload: parts && {
    source: 'kubernetes', cluster: parts[0] ?? null, namespace: parts[1] ?? '', kind: parts[2] ?? '', name: parts[3] ?? '', container: parts[4] ?? null, group: parts[5] ?? null } });
  expect(of('cell-1/research/deployment/export-sync/app', ['cell-1', 'research', 'deployment', 'export-sync', 'app']))
    .toEqual({ title: 'export-sync', detail: '/app', place: 'research · deployment · cell-1' });
  expect(of('etl/sparkapplication/etl-driver', [null, 'etl', 'sparkapplication', 'etl-driver', null])).toEqual({ title: 'etl-driver', detail: '', place: 'etl · sparkapplication' });
  expect(of('shop/web-eu-1')).toEqual({ title: 'web-eu-1', detail: '', place: 'shop' });
  expect(of('cron')).toEqual({ title: 'cron', detail: '', place: '' });
  expect(of('logging/daemonset/fluentd@large/app', [null, 'logging', 'daemonset', 'fluentd', 'app', 'large'])).toEqual({ title: 'fluentd@large', detail: '/app', place: 'logging · daemonset' });
  // A decision has the workload of its job.
  expect(jobNameOf(jobOf({ job: 'shop/web', workload: null } as Decision))).toEqual({ title: 'web', detail: '', place: 'shop' });
  // No name is taken for a workload's.
  expect(of('shop/cronjob/cart-web')).toEqual({ title: 'cart-web', detail: '', place: 'shop / cronjob' });
  // No two names look the same.
  const names = ['a/cronjob/cart-web', 'b/cronjob/cart-web', 'a/job/cart-web', 'a/cronjob/cart-web/x', 'c/a/cronjob/cart-web', 'job/cart-web', 'cart-web/'];
  expect(new Set(names.map((name) => JSON.stringify(of(name)))).size).toBe(names.length);
});

describe('decisions that take each other back', () => {
  const of = (id: number, job: string, before: number, after: number, time = 1000 * id): Decision => ({
    id, time, job, workload: null, target: 'replicas', resource: null, kind: 'set', mode: 'auto', before, after, sentence: '', outcome: 'applied', outcome_text: '', outcome_time: null });
  const swings = Array.from({ length: 8 }, (_, i) => of(8 - i, 'a', i % 2 ? 3 : 2, i % 2 ? 2 : 3));
  it('are one entry that counts them', () => {
    const entries = entriesOf([of(9, 'b', 1, 4), ...swings.slice(0, 3), of(5, 'c', 2, 3), ...swings.slice(3)]);
    expect(entries.map((entry) => [entry.decisions[0].job, entry.decisions.length])).toEqual([['b', 1], ['a', 8], ['c', 1]]);
    expect(entries[1]?.churn).toEqual({ low: 2, high: 3, seconds: 7000 });
    expect(backAndForth(entries[1]!.churn!, 'replicas').replace(/\u00a0/g, ' ')).toBe('2 ↔ 3 tasks');
  });
  it('are not what grows and shrinks with a day, nor two, nor what a day lies between', () => {
    const alone = (list: Decision[]) => entriesOf(list).every((entry) => entry.churn === null && entry.decisions.length === 1) && entriesOf(list).length === list.length;
    expect(alone([of(4, 'a', 5, 2), of(3, 'a', 8, 5), of(2, 'a', 5, 8), of(1, 'a', 2, 5)])).toBe(true);
    expect(alone([of(2, 'a', 3, 2), of(1, 'a', 2, 3)])).toBe(true);
    expect(alone([of(3, 'a', 2, 3, 300000), of(2, 'a', 3, 2, 200000), of(1, 'a', 2, 3, 100000)])).toBe(true);
    expect(entriesOf([of(2, 'a', 3, 2), of(1, 'a', 2, 3)]).map((entry) => entry.decisions[0].id)).toEqual([2, 1]);
  });
});
