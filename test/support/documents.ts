import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export const checkout = resolve(import.meta.dirname, '../..');

/** The README and the pages it links to, by path. */
export function readDocuments(): Map<string, string> {
  const pages = readdirSync(join(checkout, 'docs')).filter((name) => name.endsWith('.md'));
  const paths = ['README.md', 'AGENTS.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...pages.map((name) => `docs/${name}`)];
  return new Map(paths.map((path) => [path, readFileSync(join(checkout, path), 'utf8')]));
}

/** The code blocks that follow a mark such as `<!-- tour -->`, in order. */
export function marked(text: string, mark: string): string[] {
  return [...text.matchAll(new RegExp(`<!-- ${mark} -->\n\`\`\`\\w+\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, code]) => code!,
  );
}

const FENCED = /^```[\s\S]*?^```/gm;

/** Inline code, each on one line. */
export const codeSpans = (text: string): string[] =>
  [...text.replace(FENCED, '').matchAll(/`([^`]+)`/g)].map(([, code]) => code!.replace(/\s+/g, ' '));

/** Calls of the program: in inline code, and as lines of shell blocks. */
export function callsIn(text: string): string[] {
  const lines = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, block]) => block!.split('\n'));
  return [...codeSpans(text), ...lines].filter((code) => /^tidemill [a-z]/.test(code));
}

/** Broken links: to a missing file or a missing heading. */
export function deadLinks(path: string, text: string): string[] {
  const links = [...text.replace(FENCED, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, to]) => to!);
  return links.filter((link) => {
    if (/^https?:/.test(link)) return false;
    const [file = '', heading] = link.split('#');
    const target = file === '' ? path : join(dirname(path), file);
    if (!existsSync(join(checkout, target))) return true;
    return heading !== undefined && !headingsOf(readFileSync(join(checkout, target), 'utf8')).includes(heading);
  });
}

/** The anchor of a heading on the rendered page. */
const headingsOf = (text: string): string[] =>
  [...text.replace(FENCED, '').matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
