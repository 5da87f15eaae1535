import { readFile } from 'node:fs/promises';
import { join, matchesGlob } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { CONFIG_FILE } from './check.ts';

/** How a repository formats its YAML files. */
export interface FileStyle {
  /** Spaces per level. */
  indent: number;
  /** Columns of a line with a comment. */
  width: number;
  singleQuote: boolean;
  /** Long texts are folded at the width. */
  folds: boolean;
  crlf: boolean;
}

export const USUAL_STYLE: FileStyle = { indent: 2, width: 80, singleQuote: false, folds: false, crlf: false };

const Options = z.object({
  tabWidth: z.int().min(1).max(16).optional().catch(undefined),
  printWidth: z.int().min(20).max(1000).optional().catch(undefined),
  singleQuote: z.boolean().optional().catch(undefined),
  proseWrap: z.string().optional().catch(undefined),
  endOfLine: z.string().optional().catch(undefined),
});
type Options = z.infer<typeof Options>;

const Names = z.union([z.string().transform((one) => [one]), z.array(z.string())]);
const PrettierFile = Options.extend({
  overrides: z
    .array(z.object({ files: Names, excludeFiles: Names.default([]), options: Options.default({}) }))
    .catch([])
    .default([]),
});

/**
 * Reads the settings of Prettier and EditorConfig for Tidemill's own file, so that the repository's checks accept it. A
 * settings file that is a program is only read, never run: it is the repository's code.
 */
export async function styleOf(root: string): Promise<FileStyle> {
  const read = (name: string) => readFile(join(root, name), 'utf8').catch(() => '');
  const lines = fromEditorConfig(await read('.editorconfig'));
  const chosen = (await fromPrettier(read)) ?? (await fromLinter(read));
  const options = { ...lines, ...defined(chosen) };
  return {
    indent: options.tabWidth ?? USUAL_STYLE.indent,
    width: Math.min(Math.max(options.printWidth ?? USUAL_STYLE.width, 40), 120),
    singleQuote: options.singleQuote ?? false,
    folds: options.proseWrap === 'always',
    crlf: options.endOfLine === 'crlf',
  };
}

const defined = (options: Options): Options =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));

const DATA = ['.prettierrc', '.prettierrc.json', '.prettierrc.yaml', '.prettierrc.yml', '.prettierrc.json5'];
const ENDINGS = ['js', 'mjs', 'cjs', 'ts', 'mts', 'cts'];
const PROGRAMS = [
  ...ENDINGS.map((ending) => `.prettierrc.${ending}`),
  ...ENDINGS.map((ending) => `prettier.config.${ending}`),
  '.prettierrc.toml',
];

type Read = (name: string) => Promise<string>;

/** The first file counts, in Prettier's order. Null: Prettier has no settings here. */
async function fromPrettier(read: Read): Promise<Options | null> {
  const manifest = z.object({ prettier: PrettierFile }).safeParse(parsed(await read('package.json')));
  if (manifest.success) return forOwnFile(manifest.data.prettier);
  for (const name of DATA) {
    const file = PrettierFile.safeParse(parsed(await read(name)));
    if (file.success) return forOwnFile(file.data);
  }
  for (const name of PROGRAMS) {
    const text = await read(name);
    if (text !== '') return fromProgram(text);
  }
  return null;
}

/** JSON is YAML, too. */
function parsed(text: string): unknown {
  try {
    return parse(text, { logLevel: 'silent' });
  } catch {
    // Prettier says itself that its file is broken.
    return null;
  }
}

function forOwnFile({ overrides, ...options }: z.infer<typeof PrettierFile>): Options {
  const own = overrides.filter(({ files, excludeFiles }) => files.some(isOwn) && !excludeFiles.some(isOwn));
  return Object.assign({}, options, ...own.map((each) => defined(each.options)));
}

/** A pattern without a slash is for the name of a file. */
const isOwn = (pattern: string) => {
  const plain = pattern.replace(/^\.?\//, '');
  // The library treats a leading dot as hidden.
  const path = CONFIG_FILE.replace(/^\./, '');
  return matchesGlob(path, plain.replace(/^\./, '')) || matchesGlob(path, `**/${plain}`);
};

/** The plain values of a program or of TOML. Values of single files are left out with all that follows. */
function fromProgram(text: string): Options {
  const [common = ''] = text.split(/\boverrides\b/);
  const value = (key: string) =>
    new RegExp(`^[^\\n/#]*?\\b["']?${key}["']?\\s*[:=]\\s*["']?([\\w-]+)`, 'm').exec(common)?.[1];
  const number = (key: string) => (value(key) ? Number(value(key)) : undefined);
  return Options.parse({
    tabWidth: number('tabWidth'),
    printWidth: number('printWidth'),
    singleQuote: value('singleQuote') === undefined ? undefined : value('singleQuote') === 'true',
    proseWrap: value('proseWrap'),
    endOfLine: value('endOfLine'),
  });
}

/** A shared ESLint configuration that checks YAML, too, and wants single quotes. */
async function fromLinter(read: Read): Promise<Options> {
  return (await read('package.json')).includes('"@antfu/eslint-config"') ? { singleQuote: true } : {};
}

function fromEditorConfig(text: string): Options {
  const found: Record<string, string> = {};
  let applies = false;
  for (const line of text.split(/\r?\n/)) {
    const heading = /^\s*\[(.+)\]\s*$/.exec(line)?.[1];
    if (heading !== undefined) applies = isOwn(heading);
    const [, key, value] = /^\s*([\w-]+)\s*[=:]\s*([^#;]+?)\s*$/.exec(line) ?? [];
    if (heading === undefined && applies && key && value) found[key.toLowerCase()] = value.toLowerCase();
  }
  const size = found.indent_size === 'tab' ? found.tab_width : (found.indent_size ?? found.tab_width);
  const number = (value: string | undefined) => (value === undefined ? undefined : Number(value));
  return defined(
    Options.parse({
      tabWidth: number(size),
      printWidth: number(found.max_line_length),
      endOfLine: found.end_of_line,
    }),
  );
}
