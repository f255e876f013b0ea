// The table of all recommenders, and the meaning of its columns.
import type { Resource } from '../api/types';
import { NONE, amount, capital, count, percent, significant, words } from '../lib/format';
import { RESOURCE } from '../lib/resource';
import { Card } from '../ui/basics';
import { type Sum, glossOf } from './data';
import { Mark } from './marks';
import type { View } from './view';

interface Column { head: string; unit: string; title: string; value: (sum: Sum) => string }

const throttledColumns = (word: string): Column[] => [
  { head: 'Throttled', unit: '% of usage', value: (s) => percent(s.usage_over_share),
    title: `${word} work above the limit, which would have been delayed, as a share of all ${word} used.` },
  { head: 'Throttled', unit: '% of windows', value: (s) => percent(s.windows_over_share),
    title: `Share of 5-minute windows in which at least one task needed more ${word} than its limit.` },
];

function columnsOf(resource: Resource): Column[] {
  const { word, atLimit } = RESOURCE[resource];
  return [
    { head: 'Slack, mean', unit: '% of limit', value: (s) => percent(s.slack_mean),
      title: 'How much of the limit goes unused: (mean limit − p95 of the day’s 5-minute usages) / mean limit, averaged over job-days.' },
    { head: 'Slack, median', unit: '% of limit', value: (s) => percent(s.slack_median),
      title: 'Half of the job-days have less slack than this, half have more.' },
    { head: 'Footprint', unit: 'on average', value: (s) => amount(resource, s.limit),
      title: 'Sum of the limits in force, averaged over the scored time: what the fleet reserves.' },
    { head: 'Of the owners’', unit: '% of reserved', value: (s) => (s.owner > 0 ? percent(s.of_owner) : NONE),
      title: 'Footprint as a share of the owners’ limits, where owners set one.' },
    { head: 'Of usage', unit: 'times', value: (s) => significant(s.of_usage) + '×',
      title: 'Footprint as a multiple of the usage; 1× is no slack.' },
    { head: capital(atLimit.days), unit: '% of job-days', value: (s) => percent(s.oom_day_share, 2), title: glossOf(resource) },
    { head: capital(atLimit.events), unit: 'per task-day', value: (s) => significant(s.ooms_per_task_day),
      title: `How many ${atLimit.events} a job-day had for each task it ran, on average.` },
    { head: 'Serious', unit: '% of job-days', value: (s) => percent(s.serious_share, 2),
      title: `Job-days with more ${atLimit.events} than 4 and than a fifth of the job’s tasks.` },
    { head: 'Limit changes', unit: 'mean a day', value: (s) => significant(s.changes_mean),
      title: 'How often the limit moved in a day. Each change can disturb a task, so fewer are better.' },
    { head: 'Limit changes', unit: 'p99 a day', value: (s) => count(s.changes_p99),
      title: '99 of 100 job-days saw at most this many changes.' },
    { head: 'No change', unit: '% of job-days', value: (s) => percent(s.unchanged_share),
      title: 'Share of job-days on which the limit did not move at all.' },
    ...(atLimit.kills ? [] : throttledColumns(word)),
  ];
}

function Table({ view, columns }: { view: View; columns: Column[] }) {
  const what = (policy: string) => view.report.policies.find((p) => p.name === policy)?.what;
  return (
    <table class="wide-heads">
      <thead>
        <tr>
          <th scope="col" title="Who set the limits">Recommender</th>
          {columns.map((column, i) => (
            // A head may wrap between words, but not at the hyphen of "OOM-days".
            <th key={i} scope="col" title={column.title}>{column.head.replaceAll('-', '\u2011')}<sup>{i + 1}</sup><span class="unit">{column.unit}</span></th>
          ))}
        </tr>
      </thead>
      <tbody>
        {view.lanes.map((lane) => (
          <tr key={lane.policy} class={lane === view.lane ? 'picked' : ''}>
            <th scope="row">
              <button type="button" class="pick" title={what(lane.policy)} aria-pressed={lane === view.lane} onClick={() => view.change({ policy: lane.policy })}>
                <Mark policy={lane.policy} />{words(lane.policy)}
              </button>
            </th>
            {columns.map((column, i) => <td key={i} class="num">{column.value(lane.sum)}</td>)}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function RecommendersCard({ view }: { view: View }) {
  const columns = columnsOf(view.choice.resource);
  return (
    <Card title="All recommenders" hint="Each recommender was evaluated on the same usage. Select a name to show it in every figure on this page.">
      <div id="recommenders" class="scroll" tabIndex={0} role="region" aria-label="Table of all recommenders"><Table view={view} columns={columns} /></div>
      <details>
        <summary>What the columns and the recommenders mean</summary>
        <ol class="meanings">{columns.map((column, i) => <li key={i}><b>{column.head} ({column.unit}). </b>{column.title}</li>)}</ol>
        <ul class="meanings">
          {view.report.policies.map((p) => <li key={p.name}><b>{words(p.name)}: </b>{p.what}.</li>)}
        </ul>
      </details>
    </Card>
  );
}
