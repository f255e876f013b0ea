// One job: what to do about its limits and its usage; tabs show the reason, alternatives, decisions and settings.
import { useQuery } from '../../api/query';
import { jobPath } from '../../api/client';
import { byResource, KILLING_FIRST, RESOURCE, RESOURCES, resourceOf } from '../../lib/resource';
import { dryRun, notSet } from '../../lib/saving';
import type { Fleet, JobDetail } from '../../api/types';
import { bytes, amount, listed, percent, plural, words } from '../../lib/format';
import { now } from '../../lib/clock';
import { isTime } from '../../lib/time';
import { jobNameOf } from '../../lib/job_name';
import { hrefOf, jobHref, replaceHash } from '../../lib/route';
import { ModeBadge, Problem, Skeleton, Time } from '../../ui/basics';
import { Tabs, type Tab } from '../../ui/tabs';
import { AnswerCard } from './answer';
import { ExplainCard } from './explain';
import { JobDecisions } from './history';
import { ReplicasCard } from './replicas';
import { SettingsCard } from './settings';
import { Trials } from './trials';
import { UsageCard, type Range } from './usage';
import { WhatIfCard } from './whatif';

function Header({ job, dry, idle }: { job: JobDetail; dry: boolean; idle: boolean }) {
  const { title, detail, place } = jobNameOf(job);
  return (
    <section class="wide lead job-lead">
      <p class="crumbs"><a href={hrefOf('jobs')}>Jobs</a> <span aria-hidden="true">/</span> {place}</p>
      <h1 class="job-title" title={job.name}>{title}{detail && <span class="muted">{detail}</span>} <ModeBadge mode={job.mode} /></h1>
      <p class="job-facts muted">
        <span>{plural(job.tasks, 'task')}</span>
        {!isTime(job.first_seen) && <span>not measured yet</span>}
        {job.last_seen !== null && now() - job.last_seen > 3600 && <span class="bad">last seen <Time at={job.last_seen} age /></span>}
        <span>{job.last_change === null ? 'limits never changed' : <>{dry ? 'last decision' : idle ? 'last change (not applied)' : 'last change'} <Time at={job.last_change} age /></>}</span>
        <span class={job.ooms > 0 ? 'bad' : ''}>{job.ooms > 0 ? plural(job.ooms, 'OOM kill') : 'no OOM kill'} in 7 days</span>
        {KILLING_FIRST.filter((r) => job[r].at_limit && RESOURCE[r].atLimit.kills).map((r) => <span key={r} class="bad">{RESOURCE[r].word} use reached its limit today or yesterday</span>)}
        {job.throttled_share !== null && job.throttled_share >= 0.05 && <span class="bad" title="Share of the CFS periods of about the last day">CPU throttled in {percent(job.throttled_share)} of periods</span>}
      </p>
      {idle && !dry && job.mode !== 'off' && job.mode !== 'observe' && <p class="notice"><b>Measured only:</b> no agent may set limits for this job, so its tasks run at the owner's limits, and its decisions are recorded but not applied.</p>}
    </section>
  );
}

// Facts about the job besides its limits.
function About({ job }: { job: JobDetail }) {
  const one = RESOURCES.every((r) => job[r].recommender === job[RESOURCES[0]].recommender);
  const { pod, memory_needed: needed } = job;
  return (
    <details class="card about-job">
      <summary>About this job{job.notices.length > 0 && <span class="muted">, with {plural(job.notices.length, 'note')}</span>}</summary>
      {job.notices.map((notice) => <p class="hint" key={notice}>{notice}</p>)}
      <dl class="keyed">
        <div><dt>Name</dt><dd>{job.name}</dd></div>
        <div><dt>Seen since</dt><dd>{isTime(job.first_seen) ? <Time at={job.first_seen} /> : 'not measured yet'}</dd></div>
        <div><dt>Limits by</dt><dd>{one ? words(job[RESOURCES[0]].recommender) : RESOURCES.map((r) => `${RESOURCE[r].word}: ${words(job[r].recommender)}`).join(', ')}</dd></div>
        {needed !== null && <div><dt title="Found by probing: memory.high was lowered until the task stalled on memory. Of the task that needs most.">Needs of memory (probed)</dt><dd>{bytes(needed.bytes)}</dd></div>}
        {job.throttled_share !== null && <div><dt title="Share of the CFS periods of about the last day">CPU throttled in</dt><dd>{percent(job.throttled_share)} of periods</dd></div>}
        {pod !== null && pod.containers > 1 && (
          <div>
            <dt title="Recommended for all containers of a pod together. Containers without a recommendation count with what they have.">Pod of {pod.containers} containers</dt>
            <dd>requests {listed(RESOURCES.map((r) => amount(r, pod[r].request)))}, limits {listed(RESOURCES.map((r) => (pod[r].limit === null ? `no ${RESOURCE[r].word}` : amount(r, pod[r].limit))))}</dd>
          </div>
        )}
      </dl>
      {Object.keys(job.labels).length > 0 && (
        <ul class="labels" aria-label="Labels">
          {Object.entries(job.labels).map(([key, value]) => (
            <li key={key}><a href={hrefOf('jobs', { search: `${key}=${value}` })} title="Jobs with this label"><span class="muted">{key}=</span>{value}</a></li>
          ))}
        </ul>
      )}
    </details>
  );
}

const RANGES: Range[] = ['1d', '7d', '30d'];
type TabName = 'why' | 'replicas' | 'whatif' | 'decisions' | 'settings';
const tabsOf = (job: JobDetail): Tab<TabName>[] => [{ value: 'why', label: 'Why' }, ...(job.replicas ? [{ value: 'replicas' as const, label: 'Replicas' }] : []),
  { value: 'whatif', label: 'What if' }, { value: 'decisions', label: 'Decisions' }, { value: 'settings', label: 'Settings' }];

export function JobPage({ name, query }: { name: string; query: Record<string, string> }) {
  const job = useQuery<JobDetail>(jobPath(name), { on: ['window', 'setting', 'oom'], keep: true });
  const fleet = useQuery<Fleet>('fleet', { on: ['window'], keep: true });
  const dry = dryRun(fleet.data);
  const resource = resourceOf(query.resource, KILLING_FIRST[0]);
  const range: Range = RANGES.find((r) => r === query.range) ?? '7d';
  const go = (change: Record<string, string>) => {
    const next = { ...query, ...change };
    replaceHash(jobHref(name, { ...next, resource: next.resource === KILLING_FIRST[0] ? '' : next.resource ?? '', range: next.range === '7d' ? '' : next.range ?? '', tab: next.tab === 'why' ? '' : next.tab ?? '' }));
  };

  if (!job.data) {
    if (job.error?.status === 404) {
      return (
        <div class="wide lead">
          <h1>Job not found</h1>
          <p class="gloss">tautd has not seen <code>{name}</code>. <a href={hrefOf('jobs', { search: name })}>Search the jobs for it</a></p>
        </div>
      );
    }
    return <div class="wide lead">{job.error ? <Problem text={job.error.message} retry={job.reload} /> : <Skeleton lines={6} />}</div>;
  }
  const idle = notSet(job.data, dry);
  const onResource = (next: string) => go({ resource: next });
  const onRange = (next: Range) => go({ range: next });
  const tabs = tabsOf(job.data);
  const tab = tabs.find(({ value }) => value === query.tab)?.value ?? 'why';
  return (
    <>
      <Header job={job.data} dry={dry} idle={idle} />
      <div class="wide">
        <AnswerCard job={job.data} dry={dry} idle={idle} resource={resource} onResource={onResource}
          ordered={{ own: job.data.risk, fleet: fleet.data && byResource((r) => fleet.data![r].ordered) }} />
        <UsageCard idle={idle} name={name} resource={resource} range={range} onRange={onRange} onResource={onResource} />
        <Trials job={job.data} />
        <Tabs label="More of this job" tabs={tabs} value={tab} onPick={(next) => go({ tab: next })}>
          {tab === 'why' && <><ExplainCard name={name} resource={resource} /><About job={job.data} /></>}
          {tab === 'replicas' && <ReplicasCard job={job.data} range={range} onRange={onRange} />}
          {tab === 'whatif' && <WhatIfCard key={resource} name={name} resource={resource} recommender={job.data[resource].recommender} />}
          {tab === 'decisions' && <JobDecisions name={name} resource={resource} />}
          {tab === 'settings' && <SettingsCard name={name} />}
        </Tabs>
      </div>
    </>
  );
}
