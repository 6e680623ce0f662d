import { expect, test } from 'vitest'
import { newId, type SignatureId } from '../../src/core/ids.ts'
import { parseSignatureKey } from '../../src/ledgers/signatures/signature-key.ts'
import { signaturesMax } from '../../src/twins/signatures/signature.ts'
import { cidOf } from '../support/anchored-rows.ts'
import { metricOf } from '../support/metrics.ts'
import { runningService } from '../support/running-service.ts'
import { type ShownSignature, Signer } from '../support/signers.ts'
import { StateBeside } from '../support/state-beside.ts'
import { attachmentOf, upload } from '../support/uploads.ts'

const service = runningService()

const cid = cidOf('hello')

/** Rows as so many requests would make them, after a first one. */
async function fillUp(attachmentId: string): Promise<void> {
  await using beside = await StateBeside.open(service.process)
  const { state } = beside
  const first = await state
    .selectFrom('signatures')
    .selectAll()
    .where('attachment_id', '=', attachmentId)
    .executeTakeFirstOrThrow()
  for (let made = 1; made < signaturesMax; made += 101) {
    const rows = Array.from({ length: 101 }, () => {
      const signer = new Signer('Ed25519')
      const key = parseSignatureKey('Ed25519', signer.jwk)
      if ('problem' in key) throw new Error(key.problem)
      const { signature } = signer.bodyFor(cid)
      const id = newId<SignatureId>()
      return { ...first, id, key_id: key.id, public_key: key.text, signature }
    })
    await beside.commit(state.insertInto('signatures').values(rows))
  }
  const total = state.updateTable('totals').set({ total: signaturesMax })
  await beside.commit(
    total.where('list', '=', 'signatures_of_attachment').where('owner_id', '=', attachmentId),
  )
}

test('as many as there can be wait, one more is refused, and nobody waits for all of them', async () => {
  const { id, presigned_url: url } = await attachmentOf(service.api)
  const path = `/attachments/${id}/signatures`
  const ask = (body: object) => service.api.withKey<ShownSignature>('POST', path, body)
  expect((await ask(new Signer('Ed25519').bodyFor(cid))).status).toBe(201)
  await fillUp(id)
  for (const body of [{}, new Signer('Ed25519').bodyFor(cid)]) {
    expect(await ask(body)).toMatchObject({ status: 409, body: { error: 'conflict' } })
  }

  expect((await upload(service.api, url, 'hello')).status).toBe(200)
  let answered = 0
  for (; (await metricOf(service.process, 'signatures_waiting')) > 0; answered++) {
    expect((await service.api.withKey('GET', `/attachments/${id}`)).status).toBe(200)
  }

  // A hundred portions: whoever asks meanwhile gets a turn between two.
  expect(answered).toBeGreaterThan(20)
  const { body } = await service.api.withKey<{ total_records: number; content: ShownSignature[] }>(
    'GET',
    `${path}?page=100&page_size=100`,
  )
  expect(body.total_records).toBe(signaturesMax)
  expect(new Set(body.content.map(({ status }) => status))).toEqual(new Set(['METADATA_STORED']))
})
