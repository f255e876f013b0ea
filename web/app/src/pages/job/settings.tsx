// The job's settings: a form for the daemon's table of settings, and the history of changes.
import { useEffect, useState } from 'preact/hooks';
import { ApiError, jobPath, sendJson, withParams } from '../../api/client';
import { useMay } from '../../api/may';
import { useQuery } from '../../api/query';
import type { JobSettings, SettingRow, SettingValue, Settings } from '../../api/types';
import { count, words } from '../../lib/format';
import { groupsOf } from '../../lib/setting_groups';
import { rememberWho, storedWho } from '../../lib/who';
import { Card, Problem, Skeleton } from '../../ui/basics';
import { ChangeList } from '../../ui/change_list';

const HINTS: Partial<Record<SettingRow['kind'], string>> = { bytes: '512MiB, 4GiB', duration: '30m, 6h, 2d', number: 'a number' };

interface FieldProps { row: SettingRow; value: string; now: SettingValue | undefined; error: string; onValue: (value: string) => void }

function Control({ row, value, now, error, onValue }: FieldProps) {
  const id = `set-${row.key}`;
  const about = { id, 'aria-describedby': `${id}-help`, 'aria-invalid': error !== '' };
  const choices = row.kind === 'boolean' ? ['true', 'false'] : row.choices;
  if ((row.kind === 'choice' || row.kind === 'boolean') && choices) {
    const all = value === '' || choices.includes(value) ? choices : [value, ...choices];
    return (
      <select {...about} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        {value === '' && <option value="">{`by rules: ${now?.by_rules || row.default || 'none'}`}</option>}
        {all.map((choice) => <option key={choice} value={choice}>{row.kind === 'boolean' ? (choice === 'true' ? 'yes' : 'no') : words(choice)}</option>)}
      </select>
    );
  }
  return <input type="text" {...about} value={value} autoComplete="off" spellcheck={false} placeholder={HINTS[row.kind] ?? 'none'} onInput={(event) => onValue(event.currentTarget.value)} />;
}

function Field(props: FieldProps & { changed: boolean; onReset: () => void }) {
  const { row, now, error, changed } = props;
  const byPerson = now?.source.startsWith('set by') ?? false;
  const back = now?.by_rules === undefined ? 'the value from the rules' : now.by_rules || 'none';
  return (
    <div class={`field ${changed ? 'changed' : ''}`}>
      <label for={`set-${row.key}`}><code>{row.key}</code></label>
      <div class="control">
        <Control {...props} />
        {error && <span class="bad" role="alert">{error}</span>}
      </div>
      <div class="about" id={`set-${row.key}-help`}>
        <span>{row.help}</span>
        <span class="muted">
          {changed ? 'not saved yet' : now?.source ?? 'default'}
          {byPerson && !changed && <> · <button type="button" class="link" onClick={props.onReset}>back to {back}</button></>}
        </span>
      </div>
    </div>
  );
}

// The daemon's message about a key, shown beside the field that already shows the key.
export const withoutKey = (key: string, message: string): string => (message.startsWith(`${key}: `) ? message.slice(key.length + 2) : message);

// Returns the key of the invalid field, with which the daemon's message begins.
export function fieldOf(message: string, keys: string[]): string {
  return keys.filter((key) => message.startsWith(key) || message.includes(`\`${key}\``)).sort((a, b) => b.length - a.length)[0] ?? '';
}

function Form({ name, table, settings, onSaved }: { name: string; table: SettingRow[]; settings: JobSettings; onSaved: () => void }) {
  const [edits, setEdits] = useState<Record<string, string>>({});
  const [who, setWho] = useState(storedWho);
  const [error, setError] = useState('');
  const [fields, setFields] = useState<Record<string, string>>({});
  const [saving, setSaving] = useState(false);
  const [saved, setSaved] = useState('');
  const values = new Map(settings.values.map((value) => [value.key, value]));
  const changed = Object.entries(edits).filter(([key, value]) => value !== (values.get(key)?.value ?? ''));
  // Shows all errors if the daemon lists errors by key, else the error of the field that the message begins with.
  const known = table.map((row) => row.key);
  const one = error ? fieldOf(error, known) : '';
  const wrong: Record<string, string> = Object.keys(fields).length > 0 ? fields : one ? { [one]: error } : {};
  // Errors that belong to no field are shown below the form.
  const unplaced = Object.keys(wrong).length === 0 ? error : Object.keys(wrong).filter((key) => !known.includes(key)).map((key) => wrong[key]).join('; ');
  useEffect(() => { setEdits({}); setError(''); setFields({}); setSaved(''); }, [name]);

  const save = async (wanted: Record<string, string>) => {
    setSaving(true);
    setError('');
    setFields({});
    setSaved('');
    rememberWho(who);
    try {
      await sendJson<JobSettings>('PATCH', withParams(jobPath(name, '/settings'), { who: who.trim() }), wanted);
      setEdits((before) => Object.fromEntries(Object.entries(before).filter(([key]) => !(key in wanted))));
      setSaved('Saved. Takes effect at the next evaluation.');
      onSaved();
    } catch (wrong) {
      const message = wrong instanceof ApiError ? wrong.message : String(wrong);
      setFields(wrong instanceof ApiError ? wrong.fields : {});
      setError(wrong instanceof ApiError && wrong.status === 403 ? `Not allowed: ${message}` : message);
    } finally {
      setSaving(false);
    }
  };
  const field = (row: SettingRow) => (
    <Field key={row.key} row={row} now={values.get(row.key)} value={edits[row.key] ?? values.get(row.key)?.value ?? ''}
      changed={changed.some(([key]) => key === row.key)} error={withoutKey(row.key, wrong[row.key] ?? '')}
      onValue={(value) => { setSaved(''); setEdits({ ...edits, [row.key]: value }); }} onReset={() => void save({ [row.key]: '' })} />
  );
  // A field that is being edited keeps its place.
  const { changed: own, groups } = groupsOf(table, (row) => (values.get(row.key)?.source ?? 'default') !== 'default');
  return (
    <form class="settings-form" onSubmit={(event) => { event.preventDefault(); if (changed.length > 0) void save(Object.fromEntries(changed)); }}>
      {own.length > 0 && <h3>Not the default</h3>}
      {own.map(field)}
      {groups.map(({ title, rows }, i) => (
        <details key={title} class="more-settings" open={i === 0 || rows.some((row) => row.key in wrong || row.key in edits)}>
          <summary>{title} <span class="muted">{count(rows.length)}</span></summary>
          {rows.map(field)}
        </details>
      ))}
      <div class="save-row">
        <label>Your name, for the record <input type="text" value={who} autoComplete="username" onInput={(event) => setWho(event.currentTarget.value)} /></label>
        <button type="submit" class="primary" disabled={saving || changed.length === 0}>
          {changed.length > 1 ? `Save ${changed.length} changes` : 'Save'}
        </button>
        {changed.length > 0 && <button type="button" class="quiet" onClick={() => { setEdits({}); setError(''); setFields({}); }}>Discard</button>}
        <span role="status" class="muted">{saved}</span>
      </div>
      {unplaced && <Problem text={unplaced} />}
    </form>
  );
}

// The view for a caller who may not change settings.
function Values({ settings }: { settings: JobSettings }) {
  return <dl class="keyed">{settings.values.map(({ key, value, source }) => <div key={key}><dt title={source}>{key}</dt><dd>{value || 'none'}</dd></div>)}</dl>;
}

export function SettingsCard({ name }: { name: string }) {
  const table = useQuery<Settings>('settings', { keep: true });
  const settings = useQuery<JobSettings>(jobPath(name, '/settings'), { on: ['setting', 'window'], keep: true });
  const may = useMay('set_jobs');
  const error = settings.error ?? table.error;
  return (
    <Card title="Settings of this job" hint="Values set here override rules and defaults.">
      {error && <Problem text={error.message} retry={() => { settings.reload(); table.reload(); }} />}
      {!settings.data || !table.data ? !error && <Skeleton lines={6} /> : (
        <>
          {may === false ? <Values settings={settings.data} /> : <Form name={name} table={table.data.table} settings={settings.data} onSaved={settings.reload} />}
          <h3>Who changed what</h3>
          <ChangeList changes={settings.data.changes} job={false} />
        </>
      )}
    </Card>
  );
}
