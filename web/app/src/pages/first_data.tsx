// What to do while no sample has come.
import type { Status } from '../api/types';
import { apiUrl } from '../api/client';
import { count, plural, words } from '../lib/format';
import { INGEST, PROMETHEUS_METRICS } from '../lib/names';
import { hrefOf } from '../lib/route';
import { Card } from '../ui/basics';
import { Snippet } from '../ui/snippet';

export function FirstData({ status }: { status: Status | null }) {
  const snippet = `remote_write:\n  - url: ${apiUrl('write')}\n    write_relabel_configs:\n      - source_labels: [__name__]\n`
    + `        regex: ${PROMETHEUS_METRICS}\n`
    + `        action: keep\n`;
  const samples = Object.entries(status?.ingest ?? {}).filter(([, n]) => n > 0);
  return (
    <div class="wide">
      <section class="lead">
        <h1>tautd is ready and has received no samples yet.</h1>
        <p class="gloss">It measures the usage of every job and recommends limits. Send it the metrics that your Prometheus already has.</p>
      </section>
      <Card title="Configure Prometheus remote write"
        hint={<>Add this to <code>prometheus.yml</code> and reload Prometheus. The first figures appear within 7 minutes: a window takes 5 minutes, and closes up to 2 minutes after its end.</>}>
        <Snippet text={snippet} label="Configuration for Prometheus" />
        {samples.length > 0 && (
          <p class="hint">Samples so far: {samples.map(([name, n]) => `${count(n)} ${INGEST[name] ?? words(name)}`).join(', ')}. A window of 5 minutes closes up to 2 minutes after its end.</p>
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
          <li><b>After a day</b> each job has a recommended limit with its reason. No limit changes: jobs start in mode <i>observe</i>.</li>
          <li><b>When you trust it</b>, move jobs to <i>canary</i> (tried on a few tasks first) or <i>auto</i>, one by one or by rules.</li>
        </ol>
      </Card>
    </div>
  );
}
