// Lists who changed which setting.
import type { SettingChange } from '../api/types';
import { jobHref } from '../lib/route';
import { Time } from './basics';

export function ChangeList({ changes, job = true }: { changes: SettingChange[]; job?: boolean }) {
  if (changes.length === 0) return <p class="hint">No setting{job ? '' : ' of this job'} has been changed yet.</p>;
  return (
    <ul class="changes">
      {changes.map((c) => (
        <li key={c.id}>
          <span class="when"><Time at={c.time} age /></span>
          <span class="said">
            <b>{c.who || 'unknown'}</b> {c.value === '' ? <>reset <code>{c.key}</code> to the value from the rules</> : <>set <code>{c.key}</code> to <b>{c.value}</b></>}
            {c.before !== '' && <span class="muted"> (was {c.before})</span>}
            {job && <> for <a href={jobHref(c.job)}>{c.job}</a></>}
          </span>
        </li>
      ))}
    </ul>
  );
}
