// A job's load over time, with the capacity of its tasks and of the policy's tasks.
import { useMemo } from 'preact/hooks';
import { jobPath, withParams } from '../../api/client';
import { useQuery } from '../../api/query';
import type { Fleet, JobDetail, ReplicaHistory } from '../../api/types';
import { cores, significant } from '../../lib/format';
import { totalsSentence } from '../../lib/load';
import { Problem, Segments, Skeleton } from '../../ui/basics';
import { Chart } from '../../ui/chart';
import { DAYS, RANGES, type Range } from './usage';

const tick = (v: number) => String(v);

export function LoadChart({ job, range, onRange }: { job: JobDetail; range: Range; onRange: (range: Range) => void }) {
  const fleet = useQuery<Fleet>('fleet', { on: ['window'], keep: true });
  const end = fleet.data?.time ?? null;
  const path = useMemo(() => (end === null ? null
    : withParams(jobPath(job.name, '/replicas'), { from: end - DAYS[range] * 86400, to: end, columns: 336 })), [job.name, range, end]);
  const history = useQuery<ReplicaHistory>(path, { keep: true });
  const h = history.data;
  const first = h ? Math.max(0, h.load.findIndex((v) => v !== null)) : 0;  // a young job's chart begins with its first load
  const from = <T,>(values: T[]) => values.slice(first);
  const sentence = h && job.replicas ? totalsSentence(h.totals, job.replicas.policy) : '';
  return (
    <div class="load-chart">
      <div class="card-tools">
        <Segments label="Range of time" value={range} onPick={onRange}
          choices={RANGES} />
      </div>
      {history.error && <Problem text={history.error.message} retry={history.reload} />}
      {!h ? <Skeleton lines={4} /> : h.load.every((v) => v === null) ? <p class="hint nothing">No usage was measured in this time.</p> : (
        <>
          <Chart label="Load of the job and what its tasks can process" time={from(h.time)} height={200} format={h.load_of === 'cpu' ? cores : significant} tick={tick} unit={h.load_of === 'cpu' ? 'cores' : 'load'}
            band={h.forecast_high.some((v) => v !== null)
              ? { name: 'forecast', low: from(h.forecast_low), high: from(h.forecast_high), colour: '--other', remark: 'with a chance of 80 %' } : undefined}
            series={[
              { name: 'load', values: from(h.load), colour: '--usage', style: 'area', remark: 'highest of five minutes' },
              { name: 'capacity', values: from(h.capacity), colour: '--limit', style: 'step', remark: h.load_of === 'cpu' ? "replicas.max_utilization of the tasks' CPU limits" : 'replicas.max_utilization of what the tasks process' },
              { name: 'recommended capacity', values: from(h.capacity_would_be), colour: '--would', style: 'step-dash' },
            ]} />
          <Chart label="Number of tasks" time={from(h.time)} height={140} format={(v) => `${significant(v)} tasks`} tick={tick} unit="tasks"
            series={[
              { name: 'running', values: from(h.tasks), colour: '--limit', style: 'step' },
              { name: 'recommended', values: from(h.tasks_would_be), colour: '--would', style: 'step-dash' },
            ]} />
          {sentence && <p class="hint">{sentence}</p>}
        </>
      )}
    </div>
  );
}
