// How many tasks the job runs, how many it would, and why.
import { useState } from 'preact/hooks';
import { withParams } from '../../api/client';
import { useQuery } from '../../api/query';
import type { DecisionPage, JobDetail } from '../../api/types';
import { amount, percent } from '../../lib/format';
import { Card, Skeleton } from '../../ui/basics';
import { DecisionList, underWay } from '../../ui/decision_list';
import { ReasonView } from '../../ui/reason';
import { LoadChart } from './load';
import type { Range } from './usage';

function Decisions({ name }: { name: string }) {
  const [limit, setLimit] = useState(5);
  const path = withParams('decisions', { job: name, target: 'replicas', limit });
  const page = useQuery<DecisionPage>(path, { on: ['decision', 'window'], keep: true, every: (data) => underWay(data?.decisions) });
  if (!page.data) return page.error ? <p class="hint">{page.error.message}</p> : <Skeleton lines={2} />;
  return (
    <>
      <DecisionList decisions={page.data.decisions} job={false} />
      {page.data.next_before != null && <p class="more"><button type="button" class="quiet" onClick={() => setLimit(limit * 4)}>Older decisions on replicas</button></p>}
    </>
  );
}

export function ReplicasCard({ job, range, onRange }: { job: JobDetail; range: Range; onRange: (range: Range) => void }) {
  const r = job.replicas;
  if (!r) return null;
  const facts: [string, string][] = [
    ['Tasks now', amount('replicas', r.tasks)], ['Would be', amount('replicas', r.would_be)],
    ...(r.ordered !== null ? [['Ordered', amount('replicas', r.ordered)] as [string, string]] : []),
    ['CPU of all tasks', amount('cpu', r.load_cores)], ['CPU limit of a task', amount('cpu', r.cores_per_task)],
    ['Utilization', percent(r.utilization)],
  ];
  return (
    <Card title="Replicas" hint={`The number of tasks that the policy ${r.policy} recommends for the CPU load of the job.`}>
      <div class="replicas">
        <span class="summary-facts">
          {facts.map(([name, value]) => <span key={name}><span class="muted">{name}</span><b>{value}</b></span>)}
        </span>
        {r.hold && <p class="notice">{r.hold}</p>}
        <p class="paragraph">{r.reason.sentence}</p>
        <LoadChart job={job} range={range} onRange={onRange} />
        <ReasonView reason={r.reason} target="replicas" />
        <h3>Decisions on replicas</h3>
        <Decisions name={job.name} />
      </div>
    </Card>
  );
}
