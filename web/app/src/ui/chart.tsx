// A uPlot chart with a legend above it, and a tooltip with the values under the pointer.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { colour, rgb, useTheme } from '../lib/theme';
import { clock, dateTime } from '../lib/time';
import { NBSP, NONE } from '../lib/format';
import { placeTip } from './tip';

export interface Series {
  name: string;
  values: (number | null)[];
  told?: (number | null)[];  // what the tooltip says instead, for stacked areas
  colour: string;         // a CSS variable
  style: 'line' | 'dash' | 'dots' | 'area' | 'bars' | 'step' | 'step-dash' | 'stack';
  width?: number;
  remark?: string;        // beside its name in the legend
}

// Filled between two lines, behind the series.
export interface Band {
  name: string;
  low: (number | null)[];
  high: (number | null)[];
  colour: string;
  remark?: string;
}

export interface ChartProps {
  label: string;
  time: number[];
  series: Series[];
  band?: Band | undefined;
  format: (value: number) => string;      // in the read-out
  tick: (value: number) => string;        // on the axis
  base?: 2 | 10;                          // of the axis' round numbers
  height?: number;
  unit?: string;                          // of the axis, where its numbers have none
  top?: number;                           // of the axis, where not everything need fit
  bare?: boolean;                         // without a legend
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function timeTicks(_: uPlot, splits: number[], _axis: number, _space: number, step: number): string[] {
  return splits.map((at) => {
    const d = new Date(at * 1000);
    return step >= 86400 || (d.getHours() === 0 && d.getMinutes() === 0) ? `${d.getDate()}${NBSP}${MONTHS[d.getMonth()]}` : clock(at);
  });
}

// Round steps of an axis: 1-2-5 and so on, of a unit of 1024s for bytes.
function increments(base: 2 | 10): number[] {
  const all: number[] = [];
  if (base === 10) for (let e = -4; e < 10; ++e) for (const m of [1, 2, 5]) all.push(m * 10 ** e);
  else for (let unit = 0; unit < 6; ++unit) for (const m of unit < 4 ? [1, 2, 5, 10, 20, 50, 128, 256, 512] : [1, 2, 5, 10, 20, 50, 100, 200, 500]) all.push(m * 1024 ** unit);
  return all;
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
  const axis: uPlot.Axis = { stroke: rgb(colour('--muted')), font: '12px system-ui, sans-serif', grid, ticks: { show: false } };
  return {
    width, height: props.height ?? 220, pxAlign: 1,
    padding: [8, 20, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false, setScale: false } },
    scales: { x: { time: true }, y: { range: (_u, _min, max) => [0, props.top ?? Math.max(max || 0, 1e-9) * 1.08] } },
    axes: [
      { ...axis, values: timeTicks, space: 64, grid: { show: false }, size: 26 },
      { ...axis, incrs: increments(props.base ?? 10), values: (_u, splits) => splits.map(props.tick), space: 34, size: 66 },
    ],
    series: [{}, ...props.series.map(seriesOptions), ...bandOptions(props)],
    // After the x values and the series: the high line, then the low one.
    bands: props.band ? [{ series: [props.series.length + 1, props.series.length + 2], fill: rgb(colour(props.band.colour), 0.28) }] : [],
    hooks: { setCursor: [(u) => onCursor(u.cursor.idx ?? null)] },
  };
}

const swatchClass = (style: Series['style']): string => `swatch swatch-${style.replace('step-dash', 'dash').replace('step', 'line').replace('stack', 'bars')}`;

export function Swatch({ name, style }: { name: string; style: Series['style'] }) {
  return <span class={swatchClass(style)} style={{ '--c': `var(${name})` } as Record<string, string>} aria-hidden="true" />;
}

const reading = (value: number | null | undefined, format: (v: number) => string): string =>
  (value === null || value === undefined ? NONE : format(value));

function Readings({ props, index }: { props: ChartProps; index: number }) {
  return (
    <>
      <p class="when">{dateTime(props.time[index] ?? null)}</p>
      {props.series.map((s) => {
        return <p key={s.name}><Swatch name={s.colour} style={s.style} />{s.name} <b>{reading((s.told ?? s.values)[index], props.format)}</b></p>;
      })}
      {props.band && (
        <p><Swatch name={props.band.colour} style="bars" />{props.band.name} <b>{reading(props.band.low[index], props.format)} to {reading(props.band.high[index], props.format)}</b></p>
      )}
    </>
  );
}

export function Chart(props: ChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [index, setIndex] = useState<number | null>(null);
  const theme = useTheme();
  const kinds = [...props.series.map((s) => s.name + s.style + s.colour), props.band?.name ?? ''].join('|');
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
  }, [theme, kinds, props.base, props.height, props.tick, props.top]);

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
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(props.time.length - 1, (index ?? props.time.length) + step * (event.shiftKey ? 12 : 1)));
    u.setCursor({ left: u.valToPos(props.time[next] ?? 0, 'x'), top: 10 });
  };

  return (
    <figure class="chart">
      {!props.bare && (
        <figcaption class="legend">
          {props.series.map((s) => <span key={s.name}><Swatch name={s.colour} style={s.style} />{s.name}{s.remark ? ` (${s.remark})` : ''}</span>)}
          {props.band && <span><Swatch name={props.band.colour} style="bars" />{props.band.name}{props.band.remark ? ` (${props.band.remark})` : ''}</span>}
          {props.unit && <span class="unit">{props.unit}</span>}
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
