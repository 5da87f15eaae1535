import { withoutSecrets } from '@tidemill/contract';

/** A value that is too short would hide ordinary words. */
const SHORTEST = 4;
const SHORTEST_LINE = 12;

/** The variables of an environment's commands, and which of them the daemon lacks. */
export function variablesOf(
  { env, pass }: { env: Record<string, string>; pass: string[] },
  own: NodeJS.ProcessEnv,
): { values: Record<string, string>; secrets: string[]; missing: string[] } {
  const values: Record<string, string> = {};
  const secrets: string[] = [];
  const missing: string[] = [];
  const take = (name: string, from: string) => {
    const value = own[from];
    if (value === undefined) return void missing.push(from);
    values[name] = value;
    secrets.push(value);
  };
  for (const [name, value] of Object.entries(env)) {
    const from = /^\$([A-Za-z_]\w*)$/.exec(value)?.[1];
    if (from === undefined) values[name] = value;
    else take(name, from);
  }
  for (const name of pass) take(name, name);
  return { values, secrets, missing };
}

/** Hides the values, also encoded, and known forms of keys. */
export function hider(secrets: readonly string[]): (text: string) => string {
  const forms = new Set<string>();
  for (const secret of secrets) {
    const whole = secret.trim();
    if (whole.length < SHORTEST) continue;
    forms.add(whole);
    forms.add(encodeURIComponent(whole));
    forms.add(JSON.stringify(whole).slice(1, -1));
    forms.add(Buffer.from(whole).toString('base64'));
    forms.add(Buffer.from(whole).toString('base64url'));
    // A key of several lines is printed line by line.
    for (const line of whole.split(/\r?\n/)) if (line.trim().length >= SHORTEST_LINE) forms.add(line.trim());
  }
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  return (text) => withoutSecrets(longestFirst.reduce((rest, form) => rest.replaceAll(form, '***'), text));
}
