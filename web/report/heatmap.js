
// The usage heatmap: time along the bottom, usage on a log scale, darker where more of the samples were.

function resolvedColour(name) {
  const probe = el('span', { hidden: true });
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const channels = getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number);
  probe.remove();
  return channels;
}

// 64 colours, by level.
function heatColours() {
  const low = resolvedColour('--heat-low');
  const high = resolvedColour('--heat-high');
  return Array.from({ length: 64 }, (_, level) => {
    const t = Math.max(0, (level - 1) / 62) ** 1.8;
    return `rgb(${low.map((c, i) => Math.round(c + (high[i] - c) * t)).join(' ')})`;
  });
}

function valueRange(story) {
  let low = Infinity;
  let high = 0;
  for (const column of story.columns) {
    if (column.length === 0) continue;
    low = Math.min(low, upperBound(story.resource, column[0].bucket - 1));
    high = Math.max(high, upperBound(story.resource, column.at(-1).bucket));
  }
  for (const line of story.lines) {
    for (const v of line.v) {
      if (v === null || !(v > 0)) continue;
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
  }
  if (!(high > 0)) return [report.grids[story.resource].first, 2 * report.grids[story.resource].first];
  // A job that sleeps would stretch the axis to nothing: show five decades at most.
  return [Math.max(low, high / 1e5) / 1.08, high * 1.15];
}

// Round values on a log axis: powers of two for memory, 1-2-5 for cores, thinned to about `wanted`.
function logTicks(resource, [low, high], wanted) {
  const all = [];
  if (resource === 'memory') {
    for (let e = Math.ceil(Math.log2(low)); 2 ** e <= high; ++e) all.push(2 ** e);
  } else {
    for (let e = Math.floor(Math.log10(low)); 10 ** e <= high; ++e) {
      for (const m of [1, 2, 5]) if (m * 10 ** e >= low && m * 10 ** e <= high) all.push(m * 10 ** e);
    }
  }
  const step = Math.max(1, Math.ceil(all.length / wanted));
  return all.filter((_, i) => i % step === 0);
}

// Columns as they are drawn: as many of the story's averaged as make one about three pixels wide.
function drawnColumns(story, pixels) {
  const merge = Math.max(1, Math.round(3 * story.columns.length / pixels));
  if (merge === 1) return { columns: story.columns, seconds: story.dt };
  const columns = [];
  for (let i = 0; i < story.columns.length; i += merge) {
    const parts = story.columns.slice(i, i + merge).filter((part) => part.length > 0);
    const shares = new Map();
    for (const { bucket, level } of parts.flat()) {
      shares.set(bucket, (shares.get(bucket) || 0) + shareOfLevel(level) / parts.length);
    }
    columns.push([...shares].map(([bucket, share]) => ({ bucket, level: levelOfShare(share) })));
  }
  return { columns, seconds: story.dt * merge };
}

function drawHeat(f, story, x, y) {
  const ratio = window.devicePixelRatio || 1;
  const canvas = el('canvas', { width: Math.round(f.width * ratio), height: Math.round(f.height * ratio), 'aria-hidden': 'true' });
  canvas.style.width = f.width + 'px';
  canvas.style.height = f.height + 'px';
  f.host.prepend(canvas);
  const context = canvas.getContext('2d');
  const colours = heatColours();
  const lowest = y(y.domain[0]) * ratio;
  const drawn = drawnColumns(story, f.x1 - f.x0);
  drawn.columns.forEach((column, i) => {
    const left = Math.floor(x(story.t0 + i * drawn.seconds) * ratio);
    const end = Math.min(x.domain[1], story.t0 + (i + 1) * drawn.seconds);
    const right = Math.max(left + 1, Math.floor(x(end) * ratio));
    for (const { bucket, level } of column) {
      const top = Math.floor(y(upperBound(story.resource, bucket)) * ratio);
      const bottom = Math.min(lowest, Math.max(top + 1, Math.floor(y(lowerBound(story.resource, bucket)) * ratio)));
      if (bottom <= top) continue;
      context.fillStyle = colours[level];
      context.fillRect(left, top, right - left, bottom - top);
    }
  });
}

function heatLegend() {
  const canvas = el('canvas', { width: 63, height: 1, 'aria-hidden': 'true' });
  const context = canvas.getContext('2d');
  heatColours().slice(1).forEach((colour, i) => {
    context.fillStyle = colour;
    context.fillRect(i, 0, 1, 1);
  });
  return el('p', { class: 'heat-legend' }, 'Usage, share of samples in each column of time: ', percent(0.001), canvas, percent(1),
    ' (log scale)');
}
