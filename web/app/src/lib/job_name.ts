// A job's name in two lines for people: its title, and where it runs. The full name remains the key everywhere.
import type { Workload } from '../api/types';

// `detail` follows the title in a lighter colour: the container of a workload.
export interface JobName { title: string; detail: string; place: string }
export interface Named { name: string; workload: Workload | null }

export function jobNameOf({ name, workload }: Named): JobName {
  if (workload === null) {
    // A user's rule made this name, so the meaning of its parts is unknown. The last part is the title.
    const parts = name.split('/');
    return { title: parts[parts.length - 1] || name, detail: '', place: parts.slice(0, -1).join(' / ') };
  }
  const place = [workload.namespace, workload.kind, workload.cluster].filter((part) => part !== null);
  const title = workload.group === null ? workload.name : `${workload.name}@${workload.group}`;
  return { title, detail: workload.container === null ? '' : `/${workload.container}`, place: place.join(' · ') };
}
