import type { Terminal } from './terminal.ts';

/** A response as lines for a person. */
type View = (output: never, terminal: Terminal, hasDaemon: boolean) => string[];

/** The views of responses that deserve care, by command. A module is loaded by its own commands only. */
const VIEWS: Record<string, () => Promise<View>> = {
  'loop status': async () => (await import('./loop-view.ts')).loopLines,
  'loop on': async () => (await import('./loop-view.ts')).switchLines,
  'loop off': async () => (await import('./loop-view.ts')).switchLines,
  'loop proposals': async () => (await import('./loop-view.ts')).proposalsLines,
  'loop categories': async () => (await import('./loop-view.ts')).categoryLines,
};

export const viewOf = async (words: string[]): Promise<View | null> => (await VIEWS[words.join(' ')]?.()) ?? null;
