// The card with the usage heatmap.
import { useMemo } from 'preact/hooks';
import { useQuery } from '../../api/query';
import { jobPath, withParams } from '../../api/client';
import type { Amount, Fleet, Heatmap, Resource } from '../../api/types';
import { amount, percent } from '../../lib/format';
import { RESOURCE, RESOURCE_CHOICES } from '../../lib/resource';
import { Card, Problem, Segments, Skeleton } from '../../ui/basics';
import { Swatch } from '../../ui/chart';
import { HeatScale, HeatmapView } from '../../ui/heatmap';
import { type LimitLine, fitted, quantile } from '../../ui/heatmap_scale';

export type Range = '1d' | '7d' | '30d';
export const DAYS: Record<Range, number> = { '1d': 1, '7d': 7, '30d': 30 };
export const RANGES: { value: Range; label: string }[] = [{ value: '1d', label: '1 day' }, { value: '7d', label: '7 days' }, { value: '30d', label: '30 days' }];
const COLUMNS: Record<Range, number> = { '1d': 288, '7d': 336, '30d': 360 };

const isProbed = (map: Heatmap): boolean => map.needed.some((value) => value !== null);
const differs = (a: Amount[], b: Amount[]): boolean => a.some((value, i) => value !== b[i]);

function limitLines(map: Heatmap, dry: boolean): LimitLine[] {
  const until = (map.time.at(-1) ?? map.to) + map.column_seconds;
  const line = (values: Amount[], colour: string, style: LimitLine['style'], width: number): LimitLine => ({ at: map.time, until, values, colour, style, width });
  // What the kernel holds is drawn as a whole line: in a dry run that is the owner's limit.
  return [
    line(map.owner_limit, '--owner', dry ? 'line' : 'dash', dry ? 2.2 : 1.6),
    line(map.would_be, '--would', 'dots', 2),
    ...(isProbed(map) ? [line(map.needed, '--usage', 'line', 1.6)] : []),
    ...(!dry || differs(map.limit, map.owner_limit) ? [line(map.limit, '--limit', dry ? 'dash' : 'line', dry ? 1.6 : 2)] : []),
  ];
}

function Reading({ map, column, cells, dry }: { map: Heatmap; column: number; cells: [number, number][]; dry: boolean }) {
  const of = (value: Amount | undefined) => amount(map.resource, value ?? null);
  const start = map.time[column] ?? null;
  const ooms = start === null ? 0 : map.ooms.filter((at) => at >= start && at < start + map.column_seconds).length;
  const row = (name: string, value: string, line?: [string, 'line' | 'dots' | 'dash']) => (
    <p>{line && <Swatch name={line[0]} style={line[1]} />}{name} <b>{value}</b></p>
  );
  return (
    <>
      {row('highest used', of(quantile(cells, map.buckets, 1)))}
      {row('median used', of(quantile(cells, map.buckets, 0.5)))}
      {isProbed(map) && row('most needed (probed)', of(map.needed[column]), ['--usage', 'line'])}
      {dry ? row("in force (owner's)", of(map.owner_limit[column]), ['--owner', 'line']) : row('in force', of(map.limit[column]), ['--limit', 'line'])}
      {dry && map.limit[column] !== map.owner_limit[column] && row('would be set', of(map.limit[column]), ['--limit', 'dash'])}
      {row('would be in auto', of(map.would_be[column]), ['--would', 'dots'])}
      {!dry && row("owner's", of(map.owner_limit[column]), ['--owner', 'dash'])}
      {ooms > 0 && <p class="bad">{ooms} OOM {ooms === 1 ? 'kill' : 'kills'}</p>}
    </>
  );
}

function UsageMapView({ map, dim, dry }: { map: Heatmap; dim: boolean; dry: boolean }) {
  const lines = useMemo(() => limitLines(map, dry), [map, dry]);
  const byColumn = useMemo(() => {
    const all: [number, number][][] = map.time.map(() => []);
    for (const [at, row, share] of map.cells) all[at]?.push([row, share]);
    return all;
  }, [map]);
  return (
    <HeatmapView label="Usage of a task over time with its limits" map={map} lines={lines} dim={dim}
      reading={(column) => <Reading map={map} column={column} cells={byColumn[column] ?? []} dry={dry} />} />
  );
}

export function UsageCard(props: { dry: boolean; managed: boolean; name: string; resource: Resource; range: Range; onRange: (range: Range) => void; onResource: (resource: Resource) => void }) {
  const { name, resource, range } = props;
  const fleet = useQuery<Fleet>('fleet', { on: ['window'], keep: true });
  const end = fleet.data?.time ?? null;
  const path = useMemo(() => (end === null ? null
    : withParams(jobPath(name, '/usage'), { resource, from: end - DAYS[range] * 86400, to: end, columns: COLUMNS[range] })), [name, resource, range, end]);
  const map = useQuery<Heatmap>(path, { keep: true });
  const shown = useMemo(() => map.data && fitted(map.data), [map.data]);
  return (
    <Card title={`${RESOURCE[resource].title} used by a task, and its limits`}
      tools={(
        <div class="card-tools">
          <Segments label="Resource" value={resource} onPick={props.onResource} choices={RESOURCE_CHOICES} />
          <Segments label="Range of time" value={range} onPick={props.onRange}
            choices={RANGES} />
        </div>
      )}>
      <p class="legend heat-legend">
        <span><HeatScale /> share of samples, {percent(0.01)} to {percent(1)}</span>
        {props.dry ? <span><Swatch name="--owner" style="line" />owner's, in force</span> : <span><Swatch name="--limit" style="line" />in force</span>}
        {props.dry && props.managed && <span><Swatch name="--limit" style="dash" />would be set</span>}
        <span><Swatch name="--would" style="dots" />would be in auto</span>
        {shown && isProbed(shown) && <span><Swatch name="--usage" style="line" />needed (probed)</span>}
        {!props.dry && <span><Swatch name="--owner" style="dash" />owner's</span>}
        {shown && shown.ooms.length > 0 && <span><i class="oom-mark" aria-hidden="true" />OOM kill</span>}
      </p>
      {map.error && <Problem text={map.error.message} retry={map.reload} />}
      {!shown ? <Skeleton tall /> : shown.time.length === 0
        ? <p class="hint nothing">No usage was measured in this time.</p>
        : <UsageMapView map={shown} dry={props.dry} dim={map.stale && shown.resource !== resource} />}
    </Card>
  );
}
