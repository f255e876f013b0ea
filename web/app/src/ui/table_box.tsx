// A table that scrolls sideways if it is too wide. On a phone each row is a card, and its figures have the column heads beside
// them.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

// Copies the text of each column's head to the cells of the body as `data-label`, which the style sheet shows.
function label(box: HTMLElement): void {
  for (const table of box.querySelectorAll('table')) {
    const heads = [...table.querySelectorAll('thead th, thead td')].map((head) => head.textContent ?? '');
    for (const row of table.querySelectorAll('tbody tr')) {
      [...row.children].forEach((cell, i) => { if (cell.localName === 'td' && heads[i]) cell.setAttribute('data-label', heads[i] ?? ''); });
    }
  }
}

export function TableBox({ label: name, class: kind = '', children }: { label: string; class?: string; children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => { if (box.current) label(box.current); });
  return <div ref={box} class={`${kind} stacked scroll`} tabIndex={0} role="region" aria-label={name}>{children}</div>;
}
