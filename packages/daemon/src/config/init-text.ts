import { stringify } from 'yaml';
import type { ProposedGate, ProposedStep, ProtectingGate } from './detect/tool.ts';
import { type FileStyle, USUAL_STYLE } from './file-style.ts';

export interface ConfigParts {
  target: string;
  agent: object;
  /** How to install it, if it is not installed yet. */
  install?: string | null;
  prepare: ProposedStep[];
  include: string[];
  source: string[];
  gates: ProposedGate[];
  protecting: ProtectingGate[];
  /** There is no code yet, so nothing can be tested. */
  isEmpty: boolean;
}

/** A config with comments, formatted as the repository formats its own files. */
export function configText(parts: ConfigParts, style: FileStyle = USUAL_STYLE): string {
  const text = sections(parts)
    .map((section) => [...section.about.flatMap((each) => comment(each, style.width)), ...section.lines(style)])
    .map((lines) => lines.join('\n'))
    .join('\n\n');
  return style.crlf ? `${text}\n`.replaceAll('\n', '\r\n') : `${text}\n`;
}

interface Section {
  /** Each text is a comment of its own, wrapped at the width. */
  about: string[];
  lines(style: FileStyle): string[];
}

const setting = (key: string, value: unknown, ...about: string[]): Section => ({
  about,
  lines: (style) => entry(key, value, style),
});

function sections({ target, agent, install, prepare, include, source, gates, ...more }: ConfigParts): Section[] {
  const heading =
    'Tidemill: how agents work on this repository. Commit this file; it is versioned with the code. docs/settings.md of Tidemill explains every setting.';
  return [
    { about: [heading], lines: () => [] },
    setting('target', target, 'The branch that finished work lands on.'),
    setting('workers', 1, 'Number of builder agents, 1 to 10. One more agent reviews.'),
    setting(
      'budget',
      { dailyUsd: 50, monthlyUsd: 500 },
      "Limits in USD. Days and months begin at midnight in `timeZone` (default: the machine's). At 90 % no new work starts, at 100 % all agents stop. Work is kept and continues the next day, or when you raise the limit.",
    ),
    setting(
      'pipeline',
      'feature',
      'Stages of a task: feature (plan, implement, verify, review, merge), bug (investigate first) or quick (no plan, no review). Put your own pipelines into .tidemill/pipelines/NAME.yaml.',
    ),
    setting(
      'landing',
      'squash',
      'How a task lands: squash (one commit), rebase (its own commits), merge (a merge commit), or pull_request (a pull request on GitHub; see docs/github.md).',
    ),
    setting('reviewPlans', false, 'true: a person approves each plan before it is built.'),
    setting('maxValidationRetries', 3, 'How often the gates send an agent back within a run.'),
    setting(
      'push',
      'target',
      "What is pushed to the target's remote, never by force: target (each landing), branch (each task's branch, for a pull request that others merge) or never. What others push is always taken in first, except with never.",
    ),
    setting('batch', 5, 'Up to this many waiting tasks are proven as one tree and land together, one commit each.'),
    setting('sandbox', 'auto', 'auto: agents and gates run in bubblewrap if it is installed. off: never.'),
    setting('critical', [], 'Files whose conflicts a person must resolve, such as ["migrations/**"].'),
    {
      about: [
        '`tidemill agents` lists the agents that Tidemill knows. Any other program can be an agent: it starts in the task\'s worktree, reads one JSON object from standard input and prints {"tidemill":"result","outcome":"pr_ready","summary":"..."} when it is done; see docs/agents.md. "default" is used for all modes; an entry named after a mode (plan, investigate, implement, request_changes, review) is used for that mode.',
        ...(install ? [`The default agent is not installed yet: ${install}`] : []),
      ],
      lines: (style) => entry('agents', { default: agent }, style),
    },
    {
      about: [
        'Commands that prepare a new worktree for agents and gates, for example install dependencies. The result (the files that git ignores) is cached, and rebuilt only when one of `files` changes. These commands may use the network.',
      ],
      lines: (style) => prepareLines(prepare, style),
    },
    setting('include', include, 'Ignored files that a worktree needs; they are copied from your checkout.'),
    setting('cleanup', [], 'Commands that run in a worktree before it is removed, such as ["docker compose down"].'),
    setting(
      'source',
      source,
      "The product's source, as globs. Every other file that a gate reads decides what the gate checks (a script, a configuration, data with test cases): the reviewer sees an agent's changes to it first, or you approve them if there is no review. Tests in these folders are not source. []: the usual folders, such as src and lib.",
    ),
    {
      about: [
        'Checks of a change. Each command runs on a clean checkout of the result, and a change lands only if all of them exit with 0. network: true allows network access. needs: [build] runs a gate only after build passed. fixes: true is for a formatter: its changes are committed. proves: ["data/*.csv"] names more files that decide what a gate checks: the reviewer sees an agent\'s changes to them first, or you approve them if there is no review. A gate that runs tests on the target must run tests on each change, too; counts: "(?<passed>\\\\d+) ok" reads the figures of an unusual runner. Other kinds of gates look for something: secrets for keys in the change, audit for new vulnerabilities of dependencies, docs for undocumented names, which only warns; see docs/settings.md.',
      ],
      lines: (style) => gateLines(gates, more.protecting, style),
    },
    setting(
      'untested',
      more.isEmpty,
      'true: work goes on although no gate runs a command. false: no task starts until a gate does.',
    ),
  ];
}

function prepareLines(steps: ProposedStep[], style: FileStyle): string[] {
  if (steps.length === 0)
    return [
      'prepare: []',
      '# For example:',
      '# prepare:',
      '#   - run: npm ci',
      '#     files: [package-lock.json, package.json]',
    ];
  const pad = ' '.repeat(style.indent);
  const items = steps.flatMap(({ run, files, env, comment: why }) => [
    ...(why ? comment(why, style.width - style.indent).map((line) => `${pad}${line}`) : []),
    ...block([{ run, files, ...(env ? { env } : {}) }], style, style.indent, 0),
  ]);
  return ['prepare:', ...items];
}

function gateLines(gates: ProposedGate[], protecting: ProtectingGate[], style: FileStyle): string[] {
  const [key = '', ...items] = entry('gates', [...gates, ...protecting], style);
  if (gates.length > 0) return [key, ...items];
  const pad = ' '.repeat(style.indent);
  const example = ['# No tests were found. For example:', '# - name: test', '#   run: make test', '#   timeout: 2m'];
  return [key, ...example.map((line) => `${pad}${line}`), ...items];
}

function comment(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '#';
  for (const word of text.split(' ')) {
    if (line.length + 1 + word.length > width && line !== '#') {
      lines.push(line);
      line = '#';
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}

const isNested = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0;

/** Block style only: formatters rewrite `{ a: 1 }` and `[a]` by their settings and by the width of a line. */
function entry(key: string, value: unknown, style: FileStyle, column = 0): string[] {
  const name = scalar(key, style);
  if (isNested(value)) return [`${name}:`, ...block(value, style, style.indent, column)];
  const [first = '', ...rest] = inline(value, style, column + name.length + 2);
  return [`${name}: ${first}`, ...rest.map((line) => `${' '.repeat(style.indent)}${line}`)];
}

/** A value on the line of its key. A formatter that folds long texts never folds a literal block. */
function inline(value: unknown, style: FileStyle, column: number): string[] {
  const text = scalar(value, style);
  const isFolded = style.folds && column + text.length > style.width && text.includes(' ');
  return isFolded && typeof value === 'string' && !value.includes('\n') ? ['|-', value] : [text];
}

function block(value: object, style: FileStyle, indent: number, column: number): string[] {
  const pad = ' '.repeat(indent);
  const at = column + indent;
  if (!Array.isArray(value))
    return Object.entries(value)
      .filter(([, each]) => each !== undefined)
      .flatMap(([key, each]) => entry(key, each, style, at).map((line) => `${pad}${line}`));
  return value.flatMap((item: unknown) => {
    const [first = '', ...rest] = isNested(item) ? [] : inline(item, style, at + 2);
    const inner = ' '.repeat(Math.max(style.indent - 2, 0));
    const lines = isNested(item) ? block(item, style, 0, at + 2) : [first, ...rest.map((line) => `${inner}${line}`)];
    return lines.map((line, index) => `${pad}${index === 0 ? '- ' : '  '}${line}`);
  });
}

/** Plain where YAML allows it, otherwise with the quotes that a formatter would choose. */
function scalar(value: unknown, style: FileStyle): string {
  const plain = stringify(value, { lineWidth: 0 }).trimEnd();
  if (typeof value !== 'string' || !/^["'|>]/.test(plain)) return plain;
  if (/[\p{Cc}]/u.test(value)) return JSON.stringify(value);
  const isSingle = value.includes('"') || (style.singleQuote && !value.includes("'"));
  return isSingle ? `'${value.replaceAll("'", "''")}'` : JSON.stringify(value);
}
