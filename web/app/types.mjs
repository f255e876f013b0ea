// Writes src/api/schema.ts, the types of the API, from src/server/api/openapi.yaml:  node types.mjs
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const CONTRACT = new URL('../../src/server/api/openapi.yaml', import.meta.url);
export const OUT = new URL('src/api/schema.ts', import.meta.url);
const WIDTH = 160;

const nameOf = (ref) => ref.split('/').pop();
const key = (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`);
const grouped = (type) => (/[|&]/.test(type) && !/^[{(].*[})]$/.test(type) ? `(${type})` : type);

function objectOf(schema) {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {}).map(([name, of]) => `${key(name)}${required.has(name) ? '' : '?'}: ${typeOf(of)}`);
  const extra = typeof schema.additionalProperties === 'object' ? `Record<string, ${typeOf(schema.additionalProperties)}>` : '';
  if (fields.length === 0) return extra || 'Record<string, unknown>';
  // The type of further fields would have to be that of the named ones, too.
  return `{ ${fields.join('; ')} }${extra && ' & Record<string, unknown>'}`;
}

function bare(schema) {
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.enum) return schema.enum.map((value) => (typeof value === 'string' ? `'${value}'` : String(value))).join(' | ');
  if (schema.allOf) {
    const own = schema.properties ? [objectOf(schema)] : [];
    return [...schema.allOf.map((part) => grouped(typeOf(part))), ...own].join(' & ');
  }
  if (schema.oneOf ?? schema.anyOf) return (schema.oneOf ?? schema.anyOf).map(typeOf).join(' | ');
  switch (schema.type) {
    case 'array': {
      const item = schema.items ? grouped(typeOf(schema.items)) : 'unknown';
      // As many as there must be: a tuple.
      return schema.minItems > 0 && schema.minItems === schema.maxItems ? `[${Array(schema.minItems).fill(item).join(', ')}]` : `${item}[]`;
    }
    case 'integer': case 'number': return 'number';
    case 'string': case 'boolean': return schema.type;
    case 'object': return objectOf(schema);
    default: return schema.properties ? objectOf(schema) : 'unknown';
  }
}

function typeOf(schema) {
  const type = bare(schema);
  return schema.nullable ? `${type} | null` : type;
}

// A line of fields is broken where it is too long.
function wrapped(text) {
  if (text.length <= WIDTH) return text;
  const lines = [];
  let line = '';
  for (const word of text.split(/(?<=[;|&,]) /)) {
    if (line && line.length + 1 + word.length > WIDTH) { lines.push(line); line = '  ' + word; } else line = line ? `${line} ${word}` : word;
  }
  return [...lines, line].join('\n');
}

const comment = (schema) => (schema.description ? schema.description.trim().split('\n').map((line) => `// ${line.trim()}\n`).join('') : '');

export function generate(yaml = readFileSync(CONTRACT, 'utf8')) {
  const { schemas } = parse(yaml).components;
  const types = Object.entries(schemas).map(([name, schema]) => `${comment(schema)}${wrapped(`export type ${name} = ${typeOf(schema)};`)}\n`);
  return `// Made from src/server/api/openapi.yaml by types.mjs (npm run types).\n\n${types.join('')}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(OUT, generate());
