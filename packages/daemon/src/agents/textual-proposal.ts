const NO_IDEA = /\bNO_IDEA_AVAILABLE\b/;
/** The name of a part, and the rest of its line: `**Title:** …`, `## Title`, `Title: …`. */
const HEADINGS = [
  /^\s{0,3}\*\*([^*:\n]{3,40}):?\*\*:?[ \t]*(.*)$/,
  /^\s{0,3}#{1,6}[ \t]+([^:\n]{3,40}):?()$/,
  /^\s{0,3}([A-Z][A-Za-z ]{2,30}):[ \t]*(.*)$/,
];
const BULLET = /^\s{0,6}(?:[-*+]|\d{1,2}[.)])\s+(.+)$/;
/** `AC-1.a:` before a criterion. */
const CRITERION_NAME = /^\**AC-?[\w.]+\**\s*[:.)-]\s*\**\s*/i;

const PARTS = {
  title: ['title'],
  description: ['description', 'overview', 'summary'],
  criteria: ['acceptance criteria', 'criteria'],
  approach: ['technical approach', 'approach', 'implementation plan'],
  effort: ['estimated effort', 'effort', 'effort estimate'],
  files: ['files', 'affected files', 'files to change'],
  newFiles: ['new files', 'files to create'],
  dependencies: ['dependencies'],
} as const;
type Part = keyof typeof PARTS;

/**
 * A proposal as text with headings, or the words that there is none. Null for neither. Its content is checked like that
 * of any other result.
 */
export function readTextualProposal(text: string): Record<string, unknown> | null {
  const parts = partsIn(text);
  if (parts.title === undefined || parts.criteria === undefined)
    return NO_IDEA.test(text) ? { outcome: 'no_idea', summary: whyNot(text) } : null;
  const title = parts.title.trim().replace(/^\[(.*)\]$/, '$1');
  return {
    outcome: 'proposed',
    summary: title,
    proposal: {
      title,
      description: (parts.description ?? '').trim(),
      criteria: itemsIn(parts.criteria).map((item) => item.replace(CRITERION_NAME, '')),
      approach: (parts.approach ?? '').trim(),
      effortHours: hoursIn(parts.effort ?? ''),
      files: pathsIn(parts.files),
      newFiles: pathsIn(parts.newFiles),
      dependencies: pathsIn(parts.dependencies),
    },
  };
}

function partsIn(text: string): Partial<Record<Part, string>> {
  const found: Partial<Record<Part, string>> = {};
  let current: Part | null = null;
  for (const line of text.replaceAll('\r\n', '\n').split('\n')) {
    const [, name = '', rest = ''] = HEADINGS.map((heading) => heading.exec(line)).find((match) => match) ?? [];
    const part = partNamed(name);
    if (part !== undefined) {
      current = part;
      found[part] = rest;
    } else if (current) found[current] += `\n${line}`;
  }
  return found;
}

const partNamed = (name: string): Part | undefined =>
  (Object.keys(PARTS) as Part[]).find((part) => (PARTS[part] as readonly string[]).includes(name.trim().toLowerCase()));

const itemsIn = (text: string): string[] => text.split('\n').flatMap((line) => BULLET.exec(line)?.[1]?.trim() ?? []);

/** `3`, `3 hours`, `2-4 h` (the larger one), `90 minutes`, `1 day`. Undefined when there is no number. */
function hoursIn(text: string): number | undefined {
  const [line = ''] = text.trim().split('\n');
  const numbers = [...line.matchAll(/\d+(?:\.\d+)?/g)].map(Number);
  if (numbers.length === 0) return undefined;
  const factor = /\bdays?\b/i.test(line) ? 8 : /\bmin(?:ute)?s?\b/i.test(line) ? 1 / 60 : 1;
  return Math.max(...numbers) * factor;
}

/** Names in a list, or separated by commas; `none` is no name. */
function pathsIn(text: string | undefined): string[] {
  if (text === undefined) return [];
  const items = itemsIn(text);
  const names = items.length > 0 ? items : text.split(/[,\n]/);
  return names
    .map((name) => name.replace(/[`*]/g, '').trim())
    .filter((name) => name !== '' && !/^(none|n\/a|-)\.?$/i.test(name));
}

function whyNot(text: string): string {
  const rest = text.replace(NO_IDEA, '').replace(/\s+/g, ' ').trim();
  return rest === '' ? 'nothing worth proposing was found' : rest.slice(0, 1_000);
}
