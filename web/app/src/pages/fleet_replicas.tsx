// Numbers of tasks of all jobs with a replica policy, and their effect.
import type { ReplicaSums } from '../api/types';
import { count, percent, plural } from '../lib/format';
import { hrefOf } from '../lib/route';
import { Card } from '../ui/basics';

// Returns "6 fewer" or "as many": the recommended number of tasks compared with the running number.
export function difference(now: number, wouldBe: number): string {
  if (now === wouldBe) return 'as many';
  const share = now > 0 ? `, ${percent(Math.abs(wouldBe - now) / now)}` : '';
  return `${plural(Math.abs(wouldBe - now), 'task')} ${wouldBe < now ? 'fewer' : 'more'}${share}`;
}

export function FleetReplicas({ replicas: r }: { replicas: ReplicaSums }) {
  const held = r.jobs_held.not_measured + r.jobs_held.no_number;
  if (r.jobs === 0 && held === 0) return null;
  const causes = [[r.jobs_held.not_measured, 'load or signal not measured'], [r.jobs_held.no_number, 'no number computed']] as const;
  return (
    <Card title="Replicas" class="fleet-replicas" hint={`${plural(r.jobs, 'job')} with a policy of replicas, measured in the last window.`}
      tools={<a href={hrefOf('decisions', { target: 'replicas' })}>Decisions on replicas</a>}>
      <dl class="keyed">
        <div><dt>Tasks running</dt><dd>{plural(r.tasks, 'task')}</dd></div>
        <div><dt>Tasks recommended</dt><dd>{plural(r.would_be, 'task')} <span class="muted">{difference(r.tasks, r.would_be)}</span></dd></div>
        <div>
          <dt title="Windows of five minutes of each job's last day in which the load was above replicas.max_utilization of what its ready tasks can process">Overloaded, last day</dt>
          <dd>{r.windows_day > 0 ? percent(r.overloaded_windows_day / r.windows_day) : <span class="muted">not known yet</span>} <span class="muted">{r.windows_day > 0 && `of ${plural(r.windows_day, 'window')}`}</span></dd>
        </div>
        <div><dt title="In the last window">Jobs overloaded now</dt><dd>{r.jobs_overloaded > 0 ? <span class="bad">{count(r.jobs_overloaded)}</span> : '0'} <span class="muted">of {plural(r.jobs, 'job')}</span></dd></div>
        <div>
          <dt title="Their number of tasks cannot be decided, and stays">Jobs held</dt>
          <dd>{count(held)} <span class="muted">{causes.filter(([n]) => n > 0).map(([n, why]) => (n === held ? why : `${count(n)}: ${why}`)).join('; ')}</span></dd>
        </div>
      </dl>
    </Card>
  );
}
