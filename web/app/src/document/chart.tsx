// A chart of a report: lines and stacked areas over time or another axis.
import { useMemo } from 'preact/hooks';
import { Chart, type Series } from '../ui/chart';
import { type ChartPart, aligned, isShort, powers, roundDurations, tickOf, withUnit } from './data';

const STYLE = { solid: 'line', dashed: 'dash', stacked: 'stack' } as const;

export function DocumentChart({ chart, colour }: { chart: ChartPart; colour: (name: string) => string }) {
  const { x, lines } = useMemo(() => aligned(chart), [chart]);
  const series = useMemo(() => lines.map((line): Series => ({
    name: line.name, values: line.values, told: line.told, colour: colour(line.name), style: STYLE[line.line], width: 1.8,
  })), [lines, colour]);
  const tick = useMemo(() => tickOf(chart.y), [chart]);
  const highest = Math.max(...lines.flatMap((line) => line.values.map((v) => v ?? 0)));
  const isTime = chart.x.form === 'time';
  const tickX = tickOf(chart.x);
  return (
    <div class="document-chart">
      {chart.title && <h3>{chart.title}</h3>}
      <Chart label={`${chart.title || chart.y.name}, over ${chart.x.name}`} time={x} series={series} height={250} tick={tick}
        format={(value) => withUnit(value, chart.y)}
        {...(chart.y.log ? { log: powers, decades: 9 } : chart.y.form === 'share' && highest <= 1 && highest > 0.4 ? { top: 1 } : {})}
        {...(isTime ? {} : { across: { tick: tickX, title: (value: number) => withUnit(value, chart.x), name: chart.x.name, ...(chart.x.log ? { log: chart.x.form === 'seconds' ? roundDurations : powers } : {}) } })}
        unit={isShort(chart.y.unit) ? chart.y.name : chart.y.unit ?? ''} />
    </div>
  );
}
