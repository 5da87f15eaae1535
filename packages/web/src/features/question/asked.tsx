import { Markdown, MarkdownLine } from '../../shell/markdown.tsx';

/** A question's text: its first paragraph is a heading, the others follow it. */
export function Asked({ text, id }: { text: string; id?: string }) {
  const [first = '', ...others] = text.trim().split(/\n\s*\n/);
  return (
    <>
      <h3 id={id} className="as-written">
        <MarkdownLine text={first.replace(/^#{1,6}\s+/, '')} />
      </h3>
      {others.length > 0 && <Markdown text={text.trim().slice(first.length)} level={4} isFolded />}
    </>
  );
}
