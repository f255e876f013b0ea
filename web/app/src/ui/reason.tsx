// A reason: facts, the compared candidates, and the steps to the limit.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Reason, Target } from '../api/types';
import { amount, change, withUnit } from '../lib/format';

function Steps({ reason, target }: { reason: Reason; target: Target }) {
  return (
    <ol class="steps">
      {reason.steps.map((step, i) => (
        <li key={i}>
          <span>{step.what}</span>
          <span class="amount">
            <span class="muted">{Math.abs(step.after - step.before) > 1e-9 * Math.abs(step.before) ? change(step.before, step.after) : ''}</span>{' '}
            {amount(target, step.after)}
          </span>
        </li>
      ))}
    </ol>
  );
}

function Candidates({ reason, target }: { reason: Reason; target: Target }) {
  // If the table is higher than its box, the chosen row is scrolled into view.
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const row = box.current?.querySelector<HTMLElement>('tr.picked');
    if (box.current && row) box.current.scrollTop = Math.max(0, row.offsetTop - box.current.clientHeight / 2);
  }, [reason]);
  return (
    <div ref={box} class="scroll candidates" tabIndex={0} role="group" aria-label="Candidates">
      <table>
        <thead><tr><th scope="col">Candidate</th><th scope="col">Limit</th><th scope="col">Cost</th><th scope="col" class="text">Made of</th></tr></thead>
        <tbody>
          {reason.candidates.map((c, i) => (
            <tr key={i} class={c.chosen ? 'picked' : ''}>
              <th scope="row">{c.name}{c.chosen && <span class="visually-hidden"> (chosen)</span>}</th>
              <td class="num">{amount(target, c.limit)}</td>
              <td class="num">{withUnit(c.cost, reason.cost_unit)}</td>
              <td class="text muted">{c.detail}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function ReasonView({ reason, target }: { reason: Reason; target: Target }) {
  return (
    <div class="reason">
      {reason.candidates.length > 0 && (
        <div class="reason-wide">
          <h3>Candidates</h3>
          <Candidates reason={reason} target={target} />
        </div>
      )}
      <div>
        {reason.steps.length > 0 && (
          <>
            <h3>Steps to the limit</h3>
            <Steps reason={reason} target={target} />
          </>
        )}
        {reason.facts.length > 0 && (
          <>
            <h3>Facts</h3>
            <dl class="facts">
              {reason.facts.map((fact) => <div key={fact.name}><dt>{fact.name}</dt><dd>{withUnit(fact.value, fact.unit)}</dd></div>)}
            </dl>
          </>
        )}
      </div>
    </div>
  );
}
