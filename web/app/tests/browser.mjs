// A Chromium for the tests, and a server: TAUT_URL, or the mock.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { startMock } from '../mock/server.mjs';

const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];

export const WIDE = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };

export async function startServer(options = {}) {
  if (process.env.TAUT_URL) return { url: process.env.TAUT_URL.replace(/\/?$/, '/'), mock: false, close: async () => {} };
  const mock = await startMock(options);
  return { url: mock.url, mock: true, close: mock.close };
}

// {open(path, {size, dark}) -> {page, problems}, close}. `problems` collects console errors and refusals by the CSP.
export async function startBrowser() {
  const profile = mkdtempSync(join(tmpdir(), 'taut-chromium-'));
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true, args: FLAGS, chromiumSandbox: false, timezoneId: 'Europe/Zurich',
  });
  const open = async (url, { size = WIDE, dark = false, touch = false } = {}) => {
    const page = await browser.newPage();
    page.setDefaultTimeout(90_000);
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce' });
    const problems = [];
    page.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()); });
    page.on('pageerror', (error) => problems.push(String(error)));
    await page.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`));
    });
    await page.goto(url);
    return { page, problems, touch };
  };
  return { open, close: async () => { await browser.close(); rmSync(profile, { recursive: true, force: true }); } };
}
