import { z } from 'zod';

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
