import { Duration, Mode } from '@tidemill/contract';
import { z } from 'zod';
import { YamlFile } from '../config/document.ts';

/** What the head of a template may set. The rest has the default of its mode. */
const FrontMatter = z.strictObject({
  mode: Mode.optional(),
  role: z.string().optional(),
  description: z.string().optional(),
  /** Used when the agent's entry in the config names none. */
  model: z.string().min(1).optional(),
  /** By Claude Code's names. */
  tools: z.array(z.string().min(1)).min(1, 'names at least one tool; leave it out for all of them').optional(),
  turns: z.number().int().min(1).max(10_000).optional(),
  timeout: Duration.optional(),
  prompt_tokens: z.number().int().min(1_000).optional(),
});
export type FrontMatter = z.infer<typeof FrontMatter>;

export interface Parted {
  head: FrontMatter;
  body: string;
  /** The line of the file on which the body begins. */
  firstLine: number;
}

/** Splits a template into its head, between two lines of `---`, and the text for the agent. */
export function partTemplate(text: string, file: string, mode: Mode): Parted {
  const match = /^---\n([\s\S]*?\n)?---(?:\n|$)/.exec(text);
  if (!match) return { head: {}, body: text, firstLine: 1 };
  // The empty line replaces the first ---, so that errors have the file's line numbers.
  const yaml = new YamlFile(file, `\n${match[1] ?? ''}`);
  const head = yaml.parse(FrontMatter);
  if (head.mode !== undefined && head.mode !== mode) {
    const message = `mode is ${head.mode}, but the file's name says ${mode}; write mode: ${mode}, or rename the file`;
    yaml.refuse([{ path: ['mode'], message }]);
  }
  return { head, body: text.slice(match[0].length), firstLine: match[0].split('\n').length };
}
