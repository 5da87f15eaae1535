import type { FailureClass } from '@tidemill/contract';
import type { ResultMessage } from './messages.ts';

/** Vendor errors that were reported before the result. */
export interface Trouble {
  /** Claude Code's own word for the last error: `authentication_failed`, `billing_error` … */
  kind: string;
  /** When the vendor accepts requests again, if it said so. */
  retryAt: number | undefined;
}

const BY_SUBTYPE: Record<string, FailureClass> = {
  error_max_turns: 'turn_limit',
  error_max_budget_usd: 'budget_limit',
  error_max_structured_output_retries: 'invalid_result',
};

const BY_KIND: Record<string, FailureClass> = {
  authentication_failed: 'auth',
  oauth_org_not_allowed: 'auth',
  account_on_hold: 'auth',
  verification_required: 'auth',
  cloud_credential_error: 'auth',
  billing_error: 'credit',
  rate_limit: 'rate_limit',
  overloaded: 'overloaded',
};

const BY_WORDS: [RegExp, FailureClass][] = [
  [/credit balance|out of credit|billing/i, 'credit'],
  [/prompt is too long|context (window|length)|too many tokens/i, 'context_too_long'],
  [/usage limit|rate limit|hit your limit/i, 'rate_limit'],
  [/overloaded/i, 'overloaded'],
  [/api key|authenticat|please run \/login|oauth token|not logged in/i, 'auth'],
  [/connect|socket|network|econn|enotfound|etimedout|timed out|stream (ended|closed)|terminated/i, 'network'],
];

/** The failure of a turn that ended with an error. */
export function classify(result: ResultMessage, trouble: Trouble): { failure: FailureClass; message: string } {
  const message = result.result || result.errors.join('\n') || `Claude Code ended with ${result.subtype}`;
  return { failure: classOf(result, trouble, message), message };
}

function classOf(result: ResultMessage, trouble: Trouble, message: string): FailureClass {
  const known = BY_SUBTYPE[result.subtype];
  if (known) return known;
  if (result.terminal_reason === 'prompt_too_long') return 'context_too_long';
  if (result.stop_reason === 'refusal') return 'refused';
  return BY_KIND[trouble.kind] ?? byStatus(result.api_error_status ?? null) ?? byWords(message) ?? 'unknown';
}

function byStatus(status: number | null): FailureClass | null {
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'credit';
  if (status === 429) return 'rate_limit';
  // A failure of the vendor, under any name.
  return status !== null && status >= 500 ? 'overloaded' : null;
}

/** For errors without a kind or status, such as a program that exits before its first message. */
export function byWords(text: string): FailureClass | null {
  return BY_WORDS.find(([pattern]) => pattern.test(text))?.[1] ?? null;
}
