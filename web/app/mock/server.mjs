// A stand-in for tautd: serves dist/ and a made-up fleet through every endpoint of src/server/api/openapi.yaml.
//   node mock/server.mjs [--port 8090] [--jobs 10000] [--state live|empty|backfill] [--actuator dry_run|agents] [--agents 12] [--tick SECONDS]
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { businessAnswer, ledgerAnswer } from './businesses.mjs';
import { capacityPage } from './capacity.mjs';
import { allocation, billPage, budgetPage, costPage } from './costs.mjs';
import { DecisionLog } from './decisions.mjs';
import { DAY, WINDOW, fleetHistory, fleetNow, makeFleet } from './fleet.mjs';
import { RESOURCES, heatmap, replicaHistory, jobDetail, jobPage, neededOf, oomsOf, labelTotals } from './jobs.mjs';
import { agentPage, machineAnswer, tierActPage } from './machines.mjs';
import { promisePage } from './promises.mjs';
import { admission, quotaAnswer, quotaState } from './quota.mjs';
import { explain, whatIf } from './reasons.mjs';
import { RECOMMENDERS } from './recommenders.mjs';
import { JobSettingsStore } from './settings.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const DIST = join(HERE, '..', 'dist');
const CONTRACT = join(HERE, '..', '..', '..', 'src', 'server', 'api', 'openapi.yaml');
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
export const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; "
  + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const fail = (status, message) => Object.assign(new Error(message), { status });

function agentCounts(world) {
  const { enabled, agents } = agentPage(world.agents, world.started);
  return { enabled, connected: agents.filter((agent) => agent.connected).length, known: agents.length };
}

function statusOf(world) {
  const busy = world.jobs.length > 0;
  return {
    version: '0.2.0-mock', caller: world.caller, started: world.started - 3 * DAY - 4000, ready: true, warnings: [], clock: 'wall', actuator: world.actuator, store: 'sqlite /var/lib/tautline/taut.db',
    pages: true,
    cell: { name: world.agents === null ? '' : 'north', links: world.agents === null ? [] : [{ name: 'south', url: 'https://south.example/' }, { name: 'test', url: 'https://test.example/' }] },
    agents: agentCounts(world), nodes: null, quota: true, bills: true, businesses: true,
    ingest: Object.fromEntries([['accepted', 48211904], ['out_of_order', 812], ['stale_markers', 5310], ['duplicates', 96], ['conflicts', 0], ['nan', 0],
      ['invalid', 0], ['far_future', 0], ['too_late', 1204], ['over_capacity', 0], ['unmapped', 22018], ['facts', 61585], ['refused', 41]]
      .map(([name, n]) => [name, busy ? n : 0])),
    last_pass: busy ? { window_end: world.now, jobs: world.jobs.length, milliseconds: 212.4,
      steps: { observe: 121.9, end_day: 0.4, decide: 12.7, checkpoint: 25.1, view: 12.6, store: 38.1, maintain: 1.6 } } : null,
    last_window_end: busy ? world.now : null, first_window_closes: null, backfill_error: null,
    backfill: world.state === 'backfill' ? { done: 412, total: 2016, sentence: 'Reading 7 days of history from Prometheus: 412 of 2,016 windows.' } : null,
  };
}

function enforce(row, enforced) {
  row.enforced = enforced;
  row.throttled_share = row.tasks % 7 === 1 ? 0.08 : 0.004;
  for (const resource of RESOURCES) row[resource].applied = enforced ? row[resource].limit : row[resource].owner_limit;
  if (!enforced) for (const resource of RESOURCES) row[resource].limit = row[resource].owner_limit;
}

// As on its first day: what a limit may come to stands in for it.
function unripen({ row }, now) {
  for (const resource of RESOURCES) {
    const a = row[resource];
    Object.assign(a, { would_be: null, saving: null, chance: null, days: 0, days_over: 0, work_over: null, work_ordered: null, provisional: true, provisional_limit: 2 * a.peak, first_recommendation_at: now + DAY / 2 });
  }
  row.saving_per_month = null;
}

const OPERATOR = { user: '', role: 'operator', session: false, valid_until: null, groups: [], may: ['look', 'see_jobs', 'see_quota', 'see_money', 'move_money', 'grant_money', 'set_jobs', 'make_requests', 'end_requests', 'see_platform', 'write_samples'] };

export function makeWorld({ jobs = 10000, state = 'live', actuator = 'dry_run', silent = false, agents = 12, caller = OPERATOR, login = null } = {}) {
  const now = Math.floor(Date.now() / 1000 / WINDOW) * WINDOW;
  const fleet = state === 'empty' ? [] : makeFleet(state === 'backfill' ? Math.min(jobs, 400) : jobs, now);
  // `login`: the name of a provider; the browser is not signed in until /login was asked for.
  const world = { caller, login, signedIn: login === null, now, started: now, state, actuator, silent, agents: state === 'empty' && agents !== null ? 0 : agents, jobs: fleet, byName: new Map(fleet.map((job) => [job.row.name, job])) };
  // Every fifth job is on machines whose agents only measure.
  if (actuator === 'agents') for (const { number, row } of fleet) enforce(row, number % 5 !== 4);
  if (state === 'first-day') for (const job of fleet) unripen(job, now);
  world.settings = new JobSettingsStore(() => Math.floor(Date.now() / 1000));
  world.decisions = new DecisionLog(fleet, now, 4000, actuator);
  world.streams = new Set();
  world.send = (event, data) => {
    if (!world.silent) for (const stream of world.streams) stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  return world;
}

function jobOf(world, text) {
  const name = decodeURIComponent(text);
  const job = world.byName.get(name);
  if (!job) throw fail(404, `no job \`${name}\``);
  return job;
}

function jobAnswer(world, job, what, query, method, body) {
  const resource = query.get('resource') || 'memory';
  const to = Number(query.get('to') ?? world.now);
  const from = Number(query.get('from') ?? to - 7 * DAY);
  switch (`${method} ${what}`) {
    case 'GET ': return jobDetail(job, world.now);
    case 'GET usage': return heatmap(job, resource, from, to, Number(query.get('columns') ?? 336), world.now);
    case 'GET replicas': return replicaHistory(job, from, to, Number(query.get('columns') ?? 336));
    case 'GET explain': return { cpu: explain(job, 'cpu'), memory: explain(job, 'memory'), replicas: job.replicas, memory_needed: neededOf(job, world.now) };
    case 'GET settings': return world.settings.of(job);
    case 'PATCH settings': {
      for (const change of world.settings.patch(job, JSON.parse(body), whoOf(query))) world.send('setting', change);
      return world.settings.of(job);
    }
    case 'POST whatif': return whatIf(job, resource, JSON.parse(body || '{}'), world.now);
    default: throw fail(404, 'no such page');
  }
}

// As it is recorded: the address, and what the client says.
const whoOf = (query) => (query.get('who') ? `127.0.0.1 (says ${query.get('who')})` : '127.0.0.1');

// Settings of all jobs that a pattern fits.
function setMany(world, query, wanted) {
  const parts = (query.get('match') ?? '').split('|').map((part) => new RegExp(`^${part.split('*').map((text) => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&')).join('.*')}$`));
  const matched = world.jobs.filter((job) => parts.some((part) => part.test(job.row.name)));
  const dry = query.get('dry_run') === 'true';
  const changes = [];
  for (const job of matched) {
    const before = new Map(world.settings.of(job).values.map((value) => [value.key, value.value]));
    for (const [key, after] of Object.entries(wanted)) if (before.get(key) !== after) changes.push({ job: job.row.name, key, before: before.get(key) ?? '', after });
    if (!dry) world.settings.patch(job, wanted, whoOf(query));
  }
  return { dry_run: dry, matched: matched.length, changed: new Set(changes.map((change) => change.job)).size, changes: changes.slice(0, 100), left_out: Math.max(0, changes.length - 100) };
}

export function answer(world, method, path, query, body = '') {
  if (path.startsWith('/allocation')) return allocation(world, query);
  const [first, ...rest] = path.replace(/^\/api\/v1\//, '').split('/');
  if (first === 'jobs' && rest.length > 0) return jobAnswer(world, jobOf(world, rest[0]), rest[1] ?? '', query, method, body);
  if (first === 'decisions' && rest.length === 1) {
    const detail = world.decisions.detail(Number(rest[0]));
    if (!detail) throw fail(404, `no decision ${rest[0]}`);
    return detail;
  }
  const fleet = () => fleetNow(world.jobs, world.now, world.actuator);
  const needs = { agents: 'see_platform', machines: 'see_platform', capacity: 'see_platform', promises: 'see_platform', 'fleet/history': 'see_platform', costs: 'see_money', budgets: 'see_money', bills: 'see_money', businesses: 'see_money', 'budget-ledger': 'see_money' }[[first, ...rest].join('/')];
  if (needs && !world.caller.may.includes(needs)) throw fail(403, `this needs ${needs}`);
  switch (first) {
    case 'fleet': {
      if (rest[0] !== 'history') return fleet();
      const to = Number(query.get('to') ?? world.now);
      return fleetHistory(fleet(), Number(query.get('from') ?? to - 7 * DAY), to, Number(query.get('points') ?? 500));
    }
    case 'jobs': return jobPage(world.jobs, query);
    case 'budgets': return budgetPage(world);
    case 'businesses': return businessAnswer(world);
    case 'budget-ledger': return ledgerAnswer(world, method, query, body);
    case 'costs': return costPage(world, query);
    case 'bills': return billPage(world, query);
    case 'quota': return quotaState(world);
    case 'admission': return admission(query);
    case 'requests': return quotaAnswer(world, method, rest[0], query);
    case 'totals': return labelTotals(world.jobs, query);
    case 'decisions': return world.decisions.page(query);
    case 'ooms': {
      const jobs = query.get('job') ? [jobOf(world, encodeURIComponent(query.get('job')))] : world.jobs.filter((job) => job.row.ooms > 0);
      return { ooms: jobs.flatMap((job) => oomsOf(job, world.now)).sort((a, b) => b.time - a.time).slice(0, Number(query.get('limit') ?? 100)) };
    }
    case 'tier_acts': return tierActPage(world, query);
    case 'settings': return method === 'PATCH' ? setMany(world, query, JSON.parse(body || '{}')) : world.settings.all(world.jobs);
    case 'recommenders': return { recommenders: RECOMMENDERS };
    case 'promises': return promisePage(world);
    case 'capacity': return capacityPage(world, query);
    case 'machines': return machineAnswer(world, rest[0], query);
    case 'agents': return agentPage(world.agents, world.started);
    case 'status': return statusOf(world);
    case 'clock': return { confirmed: true };
    case 'login': return { login: world.login && { name: world.login, session_seconds: 43200 }, token: world.login !== null };
    default: throw fail(404, 'no such page');
  }
}

function serveStream(world, request, response) {
  world.streams.add(response);
  request.on('close', () => world.streams.delete(response));
  if (world.silent) return;  // as behind a proxy that holds streams back
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.write(': hello\n\n');
}

function serveFile(path, response) {
  const name = path === '/' ? '/index.html' : path;
  const file = normalize(join(DIST, name));
  if (!file.startsWith(DIST) || !existsSync(file) || !statSync(file).isFile()) {
    response.writeHead(404, { 'content-type': 'text/plain', 'content-security-policy': CSP }).end('not found\n');
    return;
  }
  response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream', 'content-security-policy': CSP,
    'x-content-type-options': 'nosniff', 'cache-control': name === '/index.html' ? 'no-cache' : 'public, max-age=31536000, immutable' });
  createReadStream(file).pipe(response);
}

async function serve(world, request, response) {
  const url = new URL(request.url, 'http://localhost');
  if (world.login !== null) {
    if (url.pathname === '/login') {
      world.signedIn = true;
      return void response.writeHead(302, { location: '/' }).end();
    }
    if (url.pathname === '/logout' && request.method === 'POST') {
      world.signedIn = false;
      return void response.writeHead(204).end();
    }
    if (!world.signedIn && url.pathname.startsWith('/api/') && url.pathname !== '/api/v1/login')
      return void response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"authentication required"}');
  }
  if (!url.pathname.startsWith('/api/')) return serveFile(url.pathname, response);
  if (url.pathname === '/api/v1/events') return serveStream(world, request, response);
  if (url.pathname === '/api/v1/openapi.yaml') return void response.writeHead(200, { 'content-type': 'application/yaml' }).end(readFileSync(CONTRACT));
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  if (url.pathname === '/api/v1/write') return void response.writeHead(204).end();
  let status = 200;
  let body;
  try {
    body = answer(world, request.method, url.pathname, url.searchParams, Buffer.concat(chunks).toString());
  } catch (error) {
    status = error.status ?? 500;
    body = { error: error.message, ...(error.errors && { errors: error.errors }) };
  }
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(JSON.stringify(body));
}

// Listens on 127.0.0.1; resolves to {url, world, close}.
export async function startMock({ port = 0, tick = 6, ...options } = {}) {
  const world = makeWorld(options);
  const server = createServer((request, response) => {
    serve(world, request, response).catch((error) => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: String(error) }));
    });
  });
  let closed = null;
  server.on('connection', (socket) => { if (closed !== null) socket.destroy(); });
  await new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  let beats = 0;
  const timer = setInterval(() => {
    if (world.jobs.length === 0) return;
    world.send('decision', world.decisions.add(Math.floor(Date.now() / 1000)));
    if (++beats % 5 === 0) {
      world.now = Math.max(world.now, Math.floor(Date.now() / 1000 / WINDOW) * WINDOW);
      world.send('window', fleetNow(world.jobs, world.now, world.actuator));
    }
  }, tick * 1000);
  const close = () => {
    clearInterval(timer);
    for (const stream of world.streams) stream.destroy();
    closed ??= new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    return closed;
  };
  return { url: `http://127.0.0.1:${server.address().port}/`, world, close };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = {};
  for (let i = 2; i + 1 < process.argv.length; i += 2) {
    const value = process.argv[i + 1];
    options[process.argv[i].replace(/^--/, '')] = /^[\d.]+$/.test(value) ? Number(value) : value;
  }
  const mock = await startMock({ port: 8090, ...options });
  console.log(`mock of tautd: ${mock.url}`);
}
