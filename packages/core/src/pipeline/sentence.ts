/** The text as a complete sentence, so that another can follow. */
export function sentence(text: string): string {
  const said = text.trim();
  return said === '' || /[.!?:;…]["'”’)\]}]*$/.test(said) ? said : `${said}.`;
}
