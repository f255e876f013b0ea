export function JobPage(_: { query?: Record<string, string>; name?: string }) { return <div class="wide lead"><h1>job</h1></div>; }
