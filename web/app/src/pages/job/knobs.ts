// Maps a slider's position to a value, and formats a value by its unit.
import type { Knob } from '../../api/types';
import { duration, percent, significant } from '../../lib/format';

const SHOW: Record<Knob['unit'], (value: number) => string> = {
  share: percent,
  factor: (v) => `× ${significant(v)}`,
  number: significant,
  days: (v) => duration(v * 86400),
};
export const show = (knob: Knob, value: number): string => SHOW[knob.unit](value);

export function toSlider(knob: Knob, value: number): number {
  const at = knob.logarithmic ? Math.log(value / knob.low) / Math.log(knob.high / knob.low) : (value - knob.low) / (knob.high - knob.low);
  return Math.max(0, Math.min(1, at));
}

// Two significant digits, so that the displayed value is the one that is sent.
export function fromSlider(knob: Knob, at: number): number {
  const raw = knob.logarithmic ? knob.low * (knob.high / knob.low) ** at : knob.low + at * (knob.high - knob.low);
  return Number(raw.toPrecision(2));
}
