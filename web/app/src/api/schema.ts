// Made from src/server/api/openapi.yaml by types.mjs (npm run types).

export type Error = { error: string; errors?: { key: string; error: string }[] };
export type Resource = 'cpu' | 'memory';
// what is set: the limit of a resource for each task, or the number of tasks
export type Target = 'cpu' | 'memory' | 'replicas';
export type Mode = 'off' | 'observe' | 'canary' | 'auto';
export type DecisionKind = 'would_set' | 'set' | 'try' | 'promote' | 'roll_back' | 'oom_raise' | 'release';
export type Outcome = 'pending' | 'applied' | 'dry_run' | 'failed' | 'superseded';
// amounts are totals over tasks. `_saved`: the owner's amount - that in force; `_saving`: the owner's amount - would_be, both of requests where the job has one (JobAmounts.saving), else of limits; `saving`: of both resources, each as a share of all owners' limits; `tight`: OOM kills, then usage at the limit, then would_be above the owner's limit; `saving_per_month`: of both resources in money, 400 without `prices`
export type JobSort = 'name' | 'mode' | 'tasks' | 'cpu_usage' | 'cpu_owner_limit' | 'cpu_limit' | 'cpu_would_be' | 'cpu_slack' | 'cpu_saved' | 'memory_usage' |
  'memory_owner_limit' | 'memory_limit' | 'memory_would_be' | 'memory_slack' | 'memory_saved' | 'ooms' | 'changed' | 'cpu_saving' | 'memory_saving' | 'saving' |
  'cpu_chance' | 'memory_chance' | 'tight' | 'saving_per_month';
export type Amount = number | null;
// totals over all tasks; cores or bytes
export type FleetAmounts = { usage: number; owner_limit: number | null; limit: number | null; would_be: number | null; usage_limited: number; slack: number |
  null; saved: number | null; would_save: number | null; requests: RequestSums; saved_machines: number | null; would_save_machines: number | null;
  raised: number; would_raise: number; job_days: number; job_days_over: number; ordered: number | null; work_over: number | null; work_ordered: number | null;
  jobs_at_limit: number };
// of the jobs whose savings are of requests; null: none is
export type RequestSums = { jobs: number; owner: number; now: number; would_be: number; limit_would_save: number } | null;
// money a month of saved and would_save, by prices.core_hour and prices.gib_hour, for 730 hours; absent without prices, or where no owner's limit is known
export type FleetMoney = { currency: string; saved: number; would_save: number };
export type Fleet = { time: number | null; whole_machines: number; machine: { cores: number; bytes: number }; jobs: number; tasks: number;
  jobs_by_mode: Record<string, number>; cpu: FleetAmounts; memory: FleetAmounts; replicas: ReplicaSums; saving_per_month?: FleetMoney; oom_kills_day: number |
  null; changes_day: number | null; actuator: string };
// the jobs with a recommended number of tasks
export type ReplicaSums = { jobs: number; tasks: number; would_be: number; jobs_overloaded: number; windows_day: number; overloaded_windows_day: number;
  jobs_held: { not_measured: number; no_number: number } };
// null: no job was measured then, or the owner's limit of none is known
export type FleetColumns = Record<string, Amount[]>;
export type FleetHistory = { time: number[]; cpu: FleetColumns; memory: FleetColumns; jobs: number[]; tasks: number[]; oom_kills: number[]; changes: number[];
  jobs_by_mode: Record<string, number[]> };
// for each task; cores or bytes
export type JobAmounts = { recommender: string; usage: Amount; peak: Amount; owner_limit: Amount; of: 'limit' | 'request'; limit: number | null;
  ordered: number | null; applied: number | null; would_be: Amount; owner_request: number | null; request: number | null; would_be_request: number | null;
  saving: number | null; limit_saving: number | null; chance: number | null; days: number; days_over: number; work_over: number | null; work_ordered: number |
  null; at_limit: boolean; provisional: boolean; provisional_limit: number | null; first_recommendation_at: number | null };
// what a job is called where it runs
export type Workload = { source: string; cluster: string | null; namespace: string | null; kind: string; name: string; group: string | null; container: string |
  null };
export type JobRow = { name: string; workload: Workload | null; mode: Mode; recommender: string; whole_machine: boolean; tasks: number; tasks_would_be: number |
  null; cpu: JobAmounts; memory: JobAmounts; ooms: number; last_seen: number | null; last_change: number | null; trial: boolean; enforced: boolean;
  throttled_share: number | null; saving_per_month?: number | null };
// sums over the tasks of several jobs; jobs with unknown figures are left out
export type JobTotals = { not_measured: number; whole_machines: number; jobs: number; tasks: number; cpu: JobSums; memory: JobSums; replicas: ReplicaSums;
  saving_per_month?: number };
export type LabelTotals = { by: string; total: number; currency?: string; groups: ({ value: string | null } & JobTotals)[] };
// core-hours or GiB-hours
export type CostHours = { usage: number; allocation: number; billed: number; owner: number; would_be: number; without_allocation: number | null };
// in currency
export type CostMoney = { usage: number; allocation: number; billed: number; idle: number; owner: number; would_be: number; saved: number; would_save: number };
export type CostSums = { cpu: CostHours; memory: CostHours; cost?: CostMoney };
export type CostPage = { from: number; to: number; by: string; labels: string[]; currency?: string; total: { jobs: number } & CostSums; late: CostSums;
  number_of_groups: number; groups: ({ value: string | null; jobs: number } & CostSums)[]; steps: ({ time: number } & CostSums)[] };
export type BudgetPage = { from: number; to: number; now: number; currency?: string; budgets: BudgetRow[] };
// money in currency
export type BudgetRow = { name: string; label: string; value: string; per_month: number; spent: number; forecast: number };
// exact, with up to six decimals, in currency
export type Money = string;
// exact, with up to six decimals, in the unit of the business or group
export type UnitMoney = string;
export type BudgetHolder = { name: string; holder: string; unit: string; budget: UnitMoney; balance: UnitMoney; spent: UnitMoney; forecast: UnitMoney;
  left: UnitMoney; frozen: boolean; frozen_by?: number; frozen_why?: string; removed: boolean; overrides: { entry: number; amount: UnitMoney;
  until: number }[] };
export type BusinessPage = { from: number | null; to: number | null; counted_to: number; currency: string; spent?: Money; unfunded?: Money; forecast?: Money;
  warnings: string[]; businesses: (BudgetHolder & { per_period: UnitMoney; carry_share_bp: number; carry_cap?: UnitMoney; pays_for: { group: string;
  share_bp: number; paid: Money }[] })[]; groups: (BudgetHolder & { funders: { business: string; share_bp: number; paid: Money }[]; spent_in_all: Money;
  unfunded: Money })[]; without_budget: { group: string; spent: Money }[] };
export type BudgetLedger = { entries: BudgetEntry[] };
// other members by act, see docs/reference/formats.md
export type BudgetEntry = { id: number; time: number; who: string; why: string; key?: string; act: 'period' | 'prices' | 'rate' | 'business' | 'funding' |
  'remove' | 'grant' | 'transfer' | 'split' | 'expire' | 'freeze' | 'unfreeze' | 'override' | 'close'; of?: string; to?: string; unit?: string;
  amount?: UnitMoney; received?: string; parts?: { holder: string; share_bp: number; amount?: string }[]; from?: number; until?: number; rate?: string;
  core_hour?: string; gib_hour?: string; carry_share_bp?: number; carry_cap?: string; spent?: string; carried?: string; expired?: string; text: string };
export type BudgetAsk = { act: 'grant' | 'transfer' | 'split' | 'expire' | 'freeze' | 'unfreeze' | 'override'; of: string; to?: string; amount?: unknown;
  parts?: Record<string, string>; until?: unknown; why: string; key?: string };
// total = charges - credits + idle. People of groups get the bills of their groups and their sum, without what is of the whole pool; a bill that also has jobs of other groups is left out.
export type BillPage = { from: number; to: number; month_to: number; counted_from: number; currency: string; price_changes: { time: number; from: number;
  to: number; what: string }[]; charges: Money; credits: Money; idle: Money; total: Money; machine_cost?: Money; platform?: Money;
  windows_without_allocation?: number; number_of_groups: number; groups: GroupBill[]; jobs?: JobBill[] };
export type GroupBill = { group: string; jobs: number; charges: Money; credits: Money; idle: Money; total: Money; lines: BillLine[] };
export type BillLine = { tier: string; resource: Resource; kind: 'charge' | 'slack tax'; rule: string; hours: number; rate: Money; amount: Money };
export type JobBill = { job: string; charges: Money; credits: Money; idle: Money; total: Money };
// by resource: cores of cpu, bytes of memory, units of others
export type QuotaAmounts = Record<string, number>;
export type Quota = { measured: number | null; silent: boolean; queued: number; open: number; warnings: string[]; rows: QuotaRow[]; uncovered: UncoveredUse[] };
// one group, tier and resource; cores of cpu, bytes of memory, units of others
export type QuotaRow = { group: string; cohort: boolean; tier: string; resource: string; quota: number; in_use: number; borrowed: number; over_quota: number;
  available: number; at_most: number; oversold?: number; history?: QuotaHistory };
// of the last 14 days, by the highest of each hour; absent for a cohort and before the first window
export type QuotaHistory = { hours: number; in_use_p95: number; in_use_peak: number; usage_p95?: number; usage_peak?: number; recommended?: number;
  reason: string };
// jobs and open requests of a group or tier that has no quota
export type UncoveredUse = { group: string; tier: string; jobs: number; first_job: string; requests: number; amounts: QuotaAmounts };
export type QuotaRequestState = 'queued' | 'admitted' | 'running' | 'ended';
// cpu in cores, memory in bytes or as text such as 4GiB, other resources by their name
export type QuotaAsk = { group: string; tier: string; tasks?: number; cpu?: unknown; memory?: unknown; job?: string; priority?: number; duration?: unknown };
export type QuotaRequest = { id: number; state: QuotaRequestState; end: '' | 'refused' | 'withdrawn' | 'finished' | 'not_started' | 'time_up'; group: string;
  tier: string; job: string; tasks: number; per_task: QuotaAmounts; priority: number; duration: number | null; asked: number | null; since: number | null;
  admitted: number | null; who: string; reason: string };
export type QuotaRequestPage = { requests: QuotaRequest[] };
export type AdmissionVerdict = { outcome: 'admitted' | 'queued' | 'refused'; explanation: string; asked: QuotaAmounts; borrowed: { resource: string;
  amount: number; cohort: string }[]; reasons: { resource: string; level: string; asked: number; available: number; never: boolean; sentence: string }[];
  fitting_tasks: number; fitting: QuotaAmounts; other_tiers: string[]; reclaimable: boolean; probably_at: number | null };
export type AllocationAnswer = { code: number; status: string; warning?: string; data: Record<string, Allocation>[] };
// the fields of OpenCost's; those that tautd does not measure are 0 and not listed here
export type Allocation = { name: string; properties: Record<string, unknown>; window: { start: string; end: string }; start: string; end: string;
  minutes: number; cpuCores: number; cpuCoreRequestAverage: number; cpuCoreUsageAverage: number; cpuCoreHours: number; cpuCost: number; cpuCostIdle?: number;
  cpuEfficiency: number; ramBytes: number; ramByteRequestAverage: number; ramByteUsageAverage: number; ramByteHours: number; ramCost: number;
  ramCostIdle?: number; ramEfficiency: number; totalCost: number; totalEfficiency: number };
export type JobSums = { usage: number; owner_limit: number; limit: number; would_be: number; saved: number; would_save: number; requests: RequestSums;
  job_days: number; job_days_over: number; chance: number | null };
export type SettingsOfMany = { dry_run: boolean; matched: number; changed: number; changes: { job: string; key: string; before: string; after: string }[];
  left_out: number };
export type JobPage = { total: number; offset: number; currency?: string; totals?: JobTotals; jobs: JobRow[] };
export type Trial = { resource: Resource; limit: Amount; old_limit: Amount; since: number; until: number; tasks: TrialSide; rest: TrialSide; elsewhere: number;
  names: string[]; sentence: string };
export type TrialSide = { task_windows: number; ooms: number; over: number; throttled_share: number | null; slack: Amount };
export type JobDetail = JobRow & { currency?: string; price_per_month?: { cpu: number; memory: number }; labels: Record<string, string>; first_seen: number |
  null; risk: number | null; throttled: number | null; replicas: Replicas | null; allocation: { cpu: ContainerAllocation; memory: ContainerAllocation };
  container: TemplateContainer | null; pod: PodTotals | null; memory_needed: NeededMemory | null; trials: Trial[]; holds: { resource: Resource;
  sentence: string }[]; notices: string[] };
// what a pod that has the job's container is to request and may use in all: the sum over its containers and sidecars of what is recommended, and of what they have where nothing is (also in mode off)
export type PodTotals = { containers: number; recommended: number; cpu: PodAmounts; memory: PodAmounts };
export type PodAmounts = { request: Amount | null; limit: Amount | null };
export type ContainerAllocation = { applies_to: 'limit' | 'request' | 'request_only'; request_share: number | null };
// a container as the template of its Kubernetes workload has it, as far as its pods show it
export type TemplateContainer = { init: boolean; guaranteed: boolean; others_equal: boolean; cpu: ContainerResources; memory: ContainerResources };
// as the owner has set them; null: not set
export type ContainerResources = { request: Amount; limit: Amount; scaled_by: string | null };
export type Heatmap = { resource: Resource; from: number; to: number; column_seconds: number; time: number[]; buckets: number[]; cells: [number, number,
  number][]; limit: Amount[]; owner_limit: Amount[]; would_be: Amount[]; needed: Amount[]; ooms: number[] };
// cpu: the load is the CPU of all tasks, in cores; series: that of the job's load series, in their unit (replicas.task_capacity)
export type LoadOf = 'cpu' | 'series';
export type ReplicaHistory = { step: number; time: number[]; load_of: LoadOf; load: Amount[]; tasks: Amount[]; tasks_would_be: Amount[]; capacity: Amount[];
  capacity_would_be: Amount[]; forecast_low: Amount[]; forecast_high: Amount[]; totals: { windows: number; task_hours: number; task_hours_would_be: number;
  overloaded_windows: number; overloaded_windows_would_be: number; changes: number; changes_would_be: number } };
export type Reason = { recommender: string; sentence: string; facts: { name: string; value: unknown; unit: string }[]; cost_unit: string;
  candidates: { name: string; limit: number; cost: number; detail: string; chosen: boolean }[]; steps: { what: string; before: number; after: number;
  kind?: string }[]; why?: string; limit?: Amount; chance?: number | null; days?: number; days_over?: number };
export type Explanations = { memory_needed: NeededMemory | null; cpu: Explanation; memory: Explanation; replicas: Replicas | null };
// what the tasks need of memory, found by agents that lower memory.high until a task stalls (docs/agent/reference.md, Probing)
export type NeededMemory = { bytes: number; tasks: number; time: number };
// the number of the job's tasks, from the CPU that they use together
export type Replicas = { policy: string; tasks: number; would_be: number | null; ordered: number | null; load_of: LoadOf; load: number | null;
  task_capacity: number | null; utilization: number | null; windows_day: number; overloaded_windows_day: number; hold: string; held: { cause: 'not_measured' |
  'no_number'; since: number } | null; reason: Reason };
export type Explanation = { would_be: Amount; limit: number | null; ordered: number | null; applied: number | null; owner_limit: Amount; chance: number | null;
  days: number; days_over: number; work_over: number | null; work_ordered: number | null; of: 'limit' | 'request'; enforced: boolean; provisional: boolean;
  provisional_limit: number | null; first_recommendation_at: number | null; paragraph: string; reason: Reason };
export type Decision = { id: number; time: number; job: string; workload: Workload | null; target: Target; resource: Resource | null; kind: DecisionKind;
  mode: Mode; before: Amount; after: Amount; sentence: string; outcome: Outcome; outcome_text: string; outcome_time: number | null };
export type DecisionDetail = Decision & { reason: Reason | null };
export type DecisionPage = { decisions: Decision[]; next_before: number | null };
export type Oom = { time: number; job: string; task: number | null; kills: number; limit: Amount };
export type OomPage = { ooms: Oom[] };
// one act of the guard of a machine's memory; it is no OOM kill and raises no limit
export type TierAct = { time: number; machine: string; job: string; task: string; tier: 'free' | 'batch' | 'mid' | 'production' | 'monitoring';
  kind: 'throttle' | 'release' | 'kill' | 'kill_failed' | 'kernel_kill'; observed: boolean; usage: number | null; request: number | null; high: number | null;
  free: number | null; total: number | null; pressure_some: number | null; pressure_full: number | null; text: string };
export type TierActPage = { acts: TierAct[] };
export type SettingChange = { id: number; time: number; who: string; job: string; key: string; value: string; before: string };
export type SettingRow = { key: string; help: string; kind: 'choice' | 'number' | 'bytes' | 'duration' | 'text' | 'boolean'; choices?: string[];
  default: string };
export type JobSettings = { values: { key: string; value: string; source: string; by_rules?: string }[]; changes: SettingChange[] };
export type Settings = { table: SettingRow[]; rules: { name: string; match: Record<string, string>; set: Record<string, string>; cap: Record<string, string>;
  jobs: number }[]; changes: SettingChange[]; config_file: string | null };
export type Recommenders = { recommenders: Recommender[] };
export type Recommender = { name: string; help: string; knobs: Knob[] };
// a parameter of WhatIfRequest
export type Knob = { key: string; name: string; help: string; unit: 'share' | 'factor' | 'number' | 'days'; low: number; high: number; initial: number;
  logarithmic: boolean };
export type WhatIfRequest = { recommender?: string; days?: number; lower?: Amount; upper?: Amount } & Record<string, unknown>;
export type WhatIfLane = { recommender: string; mean_limit: Amount; windows: number; windows_over: number; days: number; days_over: number; changes: number;
  saved_share: number | null; limit: Amount[] };
export type WhatIf = { resource: Resource; oom_kills: number; time: number[]; usage_peak: Amount[]; owner_limit: Amount[]; now: WhatIfLane; whatif: WhatIfLane;
  milliseconds: number };
export type PromiseSums = { job_days: number; job_days_over: number; work: number; work_over: number; promised: number | null; delivered: number | null };
export type PromiseTotal = { resource: 'cpu' | 'memory'; limits: 'set' | 'shown'; promise: 'none' | 'chance' | 'fleet_share' | 'job_share'; counts: 'job_days' |
  'work'; broken: boolean; recent: PromiseSums; lifetime: PromiseSums };
export type PromiseRow = PromiseTotal & { class: string; size: '<0.25' | '0.25-1' | '1-4' | '4-16' | '16+' };
export type PromisePage = { window_end: number | null; half_life_days: number; broken: string[]; totals: PromiseTotal[]; rows: PromiseRow[] };
// cores or bytes, one value a step; null: not known in that step
export type CapacityColumns = { capacity: (number | null)[]; reservation: (number | null)[]; allocation: (number | null)[]; usage: (number | null)[];
  usage_peak: (number | null)[]; forecast: (number | null)[] };
export type CapacityTier = { name: string; sale: 'reserved' | 'slack' | 'spare'; availability: number; risk: string };
// one tier, horizon and resource; null where not known, and `text` says why
export type CapacityOffer = { tier: string; resource: 'cpu' | 'memory'; horizon: 'hour' | 'day' | 'month' | 'quarter' | null | null; horizon_seconds: number |
  null; promise: number; sellable: number | null; sold: number | null; left: number | null; oversold: number | null; ready: number | null; text: string;
  kept: { promises: number; promises_kept: number; unmeasured: number; hours: number; missed_hours: number; kept_share: number | null; kept_share_low: number |
  null; kept_share_high: number | null; verdict: 'kept' | 'broken' | 'undecided' } };
export type CapacityPromise = { tier: string; resource: 'cpu' | 'memory'; horizon: 'hour' | 'day' | 'month' | 'quarter'; horizon_seconds: number;
  promise: number; start: number; end: number; amount: number; state: 'open' | 'kept' | 'missed' | 'unmeasured'; hours: number; missed_hours: number;
  lowest: number | null };
export type CapacityPage = { window_end: number | null; source: 'none' | 'machines' | 'pool'; why: string; note: string; kept_days: number; first: number |
  null; measured_hours: { cpu: number; memory: number }; resolution: number; time: number[]; cpu: CapacityColumns; memory: CapacityColumns;
  tiers: CapacityTier[]; offers: CapacityOffer[]; promises: CapacityPromise[] };
// machine-days whose prediction was compared with what came
export type PromiseCounts = { judged: number; passed: number };
// cores or bytes; null where not known, and `why` says why
export type MachineAmounts = { capacity: number | null; limits: number | null; without_limit: number; measured_tasks: number; reservations: number | null;
  usage: number | null; predicted: number | null; learnt: boolean; reclaimable: number | null; reclaimable_now: number | null; why: string;
  promises: PromiseCounts };
export type Machine = { name: string; source: string; also_in: string[]; present: boolean; ready: boolean; seen: number; tasks: number; cpu: MachineAmounts;
  memory: MachineAmounts };
// sums over the machines whose figure is known; null: of none
export type MachineSums = { capacity: number | null; limits: number | null; reservations: number | null; usage: number | null; measured_machines: number;
  predicted: number | null; predicted_machines: number; learnt_machines: number; reclaimable: number | null; reclaimable_now: number | null };
export type MachinePage = { enabled: boolean; window_end: number | null; risk: number; horizon_seconds: number; total: number; offset: number;
  totals: { source: string; machines: number; present: number; tasks: number; cpu: MachineSums; memory: MachineSums }[]; delivered: { days: number;
  cpu: { promises: PromiseCounts }; memory: { promises: PromiseCounts } }; machines: Machine[] };
export type MachineTaskAmounts = { limit: number | null; reservation: number | null; usage: number | null };
export type MachineDetail = Machine & { window_end: number | null; risk: number; horizon_seconds: number; explanation: string[]; forecasts: { cpu: Reason;
  memory: Reason }; task_list: { job: string; task: string; cpu: MachineTaskAmounts; memory: MachineTaskAmounts }[] };
export type AgentPage = { refused: { time: number; name: string; host: string; why: string }[]; enabled: boolean; agents: Agent[] };
export type Agent = { name: string; host: string; version: string; hands: string; connected: boolean; observes: boolean; cores: number; memory_bytes: number;
  tasks: number; managed_tasks: number; heard_seconds_ago: number; queued_bytes: number; dropped_messages: number; cpu_share_cores: number;
  resident_bytes: number; windows: number; oom_kills: number; applied: number; failed: number; not_believed: number; failures: { time: number; decision: number;
  job: string; task: string; resource: Resource; text: string }[] };
export type LoginWays = { login: { name: string; session_seconds: number } | null; token: boolean };
export type Status = { version: string; started: number; caller: { user: string; role: 'group' | 'reader' | 'platform' | 'operator'; session: boolean;
  valid_until: number | null; groups: { group: string; as: 'member' | 'owner' | 'budget_holder' }[]; may: ('look' | 'see_jobs' | 'see_quota' | 'see_money' |
  'move_money' | 'grant_money' | 'set_jobs' | 'make_requests' | 'end_requests' | 'see_platform' | 'write_samples' | 'run_platform')[] }; quota: boolean;
  bills: boolean; businesses: boolean; ready: boolean; warnings: string[]; clock: 'wall' | 'samples'; actuator: string; store: string; pages: boolean;
  cell: { name: string; links: { name: string; url: string }[] }; agents: { enabled: boolean; connected: number; known: number }; nodes: number | null;
  ingest: Record<string, number>; last_window_end: number | null; first_window_closes: number | null; jobs?: { known: number; refused_series: number;
  name_collisions: number; forgotten: number }; last_pass: { window_end: number; jobs: number; milliseconds: number; steps: Record<string, number> } | null;
  backfill: { done: number; total: number; sentence: string } | null; backfill_error: string | null; late_jobs?: { waiting: number; read: number;
  nothing: number; failed: number; error: string } };
