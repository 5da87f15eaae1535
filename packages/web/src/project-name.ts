import type { Project } from '@tidemill/contract';
import { plainLine } from './plain.ts';

/** Its name; with its folder where another one is called the same. */
export function projectName({ id, name, root }: Project, all: Project[]): string {
  const isTwice = all.some((other) => other.id !== id && other.name === name);
  return plainLine(isTwice ? `${name} in ${root}` : name);
}
