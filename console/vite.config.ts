import { defineConfig } from 'vite'

/** Where a running service is, for `npm run console`. */
const service = process.env['STREAMVAULT_URL'] ?? 'http://127.0.0.1:8080'

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  build: {
    // Below the names that the service answers with a lifetime of a year: each has a digest in its name.
    assetsDir: 'assets',
    target: 'es2023',
    // Each import of a page would bring an inline script otherwise, which the policy refuses.
    modulePreload: { polyfill: false },
    // A font or an image in a style sheet stays a file of its own.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  server: {
    host: '127.0.0.1',
    proxy: { '^/(?!console/(?:$|src|@|node_modules|streams|assets)).*': { target: service } },
  },
})
