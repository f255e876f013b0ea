// One job: what it uses, which limits it has and why, what others would do, and what people set.
import { useQuery } from '../../api/query';
import { jobPath } from '../../api/client';
import { dryRun, notSet, nothingManaged, pendingLimit, realLimit, riskOf, tightness, provisionalNote } from '../../lib/saving';
import type { Fleet, JobAmounts, JobDetail, Resource } from '../../api/types';
import { bytes, amount, listed, percent, plural, words } from '../../lib/format';
import { now } from '../../lib/clock';
import { isTime } from '../../lib/time';
import { KILLING_FIRST, RESOURCE, RESOURCES, resourceOf } from '../../lib/resource';
import { hrefOf, jobHref, replaceHash } from '../../lib/route';
import { ModeBadge, Problem, Skeleton, Time } from '../../ui/basics';
import { Bullet } from '../../ui/bullet';
import { ExplainCard } from './explain';
import { NextCard } from './next';
import { JobDecisions } from './history';
import { ReplicasCard } from './replicas';
import { SettingsCard } from './settings';
import { Trials } from './trials';
import { UsageCard, type Range } from './usage';
import { WhatIfCard } from './whatif';

function Header({ job, dry, idle }: { job: JobDetail; dry: boolean; idle: boolean }) {
  return (
    <section class="wide lead job-lead">
      <p class="crumbs"><a href={hrefOf('jobs')}>Jobs</a> <span aria-hidden="true">/</span></p>
      <h1 class="job-title">{job.name} <ModeBadge mode={job.mode} /></h1>
      <p class="job-facts muted">
        <span>{plural(job.tasks, 'task')}</span>
        {RESOURCES.every((r) => job[r].recommender === job[RESOURCES[0]].recommender) ? <span>limits by <b>{words(job[RESOURCES[0]].recommender)}</b></span>
          : <span>{RESOURCES.map((r, i) => <>{i > 0 && ', '}{RESOURCE[r].word} limit by <b>{words(job[r].recommender)}</b></>)}</span>}
        <span>{isTime(job.first_seen) ? <>seen since <Time at={job.first_seen} /></> : 'not measured yet'}</span>
        {job.last_seen !== null && now() - job.last_seen > 3600 && <span class="bad">last seen <Time at={job.last_seen} age /></span>}
        <span>{job.last_change === null ? 'limits never changed' : <>{dry ? 'last change (dry run)' : idle ? 'last change (not applied)' : 'last change'} <Time at={job.last_change} age /></>}</span>
        <span class={job.ooms > 0 ? 'bad' : ''}>{job.ooms > 0 ? plural(job.ooms, 'OOM kill') : 'no OOM kill'} in 7 days</span>
        {job.memory_needed !== null && <span title="Found by probing: memory.high was lowered until the task stalled on memory. Of the task that needs most.">needs <b>{bytes(job.memory_needed.bytes)}</b> of memory (probed)</span>}
        {job.pod !== null && job.pod.containers > 1 && <span title="Recommended for all containers of a pod together. Containers without a recommendation count with what they have.">pod of {job.pod.containers} containers: requests {listed(RESOURCES.map((r) => <b>{amount(r, job.pod![r].request)}</b>))}, limits {listed(RESOURCES.map((r) => (job.pod![r].limit === null ? `no ${RESOURCE[r].word}` : amount(r, job.pod![r].limit))))}</span>}
        {job.throttled_share !== null && <span class={job.throttled_share >= 0.05 ? 'bad' : ''} title="Share of the CFS periods of about the last day">CPU throttled in {percent(job.throttled_share)} of periods</span>}
      </p>
      {Object.keys(job.labels).length > 0 && (
        <ul class="labels" aria-label="Labels">
          {Object.entries(job.labels).map(([key, value]) => (
            <li key={key}><a href={hrefOf('jobs', { search: `${key}=${value}` })} title="Jobs with this label"><span class="muted">{key}=</span>{value}</a></li>
          ))}
        </ul>
      )}
      {tightness(job).length > 0 && <p class="notice tight"><b>Too tight:</b> {tightness(job).join('; ')}.</p>}
      {idle && !dry && job.mode !== 'off' && job.mode !== 'observe' && <p class="notice"><b>Measured only:</b> no agent may set limits for this job, so its tasks run at the owner's limits, and its decisions are recorded but not applied.</p>}
      {job.notices.map((notice) => <p class="notice" key={notice}>{notice}</p>)}
      {job.holds.filter((hold) => !job.trials.some((trial) => trial.resource === hold.resource && trial.sentence === hold.sentence)).map((hold) => <p class="notice" key={hold.resource + hold.sentence}><b>{RESOURCE[hold.resource].title}:</b> {hold.sentence}</p>)}
    </section>
  );
}

function Summary({ resource, a, idle, ordered, own, work, picked, onPick }: { resource: Resource; a: JobAmounts; idle: boolean; ordered: number | null; own: number | null; work: number | null; picked: boolean; onPick: () => void }) {
  const real = realLimit(a, idle);
  const pending = pendingLimit(a, idle);
  const facts: [string, string, number | null][] = [['usage', 'Used', a.usage], ['peak', 'Peak', a.peak], ['limit', 'In force', real],
    ...(pending !== null ? [['limit', idle ? 'Would be set' : 'Ordered', pending] as [string, string, number | null]] : []),
    a.provisional ? ['would', 'Provisional', a.provisional_limit] : ['would', 'Would be in auto', a.would_be], ['owner', a.of === 'request' ? "Owner's request" : "Owner's", a.owner_limit]];
  const risk = riskOf(resource, a);
  const saved = a.owner_limit !== null && a.would_be !== null && a.owner_limit > 0 ? 1 - a.would_be / a.owner_limit : null;
  return (
    <button type="button" class="summary card" aria-pressed={picked} onClick={onPick}>
      <span class="summary-head">
        <b>{RESOURCE[resource].title}</b>
        <span class="muted">{a.of === 'request' ? 'request of each task' : 'each task'}{saved === null ? '' : saved >= 0 ? `; auto would save ${percent(saved)}` : `; auto would add ${percent(-saved)}`}</span>
      </span>
      <Bullet resource={resource} amounts={{ ...a, limit: real }} />
      <span class="summary-facts">
        {facts.map(([key, name, value]) => (
          <span key={key}><span class="muted"><span class={`key key-${key}`} aria-hidden="true" />{name}</span><b>{amount(resource, value)}</b></span>
        ))}
      </span>
      {work !== null && <span class="summary-risk muted">Target of this job: {percent(work)} of its {RESOURCE[resource].word} work throttled.</span>}
      {a.provisional && <span class="summary-risk muted">{provisionalNote(a)}.</span>}
      {risk && (
        <span class="summary-risk muted" title={risk.title}>
          Risk at the limit that would be: {risk.label}{risk.of === 'forecast' && own !== null && <> ({percent(own)} is the target of this job)</>}
          {risk.of === 'forecast' && own === null && ordered !== null && <>
            {' '}({percent(ordered)} is the target for all jobs together; single jobs may be above or below it)</>}.
          {risk.of === 'forecast' && risk.past && <> {risk.past}</>}
        </span>
      )}
    </button>
  );
}

const RANGES: Range[] = ['1d', '7d', '30d'];

export function JobPage({ name, query }: { name: string; query: Record<string, string> }) {
  const job = useQuery<JobDetail>(jobPath(name), { on: ['window', 'setting', 'oom'], keep: true });
  const fleet = useQuery<Fleet>('fleet', { on: ['window'], keep: true });
  const dry = dryRun(fleet.data);
  const resource = resourceOf(query.resource, KILLING_FIRST[0]);
  const range: Range = RANGES.find((r) => r === query.range) ?? '7d';
  const go = (change: Record<string, string>) => {
    const next = { ...query, ...change };
    replaceHash(jobHref(name, { ...next, resource: next.resource === KILLING_FIRST[0] ? '' : next.resource ?? '', range: next.range === '7d' ? '' : next.range ?? '' }));
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
  return (
    <>
      <Header job={job.data} dry={dry} idle={idle} />
      <div class="wide">
        <div class="pair summaries">
          {RESOURCES.map((r) => (
            <Summary key={r} resource={r} a={job.data![r]} idle={idle} ordered={fleet.data?.[r].ordered ?? null} own={job.data!.risk} work={RESOURCE[r].atLimit.kills ? null : job.data!.throttled} picked={r === resource} onPick={() => go({ resource: r })} />
          ))}
        </div>
        <UsageCard dry={idle} managed={!nothingManaged(fleet.data)} name={name} resource={resource} range={range} onRange={(next) => go({ range: next })} onResource={(next) => go({ resource: next })} />
        <NextCard job={job.data} dry={dry} idle={idle} />
        <Trials job={job.data} />
        <ReplicasCard job={job.data} range={range} onRange={(next) => go({ range: next })} />
        <ExplainCard name={name} resource={resource} />
        <WhatIfCard key={resource} name={name} resource={resource} recommender={job.data[resource].recommender} />
        <JobDecisions name={name} resource={resource} />
        <SettingsCard name={name} />
      </div>
    </>
  );
}
