// How much faster than real time the cell's clock runs, from when windows close here.

export interface Reading { wallS: number; cellS: number }

// null: too little was seen, or it runs as fast as it should.
export function speedOf(first: Reading | null, last: Reading): number | null {
  if (first === null || last.wallS - first.wallS < 1) return null;
  const speed = (last.cellS - first.cellS) / (last.wallS - first.wallS);
  // Two windows of 5 minutes may close within seconds of each other after a pause: only what lasts counts.
  if (last.cellS - first.cellS < 900 || speed < 2) return null;
  return speed < 10 ? Math.round(speed) : Number(speed.toPrecision(2));
}
