// What to do with the recommendation: let Tautline set it, or take it to another tool.
import { useState } from 'preact/hooks';
import { useMay } from '../../api/may';
import { ApiError, jobPath, sendJson, withParams } from '../../api/client';
import type { JobDetail, JobSettings, Mode } from '../../api/types';
import { csvOf, dockerUpdate, kubernetesYaml } from '../../lib/export';
import { amount, money } from '../../lib/format';
import { RESOURCE, RESOURCES } from '../../lib/resource';
import { riskOf } from '../../lib/saving';
import { rememberWho, storedWho } from '../../lib/who';
import { Card, Segments } from '../../ui/basics';
import { Snippet } from '../../ui/snippet';

type Kind = 'docker' | 'kubernetes' | 'csv';

// The name that `docker update` takes: of Compose the container is PROJECT-SERVICE-1.
export function containerOf(job: Pick<JobDetail, 'name' | 'labels'>): string {
  const { container, compose_project: project, compose_service: service } = job.labels;
  if (project && service) return `${project}-${service}-1`;
  return container || job.name.split('/').pop() || job.name;
}

export function firstKind(labels: Record<string, string>): Kind {
  return labels.namespace !== undefined || labels.pod !== undefined || labels.workload !== undefined ? 'kubernetes' : 'docker';
}

const HELP: Record<Kind, string> = {
  docker: 'Changes the running container until it is recreated. Other containers of the job have other names.',
  kubernetes: 'For the container in the pod template of the workload.',
  csv: 'One line, with amounts for each task.',
};

function textOf(kind: Kind, job: JobDetail): string {
  const { cpu, memory } = job;
  if (kind === 'docker') return dockerUpdate(containerOf(job), cpu.would_be, memory.would_be);
  return kind === 'kubernetes' ? kubernetesYaml(cpu.would_be, memory.would_be) : csvOf([job]);
}

const STEPS: Partial<Record<Mode, { to: Mode; says: string }[]>> = {
  off: [{ to: 'observe', says: 'Recommend limits, apply none' }],
  observe: [{ to: 'canary', says: 'Try on some tasks first' }, { to: 'auto', says: 'Apply to all tasks' }],
  canary: [{ to: 'auto', says: 'Apply to all tasks' }, { to: 'observe', says: "Back to the owner's limits" }],
  auto: [{ to: 'observe', says: "Back to the owner's limits" }],
};

function ModeButtons({ job }: { job: JobDetail }) {
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  const [who, setWho] = useState(storedWho);
  const set = async (mode: Mode) => {
    setBusy(true);
    setError('');
    rememberWho(who);
    try {
      await sendJson<JobSettings>('PATCH', withParams(jobPath(job.name, '/settings'), { who: who.trim() }), { mode });
    } catch (wrong) {
      setError(wrong instanceof ApiError ? wrong.message : String(wrong));
    }
    setBusy(false);
  };
  return (
    <>
      <p class="actions next-actions">
        {STEPS[job.mode]?.map(({ to, says }, i) => (
          <button type="button" key={to} class={i === 0 && job.mode !== 'auto' ? 'primary' : 'quiet'} disabled={busy} onClick={() => void set(to)}>{says}: {to}</button>
        ))}
        <label>Your name, for the record <input type="text" value={who} autoComplete="username" onInput={(event) => setWho(event.currentTarget.value)} /></label>
      </p>
      {error && <p class="problem" role="alert">{error}</p>}
    </>
  );
}

function Effect({ job }: { job: JobDetail }) {
  const parts = RESOURCES.flatMap((resource) => {
    const { saving } = job[resource];
    if (saving === null || job.tasks === 0) return [];
    const risk = riskOf(resource, job[resource]);
    const size = amount(resource, Math.abs(saving) * job.tasks);
    return [`${saving < 0 ? `takes ${size} more` : `saves ${size}`} of ${RESOURCE[resource].word}${risk ? ` with ${risk.label}` : ''}`];
  });
  if (parts.length === 0) return null;
  const saved = job.saving_per_month;
  return (
    <p class="paragraph">
      For all its tasks, the recommendation {parts.join(', and ')}.{saved != null && <> That is {money(Math.abs(saved), job.currency ?? '')} {saved < 0 ? 'more' : 'less'}.</>}
    </p>
  );
}

export function NextCard({ job, dry, idle }: { job: JobDetail; dry: boolean; idle: boolean }) {
  const [kind, setKind] = useState<Kind>(() => firstKind(job.labels));
  const may = useMay('set_jobs');
  if (RESOURCES.every((r) => job[r].would_be === null)) return null;
  return (
    <Card title="What next" class="next">
      <Effect job={job} />
      {may !== false && <ModeButtons job={job} />}
      {dry && <p class="hint">This tautd is a dry run: in any mode limits are recorded and none is set. Below is how to set them yourself.</p>}
      {idle && !dry && <p class="hint">Agents only measure this job: limits are recorded and none is set, unless an agent's rule says <code>manage: true</code>. Below is how to set them yourself.</p>}
      <div class="next-copy">
        <Segments label="Form" value={kind} onPick={setKind} choices={[{ value: 'docker', label: 'Docker' }, { value: 'kubernetes', label: 'Kubernetes' }, { value: 'csv', label: 'CSV' }]} />
        <span class="muted">{HELP[kind]}</span>
      </div>
      <Snippet text={textOf(kind, job)} label="The recommended limits, to copy" />
    </Card>
  );
}
