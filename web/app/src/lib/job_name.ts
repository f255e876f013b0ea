// A job's name in two lines for people: what the job is called, and where it runs. The name itself stays the key everywhere.

// Kinds of workloads as a name has them: [CELL/]NAMESPACE/KIND/NAME[/CONTAINER].
const KINDS = new Set(['deployment', 'statefulset', 'daemonset', 'cronjob', 'job', 'replicaset', 'replicationcontroller', 'pod', 'deploymentconfig', 'rollout']);

// `detail` follows the title in a quieter colour: the container of a workload.
export interface JobName { title: string; detail: string; place: string }

export function jobNameOf(name: string): JobName {
  const parts = name.split('/');
  const at = parts.findIndex((part, i) => i > 0 && i <= 2 && i < parts.length - 1 && KINDS.has(part));
  if (at < 0) return { title: parts[parts.length - 1] || name, detail: '', place: parts.slice(0, -1).join(' / ') };
  const place = [parts[at - 1], parts[at], ...parts.slice(0, at - 1)];
  return { title: parts[at + 1] ?? name, detail: parts.slice(at + 2).map((part) => `/${part}`).join(''), place: place.join(' · ') };
}
