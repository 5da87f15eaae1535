import * as contract from '@tidemill/contract';
import { ErrorCode, Refusal, type RouteName, routeGroups, routes, STREAM_PATH } from '@tidemill/contract';
import { z } from 'zod';
import { cookieName } from './caller-check.ts';
import { STATUS } from './response.ts';

export type JsonSchema = Record<string, unknown>;

/** One documented input of a route. */
export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'body';
  isRequired: boolean;
  schema: JsonSchema;
}

/** Names of the contract's nouns, so that the document defines each once and refers to it. */
const nouns = z.registry<{ id: string }>();
for (const [id, noun] of Object.entries(contract)) if (noun instanceof z.ZodType) nouns.add(noun, { id });

/** Nouns in responses, and nouns in requests, which have more optional fields. */
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

/** Responses may get new fields, so readers must accept unknown ones. */
const tidy =
  (side: Side) =>
  ({ jsonSchema }: { jsonSchema: JsonSchema }) => {
    if (side === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    delete jsonSchema.id;
  };

/** The schema with its references pointing to the document's components. */
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

/** The inputs of a route, in the order of its schema. */
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
      // Lists are comma-separated.
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
        description: stream ? 'One JSON object per line' : 'The response',
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

/** Addresses outside the table of routes: other formats, and the WebSocket. */
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
      description: 'A repeated request with the same key and body takes effect once',
      schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,200}$' },
    },
  },
  headers: {
    NextPage: { description: 'The next page: <address>; rel="next"', schema: { type: 'string' } },
  },
  responses: {
    Refused: {
      description: 'The error, with a hint',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Refused' } } },
    },
  },
};

/** The API as an OpenAPI document, generated from the table of routes. */
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
    info: { title: 'Tidemill', version: version || 'unknown', description: 'Coding agents behind gates.' },
    servers: [{ url }],
    tags: Object.keys(routeGroups).map((name) => ({ name })),
    security: [{ token: [] }, { page: [] }],
    paths,
    components: {
      ...SHARED,
      schemas: { ...schemas.named, Refused: { ...refused, 'x-statuses': statuses } },
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: "A token from `tidemill token add`, or the daemon's own",
        },
        page: { type: 'apiKey', in: 'cookie', name: cookieName(port), description: 'Set when the link is opened' },
      },
    },
  };
}
