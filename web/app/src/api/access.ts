// Whether tautd takes this browser for someone, as the last answers said.
class Access {
  signedOut = false;
  private watchers = new Set<() => void>();

  // Of an answer of the API.
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

// The way to the provider and back loses what follows the # of the address.
export function rememberPlace(): void {
  try {
    sessionStorage.setItem(BACK, location.hash);
  } catch {
    // Without storage one is back at the fleet.
  }
}

export function returnToPlace(): void {
  try {
    const back = sessionStorage.getItem(BACK);
    sessionStorage.removeItem(BACK);
    if (back?.startsWith('#/') && !location.hash) history.replaceState(null, '', back);
  } catch {
    // As above.
  }
}
