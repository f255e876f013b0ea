// Table of the resources with limits, with all properties that pages need. Pages iterate over the rows. Only features of one
// resource, such as CFS periods or memory guards, name the resource. src/common/model/resource.h has the corresponding table.

export interface Unit {
  name: 'cores' | 'bytes';         // as in the API
  counted: boolean;  // axes and heads name the unit once; otherwise each amount has a unit of its own size
  large: string; size: number;  // unit of reports and size classes, and its size in the small unit
  base: 2 | 10;  // base of the axes' round numbers
  examples: string; hint: string;  // examples of typed amounts, for an error and for an empty field
}
const CORES: Unit = { name: 'cores', counted: true, large: 'cores', size: 1, base: 10, examples: '1.5 or 250m', hint: '' };
const BYTES: Unit = { name: 'bytes', counted: false, large: 'GiB', size: 2 ** 30, base: 2, examples: '512MiB or 4GiB', hint: '4GiB' };

// Effect of a limit on a task that needs more: it is killed, or slowed down.
export interface AtLimit {
  kills: boolean;
  article: string; day: string; days: string;  // names of a job's day with this effect
  events: string;
  over: string; used: string;  // usage above the limits, as a share of all usage
}
const KILLED: AtLimit = { kills: true, article: 'an', day: 'OOM-day', days: 'OOM-days', events: 'OOMs', over: 'usage above limits', used: 'usage' };
const THROTTLED: AtLimit = { kills: false, article: 'a', day: 'throttled day', days: 'throttled days', events: 'throttlings', over: 'throttled work', used: 'work' };

// `title` begins a text, `word` is inside one; `hours` is the unit of use over time.
export interface ResourceRow { title: string; word: string; hours: string; unit: Unit; atLimit: AtLimit }

// Rows by names in the API, in the order of the pages.
const ROWS = {
  cpu: { title: 'CPU', word: 'CPU', hours: 'core-hours', unit: CORES, atLimit: THROTTLED },
  memory: { title: 'Memory', word: 'memory', hours: 'GiB-hours', unit: BYTES, atLimit: KILLED },
} satisfies Record<string, ResourceRow>;
export type Resource = keyof typeof ROWS;
export const RESOURCE: Readonly<Record<Resource, ResourceRow>> = ROWS;
