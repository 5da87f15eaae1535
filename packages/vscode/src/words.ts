// The same words as on the page. Without the contract, because these are needed before it is loaded.

export const stageText = (name: string) => name.replaceAll('_', ' ');

export const plural = (count: number, one: string, many = `${one}s`) =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

export function money(usd: number): string {
  if (usd > 0 && usd < 0.01) return '<$0.01';
  return `$${usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

/** `$50` rather than `$50.00`: limits are round. */
export const limit = (usd: number) => (Number.isInteger(usd) ? `$${usd.toLocaleString('en-US')}` : money(usd));

/** For lists to choose from: there the editor would draw an icon, or nothing, for `$(pwd)`. */
export const pickText = (text: string) => text.replaceAll('$(', '\\$(');

export const percent = (part: number) => `${Math.round(part * 100)} %`;

/** A daemon that says something which this extension does not know. */
export const otherVersionText = (version: string) =>
  `Tidemill is running${version ? ` with version ${version}` : ''}, and this extension has another version: it cannot read everything that Tidemill says. Update the older of the two, and restart Tidemill.`;

/** A step that begins with the id of a criterion: a reviewer's list has one for each. */
const CRITERION = /^(?:C\d+|AC-\d+(?:\.\d+)*(?:\.[a-z])?)(?![\w-])/;

/** `3 of 5 criteria` where a to-do list lists criteria, else `3 of 7 steps`. */
export function todoWords(todo: readonly { text: string; status: string }[]): string {
  const criteria = todo.filter(({ text }) => CRITERION.test(text));
  const [listed, name] = criteria.length > 0 ? [criteria, 'criteria'] : [todo, 'steps'];
  return `${listed.filter(({ status }) => status === 'done').length} of ${listed.length} ${name}`;
}

const UNITS: [ms: number, name: string][] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
];

/** `3 min`, `2 h 5 min`. */
export function elapsed(ms: number): string {
  const at = UNITS.findIndex(([unit]) => ms >= unit);
  if (at < 0) return `${Math.max(0, Math.floor(ms / 1000))} s`;
  const [unit, name] = UNITS[at]!;
  const smaller = UNITS[at + 1];
  const rest = smaller ? Math.floor((ms % unit) / smaller[0]) : 0;
  return `${Math.floor(ms / unit)} ${name}${rest > 0 ? ` ${rest} ${smaller![1]}` : ''}`;
}

/** `just now`, `3 min ago`, `2 h ago`: coarse, so that a list of them is right for a while. */
export function ago(ms: number): string {
  const [unit, name] = stepOf(ms);
  return name === '' ? 'just now' : `${Math.floor(ms / unit)} ${name} ago`;
}

/** How long `ago` says the same. */
export function agoHolds(ms: number): number {
  const [unit] = stepOf(ms);
  return unit - (Math.max(0, ms) % unit);
}

const stepOf = (ms: number): [ms: number, name: string] => UNITS.find(([unit]) => ms >= unit) ?? [60_000, ''];
