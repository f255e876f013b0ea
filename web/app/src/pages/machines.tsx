// The machines of the cell, and their agents: state, tasks, usage, and the outcomes of orders.
import { useQuery } from '../api/query';
import type { Agent, AgentPage, MachinePage, RefusedAgent, TierAct, TierActPage } from '../api/types';
import { bytes, cores, count, duration, plural } from '../lib/format';
import { TIER_ACT } from '../lib/names';
import { RESOURCE } from '../lib/resource';
import { hrefOf, jobHref } from '../lib/route';
import { Card, Problem, Skeleton, Time } from '../ui/basics';
import { Snippet } from '../ui/snippet';
import { MachineFigures, machinesPath } from './machine_figures';

const LOOK_S = 5;

// Disconnected agents first.
export const inOrder = (agents: readonly Agent[]): Agent[] =>
  [...agents].sort((a, b) => Number(a.connected) - Number(b.connected) || a.name.localeCompare(b.name));

function sentence(agents: readonly Agent[]): string {
  const here = agents.filter((agent) => agent.connected).length;
  const sum = (of: (agent: Agent) => number) => agents.reduce((total, agent) => total + of(agent), 0);
  const observe = agents.filter((agent) => agent.observes).length;
  return `${here === agents.length ? (here === 1 ? 'The agent is' : `All ${count(here)} agents are`) : `${count(here)} of ${plural(agents.length, 'agent')} ${here === 1 ? 'is' : 'are'}`} connected. `
    + `${agents.length === 1 ? 'It has' : 'They have'} ${plural(sum((agent) => agent.tasks), 'task')}; the limits of ${count(sum((agent) => agent.managed_tasks))} may be set.`
    + (observe > 0 ? ` ${plural(observe, 'agent')} only ${observe === 1 ? 'observes' : 'observe'} and ${observe === 1 ? 'changes' : 'change'} nothing.` : '');
}

function State({ agent }: { agent: Agent }) {
  return (
    <>
      <span class={`state ${agent.connected ? 'is-connected' : 'is-disconnected'}`}><i aria-hidden="true" />{agent.connected ? 'connected' : 'disconnected'}</span>
      {agent.observes && <span class="badge observes" title="It measures and changes no limit">observes</span>}
    </>
  );
}

function Row({ agent: a }: { agent: Agent }) {
  return (
    <tr>
      <th scope="row" class="name">
        <b>{a.name}</b>
        {a.host !== a.name && <span class="muted">{a.host}</span>}
        <span class="muted" title={`tautlet ${a.version}`}>{cores(a.cores)}, {bytes(a.memory_bytes)}{a.hands && ` · ${a.hands}`}</span>
      </th>
      <td class="text status"><State agent={a} /></td>
      <td class="num full" data-label="Tasks"><span>{count(a.tasks)} <span class="muted">({count(a.managed_tasks)} managed)</span></span></td>
      <td class="num" data-label="Its CPU">{cores(a.cpu_share_cores)}</td>
      <td class="num" data-label="Its memory">{bytes(a.resident_bytes)}</td>
      <td class="num" data-label="Heard">{duration(Math.round(a.heard_seconds_ago))} ago</td>
      <td class={`num ${a.dropped_messages > 0 ? 'full' : ''}`} data-label="Queued">
        <span>{bytes(a.queued_bytes)}{a.dropped_messages > 0 && <span class="bad lost" title="Its queue was full">{plural(a.dropped_messages, 'message')} lost</span>}</span>
      </td>
      <td class={`num ${a.not_believed > 0 ? 'full' : ''}`} data-label="Windows">
        <span>{count(a.windows)}{a.not_believed > 0 && <span class="bad lost" title="Tasks, windows and OOM kills of another agent's task, or above the machine's size">{count(a.not_believed)} rejected</span>}</span>
      </td>
      <td class={`num ${a.oom_kills > 0 ? 'bad' : ''}`} data-label="OOM kills">{count(a.oom_kills)}</td>
      <td class="num" data-label="Applied">{count(a.applied)}</td>
      <td class={`num ${a.failed > 0 ? 'bad' : ''}`} data-label="Failed">{a.failed > 0 ? <a class="bad" href={hrefOf('decisions', { outcome: 'failed' })} title="Decisions that failed">{count(a.failed)}</a> : '0'}</td>
    </tr>
  );
}

const HEADS: [string, string][] = [['Tasks', 'Tasks, and those whose limits may be set'], ['Its CPU', 'CPU that the agent itself uses'],
  ['Its memory', 'Memory of the agent itself'], ['Heard', 'Time of its last message'], ['Queued', 'Messages queued until tautd has stored them'],
  ['Windows', 'Windows sent'], ['OOM kills', 'OOM kills reported'], ['Applied', 'Limits applied, per task'], ['Failed', 'Limits that could not be applied, per task']];

function Table({ agents }: { agents: Agent[] }) {
  return (
    <div class="machines agents scroll" tabIndex={0} role="region" aria-label="Agents">
      <table>
        <thead>
          <tr>
            <th scope="col" class="name">Agent</th>
            <th scope="col" class="text">State</th>
            {HEADS.map(([name, help]) => <th key={name} scope="col" title={help}>{name}</th>)}
          </tr>
        </thead>
        <tbody>{inOrder(agents).map((agent) => <Row key={agent.name} agent={agent} />)}</tbody>
      </table>
    </div>
  );
}

const SHOWN = 20;

// Orders to all agents that could not be applied, newest first.
function Failures({ agents }: { agents: readonly Agent[] }) {
  const all = agents.flatMap((agent) => agent.failures.map((failure) => ({ agent: agent.name, ...failure }))).sort((a, b) => b.time - a.time).slice(0, SHOWN);
  if (all.length === 0) return null;
  return (
    <Card title="Limits that were not applied">
      <ul class="changes">
        {all.map((f) => (
          <li key={`${f.agent} ${f.decision} ${f.task} ${f.resource} ${f.time}`}>
            <span class="when"><Time at={f.time} age /></span>
            <span class="said"><b>{f.agent}</b>: {RESOURCE[f.resource].title} of <a href={jobHref(f.job, { resource: f.resource })}>{f.job}</a>, task {f.task}: {f.text}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

// Actions of machines' memory guards on tasks of low tiers, newest first.
function TierActs({ acts }: { acts: readonly TierAct[] }) {
  if (acts.length === 0) return null;
  return (
    <Card title="Acts of the memory guards" hint="Before a machine runs out of memory, tautlet throttles and then kills tasks of the lowest tier. That is no OOM kill, and raises no limit.">
      <ul class="changes">
        {acts.map((a) => (
          <li key={`${a.time} ${a.machine} ${a.job} ${a.task} ${a.kind}`}>
            <span class="when"><Time at={a.time} age /></span>
            <span class="said">
              <b>{a.machine}</b>: <span class={a.kind === 'kill' && !a.observed ? 'bad' : ''}>{TIER_ACT[a.kind]}</span> task {a.task} of <a href={jobHref(a.job, { resource: 'memory' })}>{a.job}</a>, tier {a.tier}
              {a.usage !== null && <>, {bytes(a.usage)} in use</>}: {a.text}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Refused({ refused }: { refused: readonly RefusedAgent[] }) {
  if (refused.length === 0) return null;
  return (
    <Card title="Connections that were rejected">
      <ul class="changes">
        {[...refused].reverse().slice(0, SHOWN).map((r) => (
          <li key={`${r.time} ${r.name} ${r.host}`}>
            <span class="when"><Time at={r.time} age /></span>
            <span class="said"><b>{r.name || r.host}</b>{r.name && r.host && r.host !== r.name && <span class="muted"> ({r.host})</span>}: {r.why}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function NoAgents({ enabled }: { enabled: boolean }) {
  const host = location.hostname;
  return (
    <>
      {!enabled && (
        <Card title="Agent connections are disabled" hint="Add this to the configuration file of tautd and restart it.">
          <Snippet label="Configuration for tautd" text={'agents:\n  listen: ["127.0.0.1:7071"]\nactuator: {kind: agents}    # without it agents only measure\n'} />
        </Card>
      )}
      <Card title={enabled ? 'No agent has connected yet' : 'Start a tautlet on each machine'}
        hint={<>A tautlet measures the tasks of its machine and sets their limits. List the tasks in its file and start it; the port is that of <code>agents.listen</code>.</>}>
        <h3>tautlet.yaml</h3>
        <Snippet label="tautlet.yaml" text={`daemon: {address: "${host}:7071"}\ntasks:\n  - {name: services, cgroup: "/system.slice/*.service", job: "{1}", manage: false}\n`} />
        <h3>List what the rules find</h3>
        <Snippet label="Command that lists what the rules find" text={'tautlet --config tautlet.yaml --list\n'} />
        <h3>Measure without changing limits</h3>
        <Snippet label="Command that measures" text={'tautlet --config tautlet.yaml --observe\n'} />
      </Card>
    </>
  );
}

export function MachinesPage({ query }: { query: Record<string, string> }) {
  const page = useQuery<AgentPage>('agents', { on: ['window'], keep: true, every: () => LOOK_S });
  const cell = useQuery<MachinePage>(machinesPath(query), { on: ['window'], keep: true, every: () => 30 });
  const acts = useQuery<TierActPage>(`tier_acts?limit=${SHOWN}`, { on: ['tier_act'], keep: true, every: () => 30 });
  const agents = page.data?.agents ?? [];
  // If the machines are a cluster's nodes, agents are optional.
  const others = cell.data?.totals.some((totals) => totals.source !== 'agents') ?? false;
  const loading = !page.data || !cell.data;
  return (
    <div class="wide page">
      <h1 class="small">Machines</h1>
      {page.error && <Problem text={page.error.message} retry={page.reload} />}
      {cell.error && <Problem text={cell.error.message} retry={cell.reload} />}
      {loading ? !page.error && !cell.error && <div class="card"><Skeleton lines={8} /></div> : (
        <>
          {cell.data!.enabled && (agents.length > 0 || others) && <MachineFigures page={cell.data!} query={query} stale={cell.stale} />}
          {agents.length > 0 ? (
            <>
              <Card title="Agents" hint={sentence(agents)}><Table agents={agents} /></Card>
              <Failures agents={agents} />
              <p class="hint">Counts start when tautd starts. A disconnected agent keeps its limits and sends its queued messages when it reconnects.</p>
            </>
          ) : !others && <NoAgents enabled={page.data!.enabled} />}
        </>
      )}
      {acts.data && <TierActs acts={acts.data.acts} />}
      {page.data && <Refused refused={page.data.refused} />}
    </div>
  );
}
