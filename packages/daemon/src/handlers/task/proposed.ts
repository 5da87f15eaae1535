import type { Approval, ApprovalMatter, Caller, HilConfig, Project } from '@tidemill/contract';
import { personDecides } from '../role.ts';

interface Proposed {
  kind?: string | undefined;
  pipeline?: string | undefined;
  hilConfig?: HilConfig | undefined;
}

const STRICTNESS: Approval[] = ['automated', 'notify_and_proceed', 'requires_approval'];

/** An agent may add tasks, but none that people look at less than the project says. */
export function checkProposed(
  { role, agent }: Pick<Caller, 'role' | 'agent'>,
  project: Project,
  asked: Proposed,
): void {
  if (agent === undefined && role !== 'agent') return;
  const { rules } = project;
  const matters = Object.keys(rules.hilConfig) as ApprovalMatter[];
  const strictness = (config: HilConfig, matter: ApprovalMatter) => STRICTNESS.indexOf(config[matter]);
  const { hilConfig } = asked;
  if (hilConfig && matters.some((each) => strictness(hilConfig, each) < strictness(rules.hilConfig, each)))
    throw personDecides('A task with more autonomy than the project gives');
  if (asked.pipeline === undefined) return;
  const usual = asked.kind === 'bug' && rules.pipelines.bug ? 'bug' : rules.defaultPipeline;
  if (isReviewed(project, usual) && !isReviewed(project, asked.pipeline))
    throw personDecides(`A task in the pipeline "${asked.pipeline}", which has no review,`);
}

/** An unknown pipeline is refused elsewhere. */
function isReviewed({ rules }: Project, pipeline: string): boolean {
  const stages = Object.values(rules.pipelines[pipeline]?.stages ?? {});
  return stages.length === 0 || stages.some((stage) => stage.actor === 'agent' && stage.mode === 'review');
}
