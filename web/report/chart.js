
// What all charts share: a frame with axes, lines, and a tooltip that follows the pointer or the arrow keys.

function linear(domain, range) {
  const [d0, d1] = domain;
  const factor = d1 === d0 ? 0 : (range[1] - range[0]) / (d1 - d0);
  const scale = (value) => range[0] + (value - d0) * factor;
  scale.domain = domain;
  scale.invert = (pixel) => d0 + (factor === 0 ? 0 : (pixel - range[0]) / factor);
  return scale;
}

function logarithmic(domain, range) {
  const inner = linear(domain.map(Math.log2), range);
  const scale = (value) => inner(Math.log2(value));
  scale.domain = domain;
  return scale;
}

// Round values between lo and hi, about `wanted` of them.
function ticks(lo, hi, wanted) {
  if (!(hi > lo)) return [lo];
  const rough = (hi - lo) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const out = [];
  for (let i = Math.ceil(lo / step - 1e-9); i * step <= hi + step * 1e-9; ++i) out.push(i * step);
  return out;
}

// The smallest round value at or above `hi`, for an axis from 0.
function ceiling(hi, wanted) {
  if (!(hi > 0)) return 1;
  const marks = ticks(0, hi, wanted);
  const step = marks.length > 1 ? marks[1] : hi;
  return Math.ceil(hi / step - 1e-9) * step;
}

function frame(host, { height, left = 64, right = 24, top = 12, bottom = 34, label }) {
  const width = Math.max(host.clientWidth, 240);
  const root = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label });
  host.replaceChildren(root);
  return { host, root, width, height, x0: left, x1: width - right, y0: height - bottom, y1: top };
}

function text(f, x, y, content, attributes = {}) {
  const node = svg('text', { x, y, ...attributes }, content);
  f.root.append(node);
  return node;
}

function axisY(f, scale, marks, format) {
  for (const mark of marks) {
    const y = Math.round(scale(mark)) + 0.5;
    f.root.append(svg('line', { class: 'grid', x1: f.x0, x2: f.x1, y1: y, y2: y }));
    text(f, f.x0 - 8, y + 4, format(mark), { 'text-anchor': 'end' });
  }
}

function axisX(f, scale, marks, format, name) {
  for (const mark of marks) {
    const x = scale(mark);
    f.root.append(svg('line', { class: 'grid', x1: x, x2: x, y1: f.y0, y2: f.y0 + 4 }));
    text(f, x, f.y0 + 18, format(mark), { 'text-anchor': 'middle' });
  }
  if (name) text(f, f.x1, f.height - 2, name, { class: 'axis-name', 'text-anchor': 'end' });
}

// Days along the bottom, as many names as fit.
function axisDays(f, scale, first, last) {
  const room = Math.max(2, Math.floor((f.x1 - f.x0) / 62));
  const step = [1, 2, 7, 14, 28, 56, 112, 224].find((s) => (last - first) / s <= room) || 365;
  const marks = [];
  for (let day = first; day <= last; day += step) marks.push(day);
  axisX(f, scale, marks, (day) => dayName(day, true));
}

function line(f, policy, points) {
  if (points.length === 0) return;
  const d = 'M' + points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L');
  if (policy === state.policy) f.root.append(svg('path', { class: 'halo', d }));
  f.root.append(svg('path', { class: `series p-${policy}${picked(policy)}`, d }));
}

// --- tooltip ---
const tip = byId('tip');

function hideTip() {
  tip.hidden = true;
}

function placeTip(x, y) {
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const room = document.documentElement.clientWidth;
  const left = x + 18 + width < room ? x + 18 : Math.max(6, x - 18 - width);
  tip.style.left = left + 'px';
  tip.style.top = Math.max(6, Math.min(y - height / 2, window.innerHeight - height - 6)) + 'px';
}

// content: {title, rows: [[policy or null, name, value]], remark}
function showTip(content, x, y) {
  tip.replaceChildren(
    el('p', { class: 'when' }, content.title),
    el('table', {}, ...content.rows.map(([policy, name, value]) =>
      el('tr', { class: policy ? `p-${policy}${picked(policy)}` : '' },
        el('td', {}, policy ? swatch(policy) : null, name), el('td', {}, value)))));
  if (content.remark) tip.append(el('p', { class: 'remark' }, content.remark));
  placeTip(x, y);
}

function nearest(positions, x) {
  let low = 0;
  let high = positions.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (positions[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low > 0 && x - positions[low - 1] < positions[low] - x ? low - 1 : low;
}

// positions: ascending pixels; describe(i): what the tooltip says there.
function follow(f, positions, describe) {
  if (positions.length === 0) return;
  const cross = svg('line', { class: 'cross', y1: f.y1, y2: f.y0, visibility: 'hidden' });
  f.root.append(cross);
  f.root.setAttribute('tabindex', '0');
  let at = -1;
  const hide = () => {
    cross.setAttribute('visibility', 'hidden');
    hideTip();
  };
  const show = (i, y) => {
    at = Math.max(0, Math.min(positions.length - 1, i));
    const box = f.root.getBoundingClientRect();
    cross.setAttribute('visibility', 'visible');
    cross.setAttribute('x1', positions[at]);
    cross.setAttribute('x2', positions[at]);
    showTip(describe(at), box.left + positions[at], y ?? box.top + (f.y0 + f.y1) / 2);
  };
  const point = (event) => {
    const x = event.clientX - f.root.getBoundingClientRect().left;
    if (x < f.x0 - 8 || x > f.x1 + 8) hide();
    else show(nearest(positions, x), event.clientY);
  };
  f.root.addEventListener('pointermove', point);
  f.root.addEventListener('pointerdown', point);
  f.root.addEventListener('pointerleave', (event) => { if (event.pointerType === 'mouse') hide(); });
  f.root.addEventListener('blur', hide);
  f.root.addEventListener('keydown', (event) => {
    const big = Math.max(1, Math.round(positions.length / 20));
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, PageDown: at + big, PageUp: at - big, Home: 0, End: Infinity }[event.key];
    if (event.key === 'Escape') hide();
    if (to === undefined) return;
    event.preventDefault();
    show(to);
  });
}
