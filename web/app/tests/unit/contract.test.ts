// The contract, the mock and the pages' types agree: the yaml's schemas are applied strictly to what the mock
// answers, and src/api/schema.ts is made of them.
import { readFileSync } from 'node:fs';
import Ajv from 'ajv';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { answer, makeWorld } from '../../mock/server.mjs';
import { RESOURCES } from '../../src/lib/resource';
// @ts-expect-error plain JavaScript
import { OUT, generate } from '../../types.mjs';

type Schema = Record<string, any>;
const contract: Schema = parse(readFileSync(new URL('../../../../src/server/api/openapi.yaml', import.meta.url), 'utf8'));
const schemas: Record<string, Schema> = contract.components.schemas;

// allOf becomes one object, nullable a union, and an object takes no property that it does not name.
function strict(schema: Schema): Schema {
  if (schema.nullable) {
    const { nullable: _, ...rest } = schema;
    return { anyOf: [{ type: 'null' }, strict(rest)] };
  }
  if (schema.allOf?.length === 1) return strict(resolve(schema.allOf[0]));
  if (schema.allOf) {
    const parts: Schema[] = schema.allOf.map(resolve);
    return strict({ type: 'object', required: parts.flatMap((part) => part.required ?? []), properties: Object.assign({}, ...parts.map((part) => part.properties)) });
  }
  const out: Schema = { ...schema };
  delete out.example;
  if (out.properties) {
    out.properties = Object.fromEntries(Object.entries(out.properties as Schema).map(([key, value]) => [key, strict(value)]));
    out.additionalProperties ??= false;
  }
  if (out.items) out.items = strict(out.items);
  if (typeof out.additionalProperties === 'object') out.additionalProperties = strict(out.additionalProperties);
  return out;
}

function resolve(schema: Schema): Schema {
  if (schema.$ref) return resolve(schemas[schema.$ref.split('/').pop()]!);
  if (schema.allOf) {
    const parts: Schema[] = schema.allOf.map(resolve);
    return { ...schema, allOf: undefined, required: parts.flatMap((p) => p.required ?? []), properties: Object.assign({}, ...parts.map((p) => p.properties)) };
  }
  return schema;
}

const ajv = new Ajv({ strict: false, allErrors: true });
ajv.addSchema({ $id: 'api', components: { schemas: Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, strict(schema)])) } });
const local = (schema: Schema): Schema => JSON.parse(JSON.stringify(strict(schema)).replaceAll('"#/components/', '"api#/components/'));

const compiled = new Map<string, ReturnType<typeof ajv.compile>>();
function check(schema: Schema, value: unknown): void {
  const key = JSON.stringify(schema);
  const valid = compiled.get(key) ?? ajv.compile(local(schema));
  compiled.set(key, valid);
  if (!valid(JSON.parse(JSON.stringify(value)))) throw new Error(JSON.stringify(valid.errors?.slice(0, 5), null, 1));
}

const world = makeWorld({ jobs: 2000 });
const names = [...world.byName.keys()];
const some = (fits: (job: any) => boolean): string => world.jobs.find(fits).row.name;
const interesting = [names[0], some((j) => j.row.mode === 'off'), some((j) => j.row.trial), some((j) => j.row.memory.owner_limit === null),
  some((j) => j.row.ooms > 0), some((j) => j.row.last_seen < world.now)].map((name) => encodeURIComponent(name!));
const QUERIES: Record<string, string[]> = {
  '/api/v1/fleet/history': ['', `from=${world.now - 30 * 86400}&to=${world.now}&points=50`],
  '/api/v1/jobs': ['', 'search=shop+tier%3Dbatch&mode=auto&sort=name&order=asc&limit=20&offset=10', ...schemas.JobSort!.enum.map((s: string) => `sort=${s}&limit=5`)],
  '/api/v1/costs': ['', 'by=team&step=hour', 'by=%3Ajob&limit=2'],
  '/api/v1/totals': ['by=team', 'by=%3Atasks', 'by=tier&search=shop&mode=auto&limit=1'],
  '/api/v1/jobs/{job}/replicas': ['', `from=${world.now - 86400}&columns=20`],
  '/api/v1/jobs/{job}/usage': ['resource=cpu', `from=${world.now - 86400}&columns=50`],
  '/api/v1/jobs/{job}/whatif': ['resource=cpu', ''],
  '/api/v1/decisions': ['', 'resource=cpu&kind=set&limit=7', 'before=50'],
  '/api/v1/promises': [''],
  '/api/v1/capacity': ['', `from=${world.now - 30 * 86400}&resolution=86400`],
  '/api/v1/machines': ['', 'search=node&sort=memory_reclaimable&limit=5', 'source=kubernetes'],
};
const BODIES: Record<string, string[]> = {
  '/api/v1/jobs/{job}/whatif': ['{}', '{"recommender":"static"}', '{"recommender":"peak","peak_days":3,"days":7,"upper":1e12}'],
  '/api/v1/jobs/{job}/settings': ['{"mode":"observe"}', '{"mode":""}'],
  '/api/v1/budget-ledger': ['{"act":"grant","of":"retail","amount":"5.00","why":"a test"}'],
};

describe('the mock answers as the contract says', () => {
  for (const [path, operations] of Object.entries(contract.paths as Record<string, Schema>)) {
    for (const method of ['get', 'patch', 'post']) {
      const json = operations[method]?.responses?.['200']?.content?.['application/json'];
      if (!json) continue;
      it(`${method} ${path}`, () => {
        const paths = path.includes('{job}') ? interesting.map((job) => path.replace('{job}', job)) : [path.replace('{id}', '17').replace('{name}', 'node-001')];
        for (const one of paths) for (const query of QUERIES[path] ?? ['']) for (const body of BODIES[path] ?? ['']) {
          check(json.schema, answer(world, method.toUpperCase(), one, new URLSearchParams(query), method === 'get' ? '' : body));
        }
      });
    }
  }
  it('in an empty fleet', () => {
    const empty = makeWorld({ state: 'empty' });
    for (const [path, schema] of Object.entries({ fleet: 'Fleet', 'fleet/history': 'FleetHistory', jobs: 'JobPage', costs: 'CostPage', budgets: 'BudgetPage', businesses: 'BusinessPage', 'budget-ledger': 'BudgetLedger', decisions: 'DecisionPage', ooms: 'OomPage', status: 'Status', settings: 'Settings', agents: 'AgentPage', machines: 'MachinePage', promises: 'PromisePage', capacity: 'CapacityPage' })) {
      check({ $ref: `#/components/schemas/${schema}` }, answer(empty, 'GET', '/api/v1/' + path, new URLSearchParams()));
    }
  });
  it('with no agents, with many, and with what they say of limits', () => {
    for (const agents of [null, 0, 40]) {
      const some = makeWorld({ jobs: 50, agents, actuator: 'agents' });
      for (const [path, schema] of Object.entries({ agents: 'AgentPage', machines: 'MachinePage', status: 'Status', decisions: 'DecisionPage' })) {
        check({ $ref: `#/components/schemas/${schema}` }, answer(some, 'GET', '/api/v1/' + path, new URLSearchParams()));
      }
    }
  });
  it('of capacity that is not known', () => {
    const page = answer(makeWorld({ jobs: 50, agents: null }), 'GET', '/api/v1/capacity', new URLSearchParams());
    check({ $ref: '#/components/schemas/CapacityPage' }, page);
    expect(page.why).toContain('agents.listen');
  });
  it('while it reads history', () => check({ $ref: '#/components/schemas/Status' }, answer(makeWorld({ state: 'backfill' }), 'GET', '/api/v1/status', new URLSearchParams())));
  it('every kind of decision, with its reason', () => {
    for (let id = 1; id < 400; ++id) check({ $ref: '#/components/schemas/DecisionDetail' }, answer(world, 'GET', `/api/v1/decisions/${id}`, new URLSearchParams()));
  });
  it('refuses what is wrong', () => {
    const job = `/api/v1/jobs/${interesting[0]}`;
    const refused = (run: () => unknown): number => { try { run(); } catch (error) { return (error as { status: number }).status; } return 200; };
    expect(refused(() => answer(world, 'GET', '/api/v1/jobs/none', new URLSearchParams()))).toBe(404);
    expect(refused(() => answer(world, 'PATCH', `${job}/settings`, new URLSearchParams(), '{"mode":"on"}'))).toBe(400);
    expect(refused(() => answer(world, 'POST', `${job}/whatif`, new URLSearchParams(), '{"recommender":"x"}'))).toBe(400);
  });
});

describe('the pages’ types', () => {
  it('are those of the contract (npm run types)', () => expect(readFileSync(OUT, 'utf8')).toBe(generate()));
  it('have a row of the table for each resource', () => expect(RESOURCES).toEqual(schemas.Resource!.enum));
  it('say what may be absent, and what null', () => {
    const yaml = `components: {schemas: {A: {type: object, required: [a, d], properties: {a: {type: integer, nullable: true}, b-c: {type: array, items: {type: string, enum: [x, y]}},
      d: {allOf: [{$ref: '#/components/schemas/B'}], nullable: true}, e: {type: array, minItems: 2, maxItems: 2, items: {type: number}}}},
      B: {type: object, description: a map, additionalProperties: {type: boolean}}, C: {allOf: [{$ref: '#/components/schemas/A'}, {type: object, properties: {f: {}}}]}}}`;
    expect(generate(yaml).split('\n').slice(2).join('\n')).toBe(`export type A = { a: number | null; 'b-c'?: ('x' | 'y')[]; d: B | null; e?: [number, number] };
// a map
export type B = Record<string, boolean>;
export type C = A & { f?: unknown };
`);
  });
});
