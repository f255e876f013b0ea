// The money of two businesses and their groups, and its ledger.
import { budgetPage, costTotal } from './costs.mjs';

const text = (amount) => amount.toFixed(2);

function holder(kind, name, unit, budget, spent, forecast, more = {}) {
  return { name, holder: `${kind}:${name}`, unit, budget: text(budget), balance: text(budget), spent: text(spent), forecast: text(forecast), left: text(budget - spent),
    frozen: false, removed: false, overrides: [], ...more };
}

// Retail is on its way over its budget; media, in credits of 0.50 EUR, is frozen.
export function businessAnswer(world) {
  const { from, to } = budgetPage(world);
  const { total } = costTotal(world, new URLSearchParams(`from=${from}&to=${world.now}`));
  const spent = total.cost.billed;
  const forecast = spent * (to - from) / Math.max(1, world.now - from);
  const page = { from, to, counted_to: world.now, currency: 'EUR', spent: text(spent), unfunded: text(spent * 0.1), forecast: text(forecast), warnings: [], businesses: [], groups: [], without_budget: [] };
  if (world.jobs.length === 0) return { ...page, spent: '0.00', unfunded: '0.00', forecast: '0.00' };
  const over = forecast * 0.48;
  page.businesses = [
    holder('business', 'media', 'credits', forecast * 0.8, spent * 0.6, forecast * 0.6, { frozen: true, frozen_by: 7, frozen_why: 'audit of the quarter', per_period: text(forecast * 0.8), carry_share_bp: 0,
      pays_for: [{ group: 'shop', share_bp: 3750, paid: text(spent * 0.3) }] }),
    holder('business', 'retail', 'EUR', over, spent * 0.5, forecast * 0.5, { overrides: [{ entry: 6, amount: text(over * 0.1), until: to - 86400 }], per_period: text(over * 0.9), carry_share_bp: 5000, carry_cap: '200.00',
      pays_for: [{ group: 'shop', share_bp: 6250, paid: text(spent * 0.5) }] }),
  ];
  page.groups = [holder('group', 'shop', 'EUR', spent * 0.1, spent * 0.1, spent * 0.1, { funders: [{ business: 'media', share_bp: 3750, paid: text(spent * 0.3) }, { business: 'retail', share_bp: 6250, paid: text(spent * 0.5) }],
    spent_in_all: text(spent * 0.9), unfunded: '0.00' })];
  page.without_budget = [{ group: 'lab', spent: text(spent * 0.1) }];
  return page;
}

export function ledgerAnswer(world, method, query, body) {
  const entry = (id, act, what, who, why, age, more = {}) => ({ id, time: world.now - age, who, why, act, text: what, ...more });
  if (method === 'POST') {
    const asked = JSON.parse(body || '{}');
    return entry(9, asked.act, `${asked.act} of ${asked.amount} EUR`, 'anna', asked.why, 0, { of: asked.of, unit: 'EUR', amount: String(asked.amount) });
  }
  const entries = [
    entry(8, 'transfer', 'transfer of 120.00 EUR from business:retail to group:shop', 'hans', 'load test of November', 7200, { of: 'business:retail', to: 'group:shop', unit: 'EUR', amount: '120.00', received: '120.00' }),
    entry(7, 'freeze', 'business:media is frozen', 'petra', 'audit of the quarter', 86400, { of: 'business:media', unit: 'credits' }),
    entry(6, 'override', 'the budget of business:retail is 90.00 EUR higher until 2026-11-29', 'petra', 'sale week', 90000, { of: 'business:retail', unit: 'EUR', amount: '90.00', until: world.now + 86400 }),
    entry(5, 'funding', 'from 2026-11-01 group:shop is paid for by business:retail 62.5 %, business:media 37.5 %', 'file budgets.yaml', 'definition of the budgets file', 200000,
      { of: 'group:shop', from: world.now - 200000, parts: [{ holder: 'business:retail', share_bp: 6250 }, { holder: 'business:media', share_bp: 3750 }] }),
  ];
  return { entries: world.jobs.length > 0 ? entries.slice(0, Number(query.get('limit') ?? 100)) : [] };
}
