import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type RouteName, routeGroups, routes } from '@tidemill/contract';
import type { Listener } from './listener.ts';
import { escaped } from './message-page.ts';
import { type JsonSchema, openApiDocument, type Parameter, parametersOf } from './openapi.ts';
import { sendHtml } from './page.ts';
import { send } from './response.ts';

/** The API's own document: for programs at /openapi.json, for people at /docs. */
export function answerReference(
  request: IncomingMessage,
  response: ServerResponse,
  { pathname }: URL,
  door: Listener,
  version: string,
): void {
  const url = `${door.scheme}://${request.headers.host}`;
  if (pathname === '/docs') sendHtml(response, 200, referenceHtml(url), STYLE_HASH);
  else send(response, 200, openApiDocument(url, door.port, version));
}

const STYLE = `:root{color-scheme:light dark;--ink:#16282b;--soft:#54686b;--line:#d5dedf;--ground:#fbfcfc;--accent:#0b6e74}
@media(prefers-color-scheme:dark){:root{--ink:#e2ebec;--soft:#9fb2b5;--line:#2b3d40;--ground:#0f1a1c;--accent:#5cc4c9}}
*{box-sizing:border-box}body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground);max-width:60rem;margin:0 auto;padding:24px 16px 64px}
a{color:var(--accent)}h1{font-size:1.5rem}h2{font-size:1.15rem;margin:48px 0 8px;border-bottom:1px solid var(--line)}
nav{display:flex;flex-wrap:wrap;gap:4px 16px}code{overflow-wrap:anywhere}section{margin:0 0 32px;scroll-margin-top:16px}h3{font-size:1rem;margin:0;font-weight:600;overflow-wrap:anywhere}
code,pre{font:13px/1.5 ui-monospace,monospace}pre{white-space:pre-wrap;overflow-wrap:anywhere;padding:8px;border:1px solid var(--line);border-radius:4px;margin:8px 0}
.method{color:var(--accent);font-weight:700}.soft{color:var(--soft)}p{margin:4px 0}
table{table-layout:fixed;border-collapse:collapse;width:100%;margin:8px 0}th,td{text-align:left;vertical-align:top;padding:4px 12px 4px 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
th{font-weight:600;color:var(--soft);font-size:13px}`;
const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`;

function referenceHtml(url: string): string {
  const groups = Object.entries(routeGroups).map(
    ([group, table]) =>
      `<h2 id="about-${group}">${group}</h2>\n${(Object.keys(table) as RouteName[]).map((name) => routeHtml(name, url)).join('\n')}`,
  );
  const links = Object.keys(routeGroups).map((group) => `<a href="#about-${group}">${group}</a>`);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>API · Tidemill</title>
<link rel="icon" href="/favicon.svg">
<style>${STYLE}</style>
<main>
<h1>The API of this daemon</h1>
<p>Every request carries <code>Authorization: Bearer …</code>. Refusals are <code>{ "error": { "code", "message", "hint" } }</code>.
A POST may carry an <code>Idempotency-Key</code>. Lists go on where their <code>Link</code> header says.</p>
<p>For programs: <a href="/openapi.json">openapi.json</a>. Live events: a WebSocket at <code>/v1/stream</code>.</p>
<nav aria-label="Subjects">${links.join('')}</nav>
${groups.join('\n')}
</main>
</html>
`;
}

function routeHtml(name: RouteName, url: string): string {
  const { method, path, summary, role, stream } = routes[name];
  const parameters = parametersOf(name);
  return `<section id="${name}">
<h3><span class="method">${method}</span> <code>${escaped(path)}</code></h3>
<p>${escaped(summary)}.</p>
<p class="soft">Needs the role ${role}${stream ? '; streams lines' : ''}. In the client: <code>${name}</code></p>
${inputsHtml(parameters)}<pre>${escaped(exampleOf(name, parameters, url))}</pre>
</section>`;
}

function inputsHtml(parameters: Parameter[]): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(({ name, in: place, isRequired, schema }) => {
    const preset = schema.default === undefined ? '' : `, default ${JSON.stringify(schema.default)}`;
    const need = isRequired ? 'required' : `optional${preset}`;
    const cells = [`<code>${escaped(name)}</code>`, place, escaped(typeText(schema)), escaped(need)];
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  });
  const head = ['input', 'in', 'type', ''].map((title) => `<th scope="col">${title}</th>`).join('');
  return `<table><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table>\n`;
}

function typeText(schema: JsonSchema): string {
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' or ');
  if (typeof schema.$ref === 'string') return schema.$ref.replace(/^.*\/(Given)?/, '');
  const parts = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (parts) return [...new Set(parts.map(typeText))].join(' or ');
  if (schema.type === 'array') return `list of ${typeText((schema.items ?? {}) as JsonSchema)}`;
  const type = Array.isArray(schema.type) ? schema.type.join(' or ') : String(schema.type ?? 'anything');
  const limits = [
    schema.minimum === undefined ? '' : `from ${schema.minimum}`,
    schema.maximum === undefined ? '' : `to ${schema.maximum}`,
    schema.maxLength === undefined ? '' : `at most ${schema.maxLength} characters`,
  ].filter(Boolean);
  return [type, ...limits].join(' ');
}

/** To be pasted: the token comes from the reader's own shell. */
function exampleOf(name: RouteName, parameters: Parameter[], url: string): string {
  const { method, path } = routes[name];
  const address = `${url}${path.replace(/:(\w+)/g, (_, key: string) => key.toUpperCase())}`;
  const needed = parameters.filter(({ in: place, isRequired }) => place === 'body' && isRequired);
  const body = Object.fromEntries(needed.map(({ name: key, schema }) => [key, sampleOf(schema)]));
  const token = '-H "Authorization: Bearer $TIDEMILL_TOKEN"';
  if (method === 'GET') return `curl ${token} ${address}`;
  const json = `-H "content-type: application/json" -d '${JSON.stringify(body)}'`;
  return `curl -X ${method} ${token} \\\n  ${json} \\\n  ${address}`;
}

function sampleOf(schema: JsonSchema): unknown {
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (schema.type === 'array') return [];
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1;
  if (schema.type === 'boolean') return true;
  return schema.type === 'string' ? '…' : {};
}
