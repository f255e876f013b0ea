// The whole fleet: what is saved, what could be, and how it went.
import { useQuery } from '../api/query';
import { withParams } from '../api/client';
import { MODES, type DecisionPage, type Fleet, type FleetAmounts, type FleetHistory, type Resource, type Status } from '../api/types';
import { amount, amountShort, count, percent, plural, significant } from '../lib/format';
import { MODE_HELP, RESOURCE } from '../lib/names';
import { hrefOf, replaceHash } from '../lib/route';
import { Card, Problem, Segments, Skeleton } from '../ui/basics';
import { Bullet } from '../ui/bullet';
import { Chart, type Series } from '../ui/chart';
import { DecisionList, underWay } from '../ui/decision_list';
import { FirstData } from './first_data';

const RANGES = { '1d': 1, '7d': 7, '30d': 30 } as const;
type Range = keyof typeof RANGES;

const tick = { cpu: (v: number) => amountShort('cpu', v), memory: (v: number) => amountShort('memory', v) };
const reading = { cpu: (v: number) => amount('cpu', v), memory: (v: number) => amount('memory', v) };
const whole = (v: number): string => (Number.isInteger(v) ? count(v) : '');
const share = (part: number, whole: number): string => (whole > 0 ? percent(part / whole) : '');

// A fleet so small that its savings are less than a tenth of a machine is not told in machines.
function machines(value: number): string {
  return value >= 99.5 ? plural(Math.round(value), 'machine') : value >= 0.95 ? `${value.toFixed(value >= 9.95 ? 0 : 1)} machines` : '';
}

type Saving = 'saved' | 'would_save';

// "lower by 57 cores and 90 GiB of memory", or how each is where one went up.
function Lower({ fleet, of }: { fleet: Fleet; of: Saving }) {
  const { cpu, memory } = fleet;
  const size = (resource: Resource) => <em>{amount(resource, Math.abs(fleet[resource][of]))}</em>;
  const way = (resource: Resource) => <>{size(resource)} {fleet[resource][of] < 0 ? 'higher' : 'lower'}</>;
  if (cpu[of] >= 0 && memory[of] >= 0) return <>lower by {size('cpu')} and {size('memory')} of memory</>;
  return <>{way('cpu')} for CPU and {way('memory')} for memory</>;
}

// Less than a ten-thousandth of what the owners asked for is nothing to tell.
function isNothing(fleet: Fleet, of: Saving): boolean {
  return (['cpu', 'memory'] as const).every((r) => Math.abs(fleet[r][of]) <= fleet[r].owner_limit * 1e-4);
}

function bothMachines(fleet: Fleet, of: 'saved_machines' | 'would_save_machines'): string {
  const cpu = machines(fleet.cpu[of]);
  const memory = machines(fleet.memory[of]);
  if (!cpu && !memory) return '';
  return [cpu && `the CPU of ${cpu}`, memory && `the memory of ${memory}`].filter(Boolean).join(' and ');
}

function headlineOf(fleet: Fleet) {
  const would = fleet.actuator === 'dry_run' ? 'Limits would be' : 'Limits are';
  const measured = `${plural(fleet.jobs, 'job')} with ${plural(fleet.tasks, 'task')} are measured.`;
  if (fleet.cpu.owner_limit <= 0 && fleet.memory.owner_limit <= 0) return <>{measured} Their owners' limits are not known, so what is saved is not either.</>;
  if (!isNothing(fleet, 'saved')) return <>{would} <Lower fleet={fleet} of="saved" /> than what the owners asked for.</>;
  if (isNothing(fleet, 'would_save')) return <>{measured} The first recommendations come after a day of usage.</>;
  return <>With every job in auto, limits would be <Lower fleet={fleet} of="would_save" />.</>;
}

function Headline({ fleet }: { fleet: Fleet }) {
  const some = !isNothing(fleet, 'saved');
  const more = !isNothing(fleet, 'would_save');
  const now = bothMachines(fleet, 'saved_machines');
  const then = bothMachines(fleet, 'would_save_machines');
  const machine = `${amountShort('cpu', fleet.machine.cores)} cores and ${amountShort('memory', fleet.machine.bytes)}`;
  return (
    <section class="wide lead" aria-labelledby="headline">
      <h1 id="headline">{headlineOf(fleet)}</h1>
      <p class="gloss">
        {some && now && <>That is {now}. </>}
        {some && more && <>With every job in auto they would be <Lower fleet={fleet} of="would_save" />{then && `: ${then}`}. </>}
        {!some && more && then && <>That is {then}. </>}
        {(some || more) && (now || then) && <span class="muted">A machine here has {machine}.</span>}
      </p>
    </section>
  );
}

function ResourceFacts({ a, resource }: { a: FleetAmounts; resource: Resource }) {
  const facts: [string, string, number, string][] = [
    ['usage', 'Used', a.usage, ''],
    ['limit', 'Limits in force', a.limit, ''],
    ['would', 'If all were in auto', a.would_be, ''],
    ['owner', "Owners' limits", a.owner_limit, ''],
  ];
  return (
    <dl class="keyed">
      {facts.map(([key, name, value]) => (
        <div key={key}>
          <dt><span class={`key key-${key}`} aria-hidden="true" />{name}</dt>
          <dd>{amount(resource, value)} <span class="muted">{key === 'owner' ? '' : share(value, a.owner_limit)}</span></dd>
        </div>
      ))}
      <div>
        <dt title="limits in force − usage">Slack</dt>
        <dd>{amount(resource, a.slack)} <span class="muted">{a.limit > 0 ? `${percent(a.slack / a.limit)} of the limits` : ''}</span></dd>
      </div>
      <div>
        <dt title="The savings counted in whole machines' worth of this resource">Machines saved</dt>
        <dd>{significant(a.saved_machines)} <span class="muted">of {significant(a.would_save_machines)} possible</span></dd>
      </div>
    </dl>
  );
}

function ResourceCard({ fleet, resource, history }: { fleet: Fleet; resource: Resource; history: FleetHistory | null }) {
  const dryRun = fleet.actuator === 'dry_run';
  const a = fleet[resource];
  const columns = history?.[resource];
  return (
    <Card title={RESOURCE[resource]} class="resource">
      <div class="saved-pair">
        <p><span class="big">{amount(resource, a.saved)}</span><span class="sub">{dryRun && a.saved !== 0 ? 'would be saved now' : 'saved now'}, {share(a.saved, a.owner_limit)} of the owners' limits</span></p>
        <p><span class="big soft">{amount(resource, a.would_save)}</span><span class="sub">if all were in auto, {share(a.would_save, a.owner_limit)}</span></p>
      </div>
      <Bullet resource={resource} amounts={a} />
      <ResourceFacts a={a} resource={resource} />
      {!history || !columns ? <Skeleton tall /> : (
        <Chart label={`${RESOURCE[resource]} of the fleet over time`} time={history.time} base={resource === 'memory' ? 2 : 10} height={230}
          unit={resource === 'cpu' ? 'in cores' : undefined}
          format={reading[resource]} tick={tick[resource]}
          series={[
            { name: 'Used', values: columns.usage, colour: '--usage', style: 'area' },
            { name: 'Owners', values: columns.owner_limit, colour: '--owner', style: 'dash' },
            { name: 'In force', values: columns.limit, colour: '--limit', style: 'line', width: 2 },
            { name: 'All in auto', values: columns.would_be, colour: '--would', style: 'dots', width: 2 },
          ]} />
      )}
    </Card>
  );
}

// Each mode's line lies on those before it.
function stacked(history: FleetHistory): Series[] {
  let below: number[] = history.time.map(() => 0);
  return [...MODES].reverse().map((mode): Series => {
    const told = history.jobs_by_mode[mode] ?? history.time.map(() => 0);
    below = below.map((sum, i) => sum + (told[i] ?? 0));
    return { name: mode, values: below, told, colour: `--mode-${mode}`, style: 'stack' };
  }).reverse();
}

function Coverage({ fleet, history }: { fleet: Fleet; history: FleetHistory | null }) {
  const order = [...MODES].reverse();
  return (
    <Card title="Coverage" hint={`${plural(fleet.jobs, 'job')} with ${plural(fleet.tasks, 'task')}, by how far Tautline may go.`}>
      <div class="coverage" role="img" aria-label={order.map((mode) => `${mode} ${count(fleet.jobs_by_mode[mode])}`).join(', ')}>
        {order.map((mode) => fleet.jobs_by_mode[mode] > 0 && (
          <span key={mode} class={`fill-${mode}`} style={{ flexGrow: fleet.jobs_by_mode[mode] }} title={`${mode}: ${count(fleet.jobs_by_mode[mode])} jobs`} />
        ))}
      </div>
      <ul class="coverage-list">
        {order.map((mode) => (
          <li key={mode}>
            <a href={hrefOf('jobs', { mode })}>
              <span class={`dot fill-${mode}`} aria-hidden="true" /><b>{mode}</b> <span class="muted">{MODE_HELP[mode]}</span>
              <span class="figure">{plural(fleet.jobs_by_mode[mode], 'job')} <span class="muted">{share(fleet.jobs_by_mode[mode], fleet.jobs)}</span></span>
            </a>
          </li>
        ))}
      </ul>
      {!history ? <Skeleton tall /> : (
        <Chart label="Jobs by mode over time" time={history.time} height={130} format={count} tick={whole} series={stacked(history)} bare />
      )}
    </Card>
  );
}

function Bars({ name, colour, history, values }: { name: string; colour: string; history: FleetHistory; values: number[] }) {
  if (values.every((v) => v === 0)) return <p class="no-bars">No {name.replace('L', 'l')} in this time.</p>;
  return (
    <Chart label={`${name} over time`} time={history.time} height={134} format={count} tick={whole}
      series={[{ name, values, colour, style: 'bars' }]} />
  );
}

function Events({ history, fleet }: { history: FleetHistory | null; fleet: Fleet }) {
  return (
    <Card title="OOM kills and limit changes"
      hint={`${plural(fleet.oom_kills_day, 'OOM kill')} and ${plural(fleet.changes_day, 'limit change')} in the last 24 h.`}>
      {!history ? <Skeleton tall /> : (
        <>
          <Bars name="OOM kills" colour="--bad" history={history} values={history.oom_kills} />
          <Bars name="Limit changes" colour="--limit" history={history} values={history.changes} />
        </>
      )}
    </Card>
  );
}

function Recent() {
  const decisions = useQuery<DecisionPage>(withParams('decisions', { limit: 8 }),
    { on: ['decision', 'window'], keep: true, every: (page) => underWay(page?.decisions) });
  return (
    <Card title="Recent decisions" tools={<a href={hrefOf('decisions')}>All decisions</a>}>
      {decisions.data ? <DecisionList decisions={decisions.data.decisions} /> : decisions.error ? <Problem text={decisions.error.message} retry={decisions.reload} /> : <Skeleton lines={8} />}
    </Card>
  );
}

export function FleetPage({ query }: { query: Record<string, string> }) {
  const range: Range = query.range !== undefined && query.range in RANGES ? (query.range as Range) : '7d';
  const fleet = useQuery<Fleet>('fleet', { on: ['window'], keep: true });
  const status = useQuery<Status>('status', { on: ['window'], keep: true });
  const end = fleet.data?.time ?? null;
  const path = end === null ? null
    : withParams('fleet/history', { from: end - RANGES[range] * 86400, to: end, points: range === '1d' ? 288 : 336 });
  const history = useQuery<FleetHistory>(path, { keep: true });
  const events = useQuery<FleetHistory>(end === null ? null
    : withParams('fleet/history', { from: end - RANGES[range] * 86400, to: end, points: { '1d': 48, '7d': 56, '30d': 60 }[range] }), { keep: true });

  if (!fleet.data) {
    return <div class="wide lead">{fleet.error ? <Problem text={fleet.error.message} retry={fleet.reload} /> : <Skeleton lines={6} />}</div>;
  }
  if (fleet.data.time === null || fleet.data.jobs === 0) return <FirstData status={status.data} />;
  return (
    <>
      <Headline fleet={fleet.data} />
      <div class="wide">
        <div class="tools-row">
          <Segments label="Range of time" value={range} onPick={(next) => replaceHash(hrefOf('fleet', { range: next === '7d' ? '' : next }))}
            choices={[{ value: '1d', label: '1 day' }, { value: '7d', label: '7 days' }, { value: '30d', label: '30 days' }]} />
          {history.error && <Problem text={history.error.message} retry={history.reload} />}
        </div>
        <div class="pair">
          <ResourceCard fleet={fleet.data} resource="cpu" history={history.data} />
          <ResourceCard fleet={fleet.data} resource="memory" history={history.data} />
        </div>
        <div class="pair">
          <Coverage fleet={fleet.data} history={history.data} />
          <Events fleet={fleet.data} history={events.data} />
        </div>
        <Recent />
      </div>
    </>
  );
}
