import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ErrorCode, type RouteName, routes } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, ServedDaemon } from '../../../../test/support/served-daemon.ts';

let served: ServedDaemon;
beforeAll(async () => {
  served = await ServedDaemon.start();
});
afterAll(() => served.close());

const NAMES = Object.keys(routes) as RouteName[];
const placeOf = (name: RouteName) => routes[name].path.replace(/:(\w+)/g, '{$1}');

interface Operation {
  operationId: string;
  'x-role': string;
  parameters: { $ref?: string; name: string; in: string; required: boolean; schema: unknown }[];
  requestBody?: { required: boolean; content: Record<string, { schema: { required?: string[]; properties: object } }> };
  responses: Record<string, { content?: Record<string, unknown> }>;
}

function everyRef(value: unknown, found: string[] = []): string[] {
  if (typeof value !== 'object' || value === null) return found;
  for (const [key, part] of Object.entries(value)) {
    if (key === '$ref' && typeof part === 'string') found.push(part);
    else everyRef(part, found);
  }
  return found;
}

describe('openapi.json', () => {
  test('holds every route with its role, parameters, body, answer and refusals; every reference leads somewhere', async () => {
    const answer = await served.ask('/openapi.json');
    expect(answer.status).toBe(200);
    const document = JSON.parse(answer.text);
    expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url: served.url }] });
    for (const name of NAMES) {
      const { method, role, stream, path } = routes[name];
      const operation: Operation = document.paths[placeOf(name)][method.toLowerCase()];
      expect(operation).toMatchObject({ operationId: name, 'x-role': role });
      const declared = operation.parameters.filter(({ in: place }) => place === 'path').map((each) => each.name);
      expect(declared.sort()).toEqual([...path.matchAll(/:(\w+)/g)].map(([, key]) => key).sort());
      for (const each of operation.parameters) if (each.in === 'path') expect(each.required).toBe(true);
      expect(operation.requestBody !== undefined).toBe(method !== 'GET');
      expect(operation.parameters.some(({ $ref }) => $ref?.endsWith('/IdempotencyKey') ?? false)).toBe(
        method === 'POST',
      );
      const type = stream ? 'application/x-ndjson' : 'application/json';
      expect(Object.keys(operation.responses['200']!.content!)).toEqual([type]);
      expect(operation.responses.default).toBeDefined();
    }
    const ids = Object.values(document.paths as Record<string, Record<string, Operation>>).flatMap((place) =>
      Object.values(place).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
    const refs = everyRef(document);
    expect(refs.length).toBeGreaterThan(50);
    const at = (ref: string) =>
      ref
        .slice(2)
        .split('/')
        .reduce<Record<string, unknown>>((place, key) => (place?.[key] ?? null) as Record<string, unknown>, document);
    for (const ref of refs)
      expect({ ref, there: ref.startsWith('#/') && at(ref) !== null }).toEqual({ ref, there: true });
    expect(Object.keys(document.components.schemas.Refused['x-statuses'])).toEqual(ErrorCode.options);
    expect(answer.text).not.toContain(served.token);
  });

  test('a body is required exactly when one of its fields is, and names those', async () => {
    const document = JSON.parse((await served.ask('/openapi.json')).text);
    const counted = { required: 0, optional: 0 };
    for (const name of NAMES) {
      const { method, path, input } = routes[name];
      if (method === 'GET') continue;
      const fields = Object.entries(input.shape as Record<string, { safeParse(value: unknown): { success: boolean } }>);
      const inBody = fields.filter(([key]) => !path.split('/').includes(`:${key}`));
      const needed = inBody.filter(([, type]) => !type.safeParse(undefined).success).map(([key]) => key);
      const { requestBody }: Operation = document.paths[placeOf(name)][method.toLowerCase()];
      const { schema } = requestBody!.content['application/json']!;
      expect({ name, isRequired: requestBody!.required, needed: schema.required ?? [] }).toEqual({
        ...{ name, isRequired: needed.length > 0, needed },
      });
      expect(Object.keys(schema.properties)).toEqual(inBody.map(([key]) => key));
      counted[needed.length > 0 ? 'required' : 'optional'] += 1;
    }
    expect(counted.required).toBeGreaterThan(0);
    expect(counted.optional).toBeGreaterThan(0);
  });

  test('and the readable page need a token; the page has no script and a strict policy', async () => {
    for (const path of ['/openapi.json', '/docs']) expect((await ask(served.url, path)).status).toBe(401);
    const { status, headers, text } = await served.ask('/docs');
    expect(status).toBe(200);
    expect(headers['content-security-policy']).toMatch(/default-src 'self'; style-src 'sha256-/);
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(text).not.toMatch(/<script|\son\w+=|style="/);
    expect(text).not.toContain(served.token);
    for (const name of NAMES) expect(text).toContain(`<section id="${name}">`);
  });
});

describe('docs/api.md', () => {
  test('has a table of other names that leads to routes that exist', () => {
    const text = readFileSync(join(import.meta.dirname, '../../../../docs/api.md'), 'utf8');
    const rows = text.split('\n').filter((line) => line.startsWith('| `') || line.startsWith('| ('));
    const named = rows.flatMap((row) => [
      ...row
        .split('|')
        .slice(2)
        .join(' ')
        .matchAll(/`(GET|POST|PUT) ([^`?]+)/g),
    ]);
    expect(named.length).toBeGreaterThan(12);
    const known = NAMES.map((name) => `${routes[name].method} ${routes[name].path}`);
    for (const [, method, path] of named) expect(known).toContain(`${method} ${path!.trim()}`);
  });
});
