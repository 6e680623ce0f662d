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

  async sees(anchors: number | undefined, assets?: number): Promise<void> {
    await this.#lowFunds.judge([lookWith(anchors, assets)])
  }

  /** An asset that is to be issued on a network. */
  async assetOn(network: string): Promise<void> {
    await this.#state.commit(
      this.#state.state.insertInto('assets').values({
        id: network,
        owner_id: '',
        stream_id: network,
        created_at: 0,
        supply: '1',
        precision: 0,
        ledger: 'XRPL',
        network,
        metadata_cid: '',
        status: 'SERVICE_RECEIVED',
        progress: '[]',
      }),
    )
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

test('a distributor is told of once there are assets, and by itself', async () => {
  await using told = await Told.open()
  const operator = await told.newUser()
  await told.keyFor(operator, 'platform:admin')
  const accounts = async () =>
    (await told.events()).map(({ data }) => (JSON.parse(data) as { account: string }).account)

  await told.sees(1_000, 0)
  await told.assetOn('xrpl:98')
  await told.sees(1_000, 0)
  expect(await accounts()).toEqual([])

  await told.assetOn('xrpl:99')
  await told.sees(1_000, 20)
  expect(await accounts()).toEqual([])
  await told.sees(1_000, 19)
  await told.sees(99, 39)
  await told.sees(50, 3)
  expect((await accounts()).sort()).toEqual(['rAccount', 'rDistributor'])
  await told.sees(50, 40)
  await told.sees(50, 3)
  expect((await accounts()).sort()).toEqual(['rAccount', 'rDistributor', 'rDistributor'])
})
