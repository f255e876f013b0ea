// What the mock alone can show: the first start, history being read, and a daemon that goes away and comes back.
import assert from 'node:assert/strict';
import { after, before, test as unbounded } from 'node:test';
import { startMock as startAnyMock } from '../mock/server.mjs';
import { startBrowser } from './browser.mjs';

const BOUND = { timeout: 300_000 };
const test = (name, run) => unbounded(name, BOUND, run);

let browser;
const mocks = [];
before(async () => { browser = await startBrowser(); }, BOUND);
// Also those of a test that failed: a server that listens keeps this process from ending.
after(async () => { await browser?.close(); for (const mock of mocks) await mock.close(); }, BOUND);

async function startMock(options) {
  const mock = await startAnyMock(options);
  mocks.push(mock);
  return mock;
}

async function shows(page, text) {
  for (const end = Date.now() + 60_000; Date.now() < end;) {
    if (text.test(await page.locator('#app').innerText())) return;
    await page.waitForTimeout(50);
  }
  assert.fail(`never shown: ${text}`);
}

test('the first start says how to send samples, to this very address', async () => {
  const mock = await startMock({ state: 'empty', actuator: 'docker' });
  const { page, problems } = await browser.open(mock.url);
  await shows(page, /remote_write:/);
  const snippets = await page.locator('.snippet').allInnerTexts();
  assert.match(snippets[0], /tautd --prometheus/);  // history first
  assert.ok(snippets[1].includes(mock.url + 'api/v1/write'));
  assert.equal(await page.getByText('dry run').count(), 0);
  assert.deepEqual(problems, []);
  await page.close();
  await mock.close();
});

test('on the first day recommendations are marked as provisional, and say when the first one comes', async () => {
  const mock = await startMock({ jobs: 3, state: 'first-day' });
  const { page, problems } = await browser.open(mock.url + '#/jobs');
  await shows(page, /~\d/);
  const note = await page.locator('[title^="Provisional"]').first().getAttribute('title');
  assert.match(note, /set in no mode\. First recommendation at .*\d\d:\d\d/);
  await page.locator('a.job-link').first().click();
  await shows(page, /Provisional[\s\S]*First recommendation at/);
  assert.deepEqual(problems, []);
  await page.close();
  await mock.close();
});

test('agents: how to start one, and how to let them come', async () => {
  for (const [agents, text] of [[0, /No agent has connected yet/], [null, /Agent connections are disabled/]]) {
    const mock = await startMock({ jobs: 50, agents });
    const { page, problems } = await browser.open(mock.url + '#/machines');
    await shows(page, text);
    assert.match(await page.locator('main').innerText(), /tautlet --config/);
    assert.deepEqual(problems, []);
    await page.close();
    await mock.close();
  }
});

test('capacity that is not known, with the ways to make it known, and before the first window', async () => {
  for (const [options, text, snippets] of [[{ jobs: 50, agents: null }, /Capacity is not known[\s\S]*agents\.listen/, 3], [{ state: 'empty', actuator: 'docker' }, /No window has closed yet/, 0]]) {
    const mock = await startMock(options);
    const { page, problems } = await browser.open(mock.url + '#/capacity');
    await shows(page, text);
    assert.equal(await page.locator('main .snippet').count(), snippets);
    assert.doesNotMatch(await page.locator('main').innerText(), /NaN|undefined|null/);
    assert.deepEqual(problems, []);
    await page.close();
    await mock.close();
  }
});

test('costs without data are one sentence, and the way to what arrives', async () => {
  const mock = await startMock({ state: 'empty', actuator: 'docker' });
  const { page, problems } = await browser.open(mock.url + '#/costs');
  await shows(page, /Nothing was measured in this time\. Fleet says what arrives/);
  assert.equal(await page.locator('main .uplot, main table').count(), 0);
  assert.deepEqual(problems, []);
  await page.close();
  await mock.close();
});

test('capacity: what can be sold with its risk, and how it was kept', async () => {
  const mock = await startMock({ jobs: 50 });
  const { page, problems } = await browser.open(mock.url + '#/capacity');
  const offers = page.getByRole('region', { name: 'What can still be sold' });
  await offers.waitFor();
  assert.match(await offers.innerText(), /In about 2 of 100 hours/);
  assert.match(await page.locator('main').innerText(), /90 days are needed/);
  const before = await offers.innerText();
  assert.match(before, /cores/);
  await page.getByRole('button', { name: 'Memory' }).first().click();
  await shows(page, /TiB/);
  assert.notEqual(await offers.innerText(), before);
  assert.match(await page.getByRole('region', { name: 'How past promises were kept' }).innerText(), /not kept/);
  await page.getByText('The newest promises, one by one').click();
  assert.match(await page.getByRole('region', { name: 'The newest promises' }).innerText(), /not measured/);
  await page.getByRole('button', { name: '30 d', exact: true }).click();
  await shows(page, /Forecast peak/);
  assert.doesNotMatch(await page.locator('main').innerText(), /NaN|undefined|null/);
  assert.deepEqual(problems, []);
  await page.close();
  await mock.close();
});

test('a decision says why it failed, and what is in the way', async () => {
  const mock = await startMock({ jobs: 300, actuator: 'agents' });
  const { page, problems } = await browser.open(mock.url + '#/decisions');
  for (let i = 0; i < 40 && (await page.locator('.outcome-note.outcome-failed').count()) * (await page.locator('.outcome-note.outcome-pending').count()) === 0; ++i) {
    await shows(page, /Older decisions/);
    await page.getByRole('button', { name: 'Older decisions' }).click();
    await page.waitForTimeout(200);
  }
  await shows(page, /failed: task 7: .*\.max: /);
  await shows(page, /on its way: .* is in the way/);
  assert.deepEqual(problems, []);
  await page.close();
  await mock.close();
});

// Such a job has no time yet, and a page that failed on it once asked again 200 times a second.
test('a job without any sample opens, and is not asked for without end', async () => {
  for (const first_seen of [null, 9223372036854775807]) {
    const mock = await startMock({ jobs: 20, tick: 1 });
    const job = mock.world.jobs[0];
    job.first_seen = first_seen;
    const none = { recommender: 'static', usage: null, peak: null, owner_limit: null, limit: null, would_be: null, saving: null, chance: null, days: 0, days_over: 0, work_over: null, work_ordered: null, at_limit: false };
    Object.assign(job.row, { tasks: 0, last_seen: null, last_change: null, cpu: none, memory: none });
    const { page, problems } = await browser.open(`${mock.url}#/jobs/${encodeURIComponent(job.row.name)}`);
    let requests = 0;
    page.on('request', () => { ++requests; });
    await shows(page, /not measured yet/);
    requests = 0;
    await page.waitForTimeout(1000);
    assert.ok(requests < 60, `${requests} requests`);
    assert.deepEqual(problems, []);
    await page.close();
    await mock.close();
  }
});

test('a job that agents only measure is shown at the limit of its owner', async () => {
  const mock = await startMock({ jobs: 300, actuator: 'agents' });
  const { row } = mock.world.jobs.find((job) => !job.row.enforced && job.row.mode === 'auto' && job.row.memory.owner_limit !== null);
  const { page, problems } = await browser.open(`${mock.url}#/jobs/${encodeURIComponent(row.name)}`);
  await shows(page, /Measured only/);
  const facts = Object.fromEntries(await page.locator('.summary').last().locator('.summary-facts > span').evaluateAll((all) => all.map((span) => [...span.children].map((part) => part.textContent))));
  assert.deepEqual(Object.keys(facts), ['Used', 'Peak', "Owner's, now", 'Recommended']);
  assert.notEqual(facts.Recommended, facts["Owner's, now"]);
  await shows(page, /owner's, now/);
  assert.equal(await page.getByRole('button', { name: 'Apply' }).count(), 0);
  assert.deepEqual(problems, []);
  await page.close();
  await mock.close();
});

test('limits are applied from the answer, by the name that is given', async () => {
  const mock = await startMock({ jobs: 300, actuator: 'agents' });
  const job = mock.world.jobs.find(({ row }) => row.enforced && row.mode === 'observe' && row.memory.saving > 0 && row.cpu.saving > 0 && row.memory.chance !== null);
  const { page, problems } = await browser.open(`${mock.url}#/jobs/${encodeURIComponent(job.row.name)}`);
  await shows(page, /Lower memory from [^]* a task: saves [^]*\sEUR a\smonth; chance of an OOM-day [^]*\./);
  await page.getByLabel('Your name, for the record').fill('mia');
  await page.getByRole('button', { name: 'Apply', exact: true }).click();
  for (let i = 0; i < 200 && job.row.mode !== 'auto'; ++i) await page.waitForTimeout(50);
  assert.equal(job.row.mode, 'auto');
  await shows(page, /Back to the owner's/);
  assert.deepEqual(problems, []);
  await page.close();
  await mock.close();
});

test('history being read is shown with how far it is', async () => {
  const mock = await startMock({ state: 'backfill' });
  const { page } = await browser.open(mock.url);
  await shows(page, /412 of 2,016 windows/);
  assert.equal(await page.locator('progress').getAttribute('value'), '412');
  await page.close();
  await mock.close();
});

test('a daemon that goes away leaves its figures on the page, and is found again', async () => {
  const mock = await startMock({ jobs: 200 });
  const port = Number(new URL(mock.url).port);
  const { page } = await browser.open(mock.url);
  await shows(page, /Live/);
  const headline = await page.locator('#headline').innerText();
  await mock.close();
  await shows(page, /tautd does not respond/);
  assert.equal(await page.locator('#headline').innerText(), headline);
  const retry = page.getByRole('button', { name: 'Retry now' });
  const failed = page.waitForEvent('requestfailed');
  await retry.click();
  await failed;
  const again = await startMock({ jobs: 200, port });
  await retry.click({ timeout: 1000 }).catch(() => {});  // the page may have found the server by itself meanwhile
  await shows(page, /Live/);
  // What failed meanwhile is asked again by itself.
  for (let i = 0; i < 1200 && (await page.getByText('tautd does not respond').count()) > 0; ++i) await page.waitForTimeout(50);
  assert.equal(await page.getByText('tautd does not respond').count(), 0);
  await page.close();
  await again.close();
});

test('a stream that is held back is made up for by polling', async () => {
  const mock = await startMock({ jobs: 200, silent: true });
  const { page } = await browser.open(mock.url);
  await shows(page, /Polling, figures of/);
  assert.equal(await page.getByText('tautd does not respond').count(), 0);
  await page.close();
  await mock.close();
});

test('the costs show who pays for whom, what is spent of budgets, and who moved money', async () => {
  const mock = await startMock({ jobs: 40 });
  const { page, problems } = await browser.open(mock.url + '#/costs');
  await shows(page, /Businesses and groups/);
  const businesses = page.getByRole('region', { name: 'Businesses', exact: true });
  assert.match(await businesses.locator('tr', { hasText: 'retail' }).innerText(), /will be over[^]*EUR[^]*shop 62.5/);
  assert.match(await businesses.locator('tr', { hasText: 'media' }).innerText(), /within, frozen[^]*credits/);
  assert.match(await page.getByRole('region', { name: 'Groups with budgets' }).innerText(), /EUR in all: media 37.5[^]*retail 62.5/);
  assert.match(await page.getByRole('region', { name: 'Budget ledger' }).innerText(), /transfer of 120.00 EUR from business:retail[^]*hans[^]*load test/);
  await shows(page, /No business pays for [^:]*EUR: lab/);
  assert.deepEqual(problems, []);
  await page.close();
  await mock.close();
});

test('a browser without a session signs in, is back where it was, and signs out', async () => {
  const caller = { user: 'oidc:mia', role: 'group', session: true, valid_until: Math.floor(Date.now() / 1000) + 43200, groups: [{ group: 'shop', as: 'owner' }], may: ['look', 'see_jobs', 'see_quota', 'see_money', 'set_jobs'] };
  const mock = await startMock({ jobs: 40, caller, login: 'id.example' });
  const { page, problems } = await browser.open(mock.url + '#/decisions');
  await shows(page, /Sign in to see this cell/);
  assert.equal(await page.getByRole('link', { name: 'use a token' }).getAttribute('href'), '?token');
  assert.equal(await page.getByText('tautd does not respond').count(), 0);
  await page.getByRole('link', { name: 'Sign in with id.example' }).click();
  await shows(page, /Decisions/);
  assert.match(page.url(), /#\/decisions$/);
  const name = page.locator('.person-name');
  await name.waitFor();
  assert.equal(await name.innerText(), 'mia');
  assert.match(await name.getAttribute('title'), /oidc:mia: owner of shop; until /);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await shows(page, /Sign in to see this cell/);
  mock.world.signedIn = true;
  await page.reload();
  await name.waitFor();
  mock.world.signedIn = false;  // the session is over
  await page.goto(mock.url + '#/jobs');
  await shows(page, /Sign in to see this cell/);
  assert.deepEqual(problems.filter((problem) => !problem.includes('401')), []);
  await page.close();
  await mock.close();
});

test('people of a group are shown what they may see, and their pages request nothing else', async () => {
  const caller = { user: 'mia', role: 'group', groups: [{ group: 'shop', as: 'member' }], may: ['look', 'see_jobs', 'see_quota', 'make_requests'] };
  const mock = await startMock({ jobs: 40, caller });
  const { page, problems } = await browser.open(mock.url);
  await shows(page, /Recent decisions/);
  await page.getByRole('link', { name: 'Quota', exact: true }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'Costs', exact: true }).count(), 0);
  assert.equal(await page.getByText('OOM kills and limit changes').count(), 0);
  for (const [hash, text] of [['#/jobs', /Download CSV/], ['#/costs', /shown to owners and budget holders/], ['#/quota', /Make the request/], ['#/machines', /shown to the people of the platform/], ['#/settings', /What can be set for a job/]]) {
    await page.goto(mock.url + hash);
    await shows(page, text);
  }
  assert.equal(await page.getByText('Rules in force').count(), 0);
  await page.goto(mock.url + '#/jobs');
  await shows(page, /Download CSV/);
  assert.equal(await page.getByText('Set mode of').count(), 0);
  await page.locator('a.job-link').first().click();
  await page.getByRole('tab', { name: 'Settings' }).click();
  await shows(page, /Who changed what/);
  assert.equal(await page.getByText('Your name, for the record').count(), 0);
  assert.deepEqual(problems, []);
  await page.close();
  await mock.close();
});
