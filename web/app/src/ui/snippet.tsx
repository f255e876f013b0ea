// Text to copy. Each snippet has one kind of text, so that a copy can be used unchanged.
import { useState } from 'preact/hooks';

export function Snippet({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied('Copied');
    } catch {
      // Browsers allow copying only over https and on localhost.
      setCopied('The browser does not allow copying here: select the text and copy it');
    }
  };
  return (
    <div class="snippet-box">
      <pre class="snippet" tabIndex={0} aria-label={label}><code>{text}</code></pre>
      <p class="more"><button type="button" class="quiet" onClick={() => void copy()}>{copied || 'Copy'}</button></p>
    </div>
  );
}
