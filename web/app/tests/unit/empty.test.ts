// What is not known yet is said in a sentence, without dashes in it, columns of dashes, and axes without a line.
import { h } from 'preact';
import { render } from 'preact-render-to-string';
import { expect, it, vi } from 'vitest';
import { answer, makeWorld } from '../../mock/server.mjs';
import type { MachinePage, MachineSums } from '../../src/api/types';
import { MachineFigures } from '../../src/pages/machine_figures';
import { Chart } from '../../src/ui/chart';

vi.mock('../../src/lib/theme', () => ({ colour: () => [0, 0, 0], rgb: () => '', theme: () => 'light', toggleTheme: () => {}, useTheme: () => 'light' }));
vi.hoisted(() => Object.assign(globalThis, { document: { createElement: () => ({ getContext: () => null }) }, location: { hash: '', href: 'http://x/' } }));

const plain = (html: string): string => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ').replace(/\u00a0/g, ' ');

it('machines without reservations and predictions have no such columns, and no dash in their sentence', () => {
  const page = answer(makeWorld({ jobs: 30 }), 'GET', '/api/v1/machines', new URLSearchParams()) as MachinePage;
  const unknown = { reservations: null, predicted: null, reclaimable: null, reclaimable_now: null };
  const bare: MachinePage = { ...page, machines: page.machines.map((m) => ({ ...m, cpu: { ...m.cpu, ...unknown } })), totals: page.totals.map((t) => ({ ...t, cpu: { ...t.cpu, ...unknown } as MachineSums })) };
  const text = (of: MachinePage) => plain(render(h(MachineFigures, { page: of, query: {}, stale: false })));
  expect(text(page)).toMatch(/reclaimable at a risk of/);
  expect(text(page)).toMatch(/Predicted peak/);
  expect(text(bare)).toMatch(/What is reclaimable is not known yet/);
  expect(text(bare)).not.toMatch(/– (are|is)|Reclaimable now|Reserved/);
});

it('a chart of one time is a sentence, and no axis over years', () => {
  const chart = (time: number[]) => render(h(Chart, { label: 'Cost', time, series: [{ name: 'a', values: time.map(() => 1), colour: '--usage', style: 'line' }], format: String, tick: String }));
  expect(plain(chart([1_800_000_000]))).toMatch(/begins with the second window/);
  expect(plain(chart([1_800_000_000, 1_800_000_300]))).not.toMatch(/second window/);
});
