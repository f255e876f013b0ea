
// Why the last limit is what it is.

function reasonUnit(resource) {
  return resource === 'memory' ? 'bytes' : 'cores';
}

function stepList(reason, unit) {
  const items = reason.steps.map((step) => {
    const factor = step.before !== 0 ? step.after / step.before - 1 : 0;
    const changed = Math.abs(factor) >= 0.0005 ? `${factor > 0 ? '+' : ''}${percent(factor, 1)}` : '';
    return el('li', {}, el('span', {}, step.what, changed ? el('span', { class: 'change' }, changed) : null),
      el('span', { class: 'amount' }, withUnit(step.after, unit)));
  });
  return el('ol', { class: 'steps' }, ...items);
}

function costText(reason, cost) {
  if (cost === null) return '–';
  return reason.cost_unit ? withUnit(cost, reason.cost_unit) : significant(cost);
}

function candidateTable(reason, unit) {
  const best = Math.min(...reason.candidates.map((c) => c.cost ?? Infinity));
  const rows = [...reason.candidates].sort((a, b) => Number(b.chosen) - Number(a.chosen) || a.cost - b.cost);
  return el('div', { class: 'scroll candidates', tabindex: '0', role: 'region', 'aria-label': 'Candidates' },
    el('table', {},
      el('thead', {}, el('tr', {}, headCell({ head: 'Alternative' }, 0), headCell({ head: 'Limit' }, 0),
        headCell({ head: 'Cost', title: 'In the recommender’s own unit; lower is better' }, 0),
        el('th', { class: 'text', scope: 'col' }, 'Made of'))),
      el('tbody', {}, ...rows.map((c) => el('tr', { class: c.chosen ? 'picked' : '' },
        el('th', { scope: 'row' }, c.chosen ? '✓ ' : '', c.name),
        el('td', {}, withUnit(c.limit, unit)),
        el('td', { title: c.cost === best ? 'the lowest' : undefined }, costText(reason, c.cost)),
        el('td', { class: 'text wrap' }, c.detail))))));
}

function reasonBody(reason, unit) {
  const left = [];
  const right = [];
  if (reason.candidates.length > 0) {
    left.push(el('h3', {}, `Candidates (${count(reason.candidates.length)})`), candidateTable(reason, unit));
  }
  if (reason.steps.length > 0) right.push(el('h3', {}, 'Steps to the limit'), stepList(reason, unit));
  if (reason.facts.length > 0) {
    right.push(el('h3', {}, 'Facts'), el('dl', { class: 'facts' }, ...reason.facts.flatMap((fact) =>
      [el('dt', {}, fact.name), el('dd', {}, withUnit(fact.value, fact.unit))])));
  }
  return [left, right].filter((half) => half.length > 0).map((half) => el('div', {}, ...half));
}

function reasonPanel(story) {
  const index = story.lines.findIndex((line) => line.policy === state.policy);
  const reason = story.reasons[index];
  const chips = el('div', { class: 'chips', role: 'group', 'aria-label': 'Recommender whose reason is shown' });
  policyChips(chips);
  const panel = el('section', { class: 'why' }, el('h2', {}, `Why the last limit of ${display(state.policy)} is what it is`), chips);
  if (!reason) {
    panel.append(el('p', { class: 'hint' }, `No reason was kept for ${display(state.policy)}.`));
    return panel;
  }
  const unit = reasonUnit(story.resource);
  panel.append(el('p', { class: 'sentence' }, reason.sentence), el('div', { class: 'halves' }, ...reasonBody(reason, unit)));
  return panel;
}
