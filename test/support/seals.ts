import { expect } from 'vitest'
import { canonicalJson, compareText } from '../../src/core/canonical-json.ts'
import { leafHash, rootBy, rootOf } from '../../src/ledgers/merkle/merkle.ts'
import { checkProof } from '../../src/ledgers/proofs/check-proof.ts'
import { rawCidOf } from '../../src/ledgers/proofs/content-id.ts'
import type { SealProof } from '../../src/ledgers/seals/seal-proof.ts'
import type { ApiClient } from './api-client.ts'

/** A seal as the service answers it. */
export interface ListedSeal {
  readonly start: string
  readonly end: string
  readonly revision: number
  readonly count: number
  readonly root: string
  readonly previous: string | null
  readonly status: string
  readonly tx_hash: string | null
  readonly proof: SealProof | null
}

export interface SealsPage {
  readonly seals: readonly ListedSeal[]
  readonly waiting: readonly { readonly start: string; readonly problem: object | null }[]
  readonly nextCursor: string | null
}

/** All seals of a stream, and what waits. */
export async function sealsOf(api: ApiClient, streamId: string): Promise<SealsPage> {
  const first = await pageOf(api, streamId, '')
  const seals = [...first.seals]
  for (let { nextCursor } = first; nextCursor !== null; ) {
    const page = await pageOf(api, streamId, `&cursor=${nextCursor}`)
    seals.push(...page.seals)
    nextCursor = page.nextCursor
  }
  return { ...first, seals }
}

async function pageOf(api: ApiClient, streamId: string, query: string): Promise<SealsPage> {
  const path = `/streams/${streamId}/seals?limit=100${query}`
  const { status, body } = await api.withToken<SealsPage>('GET', path)
  expect(body).toMatchObject({ seals: expect.anything() as unknown })
  expect(status).toBe(200)
  return body
}

/** Waits until nothing of a stream is to be sealed any more, and all that is sealed is on the ledger. */
export async function allSealed(api: ApiClient, streamId: string): Promise<readonly ListedSeal[]> {
  // It answers once all that is acknowledged is decided: until then a stretch may have no mark.
  expect((await api.withToken('GET', '/alerts/summary')).status).toBe(200)
  let page = await sealsOf(api, streamId)
  const isOpen = () =>
    page.waiting.length > 0 || page.seals.some((one) => one.status !== 'COMPLETED')
  await expect
    .poll(async () => {
      page = await sealsOf(api, streamId)
      return isOpen() ? page : []
    })
    .toEqual([])
  return page.seals
}

/** The root over what the service answers of a stretch, computed in the plainest way. */
export async function rootNow(
  api: ApiClient,
  streamId: string,
  { start, end }: Pick<ListedSeal, 'start' | 'end'>,
): Promise<Pick<ListedSeal, 'count' | 'root'>> {
  const points = await api.readAll(streamId, `&start=${start}&end=${end}`)
  const leaves = points.map(({ timestamp, extra, ...declared }) => {
    const values = { ...declared, ...(extra as object | undefined) }
    return {
      time: String(timestamp),
      text: canonicalJson({ stream: streamId, time: timestamp, values }),
    }
  })
  leaves.sort((a, b) => compareText(a.time, b.time) || compareText(a.text, b.text))
  const root = rootOf(leaves.map(({ text }) => leafHash(text))).toString('hex')
  return { count: leaves.length, root }
}

/** What the proof of a seal leads to: the ledger's answer, where everything before it is right. */
export async function provenBy({ proof, ...seal }: ListedSeal, streamId: string) {
  if (!proof) throw new Error('the seal has no proof')
  const { start, end, revision, count, root, previous } = seal
  const format = 'streamvault-seal-1'
  const text = { format, stream: streamId, start, end, revision, count, root, previous }
  expect(proof.text).toBe(canonicalJson(text))
  const batch = JSON.parse(proof.batch.text) as { readonly root: string; readonly count: number }
  expect(proof.batch.path.size).toBe(batch.count)
  expect(rootBy(leafHash(proof.text), proof.batch.path)?.toString('hex')).toBe(batch.root)
  expect(proof.proof.cid).toBe(await rawCidOf(Buffer.from(proof.batch.text)))
  const keys = new Set(proof.proof.signatures.map((one) => one.key_id))
  return checkProof(proof.proof, { trustedKeys: keys })
}
