// Running canary trials: the tasks with the new limit compared with the other tasks.
import type { JobDetail, Trial, TrialSide } from '../../api/types';
import { amount, count, percent, plural } from '../../lib/format';
import { RESOURCE } from '../../lib/resource';
import { Card, Time } from '../../ui/basics';

function Side({ name, side, throttled }: { name: string; side: TrialSide; throttled: boolean }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="num">{count(side.task_windows)}</td>
      <td class={`num ${side.ooms > 0 ? 'bad' : ''}`}>{count(side.ooms)}</td>
      <td class="num">{count(side.over)} <span class="muted">{side.task_windows > 0 ? percent(side.over / side.task_windows) : ''}</span></td>
      {throttled && <td class="num">{percent(side.throttled_share)}</td>}
      <td class="num">{percent(side.slack)}</td>
    </tr>
  );
}

function OneTrial({ trial }: { trial: Trial }) {
  const limit = amount(trial.resource, trial.limit);
  const old = amount(trial.resource, trial.old_limit);
  const throttled = trial.tasks.throttled_share !== null || trial.rest.throttled_share !== null;
  return (
    <Card title={`Trial of a ${RESOURCE[trial.resource].word} limit`} hint={trial.sentence}
      tools={<span class="muted">since <Time at={trial.since} />, at least until <Time at={trial.until} /></span>}>
      <div class="scroll" tabIndex={0} role="group" aria-label="Tasks on trial and other tasks">
        <table>
          <thead>
            <tr>
              <th scope="col">Tasks</th><th scope="col" title="a task in a window of 5 minutes">Task-windows</th><th scope="col">OOM kills</th>
              <th scope="col">Above the limit</th>{throttled && <th scope="col" title="Share of CFS periods">Throttled</th>}<th scope="col">Slack</th>
            </tr>
          </thead>
          <tbody>
            <Side name={`on trial, at ${limit}`} side={trial.tasks} throttled={throttled} />
            <Side name={`the rest, at ${old}`} side={trial.rest} throttled={throttled} />
          </tbody>
        </table>
      </div>
      {trial.names.length > 0 && <p class="hint trial-names">{plural(trial.names.length, 'task')} on trial: {trial.names.join(', ')}.</p>}
      {trial.elsewhere > 0 && <p class="hint">{plural(trial.elsewhere, 'task-window')} of these tasks at another limit {trial.elsewhere === 1 ? 'does' : 'do'} not count: the limit was not applied yet, or the agent raised it.</p>}
    </Card>
  );
}

export function Trials({ job }: { job: JobDetail }) {
  return <>{job.trials.map((trial) => <OneTrial key={trial.resource} trial={trial} />)}</>;
}
