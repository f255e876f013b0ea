// Most useful actions: the jobs of any mode whose recommended limits save most, and those whose limits are too low.
import { useQuery } from '../api/query';
import { withParams } from '../api/client';
import type { Fleet, JobPage, JobRow } from '../api/types';
import { fromTo, stepsOf } from '../lib/answer';
import { amount, capital, price } from '../lib/format';
import { RESOURCE } from '../lib/resource';
import { hrefOf } from '../lib/route';
import { allRisks, dryRun, notSet, rowRisk, savingOf, tightness } from '../lib/saving';
import { Card, ModeBadge, Problem, Skeleton } from '../ui/basics';
import { JobLink } from '../ui/job_label';
import { savingParts } from './job_row';

const SHOWN = 10;

// True if a recommended limit is lower than the limit in force and saves something.
const saves = (row: JobRow, dry: boolean): boolean => stepsOf(row, notSet(row, dry)).some(({ resource, verb }) => verb === 'lower' && (savingOf(row, resource) ?? 0) > 0);

// Returns the first rows whose recommended limits still save something. `rows` has the largest saving first.
export const candidates = (rows: readonly JobRow[], dry: boolean): JobRow[] =>
  rows.filter((row) => saves(row, dry) && (row.saving_per_month ?? 1) > 0).slice(0, SHOWN);
export const tight = (rows: readonly JobRow[]): JobRow[] => rows.filter((row) => tightness(row).length > 0).slice(0, SHOWN);

// Returns a text such as "memory 15 to 8.51 GiB, CPU 9.42 to 3.47 cores".
const changes = (row: JobRow, dry: boolean): string => stepsOf(row, notSet(row, dry))
  .flatMap(({ resource, verb, from, to }) => (verb === 'lower' || verb === 'raise' ? [`${RESOURCE[resource].word} ${from === null ? amount(resource, to) : fromTo(resource, from, to)}`] : [])).join(', ');

function Candidates({ rows, dry, currency }: { rows: JobRow[]; dry: boolean; currency: string | undefined }) {
  return (
    <ol class="first-jobs">
      {rows.map((row) => {
        const risk = rowRisk(row);
        const parts = savingParts(row).join(', ');
        const worth = currency === undefined || row.saving_per_month == null ? '' : `${price(row.saving_per_month, currency)}/month`;
        return (
          <li key={row.name}>
            <span class="first-job"><JobLink job={row} /> <ModeBadge mode={row.mode} /></span>
            <span class="first-change">{capital(changes(row, dry))}<small>a task, of {row.tasks}</small></span>
            <span class="first-saving"><b>{worth || parts}</b>{worth && <small>{parts}</small>}</span>
            <span class="first-risk" title={allRisks(row)}>{risk && <>{risk.text}<small>{risk.unit}</small></>}</span>
          </li>
        );
      })}
    </ol>
  );
}

function Tight({ rows }: { rows: JobRow[] }) {
  return (
    <ul class="tight-jobs">
      {rows.map((row) => (
        <li key={row.name}><JobLink job={row} /><span>{tightness(row).join('; ')}</span></li>
      ))}
    </ul>
  );
}

export function FleetLists({ fleet }: { fleet: Fleet }) {
  const dry = dryRun(fleet);
  const sort = fleet.saving_per_month ? 'saving_per_month' : 'saving';
  // More than ten jobs are requested, because the first list omits jobs whose limits are set, and the second omits mild cases.
  const most = useQuery<JobPage>(withParams('jobs', { sort, limit: 200 }), { on: ['window', 'setting'], keep: true });
  const least = useQuery<JobPage>(withParams('jobs', { sort: 'tight', limit: 50 }), { on: ['window', 'setting'], keep: true });
  const best = most.data && candidates(most.data.jobs, dry);
  const tightest = least.data && tight(least.data.jobs);
  return (
    <div class="pair first-pair">
      <Card title="Do these first" hint="The largest savings of jobs in any mode whose recommended limits are not set." tools={<a href={hrefOf('jobs')}>All jobs</a>}>
        {most.error && <Problem text={most.error.message} retry={most.reload} />}
        {!best ? !most.error && <Skeleton lines={8} /> : best.length === 0 ? <p class="hint">Nothing: no job has a recommended limit below the one that it has.</p> : <Candidates rows={best} dry={dry} currency={most.data?.currency} />}
      </Card>
      <Card title="Too tight" hint="Jobs that were OOM-killed, whose usage reaches the limit, or that need more than their owner's limit." tools={<a href={hrefOf('jobs', { sort: 'tight' })}>All by tightness</a>}>
        {least.error && <Problem text={least.error.message} retry={least.reload} />}
        {!tightest ? !least.error && <Skeleton lines={8} /> : tightest.length === 0 ? <p class="hint">None.</p> : <Tight rows={tightest} />}
      </Card>
    </div>
  );
}
