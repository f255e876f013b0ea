
// Puts the parts together: everything is drawn once, and again when the reader chooses or the page changes its width.

function renderCharts() {
  hideTip();
  for (const host of document.querySelectorAll('.card > .legend')) {
    const usage = host.nextElementSibling?.id === 'fleet-limits'
      ? [el('span', { class: 'fixed' }, svg('svg', { class: 'swatch usage-swatch', viewBox: '-7 -7 14 14', 'aria-hidden': 'true' },
          svg('path', { d: 'M-7-4H7V7H-7Z' })), 'usage')] : [];
    keepFocus(host, () => legend(host, usage));
  }
  keepFocus(byId('scatter'), renderScatter);
  renderSlack();
  renderFleet();
  renderStory();
}

function renderAll() {
  renderOverview();
  renderRecommenders();
  renderJobs();
  renderCharts();
}

function watchWidth() {
  let width = document.body.clientWidth;
  let queued = false;
  window.addEventListener('resize', () => {
    if (queued || document.body.clientWidth === width) return;
    queued = true;
    requestAnimationFrame(() => {
      queued = false;
      width = document.body.clientWidth;
      renderCharts();
    });
  });
}

// The choice is remembered where the browser allows it; a local file often may not.
function rememberedTheme(value) {
  try {
    if (value) localStorage.setItem('taut-theme', value);
    return localStorage.getItem('taut-theme');
  } catch {
    return null;
  }
}

function watchTheme() {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const button = byId('theme');
  const now = () => document.documentElement.dataset.theme || (system.matches ? 'dark' : 'light');
  const show = () => { button.textContent = now() === 'dark' ? 'Light' : 'Dark'; };
  const remembered = rememberedTheme();
  if (remembered === 'light' || remembered === 'dark') document.documentElement.dataset.theme = remembered;
  button.addEventListener('click', () => {
    document.documentElement.dataset.theme = now() === 'dark' ? 'light' : 'dark';
    rememberedTheme(now());
    show();
    renderStory();
  });
  system.addEventListener('change', () => { show(); renderStory(); });
  show();
}

function main() {
  document.title = report.title;
  watchTheme();
  renderReplayed();
  if (report.lanes.length === 0) {
    document.body.classList.add('empty');
    byId('headline').textContent = 'Nothing was replayed: no recommender has results.';
    return;
  }
  onChange(renderAll);
  byId('job-search').addEventListener('input', renderJobs);
  document.addEventListener('scroll', hideTip, { passive: true });
  watchWidth();
  renderAll();
}

main();
