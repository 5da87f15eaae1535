import { Component, type ReactNode } from 'react';

/** Shows the error of a page that failed to render; the frame stays usable. */
export class Broken extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    return (
      <section className="waiting-room" role="alert">
        <p>This page could not be shown: {String(this.state.error).slice(0, 300)}</p>
        <p>
          <button type="button" onClick={() => location.reload()}>
            Reload
          </button>
        </p>
      </section>
    );
  }
}
