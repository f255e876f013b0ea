// The pictures of README.md and docs/, in docs/pictures/: npm run pictures. `./dev run` serves what they show, at TAUT_URL (http://127.0.0.1:7070/).
//   node tests/pictures.mjs [--report REPORT.html]    REPORT.html: of taut replay --report, for docs/pictures/report.png
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { startBrowser } from './browser.mjs';

const DOCS = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'docs', 'pictures');
const url = (process.env.TAUT_URL ?? 'http://127.0.0.1:7070/').replace(/\/?$/, '/');
const at = process.argv.indexOf('--report');
const report = at > 0 ? process.argv[at + 1] : undefined;

// The job that saves most, with a chart of some days.
async function bestJob() {
  const { jobs } = await (await fetch(`${url}api/v1/jobs?sort=saving_per_month&limit=1`)).json();
  return `#/jobs/${encodeURIComponent(jobs[0].name)}`;
}

async function take(browser, address, file, { width, height, whole = false }) {
  const { page, problems } = await browser.open(address, { size: { width, height } });
  for (let i = 0; i < 200 && await page.locator('.skeleton, .waiting').count() > 0; ++i) await page.waitForTimeout(50);
  await page.waitForTimeout(800);
  await page.screenshot({ path: join(DOCS, file), fullPage: whole });
  await page.close();
  if (problems.length > 0) throw new Error(`${file}: ${problems.join('; ')}`);
  console.log(`docs/pictures/${file}`);
}

const browser = await startBrowser();
try {
  if (report !== undefined) {
    await take(browser, pathToFileURL(resolve(report)).href, 'report.png', { width: 1280, height: 1180 });
  } else {
    await take(browser, `${url}#/`, 'dashboard.png', { width: 1440, height: 900 });
    await take(browser, `${url}${await bestJob()}`, 'job.png', { width: 1440, height: 1100 });
    await take(browser, `${url}#/costs`, 'costs.png', { width: 1440, height: 1000 });
    await take(browser, `${url}#/quota`, 'quota.png', { width: 1440, height: 900, whole: true });
  }
} finally {
  await browser.close();
}
