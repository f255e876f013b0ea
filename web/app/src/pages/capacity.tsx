// The cell's capacity: reserved, used and still sellable amounts per tier, and the outcomes of earlier promises.
import { withParams } from '../api/client';
import { useQuery } from '../api/query';
import type { CapacityOffer, CapacityPage as Page, CapacityPromise, CapacityTier, Resource } from '../api/types';
import { NONE, amount, count, percent, plural } from '../lib/format';
import { AXIS, RESOURCE, RESOURCES, RESOURCE_CHOICES, resourceOf } from '../lib/resource';
import { changeQuery } from '../lib/route';
import { Card, Problem, Segments, Skeleton, Time } from '../ui/basics';
import { Chart, type Series } from '../ui/chart';
import { Snippet } from '../ui/snippet';
import { TableBox } from '../ui/table_box';

const DAY_S = 86400;
const RANGES = { '1d': 1, '7d': 7, '30d': 30, '100d': 100 } as const;
type Range = keyof typeof RANGES;
const HORIZON = { hour: 'the next hour', day: 'the next day', month: 'the next 30 days', quarter: 'the next 90 days' } as const;

// Shares of promises have as many decimals as they need: 99.99 % is not 100 %.
const promised = (share: number): string => `${Number((100 * share).toFixed(3))} %`;

const known = (values: (number | null)[]): boolean => values.some((value) => value !== null);

function seriesOf(page: Page, resource: Resource): Series[] {
  const columns = page[resource];
  const all: Series[] = [
    { name: 'Used', values: columns.usage, colour: '--usage', style: 'area' },
    { name: 'Used, highest 5 minutes', values: columns.usage_peak, colour: '--usage', style: 'line' },
    { name: 'Allocated', values: columns.allocation, colour: '--owner', style: 'dash' },
    { name: 'Reserved', values: columns.reservation, colour: '--limit', style: 'step', width: 2 },
    { name: 'Capacity', values: columns.capacity, colour: '--ink', style: 'step', width: 2 },
    { name: 'Forecast peak', values: columns.forecast, colour: '--would', style: 'dots', width: 2 },
  ];
  return all.filter((series) => known(series.values));
}

function Lines({ page, resource }: { page: Page; resource: Resource }) {
  if (page.time.length === 0) return <p class="hint nothing">No hour of this time is known. An hour is complete when its last 5-minute window has closed.</p>;
  return (
    <Chart label={`${RESOURCE[resource].title} of the cell over time`} time={page.time} {...AXIS[resource]} height={240} series={seriesOf(page, resource)} />
  );
}

const missing = (offer: CapacityOffer): string => (offer.ready !== null ? 'not yet' : NONE);

function Sellable({ offer }: { offer: CapacityOffer }) {
  return (
    <>
      <td class="num" title={offer.text}><b>{offer.sellable === null ? missing(offer) : amount(offer.resource, offer.sellable)}</b>
        {offer.sellable === null && offer.ready !== null && <span class="muted since">from <Time at={offer.ready} /></span>}</td>
      <td class="num">{amount(offer.resource, offer.sold)}</td>
      <td class={`num ${(offer.oversold ?? 0) > 0 ? 'bad' : ''}`}>{(offer.oversold ?? 0) > 0 ? `${amount(offer.resource, offer.oversold)} too much` : amount(offer.resource, offer.left)}</td>
    </>
  );
}

// Returns a text such as "98.2 % of 336 hours".
export function keptText({ kept }: CapacityOffer): string {
  if (kept.promises === 0 || kept.kept_share === null) return 'none ended yet';
  return `${percent(kept.kept_share, 1)} of ${plural(kept.hours, 'hour')}`;
}

function TierRows({ tier, offers }: { tier: CapacityTier; offers: CapacityOffer[] }) {
  return (
    <tbody>
      <tr class="tier">
        <th scope="rowgroup" colSpan={6}><b>{tier.name}</b> {tier.sale === 'slack' && <span>{promised(tier.availability)} of the time</span>} <span class="muted">{tier.risk}</span></th>
      </tr>
      {offers.map((offer) => (
        <tr key={offer.horizon ?? 'any'}>
          <th scope="row" class="part">{offer.horizon === null ? 'at any time' : HORIZON[offer.horizon]}</th>
          <Sellable offer={offer} />
          <td class="num">{offer.horizon === null ? <span class="muted">by the capacity</span> : promised(offer.promise)}</td>
          <td class={`num ${offer.kept.verdict === 'broken' ? 'bad' : ''}`}>{offer.horizon === null ? '' : keptText(offer)}</td>
        </tr>
      ))}
    </tbody>
  );
}

// Shows each reason once, with its horizons.
function Reasons({ page, resource }: { page: Page; resource: Resource }) {
  const of = new Map<string, string[]>();
  for (const offer of page.offers) {
    if (offer.resource !== resource || offer.horizon === null || (offer.sellable ?? 0) > 0 || offer.text === page.why) continue;
    of.set(offer.text, [...(of.get(offer.text) ?? []), `${offer.tier}, ${HORIZON[offer.horizon]}`]);
  }
  if (of.size === 0) return null;
  return <ul class="reasons">{[...of].map(([text, rows]) => <li key={text}><b>{rows.join('; ')}:</b> {text}</li>)}</ul>;
}

function Offers({ page, resource, pick }: { page: Page; resource: Resource; pick: preact.ComponentChildren }) {
  const offers = page.offers.filter((offer) => offer.resource === resource);
  return (
    <Card title="What can still be sold" tools={pick}
      hint="Of each tier, from now on: the amount that stays available throughout the promised share of the hours, beside what higher tiers are expected to use. Tiers and times overlap: the amounts are not to be added.">
      <TableBox class="costs capacity-offers" label="What can still be sold">
        <table>
          <thead>
            <tr>
              <th scope="col">Tier</th>
              <th scope="col" class="num" title="In all, with what is sold">Sellable</th>
              <th scope="col" class="num" title="Bought (quota), or where that is more, allocated to running tasks">Sold</th>
              <th scope="col" class="num">Left</th>
              <th scope="col" class="num" title="Of the hours">Promised</th>
              <th scope="col" class="num" title="Of the hours of promises that have ended">Kept so far</th>
            </tr>
          </thead>
          {page.tiers.map((tier) => <TierRows key={tier.name} tier={tier} offers={offers.filter((offer) => offer.tier === tier.name)} />)}
        </table>
      </TableBox>
      <Reasons page={page} resource={resource} />
      {page.note !== '' && <p class="hint">{page.note}</p>}
    </Card>
  );
}

const VERDICT = { kept: 'kept', broken: 'not kept', undecided: 'too few hours to say' } as const;
const STATE = { open: 'running', kept: 'kept', missed: 'missed', unmeasured: 'not measured' } as const;

function Summary({ page, resource }: { page: Page; resource: Resource }) {
  const offers = page.offers.filter((offer) => offer.resource === resource && offer.horizon !== null && offer.kept.promises + offer.kept.unmeasured > 0);
  if (offers.length === 0) return <p class="hint nothing">No promise has ended yet. One is made for each hour, and at midnight UTC for a day, a month and a quarter, once history is long enough.</p>;
  return (
    <TableBox class="costs capacity-kept" label="How past promises were kept">
      <table>
        <thead>
          <tr>
            <th scope="col">Tier, for</th><th scope="col" class="num">Promises</th><th scope="col" class="num">Kept</th><th scope="col" class="num">Missed</th>
            <th scope="col" class="num">Promised</th><th scope="col" class="num">Available</th><th scope="col" class="num" title="With 95 % confidence; hours missed one after the other are one sample">Range</th><th scope="col">Verdict</th>
          </tr>
        </thead>
        <tbody>
          {offers.map(({ tier, horizon, promise, kept }) => (
            <tr key={`${tier} ${horizon}`}>
              <th scope="row">{tier}, {horizon}</th>
              <td class="num">{count(kept.promises)}</td><td class="num">{count(kept.promises_kept)}</td><td class="num">{count(kept.promises - kept.promises_kept)}</td>
              <td class="num">{promised(promise)}</td><td class="num">{kept.kept_share === null ? NONE : percent(kept.kept_share, 1)}</td>
              <td class="num">{kept.kept_share_low === null || kept.kept_share_high === null ? NONE : `${percent(kept.kept_share_low, 1)} to ${percent(kept.kept_share_high, 1)}`}</td>
              <td class={kept.verdict === 'broken' ? 'bad' : ''}>{VERDICT[kept.verdict]}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableBox>
  );
}

function Newest({ promises }: { promises: CapacityPromise[] }) {
  if (promises.length === 0) return null;
  return (
    <details class="capacity-newest">
      <summary>The newest promises, one by one</summary>
      <TableBox class="costs" label="The newest promises">
        <table>
          <thead>
            <tr><th scope="col">Tier, for</th><th scope="col">From</th><th scope="col" class="num">Amount</th><th scope="col" class="num">Lowest available</th><th scope="col" class="num">Hours below</th><th scope="col">State</th></tr>
          </thead>
          <tbody>
            {promises.map((one) => (
              <tr key={`${one.tier} ${one.horizon} ${one.start}`}>
                <th scope="row">{one.tier}, {one.horizon}</th><td><Time at={one.start} /></td>
                <td class="num">{amount(one.resource, one.amount)}</td><td class="num">{amount(one.resource, one.lowest)}</td>
                <td class="num">{count(one.missed_hours)} of {count(one.hours)}</td><td class={one.state === 'missed' ? 'bad' : ''}>{STATE[one.state]}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableBox>
    </details>
  );
}

const HOW = [['Agents', 'agents: {listen: [":7071"]}'], ['A cluster', 'kubernetes: {kubeconfig: in-cluster}'], ['The price file, prices.file', 'pool: {cores: 800, memory: 4TiB, core_hour: 0.035, gib_hour: 0.005}']] as const;

function Unknown({ page }: { page: Page }) {
  if (page.why === '') return null;
  return (
    <Card title={page.window_end === null ? 'Nothing is known yet' : 'Capacity is not known'} hint={page.why}>
      {page.window_end !== null && HOW.map(([name, text]) => <div key={name}><p class="muted">{name}</p><Snippet text={text} label={name} /></div>)}
    </Card>
  );
}

export function CapacityPage({ query }: { query: Record<string, string> }) {
  const range: Range = query.range !== undefined && query.range in RANGES ? query.range as Range : '7d';
  const resource = resourceOf(query.resource);
  const now = useQuery<Page>('capacity', { on: ['window'], keep: true });
  const page = now.data;
  // Without parameters, the API returns a week. Other ranges start at a whole hour, so that the request stays equal for an hour.
  const to = page?.window_end ?? null;
  const path = to === null || range === '7d' ? null : withParams('capacity', { from: Math.floor(to / 3600) * 3600 - RANGES[range] * DAY_S });
  const other = useQuery<Page>(path, { keep: true });
  const lines = range === '7d' ? page : other.data;
  const pick = <Segments label="Resource" value={resource} choices={RESOURCE_CHOICES} onPick={(value) => changeQuery('capacity', { resource: value === RESOURCES[0] ? '' : value })} />;
  return (
    <div class="wide page">
      <h1 class="small">Capacity</h1>
      <p class="gloss">What the cell has, what groups have reserved of it, what running tasks are allocated, and what they really use. What lies between use and capacity can be sold once more, to tiers that bear the risk that it is needed.</p>
      {now.error && <Problem text={now.error.message} retry={now.reload} />}
      {!page ? !now.error && <div class="card"><Skeleton lines={8} /></div> : (
        <>
          <Unknown page={page} />
          {page.window_end !== null && page.why === '' && (
            <>
              <div class="capacity-range"><Segments label="Time" value={range} choices={(Object.keys(RANGES) as Range[]).map((value) => ({ value, label: value.replace('d', ' d') }))} onPick={(value) => changeQuery('capacity', { range: value === '7d' ? '' : value })} /></div>
              <div class="capacity-charts">
                {RESOURCES.map((of) => <Card key={of} title={RESOURCE[of].title}>{lines ? <Lines page={lines} resource={of} /> : <Skeleton tall />}</Card>)}
              </div>
              <p class="hint">By the hour: capacity is the lowest of the hour, forecast the highest, the others are means. Lines that are not known are left out: reservation needs quota (quota.file), the forecast machines.</p>
              <Offers page={page} resource={resource} pick={pick} />
              <Card title="How past promises were kept" tools={pick} hint="Each amount above is entered in a ledger when it is stated, and compared with what was available when its time is over.">
                <Summary page={page} resource={resource} />
                <Newest promises={page.promises.filter((one) => one.resource === resource)} />
              </Card>
            </>
          )}
        </>
      )}
    </div>
  );
}
