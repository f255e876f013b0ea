// The first sentences of the fleet page: actual or possible savings, and their risk.
import type { ComponentChildren } from 'preact';
import type { Fleet, Resource, Status } from '../api/types';
import { amount, bytes, capital, cores, listed, money, percent, plural, shortened } from '../lib/format';
import { KILLING_FIRST, RESOURCE, RESOURCES } from '../lib/resource';
import { dryRun, fleetRisk, sameSaving, savedWord } from '../lib/saving';

export type Saving = 'saved' | 'would_save';

// Savings below a ten-thousandth of the owners' requests are not worth a sentence.
export function isNothing(fleet: Fleet, of: Saving): boolean {
  return RESOURCES.every((r) => Math.abs(fleet[r][of] ?? 0) <= (fleet[r].owner_limit ?? 0) * 1e-4);
}

// Returns "57 cores and 90 GiB of memory lower", or the direction of each resource if one resource is higher.
function Lower({ fleet, of }: { fleet: Fleet; of: Saving }) {
  // A resource without any owner's limit has no saving.
  const known = RESOURCES.filter((r) => fleet[r][of] !== null);
  const saving = (resource: Resource): number => fleet[resource][of] ?? 0;
  const size = (resource: Resource) => <em>{amount(resource, Math.abs(saving(resource)))}</em>;
  if (known.every((r) => saving(r) >= 0)) return <>{listed(known.map((r) => <>{size(r)}{!RESOURCE[r].unit.counted && ` of ${RESOURCE[r].word}`}</>))} lower</>;
  return <>{listed(known.map((r) => <>{size(r)} {saving(r) < 0 ? 'higher' : 'lower'} for {RESOURCE[r].word}</>))}</>;
}

// Returns the number of machines that the owners' limits of a resource would fill.
function ownersMachines(fleet: Fleet, resource: Resource): number {
  const size = fleet.machine[RESOURCE[resource].unit.name];
  return size > 0 ? (fleet[resource].owner_limit ?? 0) / size : Infinity;
}

// Savings are given in machines only if the number is possible: at most the machines that the owners' limits fill, and at most
// the existing machines. Agents or Kubernetes' nodes report that number, and one machine is not a fleet.
export function machinesText(fleet: Fleet, resource: Resource, of: 'saved_machines' | 'would_save_machines', status: Status | null): string {
  const value = fleet[resource][of];
  const known = Math.max(status?.agents.known ?? 0, status?.nodes ?? 0);
  if (value === null || value < 0.95 || value > ownersMachines(fleet, resource) || (known > 0 && (known < 3 || value > known))) return '';
  return value >= 99.5 ? plural(Math.round(value), 'machine') : `${value.toFixed(value >= 9.95 ? 0 : 1)} machines`;
}

function allMachines(fleet: Fleet, of: 'saved_machines' | 'would_save_machines', status: Status | null): string {
  const texts = RESOURCES.map((r) => [r, machinesText(fleet, r, of, status)] as const).filter(([, text]) => text !== '');
  return listed(texts.map(([r, text]) => `the ${RESOURCE[r].word} of ${text}`)).join('');
}

// A dry run sets nothing, so its whole saving is still possible.
const holdsSome = (fleet: Fleet): boolean => !dryRun(fleet) && !isNothing(fleet, 'saved');

function Worth({ fleet, value }: { fleet: Fleet; value: number | undefined }) {
  return value === undefined ? null : <>: <em>{money(value, fleet.saving_per_month?.currency ?? '')}</em></>;
}

// The saving that is not in force yet; omitted if the whole saving is in force.
function Rest({ fleet }: { fleet: Fleet }) {
  if (!holdsSome(fleet) || sameSaving(fleet)) return null;
  const worth = fleet.saving_per_month;
  const parts = RESOURCES.map((r) => [r, (fleet[r].would_save ?? 0) - (fleet[r].saved ?? 0)] as const).filter(([r, more]) => more > 0.005 * (fleet[r].owner_limit ?? 0));
  if (worth && worth.would_save > worth.saved) return <>Setting the other recommended limits saves <em>{money(worth.would_save - worth.saved, worth.currency)}</em> more. </>;
  return parts.length === 0 ? null : <>Setting the other recommended limits saves {listed(parts.map(([r, more]) => <><em>{amount(r, more)}</em>{!RESOURCE[r].unit.counted && ` of ${RESOURCE[r].word}`}</>))} more. </>;
}

function headlineOf(fleet: Fleet): ComponentChildren {
  const measured = `${plural(fleet.jobs, 'job')} with ${plural(fleet.tasks, 'task')} are measured.`;
  if (RESOURCES.every((r) => (fleet[r].owner_limit ?? 0) <= 0)) return <>{measured} Their owners' limits are not known, so savings are not known either.</>;
  if (holdsSome(fleet)) return <>{capital(savedWord(fleet))} are <Lower fleet={fleet} of="saved" /> than the owners'<Worth fleet={fleet} value={fleet.saving_per_month?.saved} />.</>;
  if (isNothing(fleet, 'would_save')) return <>{measured} {RESOURCES.some((r) => fleet[r].job_days > 0) ? "The recommended limits are the owners' so far." : 'The first recommendations come after a day of usage.'}</>;
  return <>Recommended {savedWord(fleet)} are <Lower fleet={fleet} of="would_save" /> than the owners'<Worth fleet={fleet} value={fleet.saving_per_month?.would_save} />.</>;
}

// "OOM-days 1.2 % (risk target 3 %)"
export function RiskText({ fleet, resource }: { fleet: Fleet; resource: Resource }) {
  const risk = fleetRisk(resource, fleet[resource]);
  if (risk.share === null) return null;
  return <span title={risk.title}>{risk.name} <b>{percent(risk.share)}</b>{risk.ordered !== null && <span class="muted"> (risk target {percent(risk.ordered)})</span>}</span>;
}

// Shows the saving, in force or possible, with the risk of the recommended limits.
export function Headline({ fleet, status }: { fleet: Fleet; status: Status | null }) {
  const machines = allMachines(fleet, holdsSome(fleet) ? 'saved_machines' : 'would_save_machines', status);
  const machine = `${shortened(cores(fleet.machine.cores))} cores and ${shortened(bytes(fleet.machine.bytes))}`;
  // A sentence mentions raised limits only for resources whose total increases.
  const raised = holdsSome(fleet) ? RESOURCES.filter((r) => (fleet[r].saved ?? 0) < 0 && fleet[r].raised > 0) : [];
  const risks = KILLING_FIRST.filter((r) => fleetRisk(r, fleet[r]).share !== null);
  return (
    <section class="wide lead" aria-labelledby="headline">
      <h1 id="headline">{headlineOf(fleet)}</h1>
      <p class="gloss">
        {risks.length > 0 && <>The risk of the recommended limits: {risks.map((r, i) => <span key={r}>{i > 0 && ', '}<RiskText fleet={fleet} resource={r} /></span>)}. </>}
        <Rest fleet={fleet} />
        {raised.length > 0 && <>Jobs that need more than their owners' limits get {listed(raised.map((r) => <span key={r}><em>{amount(r, fleet[r].raised)}</em> more {RESOURCE[r].word}</span>))}. </>}
        {machines && <span class="muted">In machines of {machine}: {machines}.</span>}
      </p>
    </section>
  );
}
