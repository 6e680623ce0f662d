import type { Page } from 'playwright-core'
import type { ApiClient } from '../api-client.ts'
import { createKey } from '../people.ts'
import { type RunningService, runningService } from '../running-service.ts'
import type { SignInKey, Stranger } from './browser-pages.ts'
import { browserTests, type Visitor } from './browser-tests.ts'

export interface ConsoleTests {
  /** It runs for the tests of the file. Ask it for its parts in tests. */
  readonly service: RunningService
  readonly api: ApiClient
  /** `http://127.0.0.1:1234` */
  readonly origin: string
  /** Opens a path of the console, for somebody who is not signed in. */
  readonly open: (path: string, visitor?: Stranger) => Promise<Page>
  /** Opens it for somebody who is: with the bootstrap key, unless another is given. */
  readonly signedIn: (path: string, visitor?: Visitor) => Promise<Page>
  /** A key of the bootstrap user with these permissions and no others. */
  readonly keyWith: (...scopes: readonly string[]) => Promise<SignInKey>
}

/** A service as `npm start` starts it, and a browser: what the tests of most files of the console need. */
export function consoleTests(environment: Readonly<Record<string, string>> = {}): ConsoleTests {
  const service = runningService(environment)
  const browser = browserTests()
  const origin = () => service.process.http

  return {
    service,
    get api() {
      return service.api
    },
    get origin() {
      return origin()
    },
    open: async (path, visitor) => await browser.open(origin(), path, visitor),
    signedIn: async (path, visitor) => await browser.signedIn(origin(), path, visitor),
    keyWith: async (...scopes) => await createKey(service.api, { permission: 'custom', scopes }),
  }
}
