// Cumulative distribution of the slack of all job-days, from the quantiles in the data.
import { useMemo } from 'preact/hooks';
import { percent, percentTick } from '../lib/format';
import { Card } from '../ui/basics';
import { Chart } from '../ui/chart';
import { shareAtOrBelow } from './data';
import { LineChips, lineOf } from './marks';
import type { View } from './view';

const STEPS = 200;

export function SlackCard({ view }: { view: View }) {
  const { drawn } = view;
  const low = Math.min(0, ...drawn.map((lane) => lane.slack_quantiles[2] ?? 0));
  const from = Math.max(-1, Math.floor(low * 4) / 4);
  const slacks = useMemo(() => Array.from({ length: STEPS + 1 }, (_, i) => from + (i / STEPS) * (1 - from)), [from]);
  const lines = drawn.map((lane) => ({ ...lineOf(view, lane.policy), values: slacks.map((s) => shareAtOrBelow(lane.slack_quantiles, s)) }));
  return (
    <Card title="Unused share of the limits"
      hint="Each line: the share of job-days whose slack is at most the value below. Further left is tighter; below 0 the day's p95 usage was over the limit.">
      <LineChips view={view} />
      <Chart bare label="Cumulative share of job-days by slack, one line a recommender" time={slacks} series={lines} height={306} top={1}
        format={percent} tick={percentTick} sorted more={() => <p class="muted">share of job-days</p>}
        across={{ tick: percentTick, title: (slack) => `Slack of ${percent(slack)} or less`, name: 'slack, share of the limit', mark: 0 }} />
    </Card>
  );
}
