// The card with the usage heatmap.
import { useMemo } from 'preact/hooks';
import { useQuery } from '../../api/query';
import { jobPath, withParams } from '../../api/client';
import type { Fleet, Heatmap, Resource } from '../../api/types';
import { percent } from '../../lib/format';
import { Card, Problem, Segments, Skeleton } from '../../ui/basics';
import { Swatch } from '../../ui/chart';
import { HeatScale, HeatmapView } from '../../ui/heatmap';
import { fitted } from '../../ui/heatmap_scale';

export type Range = '1d' | '7d' | '30d';
export const DAYS: Record<Range, number> = { '1d': 1, '7d': 7, '30d': 30 };
export const RANGES: { value: Range; label: string }[] = [{ value: '1d', label: '1 day' }, { value: '7d', label: '7 days' }, { value: '30d', label: '30 days' }];
const COLUMNS: Record<Range, number> = { '1d': 288, '7d': 336, '30d': 360 };

export function UsageCard(props: { dry: boolean; managed: boolean; name: string; resource: Resource; range: Range; onRange: (range: Range) => void; onResource: (resource: Resource) => void }) {
  const { name, resource, range } = props;
  const fleet = useQuery<Fleet>('fleet', { on: ['window'], keep: true });
  const end = fleet.data?.time ?? null;
  const path = useMemo(() => (end === null ? null
    : withParams(jobPath(name, '/usage'), { resource, from: end - DAYS[range] * 86400, to: end, columns: COLUMNS[range] })), [name, resource, range, end]);
  const map = useQuery<Heatmap>(path, { keep: true });
  const shown = useMemo(() => map.data && fitted(map.data), [map.data]);
  return (
    <Card title={`${resource === 'cpu' ? 'CPU' : 'Memory'} used by a task, and its limits`}
      tools={(
        <div class="card-tools">
          <Segments label="Resource" value={resource} onPick={props.onResource} choices={[{ value: 'cpu', label: 'CPU' }, { value: 'memory', label: 'Memory' }]} />
          <Segments label="Range of time" value={range} onPick={props.onRange}
            choices={RANGES} />
        </div>
      )}>
      <p class="legend heat-legend">
        <span><HeatScale /> share of samples, {percent(0.01)} to {percent(1)}</span>
        {props.dry ? <span><Swatch name="--owner" style="line" />owner's, in force</span> : <span><Swatch name="--limit" style="line" />in force</span>}
        {props.dry && props.managed && <span><Swatch name="--limit" style="dash" />would be set</span>}
        <span><Swatch name="--would" style="dots" />would be in auto</span>
        {!props.dry && <span><Swatch name="--owner" style="dash" />owner's</span>}
        {shown && shown.ooms.length > 0 && <span><i class="oom-mark" aria-hidden="true" />OOM kill</span>}
      </p>
      {map.error && <Problem text={map.error.message} retry={map.reload} />}
      {!shown ? <Skeleton tall /> : shown.time.length === 0
        ? <p class="hint nothing">No usage was measured in this time.</p>
        : <HeatmapView map={shown} dry={props.dry} dim={map.stale && shown.resource !== resource} />}
    </Card>
  );
}
