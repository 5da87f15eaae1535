import { oneLine, type Terminal, table } from './terminal.ts';

const isPlain = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);

/** Any response as lines: a list as a table of its plain fields, a record as one line per field. */
export function linesOf(output: unknown, { width }: Pick<Terminal, 'width'>): string[] {
  if (Array.isArray(output)) return output.length === 0 ? ['There is nothing to show.'] : tableOf(output, width);
  if (typeof output !== 'object' || output === null) return [oneLine(String(output))];
  const rows = Object.entries(output).filter(([, value]) => isPlain(value));
  return table(
    rows.map(([key, value]) => [key, oneLine(String(value))]),
    width,
  );
}

function tableOf(rows: unknown[], width: number): string[] {
  const [first] = rows;
  if (typeof first !== 'object' || first === null) return rows.map((row) => oneLine(String(row)));
  const columns = Object.entries(first)
    .filter(([, value]) => isPlain(value))
    .map(([key]) => key);
  const cells = rows.map((row) => columns.map((key) => oneLine(String((row as Record<string, unknown>)[key] ?? ''))));
  return table([columns, ...cells], width);
}
