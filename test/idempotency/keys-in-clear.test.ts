import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import type { StreamId, UserId } from '../../src/core/ids.ts'
import { AnswerStore } from '../../src/requests/idempotency/answer-store.ts'
import { hideKeys } from '../../src/requests/idempotency/keys-in-clear.ts'
import { LocalStateWriter, openStateForWriting } from '../../src/storage/state/database.ts'
import { migrations } from '../../src/storage/state/migrations/index.ts'
import { ReceiptStore } from '../../src/streams/data-streams/receipt-store.ts'
import { openOldState } from '../support/old-state.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const digests = new MasterKey(Buffer.alloc(32, 7))
const before = Object.keys(migrations).filter((name) => name < '0037')

/** More than one commit moves. */
const rows = 1_203

const keyOf = (index: number) => `canary-${index}-of-a-device-that-registers`

/** A state of the release before, with keys in clear. */
async function oldState(path: string): Promise<void> {
  const old = await openOldState(path, before)
  const answers = old.prepare('INSERT INTO idempotent_answers VALUES (?, ?, ?, ?, ?, ?, ?)')
  const receipts = old.prepare('INSERT INTO idempotency_keys VALUES (?, ?, ?, ?, ?)')
  old.exec('BEGIN')
  for (let index = 0; index < rows; index++) {
    const body = digests.encrypt(JSON.stringify({ index }))
    answers.run('ada', '/devices/register {}', keyOf(index), `body ${index}`, 201, body, 10)
    receipts.run('ada', 'boiler', keyOf(index), `body ${index}`, index)
  }
  old.exec(`INSERT INTO totals VALUES
    ('idempotent_answers', 'ada', ${rows}), ('receipts', 'ada', ${rows})`)
  old.exec('COMMIT')
  old.close()
}

/** Opens a state as the service does, with a writer that fails after so many commits. */
async function opened(path: string, commits = Number.POSITIVE_INFINITY) {
  const state = await openStateForWriting(path)
  const local = new LocalStateWriter(state, async () => () => undefined)
  let left = commits
  const writer: Pick<LocalStateWriter, 'commit' | 'attempt'> = {
    commit: async (...changes) => {
      if (left-- <= 0) throw new Error('killed')
      await local.commit(...changes)
    },
    attempt: (...changes) => local.attempt(...changes),
  }
  return { state, writer }
}

async function whatIsKnown(path: string): Promise<readonly unknown[]> {
  const { state, writer } = await opened(path)
  const answers = new AnswerStore({ state, writer, cipher: digests })
  const receipts = new ReceiptStore({ state, writer, digests })
  const known: unknown[] = []
  for (const index of [0, 499, 500, rows - 1]) {
    const request = { userId: 'ada' as UserId, key: keyOf(index), bodyDigest: `body ${index}` }
    const answer = await answers.find({ ...request, path: '/devices/register {}' }, 20)
    const other = { ...request, path: '/devices/register {}', bodyDigest: 'another' }
    const isSame = (await answers.find(other, 20))?.isSameBody
    const asked = { ...request, streamId: 'boiler' as StreamId }
    const receipt = await receipts.receiptOf(asked, 2_000, 2_000)
    known.push([answer, isSame, receipt])
  }
  await state.destroy()
  return known
}

const expected = [0, 499, 500, rows - 1].map((index) => [
  { statusCode: 201, body: { index }, isSameBody: true },
  false,
  { receivedAtUs: index, isRepeated: true },
])

describe('keys that an earlier release has kept in clear', () => {
  test('are found by their digests, and stand nowhere in the file any more', async () => {
    using folder = new TemporaryFolder()
    const path = folder.file('state.db')
    await oldState(path)
    expect(readFileSync(path).includes('canary-')).toBe(true)

    const { state, writer } = await opened(path)
    await hideKeys({ state, writer, digests })
    await state.destroy()

    expect(readFileSync(path).includes('canary-')).toBe(false)
    expect(await whatIsKnown(path)).toEqual(expected)
  })

  test.each([0, 1, 2, 3, 4, 5, 6, 8, 10])(
    'are all moved by the start after one that ended after %i commits',
    async (commits) => {
      using folder = new TemporaryFolder()
      const path = folder.file('state.db')
      await oldState(path)
      const first = await opened(path, commits)
      await expect(hideKeys({ ...first, digests })).rejects.toThrow('killed')
      await first.state.destroy()

      const second = await opened(path)
      await hideKeys({ ...second, digests })
      await hideKeys({ ...second, digests })
      await second.state.destroy()

      expect(await whatIsKnown(path)).toEqual(expected)
      expect(readFileSync(path).includes('canary-')).toBe(false)
    },
  )
})
