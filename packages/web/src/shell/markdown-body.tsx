import type { Token } from 'markdown-it';
import { Fragment, lazy, type ReactNode, Suspense, useMemo } from 'react';
import { plain, plainLine } from '../plain.ts';
import {
  attribute,
  headingDepths,
  parseInline,
  parseMarkdown,
  safeAddress,
  type TextPart,
  textOf,
} from './markdown-tokens.ts';
import { ScrollBox } from './scroll-box.tsx';

interface BodyProps {
  text: string;
  level: number;
  isWrapped: boolean;
  isInline: boolean;
  /** Shows what is not rendered. */
  rest: (text: string) => ReactNode;
}

/** Rendered Markdown. It is built of elements, never of HTML, so nothing in the text can become more than text. */
export default function MarkdownBody({ text, level, isWrapped, isInline, rest }: BodyProps) {
  const { parts, rest: left } = useMemo(
    () => (isInline ? { parts: parseInline(text), rest: '' } : parseMarkdown(text)),
    [text, isInline],
  );
  const shown = useMemo(() => new Drawing(level, isWrapped, parts).all(parts), [level, isWrapped, parts]);
  return (
    <>
      {shown}
      {left !== '' && rest(left)}
    </>
  );
}

type Tag = 'p' | 'ul' | 'ol' | 'li' | 'blockquote' | 'thead' | 'tbody' | 'tr' | 'th' | 'td' | 'em' | 'strong' | 's';

const TAGS: Record<string, Tag> = {
  paragraph_open: 'p',
  bullet_list_open: 'ul',
  blockquote_open: 'blockquote',
  thead_open: 'thead',
  tbody_open: 'tbody',
  tr_open: 'tr',
  em_open: 'em',
  strong_open: 'strong',
  s_open: 's',
};

class Drawing {
  readonly #top: number;
  readonly #isWrapped: boolean;
  readonly #depths: ReturnType<typeof headingDepths>;

  constructor(top: number, isWrapped: boolean, parts: TextPart[]) {
    this.#top = top;
    this.#isWrapped = isWrapped;
    this.#depths = headingDepths(parts);
  }

  all(parts: TextPart[]): ReactNode {
    return parts.map((part, index) => <Fragment key={index}>{this.#one(part)}</Fragment>);
  }

  #one(part: TextPart): ReactNode {
    const { token, parts } = part;
    switch (token.type) {
      case 'text':
        return plain(token.content);
      case 'inline':
        return this.all(parts);
      case 'softbreak':
        return this.#isWrapped ? '\n' : <br />;
      case 'hardbreak':
        return <br />;
      case 'hr':
        return <hr />;
      case 'code_inline':
        return <code dir="ltr">{plain(token.content)}</code>;
      case 'fence':
      case 'code_block':
        return <CodeBlock text={token.content} info={token.info} />;
      case 'heading_open':
        return this.#heading(part);
      case 'ordered_list_open':
        return <ol start={startOf(token)}>{this.all(parts)}</ol>;
      case 'list_item_open':
        return this.#item(part);
      case 'table_open':
        return (
          <ScrollBox label="Table">
            <table>{this.all(parts)}</table>
          </ScrollBox>
        );
      case 'th_open':
      case 'td_open':
        return this.#cell(part);
      case 'link_open':
        return this.#link(part);
      case 'image':
        return (
          <Address label={`Image: ${token.content}`} to={attribute(token, 'src')} title={attribute(token, 'title')} />
        );
      default:
        return this.#plainPart(part);
    }
  }

  #plainPart({ token, parts }: TextPart): ReactNode {
    const Tag = TAGS[token.type];
    if (!Tag) return parts.length > 0 ? this.all(parts) : plain(token.content);
    // The paragraphs of a tight list.
    if (token.hidden) return this.all(parts);
    return <Tag dir={Tag === 'p' || Tag === 'blockquote' ? 'auto' : undefined}>{this.all(parts)}</Tag>;
  }

  #heading({ token, parts }: TextPart): ReactNode {
    const depth = this.#depths.get(token) ?? 0;
    const level = Math.min(6, this.#top + depth);
    const Tag = `h${level}` as 'h3' | 'h4' | 'h5' | 'h6';
    return (
      <Tag dir="auto" data-depth={depth}>
        {this.all(parts)}
      </Tag>
    );
  }

  #item({ parts, isDone }: TextPart): ReactNode {
    if (isDone === undefined) return <li dir="auto">{this.all(parts)}</li>;
    return (
      <li dir="auto" className="ticked">
        <span aria-hidden="true">{isDone ? '☑' : '☐'} </span>
        <span className="unseen">{isDone ? 'done: ' : 'not done: '}</span>
        {this.all(parts)}
      </li>
    );
  }

  #cell({ token, parts }: TextPart): ReactNode {
    const Tag = token.type === 'th_open' ? 'th' : 'td';
    const side = /left|center|right/.exec(attribute(token, 'style'))?.[0];
    return (
      <Tag dir="auto" data-side={side}>
        {this.all(parts)}
      </Tag>
    );
  }

  #link(part: TextPart): ReactNode {
    const { token } = part;
    const to = attribute(token, 'href');
    const isWritten = token.info === 'auto';
    return (
      <Address
        label={this.all(part.parts)}
        to={to}
        title={attribute(token, 'title')}
        written={isWritten ? to : textOf(part)}
      />
    );
  }
}

interface AddressProps {
  label: ReactNode;
  to: string;
  title: string;
  /** What the label says. An address in it that is not the link's own would deceive. */
  written?: string;
}

/** A link that opens in a new tab; an address that may not be opened is shown beside its label. */
function Address({ label, to, title, written = '' }: AddressProps) {
  const safe = safeAddress(to);
  const more = title ? ` (${plainLine(title)})` : '';
  if (safe === null)
    return (
      <>
        {label} <code dir="ltr">{plainLine(to)}</code>
        {more}
      </>
    );
  const isOther = /:\/\/|www\./i.test(written) && safeAddress(written.trim()) !== safe;
  return (
    <>
      <a href={safe} target="_blank" rel="noopener noreferrer nofollow" title={plainLine(to)}>
        {label}
      </a>
      {isOther && <span className="dim"> (to {plainLine(new URL(safe).host || to)})</span>}
      {more}
    </>
  );
}

const startOf = (token: Token) => Number(token.attrGet('start') ?? 1);

const Highlighted = lazy(() =>
  import('./markdown-code.tsx').catch(() => ({ default: ({ text }: { text: string }) => text })),
);

function CodeBlock({ text, info }: { text: string; info: string }) {
  const code = plain(text.replace(/\n$/, ''));
  const about = plainLine(info.trim());
  const language = about.split(/\s/)[0]!.toLowerCase();
  return (
    <div className="code-block">
      {about !== '' && <p className="dim">{about}</p>}
      <ScrollBox label={about === '' ? 'Code' : `Code, ${about}`}>
        <pre dir="ltr">
          <code>
            {language === '' ? (
              code
            ) : (
              <Suspense fallback={code}>
                <Highlighted text={code} language={language} />
              </Suspense>
            )}
          </code>
        </pre>
      </ScrollBox>
    </div>
  );
}
