// The whole fleet: current and possible savings, and their history.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useMay } from '../api/may';
import { useQuery } from '../api/query';
import { withParams } from '../api/client';
import { MODES, type DecisionPage, type Fleet, type FleetColumns, type FleetHistory, type Resource, type Status } from '../api/types';
import { amount, count, percent, plural } from '../lib/format';
import { modeHelp } from '../lib/names';
import { AXIS, RESOURCE, RESOURCES } from '../lib/resource';
import { hrefOf, pushHash } from '../lib/route';
import { dryRun } from '../lib/saving';
import { Card, Problem, Segments, Skeleton } from '../ui/basics';
import { Bullet } from '../ui/bullet';
import { Chart, type Series } from '../ui/chart';
import { DecisionList, underWay } from '../ui/decision_list';
import { useNarrow } from '../ui/narrow';
import { FirstData } from './first_data';
import { Headline } from './fleet_headline';
import { FleetLists } from './fleet_lists';
import { FleetReplicas } from './fleet_replicas';
import { Promises } from './promises';

const RANGES = { '1d': 1, '7d': 7, '30d': 30 } as const;
type Range = keyof typeof RANGES;

const whole = (v: number): string => (Number.isInteger(v) ? count(v) : '');
const share = (part: number, whole: number): string => (whole > 0 ? percent(part / whole) : '');

function ResourceFacts({ fleet, resource }: { fleet: Fleet; resource: Resource }) {
  const a = fleet[resource];
  const dry = dryRun(fleet);
  const facts: [string, string, number | null, number | null][] = [
    ['usage', 'Used', a.usage, a.usage_limited],
    [dry ? 'limit' : 'owner', dry ? "Owners', now" : "Owners'", a.owner_limit, null],
    ...(dry ? [] : [['limit', 'Now', a.limit, a.limit] as [string, string, number | null, number | null]]),
    ['would', 'Recommended', a.would_be, a.would_be],
  ];
  const real = dry ? a.owner_limit : a.limit;
  const slack = real === null ? null : Math.max(0, real - a.usage_limited);
  const without = a.usage - a.usage_limited > 0.001 * a.usage;
  return (
    <dl class="keyed">
      {facts.map(([key, name, value, part]) => (
        <div key={key}>
          <dt title={key === 'usage' && without ? `${amount(resource, a.usage - a.usage_limited)} of it by jobs whose owner set no limit` : undefined}><span class={`key key-${key}`} aria-hidden="true" />{name}</dt>
          <dd>{amount(resource, value)} <span class="muted">{part === null || a.owner_limit === null ? '' : share(part, a.owner_limit)}</span></dd>
        </div>
      ))}
      <div>
        <dt title="Limits of now − usage, of the jobs whose owner set a limit">Slack</dt>
        <dd>{amount(resource, slack)} <span class="muted">{real !== null && slack !== null && real > 0 ? share(slack, real) : ''}</span></dd>
      </div>
      <div>
        <dt title="Usage reached 95 % of the limit in the kernel, today or yesterday">Jobs at their limit</dt>
        <dd>{a.jobs_at_limit > 0 ? <a class="bad" href={hrefOf('jobs', { sort: 'tight' })}>{count(a.jobs_at_limit)}</a> : '0'}</dd>
      </div>
    </dl>
  );
}

// The chart has three lines of limits. In a dry run it has only two, because the limits in force are the owners' limits.
function chartSeries(fleet: Fleet, columns: FleetColumns): Series[] {
  const used: Series = { name: 'Used', values: columns.usage, colour: '--usage', style: 'area' };
  const recommended: Series = { name: 'Recommended', values: columns.would_be, colour: '--would', style: 'dash', width: 2 };
  if (dryRun(fleet)) return [used, { name: "Owners', now", values: columns.owner_limit, colour: '--owner', style: 'line', width: 2 }, recommended];
  return [used, { name: "Owners'", values: columns.owner_limit, colour: '--owner', style: 'dots', width: 2 },
    { name: 'Now', values: columns.limit, colour: '--limit', style: 'line', width: 2 }, recommended];
}

function ResourceCard({ fleet, resource, history }: { fleet: Fleet; resource: Resource; history: FleetHistory | null | undefined }) {
  const a = fleet[resource];
  const columns = history?.[resource];
  return (
    <Card title={RESOURCE[resource].title} class="resource">
      <Bullet resource={resource} amounts={dryRun(fleet) ? { ...a, limit: a.owner_limit } : a} />
      <ResourceFacts fleet={fleet} resource={resource} />
      {history === undefined ? null : !history || !columns ? <Skeleton tall /> : (
        <Chart label={`${RESOURCE[resource].title} of the fleet over time`} time={history.time} {...AXIS[resource]} height={230} series={chartSeries(fleet, columns)} />
      )}
    </Card>
  );
}

// The modes' lines are stacked.
function stacked(history: FleetHistory): Series[] {
  let below: number[] = history.time.map(() => 0);
  return [...MODES].reverse().map((mode): Series => {
    const told = history.jobs_by_mode[mode] ?? history.time.map(() => 0);
    below = below.map((sum, i) => sum + (told[i] ?? 0));
    return { name: mode, values: below, told, colour: `--mode-${mode}`, style: 'stack' };
  }).reverse();
}

function Coverage({ fleet, history }: { fleet: Fleet; history: FleetHistory | null | undefined }) {
  const order = [...MODES].reverse();
  return (
    <Card title="Coverage" hint={`${plural(fleet.jobs, 'job')} with ${plural(fleet.tasks, 'task')}, by mode.`}>
      <div class="coverage" role="img" aria-label={order.map((mode) => `${mode} ${count(fleet.jobs_by_mode[mode])}`).join(', ')}>
        {order.map((mode) => fleet.jobs_by_mode[mode] > 0 && (
          <span key={mode} class={`fill-${mode}`} style={{ flexGrow: fleet.jobs_by_mode[mode] }} title={`${mode}: ${count(fleet.jobs_by_mode[mode])} jobs`} />
        ))}
      </div>
      <ul class="coverage-list">
        {order.map((mode) => (
          <li key={mode}>
            <a href={hrefOf('jobs', { mode })}>
              <span class={`dot fill-${mode}`} aria-hidden="true" /><b>{mode}</b> <span class="muted">{modeHelp(mode, dryRun(fleet))}</span>
              <span class="figure">{plural(fleet.jobs_by_mode[mode], 'job')} <span class="muted">{share(fleet.jobs_by_mode[mode], fleet.jobs)}</span></span>
            </a>
          </li>
        ))}
      </ul>
      {history === undefined ? null : !history ? <Skeleton tall /> : (
        <Chart label="Jobs by mode over time" time={history.time} height={130} format={count} tick={whole} series={stacked(history)} bare />
      )}
    </Card>
  );
}

function Bars({ name, colour, history, values }: { name: string; colour: string; history: FleetHistory; values: number[] }) {
  if (values.every((v) => v === 0)) return <p class="no-bars">No {name.replace('L', 'l')} in this time.</p>;
  return (
    <Chart label={`${name} over time`} time={history.time} height={134} format={count} tick={whole}
      series={[{ name, values, colour, style: 'bars' }]} />
  );
}

function Events({ history, fleet }: { history: FleetHistory | null; fleet: Fleet }) {
  return (
    <Card title="OOM kills and limit changes"
      hint={`${plural(fleet.oom_kills_day ?? 0, 'OOM kill')} and ${plural(fleet.changes_day ?? 0, 'limit change')}${dryRun(fleet) ? ' that would have been made' : ''} in the last 24 h.`}>
      {!history ? <Skeleton tall /> : (
        <>
          <Bars name="OOM kills" colour="--bad" history={history} values={history.oom_kills} />
          <Bars name="Limit changes" colour="--limit" history={history} values={history.changes} />
        </>
      )}
    </Card>
  );
}

function Recent() {
  const decisions = useQuery<DecisionPage>(withParams('decisions', { limit: 60 }),
    { on: ['decision', 'window'], keep: true, every: (page) => underWay(page?.decisions) });
  return (
    <Card title="Recent decisions" tools={<a href={hrefOf('decisions')}>All decisions</a>}>
      {decisions.data ? <DecisionList decisions={decisions.data.decisions} most={8} /> : decisions.error ? <Problem text={decisions.error.message} retry={decisions.reload} /> : <Skeleton lines={8} />}
    </Card>
  );
}

// On a phone, the content is hidden until a button is pressed, because the content would fill nine screens.
function Folded({ what, children }: { what: string; children: ComponentChildren }) {
  const narrow = useNarrow();
  const [open, setOpen] = useState(false);
  if (!narrow || open) return <>{children}</>;
  return <p class="more"><button type="button" class="quiet" onClick={() => setOpen(true)}>More: {what}</button></p>;
}

export function FleetPage({ query }: { query: Record<string, string> }) {
  const range: Range = query.range !== undefined && query.range in RANGES ? (query.range as Range) : '7d';
  const fleet = useQuery<Fleet>('fleet', { on: ['window'], keep: true });
  const status = useQuery<Status>('status', { on: ['window'], keep: true });
  const end = fleet.data?.time ?? null;
  // Totals over time cover all groups.
  const platform = useMay('see_platform');
  const path = end === null || platform !== true ? null
    : withParams('fleet/history', { from: end - RANGES[range] * 86400, to: end, points: range === '1d' ? 288 : 336 });
  const history = useQuery<FleetHistory>(path, { keep: true });
  const events = useQuery<FleetHistory>(end === null || platform !== true ? null
    : withParams('fleet/history', { from: end - RANGES[range] * 86400, to: end, points: { '1d': 48, '7d': 56, '30d': 60 }[range] }), { keep: true });

  if (!fleet.data) {
    return <div class="wide lead">{fleet.error ? <Problem text={fleet.error.message} retry={fleet.reload} /> : <Skeleton lines={6} />}</div>;
  }
  if (fleet.data.time === null || fleet.data.jobs === 0) return <FirstData status={status.data} />;
  return (
    <>
      <Headline fleet={fleet.data} status={status.data} />
      <div class="wide">
        <FleetLists fleet={fleet.data} />
        <Folded what="usage over time, replicas, coverage, events and decisions">
          {platform !== false && <div class="tools-row">
            <Segments label="Range of time" value={range} onPick={(next) => pushHash(hrefOf('fleet', { range: next === '7d' ? '' : next }))}
              choices={[{ value: '1d', label: '1 day' }, { value: '7d', label: '7 days' }, { value: '30d', label: '30 days' }]} />
            {history.error && <Problem text={history.error.message} retry={history.reload} />}
          </div>}
          <div class="pair">
            {RESOURCES.map((r) => <ResourceCard key={r} fleet={fleet.data!} resource={r} history={platform === false ? undefined : history.data} />)}
          </div>
          <FleetReplicas replicas={fleet.data.replicas} />
          <div class="pair">
            <Coverage fleet={fleet.data} history={platform === false ? undefined : history.data} />
            {platform !== false && <Events fleet={fleet.data} history={events.data} />}
          </div>
          {platform === true && <Promises />}
          <Recent />
        </Folded>
      </div>
    </>
  );
}
