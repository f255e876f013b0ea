// The name under which changes of settings are recorded. The browser stores the name.
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
