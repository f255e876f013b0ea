
// Footprint against OOM-days, one labelled point a recommender.

function overlaps(a, b) {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

// Tries places round the point until the label meets no other label or point; the last resort is the first place.
function placeLabel(f, x, y, width, taken) {
  const h = 16;
  const places = [];
  for (const d of [16, 28, 44]) {
    places.push({ x: x + d, y: y - h / 2 }, { x: x - d - width, y: y - h / 2 },
      { x: x - width / 2, y: y - d - h }, { x: x - width / 2, y: y + d },
      { x: x + d * 0.7, y: y - d - h / 2 }, { x: x + d * 0.7, y: y + d - h / 2 },
      { x: x - width - d * 0.7, y: y - d - h / 2 }, { x: x - width - d * 0.7, y: y + d - h / 2 });
  }
  const fits = (p) => p.x >= f.x0 + 2 && p.x + width <= f.x1 && p.y >= f.y1 && p.y + h <= f.y0 - 2
    && !taken.some((other) => overlaps({ ...p, w: width, h }, other));
  const place = places.find(fits) || places[0];
  return { ...place, w: width, h };
}

function betterArrow(f) {
  const x = f.x1 - 34;
  const y = f.y1 + 44;
  f.root.append(svg('path', { class: 'better', d: `M${x + 28} ${y - 28}L${x} ${y}M${x} ${y - 10}V${y}H${x + 10}` }));
  text(f, x + 6, y - 20, 'better', { 'text-anchor': 'end' });
}

function scatterAxes(f, points, ofOwner) {
  const x = linear([0, Math.max(...points.map((p) => p.x), ofOwner ? 1 : 1.2) * 1.1], [f.x0, f.x1]);
  const y = linear([0, ceiling(Math.max(...points.map((p) => p.y), 0.001) * 1.08, 4)], [f.y0, f.y1]);
  axisY(f, y, ticks(0, y.domain[1], 4), percentTick);
  const format = ofOwner ? percentTick : (v) => tickNumber(v) + '×';
  axisX(f, x, ticks(0, x.domain[1], 5), format, ofOwner ? 'footprint, share of the owners’' : 'footprint, times usage');
  return { x, y };
}

function drawPoint(f, lane, x, y) {
  const s = lane.sum;
  const tell = (event) => {
    const box = f.root.getBoundingClientRect();
    showTip({ title: display(lane.policy), rows: [
      [null, 'footprint', amount(state.resource, s.limit)],
      [null, 'of the owners’', s.owner > 0 ? percent(s.of_owner) : '–'],
      [null, words(state.resource).oomDays, percent(s.oom_day_share, 2)],
      [null, 'mean slack', percent(s.slack_mean)],
    ] }, event.clientX || box.left + x, event.clientY || box.top + y);
  };
  if (lane.policy === state.policy) {
    f.root.append(svg('circle', { class: `ring p-${lane.policy}`, cx: x, cy: y, r: 11 }));
  }
  f.root.append(svg('path', { class: `point p-${lane.policy}`, d: shapeOf(lane.policy), transform: `translate(${x} ${y})`,
    tabindex: '0', role: 'button', 'aria-label': `Show ${display(lane.policy)}`, onpointermove: tell, onfocus: tell,
    onpointerleave: hideTip, onblur: hideTip, onclick: () => change({ policy: lane.policy }),
    onkeydown: (event) => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); change({ policy: lane.policy }); } } }));
}

function drawLabels(f, points, scale) {
  const taken = points.map((p) => ({ x: scale.x(p.x) - 8, y: scale.y(p.y) - 8, w: 16, h: 16 }));
  taken.push({ x: f.x1 - 90, y: f.y1, w: 90, h: 48 });
  for (const p of points) {
    const px = scale.x(p.x);
    const py = scale.y(p.y);
    const label = text(f, 0, 0, display(p.lane.policy), { class: `label${picked(p.lane.policy)}` });
    const place = placeLabel(f, px, py, label.getComputedTextLength(), taken);
    taken.push(place);
    label.setAttribute('x', place.x);
    label.setAttribute('y', place.y + 12);
    const cx = Math.max(place.x - 2, Math.min(px, place.x + place.w + 2));
    const cy = Math.max(place.y, Math.min(py, place.y + place.h));
    if (Math.hypot(cx - px, cy - py) > 18) f.root.prepend(svg('line', { class: 'leader', x1: px, y1: py, x2: cx, y2: cy }));
  }
}

function renderScatter() {
  const w = words(state.resource);
  const lanes = lanesOf(state.resource);
  const ofOwner = lanes.some(hasOwner);
  const points = lanes.map((lane) => ({
    lane, x: ofOwner ? lane.sum.of_owner : lane.sum.of_usage, y: lane.sum.oom_day_share,
  }));
  byId('scatter-hint').textContent = `Left: less ${w.name} set aside. Down: fewer ${w.oomDays}. Lower left is better.`;
  const f = frame(byId('scatter'), { height: 340, left: 54, bottom: 48,
    label: `Footprint against ${w.oomDays} for ${lanes.length} recommenders; the table above has the figures` });
  f.root.setAttribute('role', 'group');
  const scale = scatterAxes(f, points, ofOwner);
  text(f, f.x0 + 6, f.y1 + 12, `${w.oomDays}, share of job-days`, { class: 'axis-name' });
  const usage = ofOwner ? lanes[0].sum.usage / lanes[0].sum.owner : 1;
  if (usage > 0.02) {
    f.root.append(svg('line', { class: 'reference', x1: scale.x(usage), x2: scale.x(usage), y1: f.y1 + 22, y2: f.y0 }));
    text(f, scale.x(usage) + 5, f.y1 + 34, 'used');
  }
  betterArrow(f);
  for (const p of points) drawPoint(f, p.lane, scale.x(p.x), scale.y(p.y));
  drawLabels(f, points, scale);
}
