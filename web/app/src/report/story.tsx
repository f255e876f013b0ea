// One job over time: its usage, the limit of each recommender above it, and the reason for the last limit.
import { useMemo } from 'preact/hooks';
import { NONE, amount, count, duration, percent, words } from '../lib/format';
import { RESOURCE } from '../lib/resource';
import { Card, Segments } from '../ui/basics';
import { HeatScale, HeatmapView, LEFT, RIGHT } from '../ui/heatmap';
import type { LimitLine } from '../ui/heatmap_scale';
import { ReasonView } from '../ui/reason';
import { DAY_S, type Story, type StoryLine, dayTime, lastDays, limitAt, openStory } from './data';
import { LineChips, Mark, PolicyChips, known, lineOf } from './marks';
import { type View, resourcesOf } from './view';

// One strip per recommender under the heatmap, with a tick at each OOM-day.
function Strips({ story, lines }: { story: Story; lines: StoryLine[] }) {
  const { from, to } = story.map;
  const share = (at: number) => `${(((at - from) / (to - from)) * 100).toFixed(3)}%`;
  const title = `${RESOURCE[story.resource].atLimit.days}, by recommender`;
  return (
    <figure class="strips" aria-label={title}>
      <figcaption class="muted" style={{ paddingLeft: `${LEFT}px` }}>{title}</figcaption>
      {lines.map((line) => (
        <div key={line.policy} class="strip-row" style={{ gridTemplateColumns: `${LEFT}px 1fr`, paddingRight: `${RIGHT}px` }}>
          <span class="strip-name"><span class="visually-hidden">{words(line.policy)}: </span>{count(line.ooms.length)}<Mark policy={line.policy} /></span>
          <svg class={`strip mark-of p-${known(line.policy)}`} aria-hidden="true">
            {line.ooms.map((at) => <line key={at} x1={share(at)} x2={share(at)} y1="0" y2="100%" />)}
          </svg>
        </div>
      ))}
    </figure>
  );
}

function Reading({ view, story, lines, column }: { view: View; story: Story; lines: StoryLine[]; column: number }) {
  const { map, resource } = story;
  const from = map.time[column] ?? map.from;
  const day = Math.floor(from / DAY_S);
  const hurt = lines.filter((line) => line.ooms.some((at) => Math.floor(at / DAY_S) === day)).map((line) => words(line.policy));
  const peak = story.peak[column] ?? null;
  const limit = (line: StoryLine): string => {
    const value = limitAt(line, from + map.column_seconds / 2);
    return value === undefined ? NONE : value === null ? 'unlimited' : amount(resource, value);
  };
  return (
    <>
      <p>usage, peak <b>{peak === null ? 'not measured' : amount(resource, peak)}</b></p>
      {lines.map((line) => <p key={line.policy} class={line.policy === view.lane.policy ? 'picked' : ''}><Mark policy={line.policy} />{words(line.policy)} <b>{limit(line)}</b></p>)}
      <p class="muted remark">{hurt.length > 0 ? `${RESOURCE[resource].atLimit.day} under ${hurt.join(', ')}` : `each column ${duration(map.column_seconds)}`}</p>
    </>
  );
}

function StoryMap({ view, story }: { view: View; story: Story }) {
  const { choice, lane } = view;
  const inOrder = useMemo(() => story.lines.filter((line) => !choice.hidden.has(line.policy)), [story, choice.hidden]);
  const lines = useMemo((): LimitLine[] => [...inOrder].sort((a, b) => Number(a.policy === lane.policy) - Number(b.policy === lane.policy)).map((line) => {
    const { colour, style, width } = lineOf(view, line.policy);
    return { at: line.at, values: line.values, until: story.map.to, colour, style: style === 'dash' ? 'dash' : 'line', width: width ?? 1.4 };
  }), [inOrder, lane]);
  // Days on which the picked limit was too low are marked at the top.
  const map = useMemo(() => ({ ...story.map, ooms: inOrder.find((line) => line.policy === lane.policy)?.ooms ?? [] }), [story, inOrder, lane]);
  return (
    <>
      <HeatmapView label={`Usage of ${story.job} over time with the limits of ${inOrder.length} recommenders`} map={map} lines={lines}
        shade={{ until: dayTime(view.report.first_scored_day), text: 'warm-up' }}
        reading={(column) => <Reading view={view} story={story} lines={inOrder} column={column} />} />
      <Strips story={story} lines={inOrder} />
    </>
  );
}

function SpanButtons({ view, story }: { view: View; story: Story }) {
  const length = (story.map.time.length * story.map.column_seconds) / DAY_S;
  const spans = [30, 7, 2].filter((days) => days < length);
  if (spans.length === 0) return null;
  return (
    <Segments label="Time shown" value={String(view.choice.days ?? 'all')} onPick={(days) => view.change({ days: days === 'all' ? null : Number(days) })}
      choices={[{ value: 'all', label: 'All' }, ...spans.map((days) => ({ value: String(days), label: `${days} days`, title: `The last ${days} days` }))]} />
  );
}

function Why({ view, story }: { view: View; story: Story }) {
  const name = words(view.lane.policy);
  const reason = story.reasons[story.lines.findIndex((line) => line.policy === view.lane.policy)];
  return (
    <section class="why-last">
      <h2>Why the last limit of {name} is what it is</h2>
      <PolicyChips view={view} label="Recommender whose reason is shown" />
      {reason ? (
        <>
          <p class="paragraph">{reason.sentence}</p>
          <ReasonView reason={reason} target={story.resource} />
        </>
      ) : <p class="hint">No reason was kept for {name}.</p>}
    </section>
  );
}

export function StoriesCard({ view }: { view: View }) {
  const { report, choice } = view;
  const shown = report.stories.map((story, index) => ({ story, index })).filter(({ story }) => story.resource === choice.resource);
  const current = shown.find(({ index }) => index === choice.story) ?? shown[0];
  const whole = useMemo(() => current && openStory(report, current.story), [report, current?.index]);
  const story = useMemo(() => whole && lastDays(whole, choice.days), [whole, choice.days]);
  return (
    <Card title="Job stories" hint="One job over time: what its tasks used, and the limits that each recommender would have set.">
      <div class="stories" role="group" aria-label="Job story shown">
        {shown.map(({ story: s, index }) => (
          <button type="button" key={index} title={s.job} aria-pressed={index === current?.index} onClick={() => view.change({ story: index })}><b>{s.job}</b><span>{s.why}</span></button>
        ))}
      </div>
      {!whole || !story ? (
        <p class="hint">No story was kept for {RESOURCE[choice.resource].word}.{report.stories.length > 0 ? ` ${resourcesOf(report).length > 2 ? 'Another' : 'The other'} resource has some: switch above.` : ''}</p>
      ) : (
        <>
          <div class="card-head"><h3>{whole.job}: {whole.why}</h3><SpanButtons view={view} story={whole} /></div>
          <p class="legend heat-legend">
            <span><HeatScale /> share of samples, {percent(0.01)} to {percent(1)}</span>
            <span><i class="oom-mark" aria-hidden="true" />{RESOURCE[choice.resource].atLimit.day} under {words(view.lane.policy)}</span>
            <span class="unit">log scale</span>
          </p>
          <LineChips view={view} />
          <StoryMap view={view} story={story} />
          <Why view={view} story={whole} />
        </>
      )}
    </Card>
  );
}
