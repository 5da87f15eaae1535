import { AppError, GivenSpecTask, SpecDraft, type SpecTask } from '@tidemill/contract';
import { isOpenPoints, SPEC_HEADINGS, type SpecSection, specSection, unescapedText } from '@tidemill/core';
import { BadFile, YamlFile } from '../config/document.ts';

/** The sections that are text. The others are lists, in which nothing else may stand. */
const TEXTS: readonly (SpecSection | 'summary')[] = ['summary', 'architecture'];

interface NumberedLine {
  text: string;
  line: number;
}

/** Reads `spec.md` and `tasks.md` as a person may write them. Every error names file and line. */
export function readSpecFiles(spec: { name: string; text: string }, tasks: { name: string; text: string }): SpecDraft {
  const about = readDocument(spec.name, spec.text);
  const list = readTasks(tasks.name, tasks.text);
  const draft = SpecDraft.safeParse({ ...about, tasks: list });
  if (draft.success) return draft.data;
  const [issue] = draft.error.issues;
  throw new AppError('bad_input', `${spec.name}: ${issue?.path.join('.')}: ${issue?.message}`, {
    hint: `Fix ${spec.name} and try again.`,
  });
}

function readDocument(name: string, text: string): object {
  const lines = text.split(/\r?\n/).map((line, index): NumberedLine => ({ text: line, line: index + 1 }));
  const first = lines.findIndex((line) => line.text.trim() !== '');
  if (!lines[first]?.text.startsWith('# '))
    throw new BadFile(name, [
      { line: Math.max(first, 0) + 1, text: 'a specification begins with its title, such as "# Export as CSV"' },
    ]);
  const sections = split(name, lines.slice(first + 1));
  const items = (section: SpecSection) => listItems(name, sections.get(section) ?? []);
  const requirements = items('requirements').map((item) => requirementOf(name, item));
  if (requirements.length === 0)
    throw new BadFile(name, [
      {
        line: 1,
        text: 'there are no requirements: add "## Requirements" and lines such as "- **R1**: it prints JSON"',
      },
    ]);
  return {
    title: lines[first]!.text.slice(2),
    summary: joined(sections.get('summary') ?? []),
    requirements,
    scope: { in: items('in').map(({ text: item }) => item), out: items('out').map(({ text: item }) => item) },
    architecture: joined(sections.get('architecture') ?? []),
    files: items('files').map((item) => fileOf(name, item)),
    dependencies: items('dependencies').map(({ text: item }) => item),
    risks: items('risks').map(({ text: item }) => item),
  };
}

/** The lines below each known heading. Other headings belong to a text, and are refused in a list. */
function split(name: string, lines: NumberedLine[]): Map<SpecSection | 'summary', NumberedLine[]> {
  const sections = new Map<SpecSection | 'summary', NumberedLine[]>();
  let current: SpecSection | 'summary' | null = 'summary';
  for (const line of lines) {
    const heading: string | undefined = /^## (.+?)\s*$/.exec(line.text)?.[1];
    const found = heading === undefined ? null : specSection(heading);
    if (heading !== undefined && (found ? !found.isExact : isInList(current) && !isOpenPoints(heading)))
      throw new BadFile(name, [{ line: line.line, text: unknownHeading(heading, found?.section) }]);
    if (found) current = found.section;
    else if (heading !== undefined && isOpenPoints(heading)) current = null;
    else if (current !== null) sections.set(current, [...(sections.get(current) ?? []), line]);
  }
  return sections;
}

const isInList = (current: SpecSection | 'summary' | null) => current === null || !TEXTS.includes(current);

function unknownHeading(heading: string, meant: SpecSection | undefined): string {
  const advice = meant
    ? `did you mean "## ${SPEC_HEADINGS[meant]}"?`
    : `the headings are ${Object.values(SPEC_HEADINGS).join(', ')}; tasks are in tasks.md`;
  return `unknown heading ${JSON.stringify(heading.slice(0, 60))}; ${advice}`;
}

const joined = (lines: NumberedLine[]) =>
  unescapedText(
    lines
      .map(({ text }) => text)
      .join('\n')
      .trim(),
  );

/** `- ` begins an item; indented lines continue it. */
function listItems(name: string, lines: NumberedLine[]): NumberedLine[] {
  const items: NumberedLine[] = [];
  for (const { text, line } of lines) {
    const begun = /^[-*] (.*)$/.exec(text)?.[1];
    const last = items.at(-1);
    if (begun !== undefined) items.push({ text: begun, line });
    else if (last && (text.trim() === '' || text.startsWith('  '))) last.text += `\n${text.slice(2)}`;
    else if (text.trim() !== '')
      throw new BadFile(name, [
        { line, text: 'begin this line with "- ", or with two spaces if it continues the entry above it' },
      ]);
  }
  return items.map(({ text, line }) => ({ text: text.trimEnd(), line }));
}

function requirementOf(name: string, { text, line }: NumberedLine): object {
  const match = /^\*{0,2}([A-Za-z]+\d+)\*{0,2}(?: \((functional|non-functional)\))?: ([\s\S]+)$/.exec(text);
  if (!match)
    throw new BadFile(name, [
      { line, text: 'a requirement is a line such as "- **R1** (functional): it prints JSON"' },
    ]);
  const [, id, kind = 'functional', words] = match;
  return { id, kind: kind.replace('-', '_'), text: words };
}

function fileOf(name: string, { text, line }: NumberedLine): object {
  const match = /^`([^`]+)`(?: \((create|modify)(?:, ([^)]*))?\))?(?:: ([\s\S]*))?$/.exec(text);
  if (!match)
    throw new BadFile(name, [{ line, text: 'a file is a line such as "- `src/csv.ts` (create, T1): writes rows"' }]);
  const [, path, change, owner, purpose] = match;
  return { path, change, owner, purpose };
}

/** The blocks of YAML in a Markdown file. Everything else in it is for readers. */
function readTasks(name: string, text: string): SpecTask[] {
  const tasks: SpecTask[] = [];
  const lines = text.split(/\r?\n/);
  for (let at = 0; at < lines.length; at += 1) {
    const fence = /^(`{3,}|~{3,})\s*(\S*)/.exec(lines[at]!);
    if (!fence) continue;
    const end = lines.findIndex((line, index) => index > at && line.trim() === fence[1]);
    if (end < 0) throw new BadFile(name, [{ line: at + 1, text: 'the block is not closed: add a line with ```' }]);
    if (!/^ya?ml$/i.test(fence[2] ?? '')) {
      const key = lines.slice(at + 1, end).findIndex((line) => /^id\s*:/.test(line));
      if (key >= 0) throw new BadFile(name, [{ line: at + 1, text: 'a task is a block that begins with ```yaml' }]);
      at = end;
      continue;
    }
    // Empty lines keep the line numbers.
    const block = `${'\n'.repeat(at + 1)}${lines.slice(at + 1, end).join('\n')}\n`;
    tasks.push(new YamlFile(name, block).parse(GivenSpecTask));
    at = end;
  }
  if (tasks.length === 0)
    throw new BadFile(name, [{ line: 1, text: 'there are no tasks: each is a block that begins with ```yaml' }]);
  return tasks;
}
