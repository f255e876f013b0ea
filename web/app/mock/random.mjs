// Numbers that look random and are the same in every run.

export function hash(...parts) {
  let h = 2166136261;
  for (const part of parts) {
    const text = String(part);
    for (let i = 0; i < text.length; ++i) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
    h = Math.imul(h ^ (h >>> 15), 2246822519);
  }
  h = Math.imul(h ^ (h >>> 13), 3266489917);
  return (h ^ (h >>> 16)) >>> 0;
}

// In [0, 1).
export const unit = (...parts) => hash(...parts) / 4294967296;

// About normal: mean 0, deviation 1.
export function normal(...parts) {
  const u = Math.max(unit(...parts, 'u'), 1e-9);
  return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * unit(...parts, 'v'));
}

export const pick = (list, ...parts) => list[Math.floor(unit(...parts) * list.length)];

export function weighted(pairs, ...parts) {
  let left = unit(...parts) * pairs.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [value, weight] of pairs) if ((left -= weight) < 0) return value;
  return pairs[pairs.length - 1][0];
}
