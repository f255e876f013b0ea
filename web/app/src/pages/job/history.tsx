// Decisions about this job.
import { useState } from 'preact/hooks';
import { useQuery } from '../../api/query';
import { withParams } from '../../api/client';
import type { DecisionPage, Resource } from '../../api/types';
import { RESOURCE } from '../../lib/resource';
import { hrefOf } from '../../lib/route';
import { Card, Problem, Skeleton } from '../../ui/basics';
import { DecisionList, underWay } from '../../ui/decision_list';

export function JobDecisions({ name, resource }: { name: string; resource: Resource }) {
  const [limit, setLimit] = useState(10);
  const path = withParams('decisions', { job: name, resource, limit });
  const decisions = useQuery<DecisionPage>(path, { on: ['decision', 'window'], keep: true, every: (page) => underWay(page?.decisions) });
  return (
    <Card title={`Decisions on ${RESOURCE[resource].word}`}
      tools={<a href={hrefOf('decisions', { job: name })}>With reasons</a>}>
      {decisions.data ? <DecisionList decisions={decisions.data.decisions} job={false} />
        : decisions.error ? <Problem text={decisions.error.message} retry={decisions.reload} /> : <Skeleton lines={4} />}
      {decisions.data?.next_before != null && (
        <p class="more"><button type="button" class="quiet" onClick={() => setLimit(limit * 4)}>Older decisions on {RESOURCE[resource].word}</button></p>
      )}
    </Card>
  );
}
