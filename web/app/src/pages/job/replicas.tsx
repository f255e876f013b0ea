// The job's number of tasks, the recommended number, and the reason.
import { useState } from 'preact/hooks';
import { withParams } from '../../api/client';
import { useQuery } from '../../api/query';
import type { DecisionPage, JobDetail } from '../../api/types';
import { NONE, amount, percent, significant } from '../../lib/format';
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

// A load from series, in its own unit.
const plain = (value: number | null): string => (value === null ? NONE : significant(value));

export function ReplicasCard({ job, range, onRange }: { job: JobDetail; range: Range; onRange: (range: Range) => void }) {
  const r = job.replicas;
  if (!r) return null;
  const facts: [string, string][] = [
    ['Tasks now', amount('replicas', r.tasks)], ['Recommended', amount('replicas', r.would_be)],
    ...(r.ordered !== null ? [['Ordered', amount('replicas', r.ordered)] as [string, string]] : []),
    ...(r.load_of === 'cpu' ? [['CPU of all tasks', amount('cpu', r.load)], ['CPU limit of a task', amount('cpu', r.task_capacity)]] as [string, string][]
      : [['Load', plain(r.load)], ['A task processes', plain(r.task_capacity)]] as [string, string][]),
    ['Utilization', percent(r.utilization)],
    ...(r.windows_day > 0 ? [['Overloaded, last day', percent(r.overloaded_windows_day / r.windows_day)] as [string, string]] : []),
  ];
  return (
    <Card title="Replicas" hint={`The number of tasks that the policy ${r.policy} recommends for the job, by ${r.load_of === 'cpu' ? 'the CPU that its tasks use' : 'its load and signals'}.`}>
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
