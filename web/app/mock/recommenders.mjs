// The recommenders as GET /api/v1/recommenders lists them.
const oomDays = { key: 'oom_days', name: 'Days over the limit, target', help: 'the accepted share of days over the limit: OOM-days of memory, throttled days of CPU', unit: 'share', low: 0.002, high: 0.25, initial: 0.03, logarithmic: true };
const throttled = { key: 'throttled', name: 'Throttled work, target', help: 'CPU: the accepted share of work above the limits', unit: 'share', low: 0.0001, high: 0.02, initial: 0.001, logarithmic: true };
const overrunPrice = { key: 'w_over', name: 'Price of an overrun', help: 'against unused limit (30,000 is usual); higher is safer', unit: 'number', low: 100, high: 1e7, initial: 30000, logarithmic: true };
const marginScale = { key: 'margin_scale', name: 'Margin', help: 'against the usual 10 to 15 %', unit: 'factor', low: 0, high: 5, initial: 1, logarithmic: false };
const peakDays = { key: 'peak_days', name: 'Days of history', help: 'more is safer and lowers limits later', unit: 'days', low: 0.25, high: 28, initial: 7, logarithmic: true };

export const RECOMMENDERS = [
  { name: 'static', help: "the owner's limit, whatever the usage", knobs: [] },
  { name: 'peak', help: 'the highest usage of the last days and a margin', knobs: [peakDays] },
  { name: 'vpa', help: 'the recommendation of the Kubernetes VPA with its defaults', knobs: [] },
  { name: 'moving_window', help: "Autopilot's decayed statistics of the usage, by job class", knobs: [marginScale] },
  { name: 'ensemble', help: "Autopilot's many simple models; the one with the lowest recent cost sets the limit", knobs: [overrunPrice] },
  { name: 'analogs', help: 'a forecast from similar job-days of the whole fleet, at a risk target', knobs: [oomDays] },
  { name: 'work_function', help: 'the limit changes when another would have cost less, by more than a change costs, at a risk target', knobs: [throttled] },
  { name: 'combined', help: 'memory by analogs, CPU by work_function', knobs: [oomDays, throttled] },
];
export const initialKnobs = Object.fromEntries(RECOMMENDERS.flatMap((r) => r.knobs).map((knob) => [knob.key, knob.initial]));
