// Computes round ticks of the scatter's axes and places for its labels. This file does not draw.

export interface Box { x: number; y: number; w: number; h: number }
// Pixels of the corners; y0 is the bottom.
export interface Plot { x0: number; x1: number; y0: number; y1: number }

// Returns about `wanted` round values from 0 to the first at or above `high`.
export function ticks(high: number, wanted: number): number[] {
  if (!(high > 0)) return [0, 1];
  const rough = high / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * (1 - 1e-9)) ?? 10 * power;
  return Array.from({ length: Math.ceil(high / step - 1e-9) + 1 }, (_, i) => i * step);
}

const overlap = (a: Box, b: Box): boolean => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

// Tries places around the point until the label overlaps no other label or point; if all fail, the first place is used.
export function placeLabel(plot: Plot, x: number, y: number, w: number, taken: readonly Box[]): Box {
  const h = 16;
  const places: Box[] = [16, 28, 44].flatMap((d) => [
    [x + d, y - h / 2], [x - d - w, y - h / 2], [x - w / 2, y - d - h], [x - w / 2, y + d],
    [x + d * 0.7, y - d - h / 2], [x + d * 0.7, y + d - h / 2], [x - w - d * 0.7, y - d - h / 2], [x - w - d * 0.7, y + d - h / 2],
  ]).map(([left = 0, top = 0]) => ({ x: left, y: top, w, h }));
  const fits = (p: Box) => p.x >= plot.x0 + 2 && p.x + w <= plot.x1 && p.y >= plot.y1 && p.y + h <= plot.y0 - 2 && !taken.some((other) => overlap(p, other));
  return places.find(fits) ?? places[0] ?? { x, y, w, h };
}
