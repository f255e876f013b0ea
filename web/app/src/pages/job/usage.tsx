// The card with the usage heatmap.
import { useMemo } from 'preact/hooks';
import { useQuery } from '../../api/query';
import { jobPath, withParams } from '../../api/client';
import type { Amount, DecisionPage, Fleet, Heatmap, JobSettings, Resource } from '../../api/types';
import { amount, percent } from '../../lib/format';
import { changesOf, deploysOf, type Mark } from '../../lib/marks';
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

// Returns the lines of up to three limits: owner's, in force and recommended. If no limit is set for the job, the owner's limit is in force.
function limitLines(map: Heatmap, idle: boolean): LimitLine[] {
  const until = (map.time.at(-1) ?? map.to) + map.column_seconds;
  const line = (values: Amount[], colour: string, style: LimitLine['style'], width: number): LimitLine => ({ at: map.time, until, values, colour, style, width });
  return [
    line(map.owner_limit, '--owner', idle ? 'line' : 'dots', 2),
    ...(idle ? [] : [line(map.limit, '--limit', 'line', 2)]),
    ...(isProbed(map) ? [line(map.needed, '--usage', 'line', 1.6)] : []),
    line(map.would_be, '--would', 'dash', 2),
  ];
}

function Reading({ map, column, cells, idle }: { map: Heatmap; column: number; cells: [number, number][]; idle: boolean }) {
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
      {row(idle ? "owner's, now" : "owner's", of(map.owner_limit[column]), ['--owner', idle ? 'line' : 'dots'])}
      {!idle && row('now', of(map.limit[column]), ['--limit', 'line'])}
      {row('recommended', of(map.would_be[column]), ['--would', 'dash'])}
      {ooms > 0 && <p class="bad">{ooms} OOM {ooms === 1 ? 'kill' : 'kills'}</p>}
    </>
  );
}

function UsageMapView({ map, marks, dim, idle }: { map: Heatmap; marks: readonly Mark[]; dim: boolean; idle: boolean }) {
  const lines = useMemo(() => limitLines(map, idle), [map, idle]);
  const byColumn = useMemo(() => {
    const all: [number, number][][] = map.time.map(() => []);
    for (const [at, row, share] of map.cells) all[at]?.push([row, share]);
    return all;
  }, [map]);
  return (
    <HeatmapView label="Usage of a task over time with its limits" map={map} lines={lines} marks={marks} dim={dim}
      reading={(column) => <Reading map={map} column={column} cells={byColumn[column] ?? []} idle={idle} />} />
  );
}

function useMarks(name: string, resource: Resource): readonly Mark[] {
  const decisions = useQuery<DecisionPage>(withParams('decisions', { job: name, resource, limit: 200 }), { on: ['decision', 'window'], keep: true }).data;
  const settings = useQuery<JobSettings>(jobPath(name, '/settings'), { on: ['setting'], keep: true }).data;
  return useMemo(() => [
    ...deploysOf([...(settings?.values ?? []), ...(settings?.changes ?? [])].filter(({ key }) => key === 'version').map(({ value }) => value)),
    ...changesOf((decisions?.decisions ?? []).filter((d) => d.resource === resource)),
  ], [decisions, settings, resource]);
}

export function UsageCard(props: { idle: boolean; name: string; resource: Resource; range: Range; onRange: (range: Range) => void; onResource: (resource: Resource) => void }) {
  const { name, resource, range, idle } = props;
  const fleet = useQuery<Fleet>('fleet', { on: ['window'], keep: true });
  const end = fleet.data?.time ?? null;
  const path = useMemo(() => (end === null ? null
    : withParams(jobPath(name, '/usage'), { resource, from: end - DAYS[range] * 86400, to: end, columns: COLUMNS[range] })), [name, resource, range, end]);
  const map = useQuery<Heatmap>(path, { keep: true });
  const shown = useMemo(() => map.data && fitted(map.data), [map.data]);
  const marks = useMarks(name, resource);
  const seen = (kind: Mark['kind']) => shown !== null && marks.some((mark) => mark.kind === kind && mark.time >= shown.from && mark.time <= shown.to);
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
        <span><Swatch name="--owner" style={idle ? 'line' : 'dots'} />{idle ? "owner's, now" : "owner's"}</span>
        {!idle && <span><Swatch name="--limit" style="line" />now</span>}
        <span><Swatch name="--would" style="dash" />recommended</span>
        {shown && isProbed(shown) && <span><Swatch name="--usage" style="line" />needed (probed)</span>}
        {shown && shown.ooms.length > 0 && <span><i class="oom-mark" aria-hidden="true" />OOM kill</span>}
        {seen('change') && <span><i class="change-mark" aria-hidden="true" />{idle ? 'decision' : 'change'}</span>}
        {seen('deploy') && <span><i class="deploy-mark" aria-hidden="true" />deploy</span>}
        <span class="unit">log scale</span>
      </p>
      {map.error && <Problem text={map.error.message} retry={map.reload} />}
      {!shown ? <Skeleton tall /> : shown.time.length === 0
        ? <p class="hint nothing">No usage was measured in this time.</p>
        : <UsageMapView map={shown} marks={marks} idle={idle} dim={map.stale && shown.resource !== resource} />}
    </Card>
  );
}
