// The first sentences of the fleet page: what limits save or would save, and the risk that goes with it.
import type { ComponentChildren } from 'preact';
import type { Fleet, Resource, Status } from '../api/types';
import { amount, amountShort, money, percent, plural } from '../lib/format';
import { dryRun, fleetRisk, sameSaving } from '../lib/saving';

export type Saving = 'saved' | 'would_save';

// Less than a ten-thousandth of what the owners asked for is not worth a sentence.
export function isNothing(fleet: Fleet, of: Saving): boolean {
  return (['cpu', 'memory'] as const).every((r) => Math.abs(fleet[r][of]) <= fleet[r].owner_limit * 1e-4);
}

// "lower by 57 cores and 90 GiB of memory", or how each is where one is higher.
function Lower({ fleet, of }: { fleet: Fleet; of: Saving }) {
  const { cpu, memory } = fleet;
  const size = (resource: Resource) => <em>{amount(resource, Math.abs(fleet[resource][of]))}</em>;
  const way = (resource: Resource) => <>{size(resource)} {fleet[resource][of] < 0 ? 'higher' : 'lower'}</>;
  if (cpu[of] >= 0 && memory[of] >= 0) return <>lower by {size('cpu')} and {size('memory')} of memory</>;
  return <>{way('cpu')} for CPU and {way('memory')} for memory</>;
}

// How many machines the owners' limits of a resource would fill.
function ownersMachines(fleet: Fleet, resource: Resource): number {
  const size = resource === 'cpu' ? fleet.machine.cores : fleet.machine.bytes;
  return size > 0 ? fleet[resource].owner_limit / size : Infinity;
}

// Savings are counted in machines only where that many are saved as there can be: not more than the owners' limits
// fill, and not more than there are. From agents or from Kubernetes' nodes that number is known, and one machine is no
// fleet.
export function machinesText(fleet: Fleet, resource: Resource, of: 'saved_machines' | 'would_save_machines', status: Status | null): string {
  const value = fleet[resource][of];
  const known = Math.max(status?.agents.known ?? 0, status?.nodes ?? 0);
  if (value < 0.95 || value > ownersMachines(fleet, resource) || (known > 0 && (known < 3 || value > known))) return '';
  return value >= 99.5 ? plural(Math.round(value), 'machine') : `${value.toFixed(value >= 9.95 ? 0 : 1)} machines`;
}

function bothMachines(fleet: Fleet, of: 'saved_machines' | 'would_save_machines', status: Status | null): string {
  const cpu = machinesText(fleet, 'cpu', of, status);
  const memory = machinesText(fleet, 'memory', of, status);
  return [cpu && `the CPU of ${cpu}`, memory && `the memory of ${memory}`].filter(Boolean).join(' and ');
}

function headlineOf(fleet: Fleet): ComponentChildren {
  const measured = `${plural(fleet.jobs, 'job')} with ${plural(fleet.tasks, 'task')} are measured.`;
  if (fleet.cpu.owner_limit <= 0 && fleet.memory.owner_limit <= 0) return <>{measured} Their owners' limits are not known, so savings are not known either.</>;
  if (!isNothing(fleet, 'saved')) return <>{dryRun(fleet) ? 'Limits would be' : 'Limits are'} <Lower fleet={fleet} of="saved" /> than what the owners asked for.</>;
  if (isNothing(fleet, 'would_save')) return <>{measured} {fleet.cpu.job_days + fleet.memory.job_days > 0 ? "The recommended limits are the owners' so far." : 'The first recommendations come after a day of usage.'}</>;
  return <>With every job in auto, limits would be <Lower fleet={fleet} of="would_save" />.</>;
}

// "OOM-days 1.2 % (3 % ordered)"
export function RiskText({ fleet, resource }: { fleet: Fleet; resource: Resource }) {
  const risk = fleetRisk(resource, fleet[resource]);
  if (risk.share === null) return null;
  return <span title={risk.title}>{risk.name} <b>{percent(risk.share)}</b>{risk.ordered !== null && <span class="muted"> ({percent(risk.ordered)} ordered)</span>}</span>;
}

export function Headline({ fleet, status }: { fleet: Fleet; status: Status | null }) {
  const some = !isNothing(fleet, 'saved');
  const more = !isNothing(fleet, 'would_save') && !(some && sameSaving(fleet));
  const now = bothMachines(fleet, 'saved_machines', status);
  const then = bothMachines(fleet, 'would_save_machines', status);
  const machine = `${amountShort('cpu', fleet.machine.cores)} cores and ${amountShort('memory', fleet.machine.bytes)}`;
  // Worth a sentence where one resource becomes more in all.
  const raised = some ? (['cpu', 'memory'] as const).filter((r) => fleet[r].saved < 0 && fleet[r].raised > 0) : [];
  const price = fleet.saving_per_month;
  const risks = (['memory', 'cpu'] as const).filter((r) => fleetRisk(r, fleet[r]).share !== null);
  return (
    <section class="wide lead" aria-labelledby="headline">
      <h1 id="headline">{headlineOf(fleet)}</h1>
      <p class="gloss">
        {price && some && <>{dryRun(fleet) ? 'That would save' : 'That saves'} <em>{money(price.saved, price.currency)}</em>. </>}
        {some && now && <>That is {now}. </>}
        {some && more && <>With every job in auto they would be <Lower fleet={fleet} of="would_save" />{then && `: ${then}`}. </>}
        {!some && more && then && <>That is {then}. </>}
        {price && more && <>{some ? 'All of it in auto would save' : 'That would save'} <em>{money(price.would_save, price.currency)}</em>. </>}
        {(some || more) && (now || then) && <span class="muted">A machine counts as {machine}. </span>}
        {raised.length > 0 && <>Jobs that need more than their owners' limits {dryRun(fleet) ? 'would get' : 'get'} {raised.map((r, i) => <span key={r}>{i > 0 && ' and '}<em>{amount(r, fleet[r].raised)}</em> more {r === 'cpu' ? 'CPU' : 'memory'}</span>)}. </>}
      </p>
      {risks.length > 0 && (
        <p class="gloss risk-line">
          The risk with the recommended limits: {risks.map((r, i) => <span key={r}>{i > 0 && ', '}<RiskText fleet={fleet} resource={r} /></span>)}.
        </p>
      )}
    </section>
  );
}
