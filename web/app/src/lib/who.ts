// The name that settings are recorded under, kept in this browser.
const WHO = 'taut.who';

export function storedWho(): string {
  try {
    return localStorage.getItem(WHO) ?? '';
  } catch {
    return '';
  }
}

export function rememberWho(who: string): void {
  try {
    localStorage.setItem(WHO, who);
  } catch {
    // Without storage the name must be entered again.
  }
}
