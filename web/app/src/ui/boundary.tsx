// Catches errors that a page throws while it renders. The rest of the dashboard stays, and nothing is retried automatically.
import { Component, type ComponentChildren } from 'preact';

interface State { error: string }

export class Boundary extends Component<{ children: ComponentChildren }, State> {
  override state: State = { error: '' };
  override componentDidCatch(error: unknown): void {
    console.warn('this page failed:', error);
    this.setState({ error: error instanceof Error ? error.message : String(error) });
  }
  override render() {
    if (!this.state.error) return this.props.children;
    return (
      <div class="wide lead" role="alert">
        <h1>This page failed to render</h1>
        <p class="gloss">The browser reported: <code>{this.state.error}</code></p>
        <p><button type="button" class="quiet" onClick={() => this.setState({ error: '' })}>Try again</button></p>
      </div>
    );
  }
}
