// Puts a tooltip beside `x` of a box that is `width` wide, on the side where there is room.
export function placeTip(tip: HTMLElement, width: number, x: number): void {
  const own = tip.offsetWidth;
  const right = x + 14 + own <= width;
  const left = right ? x + 14 : Math.max(0, x - 14 - own);
  tip.style.transform = `translate(${Math.round(left)}px, 8px)`;
}
