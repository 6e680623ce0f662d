import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'

/** What is needed before anything is to be seen; the answers of the interface are none of it. */
const kinds: ReadonlySet<string> = new Set(['document', 'script', 'stylesheet'])

/** How many bytes of documents, scripts and styles a page asks for until it is shown, compressed by gzip. */
export async function firstPageBytes(page: Page, show: () => Promise<void>): Promise<number> {
  const bodies: Promise<Buffer>[] = []
  page.on('response', (response) => {
    if (kinds.has(response.request().resourceType())) bodies.push(response.body())
  })
  await show()
  const loaded = await Promise.all(bodies)
  return loaded.reduce((sum, body) => sum + gzipSync(body, { level: 9 }).length, 0)
}
