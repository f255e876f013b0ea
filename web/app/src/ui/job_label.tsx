// The two lines of a job's name.
import { jobNameOf, type Named } from '../lib/job_name';
import { jobHref } from '../lib/route';

export function JobLabel({ job }: { job: Named }) {
  const { title, detail, place } = jobNameOf(job);
  return (
    <span class="job-label">
      <span class="job-title-line">{title}{detail && <span class="muted">{detail}</span>}</span>{' '}
      {place && <span class="job-place">{place}</span>}
    </span>
  );
}

export function JobLink({ job, href = jobHref(job.name) }: { job: Named; href?: string }) {
  return <a class="job-link" href={href} title={job.name}><JobLabel job={job} /></a>;
}
