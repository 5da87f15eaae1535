import {
  type Actor,
  type AgentEnvelope,
  type EventType,
  LessonDraft,
  personActor,
  type Question,
  SpecDraft,
} from '@tidemill/contract';
import { afterEach, expect, test } from 'vitest';
import { EngineBed } from '../../../../../test/support/engine-bed.ts';
import { assetDir } from '../../assets.ts';
import { createIds } from '../../clock.ts';
import type { Agent, Ideation, Knowledge, Trigger, TriggerFacts } from '../../ports.ts';
import { loadCatalogue } from '../../questions/catalogue.ts';
import { recordLesson } from '../learning/record-lesson.ts';

const MINUTE = 60_000;
const projectId = 'project_1';
const ada = personActor('ada');
const catalogue = loadCatalogue({ root: '/nowhere', builtinDir: assetDir('prompts/questions') });

const of = { number: 1, title: 'Task 1' };
const FACTS: { [T in Trigger]: TriggerFacts[T] } = {
  missing_context: { ...of, missing: 'a key' },
  task_failed_repeatedly: { ...of, error: 'it failed', runs: 3, tried: '- once' },
  multiple_failures: { ...of, count: 2, failing: '- test\n- lint' },
  security_vulnerability: { ...of, gate: 'audit', kind: 'CVE-1', severity: 'high', where: '', details: '- CVE-1' },
  coverage_below_threshold: { ...of, coverage: 40, threshold: 80, uncovered: '- src/tide.ts' },
  task_complexity_exceeded: { ...of, times: 4, expected: '1 min', actual: '4 min' },
  milestone_reached: { name: '', done: 4, total: 8, percent: 50 },
  requirement_ambiguous: { requirement: 'It is fast', term: 'fast' },
  multiple_architectures: {
    ...{ feature: 'storage', first: 'files', first_pros: 'a', first_cons: 'b', first_effort: '1 h' },
    ...{ second: 'a database', second_pros: 'c', second_cons: 'd', second_effort: '2 h' },
  },
  before_finalize_spec: { in_scope: '- parts', out_of_scope: '- wholes' },
  external_dependencies: { dependencies: '- a printer' },
  spec_complete: { tasks: 1, complexity: 'low', risks: 'none', critic: '' },
  multiple_implementations: { ...of, question: 'Which?', first: 'A list', second: 'A map', recommendation: 'A map' },
  validation_passed: { ...of, gates: 1, checks: 'test' },
  idea_created: { title: 'Tides' },
  problem_statement_vague: { title: 'Tides', problem: 'late', length: 4 },
  phase_complete: { title: 'Tides', phase: 'exploring', settled: 'problem' },
  idea_complexity_high: { title: 'Tides', complexity: 9 },
  before_research: { title: 'Tides', areas: '1. tide data' },
  pattern_detected: { pattern: 'x', count: 2, where: '#1', confidence: 0.9 },
  gotcha_candidate: { gotcha: 'x', context: 'a', impact: 'b' },
  claude_md_promotion: { pattern: 'x', count: 3, confidence: 0.95, file: 'AGENTS.md', addition: '- x' },
  reflection_offer: { about: '#1', reason: 'blocked', usd: '1' },
  weekly_summary: { patterns: 1, gotchas: 0, total: 1, top: 'L1' },
};

/** What follows from each option. `null`: its description says that nothing changes. */
const EFFECTS: Partial<Record<Trigger, Record<string, EventType | null>>> = {
  task_failed_repeatedly: {
    Retry: 'task.counters_reset',
    'Keep it blocked': 'task.blocked',
    'I will do it myself': 'task.blocked',
  },
  multiple_failures: {
    'One gate at a time': 'task.feedback_given',
    'Start over': 'task.feedback_given',
    'Keep it blocked': 'task.blocked',
  },
  security_vulnerability: {
    'Fix it now': 'task.feedback_given',
    'I will look into it myself': 'task.blocked',
    'Accept the risk': 'task.blocked',
  },
  coverage_below_threshold: { 'It is enough': null, 'Add a task for more tests': 'task.created' },
  task_complexity_exceeded: { Continue: null, 'Keep it simpler': 'task.noted' },
  milestone_reached: { Good: null },
  multiple_architectures: { A: 'spec.settled', B: 'spec.settled' },
  before_finalize_spec: {
    Yes: null,
    'Something is missing': 'spec.revision_requested',
    'Something is not needed': 'spec.revision_requested',
  },
  external_dependencies: {
    'Yes, checked': null,
    'Check them': 'spec.revision_requested',
    'Do without them': 'spec.revision_requested',
  },
  spec_complete: { Start: 'spec.approved', 'I want to read it first': null },
  multiple_implementations: { 'A list': 'task.noted', 'A map': 'task.noted' },
  validation_passed: { Good: null },
  idea_created: {
    'Me and developers like me': 'idea.reply_requested',
    'Small businesses': 'idea.reply_requested',
    'Large organisations': 'idea.reply_requested',
  },
  phase_complete: {
    Continue: 'idea.reply_requested',
    'I want to change something first': 'idea.reply_requested',
    'Keep it for later': 'idea.paused',
  },
  idea_complexity_high: {
    'Help me find it': 'idea.reply_requested',
    'All of it at once': 'idea.reply_requested',
  },
  before_research: { 'Nothing is missing': 'idea.researched', 'Skip it': 'idea.researched' },
  pattern_detected: { Yes: 'lesson.confirmed', 'No, a coincidence': 'lesson.retired' },
  gotcha_candidate: { Yes: 'lesson.confirmed', 'Only in this project': 'lesson.edited', No: 'lesson.retired' },
  claude_md_promotion: { Yes: 'lesson.promoted', 'Keep it in the memory only': null },
  // The reactor looks for a yes when work fails: reflections.test.ts shows that it then asks an agent.
  reflection_offer: { Yes: 'question.answered', No: null },
  weekly_summary: { Good: null },
};

const draft = SpecDraft.parse({
  title: 'Parts',
  requirements: [{ id: 'R1', text: 'There are parts' }],
  scope: { in: ['parts'], out: [] },
  dependencies: ['a printer'],
  tasks: [
    {
      ...{ id: 'T1', title: 'Part', phase: 'api', requirements: ['R1'], files: ['a.ts'], accept: ['It prints a part'] },
      ...{ validate: 'npm test', estimateMinutes: 10 },
    },
  ],
});
const way = (name: string) => ({ name, pros: [], cons: [], effort: '' });
const undecided = { ...draft, architectures: [{ feature: 'storage', options: [way('files'), way('a database')] }] };
const artifact = (type: string) => ({
  type,
  summary: '',
  content: 'Fishermen wait for hours. '.repeat(3),
  confidence: 0.9,
});
const ideation = {
  reply: 'Noted.',
  complexity: 9,
  wantsResearch: ['tide data'],
  signals: {
    ...{ artifacts: ['target-user', 'problem', 'solution-concept'].map(artifact), decisions: [], risks: [] },
    confidence: 0.5,
  },
};

/** Fails at every task, talks about ideas, and writes this specification. */
const agent = (spec: SpecDraft): Agent => ({
  label: 'scripted',
  start({ brief: { mode } }) {
    const envelope: AgentEnvelope =
      mode === 'ideate'
        ? { outcome: 'replied', summary: '', ideation }
        : mode === 'specify'
          ? { outcome: 'spec_ready', summary: '', spec }
          : mode === 'critique'
            ? { outcome: 'critiqued', summary: '', critique: { findings: [] } }
            : { outcome: 'failed', summary: 'cannot' };
    return { end: Promise.resolve({ kind: 'result', envelope }), stop: async () => undefined };
  },
});
const ideas: Ideation = {
  phasePrompt: async () => '',
  profileOf: async () => [],
  keep: async () => ({ kind: 'kept' }),
  search: async () => 'tide data is free',
};
const knowledge: Knowledge = { gotchas: async () => [], all: async () => [], instructions: async () => ['', ''] };

let bed: EngineBed;
afterEach(() => bed.close());

async function open(spec = draft): Promise<void> {
  bed = await EngineBed.open({}, () => ({ agentFor: () => agent(spec), catalogue, ideation: ideas, knowledge }));
  await bed.start();
}

async function asked(trigger: Trigger): Promise<Question> {
  const all = await bed.store.records({ noun: 'question', projectId });
  const question = all.find(({ tags, status }) => tags.includes(trigger) && status === 'open');
  if (!question) throw new Error(`${trigger} was not asked`);
  return question;
}
async function answer({ id: questionId, taskId, subjectId }: Question, text: string): Promise<void> {
  await bed.must({ type: 'question.answer', projectId, taskId, subjectId, questionId, text, by: ada, source: 'user' });
  await bed.pass(MINUTE);
}
async function ask<T extends Trigger>(trigger: T, about: { taskId?: string; sourceId?: string }): Promise<Question> {
  for (const { question, effect } of catalogue.raise(trigger, FACTS[trigger])) {
    const { taskId = null, sourceId = trigger } = about;
    const by = { stage: '', agent: 'tidemill', source: 'catalogue' as const };
    await bed.must({ type: 'question.ask', projectId, taskId, ...by, sourceId, effect, questions: [question] });
  }
  return asked(trigger);
}

async function aboutIdea(trigger: Trigger): Promise<Question> {
  await open();
  await bed.must({ type: 'idea.create', projectId, ideaId: 'idea_1', text: 'Tides for harbours', by: ada });
  await bed.pass(MINUTE);
  if (trigger !== 'idea_created') await answer(await asked('idea_created'), 'Small businesses');
  return asked(trigger);
}
async function aboutSpec(trigger: Trigger): Promise<Question> {
  await open(trigger === 'multiple_architectures' ? undecided : draft);
  const source = { kind: 'text', ideaId: null, text: 'x' } as const;
  await bed.must({ type: 'spec.request', projectId, specId: 'spec_1', title: 'x', source, by: ada });
  await bed.pass(MINUTE);
  return asked(trigger);
}
async function aboutTask(trigger: Trigger): Promise<Question> {
  await open();
  await bed.add(1);
  await bed.pass(90 * MINUTE);
  expect((await bed.store.task('task_1'))?.stage).toBe('blocked');
  return trigger === 'task_failed_repeatedly' ? asked(trigger) : ask(trigger, { taskId: 'task_1' });
}
async function aboutLesson(trigger: Trigger): Promise<Question> {
  await open();
  const by: Actor = trigger === 'gotcha_candidate' ? { kind: 'agent', id: 'a', name: 'agent-1' } : ada;
  const text = 'Regenerate the client after every change of the schema file';
  const deps = { store: bed.store, ids: createIds(bed.clock), project: { id: projectId } };
  const origin = { traceIds: [], taskIds: ['task_9'], runId: null, by };
  const kept = await recordLesson(deps, LessonDraft.parse({ text, filePatterns: ['schema/**'], scope: 'all' }), origin);
  if (kept.kind === 'refused') throw new Error(kept.refusal.message);
  await bed.pass(MINUTE);
  return trigger === 'gotcha_candidate' ? asked(trigger) : ask(trigger, { sourceId: `${trigger}/${kept.lesson.id}/1` });
}
async function aboutProject(trigger: Trigger): Promise<Question> {
  await open();
  return ask(trigger, {});
}

const TASKS = ['task_failed_repeatedly', 'multiple_failures', 'security_vulnerability', 'task_complexity_exceeded'];
const SPECS = ['multiple_architectures', 'before_finalize_spec', 'external_dependencies', 'spec_complete'];
const IDEAS = ['idea_created', 'phase_complete', 'idea_complexity_high', 'before_research'];
const LESSONS = ['pattern_detected', 'gotcha_candidate', 'claude_md_promotion'];
function raised(trigger: Trigger): Promise<Question> {
  if (TASKS.includes(trigger) || trigger === 'multiple_implementations') return aboutTask(trigger);
  if (SPECS.includes(trigger)) return aboutSpec(trigger);
  if (IDEAS.includes(trigger)) return aboutIdea(trigger);
  return LESSONS.includes(trigger) ? aboutLesson(trigger) : aboutProject(trigger);
}

const options = (Object.keys(FACTS) as Trigger[]).flatMap((trigger) =>
  catalogue
    .raise(trigger, FACTS[trigger])
    .flatMap(({ question }) => question.options.map(({ label, description }) => ({ trigger, label, description }))),
);

test.each(options)('the option "$label" of $trigger does what it says', async ({ trigger, label, description }) => {
  const effect = EFFECTS[trigger]?.[label];
  expect(effect, 'the table of effects names it').not.toBeUndefined();
  const question = await raised(trigger);
  const [last] = await bed.store.events({ projectId, newestFirst: true, limit: 1 });
  await answer(question, label);
  if (effect === null || effect === undefined) {
    expect(description).toMatch(/^Nothing changes\./);
    return;
  }
  const after = await bed.store.events({ projectId, after: last!.seq, limit: 1_000 });
  // Only a lesson in production is promoted; promotions.test.ts shows that one. Here the attempt is enough.
  if (effect === 'lesson.promoted') expect(bed.notes.join('\n')).toContain('only a lesson in production is promoted');
  else expect(after.map(({ body }) => body.type)).toContain(effect);
});
