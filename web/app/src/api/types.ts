// Schemas of src/server/api/openapi.yaml. Amounts are cores or bytes; times are seconds since 1970; null is not known.

import type { Resource } from '../lib/resource_table';

// Ways to sign in.
export interface LoginWays { login: { name: string; session_seconds: number } | null; token: boolean }

export type { Resource };
// Target of a decision: the limit of a resource for each task, or the number of tasks.
export type Target = Resource | 'replicas';
export type Mode = 'off' | 'observe' | 'canary' | 'auto';
export type DecisionKind = 'would_set' | 'set' | 'try' | 'promote' | 'roll_back' | 'oom_raise' | 'release';
export type Outcome = 'pending' | 'applied' | 'dry_run' | 'failed' | 'superseded';
export type Amount = number | null;

export interface FleetAmounts {
  // null: no owner's limit is known.
  usage: number; owner_limit: Amount; limit: Amount; would_be: Amount; slack: Amount;
  saved: Amount; would_save: Amount; saved_machines: Amount; would_save_machines: Amount;
  usage_limited: number; raised: number; would_raise: number;
  job_days: number; job_days_over: number; ordered: number | null; jobs_at_limit: number;
  work_over: number | null; work_ordered: number | null;
  requests?: RequestSums | null;
}
// For jobs whose savings are of requests.
export interface RequestSums { jobs: number; owner: number; now: number; would_be: number; limit_would_save: number }
// Money per month; only if prices are configured.
export interface FleetMoney { currency: string; saved: number; would_save: number }
// Jobs with a recommended number of tasks; counts are five-minute windows of each job's last day.
export interface ReplicaSums {
  jobs: number; tasks: number; would_be: number; jobs_overloaded: number; windows_day: number; overloaded_windows_day: number;
  jobs_held: { not_measured: number; no_number: number };
}
export interface Fleet extends Record<Resource, FleetAmounts> {
  saving_per_month?: FleetMoney;
  time: number | null;
  machine: { cores: number; bytes: number };
  jobs: number; tasks: number;
  whole_machines: number; jobs_by_mode: Record<Mode, number>;
  replicas: ReplicaSums;
  oom_kills_day: number | null; changes_day: number | null;  // null: they count all jobs, and the caller may see only some
  actuator: string;
}
export interface FleetColumns { usage: Amount[]; owner_limit: Amount[]; limit: Amount[]; would_be: Amount[] }
export interface FleetHistory extends Record<Resource, FleetColumns> {
  time: number[]; jobs: number[]; tasks: number[];
  oom_kills: number[]; changes: number[]; jobs_by_mode: Partial<Record<Mode, number[]>>;
}

// Risk of the would-be limit: the forecast chance of a day above it, and the job's own past days above it (without a forecast,
// above the limit of that time); and the work above its limits beside the ordered share.
export interface LimitRisk { chance: number | null; days: number; days_over: number; work_over: number | null; work_ordered: number | null }
// The provisional recommendation while there is too little history for would_be, and when that will be available.
export interface Provisional { provisional: boolean; provisional_limit: Amount; first_recommendation_at: number | null }
export type JobAmounts = {
  recommender: string; usage: Amount; peak: Amount; owner_limit: Amount; of: 'limit' | 'request'; limit: Amount; ordered: Amount; applied: Amount; would_be: Amount;
  saving: Amount; at_limit: boolean;
  // Requests beside limits: a cluster bills them, and savings count them. limit_saving is the saving of the limit alone.
  owner_request?: Amount; request?: Amount; would_be_request?: Amount; limit_saving?: Amount;
} & Provisional & LimitRisk;
// The job's name where it runs; null parts are absent.
export interface Workload { source: string; cluster: string | null; namespace: string | null; kind: string; name: string; container: string | null }
export interface JobRow extends Record<Resource, JobAmounts> {
  name: string; workload: Workload | null; whole_machine: boolean; mode: Mode; recommender: string; tasks: number; tasks_would_be: number | null;
  ooms: number; last_seen: number | null; last_change: number | null; trial: boolean;
  enforced: boolean; throttled_share: number | null;
  saving_per_month?: number | null;
}
export interface JobSums {
  usage: number; owner_limit: number; limit: number; would_be: number; saved: number; would_save: number;
  job_days: number; job_days_over: number; chance: number | null; requests?: RequestSums | null;
}
export interface JobTotals extends Record<Resource, JobSums> { jobs: number; tasks: number; not_measured: number; whole_machines: number; replicas: ReplicaSums; saving_per_month?: number }
export interface LabelTotals { by: string; total: number; currency?: string; groups: (JobTotals & { value: string | null })[] }
export interface CostHours { usage: number; allocation: number; billed: number; owner: number; would_be: number; without_allocation: number | null }
export interface CostMoney { usage: number; allocation: number; billed: number; idle: number; owner: number; would_be: number; saved: number; would_save: number }
export interface CostSums extends Record<Resource, CostHours> { cost?: CostMoney }
export interface CostGroup extends CostSums { value: string | null; jobs: number }
export interface CostStep extends CostSums { time: number }
export interface BudgetRow { name: string; label: string; value: string; per_month: number; spent: number; forecast: number }
export interface BudgetPage { from: number; to: number; now: number; currency?: string; budgets: BudgetRow[] }
export interface BudgetHolder {
  name: string; holder: string; unit: string; budget: string; balance: string; spent: string; forecast: string; left: string;
  frozen: boolean; frozen_by?: number; frozen_why?: string; removed: boolean; overrides: { entry: number; amount: string; until: number }[];
}
export interface BusinessRow extends BudgetHolder { per_period: string; carry_share_bp: number; carry_cap?: string; pays_for: { group: string; share_bp: number; paid: string }[] }
export interface FundedGroup extends BudgetHolder { funders: { business: string; share_bp: number; paid: string }[]; spent_in_all: string; unfunded: string }
export interface BusinessPage {
  from: number | null; to: number | null; counted_to: number; currency: string; spent?: string; unfunded?: string; forecast?: string;
  warnings: string[]; businesses: BusinessRow[]; groups: FundedGroup[]; without_budget: { group: string; spent: string }[];
}
export interface BudgetEntry {
  id: number; time: number; who: string; why: string; key?: string; act: string; text: string; of?: string; to?: string; unit?: string; amount?: string; received?: string;
  parts?: { holder: string; share_bp: number; amount?: string }[]; from?: number; until?: number; rate?: string; core_hour?: string; gib_hour?: string;
  carry_share_bp?: number; carry_cap?: string; spent?: string; carried?: string; expired?: string;
}
export interface BudgetLedger { entries: BudgetEntry[] }
export interface CostPage {
  from: number; to: number; by: string; labels: string[]; currency?: string; total: CostSums & { jobs: number }; late: CostSums;
  number_of_groups: number; groups: CostGroup[]; steps: CostStep[];
}
export interface JobPage { total: number; offset: number; currency?: string; totals?: JobTotals; jobs: JobRow[] }
export interface TrialSide { task_windows: number; ooms: number; over: number; throttled_share: number | null; slack: Amount }
export interface Trial {
  resource: Resource; limit: Amount; old_limit: Amount; since: number; until: number;
  tasks: TrialSide; rest: TrialSide; elsewhere: number; names: string[]; sentence: string;
}
// Null if nothing is recommended.
export type LoadOf = 'cpu' | 'series';
export interface Replicas {
  policy: string; tasks: number; would_be: Amount; ordered: Amount; load_of: LoadOf; load: Amount; task_capacity: Amount;
  utilization: number | null; windows_day: number; overloaded_windows_day: number; hold: string; held: { cause: 'not_measured' | 'no_number'; since: number } | null; reason: Reason;
}
export interface ReplicaHistory {
  step: number; load_of: LoadOf; time: number[]; load: Amount[]; tasks: Amount[]; tasks_would_be: Amount[];
  capacity: Amount[]; capacity_would_be: Amount[];
  forecast_low: Amount[]; forecast_high: Amount[];
  totals: {
    windows: number; task_hours: number; task_hours_would_be: number; overloaded_windows: number;
    overloaded_windows_would_be: number; changes: number; changes_would_be: number;
  };
}
export interface ContainerAllocation { applies_to: 'limit' | 'request' | 'request_only'; request_share: number | null }
export interface ContainerResources { request: Amount; limit: Amount; scaled_by: string | null }
export interface TemplateContainer extends Record<Resource, ContainerResources> { init: boolean; guaranteed: boolean; others_equal: boolean }
export interface PodTotals extends Record<Resource, { request: Amount; limit: Amount }> { containers: number; recommended: number }
export interface JobDetail extends JobRow {
  currency?: string; price_per_month?: Record<Resource, number>;
  labels: Record<string, string>; first_seen: number | null; risk: number | null; throttled: number | null; replicas: Replicas | null; trials: Trial[];
  holds: { resource: Resource; sentence: string }[]; notices: string[];
  allocation: Record<Resource, ContainerAllocation>; container: TemplateContainer | null; pod: PodTotals | null;
  memory_needed: NeededMemory | null;
}
export interface NeededMemory { bytes: number; tasks: number; time: number }
export interface Heatmap {
  resource: Resource; from: number; to: number; column_seconds: number;
  time: number[]; buckets: number[]; cells: [number, number, number][];
  limit: Amount[]; owner_limit: Amount[]; would_be: Amount[]; needed: Amount[]; ooms: number[];
}

export interface Fact { name: string; value: unknown; unit: string }
export interface Candidate { name: string; limit: number; cost: number; detail: string; chosen: boolean }
export interface ReasonStep { what: string; before: number; after: number; kind?: string }
export interface Reason {
  recommender: string; sentence: string; facts: Fact[]; cost_unit: string; candidates: Candidate[]; steps: ReasonStep[];
  why?: string; limit?: Amount; chance?: number | null; days?: number; days_over?: number;
}
export interface Explanation extends LimitRisk, Provisional { would_be: Amount; limit: Amount; ordered: Amount; applied: Amount; owner_limit: Amount; of: 'limit' | 'request'; enforced: boolean; paragraph: string; reason: Reason }
export type Explanations = Record<Resource, Explanation> & { replicas: Replicas | null; memory_needed: NeededMemory | null };

export interface Decision {
  id: number; time: number; job: string; target: Target; resource: Resource | null; kind: DecisionKind; mode: Mode; before: Amount; after: Amount;
  sentence: string; outcome: Outcome; outcome_text: string; outcome_time: number | null;
}
export interface DecisionDetail extends Decision { reason: Reason | null }
export interface DecisionPage { decisions: Decision[]; next_before: number | null }
export interface Oom { time: number; job: string; task: number | null; kills: number; limit: Amount }
export interface OomPage { ooms: Oom[] }
export type TierName = 'free' | 'batch' | 'mid' | 'production' | 'monitoring';
export type TierActKind = 'throttle' | 'release' | 'kill' | 'kill_failed' | 'kernel_kill';
export interface TierAct {
  time: number; machine: string; job: string; task: string; tier: TierName; kind: TierActKind; observed: boolean; usage: Amount; request: Amount; high: Amount;
  free: Amount; total: Amount; pressure_some: Amount; pressure_full: Amount; text: string;
}
export interface TierActPage { acts: TierAct[] }

export interface SettingChange { id: number; time: number; who: string; job: string; key: string; value: string; before: string }
export interface SettingRow {
  key: string; help: string; kind: 'choice' | 'number' | 'bytes' | 'duration' | 'text' | 'boolean'; choices?: string[]; default: string;
}
export interface SettingValue { key: string; value: string; source: string; by_rules?: string }
export interface JobSettings { values: SettingValue[]; changes: SettingChange[] }
export interface Rule { name: string; match: Record<string, string>; set: Record<string, string>; jobs: number }
export interface Settings { table: SettingRow[]; rules: Rule[]; changes: SettingChange[]; config_file: string | null }

export interface Knob {
  key: string; name: string; help: string; unit: 'share' | 'factor' | 'number' | 'days'; low: number; high: number; initial: number; logarithmic: boolean;
}
export interface Recommender { name: string; help: string; knobs: Knob[] }
export interface Recommenders { recommenders: Recommender[] }
// Further members: the knobs, by their keys.
export interface WhatIfRequest { recommender?: string; days?: number; lower?: Amount; upper?: Amount; [knob: string]: string | number | null | undefined }
export interface WhatIfLane {
  recommender: string; mean_limit: Amount; windows: number; windows_over: number; days: number; days_over: number;
  changes: number; saved_share: number | null; limit: Amount[];
}
export interface WhatIf {
  resource: Resource; oom_kills: number; time: number[]; usage_peak: Amount[]; owner_limit: Amount[];
  now: WhatIfLane | null; whatif: WhatIfLane; milliseconds: number;
}

export interface AgentFailure { time: number; decision: number; job: string; task: string; resource: Resource; text: string }
export interface RefusedAgent { time: number; name: string; host: string; why: string }
export interface Agent {
  name: string; host: string; version: string; hands: string; connected: boolean; observes: boolean; cores: number; memory_bytes: number;
  tasks: number; managed_tasks: number; heard_seconds_ago: number; queued_bytes: number; dropped_messages: number;
  cpu_share_cores: number; resident_bytes: number; windows: number; oom_kills: number; applied: number; failed: number;
  not_believed: number; failures: AgentFailure[];
}
export interface AgentPage { enabled: boolean; agents: Agent[]; refused: RefusedAgent[] }

export type Act = 'look' | 'see_jobs' | 'see_quota' | 'see_money' | 'move_money' | 'grant_money' | 'set_jobs' | 'make_requests' | 'end_requests' | 'see_platform' | 'write_samples' | 'run_platform';
export interface PromiseSums { job_days: number; job_days_over: number; work: number; work_over: number; promised: number | null; delivered: number | null }
export interface PromiseTotal {
  resource: Resource; limits: 'set' | 'shown'; promise: 'none' | 'chance' | 'fleet_share' | 'job_share'; counts: 'job_days' | 'work'; broken: boolean; recent: PromiseSums; lifetime: PromiseSums;
}
export interface PromiseRow extends PromiseTotal { class: string; size: string }
export interface PromisePage { window_end: number | null; half_life_days: number; broken: string[]; totals: PromiseTotal[]; rows: PromiseRow[] }
export interface PromiseCounts { judged: number; passed: number }
// Cores or bytes; null if not known, and then `why` has the reason.
export interface MachineAmounts {
  capacity: number | null; limits: number | null; without_limit: number; measured_tasks: number; reservations: number | null; usage: number | null;
  predicted: number | null; learnt: boolean; reclaimable: number | null; reclaimable_now: number | null; why: string; promises: PromiseCounts;
}
export interface Machine extends Record<Resource, MachineAmounts> {
  name: string; source: string; also_in: string[]; present: boolean; ready: boolean; seen: number; tasks: number;
}
export interface MachineSums {
  capacity: number | null; limits: number | null; reservations: number | null; usage: number | null; measured_machines: number; predicted: number | null;
  predicted_machines: number; learnt_machines: number; reclaimable: number | null; reclaimable_now: number | null;
}
export interface MachinePage {
  enabled: boolean; window_end: number | null; risk: number; horizon_seconds: number; total: number; offset: number;
  totals: (Record<Resource, MachineSums> & { source: string; machines: number; present: number; tasks: number })[];
  delivered: Record<Resource, { promises: PromiseCounts }> & { days: number };
  machines: Machine[];
}
export interface MachineTaskAmounts { limit: number | null; reservation: number | null; usage: number | null }
export interface MachineDetail extends Machine {
  window_end: number | null; risk: number; horizon_seconds: number; explanation: string[]; forecasts: Record<Resource, Reason>;
  task_list: (Record<Resource, MachineTaskAmounts> & { job: string; task: string })[];
}

// One value per step; null: not known in that step.
export interface CapacityColumns {
  capacity: (number | null)[]; reservation: (number | null)[]; allocation: (number | null)[]; usage: (number | null)[]; usage_peak: (number | null)[]; forecast: (number | null)[];
}
export interface CapacityTier { name: string; sale: 'reserved' | 'slack' | 'spare'; availability: number; risk: string }
export type Horizon = 'hour' | 'day' | 'month' | 'quarter';
// Cores or bytes; null if not known, and then `text` has the reason.
export interface CapacityOffer {
  tier: string; resource: Resource; horizon: Horizon | null; horizon_seconds: number | null; promise: number;
  sellable: number | null; sold: number | null; left: number | null; oversold: number | null; ready: number | null; text: string;
  kept: {
    promises: number; promises_kept: number; unmeasured: number; hours: number; missed_hours: number;
    kept_share: number | null; kept_share_low: number | null; kept_share_high: number | null; verdict: 'kept' | 'broken' | 'undecided';
  };
}
export interface CapacityPromise {
  tier: string; resource: Resource; horizon: Horizon; horizon_seconds: number; promise: number; start: number; end: number; amount: number;
  state: 'open' | 'kept' | 'missed' | 'unmeasured'; hours: number; missed_hours: number; lowest: number | null;
}
export interface CapacityPage extends Record<Resource, CapacityColumns> {
  window_end: number | null; source: 'none' | 'machines' | 'pool'; why: string; note: string; kept_days: number; first: number | null;
  measured_hours: Record<Resource, number>; resolution: number; time: number[];
  tiers: CapacityTier[]; offers: CapacityOffer[]; promises: CapacityPromise[];
}

export interface Status {
  // session: a browser's session after sign-in; valid_until: null if it does not end.
  caller?: { user: string; role: string; session?: boolean; valid_until?: number | null; groups: { group: string; as: string }[]; may: Act[] };
  warnings: string[]; jobs?: { known: number; refused_series: number; name_collisions?: number; forgotten: number };
  version: string; started: number; ready: boolean; clock: 'wall' | 'samples'; actuator: string; store: string; pages: boolean;
  cell: { name: string; links: { name: string; url: string }[] };
  agents: { enabled: boolean; connected: number; known: number };
  nodes: number | null;
  quota: boolean; bills: boolean; businesses: boolean;
  ingest: Record<string, number>;
  last_pass: { window_end: number; jobs: number; milliseconds: number; steps: Record<string, number> } | null;
  backfill: { done: number; total: number; sentence: string } | null;
  backfill_error: string | null; last_window_end: number | null; first_window_closes: number | null;
  late_jobs?: { waiting: number; read: number; nothing: number; failed: number; error: string };
}

export const MODES: Mode[] = ['off', 'observe', 'canary', 'auto'];
export const OUTCOMES: Outcome[] = ['pending', 'applied', 'dry_run', 'failed', 'superseded'];
export const KINDS: DecisionKind[] = ['would_set', 'set', 'try', 'promote', 'roll_back', 'oom_raise', 'release'];

// Cores for CPU, bytes for memory, units for other resources.
export type QuotaAmounts = Record<string, number>;
export interface QuotaHistory { hours: number; in_use_p95: number; in_use_peak: number; usage_p95?: number; usage_peak?: number; recommended?: number; reason: string }
export interface QuotaRow { group: string; cohort: boolean; tier: string; resource: string; quota: number; in_use: number; borrowed: number; over_quota: number; available: number; at_most: number; history?: QuotaHistory }
export interface UncoveredUse { group: string; tier: string; jobs: number; first_job: string; requests: number; amounts: QuotaAmounts }
export interface QuotaState { measured: number | null; silent: boolean; queued: number; open: number; warnings: string[]; rows: QuotaRow[]; uncovered: UncoveredUse[] }
export type RequestState = 'queued' | 'admitted' | 'running' | 'ended';
export interface QuotaRequest {
  id: number; state: RequestState; end: '' | 'refused' | 'withdrawn' | 'finished' | 'not_started' | 'time_up';
  group: string; tier: string; job: string; tasks: number; per_task: QuotaAmounts; priority: number; duration: number | null;
  asked: number | null; since: number | null; admitted: number | null; who: string; reason: string;
}
export interface QuotaRequestPage { requests: QuotaRequest[] }
export interface AdmissionVerdict {
  outcome: 'admitted' | 'queued' | 'refused'; explanation: string; asked: QuotaAmounts; borrowed: { resource: string; amount: number; cohort: string }[];
  reasons: { resource: string; level: string; asked: number; available: number; never: boolean; sentence: string }[];
  fitting_tasks: number; fitting: QuotaAmounts; other_tiers: string[]; reclaimable: boolean; probably_at: number | null;
}

// Money as exact text.
export interface BillLine { tier: string; resource: Resource; kind: 'charge' | 'slack tax'; rule: string; hours: number; rate: string; amount: string }
export interface GroupBill { group: string; jobs: number; charges: string; credits: string; idle: string; total: string; lines: BillLine[] }
export interface JobBill { job: string; charges: string; credits: string; idle: string; total: string }
export interface BillPage {
  // machine_cost and platform are of the whole pool.
  from: number; to: number; month_to: number; counted_from: number; currency: string; charges: string; credits: string; idle: string; total: string; machine_cost?: string; platform?: string;
  windows_without_allocation?: number; number_of_groups: number; groups: GroupBill[]; jobs?: JobBill[];
  price_changes: { time: number; from: number; to: number; what: string }[];  // of past times
}
