// The headline, the key figures, and the conditions of the replay.
import type { ComponentChildren } from 'preact';
import type { Resource } from '../api/types';
import { amount, bytes, capital, count, percent, plural, significant, words } from '../lib/format';
import { KILLING_FIRST, RESOURCE } from '../lib/resource';
import { dayName } from '../lib/time';
import { Card } from '../ui/basics';
import { type Lane, type Report, type Sum, dayTime, hasOwner } from './data';
import { colourOf } from './marks';
import { type View, laneOf } from './view';

const jobCount = (lane: Lane): number => lane.jobs.job_days.filter((days) => days > 0).length;

export function Headline({ view }: { view: View }) {
  const { lane } = view;
  const { resource } = lane;
  const { word, atLimit } = RESOURCE[resource];
  const jobs = plural(jobCount(lane), 'job');
  const name = <span class="name" style={{ color: `var(${colourOf(lane.policy)})` }}>{words(lane.policy)}</span>;
  const risk = <>, at <em>{percent(lane.sum.oom_day_share)}</em> {atLimit.days}.</>;
  if (lane.policy === 'static') {
    return <>With {name} limits, as their owners set them, {jobs} hold <em>{amount(resource, lane.sum.limit)}</em> of {word} and use <em>{amount(resource, lane.sum.usage)}</em>{risk}</>;
  }
  if (!hasOwner(lane)) return <>With {name}, {jobs} would have needed <em>{significant(lane.sum.of_usage)} times</em> the {word} they used{risk}</>;
  return <>With {name}, {jobs} would have needed <em>{percent(lane.sum.of_owner)}</em> of the {word} their owners reserved{risk}</>;
}

function Tile({ name, big, children }: { name: string; big: string; children: ComponentChildren }) {
  return <dl class="tile"><dt>{name}</dt><dd class="big">{big}</dd><dd class="sub">{children}</dd></dl>;
}

function SavedTile({ view, resource }: { view: View; resource: Resource }) {
  const lane = laneOf(view.report, resource, view.lane.policy);
  if (!lane) return null;
  if (!hasOwner(lane)) return <Tile name={`${RESOURCE[resource].title} held`} big={amount(resource, lane.sum.limit)}>the trace has no owner’s limits</Tile>;
  const saved = lane.sum.owner - lane.sum.limit_owned;
  return (
    <Tile name={`${RESOURCE[resource].title} ${saved >= 0 ? 'saved' : 'needed more'}`} big={amount(resource, Math.abs(saved))}>
      of {amount(resource, lane.sum.owner)} reserved, on average
    </Tile>
  );
}

export function Tiles({ view }: { view: View }) {
  const { lane } = view;
  const { word, atLimit } = RESOURCE[lane.resource];
  const owner = laneOf(view.report, lane.resource, 'static');
  const against = (figure: (sum: Sum) => string) => (owner && owner !== lane ? `; static: ${figure(owner.sum)}` : '');
  return (
    <section class="tiles" aria-label="Key figures">
      {KILLING_FIRST.map((r) => <SavedTile key={r} view={view} resource={r} />)}
      <Tile name={`Mean slack, ${word}`} big={percent(lane.sum.slack_mean)}>of the limit goes unused{against((s) => percent(s.slack_mean))}</Tile>
      <Tile name={capital(atLimit.days)} big={percent(lane.sum.oom_day_share)}>
        {count(lane.sum.oom_days)} of {plural(lane.sum.job_days, 'job-day')}{against((s) => percent(s.oom_day_share))}
      </Tile>
      <Tile name="Limit changes" big={significant(lane.sum.changes_mean)}>a job-day; {percent(lane.sum.unchanged_share)} of job-days without any</Tile>
    </section>
  );
}

export function Replayed({ report }: { report: Report }) {
  const day = (d: number) => dayName(dayTime(d));
  const facts: [string, ComponentChildren][] = [
    ['Trace', report.title],
    ['Replayed', `${day(report.first_day)} to ${day(report.last_day)} (${plural(report.days_done, 'day')})`],
    ['Scored', `from ${day(report.first_scored_day)}; the days before are warm-up, replayed but not scored`],
    ['Work', `${plural(report.jobs.length, 'job')}, ${plural(report.job_windows, 'job-window')} of 5 minutes`],
    ['State kept', `${bytes(report.state_bytes_per_job)} a job, all recommenders together`],
    ['Command', <code>{report.command}</code>],
  ];
  return (
    <Card title="What was replayed">
      {report.partial && (
        <p class="problem">Partial: the replay was stopped after {count(report.days_done)} of {plural(report.days_total, 'day')}. All figures are of those days.</p>
      )}
      <dl class="run-facts">{facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
      {report.notes.length > 0 && <ul class="notes">{report.notes.map((note, i) => <li key={i}>{note}</li>)}</ul>}
    </Card>
  );
}
