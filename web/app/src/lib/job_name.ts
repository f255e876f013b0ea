// A job's name in two lines for people: its title, and where it runs. The full name remains the key everywhere.
import type { Workload } from '../api/types';

// Parses names, as decisions contain them: [CELL/]NAMESPACE/KIND/NAME[/CONTAINER].
const KINDS = new Set(['deployment', 'statefulset', 'daemonset', 'cronjob', 'job', 'replicaset', 'replicationcontroller', 'pod', 'deploymentconfig', 'rollout', 'service', 'sparkapplication', 'workflow']);

// `detail` follows the title in a lighter colour: the container of a workload.
export interface JobName { title: string; detail: string; place: string }
// The response has no workload, and does not say whether there is one.
export interface Named { name: string; workload?: Workload | null }

function workloadIn(name: string): Workload | null {
  const parts = name.split('/');
  const at = parts.findIndex((part, i) => i > 0 && i <= 2 && i < parts.length - 1 && parts.length - i <= 3 && KINDS.has(part));
  if (at < 0) return null;
  return { source: 'kubernetes', cluster: parts[at - 2] ?? null, namespace: parts[at - 1] ?? '', kind: parts[at] ?? '', name: parts[at + 1] ?? '', container: parts[at + 2] ?? null };
}

export function jobNameOf({ name, workload = workloadIn(name) }: Named): JobName {
  if (workload === null) {
    const parts = name.split('/');
    return { title: parts[parts.length - 1] || name, detail: '', place: parts.slice(0, -1).join(' / ') };
  }
  const place = [workload.namespace, workload.kind, workload.cluster].filter((part) => part !== null);
  return { title: workload.name, detail: workload.container === null ? '' : `/${workload.container}`, place: place.join(' · ') };
}
