import {
  type AskedQuestion,
  type OldChecks,
  oldChecksText,
  type Project,
  type Question,
  type Stage,
  type Task,
} from '@tidemill/contract';
import { checkFence } from '../check-fence.ts';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import type { Deciding } from '../gate/deciding/changed-file.ts';
import { checksApproval, isChecksApproved } from '../gate/old-checks.ts';
import { parked } from '../pipeline/park.ts';
import { isReviewed } from '../pipeline/review.ts';
import { stageOf } from '../pipeline/stage.ts';
import { askAll } from '../question/ask.ts';
import { APPROVAL_OPTIONS } from '../question/effect.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { released } from '../work.ts';

/** The rest are only counted; the diff shows them all. */
const MOST_FILES = 50;

/**
 * A change of what gates check waits for a person before it lands, if no review sees it. So does what the target's versions
 * of these files found after the review. Nothing happens when exactly this was approved before.
 */
export function holdStage(slice: Slice, command: CommandOf<'stage.hold'>, env: DecideEnv): Decision {
  const { files, oldChecks } = command;
  const checks = checksApproval(files, oldChecks, env.hash);
  return holdFor(slice, command, env, ({ task, project }) =>
    isChecksApproved(task, checks)
      ? null
      : {
          question: questionAbout(task, project, files, oldChecks),
          because: 'changed checks wait for a person',
          effect: { checks },
        },
  );
}

interface Held {
  question: AskedQuestion;
  because: string;
  /** What an approval is for. */
  effect: Pick<Extract<Question['effect'], { kind: 'approval' }>, 'checks' | 'losses' | 'pull'>;
}

/** Parks the task with a question that only a person answers, and releases it. Null: a person approved this before. */
export function holdFor(
  slice: Slice,
  command: CommandOf<'stage.hold' | 'stage.veto' | 'merge.ask'>,
  env: DecideEnv,
  why: (found: { task: Task; project: Project }) => Held | null,
): Decision {
  const checked = checkFence(slice, command);
  if (!checked.ok) return checked;
  const { task, project } = checked;
  const stage = stageOf(project.rules, task);
  if (stage?.actor !== 'system')
    return refuse('wrong_stage', `#${task.number} is in ${task.stage}, which is not a merge stage`);
  if (task.prepared)
    return refuse('conflict', `${task.prepared.commit} may have landed already`, 'land it or abandon it first');
  const held = why({ task, project });
  if (!held) return accept();
  const stages = project.rules.pipelines[task.pipeline]?.stages ?? {};
  const effect = { kind: 'approval' as const, matters: [], sendBackTo: builderOf(stages, stage), ...held.effect };
  const asked = askAll(
    slice,
    {
      project,
      runId: null,
      stage: task.stage,
      holdsAlways: true,
      agent: 'engine',
      source: 'engine',
      effect,
      // Asked every time: an earlier rejection does not count as an answer.
      ...{ sourceId: task.id, task: { ...task, openQuestions: [], asked: {} } },
    },
    [held.question],
    env,
  );
  const holding = [...task.openQuestions, ...asked.holding];
  return accept(...asked.events, parked(task, task.stage, holding), released(task, held.because));
}

function questionAbout(
  task: Task,
  { rules }: Project,
  files: Deciding[],
  oldChecks: OldChecks | undefined,
): AskedQuestion {
  const lines = files.slice(0, MOST_FILES).map(({ file, why }) => `- ${file}: ${why}`);
  if (files.length > MOST_FILES) lines.push(`- and ${files.length - MOST_FILES} more`);
  const names = files.slice(0, 3).map(({ file }) => file);
  const more = files.length > names.length ? ` and ${files.length - names.length} more` : '';
  const why = isReviewed(rules, task)
    ? `and what ${rules.target}'s own versions say about the new code was found after its review`
    : 'and nobody reviews it in this pipeline';
  const text = `#${task.number} ${task.title}: the work changes what the gates check (${names.join(', ')}${more}), ${why}. Let it land?`;
  if (oldChecks) lines.push('', oldChecksText(oldChecks, rules.target));
  return {
    text: text.slice(0, 20_000),
    type: 'blocking',
    context: lines.join('\n').slice(0, 20_000),
    options: APPROVAL_OPTIONS,
    allowFreeText: true,
    tags: ['checks'],
  };
}

/** The stage for a rejected change: where a failed landing goes back to, if an agent works there. */
function builderOf(stages: Record<string, Stage>, stage: Extract<Stage, { actor: 'system' }>): string {
  const isBuilder = (name: string) => stages[name]?.actor === 'agent';
  if (isBuilder(stage.on.failed)) return stage.on.failed;
  const builder = Object.entries(stages).find(
    ([, { actor, ...rest }]) => actor === 'agent' && 'mode' in rest && rest.mode === 'implement',
  );
  return builder?.[0] ?? stage.on.failed;
}
