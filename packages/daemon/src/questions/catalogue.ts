import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AskedQuestion, Question } from '@tidemill/contract';
import { type Path, YamlFile } from '../config/document.ts';
import type { Catalogue, RaisedQuestion, Trigger, TriggerFacts } from '../ports.ts';
import { type CatalogueEntry, CatalogueFile, type Condition, type QuestionTemplate } from './catalogue-file.ts';
import { isWired, WIRED } from './trigger.ts';

/** They are about a task that is blocked. */
const UNBLOCKING = ['task_failed_repeatedly', 'multiple_failures', 'security_vulnerability'];

const CATALOGUE_FOLDER = '.tidemill/questions';
/** The longest part of a fact that a text shows: an error may be as long as a log. */
const LONGEST_FACT = 4_000;
const BRACED = /\{\{([a-zA-Z_]\w*)\}\}|\{([a-zA-Z_]\w*)\}/g;

export interface CatalogueLine {
  trigger: string;
  /** `asked`; `off` by the project's own file; `not built` while nothing raises its event. */
  state: 'asked' | 'off' | 'not built';
  since: string | null;
  types: string[];
  file: string;
}

export interface LoadedCatalogue extends Catalogue {
  readonly lines: CatalogueLine[];
}

/** The built-in questions. A project's own entry for a trigger replaces all of that trigger's questions. */
export function loadCatalogue({ root, builtinDir }: { root: string; builtinDir: string }): LoadedCatalogue {
  const readAll = (folder: string, label: string, isBuiltin: boolean) =>
    filesIn(folder).flatMap((name) => read(`${label}/${name}`, join(folder, name), isBuiltin));
  const own = readAll(join(root, CATALOGUE_FOLDER), CATALOGUE_FOLDER, false);
  let loaded: Map<string, { entry: CatalogueEntry; file: string }> | undefined;
  // The built-in files have no mistakes to report at the start, so they are read when the first question is asked.
  const entries = () => {
    loaded ??= new Map(
      [...readAll(builtinDir, 'questions', true), ...own].map((each) => [each.entry.trigger, each] as const),
    );
    return loaded;
  };
  return {
    get lines() {
      return [...entries().values()].map(lineOf);
    },
    raise: (trigger, facts) => raise(entries().get(trigger)?.entry, facts),
  };
}

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /\.ya?ml$/.test(name))
    .sort();
}

function read(file: string, path: string, isBuiltin: boolean): { entry: CatalogueEntry; file: string }[] {
  const yaml = new YamlFile(file, readFileSync(path, 'utf8'));
  const entries = yaml.parse(CatalogueFile);
  yaml.refuse(entries.flatMap((entry, index) => faultsOf(entry, index, entries, isBuiltin)));
  return entries.map((entry) => ({ entry, file }));
}

interface Fault {
  path: Path;
  message: string;
}

function faultsOf(entry: CatalogueEntry, index: number, all: CatalogueEntry[], isBuiltin: boolean): Fault[] {
  const { trigger } = entry;
  const faults: Fault[] = [];
  const fail = (path: Path, message: string) => faults.push({ path: [index, ...path], message });
  if (all.findIndex((other) => other.trigger === trigger) < index)
    fail(['trigger'], `duplicate trigger ${trigger}: put all its questions into one entry`);
  if (!isBuiltin && entry.since !== undefined) fail(['since'], 'since is for the shipped files alone; leave it out');
  if (isBuiltin && isWired(trigger) === (entry.since !== undefined))
    fail(
      ['since'],
      `${trigger} ${isWired(trigger) ? 'is raised already' : 'is raised by nothing yet: say since when'}`,
    );
  if (!isWired(trigger)) return faults;
  const facts: string[] = WIRED[trigger];
  const known = `${trigger} knows ${facts.join(', ')}`;
  for (const [at, { fact }] of entry.when.entries())
    if (!facts.includes(fact)) fail(['when', at, 'fact'], `there is no fact "${fact}"; ${known}`);
  for (const [at, question] of entry.questions.entries()) {
    for (const [key, text] of textsOf(question))
      for (const [, , name] of text.matchAll(BRACED))
        if (name !== undefined && !facts.includes(name))
          fail(
            ['questions', at, key],
            `there is no placeholder {${name}}; ${known}; {{${name}}} is the word in braces`,
          );
    if (question.effect === 'unblock' && !UNBLOCKING.includes(trigger))
      fail(['questions', at, 'effect'], `unblock belongs to ${UNBLOCKING.join(', ')}`);
  }
  return faults;
}

function textsOf({ text, context, default: given = '', options }: QuestionTemplate): [string, string][] {
  const texts = options.flatMap((option) => [option.label, option.description, option.implications]);
  return [
    ['text', text],
    ['context', context],
    ['default', given],
    ...texts.map((each): [string, string] => ['options', each]),
  ];
}

function lineOf({ entry, file }: { entry: CatalogueEntry; file: string }): CatalogueLine {
  const { trigger, enabled, since = null, questions } = entry;
  const state = !isWired(trigger) ? 'not built' : enabled ? 'asked' : 'off';
  return { trigger, state, since, types: [...new Set(questions.map(({ type }) => type))], file };
}

function raise<T extends Trigger>(entry: CatalogueEntry | undefined, facts: TriggerFacts[T]): RaisedQuestion[] {
  const known = facts as Record<string, string | number>;
  if (!entry?.enabled || !entry.when.every((condition) => holds(condition, known))) return [];
  return entry.questions.map((template) => ({
    question: questionOf(template, (text) => fill(text, known), entry.trigger),
    effect: effectOf(template, (text) => fill(text, known)),
  }));
}

function holds({ fact, atLeast, atMost }: Condition, facts: Record<string, string | number>): boolean {
  const value = Number(facts[fact]);
  return (atLeast === undefined || value >= atLeast) && (atMost === undefined || value <= atMost);
}

/** One pass: inserted text is not expanded again. */
function fill(text: string, facts: Record<string, string | number>): string {
  return text.replace(BRACED, (_all, literal?: string, name?: string) =>
    literal !== undefined ? `{${literal}}` : String(facts[name ?? ''] ?? '').slice(0, LONGEST_FACT),
  );
}

function questionOf(template: QuestionTemplate, filled: (text: string) => string, trigger: string): AskedQuestion {
  const { type, allowFreeText, expiresAfter, reminderAfter, tags } = template;
  return {
    type,
    allowFreeText,
    expiresAfter,
    reminderAfter,
    tags: [trigger, ...tags],
    text: filled(template.text),
    context: filled(template.context),
    options: template.options.map(({ label, description, recommended, implications }) => ({
      label: filled(label).slice(0, 500),
      recommended,
      description: filled(description),
      implications: filled(implications),
    })),
    ...(template.default === undefined ? {} : { default: filled(template.default) }),
  };
}

function effectOf({ effect, options }: QuestionTemplate, filled: (text: string) => string): Question['effect'] {
  if (effect === 'none') return { kind: 'none' };
  return { kind: 'unblock', leaves: options.filter(({ leaves }) => leaves).map(({ label }) => filled(label)) };
}
