import type { Page } from 'playwright-core'
import { adminKey, adminSecret } from '../service-process.ts'
import type { SignInKey } from './browser-pages.ts'

/** The key that services of tests begin with. */
export const adminPair: SignInKey = { apiKey: adminKey, apiSecret: adminSecret }

/** Gives the browser of a page the cookie of a new session. */
export async function signIn(
  page: Page,
  origin: string,
  { apiKey, apiSecret }: SignInKey = adminPair,
): Promise<void> {
  const answer = await page.request.post(`${origin}/console/session`, {
    headers: { origin, 'x-streamvault-interface': 'bearer' },
    data: { apiKey, apiSecret },
  })
  if (!answer.ok()) throw new Error(`signing in: ${answer.status()} ${await answer.text()}`)
}
