export function SettingsPage(_: { query?: Record<string, string>; name?: string }) { return <div class="wide lead"><h1>settings</h1></div>; }
