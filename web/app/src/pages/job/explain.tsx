// Explains the recommended limit.
import { useQuery } from '../../api/query';
import { jobPath } from '../../api/client';
import type { Explanations, Resource } from '../../api/types';
import { amount } from '../../lib/format';
import { Card, Problem, Skeleton } from '../../ui/basics';
import { ReasonView } from '../../ui/reason';

export function ExplainCard({ name, resource }: { name: string; resource: Resource }) {
  const query = useQuery<Explanations>(jobPath(name, '/explain'), { on: ['window', 'setting'], keep: true });
  const one = query.data?.[resource];
  const title = one && one.would_be !== null ? `Why ${amount(resource, one.would_be)}` : 'Why';
  return (
    <Card title={title}>
      {query.error && <Problem text={query.error.message} retry={query.reload} />}
      {!one ? !query.error && <Skeleton lines={4} /> : (
        <>
          <p class="paragraph">{one.paragraph}</p>
          <ReasonView reason={one.reason} target={resource} />
        </>
      )}
    </Card>
  );
}
