import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { AppError, CATEGORIES, CategorySlug } from '@tidemill/contract';
import { z } from 'zod';
import { YamlFile } from '../config/document.ts';
import { CATEGORY_PLACEHOLDERS, type CategoryText, type CategoryValues } from '../ports.ts';
import { checkedUses, fillTemplate } from './template.ts';

/** A project's own texts. */
const CATEGORY_FOLDER = '.tidemill/categories';

const Head = z.strictObject({
  name: z.string().trim().min(1).max(60),
  enabled: z.boolean().default(true),
});
/** A project's own file may only switch the category: then it needs no name and no text. */
const OwnHead = Head.partial({ name: true });

interface Folders {
  root: string;
  /** The folder of the built-in texts. */
  builtinDir: string;
}

/** All categories. A file that is missing or broken takes its category out of use, and nothing else. */
export async function loadCategories(folders: Folders): Promise<CategoryText[]> {
  const own = (await readdir(path.join(folders.root, CATEGORY_FOLDER)).catch(() => [])) // most projects have none
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.slice(0, -3))
    .sort();
  const slugs = [...CATEGORIES, ...own.filter((slug) => !(CATEGORIES as readonly string[]).includes(slug))];
  return Promise.all(slugs.map((slug) => load(slug, own.includes(slug), folders)));
}

/** What is wrong with the texts, each with file and line. */
export const categoryFaults = async (folders: Folders): Promise<string[]> =>
  (await loadCategories(folders)).flatMap(({ slug, fault }) =>
    fault === null ? [] : [`the loop does not use the category ${slug}: ${fault}`],
  );

async function load(slug: string, isOwn: boolean, { root, builtinDir }: Folders): Promise<CategoryText> {
  const ownFile = `${CATEGORY_FOLDER}/${slug}.md`;
  try {
    const valid = CategorySlug.safeParse(slug);
    if (!valid.success) throw new AppError('bad_config', `${ownFile}: ${valid.error.issues[0]?.message}`);
    const own = isOwn ? parted(await readFile(path.join(root, ownFile), 'utf8'), ownFile, OwnHead) : null;
    const builtin = await builtinOf(slug, builtinDir, own !== null);
    const name = own?.head.name ?? builtin?.head.name ?? slug;
    const isOff = !(own?.head.enabled ?? true);
    const source = own && own.body.trim() !== '' ? own : builtin;
    if (isOff) return { slug, name, isOff, fault: null, fill: () => '' };
    if (!source) throw new AppError('bad_config', `${ownFile} has no text below its head`);
    checkedUses(source.body, source.firstLine, source.file, CATEGORY_PLACEHOLDERS);
    return { slug, name, isOff, fault: null, fill: (values: CategoryValues) => fillTemplate(source, values).trim() };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!(error instanceof AppError) && code === undefined) throw error;
    return { slug, name: slug, isOff: false, fault: message, fill: () => '' };
  }
}

async function builtinOf(slug: string, builtinDir: string, isOptional: boolean) {
  const file = path.join(builtinDir, `${slug}.md`);
  try {
    return parted(await readFile(file, 'utf8'), file, Head);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    if (isOptional) return null;
    throw new AppError('bad_config', `${file} is missing`, { hint: 'Reinstall Tidemill.', cause: error });
  }
}

function parted<H extends z.ZodType>(text: string, file: string, schema: H) {
  const whole = text.replaceAll('\r\n', '\n');
  const match = /^---\n([\s\S]*?\n)?---(?:\n|$)/.exec(whole);
  // The empty line replaces the first ---, so that errors have the file's line numbers.
  const head = new YamlFile(file, `\n${match?.[1] ?? ''}`).parse(schema, (content) => content ?? {});
  const body = whole.slice(match?.[0].length ?? 0);
  return { file, head: head as z.output<H>, body, firstLine: (match?.[0] ?? '').split('\n').length };
}
