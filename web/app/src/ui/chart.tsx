// A uPlot chart with a legend above it, and a tooltip with the values under the pointer.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { colour, rgb, useTheme } from '../lib/theme';
import { clock, dateTime, dayLabel, dayStart, evenDays } from '../lib/time';
import { NONE } from '../lib/format';
import { keyStep, placeTip } from './tip';

export interface Series {
  name: string;
  values: (number | null)[];
  told?: (number | null)[];  // values for the tooltip if they differ from the drawn values, as for stacked areas
  colour: string;         // a CSS variable
  style: 'line' | 'dash' | 'dots' | 'area' | 'bars' | 'step' | 'step-dash' | 'stack';
  width?: number;
  remark?: string;  // text beside the series' name in the legend
  icon?: ComponentChildren;  // icon beside the series' name in the read-out, instead of a line
}

// An area between two lines, behind the series.
export interface Band {
  name: string;
  low: (number | null)[];
  high: (number | null)[];
  colour: string;
  remark?: string;
}

// A horizontal axis that is not time.
export interface Across {
  tick: (value: number) => string;
  title: (value: number) => string;       // heading of the read-out
  name: string;
  mark?: number;  // position of a dashed line
  log?: (low: number, high: number) => number[];  // a logarithmic axis with these ticks
}

// The beginning of the time axis, which is drawn with a shade.
export interface Shade { until: number; text: string }

export interface ChartProps {
  label: string;
  time: number[];  // times in seconds, or values of `across`
  series: Series[];
  band?: Band | undefined;
  format: (value: number) => string;      // format of values in the read-out
  tick: (value: number) => string;        // format of values on the axis
  base?: 2 | 10;  // base of the axis' round numbers
  log?: (low: number, high: number) => number[];  // a logarithmic axis with these ticks, as in heatmaps
  decades?: number;  // maximum number of decades of a logarithmic axis; default: 4, as in heatmaps
  height?: number;
  unit?: string;  // unit of the axis if its numbers contain no unit
  top?: number;  // upper end of the axis if higher values may be cut off
  bare?: boolean;                         // true: no legend
  across?: Across;
  shade?: Shade;
  sorted?: boolean;  // true: the read-out lists the largest value first
  more?: (index: number) => ComponentChildren;  // content below the read-out
}

function timeTicks(_: uPlot, splits: number[], _axis: number, _space: number, step: number): string[] {
  return splits.map((at) => (step >= 86400 || dayStart(at) === at ? dayLabel(at) : clock(at)));
}

const EVEN_STEPS = [1, 2, 7, 14, 28, 56, 112, 224, 448].map((days) => days * 86400);

function acrossAxis(props: ChartProps): uPlot.Axis {
  if (props.across) {
    const { tick, name, log } = props.across;
    const ticks: uPlot.Axis = log ? { splits: (_u, _a, low, high) => log(low, high), filter: (_u, splits) => splits } : {};
    return { ...ticks, values: (_u, splits) => splits.map(tick), label: name, labelSize: 20, labelFont: FONT, labelGap: 0 };
  }
  return evenDays() ? { values: timeTicks, incrs: EVEN_STEPS } : { values: timeTicks };
}

// Drawn below the lines: the shade, and the mark of the axis.
function drawBehind(u: uPlot, props: ChartProps): void {
  const { left, top, width, height } = u.bbox;
  const g = u.ctx;
  g.save();
  if (props.shade) {
    const end = Math.min(left + width, u.valToPos(props.shade.until, 'x', true));
    if (end > left + 1) {
      g.fillStyle = rgb(colour('--muted'), 0.08);
      g.fillRect(left, top, end - left, height);
      g.fillStyle = rgb(colour('--muted'));
      g.font = `${12 * uPlot.pxRatio}px system-ui, sans-serif`;
      g.textAlign = 'left';
      if (g.measureText(props.shade.text).width + 10 < end - left) g.fillText(props.shade.text, left + 5, top + height - 6 * uPlot.pxRatio);
    }
  }
  if (props.across?.mark !== undefined) {
    const x = u.valToPos(props.across.mark, 'x', true);
    g.strokeStyle = rgb(colour('--muted'));
    g.lineWidth = uPlot.pxRatio;
    g.setLineDash([2 * uPlot.pxRatio, 4 * uPlot.pxRatio]);
    g.beginPath(); g.moveTo(x, top); g.lineTo(x, top + height); g.stroke();
  }
  g.restore();
}

const FONT = '12px system-ui, sans-serif';

// Round steps of an axis: 1, 2, 5 and so on, in units of powers of 1024 for bytes.
function increments(base: 2 | 10): number[] {
  const all: number[] = [];
  if (base === 10) for (let e = -4; e < 10; ++e) for (const m of [1, 2, 5]) all.push(m * 10 ** e);
  else for (let unit = 0; unit < 6; ++unit) for (const m of unit < 4 ? [1, 2, 5, 10, 20, 50, 128, 256, 512] : [1, 2, 5, 10, 20, 50, 100, 200, 500]) all.push(m * 1024 ** unit);
  return all;
}

function logSpan(min: number | null, max: number | null, decades = 4): [number, number] {
  const high = Math.max(max ?? 0, 1e-9) * 1.2;
  return [Math.max(min ?? high / 2, high / 10 ** decades) / 1.12, high];
}

function seriesOptions(series: Series): uPlot.Series {
  const line = colour(series.colour);
  const plain: uPlot.Series = { label: series.name, stroke: rgb(line), width: series.width ?? 1.6, points: { show: false } };
  const steps = uPlot.paths.stepped?.({ align: 1 });
  switch (series.style) {
    case 'area': return { ...plain, width: 1, stroke: rgb(line, 0.8), fill: rgb(line, 0.2) };
    case 'stack': return { ...plain, width: 0, fill: rgb(line) };
    case 'dash': return { ...plain, dash: [6, 4] };
    case 'dots': return { ...plain, dash: [2, 3] };
    case 'step': return { ...plain, paths: steps };
    case 'step-dash': return { ...plain, paths: steps, dash: [6, 4] };
    case 'bars': return { ...plain, width: 0, fill: rgb(line, 0.85), paths: uPlot.paths.bars?.({ size: [0.8, 24, 1], align: 1 }) };
    default: return plain;
  }
}

function bandOptions(props: ChartProps): uPlot.Series[] {
  if (!props.band) return [];
  const line: uPlot.Series = { label: props.band.name, stroke: rgb(colour(props.band.colour), 0.55), width: 0.8, points: { show: false } };
  return [line, line];
}

function options(props: ChartProps, width: number, onCursor: (index: number | null) => void): uPlot.Options {
  const grid = { stroke: rgb(colour('--line')), width: 1 };
  const axis: uPlot.Axis = { stroke: rgb(colour('--muted')), font: FONT, grid, ticks: { show: false } };
  return {
    width, height: props.height ?? 220, pxAlign: 1,
    padding: [8, props.across?.log ? 32 : 20, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false, setScale: false } },
    scales: { x: { time: !props.across && !evenDays(), ...(props.across?.log ? { distr: 3 } : {}) }, y: props.log ? { distr: 3, range: (_u, min, max) => logSpan(min, props.top ?? max, props.decades) } : { range: (_u, _min, max) => [0, props.top ?? Math.max(max || 0, 1e-9) * 1.08] } },
    axes: [
      { ...axis, ...acrossAxis(props), space: 64, grid: { show: false }, size: 26 },
      { ...axis, ...(props.log ? { splits: (_u: uPlot, _a: number, low: number, high: number) => props.log?.(low, high) ?? [], filter: (_u: uPlot, splits: number[]) => splits } : { incrs: increments(props.base ?? 10) }), values: (_u, splits) => splits.map(props.tick), space: 34, size: 66 },
    ],
    series: [{}, ...props.series.map(seriesOptions), ...bandOptions(props)],
    // The two lines of the band follow the x values and the series: first the high one, then the low one.
    bands: props.band ? [{ series: [props.series.length + 1, props.series.length + 2], fill: rgb(colour(props.band.colour), 0.28) }] : [],
    hooks: { drawClear: [(u) => drawBehind(u, props)], setCursor: [(u) => onCursor(u.cursor.idx ?? null)] },
  };
}

const swatchClass = (style: Series['style']): string => `swatch swatch-${style.replace('step-dash', 'dash').replace('step', 'line').replace('stack', 'bars')}`;

export function Swatch({ name, style }: { name: string; style: Series['style'] }) {
  return <span class={swatchClass(style)} style={{ '--c': `var(${name})` } as Record<string, string>} aria-hidden="true" />;
}

const reading = (value: number | null | undefined, format: (v: number) => string): string =>
  (value === null || value === undefined ? NONE : format(value));

function Readings({ props, index }: { props: ChartProps; index: number }) {
  const at = props.time[index] ?? null;
  const value = (s: Series) => (s.told ?? s.values)[index];
  const rows = props.sorted ? [...props.series].sort((a, b) => (value(b) ?? -1) - (value(a) ?? -1)) : props.series;
  return (
    <>
      <p class="when">{props.across && at !== null ? props.across.title(at) : dateTime(at)}</p>
      {rows.map((s) => (
        <p key={s.name}>{s.icon ?? <Swatch name={s.colour} style={s.style} />}{s.name} <b>{reading(value(s), props.format)}</b></p>
      ))}
      {props.band && (
        <p><Swatch name={props.band.colour} style="bars" />{props.band.name} <b>{reading(props.band.low[index], props.format)} to {reading(props.band.high[index], props.format)}</b></p>
      )}
      {props.more?.(index)}
    </>
  );
}

// A chart of a single time is not drawn, because it has no line and its axis would span years.
export function Chart(props: ChartProps) {
  if (!props.across && props.time.length < 2) return <p class="no-bars">The chart begins with the second window of 5 minutes.</p>;
  return <Plot {...props} />;
}

function Plot(props: ChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [index, setIndex] = useState<number | null>(null);
  const theme = useTheme();
  const kinds = [...props.series.map((s) => s.name + s.style + s.colour + (s.width ?? '')), props.band?.name ?? ''].join('|');
  const columns = [...props.series.map((s) => s.values), ...(props.band ? [props.band.high, props.band.low] : [])];
  const data = (): uPlot.AlignedData => [props.time, ...columns] as uPlot.AlignedData;

  useLayoutEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const made = new uPlot(options(props, Math.max(200, element.clientWidth), setIndex), data(), element);
    plot.current = made;
    const observer = new ResizeObserver(() => {
      const width = element.clientWidth;
      if (width > 0 && width !== made.width) made.setSize({ width, height: made.height });
    });
    observer.observe(element);
    return () => { observer.disconnect(); made.destroy(); plot.current = null; };
  }, [theme, kinds, props.base, props.height, props.tick, props.top, props.shade?.until]);

  useEffect(() => { plot.current?.setData(data()); }, [props.time, ...columns]);

  useLayoutEffect(() => {
    const u = plot.current;
    const at = index === null ? undefined : props.time[index];
    if (!u || at === undefined || !tip.current || !host.current) return;
    placeTip(tip.current, host.current.clientWidth, u.over.offsetLeft + u.valToPos(at, 'x'));
  }, [index]);

  const move = (event: KeyboardEvent) => {
    const u = plot.current;
    if (!u || props.time.length === 0) return;
    if (event.key === 'Escape') u.setCursor({ left: -10, top: -10 });
    const next = keyStep(event, index, props.time.length);
    if (next === null) return;
    event.preventDefault();
    u.setCursor({ left: u.valToPos(props.time[next] ?? 0, 'x'), top: 10 });
  };

  return (
    <figure class="chart">
      {!props.bare && (
        <figcaption class="legend">
          {props.series.map((s) => <span key={s.name}><Swatch name={s.colour} style={s.style} />{s.name}{s.remark ? ` (${s.remark})` : ''}</span>)}
          {props.band && <span><Swatch name={props.band.colour} style="bars" />{props.band.name}{props.band.remark ? ` (${props.band.remark})` : ''}</span>}
          {(props.unit || props.log) && <span class="unit">{[props.unit, props.log && 'log scale'].filter(Boolean).join(', ')}</span>}
        </figcaption>
      )}
      <div class="plot-box">
        <div ref={host} class="plot" role="img" aria-label={`${props.label}. Arrow keys move the reading.`} tabIndex={0} onKeyDown={move}
          onBlur={() => plot.current?.setCursor({ left: -10, top: -10 })} />
        <div ref={tip} class="tip" hidden={index === null} role="status">{index !== null && <Readings props={props} index={index} />}</div>
      </div>
    </figure>
  );
}
