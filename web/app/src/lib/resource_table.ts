// The resources that a limit is set for, as rows of a table with all that pages need of one. Pages go over the rows; only
// what is of one resource (CFS periods, the memory guards) names it. As src/common/model/resource.h, for people.

export interface Unit {
  name: 'cores' | 'bytes';         // as in the API
  counted: boolean;                // axes and heads name it, once; of the other each amount has a unit of its own size
  large: string; size: number;     // what reports and classes of sizes count in, and how many of the unit that is
  base: 2 | 10;                    // of the round numbers of axes
  examples: string; hint: string;  // of what people type: where it was wrong, and in an empty field
}
const CORES: Unit = { name: 'cores', counted: true, large: 'cores', size: 1, base: 10, examples: '1.5 or 250m', hint: '' };
const BYTES: Unit = { name: 'bytes', counted: false, large: 'GiB', size: 2 ** 30, base: 2, examples: '512MiB or 4GiB', hint: '4GiB' };

// What happens to a task that needs more than its limit: it is killed, or gets no more.
export interface AtLimit {
  kills: boolean;
  article: string; day: string; days: string;  // a job's day on which that happened
  events: string;
  over: string; used: string;                  // usage above the limits, as a share of all that was used
}
const KILLED: AtLimit = { kills: true, article: 'an', day: 'OOM-day', days: 'OOM-days', events: 'OOMs', over: 'usage above limits', used: 'usage' };
const THROTTLED: AtLimit = { kills: false, article: 'a', day: 'throttled day', days: 'throttled days', events: 'throttlings', over: 'throttled work', used: 'work' };

// `title` begins a text, `word` stands within one; `hours`: what use over time is counted in.
export interface ResourceRow { title: string; word: string; hours: string; unit: Unit; atLimit: AtLimit }

// By their names in the API, in the order of the pages.
const ROWS = {
  cpu: { title: 'CPU', word: 'CPU', hours: 'core-hours', unit: CORES, atLimit: THROTTLED },
  memory: { title: 'Memory', word: 'memory', hours: 'GiB-hours', unit: BYTES, atLimit: KILLED },
} satisfies Record<string, ResourceRow>;
export type Resource = keyof typeof ROWS;
export const RESOURCE: Readonly<Record<Resource, ResourceRow>> = ROWS;
