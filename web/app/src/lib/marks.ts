// Events of a job as marks on its chart: a changed limit, or a new version of the program.
import type { Decision } from '../api/types';
import { amount } from './format';
import { kindText } from './names';

export interface Mark { time: number; kind: 'change' | 'deploy'; text: string }

// Returns deploys. The setting `version` contains the program's version and start time: "web:1.3 since 2026-11-25T12:00:00Z".
export function deploysOf(values: readonly string[]): Mark[] {
  const marks = values.flatMap((value): Mark[] => {
    const [, version, since] = /^(.+) since (\S+)$/.exec(value) ?? [];
    const time = Date.parse(since === undefined || /[Z+]|\d-\d\d:\d\d$/.test(since) ? since ?? '' : `${since}Z`) / 1000;
    return version === undefined || !Number.isFinite(time) ? [] : [{ time, kind: 'deploy', text: `deployed ${version}` }];
  });
  return marks.filter((mark, i) => marks.findIndex((other) => other.time === mark.time && other.text === mark.text) === i);
}

// Decisions that were not applied are not part of a limit's history.
export const changesOf = (decisions: readonly Decision[]): Mark[] => decisions.filter((d) => d.outcome !== 'superseded' && d.outcome !== 'failed')
  .map((d) => ({ time: d.time, kind: 'change', text: `${kindText(d.kind, d.outcome)}: ${amount(d.target, d.before)} → ${d.after === null ? "the owner's" : amount(d.target, d.after)}` }));
