// Shows what to do until the first sample arrives.
import type { Status } from '../api/types';
import { apiUrl } from '../api/client';
import { count, plural, words } from '../lib/format';
import { INGEST, PROMETHEUS_METRICS } from '../lib/names';
import { hrefOf } from '../lib/route';
import { dateTime } from '../lib/time';
import { Card } from '../ui/basics';
import { Snippet } from '../ui/snippet';

// Returns the data that the daemon waits for, and until when.
function waiting(status: Status | null): { title: string; next: string } {
  if (status?.backfill) return { title: 'tautd reads the history of your Prometheus.', next: `${status.backfill.sentence} The first jobs appear as its hours are read.` };
  const closes = (status?.ingest.accepted ?? 0) > 0 ? status?.first_window_closes ?? null : null;
  if (closes !== null) return { title: 'Samples arrive; no window has closed yet.', next: `The first closes at ${dateTime(closes)}: this page then lists the jobs with their usage and their owners' limits.` };
  const unmapped = status?.ingest.unmapped ?? 0;
  if (unmapped > 0) return { title: 'Samples arrive, but none is one of a job.', next: `${plural(unmapped, 'sample was', 'samples were')} of metrics that say nothing of a job, which is normal; the keep list below has those that do. \`taut mapping test --prometheus URL\` shows which jobs a Prometheus has.` };
  return { title: 'tautd is ready and waits for its first sample.', next: 'It measures the usage of every job and recommends limits. Let it read the history that your Prometheus already has, then send it what comes.' };
}

export function FirstData({ status }: { status: Status | null }) {
  const { title, next } = waiting(status);
  const snippet = `remote_write:\n  - url: ${apiUrl('write')}\n    write_relabel_configs:\n      - source_labels: [__name__]\n`
    + `        regex: ${PROMETHEUS_METRICS}\n`
    + `        action: keep\n`;
  const samples = Object.entries(status?.ingest ?? {}).filter(([, n]) => n > 0);
  return (
    <div class="wide">
      <section class="lead">
        <h1>{title}</h1>
        <p class="gloss">{next}</p>
      </section>
      {!status?.backfill && (
        <Card title="Begin with the history of your Prometheus"
          hint={<>Start tautd with this option, or set <code>backfill.prometheus</code>: it reads the last 14 days, and recommends limits within minutes instead of after a day.{status?.backfill_error ? ` Last time it failed: ${status.backfill_error}` : ''}</>}>
          <Snippet text={'tautd --prometheus http://prometheus:9090\n'} label="Command for the history" />
        </Card>
      )}
      <Card title="Configure Prometheus remote write"
        hint={<>Add this to <code>prometheus.yml</code> and reload Prometheus. The first figures appear within 7 minutes: a window takes 5 minutes, and closes up to 2 minutes after its end.</>}>
        <Snippet text={snippet} label="Configuration for Prometheus" />
        {samples.length > 0 && (
          <p class="hint">Samples so far: {samples.map(([name, n]) => `${count(n)} ${INGEST[name] ?? words(name)}`).join(', ')}.</p>
        )}
      </Card>
      {status?.agents.enabled && (
        <Card title="Or run an agent on each machine">
          <p class="hint">A tautlet measures the tasks of its machine and sets their limits. {status.agents.known > 0
            ? <>{plural(status.agents.connected, 'agent is', 'agents are')} connected: the first figures appear when a window has closed.</>
            : 'None has connected yet.'} <a href={hrefOf('machines')}>Machines</a></p>
        </Card>
      )}
      <Card title="What happens next">
        <ol class="next-steps">
          <li><b>Within 7 minutes</b> this page lists the jobs with their usage and their owners' limits.</li>
          <li><b>After a day</b>, or within minutes where the history was read, each job has a recommended limit with its reason; until then a provisional one, marked ~ and never set. No limit changes: jobs start in mode <i>observe</i>.</li>
          <li><b>When you trust it</b>, move jobs to <i>canary</i> (tried on a few tasks first) or <i>auto</i>, one by one or by rules.</li>
        </ol>
      </Card>
    </div>
  );
}
