// Estimates how much faster than real time the cell's clock runs, from the times at which windows close.

export interface Reading { wallS: number; cellS: number }

// Returns null if there are too few windows, or if the clock runs in real time.
export function speedOf(first: Reading | null, last: Reading): number | null {
  if (first === null || last.wallS - first.wallS < 1) return null;
  const speed = (last.cellS - first.cellS) / (last.wallS - first.wallS);
  // Two windows may close within seconds of each other after a pause, so only a lasting speed counts.
  if (last.cellS - first.cellS < 900 || speed < 2) return null;
  return speed < 10 ? Math.round(speed) : Number(speed.toPrecision(2));
}
