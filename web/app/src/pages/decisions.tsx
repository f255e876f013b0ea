export function DecisionsPage(_: { query?: Record<string, string>; name?: string }) { return <div class="wide lead"><h1>decisions</h1></div>; }
