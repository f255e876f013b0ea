
// Slack of all job-days as cumulative shares, from the quantiles in the data.

// Share of job-days at or below `slack`.
function shareAtOrBelow(quantiles, slack) {
  let i = 0;
  while (i < quantiles.length && quantiles[i] <= slack) ++i;
  if (i === 0) return 0;
  if (i === quantiles.length) return 1;
  const step = quantiles[i] - quantiles[i - 1];
  return (i - 1 + (step > 0 ? (slack - quantiles[i - 1]) / step : 0)) / (quantiles.length - 1);
}

function renderSlack() {
  const lanes = drawnLanes();
  const host = byId('slack');
  const f = frame(host, { height: 306, left: 54, right: 26, bottom: 48, label: 'Cumulative share of job-days by slack, one line a recommender' });
  const low = Math.min(0, ...lanes.map((lane) => lane.slack_quantiles[2]));
  const x = linear([Math.max(-1, Math.floor(low * 4) / 4), 1], [f.x0, f.x1]);
  const y = linear([0, 1], [f.y0, f.y1]);
  axisY(f, y, [0, 0.25, 0.5, 0.75, 1], (v) => percent(v));
  axisX(f, x, ticks(x.domain[0], 1, Math.min(6, (f.x1 - f.x0) / 60)), (v) => percent(v), 'slack, share of the limit');
  f.root.append(svg('line', { class: 'reference', x1: x(0), x2: x(0), y1: f.y1, y2: f.y0 }));
  for (const lane of lanes) {
    const points = [[x(x.domain[0]), y(shareAtOrBelow(lane.slack_quantiles, x.domain[0]))]];
    lane.slack_quantiles.forEach((q, i) => { if (q > x.domain[0]) points.push([x(q), y(i / (lane.slack_quantiles.length - 1))]); });
    line(f, lane.policy, points);
  }
  const slacks = Array.from({ length: 101 }, (_, i) => x.domain[0] + (i / 100) * (1 - x.domain[0]));
  follow(f, slacks.map(x), (i) => ({
    title: `Slack of ${percent(slacks[i], 0)} or less`,
    rows: [...lanes].sort((a, b) => policies.indexOf(a.policy) - policies.indexOf(b.policy)).map((lane) =>
      [lane.policy, display(lane.policy), percent(shareAtOrBelow(lane.slack_quantiles, slacks[i]), 0)]),
    remark: 'share of job-days',
  }));
}
