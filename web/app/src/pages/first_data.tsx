// What to do while no sample has come.
import { useState } from 'preact/hooks';
import type { Status } from '../api/types';
import { apiUrl } from '../api/client';
import { count, plural, words } from '../lib/format';
import { INGEST } from '../lib/names';
import { hrefOf } from '../lib/route';
import { Card } from '../ui/basics';

export function FirstData({ status }: { status: Status | null }) {
  const snippet = `remote_write:\n  - url: ${apiUrl('write')}\n    write_relabel_configs:\n      - source_labels: [__name__]\n`
    + `        regex: container_(cpu_usage_seconds_total|memory_working_set_bytes|oom_events_total|spec_.*)|kube_pod_container_resource_limits|kube_(pod|replicaset|job)_owner\n`
    + `        action: keep\n`;
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard?.writeText(snippet);
    setCopied(true);
  };
  const samples = Object.entries(status?.ingest ?? {}).filter(([, n]) => n > 0);
  return (
    <div class="wide">
      <section class="lead">
        <h1>tautd is ready and waits for its first samples.</h1>
        <p class="gloss">It measures what every job uses, and says what its limits should be. Send it what your Prometheus already has.</p>
      </section>
      <Card title="Send it Prometheus remote write" tools={<button type="button" class="quiet" onClick={() => void copy()}>{copied ? 'Copied' : 'Copy'}</button>}
        hint={<>Add this to <code>prometheus.yml</code> and reload Prometheus. The first figures are here one window (5 minutes) later.</>}>
        <pre class="snippet" tabIndex={0} aria-label="Configuration for Prometheus"><code>{snippet}</code></pre>
        {samples.length > 0 && (
          <p class="hint">Samples so far: {samples.map(([name, n]) => `${count(n)} ${INGEST[name] ?? words(name)}`).join(', ')}. A window closes every 5 minutes.</p>
        )}
      </Card>
      {status?.agents.enabled && (
        <Card title="Or put an agent on each machine">
          <p class="hint">A tautlet measures the tasks of its machine itself, and sets their limits. {status.agents.known > 0
            ? <>{plural(status.agents.connected, 'agent is', 'agents are')} connected: the first figures are here when a window has closed.</>
            : 'None has come yet.'} <a href={hrefOf('machines')}>Machines</a></p>
        </Card>
      )}
      <Card title="What happens then">
        <ol class="next-steps">
          <li><b>After 5 minutes</b> the jobs are on this page, with what they use of the limits their owners set.</li>
          <li><b>After a day</b> each job has a recommended limit, and the reason for it. Nothing is changed by that: jobs start in <i>observe</i>.</li>
          <li><b>When you trust it</b>, move jobs to <i>canary</i> (tried on a few tasks first) or <i>auto</i>, one by one or by rules.</li>
        </ol>
      </Card>
    </div>
  );
}
