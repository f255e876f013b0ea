
// The fleet day by day: limits in force against the owners' and usage; and days on which a limit was too low.

// Calls draw(run) for each run of days without a hole.
function runsOfDays(days, draw) {
  let start = 0;
  for (let i = 1; i <= days.length; ++i) {
    if (i === days.length || days[i] !== days[i - 1] + 1) {
      draw(start, i);
      start = i;
    }
  }
}

function dayScale(f) {
  return linear([report.first_day, Math.max(report.last_day, report.first_day + 1)], [f.x0, f.x1]);
}

function warmupShade(f, x, until, labelY = f.y1 + 14) {
  const end = Math.min(f.x1, x(until));
  if (end <= f.x0 + 1) return;
  f.root.append(svg('rect', { class: 'warmup', x: f.x0, y: f.y1, width: end - f.x0, height: f.y0 - f.y1 }));
  text(f, f.x0 + 5, labelY, end - f.x0 > 60 ? 'warm-up' : '');
}

function seriesPoints(lane, values, x, y, from, to) {
  const points = [];
  for (let i = from; i < to; ++i) points.push([x(lane.fleet.day[i]), y(values[i])]);
  return points;
}

function usageArea(f, lane, x, y) {
  runsOfDays(lane.fleet.day, (from, to) => {
    const points = seriesPoints(lane, lane.fleet.usage, x, y, from, to);
    const top = points.map(([px, py]) => `${px.toFixed(1)} ${py.toFixed(1)}`).join('L');
    f.root.append(svg('path', { class: 'usage', d: `M${points[0][0].toFixed(1)} ${f.y0}L${top}L${points.at(-1)[0].toFixed(1)} ${f.y0}Z` }));
  });
}

function tipRows(lanes, i, value) {
  return lanes.map((lane) => [lane, value(lane, i)]).sort((a, b) => b[1].sort - a[1].sort)
    .map(([lane, v]) => [lane.policy, display(lane.policy), v.shown]);
}

// Amount ticks in one unit, so that an axis does not change units half-way.
function amountTick(resource, top) {
  if (resource !== 'memory') return (v) => tickNumber(v) + NBSP + 'cores';
  const tera = top >= 1024;
  return (v) => tickNumber(tera ? v / 1024 : v) + NBSP + (tera ? 'TiB' : 'GiB');
}

function memoryTicks(top, wanted) {
  const unit = top >= 1024 ? 1024 : 1;
  return ticks(0, top / unit, wanted).map((v) => v * unit);
}

function renderFleetLimits() {
  const lanes = drawnLanes();
  const all = lanesOf(state.resource);
  const f = frame(byId('fleet-limits'), { height: 300, left: 86, label: 'Limits in force, usage and the owners’ limits per day' });
  const x = dayScale(f);
  const largest = Math.max(...all.map((lane) => Math.max(0, ...lane.fleet.usage)), ...lanes.map((lane) => Math.max(0, ...lane.fleet.limit)));
  const unit = state.resource === 'memory' && largest >= 1024 ? 1024 : 1;
  const top = ceiling(largest / unit, 5) * unit;
  const y = linear([0, top], [f.y0, f.y1]);
  axisY(f, y, state.resource === 'memory' ? memoryTicks(top, 5) : ticks(0, top, 5), amountTick(state.resource, top));
  warmupShade(f, x, report.first_scored_day - 0.5);
  axisDays(f, x, report.first_day, report.last_day);
  const shown = laneOf(state.resource, state.policy);
  usageArea(f, shown, x, y);
  for (const lane of lanes) {
    runsOfDays(lane.fleet.day, (from, to) => line(f, lane.policy, seriesPoints(lane, lane.fleet.limit, x, y, from, to)));
  }
  if (!laneOf(state.resource, 'static') && hasOwner(shown)) {
    runsOfDays(shown.fleet.day, (from, to) => line(f, 'static', seriesPoints(shown, shown.fleet.owner, x, y, from, to)));
  }
  follow(f, shown.fleet.day.map(x), (i) => ({
    title: dayName(shown.fleet.day[i]),
    rows: [...tipRows(lanes, i, (lane) => ({ sort: lane.fleet.limit[i], shown: amount(state.resource, lane.fleet.limit[i]) })),
      [null, 'owners’ limits', shown.fleet.owner[i] > 0 ? amount(state.resource, shown.fleet.owner[i]) : '–'],
      [null, 'usage, mean', amount(state.resource, shown.fleet.usage[i])]],
    remark: shown.fleet.day[i] < report.first_scored_day ? 'warm-up, not scored' : `${count(shown.fleet.job_days[i])} jobs`,
  }));
}

function oomShares(lane) {
  return lane.fleet.oom_days.map((n, i) => (lane.fleet.job_days[i] > 0 ? n / lane.fleet.job_days[i] : 0));
}

function renderFleetOoms() {
  const lanes = drawnLanes();
  const shown = laneOf(state.resource, state.policy);
  const w = words(state.resource);
  byId('fleet-ooms-head').textContent = `${w.oomDays[0].toUpperCase() + w.oomDays.slice(1)}, share of each day’s jobs`;
  const f = frame(byId('fleet-ooms'), { height: 190, left: 86, label: `${w.oomDays} per day, one line a recommender` });
  const x = dayScale(f);
  const shares = new Map(lanes.map((lane) => [lane, oomShares(lane)]));
  const top = ceiling(Math.max(0.001, ...[...shares.values()].flat()), 4);
  const y = linear([0, top], [f.y0, f.y1]);
  axisY(f, y, ticks(0, top, 4), percentTick);
  warmupShade(f, x, report.first_scored_day - 0.5);
  axisDays(f, x, report.first_day, report.last_day);
  for (const lane of lanes) {
    runsOfDays(lane.fleet.day, (from, to) => line(f, lane.policy, seriesPoints(lane, shares.get(lane), x, y, from, to)));
  }
  follow(f, shown.fleet.day.map(x), (i) => ({
    title: dayName(shown.fleet.day[i]),
    rows: tipRows(lanes, i, (lane) => ({ sort: lane.fleet.oom_days[i],
      shown: `${percent(shares.get(lane)[i], 1)} (${count(lane.fleet.oom_days[i])})` })),
    remark: `of ${count(shown.fleet.job_days[i])} jobs`,
  }));
}

function renderFleet() {
  byId('fleet-hint').textContent = `Limits in force, summed over all jobs and averaged over each day. `
    + `The shaded area is what was really used${laneOf(state.resource, 'static') ? '; static is what the owners reserved' : ''}.`;
  renderFleetLimits();
  renderFleetOoms();
}
