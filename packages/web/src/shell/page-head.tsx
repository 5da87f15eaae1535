import type { ReactNode } from 'react';

/** The head of a page: title, short description, controls. */
export function PageHead({ title, about, children }: { title: ReactNode; about?: ReactNode; children?: ReactNode }) {
  return (
    <header className="page-head">
      <h2 className="page-title">{title}</h2>
      {about !== undefined && <p className="dim">{about}</p>}
      {children && <div className="page-actions">{children}</div>}
    </header>
  );
}

export const Empty = ({ children }: { children: ReactNode }) => <div className="empty">{children}</div>;
