// Serves the console from its sources, renewed as they change, beside a service that runs already: `npm run console`.
// What is not of the page is asked of that service, so that the browser sees one origin.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const service = new URL(process.env.STREAMVAULT_URL ?? 'http://127.0.0.1:8080')

/** Whatever is not below /console/, and the sessions, which the service has there. */
const ofTheService = '^/(?!console(?:[/?]|$))|^/console/sessions?(?:[/?]|$)'

/**
 * The service compares where a page comes from with where it is asked (docs/console.md). A page of this server is
 * one of the service; any other page stays what it is, and is refused.
 */
function renameOrigin(asked, request) {
  const own = `http://${request.headers.host}`
  if (request.headers.origin === own) asked.setHeader('origin', service.origin)
}

const server = await createServer({
  root: join(root, 'console'),
  base: '/console/',
  cacheDir: join(root, 'node_modules', '.cache', 'vite'),
  envDir: false,
  server: {
    host: '127.0.0.1',
    port: 5173,
    proxy: {
      [ofTheService]: {
        target: service.origin,
        changeOrigin: true,
        configure: (proxy) => proxy.on('proxyReq', renameOrigin),
      },
    },
  },
})
await server.listen()
server.printUrls()
process.stdout.write(`  the service is asked at ${service.origin}\n`)
