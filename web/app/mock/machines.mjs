// Node agents of a simulated cell: most are connected, one is disconnected, one observes.
import { unit } from './random.mjs';

const SIZES = [[8, 32], [16, 64], [64, 256]];

function agentOf(number, started) {
  const [cores, gib] = SIZES[Math.floor(unit(number, 'size') * SIZES.length)];
  const away = number === 3;
  const tasks = Math.round(cores * (1 + 3 * unit(number, 'tasks')));
  return {
    name: `node-${String(number).padStart(3, '0')}`, host: `node-${String(number).padStart(3, '0')}.cell.example`, version: '0.2.0-mock',
    hands: number % 2 ? 'cgroup v2' : 'cgroup v1, Docker 20.10.24', connected: !away, observes: number === 5, cores, memory_bytes: gib * 2 ** 30,
    tasks, managed_tasks: Math.round(tasks * 0.8), heard_seconds_ago: away ? Math.round(Date.now() / 1000 - started + 1290) : Math.round(100 * unit(number, 'heard')) / 10,
    queued_bytes: away ? 734003 : 0, dropped_messages: away ? 12 : 0, cpu_share_cores: 0.002 + 0.0001 * tasks, resident_bytes: Math.round((9 + 0.02 * tasks) * 2 ** 20),
    windows: away ? 811 : 864, oom_kills: number % 4 === 0 ? 2 : 0, applied: tasks * 5, failed: number === 4 ? 3 : 0, not_believed: number === 6 ? 4 : 0,
    failures: number !== 4 ? [] : [0, 1, 2].map((i) => ({ time: started - 600 * (3 - i), decision: 100 + i, job: 'shop/web-eu-1', task: `web-eu-1-${i}`, resource: 'memory',
      text: 'write memory.max: Device or resource busy' })),
  };
}

// `agents`: how many; null: agent connections are disabled.
export function agentPage(agents, started) {
  return { enabled: agents !== null, refused: !agents ? [] : [{ time: started - 7200, name: 'node-001', host: '10.0.0.77', why: 'another agent of this name is connected' }],
    agents: Array.from({ length: agents ?? 0 }, (_, i) => agentOf(i + 1, started)) };
}
