// Every page in a real browser, against the mock or against the tautd at TAUT_URL. No timing is asserted.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test as unbounded } from 'node:test';
import { PHONE, WIDE, startBrowser, startServer } from './browser.mjs';

const BOUND = { timeout: 300_000 };
const test = (name, run) => unbounded(name, BOUND, run);

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let server;
let browser;
let jobs = [];

before(async () => {
  server = await startServer({ tick: 1 });
  browser = await startBrowser();
  jobs = (await api('jobs?sort=name&order=asc&limit=50')).jobs;
}, BOUND);
after(async () => {
  await browser?.close();
  await server?.close();
}, BOUND);

async function api(path) {
  return (await fetch(server.url + 'api/v1/' + path)).json();
}

async function until(what, probe) {
  let last = null;
  for (const end = Date.now() + 60_000; Date.now() < end;) {
    try {
      const found = await probe();
      if (found) return found;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`never: ${what}`, { cause: last });
}

// Opens a page, runs `check`, and sees that the console stayed clean.
async function on(hash, options, check) {
  const { page, problems } = await browser.open(server.url + hash, options);
  try {
    await until('the page without skeletons', async () => (await page.locator('main :is(h1, .card)').count()) > 0 && (await page.locator('.skeleton').count()) === 0);
    await check(page);
    assert.deepEqual(problems, [], `the console of ${hash}`);
  } finally {
    await page.close();
  }
}

// The elements that make the page scroll sideways, by their tag, class and text.
const beyond = (page) => page.evaluate(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth <= clientWidth) return [];
  const wide = [...document.querySelectorAll('body *')].filter((e) => !e.closest('.scroll, .grid, pre') && e.getBoundingClientRect().right > clientWidth + 0.5);
  return [`${scrollWidth} of ${clientWidth} px`, ...wide.map((e) => `${e.localName}.${e.className} ${(e.textContent ?? '').slice(0, 60)}`)];
});
const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const jobTitles = (page) => page.locator('.feed .job-link').evaluateAll((all) => all.map((link) => link.title));
const shownDecisions = (page) => page.locator('.feed > li').evaluateAll((all) => all.reduce((sum, li) => sum + Number(li.dataset.decisions), 0));
const jobHash = (name, tab = '') => `#/jobs/${encodeURIComponent(name)}${tab && `?tab=${tab}`}`;
// The field of a setting, whose group is folded.
async function openSetting(page, key) {
  await page.locator(`[id="set-${key}"]`).waitFor({ state: 'attached' });
  const group = page.locator('details', { has: page.locator(`[id="set-${key}"]`) });
  if ((await group.count()) > 0 && (await group.getAttribute('open')) === null) await group.locator('summary').click();
}

// What axe complains of: all of it, wide and light. Dark differs from that in its colours alone, a phone in what of a row
// is where, so there the first rows stand for those below. The mock has every state of each page, and a real tautd the
// same pages.
async function axe(page, hash, size, dark) {
  const all = size === WIDE && !dark;
  if (!all && !server.mock) return;
  await page.evaluate(AXE);
  const found = await page.evaluate(([context, rules]) => window.axe.run(context, { resultTypes: ['violations'], ...rules }),
    [{ include: [['html']], exclude: all ? [] : [['tr:nth-child(n + 16)'], ['li:nth-child(n + 16)']] }, dark ? { runOnly: ['color-contrast'] } : {}]);
  assert.deepEqual(found.violations.map((v) => `${v.id}: ${v.nodes[0].target}: ${v.nodes[0].failureSummary}`), [], hash);
}

function allPages() {
  return ['#/', '#/jobs', '#/decisions', '#/costs', '#/quota', '#/machines', '#/settings', ...(jobs.length > 0 ? ['', 'whatif', 'decisions', 'settings'].map((tab) => jobHash(jobs[0].name, tab)) : []), '#/nowhere'];
}

for (const [name, size] of [['wide', WIDE], ['phone', PHONE]]) {
  test(`every page renders, and axe finds nothing to complain of, ${name}, light and dark`, async () => {
    for (const hash of allPages()) {
      await on(hash, { size }, async (page) => {
        const light = await background(page);
        assert.equal(await page.locator('[role="alert"]').count(), 0, `an error on ${hash}`);
        assert.deepEqual(await beyond(page), [], `${hash} is wider than the screen`);
        await axe(page, hash, size, false);
        await page.emulateMedia({ colorScheme: 'dark' });
        await until('the dark colours', async () => (await background(page)) !== light);
        await axe(page, hash, size, true);
        // Again after answers that come later than the page itself, such as the number of machines.
        await page.waitForTimeout(400);
        assert.deepEqual(await beyond(page), [], `${hash} is wider than the screen`);
      });
    }
  });
}

test('the policy forbids what is inline, and nothing is', async () => {
  const response = await fetch(server.url);
  const policy = response.headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe/);
  const html = await response.text();
  assert.doesNotMatch(html, /<style|style=|<script>|https?:\/\//);
});

// All that the headline may say of a fleet with samples, and what has amounts in it.
const CORES = '[\\d,.]+\\sm?cores?';
const BYTES = '[\\d,.]+\\s(?:[KMGTP]i)?B';
const AMOUNTS = new RegExp(`(?:${CORES} and ${BYTES} of memory lower|${CORES} (?:lower|higher) for CPU and ${BYTES} (?:lower|higher) for memory)`);
const HEADLINE = new RegExp(`^(?:(?:Limits|Recommended limits) are ${AMOUNTS.source} than the owners'(?:: [−\\d,.]+\\s\\w+ a\\smonth)?\\.`
  + '|[\\d,]+\\sjobs? with [\\d,]+\\stasks? are measured\\. (?:Their owners\' limits are not known|The recommended limits are the owners\'|The first recommendations come).*)$', 's');

test('the fleet page says what was saved, with units', async () => {
  const fleet = await api('fleet');
  if (fleet.time === null) return;
  await on('#/', {}, async (page) => {
    const text = await page.locator('#headline').innerText();
    assert.match(text, HEADLINE);
    // Lower or higher as the API's figures are.
    if (AMOUNTS.test(text)) {
      const way = (resource) => (fleet[resource][text.startsWith('With every job') ? 'would_save' : 'saved'] < 0 ? 'higher' : 'lower');
      const [cpu, memory] = [way('cpu'), way('memory')];
      assert.match(text, cpu === 'lower' && memory === 'lower' ? /memory lower than/ : new RegExp(`${cpu} for CPU and .* ${memory} for memory`));
    }
    // CPU, memory, coverage, limit changes; OOM kills only if there were any.
    assert.ok((await page.locator('.uplot').count()) >= 4);
    if (fleet.actuator === 'dry_run') await until('the banner', async () => /dry run/.test(await page.locator('.banners').innerText()));
    await page.locator('.plot').first().focus();
    await page.keyboard.press('ArrowLeft');
    await until('a reading', async () => (await page.locator('.tip:visible').count()) === 1);
  });
});

test('the fleet page lists what to do first, the largest saving of the cell in money at its head, and says its saving once', async () => {
  const fleet = await api('fleet');
  const sort = fleet.saving_per_month ? 'saving_per_month' : 'saving';
  const rows = (await api(`jobs?sort=${sort}&limit=200`)).jobs;
  await on('#/', {}, async (page) => {
    await page.locator('#headline').waitFor();
    const list = page.locator('.first-jobs > li');
    if ((await list.count()) === 0) return;
    const first = await list.first().locator('.job-link').getAttribute('title');
    const known = rows.find((row) => row.name === first);
    assert.ok(known, 'it is among the largest savings');
    // Whoever comes before it has its recommended limits already, or saves nothing.
    if (fleet.actuator === 'dry_run' && (known.cpu.saving ?? 0) > 0) assert.equal(first, rows[0].name);
    if (fleet.saving_per_month) {
      const figure = /[\d,.]+\s\w+\/month/;
      assert.match(await list.first().innerText(), figure);
      assert.equal((await page.locator('main').innerText()).split((await page.locator('#headline em').last().innerText())).length - 1, 1, 'the saving in money stands once');
    }
  });
});

test('the fleet page sums up the replicas of all scaled jobs', async () => {
  const { replicas } = await api('fleet');
  const held = replicas.jobs_held.not_measured + replicas.jobs_held.no_number;
  await on('#/', {}, async (page) => {
    await page.locator('#headline').waitFor();
    const card = page.locator('.fleet-replicas');
    if (replicas.jobs === 0 && held === 0) return assert.equal(await card.count(), 0);
    const figure = (name) => card.locator(`dl > div:has(dt:text-is("${name}")) dd`).innerText();
    const whole = (n) => n.toLocaleString('en-US');
    await until('the figures of the API', async () => {
      const now = (await api('fleet')).replicas;
      return (await figure('Tasks running')).startsWith(whole(now.tasks)) && (await figure('Tasks recommended')).startsWith(whole(now.would_be));
    });
    assert.match(await figure('Tasks running'), /tasks?$/);
    assert.match(await figure('Tasks recommended'), /tasks? (as many|[\d,]+\stasks? (fewer|more))/);
    assert.match(await figure('Overloaded, last day'), replicas.windows_day > 0 ? /^[\d.]+\s% of [\d,]+\swindows?$/ : /^not known yet/);
    assert.match(await figure('Jobs held'), held > 0 ? /^[\d,]+ ([\d,]+: |load or|no number)/ : /^\d+/);
  });
});

test('the colours can be switched and are kept', async () => {
  await on('#/settings', { dark: false }, async (page) => {
    const light = await background(page);
    await page.locator('button.theme').click();
    const dark = await background(page);
    assert.notEqual(light, dark);
    await page.reload();
    await until('the page', () => page.locator('h1').count());
    assert.equal(await background(page), dark);
    await page.locator('button.theme').click();
    assert.equal(await background(page), light);
  });
});

const firstName = async (page) => (await page.locator('#job-0 a').first().getAttribute('title', { timeout: 5000 })).split('\n')[0];

test('jobs are searched, filtered and sorted', async () => {
  if (jobs.length === 0) return;
  const total = (await api('jobs?limit=1')).total;
  const needle = jobs[Math.floor(jobs.length / 2)].name;
  const matches = (await api(`jobs?search=${encodeURIComponent(needle)}&limit=1`)).total;
  await on('#/jobs', {}, async (page) => {
    await until('rows', () => page.locator('#job-0').count());
    assert.match((await page.locator('.found').innerText()).replace(/[,\s]/g, ''), new RegExp(`^${total}job`));
    await page.keyboard.press('/');
    await page.keyboard.type(needle);
    await until('what was searched', async () => (await firstName(page)).includes(needle.slice(0, 3)) && decodeURIComponent(page.url()).replace(/\+/g, ' ').includes(needle)
      && (await page.locator('.found').innerText()).replace(/\D/g, '') === String(matches));
    await page.keyboard.press('Escape');
    await until('all jobs again', async () => (await page.locator('.found').innerText()).replace(/\D/g, '') === String(total));
    await page.getByRole('button', { name: 'Job', exact: true }).click();
    await until('sorted by name', async () => (await firstName(page)) === jobs[0].name);
    await page.getByRole('button', { name: 'Job', exact: true }).click();
    const last = (await api('jobs?sort=name&order=desc&limit=1')).jobs[0].name;
    await until('the other way round', async () => (await firstName(page)) === last);
    await page.getByRole('button', { name: 'auto', exact: true }).click();
    const auto = (await api('jobs?mode=auto&limit=1')).total;
    await until('only auto', async () => (await page.locator('.found').innerText()).replace(/\D/g, '') === String(auto));
  });
});

test('a search that is still being typed does not undo what is picked meanwhile', async () => {
  if (jobs.length === 0) return;
  for (const [hash, box, pick, picked] of [['#/jobs', '.search-box input', 'canary', 'mode=canary'], ['#/decisions', '.job-filter input', 'Memory', 'target=memory']]) {
    const { page } = await browser.open(server.url + hash);
    await page.locator(box).waitFor();
    // Within one turn of the page's clock, so that the pause after typing is not over.
    await page.evaluate(([selector, name]) => {
      const input = document.querySelector(selector);
      input.value = 'zz';
      input.dispatchEvent(new Event('input', { bubbles: true }));
      [...document.querySelectorAll('.segments button')].find((button) => button.textContent === name).click();
    }, [box, pick]);
    await until('both in the address', () => page.url().includes('search=zz') && page.url().includes(picked));
    await page.close();
  }
});

test('the job table goes by keyboard: End, Home, arrows, Enter', async () => {
  if (jobs.length === 0) return;
  const page1 = await api('jobs?sort=name&order=asc&limit=3');
  const target = page1.jobs[Math.min(2, page1.jobs.length - 1)].name;
  await on('#/jobs?sort=name&order=asc', {}, async (page) => {
    await until('rows', () => page.locator('#job-0').count());
    await page.locator('.grid').focus();
    await page.keyboard.press('End');
    await until('the last row', () => page.locator(`#job-${page1.total - 1} a`).count());
    await page.keyboard.press('Home');
    await until('the first row', () => page.locator('#job-0 a').count());
    for (let i = 0; i < Math.min(2, page1.total - 1); ++i) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await until('the job', async () => (await page.locator('h1').getAttribute('title', { timeout: 5000 })) === target);
    await page.goBack();
    await until('the table again', () => page.locator('.grid').count());
  });
});

test('the jobs page is soon of use (printed, not asserted)', async () => {
  await on('#/settings', {}, async (page) => {
    const started = Date.now();
    await page.evaluate(() => { location.hash = '#/jobs'; });
    if (jobs.length > 0) await until('rows', () => page.locator('#job-0 a').count());
    console.log(`jobs page: rows ${Date.now() - started} ms after the click, polled every 50 ms`);
  });
});

async function jobWithHistory() {
  for (const row of (await api('jobs?sort=memory_usage&limit=20')).jobs) {
    const map = await api(`jobs/${encodeURIComponent(row.name)}/usage?resource=memory`);
    if (map.time?.length > 0 && row.memory.would_be !== null) return row.name;
  }
  return null;
}

test('a job shows its usage, reads it out, and explains its limit', async () => {
  const name = await jobWithHistory();
  if (name === null) return;
  await on(jobHash(name), {}, async (page) => {
    assert.equal(await page.locator('h1').getAttribute('title'), name);
    // The answer first: what to do, what it saves, what it risks.
    assert.match(await page.locator('.answer h2').innerText(), /^(Lower|Raise|Keep|Set|Lowered|Raised) .* a task.*\.$/s);
    assert.doesNotMatch(await page.locator('main').innerText(), /would be in auto|would be set|auto would add|0\.0 % more/i);
    assert.ok((await page.evaluate(() => document.documentElement.scrollHeight)) <= 2000, 'the first tab is at most 2,000 px high');
    await page.locator('.heatmap').focus();
    await page.keyboard.press('ArrowLeft');
    const tip = await page.locator('.heatmap .tip').innerText();
    assert.match(tip, /owner's[^]*recommended/);
    assert.match(tip, /iB/);
    assert.ok((await page.locator('.paragraph').first().innerText()).length > 30);
    await page.getByRole('tab', { name: 'Why' }).focus();
    await page.keyboard.press('End');
    await until('the last tab', async () => page.url().includes('tab=settings') && (await page.locator('.settings-form').count()) === 1);
    assert.equal(await page.getByRole('tab', { selected: true }).innerText(), 'Settings');
    await page.locator('.summary').first().click();
    await until('CPU', async () => /CPU/.test(await page.locator('.card:has(.heatmap) h2').innerText()) && page.url().includes('resource=cpu'));
  });
});

// Against a tautd that scales nothing there is no such job.
async function scaledJob() {
  for (const row of (await api('jobs?sort=name&order=asc&limit=500')).jobs) {
    if (row.tasks_would_be === null || row.tasks_would_be === undefined) continue;
    const job = await api(`jobs/${encodeURIComponent(row.name)}`);
    if (job.replicas && job.replicas.load !== null && job.replicas.would_be !== null) return job;
  }
  return null;
}

test('the replicas of a job: tasks now and as they would be, the load that asks for them, and why', async () => {
  const job = await scaledJob();
  if (job === null) {
    assert.equal(process.env.TAUT_SCALED, undefined, 'this tautd has jobs whose tasks it scales');
    return;
  }
  const card = (page) => page.locator('.card:has(.replicas)').last();
  for (const size of [WIDE, PHONE]) {
    await on(jobHash(job.name, 'replicas'), { size }, async (page) => {
      assert.equal(await card(page).locator('h2').innerText(), 'Replicas');
      const facts = Object.fromEntries(await card(page).locator('.summary-facts > span').evaluateAll((all) => all.map((span) => [...span.children].map((part) => part.textContent))));
      const now = (await api(`jobs/${encodeURIComponent(job.name)}`)).replicas;
      assert.equal(Number(facts['Tasks now'].replace(/\D/g, '')), now.tasks);
      assert.equal(Number(facts.Recommended.replace(/\D/g, '')), now.would_be);
      assert.match(facts.Utilization, /%/);
      assert.ok('CPU of all tasks' in facts || 'Load' in facts, Object.keys(facts).join());
      assert.ok((await card(page).innerText()).includes(now.policy), 'the policy is named');
      assert.ok((await card(page).locator('.paragraph').first().innerText()).length > 20, 'and says why');
      // The charts: the load beside the capacity, and the number of tasks; arrow keys read both out.
      for (const [label, names] of [['Load of the job and what its tasks can process', ['load', 'capacity', 'recommended capacity']], ['Number of tasks', ['running', 'recommended']]]) {
        const chart = card(page).locator('figure.chart').filter({ has: page.locator(`[aria-label^="${label}"]`) });
        await until(label, () => chart.locator('canvas').count());
        await chart.locator('.plot').focus();
        await page.keyboard.press('ArrowLeft');
        await until(`${label}: a reading`, async () => {
          const tip = await chart.locator('.tip').innerText();
          return names.every((name) => tip.includes(name)) && /\d/.test(tip);
        });
      }
      assert.deepEqual(await beyond(page), [], 'the card is wider than the screen');
    });
  }
  await on(jobHash(job.name, 'replicas'), {}, async (page) => {
    for (const [range, days] of [['1 day', 1], ['30 days', 30]]) {
      const asked = page.waitForRequest((request) => {
        const at = new URL(request.url());
        return at.pathname.endsWith('/replicas') && Number(at.searchParams.get('to')) - Number(at.searchParams.get('from')) === days * 86400;
      });
      await card(page).getByRole('group', { name: 'Range of time' }).getByRole('button', { name: range }).click();
      await asked;
      await until(range, async () => (await card(page).getByRole('button', { name: range }).getAttribute('aria-pressed')) === 'true');
    }
    await page.evaluate(AXE);
    const found = await page.evaluate(() => window.axe.run('.card:has(.replicas)'));
    assert.deepEqual(found.violations.map((v) => `${v.id}: ${v.nodes[0].target}: ${v.nodes[0].failureSummary}`), []);
  });
});

test('what-if answers as the recommender and its slider change', async () => {
  const name = await jobWithHistory();
  if (name === null) return;
  await on(jobHash(name, 'whatif'), {}, async (page) => {
    const card = page.locator('.whatif');
    await until('an answer', () => card.locator('.answered').count());
    await card.getByRole('button', { name: 'peak', exact: true }).click();
    await until('peak', async () => /what if: peak/.test(await card.locator('.figures').innerText()));
    const asked = page.waitForRequest((request) => request.url().includes('/whatif') && request.postData()?.includes('"peak_days"'));
    await card.locator('input[type=range]').focus();
    await page.keyboard.press('ArrowLeft');
    const body = JSON.parse((await asked).postData());
    assert.equal(body.recommender, 'peak');
    assert.ok(body.peak_days < 7);
    await card.getByLabel('Not above').fill('nonsense');
    assert.equal(await card.getByLabel('Not above').getAttribute('aria-invalid'), 'true');
    await card.getByLabel('Not above').fill('');
  });
});

test('a setting is changed, recorded, and taken back; a wrong one is refused in place', async () => {
  if (jobs.length === 0) return;
  const name = jobs[Math.min(3, jobs.length - 1)].name;
  const path = `jobs/${encodeURIComponent(name)}/settings`;
  const key = 'memory.upper';
  const before = (await api(path)).values.find((value) => value.key === key);
  if (before === undefined) return;
  const { page } = await browser.open(server.url + jobHash(name, 'settings'));
  const field = page.locator(`[id="set-${key}"]`);
  await openSetting(page, key);
  await field.fill('much');
  await page.locator('.save-row').getByLabel('Your name').fill('e2e');
  await page.locator('.save-row .primary').click();
  await until('a refusal in place', () => page.locator('.field [role="alert"]').count());
  await field.fill('123GiB');
  await page.locator('.save-row .primary').click();
  // Recorded as the user of the token, or as the address with what the page says: "127.0.0.1 (says e2e)".
  await until('the change in the record', async () => /e2e\)? set memory\.upper to 123/.test(await page.locator('.changes').first().innerText().catch(() => '')));
  assert.match((await api(path)).values.find((value) => value.key === key).value, /123/);
  await page.locator('.field', { has: field }).getByRole('button', { name: /back to/ }).click();
  await until('what the rules say', async () => (await api(path)).values.find((value) => value.key === key).value === (before.by_rules ?? before.value));
  await page.close();
});

test('decisions are filtered, expanded, and paged', async () => {
  const first = await api('decisions?limit=100');
  if (first.decisions.length === 0) return;
  await on('#/decisions', {}, async (page) => {
    await page.locator('.feed > li[data-decisions="1"] .expand').first().click();
    await until('a reason', async () => (await page.locator('.details').count()) === 1 && (await page.locator('.details .skeleton').count()) === 0);
    const kind = first.decisions[0].kind;
    await page.getByLabel('Kind').selectOption(kind);
    // What nobody carried out is said with a would.
    const words = kind.replace(/_/g, ' ').toLowerCase().replace('oom raise', '(oom )?raise( \\(oom\\))?').replace('would set', 'set');
    const said = new RegExp(`^(would )?${words}$`);
    await until('one kind', async () => {
      const shown = await page.locator('.feed .badge[class*=kind-]').allInnerTexts();
      return shown.length > 0 && shown.every((text) => said.test(text.toLowerCase()));
    });
    await page.goBack();
    await until('all kinds again', async () => (await page.getByLabel('Kind').inputValue()) === '');
    const older = page.getByRole('button', { name: 'Older decisions' });
    if (first.next_before !== null) {
      const { decisions } = await api(`decisions?limit=100&before=${first.next_before}`);
      await older.click();
      await until('a second page', async () => (await shownDecisions(page)) >= first.decisions.length + decisions.length);
    } else {
      assert.equal(await older.count(), 0);
    }
  });
});

test('decisions come in live', async () => {
  if (!server.mock) return;
  await on('#/decisions', {}, async (page) => {
    const newest = (await api('decisions?limit=1')).decisions[0].id;
    const later = await until('a new decision', async () => {
      const now = (await api('decisions?limit=1')).decisions[0];
      return now.id > newest ? now : null;
    });
    await until('it on the page', async () => (await jobTitles(page)).slice(0, 12).includes(later.job));
  });
});

test('on a phone lists begin with 20 rows, rows stack, and what scrolls sideways has a sign', async () => {
  const { total } = await api('jobs?limit=1');
  if (total === 0) return;
  await on('#/jobs', { size: PHONE }, async (page) => {
    await until('cards', () => page.locator('.job-card .job-link').count());
    assert.equal(await page.locator('.job-card').count(), Math.min(20, total));
    const more = page.getByRole('button', { name: /more of/ });
    assert.equal(await more.count(), total > 20 ? 1 : 0);
    if (total > 20) {
      await more.click();
      await until('20 more', async () => (await page.locator('.job-card').count()) === Math.min(40, total));
    }
    const nav = page.locator('.top nav');
    if (await nav.evaluate((element) => element.scrollWidth > element.clientWidth)) assert.match(await nav.evaluate((element) => getComputedStyle(element).backgroundImage), /gradient/);
  });
  const { decisions } = await api('decisions?limit=100');
  await on('#/decisions', { size: PHONE }, async (page) => {
    if (decisions.length > 0) assert.ok((await page.locator('.feed > li').count()) <= 20, 'more only on request');
  });
  const status = await api('status');
  await on('#/costs', { size: PHONE }, async (page) => {
    // Each figure of a stacked row is on the screen, with the head of its column beside it.
    const cells = await page.locator('.stacked tbody td').evaluateAll((all) => all.filter((cell) => cell.textContent !== '').map((cell) => ({
      text: cell.textContent, head: cell.getAttribute('data-label'), right: Math.round(cell.getBoundingClientRect().right), cut: cell.scrollWidth > cell.clientWidth + 1 })));
    assert.deepEqual(cells.filter(({ head, right, cut }) => !head || right > PHONE.width || cut), []);
    if (!status.bills) return;
    const bill = page.getByRole('region', { name: 'Bill by group' });
    if ((await bill.count()) === 0) return;
    assert.match(await bill.locator('tbody tr').first().locator('td').first().getAttribute('data-label'), /^Total, /);
    assert.match(await bill.locator('tbody tr').first().locator('td').first().innerText(), /\d/);
  });
});

test('on a phone Fleet is what to do first, and the rest is behind a button', async () => {
  await on('#/', { size: PHONE }, async (page) => {
    if ((await page.locator('.first-pair').count()) === 0) return;  // no data yet
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    assert.ok(height <= 3500, `${height} px high`);
    assert.equal(await page.locator('.card.resource').count(), 0);
    await page.getByRole('button', { name: /^More: usage over time/ }).click();
    await until('the rest', async () => (await page.locator('.card.resource').count()) === 2);
    assert.deepEqual(await beyond(page), [], 'nothing makes the page scroll sideways');
    await page.evaluate(AXE);
    const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
    assert.deepEqual(found.violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)]), []);
  });
  await on('#/', {}, async (page) => {
    if ((await page.locator('.first-pair').count()) > 0) assert.equal(await page.locator('.card.resource').count(), 2, 'a wide screen shows all');
  });
});

test('charts beside each other have the same kind of scale, and say that it is logarithmic', async () => {
  const name = await jobWithHistory();
  if (name === null) return;
  await on(jobHash(name, 'whatif'), {}, async (page) => {
    const chart = page.locator('.whatif-chart .legend');
    await chart.waitFor();
    assert.match(await chart.innerText(), /log scale/);
    assert.match(await page.locator('.heat-legend').innerText(), /log scale/);
    assert.match(await page.locator('.heatmap').getAttribute('aria-label'), /logarithmic/);
  });
  await on('#/', {}, async (page) => {
    const names = await page.locator('.card.resource .legend').allInnerTexts();
    for (const text of names) assert.doesNotMatch(text, /log scale/);
    // Two limits, or three, each with a line of its own.
    const lines = await page.locator('.card.resource').first().locator('.legend .swatch').evaluateAll((all) => all.map((swatch) => swatch.className + swatch.getAttribute('style')));
    assert.equal(new Set(lines).size, lines.length);
  });
});

test('decisions that take each other back are one row, which opens', async () => {
  const { decisions } = await api('decisions?target=replicas&limit=100');
  await on('#/decisions?target=replicas', {}, async (page) => {
    const shown = await until('rows', async () => (decisions.length === 0 ? true : (await page.locator('.feed > li').count()) > 0));
    assert.ok(shown);
    const churn = page.locator('.feed > li:not([data-decisions="1"])').first();
    if ((await churn.count()) === 0) return;
    const number = Number(await churn.getAttribute('data-decisions'));
    assert.ok(number >= 3);
    assert.match(await churn.innerText(), /changes[^]*↔[^]*back and forth/);
    await churn.locator('.expand').first().click();
    await until('each of them', async () => (await churn.locator('.churned > li').count()) === number);
  });
});

test('capacity: a row for each offer, or how to make capacity known', async () => {
  const { offers, why } = await api('capacity');
  await on('#/capacity', {}, async (page) => {
    await page.getByRole('heading', { name: 'Capacity', exact: true }).waitFor();
    const table = page.getByRole('region', { name: 'What can still be sold' });
    if (why !== '') {
      // One sentence and the way there, no empty axes and dashes.
      await until('why', async () => (await page.locator('main').innerText()).includes(why));
      assert.equal((await table.count()) + (await page.locator('.uplot').count()), 0);
    }
    if (offers.length === 0 || why !== '') return;
    await table.waitFor();
    assert.equal(await table.locator('th.part').count(), offers.filter((offer) => offer.resource === 'cpu').length);
    assert.doesNotMatch(await page.locator('main').innerText(), /NaN|undefined/);
  });
});

test('what was promised of limits stands beside what came', async () => {
  const { totals, broken } = await api('promises');
  await on('#/', {}, async (page) => {
    const table = page.getByRole('region', { name: 'Promised and delivered' });
    if (totals.length === 0) return;
    await table.waitFor();
    assert.equal(await table.locator('tr.total').count(), totals.length);
    assert.equal(await table.locator('td.bad').count() > 0, broken.length > 0);
    assert.doesNotMatch(await table.innerText(), /NaN|undefined|\b0 %/);
  });
});

test('the figures of machines have units, can be sorted and searched, and lead to one machine', async () => {
  const { total, machines } = await api('machines');
  if (total === 0) return;
  await on('#/machines', {}, async (page) => {
    const names = () => page.locator('.figures tbody .name b').allInnerTexts();
    assert.deepEqual(await names(), machines.map((machine) => machine.name));
    assert.match(await page.locator('.figures').innerText(), /m?cores/);
    assert.match(await page.locator('main').innerText(), /reclaimable at a risk of/);
    for (const why of machines.map((machine) => machine.cpu.why).filter(Boolean)) assert.ok((await page.locator('.figures').innerText()).includes(why));
    await page.getByRole('button', { name: 'Memory' }).click();
    await until('memory', async () => /iB/.test(await page.locator('.figures tbody').innerText()));
    await page.getByLabel('Sort by').selectOption('reclaimable');
    const wanted = (await api('machines?sort=memory_reclaimable')).machines.map((machine) => machine.name);
    await until('the order', async () => (await names()).join() === wanted.join());
    await page.locator('.figures tbody .name a').first().click();
    await until('the machine', async () => (await page.locator('.machine-why').count()) === 2);
    assert.ok(page.url().includes(`machine=${encodeURIComponent(wanted[0])}`));
    await page.getByRole('button', { name: 'Close' }).click();
    await until('it is closed', async () => (await page.locator('.machine-why').count()) === 0);
    await page.getByRole('searchbox').fill(machines[machines.length - 1].name);
    await until('only it', async () => (await names()).join() === machines[machines.length - 1].name);
  });
});

test('acts of the memory guards are shown with their reasons', async () => {
  const { acts } = await api('tier_acts');
  await on('#/machines', {}, async (page) => {
    const card = page.locator('.card').filter({ hasText: 'Acts of the memory guards' });
    if (acts.length === 0) return assert.equal(await card.count(), 0);
    const text = await card.innerText();
    for (const act of acts.slice(0, 20)) assert.ok(text.includes(act.text) && text.includes(act.task));
  });
});

test('agents are shown with their state, and units on every number', async () => {
  const { enabled, agents } = await api('agents');
  await on('#/machines', {}, async (page) => {
    assert.equal(await page.locator('.agents tbody tr').count(), agents.length);
    if (agents.length === 0) {
      assert.match(await page.locator('main').innerText(), enabled ? /No agent has connected yet/ : /Agent connections are disabled/);
      return;
    }
    const text = await page.locator('.agents').innerText();
    for (const agent of agents) assert.ok(text.includes(agent.name));
    assert.match(text, /m?cores/);
    assert.match(text, /iB/);
    assert.match(text, /ago/);
    assert.equal(await page.locator('.state.is-disconnected').count(), agents.filter((agent) => !agent.connected).length);
    assert.equal(await page.locator('.observes').count(), agents.filter((agent) => agent.observes).length);
  });
});

test('the header names the cell and leads to others', async () => {
  const { cell, agents } = await api('status');
  await on('#/', {}, async (page) => {
    if (cell.name) await until('its name', async () => (await page.locator('header .cell-menu').innerText()).includes(cell.name));
    assert.equal(await page.getByRole('link', { name: 'Machines' }).count(), agents.enabled ? 1 : 0);
    if (cell.links.length === 0) return;
    await page.locator('header .cell-menu summary').click();
    const links = page.locator('header .cell-menu ul a');
    assert.deepEqual(await links.evaluateAll((all) => all.map((a) => [a.innerText, a.target])), cell.links.map((link) => [link.name, '']));
  });
});

test('a job that is not there is said to be not there', async () => {
  const { page } = await browser.open(server.url + '#/jobs/no%2Fsuch%2Fjob');
  await until('a message', async () => /Job not found/.test(await page.locator('main').innerText()));
  await page.close();
});

test('a part of a name filters the decisions, and an outcome does', async () => {
  const { decisions } = await api('decisions?limit=20');
  if (decisions.length === 0) return;
  const part = decisions[decisions.length - 1].job.slice(1, 7).toUpperCase();
  await on('#/decisions', {}, async (page) => {
    await page.getByRole('searchbox').fill(part);
    await until('only jobs with it', async () => {
      const names = await jobTitles(page);
      return page.url().includes('search=') && names.length > 0 && names.every((name) => name.toUpperCase().includes(part));
    });
    const { outcome } = (await api(`decisions?search=${encodeURIComponent(part)}&limit=1`)).decisions[0];
    await page.getByLabel('Outcome').selectOption(outcome);
    await until('in the address', () => page.url().includes(`outcome=${outcome}`));
    await until('rows', () => page.locator('.feed-row').count());
    await page.goBack();
    await until('any outcome again', async () => (await page.getByLabel('Outcome').inputValue()) === '');
  });
});

test('what could be saved, and the risk of it, is shown of every job', async () => {
  const rows = (await api('jobs?limit=5')).jobs.filter((row) => row.memory.saving !== null);
  if (rows.length === 0) return;
  await on('#/jobs', {}, async (page) => {
    await until('rows', () => page.locator('#job-0 a').count());
    const heads = await page.locator('.grid-head [role=columnheader]').allInnerTexts();
    const priced = (await api('jobs?limit=1')).jobs[0].saving_per_month !== undefined;
    for (const head of ["owner's", 'recommended', priced ? 'Saving, ' : 'Saving', 'Risk']) assert.ok(heads.some((text) => text.startsWith(head)), head);
    // One saving, one risk; none of the cells is cut.
    assert.equal(await page.locator('#job-0 .cell.saving').count(), 1);
    assert.match(await page.locator('#job-0 .cell.saving').innerText(), priced ? /^[−\d.,]+\n.*(cores|iB)|^–/ : /iB|cores|–/);
    assert.equal(await page.locator('#job-0 .cell.risk').count(), 1);
    const cut = await page.locator('.grid-row .cell').evaluateAll((all) => all.filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => `${cell.className}: ${cell.textContent}`));
    assert.deepEqual(cut, [], 'cells that are cut');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    assert.equal((await download).suggestedFilename(), 'recommendations.csv');
  });
  await on(jobHash(rows[0].name), {}, async (page) => {
    await page.getByRole('button', { name: /^Cop(y|ied)$/ }).first().click();
    await page.getByRole('button', { name: 'Docker', exact: true }).click();
    assert.match(await page.locator('.next .snippet').innerText(), /^docker update --.* /);
    await page.getByRole('button', { name: 'Kubernetes', exact: true }).click();
    assert.match(await page.locator('.next .snippet').innerText(), /^resources:\n {2}limits:\n/);
  });
});

test('all errors of the settings are shown at once', async () => {
  if (jobs.length === 0) return;
  const { page } = await browser.open(server.url + jobHash(jobs[0].name, 'settings'));
  for (const key of ['memory.upper', 'change_period']) {
    await openSetting(page, key);
    await page.locator(`[id="set-${key}"]`).fill('much');
  }
  await page.locator('.save-row .primary').click();
  await until('two refusals in place', async () => (await page.locator('.field [role="alert"]').count()) === 2);
  for (const key of ['memory.upper', 'change_period']) {
    assert.match(await page.locator('.field', { has: page.locator(`[id="set-${key}"]`) }).getByRole('alert').innerText(), /much/);
  }
  await page.close();
});

test('totals by a label stand in place of the jobs, and lead to them', async () => {
  if (jobs.length === 0) return;
  const label = Object.keys((await api(`jobs/${encodeURIComponent(jobs[0].name)}`)).labels)[0];
  const { groups } = await api(`totals?by=${label}`);
  await on('#/jobs', {}, async (page) => {
    await page.fill('.totals-by input', label);
    await new Promise((resolve) => setTimeout(resolve, 3000));  // windows come meanwhile, and the page is drawn again
    assert.equal(await page.inputValue('.totals-by input'), label);
    await page.press('.totals-by input', 'Enter');
    await until('a row for each value', async () => (await page.locator('.label-totals tbody tr').count()) === groups.length);
    assert.match(page.url(), new RegExp(`by=${label}`));
    const row = page.locator('.label-totals tbody tr').first();
    assert.match(await row.innerText(), new RegExp(String(groups[0].jobs)));
    await row.locator('button').click();
    await until('the jobs of the value', async () => (await page.locator('.label-totals').count()) === 0 && (await page.locator('#job-0 a').count()) === 1);
    assert.match(decodeURIComponent(page.url()), new RegExp(`${label}=`));
    // Of a property: in its own order, with the risk; its values are no words of a search.
    const sizes = (await api(`totals?by=${encodeURIComponent(':memory_size')}`)).groups;
    await page.goto(page.url().replace(/#.*/, '#/jobs?by=%3Amemory_size'));
    await until('a row for each size', async () => (await page.locator('.label-totals tbody tr').count()) === sizes.length);
    assert.match(await page.locator('.label-totals thead').innerText(), /Memory size of a task/);
    assert.equal(await page.locator('.label-totals tbody button').count(), 0);
  });
});

test('the mode of the jobs of a search is set at once', async () => {
  if (!server.mock) return;
  const search = jobs[0].name.split('-')[0];
  const { total } = await api(`jobs?search=${encodeURIComponent(search)}&limit=1`);
  await on(`#/jobs?search=${encodeURIComponent(search)}`, {}, async (page) => {
    await until('rows', () => page.locator('#job-0 a').count());
    assert.ok(total > 8, 'more jobs than are set at a time');
    await page.getByRole('button', { name: /^Set mode of/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Mode').selectOption('observe');
    await dialog.getByRole('button', { name: /to observe$/ }).click();
    await until('the end', () => dialog.getByRole('button', { name: 'Close' }).count());
    assert.equal((await api(`jobs?search=${encodeURIComponent(search)}&mode=observe&limit=1`)).total, total);
  });
});

test('a request for quota is checked, made and ended', async () => {
  await on('#/quota', { size: WIDE }, async (page) => {
    await page.locator('.quota-form').getByLabel('Cores of each').fill('2');
    await page.getByRole('button', { name: 'Check' }).click();
    await until('the verdict', async () => /admitted|queued/.test(await page.locator('.quota-answer').textContent()));
    await page.getByRole('button', { name: 'Make the request' }).click();
    await until('the request', async () => (await page.locator('.quota-answer').textContent()).startsWith('Request '));
    const number = /^Request (\d+)/.exec(await page.locator('.quota-answer').textContent())[1];
    await page.getByRole('button', { name: `End request ${number}`, exact: true }).click();
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await until('ended ones', async () => /refused|withdrawn/.test(await page.getByRole('region', { name: 'Requests for quota' }).textContent()));
  });
});
