// Records whether tautd has authenticated this browser, according to the last responses.
class Access {
  signedOut = false;
  private watchers = new Set<() => void>();

  // Updates the state with the status of a response. Called for every response of the API.
  note(status: number): void {
    const out = status === 401;
    if (out === this.signedOut || (!out && status >= 400)) return;
    this.signedOut = out;
    for (const watcher of [...this.watchers]) watcher();
  }

  watch(watcher: () => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }
}

export const access = new Access();

const BACK = 'taut.back';

// The redirect to the provider and back loses the part of the address after the #.
export function rememberPlace(): void {
  try {
    sessionStorage.setItem(BACK, location.hash);
  } catch {
    // Without storage the user returns to the fleet page.
  }
}

export function returnToPlace(): void {
  try {
    const back = sessionStorage.getItem(BACK);
    sessionStorage.removeItem(BACK);
    if (back?.startsWith('#/') && !location.hash) history.replaceState(null, '', back);
  } catch {
    // Without storage there is no page to return to.
  }
}
