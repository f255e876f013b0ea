// Periods over which costs are summed.
const DAY = 86400;
export type Period = '2' | '7' | '30' | 'month' | 'lastmonth';
export const PERIODS: { value: Period; label: string; title: string }[] = [
  { value: '2', label: '2 days', title: 'The last 2 days, by the hour where it is known' }, { value: '7', label: '7 days', title: 'The last 7 days' },
  { value: '30', label: '30 days', title: 'The last 30 days' }, { value: 'month', label: 'This month', title: 'The calendar month so far, by UTC' },
  { value: 'lastmonth', label: 'Last month', title: 'The last calendar month, by UTC' },
];

// Returns a span in seconds. The end is rounded to 5 minutes, so that the request stays equal until a window closes.
export function spanOf(period: Period, nowS: number): { from: number; to: number } {
  const now = new Date(nowS * 1000);
  const month = (offset: number) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset) / 1000;
  const to = Math.ceil(nowS / 300) * 300;
  if (period === 'month') return { from: month(0), to };
  if (period === 'lastmonth') return { from: month(-1), to: month(0) };
  return { from: to - Number(period) * DAY, to };
}
