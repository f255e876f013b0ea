// The sentence below the charts of a job's load.
import { describe, expect, it } from 'vitest';
import { totalsSentence } from '../../src/lib/load';
import { difference } from '../../src/pages/fleet_replicas';

const totals = (more = {}) => ({
  windows: 100, task_hours: 80, task_hours_would_be: 60, overloaded_windows: 0, overloaded_windows_would_be: 2, changes: 0, changes_would_be: 5, ...more,
});

describe('what the policy would have done', () => {
  it('compares task-hours and overload', () => {
    const text = totalsSentence(totals(), 'forecast');
    expect(text).toMatch(/forecast would have run 60\S*, 25/);
    expect(text).toContain('25');
    expect(text).toContain('fewer');
    expect(text).toContain('with forecast in 2');
  });
  it('says more where it is more, and as many where it is', () => {
    expect(totalsSentence(totals({ task_hours_would_be: 100 }), 'hpa')).toContain('more');
    expect(totalsSentence(totals({ task_hours_would_be: 80.1 }), 'hpa')).toContain('as many');
  });
  it('is silent without a recommendation', () => {
    expect(totalsSentence(totals({ windows: 0 }), 'hpa')).toBe('');
    expect(totalsSentence(totals({ task_hours: 0 }), 'hpa')).toBe('');
  });
});

describe('the recommended tasks against those that run', () => {
  it('says how many fewer or more, and the share', () => {
    expect(difference(40, 31)).toMatch(/^9\stasks fewer, 2[23](\.5)?\s%$/);
    expect(difference(2, 3)).toMatch(/^1\stask more, 50\s%$/);
    expect(difference(7, 7)).toBe('as many');
    expect(difference(0, 3)).toMatch(/^3\stasks more$/);
  });
});
