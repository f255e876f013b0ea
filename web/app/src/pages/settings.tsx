// The daemon, the rules in force, and all settings of jobs.
import { useMay } from '../api/may';
import { useQuery } from '../api/query';
import type { Rule, SettingRow, Settings, Status } from '../api/types';
import { count, milliseconds, percent, plural, words } from '../lib/format';
import { INGEST } from '../lib/names';
import { hrefOf } from '../lib/route';
import { groupsOf } from '../lib/setting_groups';
import { Card, Problem, Skeleton, Time } from '../ui/basics';
import { ChangeList } from '../ui/change_list';

function Daemon({ status }: { status: Status }) {
  return (
    <dl class="facts wide-facts">
      <div><dt>Version</dt><dd>{status.version}</dd></div>
      <div><dt>Running since</dt><dd><Time at={status.started} /></dd></div>
      <div><dt>Ready</dt><dd>{status.ready ? 'yes' : <b class="bad">not yet</b>}</dd></div>
      <div><dt>Actuator</dt><dd>{status.actuator === 'dry_run' ? 'dry run: nothing is applied' : words(status.actuator)}</dd></div>
      <div><dt>Store</dt><dd>{status.store}</dd></div>
      <div><dt>Clock</dt><dd>{status.clock === 'wall' ? 'of this machine' : 'of the samples'}</dd></div>
    </dl>
  );
}

// Outcomes without samples are listed in one sentence.
function Ingest({ ingest }: { ingest: Record<string, number> }) {
  const name = (key: string) => INGEST[key] ?? words(key);
  const entries = Object.entries(ingest);
  const came = entries.filter(([, n]) => n > 0);
  const never = entries.filter(([, n]) => n === 0);
  return (
    <>
      <dl class="facts">
        {came.map(([key, value]) => <div key={key}><dt>{name(key)}</dt><dd>{count(value)}</dd></div>)}
      </dl>
      {came.length === 0 ? <p class="hint">None so far.</p>
        : never.length > 0 && <p class="hint never">No samples: {never.map(([key]) => name(key)).join('; ')}.</p>}
    </>
  );
}

function LastPass({ pass }: { pass: Status['last_pass'] }) {
  if (!pass) return <p class="hint">None so far: the first window has not closed.</p>;
  const steps = Object.entries(pass.steps);
  const longest = Math.max(...steps.map(([, ms]) => ms), 1e-9);
  return (
    <>
      <p class="hint">{plural(pass.jobs, 'job')} in {milliseconds(pass.milliseconds)}, for the window that ended <Time at={pass.window_end} />.</p>
      <ul class="pass">
        {steps.map(([name, ms]) => (
          <li key={name}>
            <span>{words(name)}</span>
            <span class="pass-bar" aria-hidden="true"><span style={{ width: `${(ms / longest) * 100}%` }} /></span>
            <span class="num">{milliseconds(ms)} <span class="muted">{pass.milliseconds > 0 ? percent(ms / pass.milliseconds) : ''}</span></span>
          </li>
        ))}
      </ul>
    </>
  );
}

function pairs(map: Record<string, string>) {
  return Object.entries(map).map(([key, value]) => <code key={key}>{key}={value}</code>);
}

// Returns the search text that finds a rule's jobs; null if the rule's patterns are not plain text.
export function searchOf(match: Record<string, string>): string | null {
  const entries = Object.entries(match);
  if (entries.length === 0 || entries.some(([key, value]) => /[|!\s]/.test(value) || (value.includes('*') && !(key === 'job' && /^[^*]*\*?$/.test(value))))) return null;
  return entries.map(([key, value]) => (key === 'job' ? value.replace('*', '') : `${key}=${value}`)).join(' ');
}

function Fits({ rule }: { rule: Rule }) {
  const search = searchOf(rule.match);
  const text = plural(rule.jobs, 'job');
  return search === null ? <span class="fits">{text}</span> : <a class="fits" href={hrefOf('jobs', { search })}>{text}</a>;
}

function Rules({ rules }: { rules: Rule[] }) {
  if (rules.length === 0) return <p class="hint">No rules: every job has the defaults and its own settings.</p>;
  return (
    <ol class="rules">
      {rules.map((rule) => (
        <li key={rule.name}>
          <b>{rule.name}</b>
          <span class="pairs"><span class="muted">{Object.keys(rule.match).length > 0 ? 'jobs with' : 'every job'}</span> {pairs(rule.match)} <span class="muted">get</span> {pairs(rule.set)}</span>
          <Fits rule={rule} />
        </li>
      ))}
    </ol>
  );
}

function kindOf(row: SettingRow): string {
  if (row.kind === 'choice') return (row.choices ?? []).map(words).join(' · ');
  return { number: 'a number', bytes: 'bytes: 512MiB, 4GiB', duration: 'a time: 30m, 6h', text: 'text', boolean: 'yes or no' }[row.kind];
}

function Rows({ table }: { table: SettingRow[] }) {
  return (
    <ul class="setting-table">
      {table.map((row) => (
        <li key={row.key}>
          <code>{row.key}</code>
          <span class="help">{row.help} <span class="muted kind">{kindOf(row)}</span></span>
          <span class="default"><span class="muted">default</span> {row.default || 'none'}</span>
        </li>
      ))}
    </ul>
  );
}

// Settings that a rule or a person has set are first.
function Table({ settings }: { settings: Settings }) {
  const set = new Set([...settings.rules.flatMap((rule) => Object.keys(rule.set)), ...settings.changes.map((change) => change.key)]);
  const { changed, groups } = groupsOf(settings.table, (row) => set.has(row.key));
  return (
    <>
      {changed.length > 0 && <><h3>Set by a rule or a person</h3><Rows table={changed} /></>}
      {groups.map(({ title, rows }) => (
        <details key={title} class="more-settings">
          <summary>{title} <span class="muted">{count(rows.length)}</span></summary>
          <Rows table={rows} />
        </details>
      ))}
    </>
  );
}

export function SettingsPage() {
  const status = useQuery<Status>('status', { on: ['window'], keep: true });
  const settings = useQuery<Settings>('settings', { on: ['setting'], keep: true });
  const file = settings.data?.config_file;
  const whole = useMay('see_platform') !== false;
  return (
    <div class="wide page">
      <h1 class="small">Settings and state</h1>
      {status.error && <Problem text={status.error.message} retry={status.reload} />}
      {whole && <div class="triple">
        {(['The daemon', 'Samples since its start', 'Last pass'] as const).map((title, i) => (
          <Card key={title} title={title}>
            {!status.data ? !status.error && <Skeleton lines={6} />
              : i === 0 ? <Daemon status={status.data} /> : i === 1 ? <Ingest ingest={status.data.ingest} /> : <LastPass pass={status.data.last_pass} />}
          </Card>
        ))}
      </div>}
      {settings.error && <Problem text={settings.error.message} retry={settings.reload} />}
      {!settings.data ? !settings.error && <div class="card"><Skeleton lines={8} /></div> : (
        <>
          {whole && <Card title="Rules in force" hint={<>Where several match a job, a later rule overrides an earlier one; settings of the job itself override all rules.{file ? <> They are in <code>{file}</code>.</> : ' There is no configuration file.'}</>}>
            <Rules rules={settings.data.rules} />
          </Card>}
          <Card title="What can be set for a job" hint="By a rule for many, or on the page of a job for one.">
            <Table settings={settings.data} />
          </Card>
          <Card title="Recent changes"><ChangeList changes={settings.data.changes} /></Card>
        </>
      )}
    </div>
  );
}
