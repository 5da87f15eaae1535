import * as contract from '@tidemill/contract';
import { ErrorCode, Refusal, type RouteName, routeGroups, routes, STREAM_PATH } from '@tidemill/contract';
import { z } from 'zod';
import { cookieName } from './caller-check.ts';
import { STATUS } from './reply.ts';

export type JsonSchema = Record<string, unknown>;

/** One input of a route, as people and programs are told of it. */
export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'body';
  isRequired: boolean;
  schema: JsonSchema;
}

/** Every noun of the contract under its own name, so that the document names it once and refers to it. */
const nouns = z.registry<{ id: string }>();
for (const [id, noun] of Object.entries(contract)) if (noun instanceof z.ZodType) nouns.add(noun, { id });

/** Nouns in the form they are answered in, and in the form they may be sent in, which has more that can be left out. */
type Side = 'output' | 'input';
const REFERENCE = { output: '#/components/schemas/', input: '#/components/schemas/Given' };

class Schemas {
  readonly named: Record<string, JsonSchema> = {};

  of(type: z.ZodType, side: Side): JsonSchema {
    const made = z.toJSONSchema(type, { io: side, metadata: nouns, unrepresentable: 'any', override: tidy(side) });
    const {
      $schema: _schema,
      $defs,
      ...own
    } = pointed(made, side) as JsonSchema & { $defs?: Record<string, JsonSchema> };
    const prefix = side === 'input' ? 'Given' : '';
    for (const [name, schema] of Object.entries($defs ?? {})) this.named[`${prefix}${name}`] = schema;
    return own;
  }
}

/** Answers may grow: whoever reads them must not rely on there being nothing else. */
const tidy =
  (side: Side) =>
  ({ jsonSchema }: { jsonSchema: JsonSchema }) => {
    if (side === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    delete jsonSchema.id;
  };

/** The same schema with its references led to the document's list of nouns. */
function pointed(value: unknown, side: Side): unknown {
  if (Array.isArray(value)) return value.map((each) => pointed(each, side));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      key,
      key === '$ref' && typeof part === 'string' ? part.replace('#/$defs/', REFERENCE[side]) : pointed(part, side),
    ]),
  );
}

/** What a route takes, in the order of its schema. */
export function parametersOf(name: RouteName, schemas = new Schemas()): Parameter[] {
  const { path, method, input } = routes[name];
  const inPath = new Set([...path.matchAll(/:(\w+)/g)].map(([, key]) => key));
  return Object.entries(input.shape as Record<string, z.ZodType>).map(([key, type]) => ({
    name: key,
    in: inPath.has(key) ? 'path' : method === 'GET' ? 'query' : 'body',
    isRequired: inPath.has(key) || !type.safeParse(undefined).success,
    schema: schemas.of(type, 'input'),
  }));
}

const openPath = (path: string) => path.replace(/:(\w+)/g, '{$1}');

function operationOf(name: RouteName, tag: string, schemas: Schemas): JsonSchema {
  const { method, summary, output, stream, role, page } = routes[name];
  const all = parametersOf(name, schemas);
  const parameters = all
    .filter((each) => each.in !== 'body')
    .map(({ name: key, in: place, isRequired, schema }) => ({
      name: key,
      in: place,
      required: isRequired,
      schema,
      // Lists travel as words with commas between them.
      ...(schema.type === 'array' ? { style: 'form', explode: false } : {}),
    }));
  const keyed = method === 'POST' ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : [];
  return {
    operationId: name,
    tags: [tag],
    summary,
    'x-role': role,
    ...(page ? { 'x-page': page } : {}),
    parameters: [...parameters, ...keyed],
    ...(method === 'GET' ? {} : { requestBody: bodyOf(all.filter((each) => each.in === 'body')) }),
    responses: {
      200: {
        description: stream ? 'One JSON object per line, for as long as there is something to tell' : 'The answer',
        ...(page ? { headers: { Link: { $ref: '#/components/headers/NextPage' } } } : {}),
        content: { [stream ? 'application/x-ndjson' : 'application/json']: { schema: schemas.of(output, 'output') } },
      },
      default: { $ref: '#/components/responses/Refused' },
    },
  };
}

function bodyOf(parameters: Parameter[]): JsonSchema {
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const schema = {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, schema: of }) => [name, of])),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
  return { required: required.length > 0, content: { 'application/json': { schema } } };
}

/** Addresses beside the table of routes: other formats, and the WebSocket. */
const EXTRA = {
  '/metrics': {
    get: {
      operationId: 'prometheus',
      tags: ['daemon'],
      summary: 'Figures for Prometheus',
      'x-role': 'viewer',
      responses: { 200: { description: 'The text format of Prometheus', content: { 'text/plain': {} } } },
    },
  },
  [STREAM_PATH]: {
    get: {
      operationId: 'stream',
      tags: ['records'],
      summary: 'Events and output, live',
      'x-role': 'viewer',
      responses: { 101: { description: 'A WebSocket; docs/api.md has its messages' } },
    },
  },
};

const SHARED = {
  parameters: {
    IdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description: 'A request that is sent again with the same key and body is not done again',
      schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,200}$' },
    },
  },
  headers: {
    NextPage: { description: 'Where the list goes on: <address>; rel="next"', schema: { type: 'string' } },
  },
  responses: {
    Refused: {
      description: 'What was wrong, and what would be right',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Refused' } } },
    },
  },
};

/** The whole API in OpenAPI's words, made from the table of routes. */
export function openApiDocument(url: string, port: number, version: string): JsonSchema {
  const schemas = new Schemas();
  const paths: Record<string, JsonSchema> = { ...EXTRA };
  for (const [tag, group] of Object.entries(routeGroups)) {
    for (const name of Object.keys(group) as RouteName[]) {
      const { path, method } = routes[name];
      const place = openPath(path);
      paths[place] = { ...paths[place], [method.toLowerCase()]: operationOf(name, tag, schemas) };
    }
  }
  const refused = schemas.of(z.object({ error: Refusal }), 'output');
  const statuses = Object.fromEntries(ErrorCode.options.map((code) => [code, STATUS[code] ?? 500]));
  return {
    openapi: '3.1.0',
    info: { title: 'Tidemill', version: version || 'unknown', description: 'Coding agents at work behind gates.' },
    servers: [{ url }],
    tags: Object.keys(routeGroups).map((name) => ({ name })),
    security: [{ token: [] }, { page: [] }],
    paths,
    components: {
      ...SHARED,
      schemas: { ...schemas.named, Refused: { ...refused, 'x-statuses': statuses } },
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A token of `tidemill token add`, or the daemon’s own' },
        page: { type: 'apiKey', in: 'cookie', name: cookieName(port), description: 'Set by opening the link' },
      },
    },
  };
}
