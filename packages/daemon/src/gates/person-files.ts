/**
 * Files that a program on a person's machine acts on by itself: an editor that opens the folder, an agent that is started
 * in it, or git. Anyone who can change one of them runs commands as that person, so a person changes them. What the
 * project's own commands run (package scripts, `.husky`, Makefiles) is code like any other: it is reviewed, and it does not
 * run before somebody calls it.
 */

/** Agents keep hooks, tool servers, plugins and permissions there, and texts, which are harmless as long as they are that. */
const AGENT_FOLDERS = new Set([
  '.claude',
  '.claude-plugin',
  '.codex',
  '.gemini',
  '.opencode',
  '.cursor',
  '.qwen',
  '.windsurf',
  '.kiro',
  '.amazonq',
  '.continue',
  '.roo',
  '.crush',
  '.goose',
  '.factory',
  '.augment',
  '.junie',
]);
const TEXT = /(?:\.(?:md|mdc|markdown|txt)|(?:^|\/)\.git(?:ignore|keep))$/;

/** Of these only the named files start something. */
const EDITOR_FILES: Record<string, string[]> = {
  '.vscode': ['tasks.json', 'settings.json', 'mcp.json'],
  '.idea': ['startup.xml', 'watchertasks.xml'],
  '.zed': ['settings.json'],
};

const NAMES = new Set([
  '.mcp.json',
  '.claude.json',
  'opencode.json',
  'opencode.jsonc',
  '.opencode.json',
  'crush.json',
  '.crush.json',
  // Read by git where a person includes it; where large files are fetched from, with the person's login.
  '.aider.conf.yml',
  'gemini-extension.json',
  '.gitconfig',
  '.lfsconfig',
]);

/** Characters that macOS leaves out when it compares names. */
const IGNORED_ON_MAC = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** The parts of a path as the most tolerant file system reads them. */
export const looseParts = (file: string): string[] =>
  file
    .normalize('NFKC')
    .replace(IGNORED_ON_MAC, '')
    .toLowerCase()
    .split('/')
    .filter((part) => part !== '' && part !== '.');

/** `text` means: harmless unless its text says otherwise. */
export function personFile(file: string): 'protected' | 'text' | null {
  const parts = looseParts(file);
  const name = parts.at(-1) ?? '';
  if (NAMES.has(name) || name.endsWith('.code-workspace')) return 'protected';
  for (const [index, part] of parts.entries()) {
    const rest = parts.slice(index + 1).join('/');
    // A link in the place of the folder would bring its own.
    if (rest === '' && (AGENT_FOLDERS.has(part) || part in EDITOR_FILES)) return 'protected';
    if (AGENT_FOLDERS.has(part)) return TEXT.test(rest) ? 'text' : 'protected';
    if (EDITOR_FILES[part]?.includes(rest)) return 'protected';
  }
  return null;
}

const FRONT_MATTER = /^\ufeff?---\r?\n(.*?)\r?\n---/s;
const ACTING_KEYS = /^\s*["']?(?:hooks|mcp-?servers|allowed-?tools|permission-?mode)["']?\s*:/im;
/** Commands in a text that an agent runs before it reads the rest. */
const INLINE_COMMANDS = /(?:^|\s)!`|!\{/m;

/** Whether such a text has hooks, servers, permissions or commands in it. */
export const actsByItself = (text: string): boolean =>
  ACTING_KEYS.test(FRONT_MATTER.exec(text)?.[1] ?? '') || INLINE_COMMANDS.test(text);

const MODULE_LINE =
  /^\s*(?:$|[#;].*|\[submodule "(?:[^"\\\n]|\\.)+"\]\s*$|(path|url|branch|update|ignore|shallow|fetchRecurseSubmodules|active)\s*=\s*(.*))$/i;
const UPDATES = ['checkout', 'rebase', 'merge', 'none'];

/**
 * What is wrong with a `.gitmodules`, or null. git itself stops with an error in a checkout that has a bad one, so a person
 * could not even see what is there.
 */
export function modulesProblem(text: string): string | null {
  for (const line of text.split(/\r?\n/)) {
    const [found, key = '', value = ''] = MODULE_LINE.exec(line) ?? [];
    if (found === undefined) return 'git cannot read it';
    const said = value.trim().replace(/^"(.*)"$/, '$1');
    const name = key.toLowerCase();
    if (name === 'update' && !UPDATES.includes(said)) return 'its "update" is no known way to update a submodule';
    // A dash would be read as an option, and `ext::` names a command.
    if (name === 'url' && /^-|^\w+::/.test(said)) return 'its "url" is no plain address';
    if (name === 'path' && /^-|(^|\/)\.\.(\/|$)/.test(said)) return 'its "path" is no folder of the repository';
  }
  return null;
}
