import { type RouteName, routes } from '@tidemill/contract';

/** The Link header to the next page; null on the last page and for other routes. */
export function nextLink(name: RouteName, input: Record<string, unknown>, url: URL, page: unknown): string | null {
  const { page: paging, input: schema } = routes[name];
  if (!paging || !Array.isArray(page) || !('limit' in schema.shape)) return null;
  if (page.length !== schema.shape.limit.parse(input.limit)) return null;
  const query = new URLSearchParams(url.search);
  query.set(paging.cursor, String(page.at(-1)[paging.field]));
  return `<${url.pathname}?${query}>; rel="next"`;
}
