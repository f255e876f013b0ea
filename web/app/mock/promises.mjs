// What was promised of limits and what came, of a fleet that has run for two months.
function sums(days, whole, promised, delivered, age) {
  const jobDays = days * age, work = whole * age;
  const counts = whole > 0 ? work : jobDays;
  return { job_days: jobDays, job_days_over: whole > 0 ? Math.round(0.02 * jobDays) : Math.round(delivered * jobDays), work: whole > 0 ? work : jobDays * 1e13,
    work_over: whole > 0 ? delivered * counts : 1e12, promised, delivered };
}

const row = (head, days, whole, promised, delivered) => ({ ...head, broken: head.class === 'minimal', recent: sums(days, whole, promised, delivered, 0.6), lifetime: sums(days, whole, promised, delivered, 1) });

// A dry run sets nothing.
const headsOf = (limits) => ({
  memory: { resource: 'memory', limits, promise: 'chance', counts: 'job_days' },
  young: { resource: 'memory', limits: 'shown', promise: 'none', counts: 'job_days' },
  cpu: { resource: 'cpu', limits, promise: 'fleet_share', counts: 'work' },
});

export function promisePage(world) {
  const dry = world.actuator === 'dry_run';
  const HEADS = headsOf(dry ? 'shown' : 'set');
  return {
    window_end: world.now, half_life_days: 30,
    broken: [`more overruns than promised: memory limits that are ${dry ? 'shown' : 'in force'} (OOM tolerance minimal, 0.25-1 GiB): 1.1 % of job-days were above the limit, 0.3 % was stated (about 2520 job-days, newer ones weigh more); see taut get promises`],
    totals: [row(HEADS.cpu, 310_000, 4e11, 0.001, 0.00083), row(HEADS.memory, 300_000, 0, 0.027, 0.0262), row(HEADS.young, 9, 0, null, 0.05)],
    rows: [
      row({ ...HEADS.cpu, class: 'batch', size: '<0.25' }, 60_000, 1e11, 0.001, 0.0021), row({ ...HEADS.cpu, class: 'serving', size: '1-4' }, 250_000, 3e11, 0.001, 0.0004),
      row({ ...HEADS.memory, class: 'minimal', size: '0.25-1' }, 4200, 0, 0.003, 0.011), row({ ...HEADS.memory, class: 'by_size', size: '<0.25' }, 240_000, 0, 0.031, 0.0302),
      row({ ...HEADS.memory, class: 'by_size', size: '16+' }, 55_800, 0, 0.0001, 0), row({ ...HEADS.young, class: 'by_size', size: '<0.25' }, 9, 0, null, 0.05),
    ],
  };
}
