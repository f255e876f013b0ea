
// The data of the report and what is worked out from it once.
const report = JSON.parse(byId('data').textContent);
const policies = report.policies.map((p) => p.name);
const resources = ['memory', 'cpu'].filter((r) => report.lanes.some((lane) => lane.resource === r));

const laneIndex = new Map(report.lanes.map((lane) => [lane.resource + ' ' + lane.policy, lane]));

function laneOf(resource, policy) {
  return laneIndex.get(resource + ' ' + policy);
}

function lanesOf(resource) {
  return policies.map((policy) => laneOf(resource, policy)).filter(Boolean);
}

function policyInfo(policy) {
  return report.policies.find((p) => p.name === policy);
}

// "moving_window" reads better as "moving window".
function display(policy) {
  return policy.replaceAll('_', ' ');
}

function jobCount(lane) {
  return lane.jobs.job_days.filter((days) => days > 0).length;
}

function hasOwner(lane) {
  return lane.sum.owner > 0;
}

// A task over its memory limit is killed; one over its CPU limit is slowed down.
function words(resource) {
  return resource === 'memory'
    ? { name: 'memory', oomDays: 'OOM-days', oomDay: 'OOM-day', ooms: 'OOMs', unit: 'GiB',
        gloss: 'An OOM-day is a day of a job on which at least one of its tasks used more than the limit then in force.' }
    : { name: 'CPU', oomDays: 'throttled days', oomDay: 'throttled day', ooms: 'throttlings', unit: 'cores',
        gloss: 'A throttled day is a day of a job on which at least one of its tasks needed more CPU, as a 5-minute mean, '
          + 'than the limit then in force.' };
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-';
const DIGIT_VALUE = new Map([...DIGITS].map((c, i) => [c, i]));

// A packed column as [{bucket, level}], level 1 (0.1 % of the samples or less) to 63 (all of them).
function unpackColumn(text) {
  const cells = [];
  if (!text) return cells;
  let bucket = DIGIT_VALUE.get(text[0]) * 64 + DIGIT_VALUE.get(text[1]);
  for (let i = 2; i < text.length; ++i) {
    if (text[i] === '.') {
      bucket += DIGIT_VALUE.get(text[++i]);
      continue;
    }
    const level = DIGIT_VALUE.get(text[i]);
    if (level > 0) cells.push({ bucket, level });
    ++bucket;
  }
  return cells;
}

function shareOfLevel(level) {
  return 10 ** (3 * ((level - 1) / 62 - 1));
}

function levelOfShare(share) {
  return Math.max(1, Math.min(63, Math.round(1 + 62 * (1 + Math.log10(share) / 3))));
}

function upperBound(resource, bucket) {
  const grid = report.grids[resource];
  return grid.first * 2 ** (bucket / grid.per_octave);
}

function lowerBound(resource, bucket) {
  return upperBound(resource, bucket - 1);
}

function runningSum(deltas) {
  let at = 0;
  return deltas.map((delta) => (at += delta) * 300);
}

// A story with its columns unpacked and times in seconds; worked out when first shown.
const opened = new Map();
function openStory(index) {
  if (!opened.has(index)) {
    const story = report.stories[index];
    opened.set(index, {
      ...story,
      columns: story.heat.map(unpackColumn),
      lines: story.lines.map((line) => ({
        policy: line.policy, t: runningSum(line.t), v: line.v, ooms: runningSum(line.ooms),
      })),
    });
  }
  return opened.get(index);
}

// The limit of a story's line at `seconds`; null: none (unlimited), undefined: not yet begun.
function limitAt(line, seconds) {
  let low = 0;
  let high = line.t.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (line.t[middle] <= seconds) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? undefined : line.v[low - 1];
}
