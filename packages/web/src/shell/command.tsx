import { useRef, useState } from 'react';

const COPIED_MS = 2000;

/** A command to run in a terminal, with a button that copies it. */
export function Command({ text }: { text: string }) {
  const code = useRef<HTMLElement>(null);
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), COPIED_MS);
    } catch {
      // Clipboard access is not allowed: select the text so that the person can copy it.
      getSelection()?.selectAllChildren(code.current!);
    }
  };
  return (
    <p className="command">
      <code ref={code}>{text}</code>
      <button type="button" onClick={copy} aria-label={`Copy ${text}`}>
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </p>
  );
}
