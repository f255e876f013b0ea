// The rows of resource_table.ts in the orders and forms in which pages take them.
import { amount, amountShort } from './format';
import { RESOURCE, type Resource } from './resource_table';

export { RESOURCE };
export const RESOURCES = Object.keys(RESOURCE) as [Resource, ...Resource[]];
// Where it is about risk: what kills tasks comes before what slows them down.
export const KILLING_FIRST = [...RESOURCES].sort((a, b) => Number(RESOURCE[b].atLimit.kills) - Number(RESOURCE[a].atLimit.kills)) as typeof RESOURCES;

export const isResource = (name: string | undefined): name is Resource => (RESOURCES as (string | undefined)[]).includes(name);
// Of a page's query.
export const resourceOf = (name: string | undefined, first = RESOURCES[0]): Resource => (isResource(name) ? name : first);

export const byResource = <T>(of: (resource: Resource) => T): Record<Resource, T> =>
  Object.fromEntries(RESOURCES.map((resource) => [resource, of(resource)])) as Record<Resource, T>;

export const RESOURCE_CHOICES = RESOURCES.map((value) => ({ value, label: RESOURCE[value].title }));

// Of a chart's axis of amounts. The same functions at each drawing: a chart is made anew for others.
export const AXIS = byResource((resource) => ({
  base: RESOURCE[resource].unit.base, unit: RESOURCE[resource].unit.counted ? `in ${RESOURCE[resource].unit.name}` : undefined,
  format: (value: number): string => amount(resource, value), tick: (value: number): string => amountShort(resource, value),
}));
