import { defineConfig } from 'vitest/config';

export default defineConfig({
  base: './',
  publicDir: false,
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  build: {
    target: 'es2021',
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rollupOptions: { output: { inlineDynamicImports: true } },
  },
  server: { proxy: { '/api': process.env.TAUT_URL ?? 'http://127.0.0.1:8090' } },
  test: { include: ['tests/unit/**/*.test.ts'], environment: 'node' },
});
