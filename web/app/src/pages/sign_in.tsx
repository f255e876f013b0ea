// The page for a browser without a session or a token.
import { useEffect, useState } from 'preact/hooks';
import { rememberPlace } from '../api/access';
import { request } from '../api/client';
import type { LoginWays } from '../api/types';
import { Knot, ThemeButton } from '../ui/frame';

export function SignInPage() {
  const [ways, setWays] = useState<LoginWays | null>(null);
  const [error, setError] = useState('');
  useEffect(() => {
    document.title = 'Sign in · Tautline';
    request<LoginWays>('login').then(setWays, (wrong: unknown) => setError(wrong instanceof Error ? wrong.message : String(wrong)));
  }, []);
  return (
    <main id="main" class="sign-in" tabIndex={-1}>
      <p class="brand"><Knot /><b>Tautline</b></p>
      <h1 class="small">Sign in to see this cell</h1>
      {ways?.login && <p><a class="quiet main" href="login" onClick={rememberPlace}>Sign in with {ways.login.name}</a></p>}
      {ways && !ways.login && <p>This needs a token: reload the page and enter it as the password, with any user name.</p>}
      {ways?.login && ways.token && <p class="hint">Or <a href="?token">use a token</a>: enter it as the password, with any user name.</p>}
      {error && <p role="alert">{error} <button type="button" class="quiet" onClick={() => location.reload()}>Retry</button></p>}
      <ThemeButton />
    </main>
  );
}
