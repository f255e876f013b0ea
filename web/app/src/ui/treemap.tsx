// Shares of a whole as tiles; a table beside them has the same values.
import { percent } from '../lib/format';
import { treemap } from './treemap_layout';
import { useWidth } from './width';

export interface TreemapItem { name: string; value: number; text: string }

const HEIGHT = 220;
const MOST = 40;
const LETTER = 6.6;  // width of a letter, pixels
const NAMED = 5;  // number of items listed in the description

// Returns as many letters as fit; "" if too few fit to be of use.
function fitting(text: string, width: number): string {
  const letters = Math.floor((width - 10) / LETTER);
  if (text.length <= letters) return text;
  return letters >= 4 ? `${text.slice(0, letters - 1)}…` : '';
}

// REQUIRES: `items` are in descending order. Items beyond MOST are merged into one tile.
export function Treemap({ label, items, rest }: { label: string; items: TreemapItem[]; rest: { count: number; value: number; text: (value: number) => string } }) {
  const { box, width } = useWidth();
  const shown = items.slice(0, MOST);
  const beyond = items.slice(MOST).reduce((sum, item) => sum + item.value, 0) + rest.value;
  const number = Math.max(0, items.length - MOST) + rest.count;
  const all = [...shown, ...(beyond > 0 ? [{ name: `${number} others`, value: beyond, text: rest.text(beyond) }] : [])];
  const total = all.reduce((sum, item) => sum + item.value, 0);
  const name = (item: TreemapItem) => `${item.name} ${percent(item.value / total)}`;
  const description = `${label}: ${all.slice(0, NAMED).map(name).join(', ')}${all.length > NAMED ? ' and others; the table has all' : ''}`;
  return (
    <div class="treemap" ref={box}>
      {width > 0 && total > 0 && (
        <svg role="img" aria-label={description} width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`}>
          {treemap(all.map((item) => item.value), width, HEIGHT).map((tile) => {
            const item = all[tile.index];
            if (!item) return null;
            return (
              <g key={item.name}>
                <rect x={tile.x + 1} y={tile.y + 1} width={Math.max(0, tile.width - 2)} height={Math.max(0, tile.height - 2)} rx={2} />
                <title>{`${name(item)}, ${item.text}`}</title>
                {tile.height > 20 && <text x={tile.x + 6} y={tile.y + 16}>{fitting(item.name, tile.width)}</text>}
                {tile.height > 38 && <text class="share" x={tile.x + 6} y={tile.y + 32}>{fitting(percent(item.value / total), tile.width)}</text>}
              </g>
            );
          })}
        </svg>
      )}
    </div>
  );
}
