import { expect, test } from 'vitest'
import { LowFunds } from '../../src/anchors/networks/low-funds.ts'
import type { UserId } from '../../src/core/ids.ts'
import { textOf } from '../../src/telling/notifications/inbox/inbox-entry.ts'
import { lookWith } from '../support/low-funds.ts'
import { TestState } from '../support/test-state.ts'

const clock = { nowUs: () => 1_700_000_000_000_000 }

class Told implements AsyncDisposable {
  readonly #state: TestState
  readonly #lowFunds: LowFunds

  static async open(): Promise<Told> {
    return new Told(await TestState.open())
  }

  private constructor(state: TestState) {
    this.#state = state
    this.#lowFunds = new LowFunds({ state: state.state, writer: state, clock })
  }

  async keyFor(userId: UserId, scopes: string, revokedAt: number | null = null): Promise<void> {
    const id = `sv_live_${userId}${scopes.length}`
    await this.#state.commit(
      this.#state.state.insertInto('api_keys').values({
        id,
        user_id: userId,
        secret_digest: '',
        scopes,
        created_at: 0,
        name: 'k',
        permission: 'custom',
        origin: 'created',
        revoked_at: revokedAt,
      }),
    )
  }

  newUser(): Promise<UserId> {
    return this.#state.newUser()
  }

  async sees(anchors: number | undefined): Promise<void> {
    await this.#lowFunds.judge([lookWith(anchors)])
  }

  async events() {
    return await this.#state.state
      .selectFrom('events')
      .select(['owner_id', 'type', 'resource_id', 'data'])
      .orderBy('owner_id')
      .execute()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#state[Symbol.asyncDispose]()
  }
}

test('those who may do everything are told once, and again when it was well in between', async () => {
  await using told = await Told.open()
  const operator = await told.newUser()
  await told.keyFor(operator, 'platform:admin data:read')
  const counts: number[] = []
  for (const anchors of [100, 99, 50, undefined, 150, 20, 200, 99, 0]) {
    await told.sees(anchors)
    counts.push((await told.events()).length)
  }

  expect(counts).toEqual([0, 1, 1, 1, 1, 1, 1, 2, 2])
})

test('nobody else is told', async () => {
  await using told = await Told.open()
  const [operator, guest, former] = [
    await told.newUser(),
    await told.newUser(),
    await told.newUser(),
  ]
  await told.keyFor(operator, 'platform:admin')
  await told.keyFor(operator, 'data:read platform:admin')
  await told.keyFor(guest, 'keys:admin')
  await told.keyFor(former, 'platform:admin', 1)

  await told.sees(7)

  const [event, ...others] = await told.events()
  expect(others).toEqual([])
  expect(event).toMatchObject({
    owner_id: operator,
    type: 'security.ledger_funds_low',
    resource_id: 'xrpl:99',
  })
  expect(JSON.parse(event?.data ?? '')).toMatchObject({ anchors_left: 7, account: 'rAccount' })
  expect(textOf({ type: 'security.ledger_funds_low', data: event?.data ?? '' })).toEqual({
    type: 'ACTION_REQUIRED',
    title: 'Account of a ledger is nearly empty',
    message: 'Account of a ledger is nearly empty: XRPL rAccount',
  })
})
