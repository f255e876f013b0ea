// The two lines of a job's name.
import { jobNameOf } from '../lib/job_name';
import { jobHref } from '../lib/route';

export function JobLabel({ name }: { name: string }) {
  const { title, detail, place } = jobNameOf(name);
  return (
    <span class="job-label">
      <span class="job-title-line">{title}{detail && <span class="muted">{detail}</span>}</span>{' '}
      {place && <span class="job-place">{place}</span>}
    </span>
  );
}

export function JobLink({ name, href = jobHref(name) }: { name: string; href?: string }) {
  return <a class="job-link" href={href} title={name}><JobLabel name={name} /></a>;
}
