// Tiles fill their rectangle, each by its value, and are no strips.
import { describe, expect, it } from 'vitest';
import { treemap } from '../../src/ui/treemap_layout';

const area = (tile: { width: number; height: number }) => tile.width * tile.height;

describe('the tiles of a treemap', () => {
  it('have the areas of their values, and fill the whole', () => {
    const values = [6, 6, 4, 3, 2, 2, 1];
    const tiles = treemap(values, 600, 400);
    expect(tiles.map((t) => t.index)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    tiles.forEach((t) => expect(area(t)).toBeCloseTo((240_000 * (values[t.index] ?? 0)) / 24, 3));
    for (const t of tiles) {
      expect(t.x).toBeGreaterThanOrEqual(0);
      expect(t.y).toBeGreaterThanOrEqual(0);
      expect(t.x + t.width).toBeLessThanOrEqual(600.001);
      expect(t.y + t.height).toBeLessThanOrEqual(400.001);
    }
    // The example of the paper: the first two share a column.
    expect([tiles[0]?.width, tiles[0]?.height, tiles[1]?.x]).toEqual([300, 200, 0]);
  });
  it('do not lie over each other', () => {
    const tiles = treemap([50, 20, 10, 9, 5, 3, 2, 1, 0.5], 390, 220);
    for (const a of tiles) {
      for (const b of tiles) {
        if (a.index >= b.index) continue;
        const over = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x) > 1e-6 && Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) > 1e-6;
        expect(over).toBe(false);
      }
    }
  });
  it('are none for nothing', () => {
    expect(treemap([], 100, 100)).toEqual([]);
    expect(treemap([0, 0], 100, 100)).toEqual([]);
    expect(treemap([1], 0, 100)).toEqual([]);
    expect(treemap([3, 0, 1], 100, 100).map((t) => t.index)).toEqual([0, 2]);
  });
});
