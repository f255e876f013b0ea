// What can be turned in a what-if, and how a slider's place stands for a value.
import { duration, percent, significant } from '../../lib/format';

export interface Knob {
  key: 'margin_scale' | 'w_over' | 'oom_days' | 'throttled' | 'peak_days';
  name: string;
  help: string;
  low: number;
  high: number;
  start: number;
  log: boolean;
  show: (value: number) => string;
}

export interface Recommender { name: string; help: string; knobs: Knob[] }

const OOM_DAYS: Knob = {
  key: 'oom_days', name: 'Days over the limit, ordered', help: 'the share of days that may go over: OOM-days of memory, throttled days of CPU', low: 0.002, high: 0.25, start: 0.03, log: true, show: percent,
};
const THROTTLED: Knob = {
  key: 'throttled', name: 'Throttled work, ordered', help: 'CPU: the share of all work that may go above the limits', low: 0.0001, high: 0.02, start: 0.001, log: true, show: percent,
};

export const RECOMMENDERS: Recommender[] = [
  { name: 'combined', help: 'The default: memory by analogs, CPU by work_function.', knobs: [
    { ...OOM_DAYS, help: 'memory: the share of days that may be OOM-days' },
    THROTTLED,
  ] },
  { name: 'work_function', help: 'The limit moves when another would have cost a change less.', knobs: [THROTTLED] },
  { name: 'analogs', help: 'Forecasts from the job-days of the whole fleet that looked most like this one.', knobs: [OOM_DAYS] },
  { name: 'ensemble', help: 'Many models run side by side; the one that cost least lately sets the limit.', knobs: [
    { key: 'w_over', name: 'Price of an overrun', help: 'against unused limit (30,000 is usual); higher is safer', low: 100, high: 10_000_000, start: 30_000, log: true, show: significant },
  ] },
  { name: 'moving_window', help: 'A percentile of recent usage, older usage counting less, and a margin.', knobs: [
    { key: 'margin_scale', name: 'Margin', help: 'against the usual 10 to 15 %', low: 0, high: 5, start: 1, log: false, show: (v) => `× ${significant(v)}` },
  ] },
  { name: 'peak', help: 'The highest usage of the last days, and 15 %.', knobs: [
    { key: 'peak_days', name: 'Days looked back', help: 'more is safer and slower to come down', low: 0.25, high: 28, start: 7, log: true, show: (v) => duration(v * 86400) },
  ] },
  { name: 'vpa', help: "The Kubernetes Vertical Pod Autoscaler's published constants.", knobs: [] },
  { name: 'static', help: "The owner's limit, as it is.", knobs: [] },
];

export function toSlider(knob: Knob, value: number): number {
  const at = knob.log ? Math.log(value / knob.low) / Math.log(knob.high / knob.low) : (value - knob.low) / (knob.high - knob.low);
  return Math.max(0, Math.min(1, at));
}

// Two significant digits, so that the figure shown is the one that is sent.
export function fromSlider(knob: Knob, at: number): number {
  const raw = knob.log ? knob.low * (knob.high / knob.low) ** at : knob.low + at * (knob.high - knob.low);
  return Number(raw.toPrecision(2));
}
