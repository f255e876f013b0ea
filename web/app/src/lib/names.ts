// Names of things on the pages.
import type { DecisionKind, Mode, Outcome, Target, TierActKind } from '../api/types';
import { RESOURCE, byResource } from './resource';

export const TARGET: Record<Target, string> = { ...byResource((resource) => RESOURCE[resource].title), replicas: 'Replicas' };

export const MODE_HELP: Record<Mode, string> = {
  off: 'measured only',
  observe: 'recommended and shown, nothing applied',
  canary: 'tried on a share of the tasks first',
  auto: 'applied',
};

// In a dry run, limits are decided and recorded but not set.
export const modeHelp = (mode: Mode, dry: boolean): string => (!dry || mode === 'off' || mode === 'observe' ? MODE_HELP[mode] : `would be ${MODE_HELP[mode]}; dry run`);

export const KIND: Record<DecisionKind, string> = {
  would_set: 'would set', set: 'set', try: 'try', promote: 'promote', roll_back: 'roll back', oom_raise: 'OOM raise', release: 'release',
};
// All kinds, in the order of filters.
export const KINDS = Object.keys(KIND) as DecisionKind[];

// Returns the text for a kind of decision; "would set" and so on if a dry run did not apply the decision.
export const kindText = (kind: DecisionKind, outcome: Outcome): string => (outcome === 'dry_run' && kind !== 'would_set' ? `would ${KIND[kind] === 'OOM raise' ? 'raise (OOM)' : KIND[kind]}` : KIND[kind]);

export const KIND_HELP: Record<DecisionKind, string> = {
  would_set: 'the job is in observe: what auto would have set',
  set: 'the limit of all tasks, or their number',
  try: "canary: the limit of the trial's tasks",
  promote: 'the trial succeeded: its limit is set for all tasks',
  roll_back: 'the trial failed: its tasks get their old limit back',
  oom_raise: 'a task was OOM-killed: raised immediately',
  release: "the owner's limit or number of tasks again",
};

export const TIER_ACT: Record<TierActKind, string> = { throttle: 'throttled', release: 'released', kill: 'killed', kill_failed: 'could not kill', kernel_kill: 'killed by the kernel' };

export const OUTCOME: Record<Outcome, string> = {
  pending: 'on its way', applied: 'applied', dry_run: 'dry run', failed: 'failed', superseded: 'superseded',
};

// Names of samples by outcome; an unlisted name is shown with blanks for its underscores.
export const INGEST: Record<string, string> = {
  accepted: 'accepted', out_of_order: 'accepted out of order', stale_markers: 'stale markers (end of a series)', duplicates: 'duplicates',
  conflicts: 'duplicates with another value', nan: 'NaN', invalid: 'infinite or negative', far_future: 'too far in the future',
  too_late: 'too late (window closed)', over_capacity: 'too many samples of one series', unmapped: 'no mapping rule matched', histograms: 'native histograms (not read)',
  facts: 'metadata (owners, limits)', refused: 'rejected (over a limit, or invalid name)',
};

// Metrics that the built-in mapping rules use, as listed in docs/start/quick_start.md (tools/check_docs.py).
export const PROMETHEUS_METRICS = 'container_(cpu_(usage|time)(_seconds_total)?|cpu_cfs_(throttled_)?periods_total|memory_(working_set(_bytes)?|max_usage_bytes)|oom_events_total|start_time_seconds)'
  + '|container_spec_(memory_limit_bytes|cpu_quota)'
  + '|kube_pod_container_(resource_(limits|requests)(_cpu_cores|_memory_bytes)?|status_restarts_total|status_(last_)?terminated_reason|status_last_terminated_timestamp|status_waiting|state_started)'
  + '|kube_(pod|replicaset|replicationcontroller|job)_owner|kube_(pod|job)_labels|kube_pod_init_container_info'
  + '|kube_(deployment|statefulset)_status_replicas(_ready)?'
  + '|windows_container_(cpu_usage_seconds_total|memory_usage_private_working_set_bytes)'
  + '|k8s_container_(cpu_usage|memory_working_set(_bytes)?|(cpu|memory)_(limit|request)(_bytes)?)'
  + '|process_(cpu_seconds_total|resident_memory_bytes)'
  + '|namedprocess_namegroup_(cpu_seconds_total|memory_bytes)'
  + '|node_cpu_seconds_total|node_memory_Mem(Total|Available)_bytes';
