// Lays out the tiles of a treemap: squarified, after Bruls, Huizing and van Wijk (2000).
export interface Tile { index: number; x: number; y: number; width: number; height: number }

// Returns the worst aspect ratio of the tiles if these areas fill a row along `side`.
function worst(areas: number[], sum: number, side: number): number {
  const thick = sum / side;
  return Math.max(...areas.map((area) => Math.max(thick / (area / thick), area / thick / thick)));
}

// Returns the tiles of the values, which must descend; together they fill the rectangle. Values that are not above 0 have no
// tile.
export function treemap(values: number[], width: number, height: number): Tile[] {
  const items = values.map((value, index) => ({ value, index })).filter((item) => item.value > 0);
  const all = items.reduce((sum, item) => sum + item.value, 0);
  if (all <= 0 || width <= 0 || height <= 0) return [];
  const scale = (width * height) / all;
  const out: Tile[] = [];
  let [x, y, w, h] = [0, 0, width, height];
  for (let first = 0; first < items.length;) {
    const side = Math.min(w, h);
    const areas: number[] = [];
    let sum = 0;
    for (const item of items.slice(first)) {
      const area = item.value * scale;
      if (areas.length > 0 && worst([...areas, area], sum + area, side) > worst(areas, sum, side)) break;
      areas.push(area);
      sum += area;
    }
    // The last row gets the remainder of rounding.
    const thick = first + areas.length === items.length ? Math.max(w, h) : sum / side;
    let at = 0;
    areas.forEach((area, i) => {
      const long = (area / sum) * side;
      const index = items[first + i]?.index ?? 0;
      out.push(w >= h ? { index, x, y: y + at, width: thick, height: long } : { index, x: x + at, y, width: long, height: thick });
      at += long;
    });
    if (w >= h) { x += thick; w -= thick; } else { y += thick; h -= thick; }
    first += areas.length;
  }
  return out;
}
