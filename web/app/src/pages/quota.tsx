// Quota and usage of each group, and requests for more.
import { useState } from 'preact/hooks';
import { ApiError, request, sendJson, withParams } from '../api/client';
import { mayOf, useMay } from '../api/may';
import { useQuery } from '../api/query';
import type { AdmissionVerdict, QuotaAmounts, QuotaRequest, QuotaRequestPage, QuotaRow, QuotaState, Resource, Status } from '../api/types';
import { amount, amountShort, capital, count, duration, percent, plural, words } from '../lib/format';
import { RESOURCE, RESOURCES, isResource } from '../lib/resource';
import { changeQuery, jobHref } from '../lib/route';
import { rememberWho, storedWho } from '../lib/who';
import { Card, Problem, Segments, Skeleton, Time } from '../ui/basics';
import { Snippet } from '../ui/snippet';
import { useFirst } from '../ui/more';
import { TableBox } from '../ui/table_box';

const MOST = 200;
const short = (resource: string, value: number): string => (isResource(resource) ? amountShort(resource, value) : count(value));
const amountsText = (amounts: QuotaAmounts): string => Object.entries(amounts)
  .map(([resource, value]) => (isResource(resource) ? amount(resource, value) : `${count(value)} ${resource}`)).join(', ');
const nameOf = (resource: string): string => (isResource(resource) && RESOURCE[resource].unit.counted ? `${RESOURCE[resource].title}, ${RESOURCE[resource].unit.name}` : resource);

function Groups({ state }: { state: QuotaState }) {
  const first = useFirst(state.rows, 'rows');
  return (
    <TableBox class="costs quota" label="Quota by group">
      <table>
        <thead>
          <tr>
            <th scope="col">Group</th><th scope="col">Tier</th><th scope="col">Resource</th><th scope="col" class="num">Quota</th>
            <th scope="col" class="num" title="Limits of its running jobs, and what its admitted requests hold">In use</th>
            <th scope="col" class="num" title="In use beyond its own quota">Borrowed</th>
            <th scope="col" class="num" title="What it may use more now, borrowed quota included">Available</th>
            <th scope="col" class="num" title="The most in use in 95 % of the hours of the last 14 days">95 % of 14 days</th>
            <th scope="col" class="num" title="A quota of its own that would do, by the last 14 days">Recommended</th>
          </tr>
        </thead>
        <tbody>
          {first.rows.map((row) => (
            <tr key={`${row.group} ${row.tier} ${row.resource}`}>
              <th scope="row">{row.group}{row.cohort && <span class="muted"> shared</span>}</th><td>{row.tier}</td><td>{nameOf(row.resource)}</td>
              <td class="num">{short(row.resource, row.quota)}{(row.oversold ?? 0) > 0 && <span class="bad" title="Production quota of all groups above the capacity"> {short(row.resource, row.oversold ?? 0)} oversold</span>}</td>
              <td class={`num ${row.quota > 0 && row.in_use > row.quota ? 'over' : 'cost-share'}`} style={{ '--share': share(row) }}>{short(row.resource, row.in_use)} <span class="muted">{row.quota > 0 ? percent(row.in_use / row.quota) : ''}</span></td>
              <td class="num">{row.borrowed > 0 ? short(row.resource, row.borrowed) : ''}</td>
              <td class={`num ${row.available <= 0 ? 'bad' : ''}`}>{short(row.resource, row.available)}</td>
              <td class="num">{row.history && short(row.resource, row.history.in_use_p95)}</td>
              <td class="num" title={row.history?.reason}>{row.history?.recommended !== undefined && short(row.resource, row.history.recommended)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {first.more}
    </TableBox>
  );
}
const share = (row: QuotaRow): number => (row.quota > 0 ? Math.min(1, row.in_use / row.quota) : 0);

function Uncovered({ state }: { state: QuotaState }) {
  if (state.uncovered.length === 0) return null;
  return (
    <Card class="uncovered" title="Jobs and requests without quota" hint="They go on, and count for no group: the quota file has no such group or tier.">
      <ul>
        {state.uncovered.map((use) => (
          <li key={`${use.group} ${use.tier}`}>{use.group === '' ? 'no group' : <b>{use.group}</b>}, tier {use.tier}: {[use.jobs > 0 ? plural(use.jobs, 'job') : '', use.requests > 0 ? plural(use.requests, 'request') : ''].filter(Boolean).join(' and ')} with {amountsText(use.amounts)}{use.first_job !== '' && <>, such as <a href={jobHref(use.first_job)}>{use.first_job}</a></>}</li>
        ))}
      </ul>
    </Card>
  );
}

const STATES = [{ value: 'open', label: 'Open' }, { value: 'queued', label: 'Queued' }, { value: 'all', label: 'All' }] as const;

function RequestRow({ one, onEnded }: { one: QuotaRequest; onEnded: () => void }) {
  const [error, setError] = useState('');
  const end = async () => {
    try {
      await request(withParams(`requests/${one.id}`, { who: storedWho() }), { method: 'DELETE' });
      setError('');
    } catch (problem) {
      setError(problem instanceof ApiError ? problem.message : String(problem));
    }
    onEnded();
  };
  const status = useQuery<Status>('status', { keep: true }).data;
  const own = status?.caller !== undefined && status.caller.user !== '' && (one.who === status.caller.user || one.who.startsWith(`${status.caller.user} (says `));
  const mayEnd = mayOf(status, 'end_requests') !== false || (own && mayOf(status, 'make_requests') !== false);
  return (
    <tr>
      <th scope="row">{one.id}</th>
      <td><span class={one.end === 'refused' ? 'bad' : ''}>{words(one.end || one.state)}</span></td>
      <td class="since"><Time at={one.since} age /></td>
      <td>{one.group}</td><td>{one.tier}</td>
      <td>{count(one.tasks)} × {amountsText(one.per_task)}</td>
      <td>{one.job || <span class="muted">none</span>}{one.duration !== null && <span class="muted"> for {duration(one.duration)}</span>}</td>
      <td class="why">{one.reason}{error && <span class="bad" role="alert"> {error}</span>}</td>
      <td>{one.state !== 'ended' && mayEnd && <button type="button" class="quiet" onClick={() => void end()} aria-label={`End request ${one.id}`}>End</button>}</td>
    </tr>
  );
}

function Requests({ query, version, onChange }: { query: Record<string, string>; version: number; onChange: () => void }) {
  const state = STATES.find((s) => s.value === query.state)?.value ?? 'open';
  const params = { limit: MOST, state: state === 'queued' ? 'queued' : '', ended: state === 'open' ? 'false' : '', group: query.group };
  const answer = useQuery<QuotaRequestPage>(withParams('requests', params), { on: ['window'], keep: true, every: () => 5 });
  const [seen, setSeen] = useState(version);
  if (seen !== version) {
    setSeen(version);
    answer.reload();
  }
  const found = answer.data?.requests;
  return (
    <Card title="Requests" hint="Admitted ones hold what they asked for until they end; queued ones are admitted when there is room."
      tools={<Segments label="Requests" value={state} choices={[...STATES]} onPick={(value) => changeQuery('quota', { state: value === 'open' ? '' : value })} />}>
      {answer.error && <Problem text={answer.error.message} retry={answer.reload} />}
      {!found ? !answer.error && <Skeleton lines={3} /> : found.length === 0 ? <p class="hint nothing">No such requests.</p> : (
        <TableBox class="costs quota" label="Requests for quota">
          <table>
            <thead><tr><th scope="col">Request</th><th scope="col">State</th><th scope="col">Since</th><th scope="col">Group</th><th scope="col">Tier</th><th scope="col">Tasks</th><th scope="col">Job</th><th scope="col">Why</th><td /></tr></thead>
            <tbody>{found.map((one) => <RequestRow key={one.id} one={one} onEnded={() => { answer.reload(); onChange(); }} />)}</tbody>
          </table>
        </TableBox>
      )}
    </Card>
  );
}

const fieldOf = (r: Resource): [string, string, string] => [r, `${RESOURCE[r].unit.counted ? capital(RESOURCE[r].unit.name) : RESOURCE[r].title} of each`, RESOURCE[r].unit.hint];
const FIELDS = [['tasks', 'Tasks', '1'], ...RESOURCES.map(fieldOf), ['duration', 'Duration', '2h'], ['job', 'Job', 'shop/deployment/web']] as const;

// Checks a request, and makes it.
function Ask({ state, onChange }: { state: QuotaState; onChange: () => void }) {
  const groups = [...new Set(state.rows.filter((row) => !row.cohort).map((row) => row.group))];
  const tiers = [...new Set(state.rows.map((row) => row.tier))];
  const [form, setForm] = useState<Record<string, string>>({});
  const [who, setWho] = useState(storedWho);
  const [answer, setAnswer] = useState<{ text: string; bad: boolean } | null>(null);
  const may = useMay('make_requests');
  const given = { group: groups[0], tier: tiers[0], ...Object.fromEntries(Object.entries(form).filter(([, value]) => value.trim() !== '')) };
  const set = (key: string) => (event: { currentTarget: HTMLInputElement | HTMLSelectElement }) => {
    const { value } = event.currentTarget;
    setForm((before) => ({ ...before, [key]: value }));
    setAnswer(null);
  };
  const run = async (ask: () => Promise<string>) => {
    try {
      setAnswer({ text: await ask(), bad: false });
    } catch (problem) {
      setAnswer({ text: problem instanceof ApiError ? problem.message : String(problem), bad: true });
    }
  };
  const check = () => run(async () => (await request<AdmissionVerdict>(withParams('admission', given))).explanation);
  const make = () => run(async () => {
    rememberWho(who);
    const made = await sendJson<QuotaRequest>('POST', withParams('requests', { who: who.trim() }), given);
    onChange();
    return `Request ${made.id}: ${words(made.end || made.state)}. ${made.reason}`;
  });
  return (
    <Card title="Ask for quota" hint="Check says what would happen now and changes nothing.">
      <form class="quota-form" onSubmit={(event) => { event.preventDefault(); void check(); }}>
        <label>Group <select value={given.group} onChange={set('group')}>{groups.map((group) => <option key={group}>{group}</option>)}</select></label>
        <label>Tier <select value={given.tier} onChange={set('tier')}>{tiers.map((tier) => <option key={tier}>{tier}</option>)}</select></label>
        {FIELDS.map(([key, label, hint]) => <label key={key}>{label} <input type="text" value={form[key] ?? ''} placeholder={hint} onInput={set(key)} /></label>)}
        <label>Your name, for the record <input type="text" value={who} autoComplete="username" onInput={(event) => setWho(event.currentTarget.value)} /></label>
        <p class="buttons"><button type="submit" class="primary">Check</button>{may !== false && <button type="button" class="quiet" onClick={() => void make()}>Make the request</button>}</p>
      </form>
      {answer && <p class={`quota-answer ${answer.bad ? 'bad' : ''}`} role="status">{answer.text}</p>}
    </Card>
  );
}

const EXAMPLE = `quota: {file: /etc/tautd/quota.yaml, group: "{namespace}", default_tier: production}
`;

export function QuotaPage({ query }: { query: Record<string, string> }) {
  const configured = useQuery<Status>('status', { keep: true }).data?.quota;
  const answer = useQuery<QuotaState>(configured ? 'quota' : null, { on: ['window'], keep: true, every: () => 15 });
  const [version, setVersion] = useState(0);
  const changed = () => { setVersion((v) => v + 1); answer.reload(); };
  const state = answer.data;
  if (configured === false) {
    return (
      <div class="wide page">
        <h1 class="small">Quota</h1>
        <Card title="No quota is configured" hint="Name a quota file in the configuration of tautd and restart it: it says which groups there are and what each may use.">
          <Snippet label="Configuration for tautd" text={EXAMPLE} />
        </Card>
      </div>
    );
  }
  return (
    <div class="wide page">
      <h1 class="small">Quota</h1>
      {answer.error && <Problem text={answer.error.message} retry={answer.reload} />}
      {!state ? !answer.error && <div class="card"><Skeleton lines={6} /></div> : (
        <>
          <p class="gloss">{state.open === 1 ? '1 request is' : `${count(state.open)} requests are`} open, <em>{count(state.queued)}</em> {state.queued === 1 ? 'is' : 'are'} queued. {state.measured === null ? 'No window has closed yet: what jobs use is not known, and nothing is admitted.' : <>Use is that of <Time at={state.measured} />.</>}{state.silent && <b> No job is measured since; the use is kept.</b>}</p>
          {state.warnings.map((warning) => <p class="bad" key={warning}>{warning}</p>)}
          <div class="card"><Groups state={state} /></div>
          <Requests query={query} version={version} onChange={changed} />
          <Ask state={state} onChange={changed} />
          <Uncovered state={state} />
        </>
      )}
    </div>
  );
}
