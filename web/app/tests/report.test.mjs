// The replay report in a real browser, opened as a file. No timing is asserted.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test as unbounded } from 'node:test';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { documentData } from '../mock/document.mjs';
import { reportData, reportPage } from '../mock/report.mjs';
import { PHONE, WIDE, startBrowser } from './browser.mjs';

const BOUND = { timeout: 300_000 };
const test = (name, run) => unbounded(name, BOUND, run);
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'taut-report-'));

let browser;
before(async () => { browser = await startBrowser(); }, BOUND);
after(async () => { await browser?.close(); rmSync(folder, { recursive: true, force: true }); }, BOUND);

// Opens a report, runs `check`, and sees that the console stayed clean and nothing was loaded.
async function on(data, options, check) {
  const file = join(folder, 'report.html');
  writeFileSync(file, reportPage(data));
  const { page, problems } = await browser.open(pathToFileURL(file).href, options);
  try {
    await page.locator('h1').first().waitFor();
    await check(page);
    assert.deepEqual(await page.evaluate(() => performance.getEntriesByType('resource').map((entry) => entry.name)), []);
    assert.deepEqual(problems, [], 'the console');
  } finally {
    await page.close();
  }
}

const card = (page, title) => page.locator('.card', { has: page.getByRole('heading', { name: title, exact: true }) });
const firstJob = (page) => page.locator('.job-table tbody .job-name').first().innerText();

for (const [name, size] of [['wide', WIDE], ['phone', PHONE]]) {
  for (const dark of [false, true]) {
    test(`every part is drawn and axe finds nothing, ${name}, ${dark ? 'dark' : 'light'}`, async () => {
      await on(reportData(), { size, dark }, async (page) => {
        assert.match(await page.locator('h1').innerText(), /With analogs, 30\sjobs would have needed 60\s% of the memory their owners reserved/);
        for (const title of ['What was replayed', 'All recommenders', 'Cost against risk', 'Unused share of the limits', 'The fleet over time', 'Jobs', 'Job stories']) {
          assert.equal(await card(page, title).count(), 1, title);
        }
        assert.equal(await page.locator('canvas').count(), 5);  // three charts, the heatmap and its scale
        assert.equal(await page.locator('.scatter .point').count(), 6);
        assert.equal(await page.locator('.job-table tbody tr').count(), 30);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), 'wider than the screen');
        await page.evaluate(AXE).catch(() => page.addScriptTag({ content: AXE }));
        const found = await page.evaluate(() => window.axe.run());
        assert.deepEqual(found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(' | ')}`), []);
      });
    });
  }
}

test('a recommender and a resource are picked for the whole page', async () => {
  await on(reportData(), {}, async (page) => {
    await page.locator('.report-bar').getByRole('button', { name: 'vpa' }).click();
    assert.match(await page.locator('h1').innerText(), /With vpa/);
    assert.match(await page.locator('.why-last h2').innerText(), /of vpa is/);
    await page.locator('.pick', { hasText: 'peak' }).click();
    assert.match(await page.locator('h1').innerText(), /With peak/);
    await page.locator('.scatter .point[aria-label="Show moving window"]').focus();
    assert.match(await page.locator('.scatter .tip').innerText(), /footprint/);
    await page.keyboard.press('Enter');
    assert.match(await page.locator('h1').innerText(), /With moving window/);
    await page.getByRole('button', { name: 'CPU', exact: true }).click();
    assert.match(await page.locator('h1').innerText(), /of the CPU/);
    assert.equal(await page.getByRole('columnheader', { name: 'Throttled days' }).count(), 2);
  });
});

test('jobs are sorted, found, and lead to their stories', async () => {
  await on(reportData({ jobs: 300 }), {}, async (page) => {
    assert.equal(await page.locator('.job-table tbody tr').count(), 80);
    await page.locator('.tall').evaluate((e) => { e.scrollTop = e.scrollHeight; });
    await page.locator('.job-table tbody tr').nth(81).waitFor({ state: 'attached' });
    await page.locator('.job-table thead button').first().click();
    assert.equal(await firstJob(page), 'vm-001');
    await page.locator('.job-table thead button').first().click();
    assert.equal(await firstJob(page), 'vm-300');
    await page.getByLabel('Find a job').fill('VM-00');
    await page.getByText('9 of 300 jobs match.').waitFor();
    await page.locator('tr', { hasText: 'vm-002' }).getByRole('button', { name: 'story' }).click();
    assert.match(await page.locator('.stories [aria-pressed="true"]').innerText(), /vm-002/);
    assert.match(await card(page, 'Job stories').locator('h3').first().innerText(), /vm-002: many OOM-days/);
  });
});

test('charts and the heatmap are read by keys, and lines hidden', async () => {
  await on(reportData(), {}, async (page) => {
    const fleet = card(page, 'The fleet over time');
    await fleet.locator('.plot').first().focus();
    await page.keyboard.press('Home');
    assert.match(await fleet.locator('.tip').first().innerText(), /1\sJul 2013[^]*warm-up, not scored/);
    await page.keyboard.press('End');
    assert.match(await fleet.locator('.tip').first().innerText(), /20\sJul 2013[^]*vpa[^]*30\sjobs/);
    await fleet.getByRole('button', { name: 'vpa' }).click();
    await fleet.locator('.plot').first().focus();
    await page.keyboard.press('End');
    assert.doesNotMatch(await fleet.locator('.tip').first().innerText(), /vpa/);
    const story = card(page, 'Job stories');
    await story.locator('.heatmap').focus();
    await page.keyboard.press('Home');
    assert.match(await story.locator('.heatmap .tip').innerText(), /Mon 1\sJul 2013, 00:00[^]*usage, peak\s+1.50\sGiB[^]*\npeak\s+8.00\sGiB/);
    await page.keyboard.press('End');
    assert.match(await story.locator('.heatmap .tip').innerText(), /\npeak\s+unlimited/);
    await story.getByRole('button', { name: '2 days' }).click();
    await story.locator('.heatmap').focus();
    await page.keyboard.press('Home');
    assert.match(await story.locator('.heatmap .tip').innerText(), /19\sJul/);
  });
});

test('light and dark are switched, and paper is light and complete', async () => {
  await on(reportData({ jobs: 300 }), { dark: true }, async (page) => {
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await ground();
    await page.locator('.theme').click();
    assert.notEqual(await ground(), dark);
    await page.locator('.theme').click();
    assert.equal(await ground(), dark);
    await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
    await page.locator('.job-table tbody tr').nth(299).waitFor({ state: 'attached' });
    assert.equal(await page.locator('details').evaluate((e) => e.open), true);
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'light');
    await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
    assert.equal(await ground(), dark);
  });
});

test('a trace without owners, a clock of its own, no stories, or nothing at all', async () => {
  await on(reportData({ owners: false, unix: false }), {}, async (page) => {
    assert.match(await page.locator('h1').innerText(), /would have needed 1.50 times the memory they used/);
    assert.match(await card(page, 'What was replayed').innerText(), /day\s15887 to day\s15906/);
  });
  await on(reportData({ stories: 0 }), {}, async (page) => assert.match(await card(page, 'Job stories').innerText(), /No story was kept for memory\./));
  await on({ ...reportData(), policies: [], lanes: [], stories: [], jobs: [] }, {}, async (page) => assert.match(await page.locator('h1').innerText(), /Nothing was replayed/));
});

for (const [name, size] of [['wide', WIDE], ['phone', PHONE]]) {
  for (const dark of [false, true]) {
    test(`a report of sections is drawn and axe finds nothing, ${name}, ${dark ? 'dark' : 'light'}`, async () => {
      await on(documentData(), { size, dark }, async (page) => {
        assert.match(await page.locator('h1').innerText(), /Half of the production jobs start within 2.5\ss, with 47.5\s% of 12.5\scores\./);
        assert.deepEqual(await page.locator('.card h2').allInnerTexts(), ['Tiers', 'Over time', 'Predictors', 'What this rests on']);
        assert.equal(await page.title(), 'A <made> report');
        assert.equal(await page.locator('canvas').count(), 3);
        assert.equal(await page.locator('.scatter .point').count(), 4);
        assert.deepEqual((await page.locator('tbody tr').nth(1).locator('th, td').allInnerTexts()).map((text) => text.replaceAll('\u00a0', ' ')),
          ['<b>batch</b>', '7', 'never', '2.0×10⁻⁵', '–', 'fits']);
        assert.equal(await page.locator('b', { hasText: 'batch' }).count(), 0, 'markup in a name is text');
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), 'wider than the screen');
        await page.evaluate(AXE).catch(() => page.addScriptTag({ content: AXE }));
        const found = await page.evaluate(() => window.axe.run());
        assert.deepEqual(found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(' | ')}`), []);
      });
    });
  }
}

test('a chart of sections tells its values, also by keys, and a point its own', async () => {
  await on(documentData({ unix: false }), {}, async (page) => {
    await page.locator('.plot').first().focus();
    await page.keyboard.press('Home');
    const tip = page.locator('.document-chart .tip').first();
    assert.match(await tip.innerText(), /day\s0/);
    assert.match(await tip.innerText(), /production\s+10.0\scores/);
    assert.match(await tip.innerText(), /batch\s+6.99\scores/, 'its own, and not the sum');
    await page.locator('.scatter .point[aria-label^="oracle"]').focus();
    assert.match(await page.locator('.scatter .tip').innerText(), /footprint, share of the limits\s+40\s%/);
  });
});

test('a report without sections or answers is still a page', async () => {
  await on({ ...documentData(), answer: ['Nothing was sold.'], sections: [], notes: [] }, {}, async (page) => {
    assert.equal(await page.locator('h1').innerText(), 'Nothing was sold.');
    assert.equal(await page.locator('.card').count(), 0);
  });
});
