import { Component, type ReactNode } from 'react';

/** A page that fails is said to have failed; the frame with its controls stays. */
export class Broken extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    return (
      <section className="waiting-room" role="alert">
        <p>This page could not be drawn: {String(this.state.error).slice(0, 300)}</p>
        <p>
          <button type="button" onClick={() => location.reload()}>
            Load it again
          </button>
        </p>
      </section>
    );
  }
}
