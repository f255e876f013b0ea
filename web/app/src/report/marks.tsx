// The mark of a recommender: a colour (styles/report.css) and a shape, so that colour is never the only difference.
import type { ComponentChildren } from 'preact';
import { words } from '../lib/format';
import type { Series } from '../ui/chart';
import { type View, toggled } from './view';

// Shapes around (0, 0), about 11 pixels wide.
const SHAPES: Record<string, string> = {
  static: 'M-5-5H5V5H-5Z',
  peak: 'M0-6L6 5H-6Z',
  vpa: 'M0-6.5L6.5 0L0 6.5L-6.5 0Z',
  moving_window: 'M0 6L-6-5H6Z',
  ensemble: 'M-2-6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z',
  work_function: 'M-5 5V-1H0V-6H5V5Z',
  combined: 'M-6-2H-2V-6H2V-2H6V2H2V6H-2V2H-6Z',
  krr: 'M-6-1H-1V-6H1V-1H6V1H1V6H-1V1H-6Z',
  crane: 'M-6-5H6V-1H2V6H-2V-1H-6Z',
  analogs: 'M-5.5 0A5.5 5.5 0 1 0 5.5 0A5.5 5.5 0 1 0-5.5 0Z',
  pair: 'M-6-6H-1V6H-6ZM1-6H6V6H1Z',
  pair2: 'M-6-6H6V-1H-6ZM-6 1H6V6H-6Z',
  pair3: 'M-6-6H0L6 0V6H0L-6 0Z',
  pair4: 'M6-6H0L-6 0V6H0L6 0Z',
};

// A pair such as "moving_window+analogs" has one recommender per resource. Each pair of a page has a mark of its own, up to four.
const pairs = new Map<string, string>();
function markOfPair(policy: string): string {
  if (!pairs.has(policy)) pairs.set(policy, ['pair', 'pair2', 'pair3', 'pair4'][pairs.size % 4] ?? 'pair');
  return pairs.get(policy) ?? 'pair';
}
export const known = (policy: string): string => (policy in SHAPES ? policy : policy.includes('+') ? markOfPair(policy) : 'static');
export const shapeOf = (policy: string): string => SHAPES[known(policy)] ?? '';
export const colourOf = (policy: string): string => `--p-${known(policy)}`;

export function Mark({ policy }: { policy: string }) {
  return <svg class={`mark p-${known(policy)}`} viewBox="-7 -7 14 14" aria-hidden="true"><path d={shapeOf(policy)} /></svg>;
}

// Style of a recommender's line in every chart.
export function lineOf(view: View, policy: string): Pick<Series, 'name' | 'colour' | 'style' | 'width' | 'icon'> {
  return { name: words(policy), colour: colourOf(policy), style: policy === 'static' ? 'dash' : 'line',
    width: policy === view.lane.policy ? 2.8 : 1.4, icon: <Mark policy={policy} /> };
}

// Buttons that pick a recommender.
export function PolicyChips({ view, label }: { view: View; label: string }) {
  return (
    <div class="chips" role="group" aria-label={label}>
      {view.lanes.map(({ policy }) => (
        <button type="button" key={policy} class={`chip p-${known(policy)}`} aria-pressed={policy === view.lane.policy}
          title={view.report.policies.find((p) => p.name === policy)?.what} onClick={() => view.change({ policy })}>
          <Mark policy={policy} />{words(policy)}
        </button>
      ))}
    </div>
  );
}

// Buttons that show and hide lines; all charts share the choice.
export function LineChips({ view, children }: { view: View; children?: ComponentChildren }) {
  const { hidden } = view.choice;
  return (
    <div class="chips lines" role="group" aria-label="Lines shown">
      {view.lanes.map(({ policy }) => (
        <button type="button" key={policy} class={`chip p-${known(policy)} ${policy === view.lane.policy ? 'picked' : ''}`} aria-pressed={!hidden.has(policy)}
          title={`Show or hide ${words(policy)}`} onClick={() => view.change({ hidden: toggled(hidden, policy) })}>
          <Mark policy={policy} />{words(policy)}
        </button>
      ))}
      {children}
    </div>
  );
}
