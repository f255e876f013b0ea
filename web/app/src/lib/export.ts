// Exports recommendations as text for other tools: CSV, `docker update`, Kubernetes resources. Amounts are rounded up.
import type { JobRow } from '../api/types';
import { RESOURCE, RESOURCES } from './resource';

const MIB = 2 ** 20;

// Spreadsheets evaluate cells that begin like a formula. A leading apostrophe prevents the evaluation.
export function csvCell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

const FIELDS: [string, (row: JobRow) => string | number | null][] = [
  ['job', (row) => row.name], ['mode', (row) => row.mode], ['tasks', (row) => row.tasks],
  ...RESOURCES.flatMap((resource): [string, (row: JobRow) => number | null][] => {
    const unit = RESOURCE[resource].unit.name;
    return [
      [`${resource}_used_${unit}`, (row) => row[resource].usage], [`${resource}_owner_limit_${unit}`, (row) => row[resource].owner_limit],
      [`${resource}_limit_${unit}`, (row) => row[resource].limit], [`${resource}_would_be_${unit}`, (row) => row[resource].would_be],
      [`${resource}_owner_request_${unit}`, (row) => row[resource].owner_request ?? null], [`${resource}_would_be_request_${unit}`, (row) => row[resource].would_be_request ?? null],
      [`${resource}_saving_${unit}`, (row) => row[resource].saving], [`${resource}_chance`, (row) => row[resource].chance],
      [`${resource}_days`, (row) => row[resource].days], [`${resource}_days_over`, (row) => row[resource].days_over],
      [`${resource}_work_over`, (row) => row[resource].work_over], [`${resource}_work_ordered`, (row) => row[resource].work_ordered],
    ];
  }),
  ['oom_kills_7_days', (row) => row.ooms],
];

export function csvOf(rows: readonly JobRow[]): string {
  return [FIELDS.map(([name]) => name), ...rows.map((row) => FIELDS.map(([, of]) => of(row)))].map((cells) => cells.map(csvCell).join(',')).join('\r\n') + '\r\n';
}

export const mebibytes = (bytes: number): number => Math.max(1, Math.ceil(bytes / MIB));
export const millicores = (cores: number): number => Math.max(1, Math.ceil(cores * 1000));

// Quotes a word for a POSIX shell, if necessary.
export const shellWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replace(/'/g, `'\\''`)}'`);

// Docker refuses memory under 6 MiB, and a memory limit above the limit of memory and swap together.
const DOCKER_LEAST_MIB = 6;

export function dockerUpdate(container: string, cpu: number | null, memory: number | null): string {
  const parts = ['docker update'];
  if (cpu !== null) parts.push(`--cpus ${(millicores(cpu) / 1000).toString()}`);
  if (memory !== null) {
    const size = `${Math.max(DOCKER_LEAST_MIB, mebibytes(memory))}m`;
    parts.push(`--memory ${size} --memory-swap ${size}`);
  }
  return `${parts.join(' ')} ${shellWord(container)}\n`;
}

// Requests are exported as requests, because a limit that the owner had not set could throttle or kill the container.
export function kubernetesYaml(cpu: number | null, memory: number | null, of: { cpu: 'limit' | 'request'; memory: 'limit' | 'request' } = { cpu: 'limit', memory: 'limit' }): string {
  const lines = (kind: 'limit' | 'request') => (cpu === null || of.cpu !== kind ? '' : `    cpu: ${millicores(cpu)}m\n`) + (memory === null || of.memory !== kind ? '' : `    memory: ${mebibytes(memory)}Mi\n`);
  return 'resources:\n' + (['request', 'limit'] as const).map((kind) => (lines(kind) === '' ? '' : `  ${kind}s:\n${lines(kind)}`)).join('');
}
