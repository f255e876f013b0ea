// Re-evaluates this job's own history with another recommender or other parameters, while a slider moves.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ApiError, aborted, jobPath, sendJson, withParams } from '../../api/client';
import { useQuery } from '../../api/query';
import type { Amount, Knob, Recommender, Recommenders, Resource, WhatIf, WhatIfLane, WhatIfRequest } from '../../api/types';
import { amount, change, count, milliseconds, parseAmount, percent, words, plural } from '../../lib/format';
import { AXIS, RESOURCE, byResource } from '../../lib/resource';
import { Card, Problem, Segments, Skeleton } from '../../ui/basics';
import { Chart, Swatch } from '../../ui/chart';
import { logTicks } from '../../ui/heatmap_scale';
import { fromSlider, show, toSlider } from './knobs';

// Position of each slider, 0 to 1000. It is kept unrounded, because the value is rounded and a key press moves it only a little.
type Places = Record<string, number>;

const valueOf = (knob: Knob, places: Places): number => {
  const place = places[knob.key];
  return place === undefined ? knob.initial : fromSlider(knob, place / 1000);
};

function Slider({ knob, places, onPlace }: { knob: Knob; places: Places; onPlace: (place: number) => void }) {
  const value = valueOf(knob, places);
  const id = `knob-${knob.key}`;
  return (
    <div class="slider">
      <label for={id}>{knob.name} <b>{show(knob, value)}</b></label>
      <input id={id} type="range" min={0} max={1000} step={5} value={places[knob.key] ?? Math.round(toSlider(knob, knob.initial) * 200) * 5} aria-valuetext={show(knob, value)}
        onInput={(event) => onPlace(Number(event.currentTarget.value))} />
      <span class="muted">{knob.help}</span>
    </div>
  );
}

function Bound({ name, resource, text, onText }: { name: string; resource: Resource; text: string; onText: (text: string) => void }) {
  const wrong = text.trim() !== '' && parseAmount(resource, text) === null;
  return (
    <label class="bound">{name}
      <input type="text" value={text} size={9} placeholder="none" aria-invalid={wrong} onInput={(event) => onText(event.currentTarget.value)} />
      {wrong && <span class="bad" role="alert">such as {RESOURCE[resource].unit.examples}</span>}
    </label>
  );
}

function Figures({ answer }: { answer: WhatIf }) {
  const { now, whatif, resource } = answer;
  const rows: [string, string, (lane: WhatIfLane) => string, string?][] = [
    ['Mean limit', '', (l) => amount(resource, l.mean_limit), now ? change(now.mean_limit, whatif.mean_limit) : ''],
    ['Saved', "of the owner's limit", (l) => percent(l.saved_share)],
    ['Days over', 'the limit', (l) => `${count(l.days_over)} of ${count(l.days)}`],
    ['Windows over', 'the limit', (l) => `${count(l.windows_over)} of ${count(l.windows)}`],
    ['Changes', 'of the limit', (l) => count(l.changes)],
  ];
  return (
    <table class="figures">
      <thead>
        <tr>
          <td />
          {now && <th scope="col"><Swatch name="--would" style="dash" /> now: {words(now.recommender)}</th>}
          <th scope="col"><Swatch name="--other" style="line" /> what if: {words(whatif.recommender)}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, help, of, share]) => (
          <tr key={name}>
            <th scope="row">{name} <span class="muted help">{help}</span></th>
            {now && <td class="num">{of(now)}</td>}
            <td class="num"><span class="muted">{share}</span> <b>{of(whatif)}</b></td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

// The axis is logarithmic like in the chart of usage above, so values of 0 are left out.
const positive = (values: Amount[]): Amount[] => values.map((value) => (value !== null && value > 0 ? value : null));
const TICKS = byResource((resource) => (low: number, high: number) => logTicks(resource, { low, high }, 6));

function LimitChart({ answer }: { answer: WhatIf }) {
  const { resource } = answer;
  const [used, owner, whatIf, now] = useMemo(() => [answer.usage_peak, answer.owner_limit, answer.whatif.limit, answer.now?.limit ?? []].map(positive), [answer]);
  return (
    <Chart label="Limits now and what they would have been, over the highest usage of a task" time={answer.time} {...AXIS[resource]} log={TICKS[resource]} height={320}
      series={[
        { name: 'Highest task', values: used ?? [], colour: '--usage', style: 'line', width: 1.2 },
        { name: "Owner's", values: owner ?? [], colour: '--owner', style: 'dots' },
        // The dashed line is on top, so that both are visible where they are equal.
        { name: 'What if', values: whatIf ?? [], colour: '--other', style: 'step', width: 2.2 },
        ...(answer.now ? [{ name: words(answer.now.recommender), remark: 'the recommender now', values: now ?? [], colour: '--would', style: 'step-dash' as const, width: 2.2 }] : []),
      ]} />
  );
}

// Sends the request a little after the last change; the previous response stays until the new one arrives.
function useWhatIf(name: string, resource: Resource, body: WhatIfRequest | null) {
  const [answer, setAnswer] = useState<WhatIf | null>(null);
  const [error, setError] = useState('');
  const first = useRef(true);
  const text = body === null ? null : JSON.stringify(body);
  useEffect(() => {
    if (text === null) return undefined;
    const abort = new AbortController();
    const ask = async () => {
      try {
        setAnswer(await sendJson<WhatIf>('POST', withParams(jobPath(name, '/whatif'), { resource }), JSON.parse(text), abort.signal));
        setError('');
      } catch (wrong) {
        if (!aborted(wrong)) setError(wrong instanceof ApiError ? wrong.message : String(wrong));
      }
    };
    const timer = window.setTimeout(() => void ask(), first.current ? 0 : 90);
    first.current = false;
    return () => { clearTimeout(timer); abort.abort(); };
  }, [name, resource, text]);
  return { answer, error };
}

interface CardProps { name: string; resource: Resource; recommender: string }

export function WhatIfCard(props: CardProps) {
  const { data, error } = useQuery<Recommenders>('recommenders');
  // The API lists the simplest recommender first. Reverse the list, so that the default is first.
  if (data) return <Answered {...props} choices={[...data.recommenders].reverse()} />;
  return <Card title="What if" class="whatif">{error ? <Problem text={error.message} /> : <Skeleton tall />}</Card>;
}

function Answered({ name, resource, recommender, choices }: CardProps & { choices: Recommender[] }) {
  const [picked, setPicked] = useState<Recommender>(() => choices.find((r) => r.name === recommender) ?? choices[0]!);
  const [places, setPlaces] = useState<Places>({});
  const [days, setDays] = useState('14');
  const [lower, setLower] = useState('');
  const [upper, setUpper] = useState('');
  const body: WhatIfRequest = { recommender: picked.name, days: Number(days) };
  for (const knob of picked.knobs) body[knob.key] = valueOf(knob, places);
  const bounds = { lower: parseAmount(resource, lower), upper: parseAmount(resource, upper) };
  if (bounds.lower !== null) body.lower = bounds.lower;
  if (bounds.upper !== null) body.upper = bounds.upper;
  const { answer, error } = useWhatIf(name, resource, body);
  return (
    <Card title="What if" class="whatif" hint="This job's stored history, re-evaluated with other settings: the limits that mode auto would have applied. Trying changes nothing."
      tools={<Segments label="Days of history" value={days} onPick={setDays}
        choices={[{ value: '7', label: '7 days' }, { value: '14', label: '14 days' }, { value: '30', label: '30 days' }]} />}>
      <div class="whatif-grid">
        <div class="controls">
          <div class="chips" role="group" aria-label="Recommender">
            {choices.map((r) => (
              <button type="button" class="chip" key={r.name} aria-pressed={r.name === picked.name} title={r.help} onClick={() => setPicked(r)}>{words(r.name)}</button>
            ))}
          </div>
          <p class="hint">{picked.help}</p>
          {picked.knobs.map((knob) => (
            <Slider key={knob.key} knob={knob} places={places} onPlace={(place) => setPlaces({ ...places, [knob.key]: place })} />
          ))}
          <div class="bounds">
            <Bound name="Not below" resource={resource} text={lower} onText={setLower} />
            <Bound name="Not above" resource={resource} text={upper} onText={setUpper} />
          </div>
          {error && <Problem text={error} />}
          {answer && <Figures answer={answer} />}
          {answer && <p class="muted answered" role="status">answered in {milliseconds(answer.milliseconds)}{answer.oom_kills > 0 && `; ${plural(answer.oom_kills, 'OOM kill')} in this time: usage at a kill counts as above the limit that it hit`}</p>}
        </div>
        <div class="whatif-chart">{answer ? <LimitChart answer={answer} /> : !error && <Skeleton tall />}</div>
      </div>
    </Card>
  );
}
