import { describe, expect, test } from 'vitest'
import { type UserId } from '../../src/core/ids.ts'
import { Events, type RecordedEvent } from '../../src/events/events.ts'
import { type FanOutStep, fanOut } from '../../src/notifications/fan-out.ts'
import { TestState } from '../support/test-state.ts'

/** A state whose events are told by one step. */
class Subject implements AsyncDisposable {
  readonly told: RecordedEvent[] = []
  /** Whose events were told, after each transaction. */
  readonly heard: (readonly UserId[])[] = []
  readonly events: Events
  readonly tests: TestState

  static async open(step: FanOutStep = async () => undefined): Promise<Subject> {
    const told: RecordedEvent[] = []
    const heard: (readonly UserId[])[] = []
    const tests = await TestState.open(
      fanOut({
        steps: [
          async (transaction, event) => {
            await step(transaction, event)
            told.push(event)
          },
        ],
        onTold: (owners) => heard.push([...owners]),
      }),
    )
    return new Subject(tests, told, heard)
  }

  private constructor(tests: TestState, told: RecordedEvent[], heard: (readonly UserId[])[]) {
    this.tests = tests
    this.told = told
    this.heard = heard
    this.events = new Events(tests.state, { nowUs: () => 1_700_000_000_123_456 })
  }

  created(ownerId: UserId, resourceId: string) {
    const data = { id: resourceId, name: 'boiler' }
    const about = { vaultId: resourceId, templateId: 't', data }
    return this.events.record({
      type: 'vault.created',
      ownerId,
      resourceType: 'vault',
      resourceId,
      ...about,
    })
  }

  async written(): Promise<readonly number[]> {
    const rows = await this.tests.state.selectFrom('events').select('fanned_out').execute()
    return rows.map((row) => row.fanned_out)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tests[Symbol.asyncDispose]()
  }
}

describe('D37: an event is told in the transaction of the change that caused it', () => {
  test('with the bytes that every webhook gets', async () => {
    await using subject = await Subject.open()
    const ada = await subject.tests.newUser()

    expect(await subject.tests.attempt(...subject.created(ada, 'v1'))).toBe(true)

    expect(subject.told).toMatchObject([
      { ownerId: ada, type: 'vault.created', vaultId: 'v1', atUs: 1_700_000_000_123_456 },
    ])
    const data = '{"id":"v1","name":"boiler"}'
    const stamp = '2023-11-14T22:13:20.123456'
    expect(subject.told[0]?.body).toBe(
      `{"event_type":"vault.created","timestamp":"${stamp}","data":${data}}`,
    )
    expect(subject.heard).toEqual([[ada]])
    expect(await subject.written()).toEqual([1])
  })

  test('never, when the change is taken back', async () => {
    await using subject = await Subject.open()
    const ada = await subject.tests.newUser()
    const nobody = subject.tests.state.deleteFrom('users').where('id', '=', 'nobody')

    expect(await subject.tests.attempt(...subject.created(ada, 'v1'), nobody)).toBe(false)
    await subject.tests.commit(...subject.created(ada, 'v2'))

    expect(subject.told.map(({ resourceId }) => resourceId)).toEqual(['v2'])
    expect(subject.heard).toEqual([[ada]])
  })

  test('or the change is not made', async () => {
    let isBroken = true
    await using subject = await Subject.open(async () => {
      if (isBroken) throw new Error('the disk is full')
    })
    const ada = await subject.tests.newUser()
    const renamed = subject.tests.state.updateTable('users').set({ first_name: 'Ada' })

    await expect(subject.tests.commit(renamed, ...subject.created(ada, 'v1'))).rejects.toThrow(
      'the disk is full',
    )

    expect(await subject.written()).toEqual([])
    expect(subject.heard).toEqual([])
    const user = await subject.tests.state.selectFrom('users').selectAll().executeTakeFirst()
    expect(user?.first_name).not.toBe('Ada')
    isBroken = false
    await subject.tests.commit(...subject.created(ada, 'v1'))
    expect(subject.told).toHaveLength(1)
  })

  test('every one of many', async () => {
    await using subject = await Subject.open()
    const ada = await subject.tests.newUser()
    const ids = Array.from({ length: 120 }, (_, index) => `v${index}`)

    await subject.tests.commit(...ids.flatMap((id) => subject.created(ada, id)))

    expect(subject.told.map(({ resourceId }) => resourceId).toSorted()).toEqual(ids.toSorted())
    expect(await subject.written()).toEqual(ids.map(() => 1))
    expect(subject.heard).toEqual([[ada]])
  })
})
