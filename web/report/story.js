
// One job through time.

function storiesShown() {
  return report.stories.map((story, index) => ({ story, index })).filter((s) => s.story.resource === state.resource);
}

function currentStory() {
  const shown = storiesShown();
  return shown.find((s) => s.index === state.story) || shown[0];
}

function renderStoryPicker() {
  const current = currentStory();
  const host = byId('story-picker');
  keepFocus(host, () => host.replaceChildren(...storiesShown().map(({ story, index }) =>
    el('button', { type: 'button', 'aria-pressed': String(index === current.index), title: story.job,
      onclick: () => change({ story: index }) }, el('b', {}, story.job), el('span', {}, story.why)))));
}

// The last `days` days of a story as a story of its own.
function lastDays(story, days) {
  const skip = days === null ? 0 : Math.max(0, story.columns.length - Math.round(days * DAY_S / story.dt));
  if (skip === 0) return story;
  const from = story.t0 + skip * story.dt;
  const lines = story.lines.map((line) => {
    const next = line.t.findIndex((t) => t > from);
    const first = next < 0 ? line.t.length - 1 : Math.max(0, next - 1);
    return { ...line, t: line.t.slice(first).map((t) => Math.max(t, from)), v: line.v.slice(first),
      ooms: line.ooms.filter((at) => at >= from) };
  });
  return { ...story, t0: from, columns: story.columns.slice(skip), peak: story.peak.slice(skip), lines };
}

function spanButtons(story) {
  const length = story.columns.length * story.dt / DAY_S;
  const spans = [null, 30, 7, 2].filter((days) => days === null || days < length);
  if (spans.length < 2) return null;
  return el('div', { class: 'segments small', role: 'group', 'aria-label': 'Time shown' }, ...spans.map((days) =>
    el('button', { type: 'button', 'aria-pressed': String(days === state.storyDays), onclick: () => change({ storyDays: days }) },
      days === null ? 'All' : `Last ${days} days`)));
}

// The step line of a limit, from its first step to the end; a gap where there is no limit.
function stepPath(line, x, y, end) {
  let d = '';
  let drawing = false;
  line.t.forEach((t, i) => {
    const v = line.v[i];
    const until = i + 1 < line.t.length ? line.t[i + 1] : end;
    if (v === null || !(v > 0) || t >= end) {
      drawing = false;
      return;
    }
    const level = Math.min(y(v), y(y.domain[0])).toFixed(1);
    d += `${drawing ? 'V' + level : `M${x(Math.max(t, x.domain[0])).toFixed(1)} ${level}`}H${x(Math.min(until, end)).toFixed(1)}`;
    drawing = true;
  });
  return d;
}

function drawLimits(f, story, lines, x, y, end) {
  for (const line of lines) {
    const d = stepPath(line, x, y, end);
    if (!d) continue;
    f.root.append(svg('path', { class: 'halo', d }));
    f.root.append(svg('path', { class: `series p-${line.policy}${picked(line.policy)}`, d }));
  }
  const own = lines.find((line) => line.policy === state.policy);
  for (const at of own ? own.ooms : []) {
    const v = limitAt(own, at);
    if (v) f.root.append(svg('circle', { class: `oom p-${own.policy}`, cx: x(at), cy: y(v), r: 3.5 }));
  }
}

const STRIP = 13;

// Under the heatmap, a strip a recommender with a tick at each OOM-day.
function drawStrips(f, lines, x, top) {
  lines.forEach((line, i) => {
    const y = top + i * STRIP;
    f.root.append(svg('rect', { class: 'strip', x: f.x0, y, width: f.x1 - f.x0, height: STRIP - 3 }));
    f.root.append(svg('path', { class: `point p-${line.policy}`, d: shapeOf(line.policy),
      transform: `translate(${f.x0 - 12} ${y + 5}) scale(0.8)` }));
    text(f, f.x0 - 24, y + 9, count(line.ooms.length), { 'text-anchor': 'end' });
    for (const at of line.ooms) {
      f.root.append(svg('line', { class: `oom-tick p-${line.policy}`, x1: x(at), x2: x(at), y1: y, y2: y + STRIP - 3 }));
    }
  });
}

function describeColumn(story, lines, i) {
  const from = story.t0 + i * story.dt;
  const middle = from + story.dt / 2;
  const peak = story.peak[i];
  const day = Math.floor(from / DAY_S);
  const hurt = lines.filter((line) => line.ooms.some((at) => Math.floor(at / DAY_S) === day)).map((line) => display(line.policy));
  const rows = lines.map((line) => {
    const v = limitAt(line, middle);
    return [line.policy, display(line.policy), v === undefined ? '–' : v === null ? 'unlimited' : amount(story.resource, v)];
  });
  return {
    title: timeName(from),
    rows: [[null, 'usage, peak', peak === null ? 'not measured' : amount(story.resource, peak)], ...rows],
    remark: hurt.length > 0 ? `${words(story.resource).oomDay} under ${hurt.join(', ')}` : `each column ${duration(story.dt)}`,
  };
}

function renderStoryChart(host, story) {
  const inOrder = story.lines.filter((line) => !state.hidden.has(line.policy));
  const onTop = [...inOrder].sort((a, b) => Number(a.policy === state.policy) - Number(b.policy === state.policy));
  const strips = inOrder.length * STRIP;
  const f = frame(host, { height: 400 + strips, left: 86, bottom: 52 + strips,
    label: `Usage of ${story.job} over time with the limits of ${inOrder.length} recommenders` });
  const end = story.t0 + story.columns.length * story.dt;
  const x = linear([story.t0, end], [f.x0, f.x1]);
  const y = logarithmic(valueRange(story), [f.y0, f.y1]);
  axisY(f, y, logTicks(story.resource, y.domain, 8), (v) => amountShort(story.resource, v));
  drawHeat(f, story, x, y);
  warmupShade(f, (day) => x(day * DAY_S), report.first_scored_day, f.y0 - 6);
  axisDays(f, (day) => x(day * DAY_S), Math.ceil(story.t0 / DAY_S), Math.floor(end / DAY_S));
  drawLimits(f, story, onTop, x, y, end);
  text(f, f.x0, f.y0 + 38, `${words(story.resource).oomDays}, by recommender`);
  drawStrips(f, inOrder, x, f.y0 + 46);
  follow(f, story.columns.map((_, i) => x(story.t0 + (i + 0.5) * story.dt)), (i) => describeColumn(story, inOrder, i));
}

function renderStory() {
  const host = byId('story');
  const current = currentStory();
  renderStoryPicker();
  if (!current) {
    const other = report.stories.length > 0 ? ' The other resource has some: switch above.' : '';
    host.replaceChildren(el('p', { class: 'hint' }, `No story was kept for ${words(state.resource).name}.${other}`));
    return;
  }
  const story = openStory(current.index);
  const chart = el('div', { class: 'chart' });
  const lines = el('div', { class: 'legend' });
  keepFocus(host, () => {
    legend(lines);
    host.replaceChildren(
      el('div', { class: 'row spread' }, el('h3', {}, `${story.job}: ${story.why}`), spanButtons(story)),
      heatLegend(), lines, chart, reasonPanel(story));
  });
  renderStoryChart(chart, lastDays(story, state.storyDays));
}
