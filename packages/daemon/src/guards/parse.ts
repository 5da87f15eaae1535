import { AppError } from '@tidemill/contract';
import { YamlFile } from '../config/document.ts';
import { type Guard, GuardFile } from './guard.ts';

/** The guards of one file. Only built-in guards may be `final`. */
export function parseGuards(name: string, text: string, isBuiltin: boolean): Guard[] {
  const file = new YamlFile(name, text);
  const guards = file.parse(GuardFile);
  const unfit = guards.flatMap((guard, index) =>
    guard.final && !isBuiltin
      ? [{ path: [index, 'final'], message: `${guard.name}: only built-in guards can be final; remove this key` }]
      : [],
  );
  file.refuse(unfit);
  return guards;
}

export function refuseDuplicates(guards: Guard[]): void {
  const names = guards.map(({ name }) => name);
  const duplicate = names.find((name, index) => names.indexOf(name) < index);
  if (duplicate === undefined) return;
  throw new AppError('bad_config', `.tidemill/guards: two guards are named "${duplicate}"`, {
    hint: 'Denials are recorded by guard name. Give each guard its own name.',
  });
}
