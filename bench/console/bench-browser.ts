import { BrowserPages } from '../../test/support/console/browser-pages.ts'
import { type StreamvaultTarget, startStreamvault } from '../servers.ts'

/** A browser that lasts as long as what uses it. */
export async function withBrowser<Result>(
  use: (pages: BrowserPages) => Promise<Result>,
): Promise<Result> {
  const pages = await BrowserPages.launch()
  try {
    return await use(pages)
  } finally {
    await pages.closePages()
    await pages.end()
  }
}

/** A service with so many streams of four numeric fields, and a browser. */
export async function withConsole<Result>(
  streams: number,
  use: (service: StreamvaultTarget, pages: BrowserPages) => Promise<Result>,
): Promise<Result> {
  const service = await startStreamvault(streams)
  try {
    return await withBrowser((pages) => use(service, pages))
  } finally {
    await service.stop()
  }
}
