// Describes the recommended change of a job's limits in one sentence, with its saving and its risk.
import type { JobDetail, JobRow, Resource } from '../api/types';
import { NBSP, amount, capital, listed, money, shortened } from './format';
import { KILLING_FIRST, RESOURCE } from './resource';
import { dateTime } from './time';
import { realLimit, riskOf, sameLimit, savingOf } from './saving';

// `done`: the recommended limit is in force. `set`: there is no limit yet.
type Verb = 'lower' | 'raise' | 'keep' | 'set' | 'done';
export interface Step { resource: Resource; of: 'limit' | 'request'; verb: Verb; from: number | null; to: number }

export function stepsOf(job: JobRow, idle: boolean): Step[] {
  return KILLING_FIRST.flatMap((resource): Step[] => {
    const a = job[resource];
    const now = realLimit(a, idle);
    if (a.would_be === null) return [];
    const to = a.would_be;
    if (now === null) return [{ resource, of: a.of, verb: 'set', from: null, to }];
    if (!sameLimit(now, to)) return [{ resource, of: a.of, verb: to < now ? 'lower' : 'raise', from: now, to }];
    return [{ resource, of: a.of, verb: sameLimit(to, a.owner_limit) ? 'keep' : 'done', from: a.owner_limit, to }];
  });
}

// Returns "15 to 8.4 GiB", with the unit once if both have the same.
export function fromTo(resource: Resource, from: number, to: number): string {
  const [a, b] = [amount(resource, from), amount(resource, to)];
  const unit = (text: string) => (text.split(NBSP)[1] ?? '').replace(/^core$/, 'cores');
  return unit(a) === unit(b) ? `${shortened(a).split(NBSP)[0]} to ${b.split(NBSP)[0]?.replace(/\.0+$/, '')}${NBSP}${unit(b)}` : `${a} to ${b}`;
}

// Returns the part of the sentence about one resource. The resource's name stands for its limit; a request is named "the request of ...".
function clause({ resource, of, verb, from, to }: Step, first: boolean): string {
  const word = of === 'request' ? `the request of ${RESOURCE[resource].word}` : RESOURCE[resource].word;
  if (verb === 'set' || from === null) return `${first ? 'set ' : ''}${word} to ${amount(resource, to)}`;
  if (verb === 'keep') return `${first ? 'keep ' : ''}${word} at ${amount(resource, to)}`;
  const told = { lower: 'lower', raise: 'raise', done: to < from ? 'lowered' : 'raised' }[verb];
  return `${first ? `${told} ` : ''}${word} from ${fromTo(resource, from, to)}`;
}

// Returns the risks of the limits that the sentence names.
function risks(job: JobDetail, steps: readonly Step[]): string[] {
  // A limit that stays brings no new risk.
  const changes = steps.filter(({ verb }) => verb !== 'keep');
  return (changes.length > 0 ? changes : steps).flatMap(({ resource }) => {
    const risk = riskOf(resource, job[resource]);
    if (risk === null) return [];
    const { article, day } = RESOURCE[resource].atLimit;
    return [risk.of === 'forecast' ? `chance of ${article} ${day} ${risk.text}` : risk.label];
  });
}

function effects(job: JobDetail, steps: readonly Step[]): string[] {
  const sums = steps.map(({ resource }) => [resource, savingOf(job, resource)] as const);
  const told = (sign: number) => listed(sums.filter(([, saving]) => saving !== null && Math.sign(saving) === sign).map(([r, saving]) => `${amount(r, Math.abs(saving ?? 0))}${RESOURCE[r].unit.counted ? '' : ` of ${RESOURCE[r].word}`}${(job[r].owner_request ?? null) === null ? '' : ' requested'}`)).join('');
  const [less, more] = [told(1), told(-1)];
  const worth = job.saving_per_month ?? null;
  const price = worth === null || job.currency === undefined || less + more === '' ? '' : money(Math.abs(worth), job.currency);
  if (price === '') return [less && `saves ${less}`, more && `takes ${more} more`].filter(Boolean);
  if (more === '') return [`saves ${less}, ${price}`];
  if (less === '') return [`takes ${more} more, ${price}`];
  return [`saves ${less} and takes ${more} more: ${(worth ?? 0) < 0 ? 'costs' : 'saves'} ${price}`];
}

// "Lower memory from 15 to 8.4 GiB a task: saves 186 GiB of memory, 4,283 EUR a month; chance of an OOM-day 4 %."
export function answerOf(job: JobDetail, idle: boolean): string {
  const steps = stepsOf(job, idle);
  if (steps.length === 0) {
    const first = KILLING_FIRST.map((r) => job[r].first_recommendation_at ?? null).filter((at) => at !== null).sort((a, b) => a - b)[0];
    return first === undefined ? 'No limit is recommended yet.' : `No limit is recommended yet: the first recommendation comes ${dateTime(first)}.`;
  }
  const clauses = steps.map((step, i) => clause(step, i === 0 || steps[i - 1]?.verb !== step.verb));
  const owners = steps.flatMap(({ resource, verb, from }) => {
    const owner = job[resource].owner_limit;
    return (verb === 'lower' || verb === 'raise') && owner !== null && !sameLimit(owner, from) ? [`${amount(resource, owner)} of ${RESOURCE[resource].word}`] : [];
  });
  const what = `${capital(listed(clauses).join(''))} a task${owners.length > 0 ? ` (its owner asked for ${listed(owners).join('')})` : ''}`;
  const then = [...(job.tasks > 0 ? effects(job, steps) : []), ...risks(job, steps)].join('; ');
  return `${what}${then ? `: ${then}` : ''}.`;
}
