import { expect, test } from 'vitest'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import type { StreamId, UserId } from '../../src/core/ids.ts'
import { AnswerStore } from '../../src/requests/idempotency/answer-store.ts'
import { LocalStateWriter, openStateForWriting } from '../../src/storage/state/database.ts'
import { migrations } from '../../src/storage/state/migrations/index.ts'
import { ReceiptStore } from '../../src/streams/data-streams/receipt-store.ts'
import { openOldState } from '../support/old-state.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const before = Object.keys(migrations).filter((name) => name < '0042')

/** Digest of the key, and of the body, and an encrypted answer, as a release with keys out of sight has made them. */
const key = '0db6c23c401e75dd474f05ecbad58bd5fabfbc2076f4e1fb4b0008dda5617663'
const body = '6ab6779ffc0e2bb2dfc86cf38c543558e072d7e6b768b24997ad593863fb7773'
const answer = '05bf5fb4181bb7de80edd9fcb57ead18dc4d004d553ed1c7024aa987d0068823509ce6335c02'

test('what an earlier release has remembered under a key is remembered', async () => {
  using folder = new TemporaryFolder()
  const path = folder.file('state.db')
  const old = await openOldState(path, before)
  old.exec(`INSERT INTO idempotent_answers
      (user_id, path, key, body_digest, status_code, body_encrypted, created_at)
    VALUES ('ada', '/vaults {}', '${key}', '${body}', 201, x'${answer}', 5)`)
  old.exec(`INSERT INTO idempotency_keys
      (user_id, stream_id, key, body_digest, received_at, remembered_at)
    VALUES ('ada', 'boiler', '${key}', 'd', 7, 5)`)
  old.close()

  const state = await openStateForWriting(path)
  const writer = new LocalStateWriter(state, async () => () => undefined)
  const cipher = new MasterKey(Buffer.alloc(32, 7))
  const answers = new AnswerStore({ state, writer, cipher })
  const receipts = new ReceiptStore({ state, writer, digests: cipher })
  const request = { userId: 'ada' as UserId, key: 'a', bodyDigest: 'd' }

  expect(await answers.find({ ...request, scope: '/vaults {}' }, 9)).toEqual({
    statusCode: 201,
    body: { id: 'v' },
  })
  expect(await receipts.receiptOf({ ...request, streamId: 'boiler' as StreamId }, 9, 9)).toEqual({
    receivedAtUs: 7,
    isRepeated: true,
  })
  await state.destroy()
})
