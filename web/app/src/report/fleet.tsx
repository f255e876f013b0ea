// The fleet day by day: limits in force compared with owners' limits and usage, and days on which a limit was too low.
import { useMemo } from 'preact/hooks';
import type { Amount } from '../api/types';
import { amount, capital, count, percent, percentTick, plural } from '../lib/format';
import { AXIS, RESOURCE } from '../lib/resource';
import { Card } from '../ui/basics';
import { Chart, type Series, Swatch } from '../ui/chart';
import { DAY_S, type FleetDays, type Lane, dayTime, hasOwner } from './data';
import { LineChips, lineOf } from './marks';
import { type View, laneOf } from './view';

// A day without any job is a gap.
function byDay(fleet: FleetDays, days: number[], value: (i: number) => Amount): Amount[] {
  const at = new Map(fleet.day.map((day, i) => [day, i]));
  return days.map((day) => {
    const i = at.get(day);
    return i === undefined ? null : value(i);
  });
}

const limits = (lane: Lane, days: number[]): Amount[] => byDay(lane.fleet, days, (i) => lane.fleet.limit[i] ?? null);
const shareOfDay = ({ fleet }: Lane) => (i: number): number => ((fleet.job_days[i] ?? 0) > 0 ? (fleet.oom_days[i] ?? 0) / (fleet.job_days[i] ?? 1) : 0);

function limitSeries(view: View, days: number[]): Series[] {
  const { lane, drawn, report } = view;
  const usage: Series = { name: 'usage, mean', colour: '--usage', style: 'area', values: byDay(lane.fleet, days, (i) => lane.fleet.usage[i] ?? null) };
  const owners: Series = { name: 'owners’ limits', colour: '--owner', style: 'dash',
    values: byDay(lane.fleet, days, (i) => ((lane.fleet.owner[i] ?? 0) > 0 ? lane.fleet.owner[i] ?? null : null)) };
  return [usage, ...(hasOwner(lane) && !laneOf(report, lane.resource, 'static') ? [owners] : []), ...drawn.map((l) => ({ ...lineOf(view, l.policy), values: limits(l, days) }))];
}

export function FleetCard({ view }: { view: View }) {
  const { report, lane, drawn } = view;
  const { base, format, tick } = AXIS[lane.resource];
  const { atLimit } = RESOURCE[lane.resource];
  const days = useMemo(() => Array.from({ length: report.last_day - report.first_day + 1 }, (_, i) => report.first_day + i), [report]);
  const time = useMemo(() => days.map(dayTime), [days]);
  const jobs = useMemo(() => byDay(lane.fleet, days, (i) => lane.fleet.job_days[i] ?? null), [lane, days]);
  const owner = useMemo(() => byDay(lane.fleet, days, (i) => lane.fleet.owner[i] ?? null), [lane, days]);
  const byStatic = laneOf(report, lane.resource, 'static') !== undefined;  // without it, owners' limits are a line of their own
  const shade = { until: (report.first_scored_day - 0.5) * DAY_S, text: 'warm-up' };
  const note = (i: number) => (
    <>
      {byStatic && (owner[i] ?? 0) > 0 && <p>owners’ limits <b>{amount(lane.resource, owner[i])}</b></p>}
      <p class="muted">{(days[i] ?? 0) < report.first_scored_day ? 'warm-up, not scored' : plural(jobs[i] ?? 0, 'job')}</p>
    </>
  );
  const hurt = drawn.map((l) => ({ ...lineOf(view, l.policy), values: byDay(l.fleet, days, shareOfDay(l)) }));
  return (
    <Card title="The fleet over time" hint={`Limits in force, summed over all jobs and averaged over each day. The shaded area is what was really used${
      byStatic ? '; static is what the owners reserved' : ''}.`}>
      <LineChips view={view}><span class="chip fixed"><Swatch name="--usage" style="area" />usage</span></LineChips>
      <Chart bare label="Limits in force, usage and the owners’ limits per day" time={time} series={limitSeries(view, days)} height={300} shade={shade}
        base={base} format={format} tick={tick} sorted more={note} />
      <h3>{capital(atLimit.days)}, share of each day’s jobs</h3>
      <Chart bare label={`${atLimit.days} per day, one line a recommender`} time={time} series={hurt} height={190} shade={shade}
        format={percent} tick={percentTick} sorted more={(i) => <p class="muted">of {count(jobs[i])} jobs</p>} />
    </Card>
  );
}
