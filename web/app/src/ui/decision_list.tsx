// A compact list of decisions, each with its time, job, change and reason.
import type { Amount, Decision, Target } from '../api/types';
import { type Entry, entriesOf } from '../lib/churn';
import { amount, change, count, duration } from '../lib/format';
import type { Named } from '../lib/job_name';
import { TARGET } from '../lib/names';
import { hrefOf, jobHref } from '../lib/route';
import { KindBadge, OutcomeNote, OutcomeText, Time } from './basics';
import { JobLink } from './job_label';

// Returns the seconds after which the list is requested again; 0: all decisions have outcomes.
export const underWay = (decisions: readonly Decision[] | undefined): number =>
  (decisions?.some((d) => d.outcome === 'pending' && d.kind !== 'would_set') ? 5 : 0);

export const jobOf = (d: Decision): Named => ({ name: d.job, workload: d.workload });

// Link to the job's page, at the resource whose limit was decided.
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

// Returns a text such as "2 ↔ 3 tasks".
export const backAndForth = ({ low, high }: NonNullable<Entry['churn']>, target: Target): string =>
  `${target === 'replicas' ? count(low) : amount(target, low)} ↔ ${amount(target, high)}`;

// Cells of one row for several decisions that revert each other.
export function ChurnCells({ entry, job = true }: { entry: Entry; job?: boolean }) {
  const [newest] = entry.decisions;
  if (!entry.churn) return null;
  return (
    <>
      <span class="when"><Time at={newest.time} age /></span>
      <span class="what"><span class="badge churn" title={`Each of these decisions takes back the one before it${newest.target === 'replicas' ? '; lower numbers wait longer with each (replicas.settle)' : ''}`}>{count(entry.decisions.length)} changes</span> {TARGET[newest.target]}</span>
      {job && <JobLink job={jobOf(newest)} href={decisionHref(newest)} />}
      <span class="from-to"><b>{backAndForth(entry.churn, newest.target)}</b></span>
      <span class="why">back and forth {count(entry.decisions.length)} times in {duration(entry.churn.seconds)}; the last: {newest.sentence}</span>
    </>
  );
}

function One({ decision: d, job }: { decision: Decision; job: boolean }) {
  return (
    <li>
      <span class="when"><Time at={d.time} age /></span>
      <span class="what"><KindBadge kind={d.kind} outcome={d.outcome} /> {TARGET[d.target]}</span>
      {job && <JobLink job={jobOf(d)} href={decisionHref(d)} />}
      <FromTo target={d.target} before={d.before} after={d.after} />
      <span class="why" title={d.sentence}>{d.sentence}</span>
      <OutcomeText kind={d.kind} outcome={d.outcome} text={d.outcome_text} />
      <OutcomeNote kind={d.kind} outcome={d.outcome} text={d.outcome_text} />
    </li>
  );
}

// `most` is the number of entries shown; one entry may represent several decisions.
export function DecisionList({ decisions, job = true, most = Infinity }: { decisions: Decision[]; job?: boolean; most?: number }) {
  if (decisions.length === 0) return <p class="hint">None yet.</p>;
  return (
    <ol class={job ? 'decisions' : 'decisions without-job'}>
      {entriesOf(decisions).slice(0, most).map((entry) => {
        const [d] = entry.decisions;
        return entry.churn === null ? <One key={d.id} decision={d} job={job} />
          : <li key={d.id}><ChurnCells entry={entry} job={job} /><a class="outcome" href={hrefOf('decisions', { job: d.job, target: d.target })}>all</a></li>;
      })}
    </ol>
  );
}
