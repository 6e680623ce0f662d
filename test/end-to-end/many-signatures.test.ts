import { expect, test } from 'vitest'
import { batchLeavesMax } from '../../src/anchors/pursuit/deeds.ts'
import { chainOf, textsIn } from '../support/anchor-facts.ts'
import { atStatus } from '../support/anchored.ts'
import { cidOf } from '../support/anchored-rows.ts'
import { runningService } from '../support/running-service.ts'
import { type ShownSignature, Signer } from '../support/signers.ts'
import { attachmentOf, upload } from '../support/uploads.ts'

/** With the content itself they are as many leaves as may share a transaction. */
const count = batchLeavesMax - 1

const service = runningService({
  STREAMVAULT_ANCHORING: 'on',
  STREAMVAULT_ANCHOR_BATCH_WAIT: '20s',
})

test('signatures of one content share a transaction with it, up to a thousand leaves', async () => {
  const { id, presigned_url: url } = await attachmentOf(service.api)
  const path = `/attachments/${id}/signatures`
  const cid = cidOf('hello')
  for (let made = 0; made < count; made += 37) {
    const answers = await Promise.all(
      Array.from({ length: 37 }, () =>
        service.api.withKey<ShownSignature>('POST', path, new Signer('Ed25519').bodyFor(cid)),
      ),
    )
    expect(answers.every(({ status }) => status === 201)).toBe(true)
  }
  await upload(service.api, url, 'hello')
  const { body } = await service.api.withKey<{ content: { id: string }[] }>(
    'GET',
    `${path}?page=${count}&page_size=1`,
  )

  await atStatus(service.api, `${path}/${body.content[0]?.id}`, 'COMPLETED')

  const hashes = 'DISTINCT tx_hash AS text FROM signatures'
  expect(textsIn(service.process.dataDir, hashes)).toHaveLength(1)
  const statuses = 'DISTINCT status AS text FROM signatures'
  expect(textsIn(service.process.dataDir, statuses)).toEqual(['COMPLETED'])
  // The asset stream that the attachment belongs to has one of its own.
  expect(chainOf(service.process.dataDir).sequences).toEqual([1, 2])
})
