// Usage over time on a canvas, darker where more samples were; limits as lines; a reading under the pointer.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Amount, Heatmap, Resource } from '../api/types';
import { NBSP, amount, amountShort, percent } from '../lib/format';
import { colour, rgb, useTheme } from '../lib/theme';
import { clock, dateTime } from '../lib/time';
import { Swatch } from './chart';
import { type Span, columnAt, height as heightOf, level, logTicks, lowerBound, quantile, valueSpan } from './heatmap_scale';
import { placeTip } from './tip';

const HEIGHT = 340;
const LEFT = 76;
const BOTTOM = 26;
const TOP = 6;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

interface Frame { width: number; ratio: number; x: (time: number) => number; y: (value: number) => number; span: Span }

function frameOf(map: Heatmap, width: number, ratio: number): Frame {
  const span = valueSpan(map);
  const inner = width - LEFT - 4;
  return {
    width, ratio, span,
    x: (time) => LEFT + ((time - map.from) / Math.max(1, map.to - map.from)) * inner,
    y: (value) => HEIGHT - BOTTOM - heightOf(span, value) * (HEIGHT - BOTTOM - TOP),
  };
}

function palette(): string[] {
  const low = colour('--heat-low');
  const high = colour('--heat-high');
  return Array.from({ length: 64 }, (_, i) => {
    const t = (i / 63) ** 1.25;
    return rgb([0, 1, 2].map((c) => Math.round((low[c] ?? 0) + ((high[c] ?? 0) - (low[c] ?? 0)) * t)) as [number, number, number]);
  });
}

function drawCells(g: CanvasRenderingContext2D, map: Heatmap, f: Frame): void {
  const colours = palette();
  const bottom = HEIGHT - BOTTOM;
  for (const [column, row, share] of map.cells) {
    const start = map.time[column];
    const upper = map.buckets[row];
    if (start === undefined || upper === undefined || upper <= f.span.low) continue;
    const left = Math.floor(f.x(start) * f.ratio) / f.ratio;
    const right = Math.max(left + 1 / f.ratio, Math.floor(f.x(Math.min(map.to, start + map.column_seconds)) * f.ratio) / f.ratio);
    const top = Math.floor(f.y(upper) * f.ratio) / f.ratio;
    const low = Math.min(bottom, Math.max(top + 1, Math.floor(f.y(Math.max(f.span.low, lowerBound(map.buckets, row))) * f.ratio) / f.ratio));
    g.fillStyle = colours[Math.round(level(share) * 63)] ?? '';
    g.fillRect(left, top, right - left, low - top);
  }
}

function drawLine(g: CanvasRenderingContext2D, map: Heatmap, f: Frame, values: Amount[], name: string, dash: number[], width: number): void {
  const path = new Path2D();
  let open = false;
  let previous = 0;
  values.forEach((value, column) => {
    const start = map.time[column];
    if (start === undefined || value === null || !(value > 0)) { open = false; return; }
    const y = f.y(value);
    const x = f.x(start);
    // A gap in the columns breaks nothing: a limit stays in force while a job is silent.
    if (open) { path.lineTo(x, previous); path.lineTo(x, y); } else path.moveTo(x, y);
    path.lineTo(f.x(Math.min(map.to, start + map.column_seconds)), y);
    previous = y;
    open = true;
  });
  g.setLineDash([]);
  g.strokeStyle = rgb(colour('--card'), 0.85);
  g.lineWidth = width + 2.5;
  g.stroke(path);
  g.setLineDash(dash);
  g.strokeStyle = rgb(colour(name));
  g.lineWidth = width;
  g.stroke(path);
  g.setLineDash([]);
}

function midnights(map: Heatmap): number[] {
  const day = new Date(map.from * 1000);
  day.setHours(0, 0, 0, 0);
  const all: number[] = [];
  for (; day.getTime() / 1000 <= map.to; day.setDate(day.getDate() + 1)) if (day.getTime() / 1000 >= map.from) all.push(day.getTime() / 1000);
  return all;
}

function timeTicks(map: Heatmap, width: number): [number, string][] {
  const days = (map.to - map.from) / 86400;
  const fit = Math.max(2, Math.floor(width / 58));
  if (days <= 2) {
    const step = [3600, 7200, 10800, 21600, 43200].find((s) => (map.to - map.from) / s <= fit) ?? 43200;
    const first = midnights(map)[0] ?? map.from;
    const start = first - Math.floor((first - map.from) / step) * step;
    const all: [number, string][] = [];
    for (let at = start; at < map.to; at += step) all.push([at, at === first ? dayLabel(at) : clock(at)]);
    return all;
  }
  const all = midnights(map);
  const step = Math.ceil(all.length / fit);
  return all.filter((_, i) => i % step === 0).map((at) => [at, dayLabel(at)]);
}

function dayLabel(at: number): string {
  const d = new Date(at * 1000);
  return `${d.getDate()}${NBSP}${MONTHS[d.getMonth()]}`;
}

function tickText(resource: Resource, value: number): string {
  const text = amountShort(resource, value);
  if (resource === 'memory') return text;
  return text.endsWith('m') ? text + 'cores' : `${text}${NBSP}${text === '1' ? 'core' : 'cores'}`;
}

function drawAxes(g: CanvasRenderingContext2D, map: Heatmap, f: Frame): void {
  g.font = '12px system-ui, sans-serif';
  g.fillStyle = rgb(colour('--muted'));
  g.strokeStyle = rgb(colour('--line'));
  g.lineWidth = 1;
  g.textBaseline = 'middle';
  g.textAlign = 'right';
  for (const value of logTicks(map.resource, f.span, 6)) {
    const y = Math.round(f.y(value)) + 0.5;
    g.beginPath(); g.moveTo(LEFT, y); g.lineTo(f.width - 4, y); g.stroke();
    g.fillText(tickText(map.resource, value), LEFT - 8, y);
  }
  g.textBaseline = 'alphabetic';
  g.textAlign = 'center';
  for (const [at, text] of timeTicks(map, f.width - LEFT)) {
    const x = f.x(at);
    if (x > LEFT + 2 && x < f.width - 22) g.fillText(text, x, HEIGHT - 8);
  }
}

function drawOoms(g: CanvasRenderingContext2D, map: Heatmap, f: Frame): void {
  g.fillStyle = rgb(colour('--bad'));
  for (const at of map.ooms) {
    const x = f.x(at);
    g.beginPath(); g.moveTo(x - 6, TOP); g.lineTo(x + 6, TOP); g.lineTo(x, TOP + 10); g.fill();
    g.globalAlpha = 0.35;
    g.fillRect(x - 0.5, TOP, 1, HEIGHT - BOTTOM - TOP);
    g.globalAlpha = 1;
  }
}

const differs = (a: Amount[], b: Amount[]): boolean => a.some((value, i) => value !== b[i]);

function draw(canvas: HTMLCanvasElement, map: Heatmap, width: number, dry: boolean): void {
  const f = frameOf(map, width, window.devicePixelRatio || 1);
  canvas.width = Math.round(width * f.ratio);
  canvas.height = Math.round(HEIGHT * f.ratio);
  const g = canvas.getContext('2d');
  if (!g) return;
  g.scale(f.ratio, f.ratio);
  drawAxes(g, map, f);
  drawCells(g, map, f);
  drawOoms(g, map, f);
  // What the kernel holds is drawn as a whole line: in a dry run that is the owner's limit.
  drawLine(g, map, f, map.owner_limit, '--owner', dry ? [] : [6, 4], dry ? 2.2 : 1.6);
  drawLine(g, map, f, map.would_be, '--would', [2, 3], 2);
  if (!dry || differs(map.limit, map.owner_limit)) drawLine(g, map, f, map.limit, '--limit', dry ? [6, 4] : [], dry ? 1.6 : 2);
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
      <p class="when">{dateTime(start)}{start !== null && map.column_seconds >= 600 ? ` – ${clock(start + map.column_seconds)}` : ''}</p>
      {row('highest used', of(quantile(cells, map.buckets, 1)))}
      {row('median used', of(quantile(cells, map.buckets, 0.5)))}
      {dry ? row("in force (owner's)", of(map.owner_limit[column]), ['--owner', 'line']) : row('in force', of(map.limit[column]), ['--limit', 'line'])}
      {dry && map.limit[column] !== map.owner_limit[column] && row('would be set', of(map.limit[column]), ['--limit', 'dash'])}
      {row('would be in auto', of(map.would_be[column]), ['--would', 'dots'])}
      {!dry && row("owner's", of(map.owner_limit[column]), ['--owner', 'dash'])}
      {ooms > 0 && <p class="bad">{ooms} OOM {ooms === 1 ? 'kill' : 'kills'}</p>}
    </>
  );
}

export function HeatmapView({ map, dim, dry }: { map: Heatmap; dim: boolean; dry: boolean }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [column, setColumn] = useState<number | null>(null);
  const theme = useTheme();
  const byColumn = useMemo(() => {
    const all: [number, number][][] = map.time.map(() => []);
    for (const [at, row, share] of map.cells) all[at]?.push([row, share]);
    return all;
  }, [map]);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    setWidth(element.clientWidth);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (canvas.current && width > 0) draw(canvas.current, map, width, dry);
  }, [map, width, theme, dry]);
  useEffect(() => setColumn(null), [map]);

  const frame = width > 0 ? frameOf(map, width, 1) : null;
  const at = column === null ? undefined : map.time[column];
  const x = at === undefined || !frame ? 0 : frame.x(at + map.column_seconds / 2);
  useLayoutEffect(() => {
    if (tip.current && column !== null) placeTip(tip.current, width, x);
  }, [column, x, width]);

  const point = (event: PointerEvent) => {
    const left = event.clientX - (box.current?.getBoundingClientRect().left ?? 0);
    const time = map.from + ((left - LEFT) / Math.max(1, width - LEFT - 4)) * (map.to - map.from);
    const found = columnAt(map.time, time);
    setColumn(left < LEFT - 4 || found < 0 ? null : found);
  };
  const key = (event: KeyboardEvent) => {
    if (event.key === 'Escape') setColumn(null);
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    setColumn(Math.max(0, Math.min(map.time.length - 1, (column ?? map.time.length) + step * (event.shiftKey ? 12 : 1))));
  };
  return (
    <div ref={box} class={`heatmap plot-box ${dim ? 'dim' : ''}`} tabIndex={0} role="img" onKeyDown={key} onBlur={() => setColumn(null)}
      onPointerMove={point} onPointerDown={point} onPointerLeave={(event) => { if (event.pointerType === 'mouse') setColumn(null); }}
      aria-label="Usage of a task over time with its limits. Arrow keys move the reading.">
      <canvas ref={canvas} style={{ width: `${width}px`, height: `${HEIGHT}px` }} aria-hidden="true" />
      {column !== null && <span class="cross" style={{ transform: `translateX(${x}px)` }} />}
      <div ref={tip} class="tip" hidden={column === null} role="status">
        {column !== null && <Reading map={map} column={column} cells={byColumn[column] ?? []} dry={dry} />}
      </div>
    </div>
  );
}

export function HeatScale() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  useEffect(() => {
    const g = canvas.current?.getContext('2d');
    if (!g) return;
    palette().forEach((fill, i) => {
      g.fillStyle = fill;
      g.fillRect(i, 0, 1, 1);
    });
  }, [theme]);
  return <canvas ref={canvas} class="heat-scale" width={64} height={1} aria-label={`from ${percent(0.01)} to ${percent(1)}`} />;
}
