// A new resource is a row of src/lib/resource_table.ts and no more: no page names resources one by one, and with a third row
// in the table every page has its columns, cards and buttons.
import { type ComponentType, h } from 'preact';
import { render } from 'preact-render-to-string';
import { describe, expect, it, vi } from 'vitest';
import { answer, makeWorld } from '../../mock/server.mjs';
import { reportData } from '../../mock/report.mjs';
import type { JobRow } from '../../src/api/types';
import { csvOf } from '../../src/lib/export';
import { RESOURCES } from '../../src/lib/resource';
import { CapacityPage } from '../../src/pages/capacity';
import { CostsPage } from '../../src/pages/costs';
import { DecisionsPage } from '../../src/pages/decisions';
import { FleetPage } from '../../src/pages/fleet';
import { JobPage } from '../../src/pages/job/page';
import { JobCard, JobGridRow, columnsOf } from '../../src/pages/job_row';
import { JobsPage } from '../../src/pages/jobs';
import { JobsTotals, PROPERTIES } from '../../src/pages/jobs_totals';
import { MachinesPage } from '../../src/pages/machines';
import { QuotaPage } from '../../src/pages/quota';
import { type Lane, type RawStory, readReport } from '../../src/report/data';
import { ReportPage } from '../../src/report/page';

// "disk", which is used and limited as memory is, and has its own words for what happens at its limit.
vi.mock('../../src/lib/resource_table', async (original) => {
  const table = await original<typeof import('../../src/lib/resource_table')>();
  const { memory } = table.RESOURCE;
  const atLimit = { ...memory.atLimit, day: 'full-disk day', days: 'full-disk days', events: 'full disks', article: 'a' };
  return { ...table, RESOURCE: { ...table.RESOURCE, disk: { ...memory, title: 'Disk', word: 'disk', hours: 'disk GiB-hours', atLimit } } };
});
vi.mock('../../src/lib/theme', () => ({ colour: () => [0, 0, 0], rgb: () => '', theme: () => 'light', toggleTheme: () => {}, useTheme: () => 'light' }));
vi.mock('../../src/api/query', () => ({ load: () => new Promise(() => {}), useQuery: (path: string | null) => ({ data: path === null ? null : ask(path), error: null, stale: false, reload: () => {} }) }));
vi.hoisted(() => Object.assign(globalThis, { document: { createElement: () => ({ getContext: () => null }) }, location: { hash: '', href: 'http://x/', hostname: 'x', origin: 'http://x' } }));

// Whatever there is of memory there is of the disk, too.
function withDisk(of: any): any {
  if (Array.isArray(of)) return of.flatMap((one) => (one?.resource === 'memory' ? [withDisk(one), withDisk({ ...one, resource: 'disk', ...(one.target === 'memory' && { target: 'disk' }) })] : [withDisk(one)]));
  if (of === null || typeof of !== 'object') return of;
  const all = Object.fromEntries(Object.entries(of).map(([key, value]) => [key, withDisk(value)]));
  return 'memory' in all && 'cpu' in all ? { ...all, disk: all.memory } : all;
}

const world = makeWorld({ jobs: 60 });
const OF_MEMORY = /\bmemory\b|GiB-hours|\bOOM-day/i;
const said = new Set<string>();  // texts that are not the pages' own
function heard<T>(data: T): T {
  JSON.stringify(data, (_key, value: unknown) => { if (typeof value === 'string' && value !== 'memory' && OF_MEMORY.test(value)) said.add(value); return value; });
  return data;
}
function ask(path: string): any {
  const url = new URL(path, 'http://x/api/v1/');
  const disk = url.searchParams.get('resource') === 'disk';
  if (disk) url.searchParams.set('resource', 'memory');
  return { ...withDisk(heard(answer(world, 'GET', url.pathname, url.searchParams))), ...(disk && { resource: 'disk' }) };
}

describe('no page names a resource', () => {
  // What may, and why: it is of that resource and no other.
  const ALLOWED: Record<string, [what: RegExp, why: string][]> = {
    'api/schema.ts': [[/[^]+/g, 'made from the contract']],
    'lib/resource_table.ts': [[/  (cpu|memory): \{ title.*/g, 'the table']],
    'lib/names.ts': [[/(?<=PROMETHEUS_METRICS)[^;]*/g, 'names of metrics']],
    'lib/export.ts': [[/(?<=export function dockerUpdate)[^]*/g, 'the words of Docker and Kubernetes for limits']],
    'pages/job/answer.tsx': [[/\{ cpu, memory \} = job|\{ cpu: cpu\.of, memory: memory\.of \}|(cpu|memory)\.would_be/g, 'limits for Docker and Kubernetes']],
    'pages/job/page.tsx': [[/memory_needed|Found by probing[^"]*|of memory \(probed\)/g, 'only memory is probed'], [/CPU throttled in/g, 'CFS periods']],
    'pages/job/load.tsx': [[/load_of === 'cpu'|the tasks' CPU limits/g, 'tasks are added by CPU']],
    'pages/job/replicas.tsx': [[/load_of === 'cpu'|'CPU (of all tasks|limit of a task)'|amount\('cpu'|the CPU that its tasks use/g, 'tasks are added by CPU']],
    'pages/machines.tsx': [[/a\.(memory_bytes|cpu_share_cores)|Its (CPU|memory)|CPU that the agent|Memory of the agent/g, 'what an agent reports of itself and its machine'],
      [/memory guards|runs out of memory|resource: 'memory'/g, 'memory guards']],
    'pages/capacity.tsx': [[/pool: \{[^}]*/g, 'an example of the price file']],
    'pages/costs.tsx': [[/MEASURE = 'cpu'/g, 'without prices amounts do not add up'], [/a GiB of memory/g, 'prices are of cores and of memory']],
  };
  const files = Object.entries(import.meta.glob<string>('../../src/**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true }))
    .map(([path, text]) => [path.replace('../../src/', ''), text.replace(/(^|\s)\/\/.*/gm, '$1')] as const);
  const name = /.*(?<![a-z])(cpu|memory)(?![a-z]).*/gi;

  it('but where it is of that resource alone', () => {
    expect(files.length).toBeGreaterThan(60);
    for (const [file, text] of files) {
      let rest = text;
      for (const [what, why] of ALLOWED[file] ?? []) {
        expect(text.match(what) ?? [], `${file} has nothing of what it may name: ${why}`).not.toEqual([]);
        rest = rest.replace(what, '');
      }
      expect(rest.match(name) ?? [], `${file}: take it from src/lib/resource_table.ts, or say in ALLOWED why not`).toEqual([]);
    }
    expect(Object.keys(ALLOWED).filter((file) => !files.some(([path]) => path === file))).toEqual([]);
  });
});

describe('a third resource', () => {
  const job = world.jobs.find(({ row }: { row: JobRow }) => row.mode === 'auto' && row.memory.owner_limit !== null && row.memory.saving! > 0);
  const row: JobRow = withDisk({ ...job.row, memory: { ...job.row.memory, at_limit: true } });
  const inList = { index: 0, row, top: 0, active: false, view: { managed: true, dry: false, currency: 'EUR' }, onPick: () => {} };
  const html = <P,>(page: ComponentType<P>, props: P): string => {
    vi.stubGlobal('window', { matchMedia: () => ({ matches: false }) });
    try {
      return render(h(page as ComponentType<object>, props as object));
    } finally {
      vi.unstubAllGlobals();
    }
  };
  // The texts of elements and of their attributes; the parts of a list without what joins them.
  const texts = (page: string): string[] => [...page.matchAll(/>([^<]+)|(?: (?:title|aria-label|data-label|value|placeholder)="([^"]+)")/g)].map((match) => (match[1] ?? match[2] ?? '').trim().replace(/ and$/, ''));
  const report = (of: string) => {
    const data = heard(withDisk(reportData()));
    return { ...data, lanes: data.lanes.filter((lane: Lane) => lane.resource === of), stories: data.stories.filter((story: RawStory) => story.resource === of) };
  };
  // Each where `resource` is picked.
  const PAGES: Record<string, (resource: string) => string> = {
    fleet: () => html(FleetPage, { query: {} }),
    'jobs, its head': () => html(JobsPage, { query: {} }),
    'jobs, a row': () => html(JobGridRow, inList),
    'jobs, a card': () => html(JobCard, inList),
    'totals of jobs': () => html(JobsTotals, { by: 'team', search: '', mode: '', onPick: () => {} }),
    job: (resource) => html(JobPage, { name: job.row.name, query: { resource } }),
    decisions: () => html(DecisionsPage, { query: {} }),
    costs: () => html(CostsPage, { query: {} }),
    quota: () => html(QuotaPage, { query: {} }),
    machines: (resource) => html(MachinesPage, { query: { resource } }),
    capacity: (resource) => html(CapacityPage, { query: { resource } }),
    report: (resource) => html(ReportPage, { report: readReport(report(resource)) }),
  };
  const OF_MEMORY_ALONE = /^docker update|^Its memory$|^Memory of the agent|^OOM-days$|^saves .* OOM-days$|memory guards|runs out of memory|memory \(probed\)/;
  const twin = (text: string): string => text.replaceAll('an OOM-day', 'a full-disk day').replaceAll('An OOM-day', 'A full-disk day').replace(/\bOOM-day/g, 'full-disk day').replaceAll('OOMs', 'full disks')
    .replaceAll('GiB-hours', 'disk GiB-hours').replaceAll('Memory', 'Disk').replaceAll('memory', 'disk');
  for (const [name, page] of Object.entries(PAGES)) {
    it(`is wherever memory is: ${name}`, () => {
      const [memory, disk] = [texts(page('memory')), texts(page('disk')).map((text) => text.toLowerCase())];
      // As often; the last part of a list is followed by the rest of its sentence.
      const there = (text: string) => disk.filter((other) => other === text || (text.startsWith('of ') && other.startsWith(text))).length;
      const missing = memory.filter((text) => OF_MEMORY.test(text) && !/\bdisk\b/i.test(text) && !OF_MEMORY_ALONE.test(text)
        && there(twin(text).toLowerCase()) < memory.filter((other) => other === text).length && ![...said].some((other) => text.includes(other)));
      expect(missing).toEqual([]);
      expect(disk.filter((text) => /\bdisk\b/.test(text))).not.toEqual([]);
    });
  }

  it('has its cells in a row of jobs, its line in a card, its fields in an export and its sizes in totals', () => {
    expect(html(JobGridRow, inList).match(/role="gridcell"/g)).toHaveLength(columnsOf(inList.view).length);
    expect(columnsOf(inList.view).filter((column) => column.resource === RESOURCES[2])).toHaveLength(3);
    expect(csvOf([row]).split('\r\n')[0]).toContain('memory_work_ordered,disk_used_bytes,disk_owner_limit_bytes,disk_limit_bytes,disk_would_be_bytes,disk_owner_request_bytes,disk_would_be_request_bytes,disk_saving_bytes,disk_chance,disk_days,');
    expect(PROPERTIES.map(([by]) => by)).toEqual([':class', ':tasks', ':memory_size', ':disk_size', ':cpu_size']);
  });
});
