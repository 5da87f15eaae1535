import type { Terminal } from './terminal.ts';

/** A response as lines for a person. */
type View = (output: never, terminal: Terminal, hasDaemon: boolean) => string[];

/** The views of responses that deserve care, by command. A module is loaded by its own commands only. */
const VIEWS: Record<string, () => Promise<View>> = {
  'guards list': async () => (await import('./guards-view.ts')).guardRows,
  'guards show': async () => (await import('./guards-view.ts')).guardLines,
  'loop status': async () => (await import('./loop-view.ts')).loopLines,
  'loop on': async () => (await import('./loop-view.ts')).switchLines,
  'loop off': async () => (await import('./loop-view.ts')).switchLines,
  'loop proposals': async () => (await import('./loop-view.ts')).proposalsLines,
  'loop categories': async () => (await import('./loop-view.ts')).categoryLines,
  'memory list': async () => (await import('./memory-view.ts')).lessonsLines,
  'memory show': async () => (await import('./memory-view.ts')).lessonDetailLines,
  'memory for': async () => (await import('./memory-view.ts')).knowledgeLines,
  'memory summary': async () => (await import('./memory-view.ts')).summaryLines,
  'memory reflections': async () => (await import('./memory-view.ts')).reflectionsLines,
  'prompts list': async () => (await import('./prompts-view.ts')).promptLines,
  'tracker status': async () => (await import('./tracker-view.ts')).trackerLines,
  'tracker sync': async () => (await import('./tracker-view.ts')).trackerLines,
  'tracker items': async () => (await import('./tracker-view.ts')).itemLines,
};

export const viewOf = async (words: string[]): Promise<View | null> => (await VIEWS[words.join(' ')]?.()) ?? null;
