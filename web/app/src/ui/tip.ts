// Returns the index, below `length`, to which a key moves the read-out; null: the key has no effect.
export function keyStep(event: KeyboardEvent, at: number | null, length: number): number | null {
  const big = Math.max(1, Math.round(length / 20));
  const from = at ?? length;
  const to = { ArrowLeft: from - (event.shiftKey ? 12 : 1), ArrowRight: from + (event.shiftKey ? 12 : 1), PageDown: from + big, PageUp: from - big,
    Home: 0, End: length - 1 }[event.key];
  return to === undefined || length === 0 ? null : Math.max(0, Math.min(length - 1, to));
}

// Places a tooltip beside `x` in a box of this `width`, on the side with room.
export function placeTip(tip: HTMLElement, width: number, x: number): void {
  const own = tip.offsetWidth;
  const right = x + 14 + own <= width;
  const left = right ? x + 14 : Math.max(0, x - 14 - own);
  tip.style.transform = `translate(${Math.round(left)}px, 8px)`;
}
