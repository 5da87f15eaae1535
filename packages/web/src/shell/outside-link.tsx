import type { ReactNode } from 'react';

/** A link to another site. Anything but an http address is shown as text. */
export function OutsideLink({ url, children }: { url: string | null; children: ReactNode }) {
  if (url === null || !/^https?:\/\//i.test(url)) return children;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}
