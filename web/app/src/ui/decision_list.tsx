// Decisions as a compact list: when, which job, from what to what, and why.
import type { Amount, Decision, Target } from '../api/types';
import { amount, change } from '../lib/format';
import { TARGET } from '../lib/names';
import { jobHref } from '../lib/route';
import { KindBadge, OutcomeNote, OutcomeText, Time } from './basics';

// Until agents have answered, lists are requested again after this many seconds.
export const underWay = (decisions: readonly Decision[] | undefined): number =>
  (decisions?.some((d) => d.outcome === 'pending' && d.kind !== 'would_set') ? 5 : 0);

// The job's page, at the resource whose limit it is.
export const decisionHref = (d: Decision): string => jobHref(d.job, d.resource ? { resource: d.resource } : {});

export function FromTo({ target, before, after }: { target: Target; before: Amount; after: Amount }) {
  const share = change(before, after);
  return (
    <span class="from-to">
      <span class="muted">{before === null ? 'no limit' : amount(target, before)} →</span>{' '}
      <b>{after === null ? "the owner's" : amount(target, after)}</b>
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
          <span class="what"><KindBadge kind={d.kind} outcome={d.outcome} /> {TARGET[d.target]}</span>
          {job && <a class="job-name" href={decisionHref(d)} title={d.job}><bdi>{d.job}</bdi></a>}
          <FromTo target={d.target} before={d.before} after={d.after} />
          <span class="why">{d.sentence}</span>
          <OutcomeText kind={d.kind} outcome={d.outcome} text={d.outcome_text} />
          <OutcomeNote kind={d.kind} outcome={d.outcome} text={d.outcome_text} />
        </li>
      ))}
    </ol>
  );
}
