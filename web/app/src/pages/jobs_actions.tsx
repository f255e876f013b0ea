// Actions on all jobs of a search: export as CSV, or change their mode.
import { useState } from 'preact/hooks';
import { useMay } from '../api/may';
import { ApiError, jobPath, request, sendJson, withParams } from '../api/client';
import { MODES, type JobPage, type JobRow, type JobSettings, type Mode } from '../api/types';
import { csvOf } from '../lib/export';
import { count, plural } from '../lib/format';
import { rememberWho, storedWho } from '../lib/who';

const PAGE = 1000;
const AT_ONCE = 4;

interface Filter { search: string; mode: string }

async function allJobs(filter: Filter): Promise<JobRow[]> {
  const rows: JobRow[] = [];
  for (;;) {
    const page = await request<JobPage>(withParams('jobs', { ...filter, sort: 'name', order: 'asc', offset: rows.length, limit: PAGE }));
    rows.push(...page.jobs);
    if (page.jobs.length === 0 || rows.length >= page.total) return rows;
  }
}

const messageOf = (wrong: unknown): string => (wrong instanceof ApiError ? wrong.message : String(wrong));

export interface Progress { done: number; total: number; failed: string[] }

// Changes a few jobs at a time, each with its own request: one refusal does not stop the others.
export async function setModes(names: readonly string[], mode: Mode, who: string, set: (name: string, mode: Mode, who: string) => Promise<unknown>, onProgress: (progress: Progress) => void): Promise<Progress> {
  const progress: Progress = { done: 0, total: names.length, failed: [] };
  let next = 0;
  const work = async () => {
    for (let at = next++; at < names.length; at = next++) {
      const name = names[at] ?? '';
      try {
        await set(name, mode, who);
      } catch (wrong) {
        progress.failed.push(`${name}: ${messageOf(wrong)}`);
      }
      ++progress.done;
      onProgress({ ...progress });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return progress;
}

const patch = (name: string, mode: Mode, who: string) => sendJson<JobSettings>('PATCH', withParams(jobPath(name, '/settings'), { who }), { mode });

function save(text: string, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

function ModeDialog({ jobs, filter, onClose }: { jobs: JobRow[]; filter: Filter; onClose: () => void }) {
  const [mode, setMode] = useState<Mode>('canary');
  const [who, setWho] = useState(storedWho);
  const [progress, setProgress] = useState<Progress | null>(null);
  const [over, setOver] = useState(false);
  const changing = jobs.filter((row) => row.mode !== mode);
  const what = [filter.search && `that match “${filter.search}”`, filter.mode && `in ${filter.mode}`].filter(Boolean).join(' and ');
  const start = async () => {
    rememberWho(who);
    setProgress({ done: 0, total: changing.length, failed: [] });
    setProgress(await setModes(changing.map((row) => row.name), mode, who.trim(), patch, setProgress));
    setOver(true);
  };
  return (
    <div class="bulk card" role="dialog" aria-label="Set the mode of jobs">
      <p><b>{plural(jobs.length, 'job')}</b> {what || 'in all'}. Set the mode of {changing.length === jobs.length ? 'all of them' : `the ${plural(changing.length, 'job')} that ${changing.length === 1 ? 'has' : 'have'} another`} to{' '}
        <select aria-label="Mode" value={mode} disabled={progress !== null} onChange={(event) => setMode(event.currentTarget.value as Mode)}>
          {MODES.map((m) => <option key={m} value={m}>{m}</option>)}
        </select>
      </p>
      <p class="actions">
        <label>Your name, for the record <input type="text" value={who} autoComplete="username" disabled={progress !== null} onInput={(event) => setWho(event.currentTarget.value)} /></label>
        <button type="button" class="primary" disabled={progress !== null || changing.length === 0} onClick={() => void start()}>Set {plural(changing.length, 'job')} to {mode}</button>
        <button type="button" class="quiet" disabled={progress !== null && !over} onClick={onClose}>{over ? 'Close' : 'Cancel'}</button>
        {progress && <span role="status">{count(progress.done - progress.failed.length)} of {count(progress.total)} set{progress.failed.length > 0 ? `, ${count(progress.failed.length)} rejected` : ''}</span>}
      </p>
      {progress && progress.failed.length > 0 && <ul class="problem">{progress.failed.slice(0, 10).map((text) => <li key={text}>{text}</li>)}</ul>}
    </div>
  );
}

export function JobsActions({ search, mode, total }: Filter & { total: number | null }) {
  const [jobs, setJobs] = useState<JobRow[] | null>(null);
  const [busy, setBusy] = useState('');
  const [error, setError] = useState('');
  const withAll = async (what: string, use: (rows: JobRow[]) => void) => {
    setBusy(what);
    setError('');
    try {
      use(await allJobs({ search, mode }));
    } catch (wrong) {
      setError(messageOf(wrong));
    }
    setBusy('');
  };
  const may = useMay('set_jobs');
  if (total === null || total === 0) return null;
  return (
    <div class="actions">
      {error && <span class="bad" role="alert">{error}</span>}
      <button type="button" class="quiet" disabled={busy !== ''} onClick={() => void withAll('csv', (rows) => save(csvOf(rows), 'recommendations.csv'))}>Download CSV</button>
      {may !== false && <button type="button" class="quiet" disabled={busy !== ''} onClick={() => void withAll('mode', setJobs)}>Set mode of {plural(total, 'job')}…</button>}
      {jobs && <ModeDialog jobs={jobs} filter={{ search, mode }} onClose={() => setJobs(null)} />}
    </div>
  );
}
