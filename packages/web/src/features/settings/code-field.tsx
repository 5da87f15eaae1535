import { type RefObject, useRef } from 'react';

interface CodeFieldProps {
  text: string;
  label: string;
  /** Lines with errors, starting at 1. */
  marked: ReadonlySet<number>;
  isReadOnly: boolean;
  describedBy: string;
  element: RefObject<HTMLTextAreaElement | null>;
  onChange: (text: string) => void;
}

const MOST_ROWS = 32;

/** A text field with line numbers. It does not wrap, so that numbers stay beside their lines. */
export function CodeField({ text, label, marked, isReadOnly, describedBy, element, onChange }: CodeFieldProps) {
  const gutter = useRef<HTMLDivElement>(null);
  const count = text.split('\n').length;
  return (
    <div className="code-field">
      <div ref={gutter} className="gutter" aria-hidden="true">
        {Array.from({ length: count }, (_, index) => (
          <span key={`line ${index + 1}`} className={marked.has(index + 1) ? 'wrong' : undefined}>
            {index + 1}
          </span>
        ))}
      </div>
      <textarea
        ref={element}
        wrap="off"
        aria-label={label}
        aria-describedby={describedBy}
        aria-invalid={marked.size > 0}
        spellCheck={false}
        readOnly={isReadOnly}
        rows={Math.min(MOST_ROWS, count + 1)}
        value={text}
        onChange={(event) => onChange(event.target.value)}
        onScroll={(event) => {
          if (gutter.current) gutter.current.scrollTop = event.currentTarget.scrollTop;
        }}
      />
    </div>
  );
}

/** Selects the line in the field and scrolls to it. */
export function showLine(field: HTMLTextAreaElement, line: number): void {
  const lines = field.value.split('\n');
  const begin = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  field.focus();
  field.setSelectionRange(begin, begin + (lines[line - 1]?.length ?? 0));
  const height = Number.parseFloat(getComputedStyle(field).lineHeight);
  field.scrollTop = Math.max(0, (line - 4) * height);
  field.scrollLeft = 0;
}
