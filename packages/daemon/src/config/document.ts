import { AppError, otherNamesOf, unknownKeyText } from '@tidemill/contract';
import { type Document, isCollection, isMap, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import type { z } from 'zod';

export type Path = (string | number)[];

export interface Fault {
  line: number;
  text: string;
}

/** A file that is not a config may have thousands of errors. */
const MOST_FAULTS = 100;

/** An invalid file with all its errors. */
export class BadFile extends AppError {
  readonly faults: Fault[];

  constructor(name: string, faults: Fault[]) {
    const lines = faults.map(({ line, text }) => `${name}:${line}: ${text}`);
    super('bad_config', lines.join('\n'), { hint: `Fix ${name} and try again.` });
    this.faults = faults;
  }
}

/** A YAML file with the position of each value, so that every error names file and line. */
export class YamlFile {
  readonly #name: string;
  readonly #doc: Document;
  readonly #lines: LineCounter;

  constructor(name: string, text: string) {
    this.#name = name;
    this.#lines = new LineCounter();
    try {
      // Duplicate keys are found below: the library compares all pairs, which takes seconds for many keys.
      this.#doc = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false, uniqueKeys: false });
      const faults = this.#doc.errors.map((error) => ({ at: error.pos[0], text: error.message }));
      this.#refuse([...faults, ...keysTwice(this.#doc)].map(({ at, text }) => ({ line: this.#lineAt(at), text })));
    } catch (cause) {
      if (!(cause instanceof RangeError)) throw cause;
      throw new BadFile(name, [{ line: 1, text: 'the file is nested too deeply' }]);
    }
  }

  /** `prepare` sees the content before the schema does. */
  parse<S extends z.ZodType>(schema: S, prepare: (content: unknown) => unknown = (content) => content): z.output<S> {
    const value: unknown = prepare(this.content());
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    throw new BadFile(this.#name, this.faultsOf(result.error, value, schema));
  }

  /** The schema errors of a value in this file. */
  faultsOf(error: z.ZodError, value: unknown, schema: z.ZodType): Fault[] {
    return distinct(error.issues.slice(0, MOST_FAULTS).flatMap((issue) => this.#faultsOf(issue, [], value, schema)));
  }

  /** Throws errors that were not found by the schema. */
  refuse(faults: { path: Path; message: string }[]): void {
    this.#refuse(this.located(faults));
  }

  located(faults: { path: Path; message: string }[]): Fault[] {
    return faults.map(({ path, message }) => ({ line: this.lineOf(path), text: message }));
  }

  /** The file's content; {} for an empty file. */
  content(): unknown {
    try {
      return this.#doc.toJS() ?? {};
    } catch (cause) {
      // An unresolved alias, or one that would expand to gigabytes.
      throw new BadFile(this.#name, [{ line: 1, text: cause instanceof Error ? cause.message : String(cause) }]);
    }
  }

  /** The line of the value, or of its nearest existing parent. */
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
    return this.#lineAt(offset);
  }

  #lineAt(offset: number): number {
    return this.#lines.linePos(offset).line;
  }

  #faultsOf(issue: z.core.$ZodIssue, prefix: Path, value: unknown, schema: z.ZodType): Fault[] {
    const path = [...prefix, ...(issue.path as Path)];
    const found = valueAt(value, path);
    switch (issue.code) {
      case 'unrecognized_keys':
        return issue.keys.slice(0, MOST_FAULTS).map((key) => {
          // The key may be valid in another alternative of the union, so it is not suggested itself.
          const otherNames = Object.assign({}, ...schemasAt(schema, path).map(otherNamesOf));
          const text = unknownKeyText(key, keysAt(schema, path), otherNames, where(path));
          return { line: this.lineOf([...path, key]), text };
        });
      case 'invalid_union': {
        const branch = likelyBranch(issue.errors, found);
        if (branch) return branch.flatMap((inner) => this.#faultsOf(inner, path, value, schema));
        // With a discriminator the path ends at that key, otherwise at its mapping.
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

  #refuse(faults: Fault[]): void {
    if (faults.length > 0) throw new BadFile(this.#name, distinct(faults));
  }
}

function keysTwice(doc: Document): { at: number; text: string }[] {
  const found: { at: number; text: string }[] = [];
  visit(doc, {
    Map: (_, { items }) => {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) found.push({ at: key.range?.[0] ?? 0, text: `duplicate key ${show(key.value)}` });
        seen.add(key.value);
      }
    },
  });
  return found;
}

/** Removes duplicate errors. */
function distinct(faults: Fault[]): Fault[] {
  const byText = new Map(faults.map((fault) => [`${fault.line} ${fault.text}`, fault]));
  return [...byText.values()].slice(0, MOST_FAULTS);
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

/** The alternative whose fixed values (`type`, `actor`, `does`) match. Errors of the others do not help. */
function likelyBranch(branches: z.core.$ZodIssue[][], found: unknown): z.core.$ZodIssue[] | null {
  const chosen = branches.filter(
    (issues) =>
      issues.length > 0 && !issues.some((issue) => issue.code === 'invalid_value' && issue.values.length === 1),
  );
  if (typeof found !== 'object' || found === null) return null;
  return chosen.sort((a, b) => a.length - b.length)[0] ?? null;
}

/** The schemas at a path. Unwraps defaults and refinements, and follows all alternatives of a union. */
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

/** For a union: the key that distinguishes its alternatives, and its allowed values. */
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
