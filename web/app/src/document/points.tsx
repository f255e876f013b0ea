// Named points in a plane; better ones are at the lower left.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Axes, Leader, textWidth } from '../report/plane';
import { type Box, type Plot, placeLabel, ticks } from '../report/scatter_scale';
import { placeTip } from '../ui/tip';
import { useWidth } from '../ui/width';
import { type NamedPoint, type PointsPart, tickOf, withUnit } from './data';

const HEIGHT = 340;

interface Placed extends NamedPoint { px: number; py: number; label: Box }

function placed(points: NamedPoint[], plot: Plot, at: (point: NamedPoint) => [number, number]): Placed[] {
  const taken: Box[] = points.map((point) => { const [x, y] = at(point); return { x: x - 8, y: y - 8, w: 16, h: 16 }; });
  return points.map((point) => {
    const [px, py] = at(point);
    const label = placeLabel(plot, px, py, textWidth(point.name, false), taken);
    taken.push(label);
    return { ...point, px, py, label };
  });
}

export function Points({ part, colour }: { part: PointsPart; colour: (name: string) => string }) {
  const { box, width: given } = useWidth();
  const width = Math.max(240, given);
  const tip = useRef<HTMLDivElement>(null);
  const [told, setTold] = useState<Placed | null>(null);
  useLayoutEffect(() => { if (told && tip.current) placeTip(tip.current, width, told.px); }, [told, width]);
  const plot: Plot = { x0: 58, x1: width - 24, y0: HEIGHT - 48, y1: 26 };
  const highest = (of: (point: NamedPoint) => number): number => Math.max(...part.points.map(of), 1e-6);
  const xs = ticks(highest((point) => point.x) * 1.05, 6);
  const ys = ticks(highest((point) => point.y) * 1.05, 4);
  const x = (value: number): number => plot.x0 + (value / (xs.at(-1) ?? 1)) * (plot.x1 - plot.x0);
  const y = (value: number): number => plot.y0 - (value / (ys.at(-1) ?? 1)) * (plot.y0 - plot.y1);
  const points = placed(part.points, plot, (point) => [x(point.x), y(point.y)]);
  return (
    <div class="document-chart">
      <h3>{part.title}</h3>
      <div ref={box} class="plot-box scatter">
        <svg width={width} height={HEIGHT} role="group" aria-label={`${part.title}; the table has the figures`}>
          <Axes plot={plot} xs={xs} ys={ys} x={x} y={y} tickX={tickOf(part.x)} tickY={tickOf(part.y)} />
          <text x={plot.x1} y={HEIGHT - 4} text-anchor="end">{part.x.name}</text>
          <text x={4} y={12}>{part.y.name}</text>
          {points.map((point) => <Leader key={point.name} point={{ x: point.px, y: point.py, label: point.label }} />)}
          {points.map((point) => (
            <g key={point.name} style={{ '--c': `var(${colour(point.name)})` } as Record<string, string>}>
              <circle class="point" cx={point.px} cy={point.py} r={6} tabIndex={0} role="img" aria-label={`${point.name}: ${withUnit(point.x, part.x)}, ${withUnit(point.y, part.y)}`}
                onPointerMove={() => setTold(point)} onFocus={() => setTold(point)} onPointerLeave={() => setTold(null)} onBlur={() => setTold(null)} />
              <text class="label" x={point.label.x} y={point.label.y + 12}>{point.name}</text>
            </g>
          ))}
        </svg>
        <div ref={tip} class="tip" role="status" hidden={!told}>
          {told && (
            <>
              <p class="when">{told.name}</p>
              <p>{part.x.name} <b>{withUnit(told.x, part.x)}</b></p>
              <p>{part.y.name} <b>{withUnit(told.y, part.y)}</b></p>
            </>
          )}
        </div>
      </div>
    </div>
  );
}
