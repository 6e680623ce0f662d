import { describe, expect, test } from 'vitest'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { countChange, totalOf } from '../../src/storage/state/totals.ts'
import {
  type IdempotentRequest,
  ReceiptStore,
  receiptsMax,
} from '../../src/streams/data-streams/receipt-store.ts'
import { TestState } from '../support/test-state.ts'

const dayUs = 24 * 3_600 * 1_000_000
const nowUs = 1_000 * dayUs
const digests = new MasterKey(Buffer.alloc(32, 7))
const streamId = newId<StreamId>()
const boiler = newId<UserId>()

function request(changes: Partial<IdempotentRequest> = {}): IdempotentRequest {
  return { userId: boiler, streamId, key: 'a', bodyDigest: 'd', ...changes }
}

/** How many are remembered of a user, which must be what is counted. */
async function remembered({ state }: TestState, userId: UserId): Promise<number> {
  const rows = await state
    .selectFrom('idempotency_keys')
    .select('key')
    .where('user_id', '=', userId)
    .execute()
  expect(await totalOf(state, 'receipts', userId)).toBe(rows.length)
  return rows.length
}

/** Receipts by a wall clock that was never set. */
function storeOf(subject: TestState) {
  const store = new ReceiptStore({ state: subject.state, writer: subject, digests })
  return {
    receiptOf: (asked: IdempotentRequest, atUs: number) => store.receiptOf(asked, atUs, atUs),
    purge: (atUs: number) => store.purge(atUs),
  }
}

describe('the time of receipt under a key', () => {
  test('is that of the first request, which the others are told', async () => {
    await using subject = await TestState.open()
    const store = storeOf(subject)

    const first = await store.receiptOf(request(), nowUs)
    const second = await store.receiptOf(request(), nowUs + 5)

    expect(first).toEqual({ receivedAtUs: nowUs, isRepeated: false })
    expect(second).toEqual({ receivedAtUs: nowUs, isRepeated: true })
    expect(await remembered(subject, boiler)).toBe(1)
  })

  test('is one for all that come at once', async () => {
    await using subject = await TestState.open()
    const store = storeOf(subject)

    const receipts = await Promise.all(
      Array.from({ length: 20 }, (_, index) => store.receiptOf(request(), nowUs + index)),
    )

    expect(new Set(receipts.map(({ receivedAtUs }) => receivedAtUs)).size).toBe(1)
    expect(receipts.filter(({ isRepeated }) => !isRepeated)).toHaveLength(1)
    expect(await remembered(subject, boiler)).toBe(1)
  })

  test('is refused for another body', async () => {
    await using subject = await TestState.open()
    const store = storeOf(subject)
    await store.receiptOf(request(), nowUs)

    await expect(store.receiptOf(request({ bodyDigest: 'e' }), nowUs)).rejects.toMatchObject({
      code: 'idempotency_conflict',
    })
  })

  test('is remembered for 24 hours, and then forgotten', async () => {
    await using subject = await TestState.open()
    const store = storeOf(subject)
    await store.receiptOf(request(), nowUs)
    await store.receiptOf(request({ key: 'b' }), nowUs)

    const inTime = await store.receiptOf(request(), nowUs + dayUs - 1)
    const late = await store.receiptOf(request({ bodyDigest: 'e' }), nowUs + dayUs)

    expect(inTime.isRepeated).toBe(true)
    expect(late).toEqual({ receivedAtUs: nowUs + dayUs, isRepeated: false })
  })

  test('is removed once a day has passed, although nobody asks for it again', async () => {
    await using subject = await TestState.open()
    const store = storeOf(subject)
    await store.receiptOf(request({ key: 'a' }), nowUs)
    await store.receiptOf(request({ key: 'b' }), nowUs + 1)

    expect(await store.purge(nowUs + dayUs)).toBe(false)

    expect(await remembered(subject, boiler)).toBe(1)
  })

  test('is one for all that come at once when the one before has expired', async () => {
    await using subject = await TestState.open()
    const store = storeOf(subject)
    await store.receiptOf(request({ key: 'b' }), nowUs + dayUs - 1)
    await store.receiptOf(request(), nowUs)

    const receipts = await Promise.all(
      Array.from({ length: 20 }, (_, index) => store.receiptOf(request(), nowUs + dayUs + index)),
    )

    expect(new Set(receipts.map(({ receivedAtUs }) => receivedAtUs)).size).toBe(1)
    expect(await remembered(subject, boiler)).toBe(2)
  })

  test('is refused when the user has too many, and others are not', async () => {
    await using subject = await TestState.open()
    const { state } = subject
    const store = storeOf(subject)
    await subject.commit(
      countChange(state, 'receipts', boiler, 1),
      state.updateTable('totals').set({ total: receiptsMax }),
    )

    await expect(store.receiptOf(request(), nowUs)).rejects.toMatchObject({
      code: 'rate_limited',
    })
    const other = await store.receiptOf(request({ userId: newId<UserId>() }), nowUs)
    expect(other.isRepeated).toBe(false)
  })
})
