// The frame around the pages: navigation, the state of the connection, and notices for everyone.
import { useEffect, useRef, useState } from 'preact/hooks';
import { access } from './api/access';
import { signOut } from './api/client';
import { live, type Connection } from './api/live';
import { mayOf } from './api/may';
import { useQuery } from './api/query';
import type { Fleet, Status } from './api/types';
import { setSamplesClock } from './lib/clock';
import { count, plural } from './lib/format';
import { type Reading, speedOf } from './lib/speed';
import { hrefOf, useRoute, type Route } from './lib/route';
import { ago, clock, dateTime } from './lib/time';
import { CapacityPage } from './pages/capacity';
import { CostsPage } from './pages/costs';
import { DecisionsPage } from './pages/decisions';
import { FleetPage } from './pages/fleet';
import { JobPage } from './pages/job/page';
import { JobsPage } from './pages/jobs';
import { MachinesPage } from './pages/machines';
import { QuotaPage } from './pages/quota';
import { SettingsPage } from './pages/settings';
import { SignInPage } from './pages/sign_in';
import { useNow } from './ui/basics';
import { Boundary } from './ui/boundary';
import { Knot, ThemeButton } from './ui/frame';

const PAGES = [['fleet', 'Fleet'], ['jobs', 'Jobs'], ['decisions', 'Decisions'], ['costs', 'Costs'], ['quota', 'Quota'], ['machines', 'Machines'], ['capacity', 'Capacity'], ['settings', 'Settings']] as const;

function useConnection(): Connection {
  const [connection, setConnection] = useState(live.connection);
  useEffect(() => {
    const update = () => setConnection(live.connection);
    update();  // the connection may have opened before this effect ran
    return live.watch(update);
  }, []);
  return connection;
}

function useSignedOut(): boolean {
  const [out, setOut] = useState(access.signedOut);
  useEffect(() => {
    const update = () => setOut(access.signedOut);
    update();
    return access.watch(update);
  }, []);
  return out;
}

// The signed-in user, and sign-out.
function Person({ caller }: { caller: NonNullable<Status['caller']> }) {
  const [error, setError] = useState('');
  const leave = () => signOut().then(() => location.reload(), (wrong: unknown) => setError(wrong instanceof Error ? wrong.message : String(wrong)));
  const roles = caller.groups.length > 0 ? caller.groups.map(({ group, as }) => `${as} of ${group}`).join(', ') : caller.role;
  const until = caller.valid_until ? `; until ${dateTime(caller.valid_until)}` : '';
  return (
    <span class="person">
      <span class="person-name" title={`Signed in as ${caller.user}: ${roles}${until}`}>{caller.user.replace(/^oidc:/, '')}</span>
      <button type="button" class="quiet" onClick={() => void leave()}>Sign out</button>
      {error && <span role="alert">{error}</span>}
    </span>
  );
}

function ConnectionState({ connection, fleet }: { connection: Connection; fleet: Fleet | null }) {
  useNow(15);
  const text = { connecting: 'Connecting', live: 'Live', polling: 'Polling', lost: 'No response' }[connection];
  const shown = connection === 'live' || connection === 'polling' ? fleet?.time : null;
  return (
    <span class={`connection is-${connection}`} role="status" title={fleet?.time ? `The last window ended ${dateTime(fleet.time)}` : undefined}>
      <i aria-hidden="true" /><span>{text}{shown ? <span class="of-window">, figures of {clock(shown)}</span> : ''}</span>
    </span>
  );
}

function useSpeed(time: number | null): number | null {
  const first = useRef<Reading | null>(null);
  const [speed, setSpeed] = useState<number | null>(null);
  useEffect(() => {
    if (time === null) return;
    const now = { wallS: Date.now() / 1000, cellS: time };
    first.current ??= now;
    setSpeed(speedOf(first.current, now));
  }, [time]);
  return speed;
}

function Banners({ connection, fleet, status }: { connection: Connection; fleet: Fleet | null; status: Status | null }) {
  const speed = useSpeed(status?.clock === 'samples' ? fleet?.time ?? null : null);
  const now = useNow(1);
  const actuator = status?.actuator ?? fleet?.actuator;
  const backfill = status?.backfill;
  return (
    <div class="banners" role="region" aria-label="Notices">
      {connection === 'lost' && (
        <div class="banner bad" role="alert"><p class="wide">
          <b>tautd does not respond.</b> {live.lastOkMs > 0 ? `Last response ${ago(live.lastOkMs / 1000, now)}; the figures are from then. ` : ''}
          {live.nextTryMs / 1000 > now ? `Retrying in ${Math.ceil(live.nextTryMs / 1000 - now)} s.` : 'Retrying.'}{' '}
          <button type="button" class="quiet" onClick={() => live.tryNow()}>Retry now</button>
        </p></div>
      )}
      {actuator === 'dry_run' && (
        <div class="banner"><p class="wide"><b>Nothing is applied: dry run.</b> <span class="wide-only">Limits are decided and recorded as if they were set; no workload changes.</span></p></div>
      )}
      {speed !== null && (
        <div class="banner calm"><p class="wide"><b>This cell's clock runs about {count(speed)} times as fast as real time.</b> <span class="wide-only">It is the clock of the samples; all times and ages on these pages are by it.</span></p></div>
      )}
      {status?.warnings.map((warning) => (
        <div class="banner" key={warning}><p class="wide">{warning}</p></div>
      ))}
      {status?.backfill_error && <div class="banner" key="backfill-error"><p class="wide"><b>Reading the history failed:</b> {status.backfill_error}</p></div>}
      {status?.late_jobs && status.late_jobs.failed > 0 && (
        <div class="banner" key="late-jobs"><p class="wide"><b>The history of {plural(status.late_jobs.failed, 'new job')} could not be read;</b> tautd retries: {status.late_jobs.error}</p></div>
      )}
      {backfill && (
        <div class="banner calm"><p class="wide">
          <b>History is being read.</b> {backfill.sentence}{' '}
          <progress value={backfill.done} max={backfill.total} aria-label="Backfill" />
        </p></div>
      )}
    </div>
  );
}

// This cell's name, and links to other cells.
function CellMenu({ cell }: { cell: Status['cell'] }) {
  const name = cell.name || 'this cell';
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      const outside = !(event.target instanceof Node && menu.current?.contains(event.target));
      if (menu.current && (event.type === 'hashchange' || outside || (event instanceof KeyboardEvent && event.key === 'Escape'))) menu.current.open = false;
    };
    const events = ['click', 'keydown', 'hashchange'];
    for (const event of events) window.addEventListener(event, close);
    return () => { for (const event of events) window.removeEventListener(event, close); };
  }, []);
  if (cell.links.length === 0) return cell.name ? <span class="cell-menu" title={`The cell ${cell.name}`}><span>{name}</span></span> : null;
  return (
    <details class="cell-menu" ref={menu}>
      <summary title={`The cell ${name}; others are listed`}><span>{name}</span></summary>
      <ul aria-label="Other cells">{cell.links.map((link) => <li key={link.name + link.url}><a href={link.url}>{link.name}</a></li>)}</ul>
    </details>
  );
}

// `platform` is true if the caller may see data that belongs to no group; null: unknown yet.
function Content({ route, platform }: { route: Route; platform: boolean | null }) {
  switch (route.page) {
    case 'fleet': return <FleetPage query={route.query} />;
    case 'jobs': return <JobsPage query={route.query} />;
    case 'job': return <JobPage key={route.job} name={route.job} query={route.query} />;
    case 'decisions': return <DecisionsPage query={route.query} />;
    case 'costs': return <CostsPage query={route.query} />;
    case 'quota': return <QuotaPage query={route.query} />;
    case 'machines':
      if (platform === false) return <div class="wide page"><h1 class="small">Machines</h1><p class="hint nothing">Machines are shown to the people of the platform.</p></div>;
      return platform === null ? null : <MachinesPage query={route.query} />;
    case 'capacity':
      if (platform === false) return <div class="wide page"><h1 class="small">Capacity</h1><p class="hint nothing">Capacity is shown to the people of the platform.</p></div>;
      return platform === null ? null : <CapacityPage query={route.query} />;
    case 'settings': return <SettingsPage />;
    default: return <div class="wide lead"><h1>Page not found</h1><p><a href="#/">Back to the fleet</a></p></div>;
  }
}

const TITLES = { fleet: 'Fleet', jobs: 'Jobs', decisions: 'Decisions', costs: 'Costs', quota: 'Quota', machines: 'Machines', capacity: 'Capacity', settings: 'Settings', unknown: 'Not found' };

export function App() {
  return useSignedOut() ? <SignInPage /> : <Dashboard />;
}

function Dashboard() {
  const route = useRoute();
  const connection = useConnection();
  const fleet = useQuery<Fleet>('fleet', { on: ['window'], keep: true });
  const status = useQuery<Status>('status', { on: ['window'], keep: true });

  setSamplesClock(status.data?.clock === 'samples' ? fleet.data?.time ?? null : null);

  const cell = status.data?.cell;
  const agents = status.data?.agents;
  const machines = route.page === 'machines' || (agents !== undefined && (agents.enabled || agents.known > 0)) || (status.data?.nodes ?? null) !== null;

  const quota = route.page === 'quota' || status.data?.quota === true;
  const platform = mayOf(status.data, 'see_platform');
  const money = mayOf(status.data, 'see_money') === true;

  const place = route.page + route.job;
  useEffect(() => {
    document.title = [route.page === 'job' ? route.job : TITLES[route.page], cell?.name, 'Tautline'].filter(Boolean).join(' · ');
  }, [place, cell?.name]);
  useEffect(() => window.scrollTo(0, 0), [place]);

  const here = route.page === 'job' ? 'jobs' : route.page;
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById('main')?.focus(); }}>Skip to the page</a>
      <header class="top">
        <div class="wide top-row">
          <a class="brand" href="#/" aria-label="Tautline, the fleet">
            <Knot />
            <b class={cell?.name ? 'with-cell' : undefined}>Tautline</b>
          </a>
          {cell && <CellMenu cell={cell} />}
          <nav aria-label="Pages">
            {PAGES.filter(([page]) => (page !== 'machines' || (machines && platform !== false)) && (page !== 'capacity' || platform !== false) && (page !== 'quota' || quota) && (page !== 'costs' || money)).map(([page, name]) => (
              <a key={page} href={hrefOf(page)} aria-current={page === here ? 'page' : undefined}>{name}</a>
            ))}
          </nav>
          <div class="top-end">
            <ConnectionState connection={connection} fleet={fleet.data} />
            {status.data?.caller?.session && <Person caller={status.data.caller} />}
            <ThemeButton />
          </div>
        </div>
      </header>
      <Banners connection={connection} fleet={fleet.data} status={status.data} />
      <main id="main" tabIndex={-1}><Boundary key={place}><Content route={route} platform={platform} /></Boundary></main>
    </>
  );
}
