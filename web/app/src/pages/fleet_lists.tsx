// Where to begin: the ten jobs that would save most, and the ten whose limits are too tight.
import { useQuery } from '../api/query';
import { withParams } from '../api/client';
import type { JobPage, JobRow, Resource } from '../api/types';
import { NONE, amount, significant } from '../lib/format';
import { RESOURCE, RESOURCES } from '../lib/resource';
import { hrefOf, jobHref } from '../lib/route';
import { riskOf, tightness } from '../lib/saving';
import { Card, ModeBadge, Problem, Skeleton } from '../ui/basics';

const SHOWN = 10;

// A job that saves nothing, or is in auto already, is no candidate.
export const candidates = (rows: readonly JobRow[]): JobRow[] =>
  rows.filter((row) => row.mode !== 'auto' && RESOURCES.some((r) => (row[r].saving ?? 0) > 0)).slice(0, SHOWN);
export const tight = (rows: readonly JobRow[]): JobRow[] => rows.filter((row) => tightness(row).length > 0).slice(0, SHOWN);

function Saving({ row, resource }: { row: JobRow; resource: Resource }) {
  const { saving } = row[resource];
  const risk = riskOf(resource, row[resource]);
  return (
    <td class="num" title={risk?.title}>
      {amount(resource, saving === null ? null : saving * row.tasks)}
      {risk && <span class="muted sub-line">risk {risk.text}</span>}
    </td>
  );
}

function Candidates({ rows, currency }: { rows: JobRow[]; currency: string | undefined }) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="The best candidates">
      <table class="top-jobs">
        <thead><tr><th scope="col">Job</th><th scope="col" class="text">Mode</th>{RESOURCES.map((r) => <th key={r} scope="col">{RESOURCE[r].title} saving</th>)}{currency !== undefined && <th scope="col">{currency}/month</th>}</tr></thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <th scope="row"><a class="job-name" href={jobHref(row.name)} title={row.name}><bdi>{row.name}</bdi></a></th>
              <td class="text"><ModeBadge mode={row.mode} /></td>
              {RESOURCES.map((r) => <Saving key={r} row={row} resource={r} />)}
              {currency !== undefined && <td class="num">{row.saving_per_month == null ? NONE : significant(row.saving_per_month)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Tight({ rows }: { rows: JobRow[] }) {
  return (
    <ul class="tight-jobs">
      {rows.map((row) => (
        <li key={row.name}><a class="job-name" href={jobHref(row.name)} title={row.name}><bdi>{row.name}</bdi></a><span>{tightness(row).join('; ')}</span></li>
      ))}
    </ul>
  );
}

export function FleetLists() {
  // Jobs in auto are left out of the first list, so more than ten are asked for.
  const most = useQuery<JobPage>(withParams('jobs', { sort: 'saving', limit: 100 }), { on: ['window', 'setting'], keep: true });
  const least = useQuery<JobPage>(withParams('jobs', { sort: 'tight', limit: SHOWN }), { on: ['window', 'setting'], keep: true });
  const best = most.data && candidates(most.data.jobs);
  const tightest = least.data && tight(least.data.jobs);
  return (
    <div class="pair">
      <Card title="Best candidates" hint="What each job would save of its owner's limit in auto, and the chance of a day above the lower limit." tools={<a href={hrefOf('jobs')}>All jobs</a>}>
        {most.error && <Problem text={most.error.message} retry={most.reload} />}
        {!best ? !most.error && <Skeleton lines={8} /> : best.length === 0 ? <p class="hint">None: no job outside auto has a recommended limit below its owner's.</p> : <Candidates rows={best} currency={most.data?.currency} />}
      </Card>
      <Card title="Too tight" hint="Jobs that were OOM-killed, whose usage reaches the limit, or that need more than their owner's limit." tools={<a href={hrefOf('jobs', { sort: 'tight' })}>All by tightness</a>}>
        {least.error && <Problem text={least.error.message} retry={least.reload} />}
        {!tightest ? !least.error && <Skeleton lines={8} /> : tightest.length === 0 ? <p class="hint">None.</p> : <Tight rows={tightest} />}
      </Card>
    </div>
  );
}
