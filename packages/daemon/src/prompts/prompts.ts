import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { AppError, type JobMode, type Mode, TaskMode } from '@tidemill/contract';
import type { Briefing, CheckedPrompts } from '../ports.ts';
import { DEFAULT_PROMPT_TOKENS, fitParts, tokensIn } from './budget.ts';
import { checksSection } from './checks.ts';
import { jobPlaceholders, jobPrompt } from './job-prompt.ts';
import { type PromptSurroundings, partsOf } from './parts.ts';
import { conventionsOf, introductionOf } from './repository-notes.ts';
import { fixedSections, type PromptInput } from './sections.ts';
import { fillTemplate, PLACEHOLDERS, type Placeholder, parseTemplate, type Template } from './template.ts';

export interface PromptsOptions {
  /** The repository's root: `.tidemill/agents/<mode>.md` in it replaces a built-in template. */
  root: string;
  /** The folder of the built-in templates, one `<mode>.md` each. */
  builtinDir: string;
}

/** The rules for questions, which all templates share. Placeholders in it are not expanded. */
export const QUESTIONS = '_questions.md';
/** A project's own templates. */
export const TEMPLATE_FOLDER = '.tidemill/agents';

/** The name of a template that is tried and is in no file yet. */
const TRIED = 'the new prompt';

/** Added at the end when a template does not show them: every agent needs them. */
const NEVER_MISSING = [
  'feedbackSection',
  'lessonsSection',
  'specSection',
  'forecastSection',
  'changedFilesSection',
  'proofSection',
  'autonomySection',
  'questionsSection',
] as const;

/** Templates are read again for each run, so that an edit takes effect with the next run. */
export function createPrompts({ root, builtinDir }: PromptsOptions): CheckedPrompts {
  /** The project's own template. One that is broken is not used: the built-in one is, and the fault is told. */
  const templateFor = async <P extends string>(mode: Mode, placeholders: readonly P[]) => {
    const faults: string[] = [];
    const read = async (text: string, file: string) => parseTemplate(text, file, mode, placeholders);
    const template = await ownOrBuiltin(`${mode}.md`, root, builtinDir, faults, read);
    return { template, faults };
  };
  const questionsText = (faults: string[]) =>
    ownOrBuiltin(QUESTIONS, root, builtinDir, faults, async (text) => text.trim());
  return {
    async render(input) {
      const { mode } = input;
      const { template, faults } =
        input.template === undefined
          ? await templateFor(mode, PLACEHOLDERS)
          : { template: parseTemplate(input.template, TRIED, mode, PLACEHOLDERS), faults: [] };
      const questions = await questionsText(faults);
      const [conventions, readme, related] = await Promise.all([
        template.uses.has('conventionsSection') ? conventionsOf(root) : [],
        template.uses.has('readmeSection') ? introductionOf(root) : null,
        template.uses.has('relatedTaskSection') ? input.related() : [],
      ]);
      const around = { conventions, readme, related };
      return withFaults(assemble(template, input, around, questions === '' ? '' : `${questions}\n`), faults);
    },
    check(mode, text) {
      const task = TaskMode.safeParse(mode);
      parseTemplate<string>(text, TRIED, mode, task.success ? PLACEHOLDERS : jobPlaceholders(mode as JobMode));
    },
    async renderJob(job, context) {
      const { template, faults } = await templateFor<string>(job.mode, jobPlaceholders(job.mode));
      const questions = await questionsText(faults);
      const notes = { conventions: await conventionsOf(root), readme: await introductionOf(root) };
      const { prompt, dropped } = jobPrompt(template, job, context, { ...notes, questions });
      return withFaults(briefingOf(template, prompt, dropped), faults);
    },
  };
}

/** What is wrong with the project's own templates is shown with the run. */
const withFaults = (briefing: Briefing, faults: string[]): Briefing => ({
  ...briefing,
  dropped: [...faults, ...briefing.dropped],
});

function assemble(template: Template, input: PromptInput, around: PromptSurroundings, questions: string): Briefing {
  const { head, uses } = template;
  const fixed = fixedSections(input, questions);
  const parts = partsOf(input, around, uses);
  const nothing = Object.fromEntries(Object.keys(parts).map((name) => [name, ''])) as Record<
    keyof typeof parts,
    string
  >;
  // Before everything else, including texts of earlier agents, in every template.
  const checks = checksSection(input);
  const least = put(template, { ...nothing, ...fixed }, '').length + checks.length;
  const { texts, dropped } = fitParts(parts, head.prompt_tokens ?? DEFAULT_PROMPT_TOKENS, least);
  const prompt = checks + put(template, { ...texts, ...fixed }, texts.olderContext + texts.recentContext);
  return briefingOf(template, prompt, input.diff.isCut ? [...dropped, 'the change: long files are cut'] : dropped);
}

const briefingOf = ({ head }: Pick<Template<string>, 'head'>, prompt: string, dropped: string[]): Briefing => ({
  prompt,
  promptTokens: tokensIn(prompt),
  dropped,
  model: head.model ?? null,
  tools: head.tools ?? null,
  maxTurns: head.turns ?? null,
  timeoutMs: head.timeout ?? null,
});

function put(template: Template, values: Record<Placeholder, string>, context: string): string {
  const before = context === '' ? '' : `## Task context\n\n${context}---\n\n`;
  const missing = NEVER_MISSING.filter((name) => !template.uses.has(name) && values[name] !== '');
  return [`${before}${fillTemplate(template, values)}`, ...missing.map((name) => values[name])].join('\n');
}

/** Reads the project's own file, or the built-in one where there is none or it cannot be used: `faults` gets the reason. */
async function ownOrBuiltin<T>(
  name: string,
  root: string,
  builtinDir: string,
  faults: string[],
  read: (text: string, file: string) => Promise<T>,
): Promise<T> {
  const own = `${TEMPLATE_FOLDER}/${name}`;
  try {
    const override = await textOf(path.join(root, own));
    if (override !== null) return await read(override, own);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    faults.push(`${error.message}; the built-in prompt was used`);
  }
  const file = path.join(builtinDir, name);
  const text = await textOf(file);
  if (text !== null) return read(text, file);
  throw new AppError('internal', `the built-in prompt ${file} is missing`, { hint: 'Reinstall Tidemill.' });
}

export async function textOf(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new AppError('bad_config', `${file} cannot be read: ${(error as Error).message}`, {
      hint: 'Make it a readable Markdown file, or remove it.',
      cause: error,
    });
  }
}
