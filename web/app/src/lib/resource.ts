// Rows of resource_table.ts, in the orders and forms that pages need.
import { amount, amountShort } from './format';
import { RESOURCE, type Resource } from './resource_table';

export { RESOURCE };
export const RESOURCES = Object.keys(RESOURCE) as [Resource, ...Resource[]];
// Order for risk: resources that kill tasks before those that slow them down.
export const KILLING_FIRST = [...RESOURCES].sort((a, b) => Number(RESOURCE[b].atLimit.kills) - Number(RESOURCE[a].atLimit.kills)) as typeof RESOURCES;

export const isResource = (name: string | undefined): name is Resource => (RESOURCES as (string | undefined)[]).includes(name);
// Returns the resource that a page's query names.
export const resourceOf = (name: string | undefined, first = RESOURCES[0]): Resource => (isResource(name) ? name : first);

export const byResource = <T>(of: (resource: Resource) => T): Record<Resource, T> =>
  Object.fromEntries(RESOURCES.map((resource) => [resource, of(resource)])) as Record<Resource, T>;

export const RESOURCE_CHOICES = RESOURCES.map((value) => ({ value, label: RESOURCE[value].title }));

// Formats of a chart's axis of amounts. The functions are constant, because a chart is rebuilt when they change.
export const AXIS = byResource((resource) => ({
  base: RESOURCE[resource].unit.base, unit: RESOURCE[resource].unit.counted ? `in ${RESOURCE[resource].unit.name}` : undefined,
  format: (value: number): string => amount(resource, value), tick: (value: number): string => amountShort(resource, value),
}));
