import { type AskedQuestion, lossText, type MergeLoss, plainName } from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { APPROVE, SEND_BACK } from '../question/effect.ts';
import type { Slice } from '../slice.ts';
import { holdFor } from './hold.ts';

/** Lines of each file in the question. */
const MOST_LINES = 20;

/**
 * A merge dropped something of the target: the task does not go on until a person accepts exactly that, or sends it back.
 * No default, no time limit and no setting answers this question. Nothing happens when a person accepted all of it before.
 */
export function vetoStage(slice: Slice, command: CommandOf<'stage.veto'>, env: DecideEnv): Decision {
  return holdFor(slice, command, env, ({ task, project }) => {
    const losses = command.losses.filter(({ content }) => !task.acceptedLosses.includes(content));
    if (losses.length === 0) return null;
    return {
      question: questionAbout(`#${task.number} ${task.title}`, losses, project.rules.target),
      because: `lines of ${project.rules.target} are missing; a person decides`,
      effect: { losses: losses.map(({ content }) => content) },
    };
  });
}

function questionAbout(what: string, losses: MergeLoss[], target: string): AskedQuestion {
  const paths = [...new Set(losses.map(({ path }) => plainName(path)))];
  const names = paths.slice(0, 3).join(', ') + (paths.length > 3 ? ` and ${paths.length - 3} more` : '');
  const option = (label: string, description: string) => ({ label, description, recommended: false, implications: '' });
  return {
    text: `${what}: after a conflict was resolved, changes of ${target} are missing (${names}). Land it without them?`,
    type: 'blocking',
    context: lossText(losses, target, MOST_LINES).slice(0, 20_000),
    options: [
      option(APPROVE, `Land it anyway: exactly what is listed is dropped from ${target}.`),
      option(SEND_BACK, 'An agent puts it back. You can also write what to do instead.'),
    ],
    allowFreeText: true,
    tags: ['merge-loss'],
  };
}
