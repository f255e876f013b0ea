// Parts of a plane of labelled points: its axes, the widths of labels, and the lines to distant labels.
import { type Box, type Plot } from './scatter_scale';

const pen = document.createElement('canvas').getContext('2d');
export function textWidth(text: string, bold: boolean): number {
  if (!pen) return 7 * text.length;
  pen.font = `${bold ? '650 ' : ''}13px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

export function Leader({ point: { x, y, label } }: { point: { x: number; y: number; label: Box } }) {
  const cx = Math.max(label.x - 2, Math.min(x, label.x + label.w + 2));
  const cy = Math.max(label.y, Math.min(y, label.y + label.h));
  return Math.hypot(cx - x, cy - y) > 18 ? <line class="leader" x1={x} y1={y} x2={cx} y2={cy} /> : null;
}

export interface AxesProps {
  plot: Plot; xs: number[]; ys: number[]; x: (v: number) => number; y: (v: number) => number; tickX: (v: number) => string; tickY: (v: number) => string;
}

export function Axes({ plot, xs, ys, x, y, tickX, tickY }: AxesProps) {
  return (
    <>
      {ys.map((v) => (
        <g key={v}>
          <line class="grid-line" x1={plot.x0} x2={plot.x1} y1={Math.round(y(v)) + 0.5} y2={Math.round(y(v)) + 0.5} />
          <text x={plot.x0 - 8} y={y(v) + 4} text-anchor="end">{tickY(v)}</text>
        </g>
      ))}
      {xs.map((v) => <text key={v} x={x(v)} y={plot.y0 + 18} text-anchor="middle">{tickX(v)}</text>)}
    </>
  );
}
