/** Forms of well-known keys and tokens: model vendors, code hosts, clouds, chats, JSON web tokens. */
const KEYS =
  /\b(?:sk-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|xox[abeoprs]-[\w-]{10,}|npm_\w{30,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,})/g;

/** Hides passwords in URLs, bearer tokens, values that are named as secrets, and known forms of keys. */
export function withoutSecrets(text: string): string {
  return text
    .replace(/\b([a-z][a-z0-9+]*:\/\/[^\s:/@]*):[^\s@/]+@/gi, '$1:***@')
    .replace(/\bBearer\s+\S+/gi, 'Bearer ***')
    .replace(/\b((?:api[_-]?key|token|password|secret)["']?\s*[=:]\s*["']?)[^\s"',}]+/gi, '$1***')
    .replace(KEYS, '***');
}
