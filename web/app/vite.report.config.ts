// The page of the reports of `taut`: one file with its styles and script inside, into which `taut` puts the data.
import { createHash } from 'node:crypto';
import type { Plugin } from 'vite';
import { defineConfig } from 'vite';

const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

// Puts script and styles into the page, whose policy names them by hash: nothing else can run, and nothing is loaded.
function inlined(): Plugin {
  return {
    name: 'inlined',
    enforce: 'post',
    generateBundle(_options, bundle) {
      let style = '';
      let script = '';
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type === 'chunk') script += file.code;
        else if (name.endsWith('.css')) style += String(file.source);
        else continue;
        delete bundle[name];
      }
      const page = bundle['report.html'];
      if (!page || page.type !== 'asset') throw new Error('there is no report.html');
      script = `(()=>{${script}})();`;
      for (const [text, end] of [[style, '</style'], [script, '</script'], [script, '<!--'], [script, '{{data}}']] as const) {
        if (text.toLowerCase().includes(end)) throw new Error(`${end} inside the inlined text would end it`);
      }
      const policy = `default-src 'none'; style-src ${hash(style)}; script-src ${hash(script)}; img-src data:; base-uri 'none'; form-action 'none'`;
      page.source = String(page.source)
        .replace(/\s*<(script type="module"|link rel="(stylesheet|modulepreload)")[^>]*>(<\/script>)?/g, '')
        .replace('<meta charset="utf-8">', () => `<meta charset="utf-8">\n    <meta http-equiv="Content-Security-Policy" content="${policy}">`)
        .replace('</head>', () => `  <style>${style}</style>\n  </head>`)
        .replace('</body>', () => `  <script>${script}</script>\n  </body>`);
    },
  };
}

export default defineConfig({
  base: './',
  publicDir: false,
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact', charset: 'utf8', legalComments: 'none' },
  plugins: [inlined()],
  build: {
    target: 'es2021',
    outDir: 'dist-report',
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rollupOptions: { input: 'report.html', output: { inlineDynamicImports: true } },
  },
});
