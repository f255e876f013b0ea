// Types of the API, from schema.ts, which is generated from src/server/api/openapi.yaml, and names for parts of these types.
// Amounts are in cores or bytes, and times in seconds since 1970; null: unknown.
import type * as api from './schema';

export type * from './schema';

type Part<T extends readonly unknown[]> = T[number];

export type Act = Part<NonNullable<api.Status['caller']>['may']>;
export type AgentFailure = Part<api.Agent['failures']>;
export type RefusedAgent = Part<api.AgentPage['refused']>;
export type BusinessRow = Part<api.BusinessPage['businesses']>;
export type FundedGroup = Part<api.BusinessPage['groups']>;
export type CostGroup = Part<api.CostPage['groups']>;
export type CostStep = Part<api.CostPage['steps']>;
export type Fact = Part<api.Reason['facts']>;
export type Candidate = Part<api.Reason['candidates']>;
export type ReasonStep = Part<api.Reason['steps']>;
export type SettingValue = Part<api.JobSettings['values']>;
export type Rule = Part<api.Settings['rules']>;
export type TierName = api.TierAct['tier'];
export type TierActKind = api.TierAct['kind'];
export type Horizon = NonNullable<api.CapacityOffer['horizon']>;
export type RequestState = api.QuotaRequestState;
export type QuotaState = api.Quota;
export type LimitRisk = Pick<api.JobAmounts, 'chance' | 'days' | 'days_over' | 'work_over' | 'work_ordered'>;
export type Provisional = Pick<api.JobAmounts, 'provisional' | 'provisional_limit' | 'first_recommendation_at'>;
export type { Workload } from './schema';

export const MODES: api.Mode[] = ['off', 'observe', 'canary', 'auto'];
export const OUTCOMES: api.Outcome[] = ['pending', 'applied', 'dry_run', 'failed', 'superseded'];
