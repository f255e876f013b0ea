// Footprint over OOM-days, one labelled point per recommender.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { NONE, amount, percent, percentTick, significant, words } from '../lib/format';
import { RESOURCE } from '../lib/resource';
import { Card } from '../ui/basics';
import { placeTip } from '../ui/tip';
import { useWidth } from '../ui/width';
import { type Lane, hasOwner } from './data';
import { colourOf, shapeOf } from './marks';
import { Axes, Leader, textWidth } from './plane';
import { type Box, type Plot, placeLabel, ticks } from './scatter_scale';
import type { View } from './view';

const HEIGHT = 340;
const LABEL_H = 16;

interface Point { lane: Lane; x: number; y: number; label: Box }

function labelled(lanes: Lane[], plot: Plot, picked: Lane, at: (lane: Lane) => [number, number]): Point[] {
  const taken: Box[] = lanes.map((lane) => { const [x, y] = at(lane); return { x: x - 8, y: y - 8, w: 16, h: LABEL_H }; });
  taken.push({ x: plot.x1 - 90, y: plot.y1, w: 90, h: 48 });
  return lanes.map((lane) => {
    const [x, y] = at(lane);
    const label = placeLabel(plot, x, y, textWidth(words(lane.policy), lane === picked), taken);
    taken.push(label);
    return { lane, x, y, label };
  });
}

function Reading({ lane }: { lane: Lane }) {
  const s = lane.sum;
  return (
    <>
      <p class="when">{words(lane.policy)}</p>
      <p>footprint <b>{amount(lane.resource, s.limit)}</b></p>
      <p>of the owners’ <b>{s.owner > 0 ? percent(s.of_owner) : NONE}</b></p>
      <p>{RESOURCE[lane.resource].atLimit.days} <b>{percent(s.oom_day_share, 2)}</b></p>
      <p>mean slack <b>{percent(s.slack_mean)}</b></p>
    </>
  );
}

function PointMark({ view, point, onTell }: { view: View; point: Point; onTell: (point: Point | null) => void }) {
  const { lane, x, y, label } = point;
  const picked = lane === view.lane;
  const pick = () => view.change({ policy: lane.policy });
  return (
    <g style={{ '--c': `var(${colourOf(lane.policy)})` } as Record<string, string>}>
      {picked && <circle class="ring" cx={x} cy={y} r={11} />}
      <path class="point" d={shapeOf(lane.policy)} transform={`translate(${x} ${y})`} tabIndex={0} role="button" aria-label={`Show ${words(lane.policy)}`}
        aria-pressed={picked} onPointerMove={() => onTell(point)} onFocus={() => onTell(point)} onPointerLeave={() => onTell(null)} onBlur={() => onTell(null)}
        onClick={pick} onKeyDown={(event) => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); pick(); } }} />
      <text class={picked ? 'label picked' : 'label'} x={label.x} y={label.y + 12}>{words(lane.policy)}</text>
    </g>
  );
}

function Scatter({ view }: { view: View }) {
  const { lanes } = view;
  const { days } = RESOURCE[view.choice.resource].atLimit;
  const { box, width: given } = useWidth();
  const width = Math.max(240, given);
  const tip = useRef<HTMLDivElement>(null);
  const [told, setTold] = useState<Point | null>(null);
  useLayoutEffect(() => { if (told && tip.current) placeTip(tip.current, width, told.x); }, [told, width]);
  const plot: Plot = { x0: 54, x1: width - 24, y0: HEIGHT - 48, y1: 12 };
  const ofOwner = lanes.some(hasOwner);
  const across = (lane: Lane) => (ofOwner ? lane.sum.of_owner : lane.sum.of_usage) ?? 0;
  const right = Math.max(...lanes.map(across), ofOwner ? 1 : 1.2) * 1.1;
  const ys = ticks(Math.max(...lanes.map((lane) => lane.sum.oom_day_share ?? 0), 0.001) * 1.08, 4);
  const top = ys.at(-1) ?? 1;
  const x = (v: number) => plot.x0 + (v / right) * (plot.x1 - plot.x0);
  const y = (v: number) => plot.y0 - (v / top) * (plot.y0 - plot.y1);
  const points = labelled(lanes, plot, view.lane, (lane) => [x(across(lane)), y(lane.sum.oom_day_share ?? 0)]);
  const first = lanes[0];
  const usage = !first ? 0 : ofOwner ? first.sum.usage / first.sum.owner : 1;
  const arrow = { x: plot.x1 - 34, y: plot.y1 + 44 };
  return (
    <div ref={box} class="plot-box scatter">
      <svg width={width} height={HEIGHT} role="group" aria-label={`Footprint against ${days} for ${lanes.length} recommenders; the table above has the figures`}>
        <Axes plot={plot} xs={ticks(right, 5).filter((v) => v <= right)} ys={ys} x={x} y={y} tickX={ofOwner ? percentTick : (v) => significant(v) + '×'} tickY={percentTick} />
        <text x={plot.x1} y={HEIGHT - 4} text-anchor="end">{ofOwner ? 'footprint, share of the owners’' : 'footprint, times usage'}</text>
        <text x={plot.x0 + 6} y={plot.y1 + 12}>{days}, share of job-days</text>
        {usage > 0.02 && (
          <>
            <line class="reference" x1={x(usage)} x2={x(usage)} y1={plot.y1 + 22} y2={plot.y0} />
            <text x={x(usage) + 5} y={plot.y1 + 34}>used</text>
          </>
        )}
        <path class="better" d={`M${arrow.x + 28} ${arrow.y - 28}L${arrow.x} ${arrow.y}M${arrow.x} ${arrow.y - 10}V${arrow.y}H${arrow.x + 10}`} />
        <text x={arrow.x + 6} y={arrow.y - 20} text-anchor="end">better</text>
        {points.map((point) => <Leader key={point.lane.policy} point={point} />)}
        {points.map((point) => <PointMark key={point.lane.policy} view={view} point={point} onTell={setTold} />)}
      </svg>
      <div ref={tip} class="tip" role="status" hidden={!told}>{told && <Reading lane={told.lane} />}</div>
    </div>
  );
}

export function ScatterCard({ view }: { view: View }) {
  const { word, atLimit } = RESOURCE[view.choice.resource];
  return (
    <Card title="Cost against risk" hint={`Left: less ${word} set aside. Down: fewer ${atLimit.days}. Lower left is better.`}>
      <Scatter view={view} />
    </Card>
  );
}
