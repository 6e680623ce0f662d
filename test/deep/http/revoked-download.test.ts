import { beforeAll, expect, test } from 'vitest'
import { revoke, share } from '../../support/granted.ts'
import { newPerson, type Person } from '../../support/people.ts'
import { runningService } from '../../support/running-service.ts'
import { assetStreamOf, attachmentOf, upload } from '../../support/uploads.ts'

const service = runningService()
const pieceBytes = 1024 * 1024
const pieces = 1024

let owner: Person
let holder: Person

beforeAll(async () => {
  owner = await newPerson(service.api)
  holder = await newPerson(service.api)
})

async function* gibibyte(): AsyncGenerator<Uint8Array> {
  for (let count = 0; count < pieces; count++) yield new Uint8Array(pieceBytes)
}

test('a permission that is revoked in the middle of a gibibyte is none for the next request', async () => {
  const id = await assetStreamOf(owner)
  const attachment = await attachmentOf(owner, { stream_id: id })
  const stored = await upload(
    service.api,
    attachment.presigned_url,
    ReadableStream.from(gibibyte()),
  )
  expect([stored.status, stored.body['size']]).toEqual([200, pieces * pieceBytes])
  const permission = await share(owner, holder, { kind: 'streams', id }, 'READ')
  const url = `${service.api.base}/attachments/${attachment.id}/content`
  const { apiKey, apiSecret } = holder.key
  const headers = { 'x-api-key': apiKey, 'x-api-secret': apiSecret }
  const running = await fetch(url, { headers })
  const reader = running.body?.getReader()
  let bytes = (await reader?.read())?.value?.length ?? 0
  expect(bytes).toBeGreaterThan(0)

  await revoke(owner, permission)

  const next = await fetch(url, { headers })
  const part = await fetch(url, { headers: { ...headers, range: `bytes=${bytes}-` } })
  await Promise.all([next.body?.cancel(), part.body?.cancel()])
  expect([next.status, part.status]).toEqual([404, 404])
  // The one that runs may end.
  for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
    bytes += piece.value.length
  }
  expect(bytes).toBe(pieces * pieceBytes)
})
