// Decisions as a compact list: when, which job, from what to what, and why.
import type { Amount, Decision, Resource } from '../api/types';
import { amount, change } from '../lib/format';
import { RESOURCE } from '../lib/names';
import { jobHref } from '../lib/route';
import { KindBadge, OutcomeNote, OutcomeText, Time } from './basics';

// Until agents have answered, lists are requested again after this many seconds.
export const underWay = (decisions: readonly Decision[] | undefined): number =>
  (decisions?.some((d) => d.outcome === 'pending' && d.kind !== 'would_set') ? 5 : 0);

export function FromTo({ resource, before, after }: { resource: Resource; before: Amount; after: Amount }) {
  const share = change(before, after);
  return (
    <span class="from-to">
      <span class="muted">{before === null ? 'no limit' : amount(resource, before)} →</span>{' '}
      <b>{after === null ? "the owner's" : amount(resource, after)}</b>
      {share && <span class={`muted share ${share.startsWith('+') ? 'up' : 'down'}`}> {share}</span>}
    </span>
  );
}

export function DecisionList({ decisions, job = true }: { decisions: Decision[]; job?: boolean }) {
  if (decisions.length === 0) return <p class="hint">None yet.</p>;
  return (
    <ol class={job ? 'decisions' : 'decisions without-job'}>
      {decisions.map((d) => (
        <li key={d.id}>
          <span class="when"><Time at={d.time} age /></span>
          <span class="what"><KindBadge kind={d.kind} outcome={d.outcome} /> {RESOURCE[d.resource]}</span>
          {job && <a class="job-name" href={jobHref(d.job, { resource: d.resource })} title={d.job}><bdi>{d.job}</bdi></a>}
          <FromTo resource={d.resource} before={d.before} after={d.after} />
          <span class="why">{d.sentence}</span>
          <OutcomeText kind={d.kind} outcome={d.outcome} text={d.outcome_text} />
          <OutcomeNote kind={d.kind} outcome={d.outcome} text={d.outcome_text} />
        </li>
      ))}
    </ol>
  );
}
