import type { ReactNode } from 'react';
import { errorText } from '../../shell/toasts.tsx';

/** A part of the settings with its heading and loading error. */
export function Part(props: { id: string; title: string; about?: ReactNode; error?: unknown; children: ReactNode }) {
  const { id, title, about, error, children } = props;
  return (
    <section id={id} aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`}>{title}</h3>
      {about && <p className="dim">{about}</p>}
      {Boolean(error) && <p className="waiting">{errorText(error)}</p>}
      {children}
    </section>
  );
}
