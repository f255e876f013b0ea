// Pictures of every page into shots/, for eyes.  node tests/shots.mjs [WORD in the name]...
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startMock } from '../mock/server.mjs';
import { PHONE, WIDE, startBrowser, startServer } from './browser.mjs';

const OUT = join(dirname(fileURLToPath(import.meta.url)), '..', 'shots');
mkdirSync(OUT, { recursive: true });
const words = process.argv.slice(2);
const wanted = (name) => words.length === 0 || words.every((word) => name.includes(word));
// Not waitForFunction: it evaluates text, which the CSP refuses.
async function settle(page) {
  for (let i = 0; i < 100 && await page.locator('.skeleton, .waiting').count() > 0; ++i) await page.waitForTimeout(50);
}

const server = await startServer({ tick: 1000 });
const browser = await startBrowser();
const first = await (await fetch(server.url + 'api/v1/jobs?mode=auto&limit=5')).json();
const trial = await (await fetch(server.url + 'api/v1/jobs?mode=canary&limit=20')).json();
const job = encodeURIComponent((first.jobs[0] ?? { name: 'none' }).name);
const onTrial = encodeURIComponent((trial.jobs.find((row) => row.trial) ?? first.jobs[0] ?? { name: 'none' }).name);
const PAGES = { fleet: '#/', jobs: '#/jobs', search: '#/jobs?search=shop+web&sort=ooms', job: `#/jobs/${job}`, 'job-trial': `#/jobs/${onTrial}?range=1d`,
  'job-cpu': `#/jobs/${job}?resource=cpu`, decisions: '#/decisions', costs: '#/costs', quota: '#/quota', machines: '#/machines', capacity: '#/capacity', settings: '#/settings' };

async function shoot(url, name, size, dark) {
  const { page, problems } = await browser.open(url, { size, dark });
  await settle(page);
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(OUT, `${name}.png`), fullPage: !name.startsWith('jobs') && !name.startsWith('search') });
  if (problems.length > 0) console.log(name, problems);
  await page.close();
}

for (const [name, hash] of Object.entries(PAGES)) {
  for (const [width, size] of [['1440', WIDE], ['390', PHONE]]) {
    for (const colours of ['light', 'dark']) {
      const full = `${name}-${width}-${colours}`;
      if (wanted(full)) await shoot(server.url + hash, full, size, colours === 'dark');
    }
  }
}
for (const state of ['empty', 'backfill']) {
  if (process.env.TAUT_URL || !wanted(`state-${state}`)) continue;
  const mock = await startMock({ state, tick: 1000, actuator: 'docker' });
  await shoot(mock.url, `state-${state}`, WIDE, false);
  await mock.close();
}
await browser.close();
await server.close();
