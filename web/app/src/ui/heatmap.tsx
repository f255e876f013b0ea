// Draws usage over time on a canvas, darker where more samples were, with limits as lines and a read-out under the pointer.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Resource } from '../api/types';
import { NBSP, amountShort, percent } from '../lib/format';
import type { Mark } from '../lib/marks';
import { RESOURCE } from '../lib/resource';
import { colour, rgb, useTheme } from '../lib/theme';
import { clock, dateTime, dayLabel, dayStart } from '../lib/time';
import type { Shade } from './chart';
import { type LimitLine, type Span, type UsageMap, columnAt, height as heightOf, level, logTicks, lowerBound, thinned, valueSpan } from './heatmap_scale';
import { keyStep, placeTip } from './tip';
import { useWidth } from './width';

const HEIGHT = 300;
export const LEFT = 76;  // width of the axis, which other charts can be aligned with
export const RIGHT = 4;
const BOTTOM = 26;
const TOP = 6;

interface Frame { width: number; ratio: number; x: (time: number) => number; y: (value: number) => number; span: Span }

function frameOf(map: UsageMap, lines: LimitLine[], width: number, ratio: number): Frame {
  const span = valueSpan(map, lines);
  const inner = width - LEFT - RIGHT;
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

function drawCells(g: CanvasRenderingContext2D, map: UsageMap, f: Frame): void {
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

const DASH: Record<LimitLine['style'], number[]> = { line: [], dash: [6, 4], dots: [2, 3] };

function drawLine(g: CanvasRenderingContext2D, map: UsageMap, f: Frame, line: LimitLine): void {
  const path = new Path2D();
  let open = false;
  let previous = 0;
  line.values.forEach((value, i) => {
    const start = line.at[i];
    if (start === undefined || start >= map.to || value === null || !(value > 0)) { open = false; return; }
    const y = Math.min(f.y(value), HEIGHT - BOTTOM);
    const x = f.x(Math.max(map.from, start));
    // Limits are drawn through gaps in the columns: a limit stays in force while a job sends no samples.
    if (open) { path.lineTo(x, previous); path.lineTo(x, y); } else path.moveTo(x, y);
    path.lineTo(f.x(Math.min(map.to, line.at[i + 1] ?? line.until)), y);
    previous = y;
    open = true;
  });
  g.setLineDash([]);
  g.strokeStyle = rgb(colour('--card'), 0.85);
  g.lineWidth = line.width + 2.5;
  g.stroke(path);
  g.setLineDash(DASH[line.style]);
  g.strokeStyle = rgb(colour(line.colour));
  g.lineWidth = line.width;
  g.stroke(path);
  g.setLineDash([]);
}

function drawShade(g: CanvasRenderingContext2D, f: Frame, shade: Shade): void {
  const end = Math.min(f.width - RIGHT, f.x(shade.until));
  if (end <= LEFT + 1) return;
  g.fillStyle = rgb(colour('--muted'), 0.08);
  g.fillRect(LEFT, TOP, end - LEFT, HEIGHT - BOTTOM - TOP);
  g.fillStyle = rgb(colour('--muted'));
  g.textAlign = 'left';
  if (g.measureText(shade.text).width + 10 < end - LEFT) g.fillText(shade.text, LEFT + 5, HEIGHT - BOTTOM - 6);
}

function midnights(map: UsageMap): number[] {
  const all: number[] = [];
  // 36 hours after a midnight is within the next day, even if a day has 23 or 25 hours.
  for (let at = dayStart(map.from); at <= map.to; at = dayStart(at + 36 * 3600)) if (at >= map.from) all.push(at);
  return all;
}

function timeTicks(map: UsageMap, width: number): [number, string][] {
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

function tickText(resource: Resource, value: number): string {
  const text = amountShort(resource, value);
  if (!RESOURCE[resource].unit.counted) return text;
  return text.endsWith('m') ? text + 'cores' : `${text}${NBSP}${text === '1' ? 'core' : 'cores'}`;
}

function drawAxes(g: CanvasRenderingContext2D, map: UsageMap, f: Frame): void {
  g.font = '12px system-ui, sans-serif';
  g.fillStyle = rgb(colour('--muted'));
  g.strokeStyle = rgb(colour('--line'));
  g.lineWidth = 1;
  g.textBaseline = 'middle';
  g.textAlign = 'right';
  for (const value of logTicks(map.resource, f.span, 6)) {
    const y = Math.round(f.y(value)) + 0.5;
    g.beginPath(); g.moveTo(LEFT, y); g.lineTo(f.width - RIGHT, y); g.stroke();
    g.fillText(tickText(map.resource, value), LEFT - 8, y);
  }
  g.textBaseline = 'alphabetic';
  g.textAlign = 'center';
  for (const [at, text] of timeTicks(map, f.width - LEFT)) {
    const x = f.x(at);
    if (x > LEFT + 2 && x < f.width - 22) g.fillText(text, x, HEIGHT - 8);
  }
}

function drawOoms(g: CanvasRenderingContext2D, map: UsageMap, f: Frame): void {
  g.fillStyle = rgb(colour('--bad'));
  for (const at of map.ooms) {
    const x = f.x(at);
    g.beginPath(); g.moveTo(x - 6, TOP); g.lineTo(x + 6, TOP); g.lineTo(x, TOP + 10); g.fill();
    g.globalAlpha = 0.35;
    g.fillRect(x - 0.5, TOP, 1, HEIGHT - BOTTOM - TOP);
    g.globalAlpha = 1;
  }
}

// A change is a triangle on the time axis, a deploy a dashed line through the chart.
function drawMarks(g: CanvasRenderingContext2D, map: UsageMap, f: Frame, marks: readonly Mark[]): void {
  const bottom = HEIGHT - BOTTOM;
  for (const { time, kind } of marks) {
    if (time < map.from || time > map.to) continue;
    const x = f.x(time);
    g.fillStyle = g.strokeStyle = rgb(colour(kind === 'deploy' ? '--other' : '--limit'));
    g.beginPath();
    if (kind === 'change') { g.moveTo(x - 4.5, bottom); g.lineTo(x + 4.5, bottom); g.lineTo(x, bottom - 8); g.fill(); continue; }
    g.setLineDash([4, 3]);
    g.lineWidth = 1.5;
    g.moveTo(x, TOP); g.lineTo(x, bottom); g.stroke();
    g.setLineDash([]);
  }
}

function draw(canvas: HTMLCanvasElement, map: UsageMap, lines: LimitLine[], width: number, shade: Shade | undefined, marks: readonly Mark[]): void {
  const f = frameOf(map, lines, width, window.devicePixelRatio || 1);
  canvas.width = Math.round(width * f.ratio);
  canvas.height = Math.round(HEIGHT * f.ratio);
  const g = canvas.getContext('2d');
  if (!g) return;
  g.scale(f.ratio, f.ratio);
  drawAxes(g, map, f);
  drawCells(g, thinned(map, (width - LEFT) / 3), f);
  if (shade) drawShade(g, f, shade);
  drawOoms(g, map, f);
  for (const line of lines) drawLine(g, map, f, line);
  drawMarks(g, map, f, marks);
}

export interface HeatmapProps {
  label: string;
  map: UsageMap;
  lines: LimitLine[];                                // lines in drawing order; the last line is on top
  reading: (column: number) => ComponentChildren;  // read-out of a column, below its time
  marks?: readonly Mark[];
  dim?: boolean;
  shade?: Shade;
}

const NO_MARKS: readonly Mark[] = [];

// Marks of a column.
function Marked({ marks, from, to }: { marks: readonly Mark[]; from: number; to: number }) {
  return <>{marks.filter(({ time }) => time >= from && time < to).map((mark) => <p key={`${mark.kind} ${mark.time} ${mark.text}`}><i class={`${mark.kind}-mark`} aria-hidden="true" />{mark.text}</p>)}</>;
}

// Pass identical `map` and `lines` objects while they are unchanged, because the view is redrawn when they change.
export function HeatmapView({ label, map, lines, reading, marks = NO_MARKS, dim, shade }: HeatmapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { box, width } = useWidth();
  const tip = useRef<HTMLDivElement>(null);
  const [column, setColumn] = useState<number | null>(null);
  const theme = useTheme();

  useLayoutEffect(() => {
    if (canvas.current && width > 0) draw(canvas.current, map, lines, width, shade, marks);
  }, [map, lines, marks, width, theme, shade?.until]);
  useEffect(() => setColumn(null), [map]);

  const frame = width > 0 ? frameOf(map, lines, width, 1) : null;
  const at = column === null ? undefined : map.time[column];
  const x = at === undefined || !frame ? 0 : frame.x(at + map.column_seconds / 2);
  useLayoutEffect(() => {
    if (tip.current && column !== null) placeTip(tip.current, width, x);
  }, [column, x, width]);

  const point = (event: PointerEvent) => {
    const left = event.clientX - (box.current?.getBoundingClientRect().left ?? 0);
    const time = map.from + ((left - LEFT) / Math.max(1, width - LEFT - RIGHT)) * (map.to - map.from);
    const found = columnAt(map.time, time);
    setColumn(left < LEFT - 4 || found < 0 ? null : found);
  };
  const key = (event: KeyboardEvent) => {
    if (event.key === 'Escape') setColumn(null);
    const next = keyStep(event, column, map.time.length);
    if (next === null) return;
    event.preventDefault();
    setColumn(next);
  };
  return (
    <div ref={box} class={`heatmap plot-box ${dim ? 'dim' : ''}`} tabIndex={0} role="img" onKeyDown={key} onBlur={() => setColumn(null)}
      onPointerMove={point} onPointerDown={point} onPointerLeave={(event) => { if (event.pointerType === 'mouse') setColumn(null); }}
      aria-label={`${label}, on a logarithmic scale. Arrow keys move the reading.`}>
      <canvas ref={canvas} style={{ width: `${width}px`, height: `${HEIGHT}px` }} aria-hidden="true" />
      {column !== null && <span class="cross" style={{ transform: `translateX(${x}px)` }} />}
      <div ref={tip} class="tip" hidden={column === null} role="status">
        {column !== null && (
          <>
            <p class="when">{dateTime(at ?? null)}{at !== undefined && map.column_seconds >= 600 ? ` – ${clock(at + map.column_seconds)}` : ''}</p>
            {reading(column)}
            {at !== undefined && <Marked marks={marks} from={at} to={at + map.column_seconds} />}
          </>
        )}
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
