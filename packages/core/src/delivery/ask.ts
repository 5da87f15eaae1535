import {
  AskedQuestion,
  DELIVERY_ANSWERS,
  type Delivery,
  deliveryRef,
  type EventBody,
  type Project,
  type Question,
} from '@tidemill/contract';
import type { DecideEnv } from '../command.ts';
import { askAll } from '../question/ask.ts';
import type { Slice } from '../slice.ts';
import { environmentOf } from './rules.ts';

type About = Extract<Question['effect'], { kind: 'delivery' }>['about'];
const { approve, decline, live, rollBack, again, leave } = DELIVERY_ANSWERS;
const MOST_NAMED = 20;

function asked(
  slice: Slice,
  project: Project,
  delivery: Delivery,
  about: About,
  question: { text: string; context: string; options: { label: string; description: string }[] },
  env: DecideEnv,
): EventBody[] {
  const effect = { kind: 'delivery' as const, about };
  const source = { agent: 'engine', source: 'engine' as const, sourceId: delivery.id, effect };
  const asking = {
    ...source,
    project,
    task: null,
    subjectId: delivery.id,
    runId: null,
    stage: 'deliver',
    holdsAlways: true,
  };
  const whole = AskedQuestion.parse({ ...question, type: 'blocking', allowFreeText: false, tags: ['delivery'] });
  return askAll(slice, asking, [whole], env).events;
}

const named = ({ number, environment }: Delivery) => `${deliveryRef(number)} to ${environment}`;

/** Ready to approve for deployment? */
export function askApproval(slice: Slice, project: Project, delivery: Delivery, env: DecideEnv): EventBody[] {
  const { tasks, taskCount, commit, evidence, unproven, override, environment } = delivery;
  const gates = evidence.map(({ gate, counts }) => (counts ? `${gate} (${counts.passed} tests)` : gate)).join(', ');
  const lines = [
    `Commit ${commit}`,
    ...(gates ? [`Passed: ${gates}`] : []),
    ...(unproven.length > 0 ? [`Not proven yet: ${unproven.join(', ')}. These gates run before it begins.`] : []),
    ...(gates || unproven.length > 0 ? [] : ['No gate has passed on it.']),
    ...(override ? [`Overridden by ${override.by.name}: ${override.why}`] : []),
    `It brings ${taskCount} task${taskCount === 1 ? '' : 's'}:`,
    ...tasks.slice(0, MOST_NAMED).map(({ number, title }) => `- #${number} ${title}`),
    ...(taskCount > MOST_NAMED ? [`- and ${taskCount - MOST_NAMED} more`] : []),
  ];
  const text = `Is ${commit.slice(0, 10)} ready to be deployed to ${environment} (${deliveryRef(delivery.number)})?`;
  const options = [
    { label: approve, description: `It is delivered to ${environment} now.` },
    { label: decline, description: 'Nothing is delivered. Later commits are asked about again.' },
  ];
  return asked(slice, project, delivery, 'approval', { text, context: lines.join('\n'), options }, env);
}

/** A crash cut its commands short, and the check cannot tell what is there now. */
export function askAfterCrash(
  slice: Slice,
  project: Project,
  delivery: Delivery,
  help: string,
  env: DecideEnv,
): EventBody[] {
  const text = `${named(delivery)} was cut short${timesOf(delivery)}. What does ${delivery.environment} have now?`;
  const options = [
    { label: live, description: `${delivery.commit.slice(0, 10)} is live and works.` },
    ...(hasWayBack(project, delivery) ? [{ label: rollBack, description: 'The rollback runs.' }] : []),
    { label: again, description: 'Its commands run again from the first one.' },
  ];
  return asked(
    slice,
    project,
    delivery,
    'interrupted',
    { text, context: `${delivery.why}\n${help}`.trim(), options },
    env,
  );
}

export function askAfterRollback(
  slice: Slice,
  project: Project,
  delivery: Delivery,
  help: string,
  env: DecideEnv,
): EventBody[] {
  const { environment, previous } = delivery;
  const text = `${named(delivery)} failed, and so did its rollback${timesOf(delivery)}. Please look at ${environment}. What now?`;
  const back = previous ? `${previous.commit.slice(0, 10)} is back and works.` : `${environment} works again.`;
  const options = [
    { label: live, description: back },
    ...(hasWayBack(project, delivery) ? [{ label: rollBack, description: 'The rollback runs once more.' }] : []),
    { label: leave, description: `${environment} stays as it is. The next delivery may begin.` },
  ];
  return asked(
    slice,
    project,
    delivery,
    'rollback',
    { text, context: `${delivery.why}\n${help}`.trim(), options },
    env,
  );
}

/** Without an earlier commit and without commands, a rollback would deliver the same commit again. */
const hasWayBack = (project: Project, { previous, environment }: Delivery) =>
  previous !== null || environmentOf(project, environment)?.hasRollback === true;

/** So that the same question can be asked again on the same day. */
function timesOf({ steps }: Delivery): string {
  const count = steps.filter(({ result }) => result === 'interrupted').length;
  const rollbacks = steps.filter(({ kind, result }) => kind.startsWith('rollback') && result !== 'passed').length;
  const times = Math.max(count, rollbacks);
  return times > 1 ? ` (${times} times)` : '';
}
