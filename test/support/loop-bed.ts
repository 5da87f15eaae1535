import {
  type CategoryView,
  LoopConfig,
  type Mode,
  type ProjectRules,
  type Proposal,
  type ProposalDraft,
} from '@tidemill/contract';
import type { EngineDeps } from '../../packages/daemon/src/engine/deps.ts';
import type { Agent, AgentEnd, CategoryText } from '../../packages/daemon/src/ports.ts';
import { EngineBed, quickAgent, silentAgent } from './engine-bed.ts';

const MINUTE = 60_000;
const BRIEFING = {
  prompt: '',
  promptTokens: 0,
  dropped: [],
  model: null,
  tools: null,
  maxTurns: null,
  timeoutMs: null,
};

export const proposalDraft = (title: string, more: Partial<ProposalDraft> = {}): ProposalDraft => ({
  title,
  description: `${title} makes the mill better for everybody who uses it.`,
  criteria: [`a test shows that ${title} is done`, 'the old behaviour stays as it is', 'the document names it'],
  approach: '',
  effortHours: 2,
  files: [],
  newFiles: [],
  dependencies: [],
  ...more,
});

type Idea = ProposalDraft | 'nothing' | 'dies' | 'silent';
export const categoryText = (slug: string, more: Partial<CategoryText> = {}): CategoryText => ({
  slug,
  name: slug,
  isOff: false,
  fault: null,
  fill: () => slug,
  ...more,
});

interface World {
  loop?: object;
  rules?: Partial<ProjectRules>;
  /** What the agent says in each category, in the order of the categories. */
  ideas: Record<string, Idea>;
  texts?: CategoryText[];
  deps?: (bed: EngineBed) => Partial<EngineDeps>;
}

export async function openLoop({ loop = {}, rules = {}, ideas, texts, deps = () => ({}) }: World): Promise<EngineBed> {
  const config = LoopConfig.parse({ enabled: true, exposure: 4, min: 1, max: 1, approval: 'automated', ...loop });
  const bed = await EngineBed.open({ loop: config, ...rules }, (self) => {
    const builder = quickAgent(() => self.repository);
    const agent = proposer(ideas);
    return {
      improvements: {
        categories: async () => texts ?? Object.keys(ideas).map((slug) => categoryText(slug)),
        stack: async () => ({ languages: [], frameworks: [], dependencies: new Set(['react']) }),
      },
      prompts: { render: async () => BRIEFING, renderJob: async ({ input }) => ({ ...BRIEFING, prompt: input }) },
      agentFor: (mode) => (mode === 'propose' ? agent : builder),
      ...deps(self),
    };
  });
  await bed.start();
  return bed;
}

/** It has each idea once. */
export function proposer(given: Record<string, Idea>): Agent {
  const ideas = { ...given };
  return {
    label: 'proposer',
    isFree: true,
    start(request, sink) {
      const { prompt: slug } = request.brief;
      const idea = ideas[slug] ?? 'nothing';
      if (idea === 'silent') return silentAgent.start(request, sink);
      if (typeof idea === 'object') ideas[slug] = 'nothing';
      return { end: Promise.resolve(endOf(idea)), stop: async () => undefined };
    },
  };
}

function endOf(idea: ProposalDraft | 'nothing' | 'dies'): AgentEnd {
  if (idea === 'dies') return { kind: 'failed', failure: 'no_result', message: 'only prose', exitCode: null };
  if (idea === 'nothing') return { kind: 'result', envelope: { outcome: 'no_idea', summary: 'nothing to improve' } };
  return { kind: 'result', envelope: { outcome: 'proposed', summary: idea.title, proposal: idea } };
}

/** Takes some virtual minutes, shows signs of life, and costs something. */
export function slowAgent(self: EngineBed, agent: Agent, minutes: (mode: Mode) => number, costUsd: number): Agent {
  return {
    label: 'slow',
    start(request, sink) {
      const { end, stop } = agent.start(request, sink);
      const work = async () => {
        for (let left = minutes(request.brief.mode); left > 0; left -= 5) {
          await self.clock.sleep(Math.min(left, 5) * MINUTE);
          sink.usage({ inputTokens: 1, outputTokens: 1, requests: 1, costUsd: left <= 5 ? costUsd : 0 });
        }
        return end;
      };
      return { end: work(), stop };
    },
  };
}

export const MANY_IDEAS = Object.fromEntries(
  [
    ...['Grease wheels', 'Paint doors', 'Mend sails', 'Weigh flour', 'Count sacks', 'Sharpen stones', 'Sweep floors'],
    ...['Dry grain', 'Feed horses', 'Oil hinges', 'Patch roofs', 'Stack crates'],
  ].map((title) => [title.split(' ')[1]!, proposalDraft(title)]),
);

/** What a test looks at. */
export const seenIn = (bed: EngineBed) => {
  const proposals = (): Promise<Proposal[]> => bed.store.records({ noun: 'proposal', projectId: bed.projectId });
  return {
    proposals,
    states: async () => (await proposals()).map(({ category, status, outcome }) => `${category} ${outcome ?? status}`),
    used: async () => (await bed.log('category.used')).map(({ body }) => (body as { category: string }).category),
    alertText: async (kind: CategoryView['slug']) =>
      (await bed.store.records({ noun: 'alert', projectId: bed.projectId })).find((alert) => alert.kind === kind)
        ?.text ?? '',
  };
};
