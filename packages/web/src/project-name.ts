import type { Project } from '@tidemill/contract';
import { plainLine } from './plain.ts';

/** The name, with the folder if another project has the same name. */
export function projectName({ id, name, root }: Project, all: Project[]): string {
  const isAmbiguous = all.some((other) => other.id !== id && other.name === name);
  return plainLine(isAmbiguous ? `${name} in ${root}` : name);
}
