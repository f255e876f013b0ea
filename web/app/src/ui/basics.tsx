// Small parts that every page uses.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { DecisionKind, Mode, Outcome } from '../api/types';
import { KIND_HELP, MODE_HELP, OUTCOME, kindText } from '../lib/names';
import { ago, dateTime, isTime, utc, zone } from '../lib/time';

// Renders again every `seconds`, for relative times.
export function useNow(seconds: number): number {
  const [now, setNow] = useState(Date.now() / 1000);
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now() / 1000), seconds * 1000);
    return () => clearInterval(timer);
  }, [seconds]);
  return now;
}

export function Time({ at, age = false }: { at: number | null; age?: boolean }) {
  if (!isTime(at)) return <span class="none">–</span>;
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={`${dateTime(at)} (${zone()})\n${utc(at)}`}>
      {age ? ago(at) : dateTime(at)}
    </time>
  );
}

export function ModeBadge({ mode }: { mode: Mode }) {
  return <span class={`badge mode-${mode}`} title={`${mode}: ${MODE_HELP[mode]}`}>{mode}</span>;
}

export function KindBadge({ kind, outcome }: { kind: DecisionKind; outcome: Outcome }) {
  const idle = outcome === 'dry_run';
  return <span class={`badge kind-${idle ? 'would_set' : kind}`} title={idle && kind !== 'would_set' ? `Nothing was set: ${KIND_HELP[kind]}` : KIND_HELP[kind]}>{kindText(kind, outcome)}</span>;
}

// In mode observe decisions are only shown: none waits to be applied.
export function OutcomeText({ kind, outcome, text }: { kind: DecisionKind; outcome: Outcome; text: string }) {
  if (kind === 'would_set') return <span class="outcome" title="The job is in observe">shown</span>;
  return <span class={`outcome outcome-${outcome}`} title={text}>{outcome === 'dry_run' ? 'not applied' : OUTCOME[outcome]}</span>;
}

// The banner already reports that the whole daemon is in dry run.
const DRY_RUN = /^(dry run)?$/i;

// The reason for an unexpected outcome: the cause of the failure, or the obstacle.
export function OutcomeNote({ kind, outcome, text }: { kind: DecisionKind; outcome: Outcome; text: string }) {
  if (kind === 'would_set' || text === '' || (outcome !== 'failed' && outcome !== 'pending' && (outcome !== 'dry_run' || DRY_RUN.test(text)))) return null;
  return <span class={`outcome-note outcome-${outcome}`}>{outcome === 'dry_run' ? 'not applied' : OUTCOME[outcome]}: {text}</span>;
}

export interface Choice<T extends string> { value: T; label: string; title?: string }

export function Segments<T extends string>(props: { label: string; value: T; choices: Choice<T>[]; onPick: (value: T) => void }) {
  return (
    <div class="segments" role="group" aria-label={props.label}>
      {props.choices.map((choice) => (
        <button type="button" key={choice.value} title={choice.title} aria-pressed={choice.value === props.value}
          onClick={() => props.onPick(choice.value)}>{choice.label}</button>
      ))}
    </div>
  );
}

export function Card(props: { title: ComponentChildren; hint?: ComponentChildren; tools?: ComponentChildren; class?: string; children: ComponentChildren }) {
  return (
    <section class={`card ${props.class ?? ''}`}>
      <div class="card-head">
        <h2>{props.title}</h2>
        {props.tools}
      </div>
      {props.hint && <p class="hint">{props.hint}</p>}
      {props.children}
    </section>
  );
}

export function Skeleton({ lines = 3, tall = false }: { lines?: number; tall?: boolean }) {
  return (
    <div class={tall ? 'skeleton tall' : 'skeleton'} role="status" aria-label="Loading">
      {!tall && Array.from({ length: lines }, (_, i) => <span key={i} class={`line w${i % 3}`} />)}
    </div>
  );
}

export function Problem({ text, retry }: { text: string; retry?: () => void }) {
  return (
    <p class="problem" role="alert">
      {text} {retry && <button type="button" class="quiet" onClick={retry}>Try again</button>}
    </p>
  );
}
