// Tabs: shows one of several panels; arrow keys switch between them.
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';

export interface Tab<T extends string> { value: T; label: string }

export function Tabs<T extends string>({ label, tabs, value, onPick, children }: { label: string; tabs: Tab<T>[]; value: T; onPick: (value: T) => void; children: ComponentChildren }) {
  const list = useRef<HTMLDivElement>(null);
  const key = (event: KeyboardEvent) => {
    const at = tabs.findIndex((tab) => tab.value === value);
    const to = { ArrowRight: (at + 1) % tabs.length, ArrowLeft: (at + tabs.length - 1) % tabs.length, Home: 0, End: tabs.length - 1 }[event.key];
    const next = to === undefined ? undefined : tabs[to];
    if (!next) return;
    event.preventDefault();
    onPick(next.value);
    list.current?.querySelector<HTMLElement>(`#tab-${next.value}`)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={key}>
        {tabs.map((tab) => (
          <button type="button" key={tab.value} role="tab" id={`tab-${tab.value}`} aria-selected={tab.value === value} aria-controls="tab-panel" tabIndex={tab.value === value ? 0 : -1}
            onClick={() => onPick(tab.value)}>{tab.label}</button>
        ))}
      </div>
      <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${value}`}>{children}</div>
    </>
  );
}
