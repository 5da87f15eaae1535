/** What somebody else said, so that more can be said after it. */
export function sentence(text: string): string {
  const said = text.trim();
  return said === '' || /[.!?:;…)\]}]$/.test(said) ? said : `${said}.`;
}
