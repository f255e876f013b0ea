// The recommendation for a job in one sentence, with two actions: let Tautline set the limits, or export them to another tool.
import { useEffect, useState } from 'preact/hooks';
import { useMay } from '../../api/may';
import { ApiError, jobPath, sendJson, withParams } from '../../api/client';
import type { JobDetail, JobSettings, Mode, Resource } from '../../api/types';
import { answerOf, stepsOf } from '../../lib/answer';
import { csvOf, dockerUpdate, kubernetesYaml } from '../../lib/export';
import { amount, percent } from '../../lib/format';
import { RESOURCE, RESOURCES } from '../../lib/resource';
import { provisionalNote, realLimit, riskOf, sameLimit } from '../../lib/saving';
import { rememberWho, storedWho } from '../../lib/who';
import { Segments } from '../../ui/basics';
import { Bullet } from '../../ui/bullet';
import { Snippet } from '../../ui/snippet';

type Kind = 'docker' | 'kubernetes' | 'csv';

// The container name for `docker update`: with Compose it is PROJECT-SERVICE-1. Without labels and workload, the API has no container: the last part of a
// name by Docker's rules is the container's.
export function containerOf(job: Pick<JobDetail, 'name' | 'workload' | 'labels'>): string {
  const { container, compose_project: project, compose_service: service } = job.labels;
  if (project && service) return `${project}-${service}-1`;
  return container || job.workload?.container || job.name.split('/').pop() || job.name;
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
  return kind === 'kubernetes' ? kubernetesYaml(cpu.would_be, memory.would_be, { cpu: cpu.of, memory: memory.of }) : csvOf([job]);
}

interface Action { to: Mode; says: string; help: string }
const APPLY: Action = { to: 'auto', says: 'Apply', help: 'Mode auto: applies the recommended limits to all tasks, also later ones' };
const TRY: Action = { to: 'canary', says: 'Try on some tasks first', help: 'Mode canary: tries each limit on a share of the tasks' };
const BACK: Action = { to: 'observe', says: "Back to the owner's", help: "Mode observe: the owner's limits hold again" };
const ACTIONS: Record<Mode, Action[]> = { off: [APPLY, TRY], observe: [APPLY, TRY], canary: [APPLY, BACK], auto: [BACK] };

// Lets the user choose whether Tautline applies the limits. `idle`: no decision for this job is applied.
function Apply({ job }: { job: JobDetail }) {
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
      {ACTIONS[job.mode].map((action) => (
        <button type="button" key={action.to} class={action === APPLY ? 'primary' : 'quiet'} title={action.help} disabled={busy} onClick={() => void set(action.to)}>{action.says}</button>
      ))}
      <label>Your name, for the record <input type="text" size={12} value={who} autoComplete="username" onInput={(event) => setWho(event.currentTarget.value)} /></label>
      {error && <span class="problem" role="alert">{error}</span>}
    </>
  );
}

function CopyPanel({ job, kind, onKind }: { job: JobDetail; kind: Kind; onKind: (kind: Kind) => void }) {
  return (
    <div class="next">
      <div class="next-copy">
        <Segments label="Form" value={kind} onPick={onKind} choices={[{ value: 'docker', label: 'Docker' }, { value: 'kubernetes', label: 'Kubernetes' }, { value: 'csv', label: 'CSV' }]} />
        <span class="muted">{HELP[kind]}</span>
      </div>
      <Snippet text={textOf(kind, job)} label="The recommended limits, to copy" />
    </div>
  );
}

// Returns the reason why no button applies the limits; "" if there is a button.
function notApplied(dry: boolean, idle: boolean): string {
  if (dry) return 'This tautd is a dry run and sets no limit: copy them.';
  return idle ? 'Agents only measure this job, unless a rule of theirs says manage: true: copy them.' : '';
}

function Actions({ job, dry, idle }: { job: JobDetail; dry: boolean; idle: boolean }) {
  const may = useMay('set_jobs');
  const [kind, setKind] = useState<Kind>(() => firstKind(job.labels));
  const [open, setOpen] = useState(false);
  const [copied, setCopied] = useState(false);
  const text = textOf(kind, job);
  useEffect(() => setCopied(false), [text]);
  const copy = () => {
    setOpen(true);
    // Browsers allow copying only over https and on localhost; the text below can be selected.
    navigator.clipboard?.writeText(text).then(() => setCopied(true), () => setCopied(false));
  };
  const why = notApplied(dry, idle);
  return (
    <>
      <div class="actions answer-actions">
        {!idle && may !== false && <Apply job={job} />}
        <button type="button" class={idle ? 'primary' : 'quiet'} aria-expanded={open} onClick={copy}>{copied ? 'Copied' : 'Copy'}</button>
        {why && <span class="muted">{why}</span>}
      </div>
      {open && <CopyPanel job={job} kind={kind} onKind={setKind} />}
    </>
  );
}

// One resource: a bar, and its amounts with three names: owner's, current, recommended.
function Amounts({ job, resource, idle, target, picked, onPick }: { job: JobDetail; resource: Resource; idle: boolean; target: string; picked: boolean; onPick: () => void }) {
  const a = job[resource];
  const real = realLimit(a, idle);
  const owners = a.of === 'request' ? "Owner's request" : "Owner's";
  const one = sameLimit(real, a.owner_limit);
  const facts: [string, string, number | null][] = [['usage', 'Used', a.usage], ['peak', 'Peak', a.peak],
    [one ? 'limit' : 'owner', one ? `${owners}, now` : owners, a.owner_limit], ...(one ? [] : [['limit', 'Now', real] as [string, string, number | null]]),
    a.provisional ? ['would', 'Provisional', a.provisional_limit] : ['would', 'Recommended', a.would_be]];
  const risk = riskOf(resource, a);
  return (
    <button type="button" class="summary" aria-pressed={picked} onClick={onPick}>
      <span class="summary-head"><b>{RESOURCE[resource].title}</b> <span class="muted">{a.of === 'request' ? 'request of each task' : 'each task'}</span></span>
      <Bullet resource={resource} amounts={{ ...a, limit: real }} />
      <span class="summary-facts">
        {facts.map(([key, name, value]) => (
          <span key={name}><span class="muted"><span class={`key key-${key}`} aria-hidden="true" />{name}</span><b>{amount(resource, value)}</b></span>
        ))}
      </span>
      {a.provisional && <span class="summary-risk muted">{provisionalNote(a)}.</span>}
      {risk?.of === 'forecast' && <span class="summary-risk muted">{target} {risk.past}</span>}
    </button>
  );
}

export interface Ordered { own: number | null; fleet: Record<Resource, number | null> | null }

const targetText = ({ own, fleet }: Ordered, resource: Resource): string => {
  if (own !== null) return `The target of this job is ${percent(own)}.`;
  const all = fleet?.[resource] ?? null;
  return all === null ? '' : `The target for all jobs together is ${percent(all)}; single jobs may be above it.`;
};

export function AnswerCard({ job, dry, idle, ordered, resource, onResource }: { job: JobDetail; dry: boolean; idle: boolean; ordered: Ordered; resource: Resource; onResource: (resource: Resource) => void }) {
  const steps = stepsOf(job, idle);
  // Only reasons that block a change are shown. An unchanged limit is not blocked.
  const changing = new Set(steps.filter(({ verb }) => verb !== 'keep' && verb !== 'done').map((step) => step.resource));
  return (
    <section class="card answer" aria-labelledby="answer">
      <h2 id="answer">{answerOf(job, idle)}</h2>
      {steps.length > 0 && <Actions job={job} dry={dry} idle={idle} />}
      {job.holds.filter((hold) => changing.has(hold.resource) && !job.trials.some((trial) => trial.resource === hold.resource && trial.sentence === hold.sentence))
        .map((hold) => <p class="notice" key={hold.resource + hold.sentence}><b>{RESOURCE[hold.resource].title}:</b> {hold.sentence}</p>)}
      <div class="pair summaries">
        {RESOURCES.map((r) => <Amounts key={r} job={job} resource={r} idle={idle} target={targetText(ordered, r)} picked={r === resource} onPick={() => onResource(r)} />)}
      </div>
    </section>
  );
}
