/** What a person may set in the editor. Null: the project's config decides. */
export interface WantedSettings {
  workers: number | null;
  dailyBudgetUsd: number | null;
  monthlyBudgetUsd: number | null;
  enabledCategories: string[] | null;
}

/** The names of the settings, after `tidemill.` */
export const WANTED = ['workers', 'dailyBudgetUsd', 'monthlyBudgetUsd', 'enabledCategories'] as const;

export interface SettingProblem {
  setting: string;
  severity: 'warning' | 'error';
  text: string;
}

export interface KnownLimits {
  maxWorkers: number;
  categories: readonly string[];
  dailyUsd: number;
  monthlyUsd: number;
}

const MOST_USD = 1_000_000;

/** Safe values for what is wrong, and a sentence for each. What is right stays. */
export function checkSettings(
  given: Record<(typeof WANTED)[number], unknown>,
  known: KnownLimits,
): { settings: WantedSettings; problems: SettingProblem[] } {
  const problems: SettingProblem[] = [];
  const settings: WantedSettings = {
    workers: workersOf(given.workers, known.maxWorkers, problems),
    dailyBudgetUsd: budgetOf('dailyBudgetUsd', given.dailyBudgetUsd, known.dailyUsd, problems),
    monthlyBudgetUsd: budgetOf('monthlyBudgetUsd', given.monthlyBudgetUsd, known.monthlyUsd, problems),
    enabledCategories: categoriesOf(given.enabledCategories, known.categories, problems),
  };
  return { settings, problems };
}

const isUnset = (value: unknown) => value === null || value === undefined;
const shown = (value: unknown) => JSON.stringify(value) ?? String(value);

function workersOf(value: unknown, most: number, problems: SettingProblem[]): number | null {
  if (isUnset(value)) return null;
  const say = (text: string) => problems.push({ setting: 'workers', severity: 'warning', text });
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1) {
    say(`tidemill.workers is ${shown(value)}. It must be a whole number from 1 to ${most}. Using 1.`);
    return 1;
  }
  if (value <= most) return value;
  say(`tidemill.workers is ${value}. A project has at most ${most} agents. Using ${most}.`);
  return most;
}

function budgetOf(setting: string, value: unknown, usual: number, problems: SettingProblem[]): number | null {
  if (isUnset(value)) return null;
  if (typeof value === 'number' && Number.isFinite(value) && value > 0 && value <= MOST_USD) return value;
  const text = `tidemill.${setting} is ${shown(value)}. A budget is more than 0 and at most 1,000,000 USD. Using $${usual}.`;
  problems.push({ setting, severity: 'error', text });
  return usual;
}

function categoriesOf(value: unknown, known: readonly string[], problems: SettingProblem[]): string[] | null {
  if (isUnset(value)) return null;
  const say = (text: string) => problems.push({ setting: 'enabledCategories', severity: 'warning', text });
  if (!Array.isArray(value)) {
    say(`tidemill.enabledCategories is ${shown(value)}. It must be a list of categories. Using those of the config.`);
    return null;
  }
  const unknown = value.filter((each) => !known.includes(each));
  const right = [...new Set(value.filter((each) => known.includes(each)))] as string[];
  if (unknown.length > 0) {
    const names = unknown.map(shown).join(', ');
    const rest = right.length > 0 ? 'They are left out.' : 'None is left, so those of the config are used.';
    say(`tidemill.enabledCategories has unknown names: ${names}. ${rest}`);
  } else if (right.length === 0) say('tidemill.enabledCategories is empty. Using the categories of the config.');
  return right.length > 0 ? right : null;
}

/** What the settings want and the daemon does not have yet. Nothing of it is applied without a click. */
export interface SettingsGap {
  /** How many agents should build, where another number does. */
  workers?: number;
  dailyUsd?: number;
  monthlyUsd?: number;
  categories?: string[];
}

export function gapOf(
  { workers, dailyBudgetUsd, monthlyBudgetUsd, enabledCategories }: WantedSettings,
  has: { workers: number; dailyUsd: number; monthlyUsd: number; categories: readonly string[] },
): SettingsGap {
  const gap: SettingsGap = {};
  if (workers !== null && workers !== has.workers) gap.workers = workers;
  if (dailyBudgetUsd !== null && dailyBudgetUsd !== has.dailyUsd) gap.dailyUsd = dailyBudgetUsd;
  if (monthlyBudgetUsd !== null && monthlyBudgetUsd !== has.monthlyUsd) gap.monthlyUsd = monthlyBudgetUsd;
  if (enabledCategories && !isSameSet(enabledCategories, has.categories)) gap.categories = enabledCategories;
  return gap;
}

const isSameSet = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((each) => b.includes(each));
