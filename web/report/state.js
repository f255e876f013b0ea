
// What the reader has chosen, and the listeners.
const state = {
  resource: resources.includes('memory') ? 'memory' : resources[0],
  policy: policies.includes(report.shown_first) ? report.shown_first : policies[policies.length - 1],
  hidden: new Set(),
  story: null,
  storyDays: null,  // the last days of a story; null: all of it
};
const listeners = [];

function onChange(listener) {
  listeners.push(listener);
}

function change(choice) {
  Object.assign(state, choice);
  for (const listener of listeners) listener();
}

function toggleHidden(policy) {
  if (state.hidden.has(policy)) state.hidden.delete(policy);
  else state.hidden.add(policy);
  change({});
}

// Lanes to draw, the picked one last so that it lies on top.
function drawnLanes() {
  return lanesOf(state.resource).filter((lane) => !state.hidden.has(lane.policy))
    .sort((a, b) => Number(a.policy === state.policy) - Number(b.policy === state.policy));
}

function picked(policy) {
  return policy === state.policy ? ' picked' : '';
}

function policyChips(host) {
  host.replaceChildren(...policies.filter((policy) => laneOf(state.resource, policy)).map((policy) =>
    el('button', { type: 'button', class: `chip p-${policy}`, 'aria-pressed': String(policy === state.policy),
      title: policyInfo(policy).what, onclick: () => change({ policy }) }, swatch(policy), display(policy))));
}

// Buttons that show and hide lines; the same choice everywhere.
function legend(host, extra = []) {
  host.replaceChildren(...policies.filter((policy) => laneOf(state.resource, policy)).map((policy) =>
    el('button', { type: 'button', class: `chip p-${policy}${picked(policy)}`,
      'aria-pressed': String(!state.hidden.has(policy)), title: `Show or hide ${display(policy)}`,
      onclick: () => toggleHidden(policy) }, swatch(policy), display(policy))), ...extra);
}

// A redraw replaces the button that was pressed: the new one in its place takes the focus.
function keepFocus(host, draw) {
  const buttons = () => [...host.querySelectorAll('button, [role=button]')];
  const at = buttons().indexOf(document.activeElement);
  draw();
  if (at >= 0) buttons()[at]?.focus({ preventScroll: true });
}
