import { AppError } from '@tidemill/contract';
import { type Document, isCollection, isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
import { nearest } from './nearest.ts';

export type Path = (string | number)[];

interface Fault {
  line: number;
  text: string;
}

/** A YAML file and where each of its values stands, so that every complaint names file and line. */
export class YamlFile {
  readonly #name: string;
  readonly #doc: Document;
  readonly #lines: LineCounter;

  constructor(name: string, text: string) {
    this.#name = name;
    this.#lines = new LineCounter();
    this.#doc = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false });
    const faults = this.#doc.errors.map((error) => ({
      line: this.#lines.linePos(error.pos[0]).line,
      text: error.message,
    }));
    if (faults.length > 0) throw this.#error(faults);
  }

  /** `prepare` sees the content before the schema does. */
  parse<S extends z.ZodType>(schema: S, prepare: (content: unknown) => unknown = (content) => content): z.output<S> {
    const value: unknown = prepare(this.#value() ?? {});
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    throw this.#error(result.error.issues.flatMap((issue) => this.#faultsOf(issue, [], value, schema)));
  }

  /** Complaints found by other means than the schema. */
  refuse(faults: { path: Path; message: string }[]): void {
    if (faults.length === 0) return;
    throw this.#error(faults.map(({ path, message }) => ({ line: this.lineOf(path), text: message })));
  }

  /** The line of the value, or of the nearest thing around it that is there. */
  lineOf(path: Path): number {
    let offset = 0;
    let node: unknown = this.#doc.contents;
    for (const key of path) {
      if (isMap(node)) {
        const pair = node.items.find((item) => isScalar(item.key) && item.key.value === key);
        if (!pair || !isNode(pair.key)) break;
        offset = pair.key.range?.[0] ?? offset;
        node = pair.value;
      } else if (isCollection(node)) {
        node = node.get(key, true);
        if (!isNode(node)) break;
        offset = node.range?.[0] ?? offset;
      } else break;
    }
    return this.#lines.linePos(offset).line;
  }

  #value(): unknown {
    try {
      return this.#doc.toJS();
    } catch (cause) {
      // An alias that leads nowhere, or one that would unfold into gigabytes.
      throw this.#error([{ line: 1, text: cause instanceof Error ? cause.message : String(cause) }]);
    }
  }

  #faultsOf(issue: z.core.$ZodIssue, prefix: Path, value: unknown, schema: z.ZodType): Fault[] {
    const path = [...prefix, ...(issue.path as Path)];
    const found = valueAt(value, path);
    switch (issue.code) {
      case 'unrecognized_keys':
        return issue.keys.map((key) => {
          const known = keysAt(schema, path);
          const guess = nearest(key, known);
          const advice = guess ? `did you mean "${guess}"?` : `the keys here are ${known.join(', ')}`;
          return { line: this.lineOf([...path, key]), text: `unknown key "${key}"${where(path)}; ${advice}` };
        });
      case 'invalid_union': {
        const branch = likelyBranch(issue.errors, found);
        if (branch) return branch.flatMap((inner) => this.#faultsOf(inner, path, value, schema));
        // With a discriminator the path ends at that key, without one at the mapping that holds it.
        const owner = issue.errors.length === 0 ? path.slice(0, -1) : path;
        const allowed = optionsAt(schema, owner);
        const choice = allowed ? `${allowed.key} must be one of ${allowed.values.join(', ')}` : issue.message;
        return [{ line: this.lineOf(path), text: `${nameOf(owner)}: ${choice}` }];
      }
      case 'invalid_type': {
        const text = found === undefined ? 'is missing' : `must be ${article(issue.expected)}, not ${show(found)}`;
        return [{ line: this.lineOf(path), text: `${nameOf(path)} ${text}` }];
      }
      case 'invalid_value':
        return [
          {
            line: this.lineOf(path),
            text: `${nameOf(path)} must be one of ${issue.values.join(', ')}, not ${show(found)}`,
          },
        ];
      default:
        return [{ line: this.lineOf(path), text: `${nameOf(path)}: ${issue.message}` }];
    }
  }

  #error(faults: Fault[]): AppError {
    const lines = [...new Set(faults.map(({ line, text }) => `${this.#name}:${line}: ${text}`))];
    return new AppError('bad_config', lines.join('\n'), { hint: `Correct ${this.#name} and try again.` });
  }
}

const where = (path: Path) => (path.length > 0 ? ` in ${nameOf(path)}` : '');
const nameOf = (path: Path) =>
  path.length === 0
    ? 'the file'
    : path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index > 0 ? `.${part}` : part)).join('');
const article = (type: string) =>
  ({ array: 'a list', object: 'a mapping', record: 'a mapping', int: 'a whole number' })[type] ?? `a ${type}`;
const show = (value: unknown) => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
};

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>)[key] : undefined),
    value,
  );
}

/** The alternative whose fixed values (`type`, `actor`, `does`) the person chose; complaints about the others are noise. */
function likelyBranch(branches: z.core.$ZodIssue[][], found: unknown): z.core.$ZodIssue[] | null {
  const chosen = branches.filter(
    (issues) =>
      issues.length > 0 && !issues.some((issue) => issue.code === 'invalid_value' && issue.values.length === 1),
  );
  if (typeof found !== 'object' || found === null) return null;
  return chosen.sort((a, b) => a.length - b.length)[0] ?? null;
}

/** Follows a path through a schema, seeing through defaults and refinements; a union goes on as all its alternatives. */
function schemasAt(schema: z.ZodType, path: Path): z.ZodType[] {
  const def = schema.def as unknown as {
    type: string;
    innerType?: z.ZodType;
    in?: z.ZodType;
    options?: z.ZodType[];
    shape?: Record<string, z.ZodType>;
    valueType?: z.ZodType;
    element?: z.ZodType;
  };
  if (def.innerType) return schemasAt(def.innerType, path);
  if (def.in) return schemasAt(def.in, path);
  if (path.length === 0) return [schema];
  if (def.options) return def.options.flatMap((option) => schemasAt(option, path));
  const [key, ...rest] = path;
  const next = def.shape?.[String(key)] ?? def.valueType ?? def.element;
  return next ? schemasAt(next, rest) : [];
}

function keysAt(schema: z.ZodType, path: Path): string[] {
  const shapes = schemasAt(schema, path).flatMap((found) => {
    const def = found.def as unknown as { options?: z.ZodType[] };
    return def.options ?? [found];
  });
  return [...new Set(shapes.flatMap((found) => Object.keys((found.def as unknown as { shape?: object }).shape ?? {})))];
}

/** For a union: the first key that tells its alternatives apart, and the values it may have. */
function optionsAt(schema: z.ZodType, path: Path): { key: string; values: string[] } | null {
  for (const found of schemasAt(schema, path)) {
    const options = (found.def as unknown as { options?: z.ZodType[] }).options ?? [];
    const values = options.flatMap((option) => {
      const shape = (option.def as unknown as { shape?: Record<string, z.ZodType> }).shape ?? {};
      const [key, literal] = Object.entries(shape)[0] ?? [];
      return literal?.def.type === 'literal'
        ? [[key, String((literal.def as unknown as { values: string[] }).values[0])]]
        : [];
    });
    if (values.length > 0) {
      return { key: String(values[0]?.[0]), values: [...new Set(values.map(([, value]) => String(value)))] };
    }
  }
  return null;
}
