import { z } from 'zod';
import { PlainText } from '../text/plain-text.ts';

/** What happens when an agent's work touches one of these: continue, continue and notify, or wait for a person. */
export const Approval = z.enum(['automated', 'notify_and_proceed', 'requires_approval']);
export type Approval = z.infer<typeof Approval>;

export const HilConfig = z.strictObject({
  scopeChanges: Approval,
  architectureDecisions: Approval,
  dependencyModifications: Approval,
});
export type HilConfig = z.infer<typeof HilConfig>;
export type ApprovalMatter = keyof HilConfig;
/** A hash of the change in each matter that it touches: an approval is for exactly this content. */
export const MatterContents = z.partialRecord(HilConfig.keyof(), z.string());
export type MatterContents = z.infer<typeof MatterContents>;

const MATTERS = HilConfig.keyof().options;
const LONGEST_DECLARATION = 2_000;
const MOST_DECLARATIONS = 50;

/** What an agent says it decided in each matter, a sentence for each decision. Empty: it did, but not what. */
export const Declarations = z.preprocess(
  readDeclarations,
  z.partialRecord(HilConfig.keyof(), z.array(PlainText.max(LONGEST_DECLARATION))),
);
export type Declarations = z.infer<typeof Declarations>;

/** Also a list of matters, as earlier versions had it, or a sentence in place of a list. What cannot be read is dropped. */
function readDeclarations(value: unknown): unknown {
  if (Array.isArray(value)) return Object.fromEntries(MATTERS.filter((each) => value.includes(each)).map(wordless));
  if (typeof value !== 'object' || value === null) return {};
  const given = value as Record<string, unknown>;
  return Object.fromEntries(
    MATTERS.flatMap((matter) => {
      const said = given[matter] === true ? [''] : [given[matter]].flat().filter((each) => typeof each === 'string');
      const words = said.map((each) => each.slice(0, LONGEST_DECLARATION)).slice(0, MOST_DECLARATIONS);
      return words.length > 0 ? [[matter, words]] : [];
    }),
  );
}
const wordless = (matter: ApprovalMatter): [ApprovalMatter, string[]] => [matter, ['']];

export const AutonomyPreset = z.enum(['confirm_all', 'major_only', 'full']);
export type AutonomyPreset = z.infer<typeof AutonomyPreset>;

const all = (approval: Approval): HilConfig => ({
  scopeChanges: approval,
  architectureDecisions: approval,
  dependencyModifications: approval,
});

export const AUTONOMY_PRESETS: Record<AutonomyPreset, HilConfig> = {
  confirm_all: all('requires_approval'),
  major_only: {
    scopeChanges: 'notify_and_proceed',
    architectureDecisions: 'requires_approval',
    dependencyModifications: 'requires_approval',
  },
  full: all('automated'),
};

/** As written in a config: a preset's name, or a value for each matter. Missing matters are as in `full`. */
export const HilSetting = z
  .union([AutonomyPreset, HilConfig.partial()], {
    error:
      'is confirm_all, major_only or full, or { scopeChanges, architectureDecisions, dependencyModifications }, each automated, notify_and_proceed or requires_approval',
  })
  .transform(
    (setting): HilConfig =>
      typeof setting === 'string' ? AUTONOMY_PRESETS[setting] : { ...AUTONOMY_PRESETS.full, ...setting },
  );
