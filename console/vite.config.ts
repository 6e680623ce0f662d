import { defineConfig, type ProxyOptions } from 'vite'

/** Where a running service is, for `npm run console`. */
const service = new URL(process.env['STREAMVAULT_URL'] ?? 'http://127.0.0.1:8080')

/** Whatever is not of the page, and the sessions, which the service has below the same path. */
const ofTheService = '^/(?!$|[?]|console(?:[/?]|$))|^/console/sessions?(?:[/?]|$)'

/**
 * The service compares where a page comes from with where it is asked (docs/console.md). A page of this server is one
 * of the service; any other stays what it is, and is refused.
 */
const asPageOfTheService: ProxyOptions['configure'] = (proxy) =>
  proxy.on('proxyReq', (asked, request) => {
    const { origin, host } = request.headers
    if (origin === `http://${host}`) asked.setHeader('origin', service.origin)
  })

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  cacheDir: '../node_modules/.cache/vite',
  // Nothing of the surroundings gets into a page: every installation builds the same one.
  envDir: false,
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
    proxy: {
      [ofTheService]: {
        target: service.origin,
        changeOrigin: true,
        configure: asPageOfTheService,
      },
    },
  },
})
