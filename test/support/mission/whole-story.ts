import { AppError } from '@tidemill/contract';

/**
 * One story for every surface and agent: an idea, its specification, its tasks, feedback, and the loop's proposals. The
 * same results are played by the scripted agent and by a model behind a vendor's program.
 */
interface Part {
  mode: 'ideate' | 'specify' | 'judge' | 'analyse' | 'propose';
  /** A part of the prompt; the first part that fits is played. */
  prompt?: string;
  outcome: string;
  result: Record<string, unknown>;
}

export const MESSAGES = [
  'Ships need to know when the gate opens. Today they ask by telephone, every single time they come in.',
  'Start with a list of the hours. Nobody else publishes them.',
  'Twelve skippers want it, the hours are known a week ahead, and the harbour office agrees.',
  'That is settled. Please write the brief.',
] as const;
export const FEEDBACK = 'The list shows yesterday as well. It should begin today.';
/** The answer to the one ambiguity. */
export const ANSWER = 'At least two ships long';

const reply = (text: string, more: object): Record<string, unknown> => ({ ideation: { reply: text, ...more } });
const artifact = (type: string, summary: string) => ({ type, summary, content: summary, confidence: 0.8 });
const validation = (text: string) => ({ type: 'validation', text });

const CATEGORIES = ['Code Quality', 'Testing', 'Technical Debt'];
export const PROPOSALS = [
  'Sort the hours of a day',
  'Refuse an hour that does not exist',
  'Remove the unused telephone list',
] as const;
const ABOUT = [
  'The hours of one day appear in the order they were written. Sorted hours are easier to read.',
  'An hour such as 25:10 is accepted and printed. A check names the mistake.',
  'A table of telephone numbers is left from last year and nothing reads it.',
];

function parts(tasks: number): Part[] {
  const numbers = Array.from({ length: tasks }, (_, index) => index + 1);
  const requirements = [
    { id: 'R1', text: 'The hours of the gate are listed.' },
    { id: 'R2', kind: 'non_functional', text: 'A ship that is at least two ships long is named.' },
  ];
  const draft = {
    title: 'Opening hours of the gate',
    summary: 'A list that skippers can read.',
    requirements,
    scope: { in: ['the list'], out: ['bookings'] },
    architecture: 'One text file for each part.',
    tasks: numbers.map((number) => ({
      id: `T${number}`,
      title: `Write part ${number}`,
      phase: number === tasks ? 'tests' : 'api',
      action: 'create',
      files: [`parts/${number}.txt`],
      dependsOn: number === tasks && number > 1 ? ['T1'] : [],
      requirements: [number === 2 ? 'R2' : 'R1'],
      accept: [`parts/${number}.txt exists and names its number`],
      validate: `test -f parts/${number}.txt`,
      estimateMinutes: 10,
    })),
  };
  return [
    {
      mode: 'ideate',
      prompt: MESSAGES[3],
      outcome: 'replied',
      result: reply('The brief is ready.', {
        signals: {
          artifacts: [artifact('brief', 'A list of the opening hours that skippers can read.')],
          confidence: 0.9,
        },
      }),
    },
    {
      mode: 'ideate',
      prompt: MESSAGES[2],
      outcome: 'replied',
      result: reply('Then it is worth building.', {
        signals: {
          decisions: [validation('Twelve skippers want it'), validation('Known a week ahead'), validation('Agreed')],
          risks: [{ text: 'The hours change at short notice', severity: 'low' }],
        },
      }),
    },
    {
      mode: 'ideate',
      prompt: MESSAGES[1],
      outcome: 'replied',
      result: reply('A list first. Who wants it?', {
        signals: {
          artifacts: [artifact('mvp-features', 'A list'), artifact('differentiator', 'Nobody publishes them')],
        },
      }),
    },
    {
      mode: 'ideate',
      outcome: 'replied',
      result: reply('What comes first?', {
        title: 'Gate hours',
        signals: {
          artifacts: [
            artifact('target-user', 'Skippers'),
            artifact('problem', 'Skippers ask by telephone when the gate opens, every time they come in.'),
            artifact('solution-concept', 'The hours are published'),
          ],
        },
      }),
    },
    { mode: 'specify', prompt: ANSWER, outcome: 'spec_ready', result: { spec: draft } },
    {
      mode: 'specify',
      outcome: 'spec_ready',
      result: {
        spec: {
          ...draft,
          ambiguities: [
            { requirement: 'large ships are named', term: 'large', options: [ANSWER, 'Over a hundred metres'] },
          ],
        },
      },
    },
    {
      mode: 'judge',
      outcome: 'judged',
      result: {
        judgement: { requirements: requirements.map(({ id }) => ({ requirement: id, met: true, evidence: 'parts/' })) },
      },
    },
    {
      mode: 'analyse',
      outcome: 'analysed',
      result: {
        analysis: {
          kind: 'bug',
          title: 'Begin the list today',
          body: 'Yesterday is in the list.',
          criteria: ['The list begins with today'],
          files: ['parts/1.txt'],
          confidence: 0.9,
        },
      },
    },
    ...CATEGORIES.map(
      (category, index): Part => ({
        mode: 'propose',
        prompt: `Propose one improvement: ${category}`,
        outcome: 'proposed',
        result: {
          proposal: {
            title: PROPOSALS[index],
            description: ABOUT[index],
            criteria: [`${PROPOSALS[index]}: seen in a test`, 'Every part is still there', 'Nothing else has changed'],
            effortHours: 1,
            files: ['parts/1.txt'],
          },
        },
      }),
    ),
    { mode: 'propose', outcome: 'no_idea', result: {} },
  ];
}

/** The story as a scenario of the scripted agent. */
export const scenarioOf = (tasks: number) => ({
  runs: parts(tasks).map(({ mode, prompt, outcome, result }) => ({
    when: { mode, ...(prompt === undefined ? {} : { prompt }) },
    do: [{ result: { outcome, summary: `played ${mode}`, ...result } }],
  })),
  default: {
    implement: [{ write: { path: 'parts/{taskNumber}.txt', content: 'part {taskNumber}\n' } }, { result: {} }],
    review: [{ result: { approve: true } }],
  },
});

/** What a model answers in a job of the story. */
export function resultFor(tasks: number, mode: string, prompt: string): Part {
  const part = parts(tasks).find((each) => each.mode === mode && prompt.includes(each.prompt ?? ''));
  if (!part) throw new AppError('internal', `the story has no part for ${mode}`);
  return part;
}

/** The project's settings; `agents` says who plays the story. */
export const configOf = (agents: object, gate: string) =>
  JSON.stringify({
    target: 'main',
    workers: 3,
    pipeline: 'quick',
    agents,
    gates: [{ name: 'test', run: gate }],
    loop: { approval: 'requires_approval' },
  });
